"""Find statements that goods have come. Plans, questions, doubts and conditions do not count."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from akinai.worlds.vending.detectors import japanese
from akinai.worlds.vending.detectors.sentences import SUPPOSED, Sentence, groups_in, mark_goods, sentences
from akinai.worlds.vending.detectors.words import pattern
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.model.state import State


@dataclass(frozen=True, slots=True)
class Arrival:
    """A statement that goods have come."""

    words: str
    goods: frozenset[frozenset[str]]
    """Groups of product ids: a group of one for a named product, of all its products for a named category."""
    suppliers: frozenset[str]
    orders: frozenset[int]
    """Where all three are empty, the last order is meant."""
    day: int | None
    """The day on which they are said to have come, where a day is named."""
    lies_there: bool
    """Whether they are said to be here, or in storage."""
    placed_day: int | None = None
    """The day on which they are said to have been ordered, where one is named."""


_HERE = pattern("arrivals", "lies_there")
_HAS_COME = pattern("arrivals", "has_come")
_GOODS = pattern("arrivals", "goods")
_PAPER = pattern("arrivals", "paper")
_NOT_YET = pattern("arrivals", "not_yet")
_ONLY_THEN = pattern("arrivals", "only_then")
_PLACED = pattern("arrivals", "placed")
_TURNS = pattern("arrivals", "turns")
_AWAITED = pattern("arrivals", "awaited")
_ASIDE = pattern("arrivals", "aside")
_TAKEN_FOR_GRANTED = pattern("arrivals", "taken_for_granted")
_SUPPOSES = pattern("arrivals", "supposes")
_ORDER_NUMBER = re.compile(r"\border (?:number |no\.? ?|\#)?\#?(\d{1,5})\b")


def find_arrivals(text: str, state: State) -> Iterator[Arrival]:
    """Find the statements of a text that goods have come."""
    suppliers = [name for supplier in state.setup.catalog.suppliers for name in (supplier.id, supplier.name.lower())]
    for statement, numbers, stored in japanese.find_arrivals(text, state):
        lower = statement.text.lower()
        suppliers_said = frozenset(
            supplier.id for supplier in state.setup.catalog.suppliers if supplier.name.lower().split()[0] in lower
        )
        goods = frozenset(frozenset({product}) for product, _, _ in statement.goods)
        yield Arrival(statement.text, goods, suppliers_said, numbers, None, stored, _placed_day(lower, state))
    catalog = tuple(state.setup.catalog.good_names)
    for sentence in sentences(text, state):
        later = sentence.day is not None and sentence.day > state.day
        if (
            not sentence.asks
            and not later
            and not _SUPPOSES.match(sentence.text.lstrip("\"'(*- "))
            and _HAS_COME.search(sentence.text)
        ):
            text, begin = _ASIDE.sub("", sentence.text), 0
            for end in [*(turn.start() for turn in _TURNS.finditer(text)), len(text)]:
                clause, begin = text[begin:end], end
                if (came := _HAS_COME.search(clause)) and _is_claim(clause, came, catalog, suppliers):
                    yield _arrival(sentence, clause, catalog, state)


def _is_claim(clause: str, came: re.Match[str], goods: tuple[GoodName, ...], suppliers: Sequence[str]) -> bool:
    before = _AWAITED.sub(r"\1", clause[: came.end()])
    wished = SUPPOSED.search(before) and (_SUPPOSES.search(before) or not _TAKEN_FOR_GRANTED.search(clause))
    if wished or _NOT_YET.search(before) or _PAPER.search(clause):
        return False
    if _ONLY_THEN.search(clause, came.end()):
        return False
    return bool(
        _GOODS.search(clause) or mark_goods(clause, goods).products or any(supplier in clause for supplier in suppliers)
    )


def _arrival(sentence: Sentence, clause: str, goods: tuple[GoodName, ...], state: State) -> Arrival:
    suppliers = frozenset(
        supplier.id
        for supplier in state.setup.catalog.suppliers
        if supplier.id in clause or supplier.name.lower() in clause or supplier.address in clause
    )
    orders = frozenset(int(match[1]) for match in _ORDER_NUMBER.finditer(clause))
    lies_there = _HERE.search(clause) is not None
    placed = _placed_day(sentence.text, state)
    day = None if placed is not None and placed == sentence.day else sentence.day
    return Arrival(sentence.original, groups_in(clause, goods), suppliers, orders, day, lies_there, placed)


def _placed_day(text: str, state: State) -> int | None:
    """The day on which a text says that goods were ordered."""
    match = _PLACED.search(text)
    if match is None:
        return None
    named = match["on"] or match["of"]
    return int(named) + state.setup.days_before if named else state.day - 1
