"""The gains of both sides of a market, and the welfare attainable at menu prices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from akinai.core.money import half_even_cents
from akinai.worlds.market.analysis.proposal_errors import matches
from akinai.worlds.market.model.setup import Business, Customer, Population
from akinai.worlds.market.model.state import Member, Offer, State
from akinai.worlds.market.model.units import dollars, prices, total_cents
from akinai.worlds.market.populations.baselines import Option, options_by_customer


@dataclass(frozen=True, slots=True)
class AttainableWelfare:
    """The welfare in whole cents, by how all customers choose among the businesses that have all their items."""

    pick_any: int
    """Any of these businesses: the mean over all choices."""
    pick_cheapest: int
    """The cheapest of them, whatever its amenities."""
    pick_any_with_amenities: int
    """Any of them that has the amenities: the mean over all choices."""
    best_possible: int
    """The cheapest that has the amenities, or none where that leaves no gain."""


def attainable_welfare(members: Iterable[Member]) -> AttainableWelfare:
    """The attainable welfare of a market's members, each customer's to the nearest cent, or 0 if no business suits."""
    totals = [_welfare_by_rule(options) for options in options_by_customer(_people(members))]
    return (
        AttainableWelfare(*(sum(column) for column in zip(*totals, strict=True)))
        if totals
        else AttainableWelfare(0, 0, 0, 0)
    )


def _welfare_by_rule(options: Sequence[Option]) -> tuple[int, int, int, int]:
    suiting = [option.utility_cents for option in options if option.suits]
    cheapest = min(options, key=lambda option: option.price_cents).utility_cents if options else 0
    return _mean([option.utility_cents for option in options]), cheapest, _mean(suiting), max([0, *suiting])


def _mean(cents: Sequence[int]) -> int:
    return half_even_cents(Decimal(sum(cents)) / len(cents) / 100) if cents else 0


def _people(members: Iterable[Member]) -> Population:
    """Members as a population, with the sound parts of their profiles."""
    everybody = sorted(members, key=lambda member: member.id)
    return Population(
        businesses=tuple(_business(member) for member in everybody if member.role == "business"),
        customers=tuple(_customer(member) for member in everybody if member.role == "customer"),
    )


def _business(member: Member) -> Business:
    has = dict.fromkeys(amenities(member), True)
    return Business(
        id=member.id, name="", description="", rating=0, menu_features=_features(member), amenity_features=has
    )


def _customer(member: Member) -> Customer:
    needs = tuple(sorted(needed_amenities(member)))
    return Customer(id=member.id, name="", request="", menu_features=_features(member), amenity_features=needs)


def _features(member: Member) -> Mapping[str, float]:
    return {item: float(price) for item, price in prices(member.data).items()}


def amenities(business: Member) -> frozenset[str]:
    """The amenities of a business."""
    features: object = business.data.get("amenity_features")
    if not isinstance(features, Mapping):  # a stranger's profile may hold anything
        return frozenset()
    return frozenset(name for name, available in cast("Mapping[str, Any]", features).items() if available is True)


def needed_amenities(customer: Member) -> frozenset[str]:
    """The amenities without which a customer's needs are not met."""
    features: object = customer.data.get("amenity_features")
    if not isinstance(features, list | tuple):
        return frozenset()
    return frozenset(name for name in cast("Sequence[Any]", features) if isinstance(name, str))


MOST_FACTOR = 1_000
MOST_COST = 10**12
"""Dollars. Strangers may write any number into their profiles; the cost of a larger factor or cost is unknown."""


@dataclass(frozen=True, slots=True)
class Sale:
    """A paid proposal on the seller's side, in whole cents."""

    offer: Offer
    paid_cents: int
    cost_cents: int | None
    """`min_price_factor` times the menu's prices; None without a factor, or for an item that is not on the menu."""
    fee_cents: int
    """The platform's share of the payment."""

    @property
    def profit_cents(self) -> int | None:
        """The seller's profit; None where the cost is not known."""
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
    """The Gini coefficient: 0 where all amounts are equal, (n - 1) / n where one has all; None where the sum is 0.

    G = sum over i of (2 i - n - 1) x_i / (n sum x), x rising and i from 1.
    """
    n, total = len(amounts), sum(amounts)
    if not total:
        return None
    return sum((2 * rank - n - 1) * amount for rank, amount in enumerate(sorted(amounts), 1)) / (n * total)
