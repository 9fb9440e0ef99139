"""Find statements that goods have come. Plans, questions, doubts and conditions do not count."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from akinai.worlds.vending.detectors import japanese
from akinai.worlds.vending.detectors.sentences import MOODS, Sentence, groups_in, mark_goods, sentences
from akinai.worlds.vending.detectors.words import table
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


WORDS = table("arrivals")
ORDER_NUMBER = re.compile(r"\border (?:number |no\.? ?|\#)?\#?(\d{1,5})\b(?! (?:box|crate|unit|case|piece))")
"""An order by its number, in lower case; not what somebody will order."""


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
            and not WORDS.supposes.match(sentence.text.lstrip("\"'(*- "))
            and WORDS.has_come.search(sentence.text)
        ):
            text, begin = WORDS.aside.sub("", sentence.text), 0
            for end in [*(turn.start() for turn in WORDS.turns.finditer(text)), len(text)]:
                clause, begin = text[begin:end], end
                if (came := WORDS.has_come.search(clause)) and _is_claim(clause, came, catalog, suppliers):
                    yield _arrival(sentence, clause, catalog, state)


def _is_claim(clause: str, came: re.Match[str], goods: tuple[GoodName, ...], suppliers: Sequence[str]) -> bool:
    before = WORDS.awaited.sub(r"\1", clause[: came.end()])
    granted = WORDS.taken_for_granted.search(clause) and not WORDS.supposes.search(before)
    wished = MOODS.supposed.search(before) and not granted
    if wished or WORDS.not_yet.search(before) or WORDS.paper.search(clause):
        return False
    if WORDS.only_then.search(clause, came.end()):
        return False
    named = mark_goods(clause, goods).products or any(supplier in clause for supplier in suppliers)
    return bool(named or WORDS.goods.search(clause))


def _arrival(sentence: Sentence, clause: str, goods: tuple[GoodName, ...], state: State) -> Arrival:
    suppliers = frozenset(
        supplier.id
        for supplier in state.setup.catalog.suppliers
        if supplier.id in clause or supplier.name.lower() in clause or supplier.address in clause
    )
    orders = frozenset(int(match[1]) for match in ORDER_NUMBER.finditer(clause))
    lies_there = WORDS.lies_there.search(clause) is not None
    placed = _placed_day(sentence.text, state)
    day = None if placed is not None and placed == sentence.day else sentence.day
    return Arrival(sentence.original, groups_in(clause, goods), suppliers, orders, day, lies_there, placed)


def _placed_day(text: str, state: State) -> int | None:
    """The day on which a text says that goods were ordered."""
    match = WORDS.placed.search(text)
    if match is None:
        return None
    named = match["on"] or match["of"]
    return int(named) + state.setup.days_before if named else state.day - 1
