"""Both sides of the market: what sales cost the sellers, who gains what, and how evenly revenue is spread."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from akinai.core.money import half_even_cents
from akinai.worlds.market.amounts import dollars, prices, total_cents
from akinai.worlds.market.proposal_errors import matches
from akinai.worlds.market.state import Offer, State

MOST_FACTOR = 1_000
MOST_COST = 10**12
"""Dollars. What strangers write into their profiles can be any number; beyond these nothing is reckoned with it."""


@dataclass(frozen=True, slots=True)
class Sale:
    """A paid proposal on the seller's side, in whole cents."""

    offer: Offer
    paid_cents: int
    cost_cents: int | None
    """`min_price_factor` times the menu's prices; None where the seller has none, or sold what is not on its menu."""
    fee_cents: int
    """The platform's share of the payment."""

    @property
    def profit_cents(self) -> int | None:
        """What is left to the seller; None where the cost is not known."""
        return None if self.cost_cents is None else self.paid_cents - self.cost_cents - self.fee_cents


def sales(state: State, bought: Iterable[Offer], fuzzy: int = 0) -> Sequence[Sale]:
    """The sales of a market. `fuzzy` as for `buyers`."""
    return [_sale(state, offer, fuzzy) for offer in bought]


def _sale(state: State, offer: Offer, fuzzy: int) -> Sale:
    paid = total_cents(offer.proposal)
    fee = half_even_cents(Decimal(paid) / 100 * state.setup.fee_permille / 1000)
    return Sale(offer, paid, _cost(state.members[offer.business].data, offer, fuzzy), fee)


def _cost(data: Mapping[str, Any], offer: Offer, fuzzy: int) -> int | None:
    factor, menu = data.get("min_price_factor"), prices(data)
    if not isinstance(factor, int | float) or isinstance(factor, bool) or not 0 <= factor <= MOST_FACTOR:
        return None
    named = matches(offer.proposal, menu.keys(), fuzzy)
    if any(item.item_name not in named for item in offer.proposal.items):
        return None
    at_menu = sum((item.quantity * menu[named[item.item_name]] for item in offer.proposal.items), Decimal(0))
    cost = dollars(factor) * at_menu
    return half_even_cents(cost) if cost <= MOST_COST else None


def gini(amounts: Sequence[int]) -> float | None:
    """How unevenly an amount is spread: 0 where all have the same, (n - 1) / n where one has all; None for nothing.

    G = sum over i of (2 i - n - 1) x_i / (n sum x), x rising and i from 1.
    """
    n, total = len(amounts), sum(amounts)
    if not total:
        return None
    return sum((2 * place - n - 1) * one for place, one in enumerate(sorted(amounts), 1)) / (n * total)
