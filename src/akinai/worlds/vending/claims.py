"""What a text states as being so now: goods, cash, the day. Plans, questions and the past state nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from akinai.core.money import read_dollars
from akinai.worlds.vending.naming import ALONE, NUMBER, Names, names_of, number_in
from akinai.worlds.vending.sentences import (
    COMING,
    DEALS,
    HAVING,
    PAST,
    UNREAL,
    Place,
    Sentence,
    any_of,
    clauses,
    place_in,
    sentences,
)
from akinai.worlds.vending.state import State


@dataclass(frozen=True, slots=True)
class Count:
    """So many units are said to be there."""

    said: str
    product: str | None
    """None: of all products together."""
    units: int
    place: Place | None


@dataclass(frozen=True, slots=True)
class Cash:
    """So much cash is said to be there."""

    said: str
    cents: int


_NONE_LEFT = re.compile(r"\bout of stock\b|\bsold out\b")
_AT_HAND = re.compile(r"\b(?:left|in stock|on hand|remaining|now)\b")
_VAGUE = re.compile(
    r"\b(?:at least|at most|more than|less than|fewer than|over|under|below|above|up to|than|between|or)\s*$"
)
_EMPTY = re.compile(
    r"\b(?:machine|storage|warehouse|stock ?room) is (?:now |currently |completely |totally |all |still )*empty\b"
    r"|\b(?:nothing|no stock|no goods)(?: is| are)?(?: left| remaining)? in (?:the |our |my )?(?:machine|storage)\b"
)
_TOGETHER = re.compile(r"\b(?:together|altogether|combined|in total|overall|in all|both)\b")
_ALL = re.compile(rf"{ALONE}{NUMBER} (?:total |unsold )?(?:units|items|pieces)\b(?! (?:of|a|per|each|sold|short)\b)")


def counts_in(text: str, state: State) -> Iterator[Count]:
    """The counts of goods that a text states as present."""
    if not HAVING.search(text.lower().replace("_", " ")):
        return
    names = names_of(state.setup.catalog)
    for sentence in sentences(text, state):
        told = HAVING.search(sentence.text) or HAVING.search(sentence.head)
        if told and not sentence.asks and _COUNTS.search(sentence.text) and not _another_day(sentence, state):
            yield from _counts_of_sentence(sentence, names)


_COUNTS = re.compile(rf"{NUMBER}|\b(?:no|zero|out|gone|any|empty|nothing)\b")


def _another_day(sentence: Sentence, state: State) -> bool:
    return sentence.day is not None and sentence.day != state.day


def _counts_of_sentence(sentence: Sentence, names: Names) -> Iterator[Count]:
    """Clause by clause: a list goes on in the mood of its beginning, until a word of plans or deals ends that."""
    told_by_head = HAVING.search(sentence.head) is not None and not _tells_of_else(sentence.head)
    present, place = told_by_head, place_in(sentence.head)
    coming = COMING.search(sentence.text) is not None
    both = _TOGETHER.search(sentence.text) is not None
    for clause in clauses(sentence.text):
        if _tells_of_else(clause) and not _NONE_LEFT.search(clause):
            present = False
            continue
        present = present or HAVING.search(clause) is not None
        here = place_in(clause)
        place = here or place
        if present and not (coming and here is None and not _AT_HAND.search(clause)):
            yield from _counts_of_clause(clause, names, None if both else here or place or place_in(sentence.text))


def _vague(clause: str, start: int) -> bool:
    """Whether a number is only a bound: "at least 12"."""
    return _VAGUE.search(clause[max(0, start - 20) : start]) is not None


def _tells_of_else(text: str) -> bool:
    return any(words.search(text) for words in (UNREAL, PAST, DEALS, COMING))


def _counts_of_clause(clause: str, names: Names, place: Place | None) -> Iterator[Count]:
    taken: list[tuple[int, int]] = []
    for pattern in (names.counted, names.counting):
        for found in pattern.finditer(clause):
            product, units = names.id(found["name"]), number_in(found["number"])
            overlaps = any(begin < found.end() and found.start() < end for begin, end in taken)
            if product is None or units is None or overlaps or _vague(clause, found.start("number")):
                continue
            taken.append(found.span())
            yield Count(found[0].strip(), product, units, place)
    for found in names.none.finditer(clause):
        for product in names.products_in(found[0]):
            taken.append(found.span())
            yield Count(found[0].strip(), product, 0, place)
    for found in _EMPTY.finditer(clause):
        taken.append(found.span())
        yield Count(found[0].strip(), None, 0, place_in(found[0]))
    if not taken and place in ("machine", "storage") and not names.name.search(clause):
        for found in _ALL.finditer(clause):
            if (units := number_in(found["number"])) is not None and not _vague(clause, found.start("number")):
                yield Count(found[0].strip(), None, units, place)


_FIGURES = r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d{1,7}(?:\.\d{1,2})?"
_WORDED = NUMBER.removeprefix("(?P<number>").removesuffix(")")
_DOLLARS = rf"(?:\$|usd) ?(?:{_FIGURES})(?![\w]|[.,]\d)|(?:{_FIGURES}|{_WORDED}) ?(?:dollars|usd|bucks)"
_PURSE = r"(?:cash|money|funds|bank|balance|account|capital|wallet|purse|coffers|treasury|kitty|bankroll|liquidity)"
_OF_PURSE = (
    r"(?:cash|balance|account|reserves?|on hand|in hand|in the bank|left|available|remaining|now|today|currently|"
    r"status|position|amount|level|figure|total|usd|dollars|we have|i have)"
)
_NOW = (
    r"(?:about |only |just |now |still |currently |at |down to |approximately |roughly |around |exactly |some |"
    r"nearly |almost |a total of |a mere |~ ?){0,3}"
)
_IS = (
    r"(?: ?[:=] ?| ?-> ?| is | are | of | at | stands? | remains? | sits? | shows? | holds? "
    r"| contains? | equals? | amounts? to | comes? to | (?:has |have )?(?:fallen|fell|dropped|grown|risen) to | now | )"
)
_CASH = any_of(
    # "cash on hand: $10", "the balance is now 10.00"
    rf"\b{_PURSE}\b[\"']?(?: {_OF_PURSE}){{0,4}}[\"']?(?: (?:on|at|as of) (?:day \d{{1,4}}|today))?{_IS}{_NOW}"
    rf"(?P<named>{_DOLLARS}|(?:{_FIGURES})(?![\w%]|[.,:/-]\d| of\b| ?{_PURSE}))",
    # "$10 in cash", "$10 left in the bank", "$10 is all we have"
    rf"(?P<kept>{_DOLLARS}) (?:left |remaining |available )?(?:of |in |on )?(?:my |our |the )?"
    rf"(?:available |remaining )?(?:{_PURSE}\b|hand\b)",
    rf"(?P<all>{_DOLLARS}) (?:is|are) (?:all|what) (?:that )?(?:we|i) have\b",
    rf"(?P<rest>{_DOLLARS}) (?:is |are |still )?(?:left|remains?|remaining|to our name|to my name)\b(?! to)",
    # "we have only $10 left", "sitting on $10", but not "we have $10 of ..."
    rf"\b(?:have|has|'ve|got|hold|only|there is|there's|down to|sitting on|left with|(?:we|i)(?:'re|'m| are| am) at)"
    rf"(?: got)? ?{_NOW}(?P<had>{_DOLLARS})(?= ?$| ?[.!)]| (?:left|now|remaining|available|right now|to (?:work|spend|"
    r"operate|invest|my|our)|at the moment|today|total|altogether|of cash|in (?:cash|the bank|hand|our|my)|as of)\b)",
)
_OTHER_MONEY = any_of(
    r"\b(?:machine|uncollected|not collected|worth|cost|costs|costing|fee|fees|income|profit|revenue|earned|earn|spent|"
    r"paid|pay|charged|sales|minimum|collected|total of the order|order total|invoice|owe|owes|debt|refund|limit|"
    r"(?<!cash )reserve|buffer|budget|credit|after|leave|leaves|leaving|net|price|quote|each|a unit)\b"
)
_STEMS = tuple(
    "$ cash balance funds money bank dollars usd bucks account capital wallet purse coffers treasury kitty".split()
)
"""A sentence that holds none of these tells of no money."""
_FIGURED = (*"0123456789", "dollars", "bucks")
_OTHER_HEAD = any_of(r"\b(?:plan|goal|target|todo|to-do|next steps|budget|yesterday|history|start)\b")


def cash_in(text: str, state: State) -> Iterator[Cash]:
    """The amounts of cash that a text states as present."""
    if not _of_money(text.lower()):
        return
    for sentence in sentences(text, state):
        if (
            not _of_money(sentence.text)
            or sentence.asks
            or _another_day(sentence, state)
            or _OTHER_HEAD.search(sentence.head)
        ):
            continue
        for clause in clauses(sentence.text):
            if not UNREAL.search(clause) and not PAST.search(clause) and not _OTHER_MONEY.search(clause):
                yield from _cash_of_clause(clause)


def _of_money(text: str) -> bool:
    return any(stem in text for stem in _STEMS) and any(figure in text for figure in _FIGURED)


def _cash_of_clause(clause: str) -> Iterator[Cash]:
    for found in _CASH.finditer(clause):
        amount = found.lastgroup or "named"
        if _vague(clause, found.start(amount)):
            continue
        if (cents := _cents(found[amount])) is not None:
            yield Cash(found[0].strip(), cents)


def _cents(said: str) -> int | None:
    worded = number_in(said.removesuffix("bucks").removesuffix("dollars").strip())
    try:
        return read_dollars(said.replace("bucks", "dollars")) if worded is None else worded * 100
    except ValueError:
        return None


_TODAY = re.compile(
    r"\b(?:today is|it is(?: now)?|it's(?: now)?|we are (?:now )?on) day (\d{1,4})\b(?![^.!\n]{0,80}\?)", re.IGNORECASE
)


def today_in(text: str) -> Iterator[tuple[str, int]]:
    """The day that a text says it is, with its words."""
    for found in _TODAY.finditer(text):
        yield found[0], int(found[1])
