"""Policies of rule-based customers: how they search, whom they ask, what they would pay, how long they wait.

The customer `first` follows a playbook where it has one: each sentence changes one part of its policy, by its own
numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
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
from akinai.worlds.market.players.observations import FoundBusiness, OwnProfile, total

T = TypeVar("T")

PATIENCE_S = 60
"""Seconds without mail after which a customer takes what it has."""
ON_A_PAGE = 50
TRIED: Sequence[a.Algorithm] = ("lexical", "optimal", "rnr", "simple")
"""Searches that an experiment tries; `filtered` finds by constraints and not by the names of items."""
MOST_TRIED = 5
"""Proposals that an experiment waits for."""
PAGES_TRIED = 3

Asks = Callable[[OwnProfile, FoundBusiness], bool]
"""Whether to write to a business that was found."""
Takes = Callable[[OwnProfile, a.OrderProposal], bool]
"""Whether to pay a proposal where nothing better comes."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How one customer shops."""

    pages: int
    """Pages of results that it reads; 0 is all."""
    asks: Asks
    takes: Takes
    enough: int = 0
    """Proposals that it would pay after which it waits no longer, and takes the cheapest of them; with 1 it takes the
    first that comes; with 0 it waits for the answers of all it asked."""
    algorithm: a.Algorithm = "lexical"
    patience_s: int = PATIENCE_S


def anybody(me: OwnProfile, business: FoundBusiness) -> bool:
    """Every business that was found."""
    return True


def with_items(me: OwnProfile, business: FoundBusiness) -> bool:
    """Businesses whose menu holds all items."""
    return business.items >= me.prices.keys()


def with_amenities(me: OwnProfile, business: FoundBusiness) -> bool:
    """Businesses that have all amenities."""
    return business.amenities >= me.needs


def with_all(me: OwnProfile, business: FoundBusiness) -> bool:
    """Businesses that have all items and all amenities."""
    return with_items(me, business) and with_amenities(me, business)


def anything(me: OwnProfile, proposal: a.OrderProposal) -> bool:
    """Every proposal."""
    return True


def complete(me: OwnProfile, proposal: a.OrderProposal) -> bool:
    """A proposal that holds all items."""
    return {item.item_name for item in proposal.items} >= me.prices.keys()


def within(percent: int) -> Takes:
    """Proposals that cost at most `percent` of the willingness to pay."""

    def takes(me: OwnProfile, proposal: a.OrderProposal) -> bool:
        return total(proposal) * 100 <= percent * sum(me.prices.values(), Decimal(0))

    return takes


def worth_it(me: OwnProfile, proposal: a.OrderProposal) -> bool:
    """A complete proposal that leaves a gain: all items together are worth twice the willingness to pay."""
    return complete(me, proposal) and 2 * sum(me.prices.values()) > total(proposal)


def within_budget(me: OwnProfile, proposal: a.OrderProposal) -> bool:
    """A complete proposal that costs at most the willingness to pay."""
    return complete(me, proposal) and sum(me.prices.values()) >= total(proposal)


CAREFUL = Policy(0, with_all, worth_it)
STRICT_BUDGET = Policy(0, with_all, within_budget)
CHEAPEST = Policy(0, with_items, complete)
FIRST = Policy(1, anybody, anything, enough=1)


def guided_policy(policy: Policy, role: Role) -> Policy:
    """A policy changed by the readable bullets of a role."""
    advice = [parsed for text in role.bullets if (parsed := read_advice(text)) is not None]
    for sentence in advice:
        if isinstance(sentence, Experiment):
            return experimental_policy(policy, Chance.of(sentence.number)("experiment", role.actor))
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


def experimental_policy(policy: Policy, draw: Chance) -> Policy:
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
