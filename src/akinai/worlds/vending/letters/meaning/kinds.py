"""Judge the kind of every clause of a letter: whether it asks, orders, offers, takes back, claims or says something."""

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from akinai.worlds.vending.letters.meaning.network import Row, Weights, packaged, scores
from akinai.worlds.vending.letters.meaning.tokens import tokens
from akinai.worlds.vending.letters.text import Clause
from akinai.worlds.vending.letters.words import CASES, UNITS, word_set

if TYPE_CHECKING:
    import numpy as np

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
_GOODS_ALONE = re.compile(rf"\b(?:the address|the account|of|x|each|and|qty|quantity|{_COUNTED})\b")
_COUNTING = word_set("one a an of case cases bottle bottles box boxes and CNT NUM §")
"""The tokens of a clause that counts goods and says no more."""
_GOODS = frozenset({"CNT", "NUM", "§"})
_NOT_NOW = re.compile(
    r"\b(?:is|are) still (?:standing|sitting|lying|here|there|left|in|on)\b|\bwithout shipping\b"
    r"|\border\b.*(?<!as )\bsoon\b(?! as)|ではな[いく]|ではありません"
)
"""A report of what is in stock, what will be ordered later or is to wait, and what something is not."""
_GONE = r"\b(?:out of|sold out|unavailable|not available|run out)\b"
_CHEAPER = r"\b(?:under|below|less than|cheaper|drops?|goes down|comes down)\b"
_QUOTE = r"(?:the |your )?q(?:uote)?[ -]?#?[0-9]"
_CONDITION = re.compile(
    rf"(?:only )?if (?:so\b|yes\b|{_QUOTE}|.*{_GONE}|.*{_CHEAPER})|.*\bhold {_QUOTE}|.*\bwhere it (?:says|reads)\b"
    r"|(?:next (?:week|month|time)|later),? (?:we|i)(?:'ll| will| shall| plan| intend| expect)\b"
    r"|.*\b(?:we|i)(?:'ll| will| (?:expect|plan|intend) to) (?:order|buy|take|need)\b.*\b(?:next (?:week|month)|later)"
    r"|.*注 ?文しました(?:が|けど)|.*(?:でしたら|であれば|なら|たら) ?,.*注 ?文します|.*来週(?:に)? ?注 ?文します"
    r"|.*(?:次第|(?:条件|内容|承認|予算)[^,.]*(?:ば|たら)).*(?:発 ?注|注 ?文)(?:いた)?しま"
)
"""A clause of what is ordered only if something is so, or another time."""
_NOT_TAKEN_BACK = re.compile(
    r"(?:\b(?:not|never|without|no need to|decided against|instead of|rather than|thinking (?:of|about)|thought about"
    r"|considered|wanted to|why was|why were|why is)|n't) (?:\w+ )?cancel|\byou (?:have |had )?cancell?ed"
    r"|\b(?:was|were|been|being) cancel|\bif .*\bcancel.*\b(?:fee|cost|charge)"
    r"|\b(?:fee|cost|charge)s? .*\bif (?:we|i) cancel"
    r"|\bif (?:it|you|this|the|they|order|we)\b.*\b(?:not|cannot|late|delayed|before|by)\b.*\bcancel"
    r"|\bif (?:it|you|this|the|they|order|we)\b.*n't\b.*\bcancel"
    r"|\bon hold\b|\bhold (?:the |my |our |your )?(?:order|q-?[0-9]|quote)"
    r"|\b(?:keep|delay|postpone) (?:the |our |my )?order\b"
    r"|\bor (?:else )?(?:we |i )?(?:will |must |have to )?cancel"
    r"|\b(?:disregard|ignore) (?:my|our|the) (?:previous|last|earlier) (?:e-?mail|mail|message)"
    r"|\bcancel (?:the|my|our|that) (?:(?:quote|price) request|request|inquiry|meeting|visit|call)\b"
    r"|キャンセル(?:しない|する必要はあ|の必要はあ|は?不要|されて|料|では(?:ありません|なく)|するつもりは|を取り消|を検討|(?:が|は)?可能|できま)"
    r"|取り消さない|キャンセル.*撤回|場合は.*キャンセル"
    r"|キャンセル.*(?:をお願いしましたが|しましたが)"
)
"""A clause that speaks of taking something back, and does not."""
_FAILING = re.compile(r"if\b.*\b(?:can't|cannot|can not|won't|impossible|late|delayed|unable|not be)\b")
"""A condition on which something would be taken back."""
_FEE = re.compile(r"\b(?:fee|cost|charge)|料")
"""Words of a clause that asks what it costs to take something back."""
TAKING_BACK = re.compile(
    r"\b(?:cancel|withdraw|void|scrap|drop|forget|kill|strike|delete|revoke|rescind|no longer|turn(?:ing)? down)"
    r"|not (?:be )?(?:need|want|going|proceed)|take back"
    r"|キャンセル|取り消|取消|取りやめ|破棄|辞退|見送"
)
"""Words with which something is taken back."""
_LONGEST = 400
"""Characters of a clause that are searched for these patterns."""
_ASKED_BACK = re.compile(r"(?:内容|以下).*(?:間違い(?:ない|ありません)|よろしい)でしょうか|という認識で")
"""Words of a letter that asks whether an order is as it says."""
_AGAIN = re.compile(
    r"\b(?:repeat|reorder|re-order|duplicate)\b.*\border ?#?[0-9]"
    r"|\b(?:send|ship|deliver|place)\b.*\border ?#?[0-9]+ (?:once more|again)\b"
    r"|\bsame (?:as|goods as|items as) .*\border|と同じ(?:内容|もの|商品|数量)"
)
"""A clause that wants what was ordered once more: it takes nothing back and changes nothing."""
_BEFORE_IT = re.compile(
    r"\bbut (?:first\b|before (?:i|we) (?:do\b|can\b|(?:formally |finally )?"
    r"(?:confirm|commit|order|accept|approve|sign)))"
)
"""Words with which a sentence puts something before its order: "we would like quote 12, but before we do ..."."""
_WORD = re.compile(r"[a-z]{2,}|[\u3040-\u9fff]")


@lru_cache(maxsize=1)
def weights() -> tuple[Weights, ...]:
    """The weights in the package, of two networks that learned from the same letters in different orders."""
    return packaged("kinds1.bin"), packaged("kinds2.bin")


def scores_of(rows: Sequence[Row], nets: Sequence[Weights]) -> tuple["np.ndarray", int]:
    """Rows by kinds: the summed scores of all networks; and the score that equals one natural unit of log odds.

    Scores stay integers, since those of one network are multiplied by the units of the others.
    """
    import numpy as np

    every = math.prod(net.unit for net in nets)
    table = np.sum([scores(rows, net) * (every // net.unit) for net in nets], axis=0)
    return table, every * len(nets)


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
    table, unit = scores_of(rows, weights())
    margin = round(CERTAIN * unit)
    careful = table.copy()
    careful[:, _CHARGING_COLUMNS] -= margin
    bare = [not row.item and _COUNTING.issuperset(row.tokens) for row in rows]
    worded = {kind for kind, row, counts in zip(_largest(careful), rows, bare, strict=True) if not (row.item or counts)}
    doubtful = [column for column in _CHARGING_COLUMNS if KINDS[column] not in worded]
    for column in doubtful:
        careful[bare, column] -= margin
    against = _against(clauses) * margin
    careful -= against
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
            careful[here] -= against[here].max(axis=0)
            careful[here, doubtful] -= margin
    subject_kind, *clause_kinds = _largest(careful)
    if not clauses and _COMMAND.fullmatch(subject.lower()):
        subject_kind = "confirm"
    commands = [_is_command(clause, alone=len(clauses) == 1) for clause in clauses]
    kinds = tuple("confirm" if command else kind for command, kind in zip(commands, clause_kinds, strict=True))
    return (subject_kind if subject.strip() else NOTHING), kinds


def _against(clauses: Sequence[Clause]) -> "np.ndarray":
    """The subject and the clauses by kinds: the margins that a sentence's words take off the score of a kind."""
    import numpy as np

    texts = [(clause.low[:_LONGEST], clause.sentence) for clause in clauses]
    first = {sentence for low, sentence in texts if _BEFORE_IT.search(low)}
    conditional = {sentence for low, sentence in texts if _CONDITION.match(low)}
    failing = {sentence for low, sentence in texts if _FAILING.match(low)}
    denying = [_NOT_TAKEN_BACK.search(low) is not None for low, _ in texts]
    denied = any(denies and not _FEE.search(low) for denies, (low, _) in zip(denying, texts, strict=True))
    asked_back = any(_ASKED_BACK.search(low) for low, _ in texts)
    table = np.zeros((len(clauses) + 1, len(KINDS)), dtype=np.int64)
    table[0, KINDS.index("cancel")] = 8 * denied
    for row, (low, sentence) in enumerate(texts, 1):
        for much, kinds, applies in (
            (2, CHARGING, _NOT_NOW.search(low)),
            (8, CHARGING, sentence in conditional or asked_back),
            (8, ("cancel",), denying[row - 1] or sentence in failing),
            (8, ("cancel",), denied and not TAKING_BACK.search(low)),
            (8, ("cancel", "change"), _AGAIN.search(low)),
            (8, (*CHARGING, "change", "cancel"), sentence in first),
        ):
            if applies:
                table[row, [KINDS.index(kind) for kind in kinds]] += much
    return table


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


def _is_command(clause: Clause, *, alone: bool) -> bool:
    match = _COMMAND.fullmatch(clause.low)
    return match is not None and (alone or match["number"] is not None) and clause.last and not clause.asks


def _largest(table: "np.ndarray") -> list[str]:
    """The kind with the largest score of each row."""
    return [KINDS[int(column)] for column in table.argmax(axis=1)]
