"""What the members of a market could have come to at menu prices, strangers to its population too."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from akinai.core.money import half_even_cents
from akinai.worlds.market.amounts import prices
from akinai.worlds.market.baselines import Choice, choices
from akinai.worlds.market.setup import Business, Customer, Population
from akinai.worlds.market.state import Member


@dataclass(frozen=True, slots=True)
class Ways:
    """The welfare in whole cents, by how all customers choose among the businesses that have all their items."""

    pick_any: int
    """Any of them: the mean over all choices."""
    pick_cheapest: int
    """The cheapest, whatever the place is like."""
    pick_any_with_amenities: int
    """Any that has the amenities too: the mean over all choices."""
    best_possible: int
    """The cheapest that has the amenities too, or nobody where that is worth nothing."""


def ways(members: Iterable[Member]) -> Ways:
    """Those of a market's members, each customer's to the nearest cent. One whom no business suits adds 0."""
    told = [_of(found) for found in choices(_people(members))]
    return Ways(*(sum(one) for one in zip(*told, strict=True))) if told else Ways(0, 0, 0, 0)


def _of(found: Sequence[Choice]) -> tuple[int, int, int, int]:
    suiting = [one.utility_cents for one in found if one.suits]
    cheapest = min(found, key=lambda one: one.price_cents).utility_cents if found else 0
    return _mean([one.utility_cents for one in found]), cheapest, _mean(suiting), max([0, *suiting])


def _mean(cents: Sequence[int]) -> int:
    return half_even_cents(Decimal(sum(cents)) / len(cents) / 100) if cents else 0


def _people(members: Iterable[Member]) -> Population:
    """Members as a population, with what their profiles say soundly."""
    everybody = sorted(members, key=lambda one: one.id)
    return Population(
        businesses=tuple(_business(one) for one in everybody if one.role == "business"),
        customers=tuple(_customer(one) for one in everybody if one.role == "customer"),
    )


def _business(one: Member) -> Business:
    has = dict.fromkeys(amenities(one), True)
    return Business(id=one.id, name="", description="", rating=0, menu_features=_features(one), amenity_features=has)


def _customer(one: Member) -> Customer:
    needs = tuple(sorted(needed(one)))
    return Customer(id=one.id, name="", request="", menu_features=_features(one), amenity_features=needs)


def _features(one: Member) -> Mapping[str, float]:
    return {item: float(price) for item, price in prices(one.data).items()}


def amenities(business: Member) -> frozenset[str]:
    """What a business has."""
    told: object = business.data.get("amenity_features")
    if not isinstance(told, Mapping):  # a stranger's profile may hold anything
        return frozenset()
    return frozenset(name for name, there in cast("Mapping[str, Any]", told).items() if there is True)


def needed(customer: Member) -> frozenset[str]:
    """The amenities without which a customer's needs are not met."""
    told: object = customer.data.get("amenity_features")
    if not isinstance(told, list | tuple):
        return frozenset()
    return frozenset(one for one in cast("Sequence[Any]", told) if isinstance(one, str))
