"""Policies of rule-based customers: how they search, whom they ask, what they would pay, how long they wait."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from akinai.worlds.market.model import actions as a
from akinai.worlds.market.players.observations import FoundBusiness, OwnProfile, total

PATIENCE_S = 60
"""Seconds without mail after which a customer takes what it has."""
ON_A_PAGE = 50

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
