"""The goods that a bare quantity means: "18 of them", "another 50 bags", "only 36"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.text import Clause
from akinai.worlds.vending.letters.tokens import mark_names
from akinai.worlds.vending.letters.words import NAME

_UNIT = r"(?:units?|bottles?|cans?|bags?|pack(?:et)?s?|pieces?|pcs|bars?|cups?|items?)"
_BARE = re.compile(
    r"(?<![\w.,$#:/-])(?P<count>[0-9]{1,5})(?P<rest>"
    rf"(?: more| extra)?(?: {_UNIT})(?! (?:of|per|a|each|from)\b)(?![^\W_])"
    r"| of (?:them|these|those)\b"
    r"| (?:more|will do|would do|will be|would be (?:enough|plenty|fine|better)|is (?:enough|plenty)|should do|"
    r"(?:were|was|are|is) (?:missing|broken|damaged|there|in)|came|arrived)\b"
    r"|(?=,? (?:quick|please|pronto|asap|now|today)\b)"
    r"|(?<=\bbring [0-9])(?=\W*$)|(?<=\bbring [0-9]{2})(?=\W*$)|(?<=\bsend [0-9])(?=\W*$)|(?<=\bsend [0-9]{2})(?=\W*$)"
    r"|(?<=\bneed [0-9])(?=\W*$)|(?<=\bneed [0-9]{2})(?=\W*$)|(?<=\btake [0-9])(?=\W*$)|(?<=\btake [0-9]{2})(?=\W*$)"
    r"|(?<=\bonly [0-9])|(?<=\bonly [0-9]{2})|(?<=\bonly [0-9]{3})"
    r"|(?<=\banother [0-9])|(?<=\banother [0-9]{2})|(?<=\banother [0-9]{3})"
    r"|(?<=\bjust [0-9])|(?<=\bjust [0-9]{2})|(?<=\bjust [0-9]{3})"
    r")(?! ?(?:%|cents?\b|dollars?\b|days?\b|weeks?\b|hours?\b|per ?cent|minutes?\b|months?\b|[0-9]|[.,:/-][0-9]))",
    re.IGNORECASE,
)
_OF_THEM = re.compile(r"(?<![\w.,$#:/-])(?P<count>[0-9]{1,5})(?P<rest> of (?:them|these|those)\b)", re.IGNORECASE)


def resolved(clauses: Sequence[Clause], subject: str, names: Sequence[GoodName]) -> Iterator[Clause]:
    """The clauses, in which a bare quantity bears the name of the goods spoken of last, where these are one product."""
    for at, clause in enumerate(clauses):
        pattern = _OF_THEM if "§" in clause.low else _BARE
        if re.search("[0-9]", clause.low) and (found := pattern.search(clause.text)):
            before = (each.text for each in (clause, *reversed(clauses[:at])) if "§" in each.low)
            said = _only_good(next(before, subject), names)
            if said:
                yield _named(clause, found, said)
                continue
        yield clause


def _only_good(text: str, names: Sequence[GoodName]) -> str:
    """The name of the product of a text, empty unless it names exactly one."""
    found = mark_names(names, text)[1]
    return found[0].said if len({named.product.id for named in found}) == 1 else ""


def _named(clause: Clause, found: re.Match[str], said: str) -> Clause:
    rest = re.sub(
        rf"^(?: (?:more|extra))?(?: {_UNIT})?(?: of (?:them|these|those))?", "", found["rest"], flags=re.IGNORECASE
    )
    more = " more" if re.match(r" (?:more|extra)\b", found["rest"], re.IGNORECASE) else ""
    phrase = f"{found['count']}{more} {NAME}{rest}"
    low = clause.text[found.start() : found.end()].lower()
    marked = phrase.lower().replace(NAME, "§")
    text = clause.text[: found.start()] + phrase.replace(NAME, said) + clause.text[found.end() :]
    return replace(
        clause, text=text, low=clause.low.replace(low, marked, 1), sentence=clause.sentence.replace(low, marked, 1)
    )
