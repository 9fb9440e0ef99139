"""Judge the kind of every clause of a letter: whether it asks, orders, offers, takes back, claims or says something."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from akinai.worlds.vending.letters.meaning.network import Row, Weights, packaged, scores
from akinai.worlds.vending.letters.text import Clause
from akinai.worlds.vending.letters.words import CASES, UNITS, word_set

if TYPE_CHECKING:
    import numpy as np


_NUMBERS = (
    (
        re.compile(
            r"\bq ?-? ?#?[0-9]{1,9}(?![0-9a-z])|"
            r"\bquot(?:e|ation) ?(?:number |no\.? ?|nr\.? ?|id ?|#)?#?[0-9]{1,9}\b(?! ?(?:§|units|cases|x\b))|"
            r"見積(?:書|もり|り)?(?:番号)?\s?[0-9]{1,9}"
        ),
        " QUO ",
    ),
    (
        re.compile(
            r"\borders? ?(?:number |no\.? ?|nr\.? ?|id )?:? ?#?[0-9]{1,6}\b(?! ?(?:§|x\b|units|cases))|"
            r"注文(?:番号)?\s?[0-9]{1,6}|#[0-9]{1,6}\b"
        ),
        " ORD ",
    ),
    (
        re.compile(r"[$＄][0-9][0-9.,]*|[0-9][0-9.]{0,9} ?(?:cents?\b|c\b|¢|dollars?\b|usd\b|bucks\b|セント|ドル)"),
        " MON ",
    ),
    (re.compile(r"[0-9][0-9.]{0,5} ?(?:%|per ?cent\b|割)"), " PCT "),
    (
        re.compile(
            r"\b[0-9][0-9,.]{0,9} ?(?:x |units? |cases? |bottles? |cans? |bags? |packs? |pieces? |of ){0,3}(?=§)|"
            r"(?<=§)[ :x-]{0,4}[0-9]{1,6}(?: (?:units|cases))?"
        ),
        " CNT ",
    ),
    (re.compile(r"[0-9]+(?:[.,:/-][0-9]+){0,6}"), " NUM "),
)
"""Numbers of quotes and orders, money, per cent, quantities of goods, anything else."""
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|§|[A-Z]{3}|[?!:]|[\u3040-\u30ff\u3400-\u9fff]")
MOST_TOKENS = 48
"""Tokens of a clause that are read; those after them are not."""


def tokens(low: str) -> list[str]:
    """The first tokens of a text in lower case in which a section sign stands for each product."""
    if re.search("[0-9]", low):
        for pattern, name in _NUMBERS:
            low = pattern.sub(name, low)
    return _TOKEN.findall(low)[:MOST_TOKENS]


NOTHING = "none"
KINDS = (
    NOTHING, "order", "confirm", "change", "cancel", "claim", "negotiate",
    "ask_price", "ask_terms", "ask_order", "ask_other", "complain", "thank",
)  # fmt: skip
CHARGING = ("order", "confirm")
"""Kinds for which suppliers charge money."""
CERTAIN = 1.5
"""Natural units of log odds by which a charging kind must exceed every other kind."""

_CHARGING_COLUMNS = [KINDS.index(kind) for kind in CHARGING]
_COMMAND = re.compile(r"\W*(?:i )?confirm(?:ed)?\W*(?:quote\W*)?(?P<number>q ?-? ?#?[0-9]{1,9}\W*)?")
"""The words in which a supplier has a quote confirmed; without its number only where they are the whole letter."""
_COUNTED = "|".join(sorted(UNITS | CASES, key=len, reverse=True))
_BY_A_DAY = (
    r"by (?:(?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|(?:the )?[0-9]{1,2}(?:st|nd|rd|th)"
    r"|(?:the )?[0-9]{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* [0-9]{1,2}(?:st|nd|rd|th)?)"
)
"""The day until which goods are wanted, which the last of them may have beside them."""
_GOODS_ALONE = re.compile(rf"\b(?:the address|the account|of|x|each|and|qty|quantity|{_BY_A_DAY}|{_COUNTED})\b")
_COUNTING = word_set("one a an of case cases bottle bottles box boxes and CNT NUM §")
"""The tokens of a clause that counts goods and says no more."""
_GOODS = frozenset({"CNT", "NUM", "§"})
_WORD = re.compile(r"[a-z]{2,}|[\u3040-\u9fff]")


@lru_cache(maxsize=1)
def weights() -> Weights:
    """The weights in the package."""
    return packaged("kinds.bin")


def rows_of(subject: str, clauses: Sequence[Clause]) -> list[Row]:
    """The network's inputs for the subject, in lower case with a section sign for each product, and the clauses."""
    rows = [Row(tokens(subject), (False, False, False, False, True))]
    for clause in clauses:
        words = tokens(clause.low)
        wordless = clause.table or _WORD.search(_GOODS_ALONE.sub(" ", clause.low)) is None
        rows.append(Row(words, (clause.listed, clause.asks, "CNT" in words, wordless, False)))
    return rows


def kinds_of(subject: str, clauses: Sequence[Clause]) -> tuple[str, tuple[str, ...]]:
    """The kind of the subject, and those of the clauses.

    A charging kind that is not certain gives way to the next. Rows of goods that follow one another are judged together
    and with the line that leads to them, and charge only where words of the letter do. "CONFIRM Q-12", as suppliers ask
    for it, confirms.
    """

    rows = rows_of(subject, clauses)
    net = weights()
    table, margin = scores(rows, net), round(CERTAIN * net.unit)
    careful = table.copy()
    careful[:, _CHARGING_COLUMNS] -= margin
    bare = [not row.item and _COUNTING.issuperset(row.tokens) for row in rows]
    worded = {kind for kind, row, counts in zip(_largest(careful), rows, bare, strict=True) if not (row.item or counts)}
    doubtful = [column for column in _CHARGING_COLUMNS if KINDS[column] not in worded]
    for column in doubtful:
        careful[bare, column] -= margin
    at = 0
    priced = [False, *(_is_priced(clause) for clause in clauses)]
    of_goods = [
        _counts_goods(row) or (priced[index] and any(priced[max(0, index - 1) : index + 2 : 2]))
        for index, row in enumerate(rows)
    ]
    for goods, run in groupby(of_goods):
        here = slice(at, at := at + len(list(run)))
        if goods:
            leads = rows[here.start - 1].tokens[-1:] == [":"]
            careful[here] = table[here].sum(axis=0) + (table[here.start - 1] if leads else 0)
            careful[here, doubtful] -= margin
    subject_kind, *clause_kinds = _largest(careful)
    if not clauses and _COMMAND.fullmatch(subject.lower()):
        subject_kind = "confirm"
    commands = [is_command(clause, alone=len(clauses) == 1) for clause in clauses]
    kinds = tuple("confirm" if command else kind for command, kind in zip(commands, clause_kinds, strict=True))
    return (subject_kind if subject.strip() else NOTHING), kinds


_PRICED = re.compile(
    r"\W*§ ?: ?[0-9]+(?: (?:units|cases))? (?:at|x) [$0-9.,]+(?: (?:each|per unit|a unit))?(?: ?= ?[$0-9.,]+)?\W*"
)
"""A line of goods with their count and their price."""


def _is_priced(clause: Clause) -> bool:
    """Whether a line counts goods at a price, as others beside it do: "Cola: 48 units at $0.65"."""
    return not clause.asks and _PRICED.fullmatch(clause.low) is not None


def _counts_goods(row: Row) -> bool:
    """Whether a row is one of goods alone; a line that is only an address is not."""
    return row.item and not _GOODS.isdisjoint(row.tokens)


def is_command(clause: Clause, *, alone: bool) -> bool:
    """Whether a clause has the words in which a supplier has a quote confirmed; alone they need no number."""
    match = _COMMAND.fullmatch(clause.low)
    return match is not None and (alone or match["number"] is not None) and clause.last and not clause.asks


def _largest(table: "np.ndarray") -> list[str]:
    """The kind with the largest score of each row."""
    return [KINDS[int(column)] for column in table.argmax(axis=1)]
