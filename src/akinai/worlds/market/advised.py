"""The customer `first` with a playbook: it does what the sentences tell, and where they are silent what it always did.

Each sentence moves one thing, by what its own numbers say; none makes another player of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar, cast, get_args

from akinai.core.agents import Role
from akinai.core.chance import Chance
from akinai.worlds.market import actions as a
from akinai.worlds.market.advice import (
    Advice,
    AmenityAdvice,
    Experiment,
    ItemsAdvice,
    MenuAdvice,
    PriceAdvice,
    SearchAdvice,
    WaitAdvice,
    read_advice,
)
from akinai.worlds.market.hearing import Myself
from akinai.worlds.market.tastes import ON_A_PAGE, Taste, complete, with_amenities, with_items, within

T = TypeVar("T")

TRIED: Sequence[a.Algorithm] = ("lexical", "optimal", "rnr", "simple")
"""Searches that an experiment tries; `filtered` finds by constraints and not by the names of items."""
MOST_TRIED = 5
"""Proposals that an experiment waits for."""
PAGES_TRIED = 3


def advised(taste: Taste, role: Role) -> Taste:
    """A taste, changed by the bullets that can be read; the same without such."""
    advice = [found for text in role.bullets if (found := read_advice(text)) is not None]
    for one in advice:
        if isinstance(one, Experiment):
            return tried(taste, Chance.of(one.number)("experiment", role.actor))
    for one in advice:
        taste = following(taste, one)
    return taste


def following(taste: Taste, advice: Advice) -> Taste:
    """A taste with one sentence followed."""
    match advice:
        case AmenityAdvice() if advice.checks:
            return replace(taste, asks=_both(taste.asks, with_amenities))
        case MenuAdvice() if advice.checks:
            return replace(taste, asks=_both(taste.asks, with_items))
        case ItemsAdvice() if advice.checks:
            return replace(taste, takes=_both(taste.takes, complete))
        case PriceAdvice() if advice.percent is not None:
            return replace(taste, takes=_both(taste.takes, within(advice.percent)))
        case WaitAdvice():
            return replace(taste, enough=advice.best, patience_s=advice.patience_s)
        case SearchAdvice() if advice.best.algorithm in get_args(a.Algorithm):
            pages = max(1, -(-advice.best.last // ON_A_PAGE))
            return replace(taste, algorithm=cast("a.Algorithm", advice.best.algorithm), pages=pages)
        case _:
            return taste


def tried(taste: Taste, draw: Chance) -> Taste:
    """What one customer tries: each thing by chance, whatever the others are."""
    asks, takes = taste.asks, taste.takes
    if draw("items").below(2):
        asks = _both(asks, with_items)
    if draw("amenities").below(2):
        asks = _both(asks, with_amenities)
    if draw("complete").below(2):
        takes = _both(takes, complete)
    return replace(
        taste,
        asks=asks,
        takes=takes,
        enough=draw("enough").between(1, MOST_TRIED),
        algorithm=TRIED[draw("algorithm").below(len(TRIED))],
        pages=draw("pages").between(1, PAGES_TRIED),
    )


def _both(one: Callable[[Myself, T], bool], other: Callable[[Myself, T], bool]) -> Callable[[Myself, T], bool]:
    def holds(me: Myself, thing: T) -> bool:
        return one(me, thing) and other(me, thing)

    return holds
