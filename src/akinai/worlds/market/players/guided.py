"""The customer `first` with a playbook: it follows the sentences, and does as always where they are silent.

Each sentence changes one part of its policy, by the sentence's own numbers.
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
    """A policy changed by the readable bullets of a role."""
    advice = [parsed for text in role.bullets if (parsed := read_advice(text)) is not None]
    for sentence in advice:
        if isinstance(sentence, Experiment):
            return experimental(policy, Chance.of(sentence.number)("experiment", role.actor))
    for sentence in advice:
        policy = follow(policy, sentence)
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
    """A policy for an experiment: each part is drawn on its own."""
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
    def holds(me: OwnProfile, subject: T) -> bool:
        return a(me, subject) and b(me, subject)

    return holds
