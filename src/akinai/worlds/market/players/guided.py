"""The customer `first` with a playbook: it does what the sentences tell, and where they are silent what it always did.

Each sentence moves one thing, by what its own numbers say; none makes another player of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar, cast, get_args

from akinai.core.agents import Role
from akinai.core.chance import Chance
from akinai.core.lessons import Advice
from akinai.worlds.market.lessons.buying.advice import (
    AmenityAdvice,
    Experiment,
    ItemsAdvice,
    MenuAdvice,
    PriceAdvice,
    SearchAdvice,
    WaitAdvice,
    read_advice,
)
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.players.observations import OwnProfile
from akinai.worlds.market.players.policies import ON_A_PAGE, Policy, complete, with_amenities, with_items, within

T = TypeVar("T")

TRIED: Sequence[a.Algorithm] = ("lexical", "optimal", "rnr", "simple")
"""Searches that an experiment tries; `filtered` finds by constraints and not by the names of items."""
MOST_TRIED = 5
"""Proposals that an experiment waits for."""
PAGES_TRIED = 3


def guided(policy: Policy, role: Role) -> Policy:
    """A policy, changed by the bullets that can be read; the same without such."""
    advice = [found for text in role.bullets if (found := read_advice(text)) is not None]
    for item in advice:
        if isinstance(item, Experiment):
            return experimental(policy, Chance.of(item.number)("experiment", role.actor))
    for item in advice:
        policy = follow(policy, item)
    return policy


def follow(policy: Policy, advice: Advice) -> Policy:
    """A policy with one sentence followed."""
    match advice:
        case AmenityAdvice() if advice.checks:
            return replace(policy, asks=_both(policy.asks, with_amenities))
        case MenuAdvice() if advice.checks:
            return replace(policy, asks=_both(policy.asks, with_items))
        case ItemsAdvice() if advice.checks:
            return replace(policy, takes=_both(policy.takes, complete))
        case PriceAdvice() if advice.percent is not None:
            return replace(policy, takes=_both(policy.takes, within(advice.percent)))
        case WaitAdvice():
            return replace(policy, enough=advice.best, patience_s=advice.patience_s)
        case SearchAdvice() if advice.best.algorithm in get_args(a.Algorithm):
            pages = max(1, -(-advice.best.last // ON_A_PAGE))
            return replace(policy, algorithm=cast("a.Algorithm", advice.best.algorithm), pages=pages)
        case _:
            return policy


def experimental(policy: Policy, draw: Chance) -> Policy:
    """What one customer tries: each thing by chance, whatever the others are."""
    asks, takes = policy.asks, policy.takes
    if draw("items").below(2):
        asks = _both(asks, with_items)
    if draw("amenities").below(2):
        asks = _both(asks, with_amenities)
    if draw("complete").below(2):
        takes = _both(takes, complete)
    return replace(
        policy,
        asks=asks,
        takes=takes,
        enough=draw("enough").between(1, MOST_TRIED),
        algorithm=TRIED[draw("algorithm").below(len(TRIED))],
        pages=draw("pages").between(1, PAGES_TRIED),
    )


def _both(a: Callable[[OwnProfile, T], bool], b: Callable[[OwnProfile, T], bool]) -> Callable[[OwnProfile, T], bool]:
    def holds(me: OwnProfile, thing: T) -> bool:
        return a(me, thing) and b(me, thing)

    return holds
