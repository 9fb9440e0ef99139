"""What a population has to give, whoever plays: what customers would come to by simple ways to choose a business.

All prices are the menus'; nobody bargains.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from akinai.core.money import half_even_cents
from akinai.worlds.market.amounts import prices
from akinai.worlds.market.state import Member


@dataclass(frozen=True, slots=True)
class Baselines:
    """The welfare of a population in whole cents, by how all customers choose among the menus that hold all items."""

    pick_any: int
    """Any of them: the mean over all choices, exactly."""
    pick_cheapest: int
    """The cheapest, whatever the place is like; ties by id."""
    pick_any_with_amenities: int
    """Any that has the amenities too: the mean over all choices."""
    best_possible: int
    """The cheapest that has the amenities too, or nobody where that is worth nothing."""


def baselines(members: Iterable[Member]) -> Baselines:
    """Those of a market's members. A customer whom no business suits adds 0."""
    everybody = list(members)
    sellers = _Sellers([one for one in everybody if one.role == "business"])
    sums = [Decimal(0)] * 4
    for one in everybody:
        if one.role == "customer":
            sums = [total + more for total, more in zip(sums, _of(one, sellers), strict=True)]
    return Baselines(*map(half_even_cents, sums))


class _Sellers:
    """Businesses by what their menus hold, so that a customer looks at those alone that have its items."""

    def __init__(self, businesses: Sequence[Member]) -> None:
        self._menus = {one.id: prices(one.data) for one in businesses}
        self._has = {one.id: amenities(one) for one in businesses}
        self._with: dict[str, set[str]] = {}
        for id, menu in self._menus.items():
            for item in menu:
                self._with.setdefault(item, set()).add(id)

    def offers(self, customer: Member) -> list[tuple[Decimal, str, bool]]:
        """What all items cost at each business that has them, the cheapest first, and whether it suits."""
        items, needs = list(prices(customer.data)), needed(customer)
        if not items:
            return []
        able = set[str].intersection(*(self._with.get(item, set[str]()) for item in items))
        costs = ((sum((self._menus[id][item] for item in items), Decimal(0)), id) for id in able)
        return [(cost, id, needs <= self._has[id]) for cost, id in sorted(costs)]


def _of(customer: Member, sellers: _Sellers) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    offers = sellers.offers(customer)
    worth = 2 * sum(prices(customer.data).values(), Decimal(0))
    utilities = [worth * suits - cost for cost, _, suits in offers]
    suiting = [worth - cost for cost, _, suits in offers if suits]
    cheapest = utilities[0] if utilities else Decimal(0)
    return _mean(utilities), cheapest, _mean(suiting), max([Decimal(0), *suiting])


def _mean(values: Sequence[Decimal]) -> Decimal:
    return sum(values, Decimal(0)) / len(values) if values else Decimal(0)


def amenities(business: Member) -> frozenset[str]:
    """What a business has."""
    has = cast("Mapping[str, Any]", business.data.get("amenity_features") or {})
    return frozenset(name for name, there in has.items() if there is True)


def needed(customer: Member) -> frozenset[str]:
    """The amenities without which a customer's needs are not met."""
    return frozenset(cast("Sequence[str]", customer.data.get("amenity_features") or ()))
