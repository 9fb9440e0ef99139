"""What a population's customers could come to at menu prices, by how they choose: the yardsticks of a market.

The four of the public sets (`baseline_utilities.json`), computed the same way: every customer buys once, from a
business whose menu holds all it wants, and its utility is twice what it is willing to pay if the amenities are there
too, else 0, less the price (arXiv 2510.25779, section 4).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from akinai.core.chance import Chance
from akinai.core.money import half_even_cents
from akinai.worlds.market.model.setup import Customer, Population
from akinai.worlds.market.model.units import dollars

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 1_000
"""Times that all customers choose anew where they choose by chance."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What chance makes of a way of choosing, dollars."""

    median: float
    median_ci_lower: float
    """The order statistics between which the true median is, 95 times in 100."""
    median_ci_upper: float
    q1: float
    q3: float
    min: float
    max: float


@dataclass(frozen=True, slots=True)
class Baselines:
    """Welfare by way of choosing."""

    pick_any: Spread
    """Any business that has the items."""
    pick_cheapest_cents: int
    """The cheapest that has the items."""
    pick_any_with_amenities: Spread
    """Any business that has all."""
    pick_optimal_cents: int
    """The cheapest that has all, where it leaves something: the best possible."""

    def to_json(self) -> dict[str, dict[str, float]]:
        """As the public sets have it."""
        return {
            "pick_any_baseline": asdict(self.pick_any),
            "pick_cheapest_baseline": {"constant": self.pick_cheapest_cents / 100},
            "pick_any_with_amenities_baseline": asdict(self.pick_any_with_amenities),
            "pick_optimal_baseline": {"constant": self.pick_optimal_cents / 100},
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """A business whose menu holds all that a customer wants."""

    price_cents: int
    utility_cents: int
    suits: bool
    """It has the amenities too."""


def baselines(people: Population, chance: Chance) -> Baselines:
    """All four; a customer who finds no business of the kind stays away, and has 0."""
    found = [list(choice) for choice in choices(people)]
    full = [[choice for choice in mine if choice.suits] for mine in found]
    return Baselines(
        pick_any=_spread(found, chance("pick_any")),
        pick_cheapest_cents=sum(_cheapest(mine).utility_cents for mine in found if mine),
        pick_any_with_amenities=_spread(full, chance("pick_any_with_amenities")),
        pick_optimal_cents=best_cents(people),
    )


def best_cents(people: Population) -> int:
    """The best possible welfare: no market of this population in which sellers keep to their menus comes to more."""
    return sum(max([0, *(choice.utility_cents for choice in mine if choice.suits)]) for mine in choices(people))


def choices(people: Population) -> Sequence[Sequence[Choice]]:
    """For each customer the businesses that have all its items, in their order."""
    selling: dict[str, list[int]] = defaultdict(list)
    for place, business in enumerate(people.businesses):
        for item in business.menu_features:
            selling[item].append(place)
    by_customer: list[Sequence[Choice]] = []
    for customer in people.customers:
        sellers = [set(selling[item]) for item in customer.menu_features]
        places = sorted(set[int].intersection(*sellers)) if sellers else range(len(people.businesses))
        by_customer.append([_choice(people, customer, place) for place in places])
    return by_customer


def _choice(people: Population, customer: Customer, place: int) -> Choice:
    business = people.businesses[place]
    price = half_even_cents(sum((dollars(business.menu_features[item]) for item in customer.menu_features), Decimal(0)))
    suits = all(business.amenity_features.get(need) is True for need in customer.amenity_features)
    worth = half_even_cents(2 * sum((dollars(value) for value in customer.menu_features.values()), Decimal(0)))
    return Choice(price, (worth if suits else 0) - price, suits)


def _cheapest(mine: Sequence[Choice]) -> Choice:
    return min(mine, key=lambda choice: choice.price_cents)


def _spread(found: Sequence[Sequence[Choice]], chance: Chance) -> Spread:
    """Over `DRAWS` times that each customer takes one of its choices, all alike."""
    import numpy as np

    draws, sums = np.arange(DRAWS, dtype=np.uint64), np.zeros(DRAWS, np.int64)
    for number, mine in enumerate(found):
        if mine:
            picked = (chance(number).many(draws) >> np.uint64(32)) * np.uint64(len(mine)) >> np.uint64(32)
            sums += np.array([choice.utility_cents for choice in mine], np.int64)[picked.astype(np.int64)]
    sums.sort()
    half = 0.98 * math.sqrt(DRAWS)  # 1.96 standard deviations of a binomial count at one half
    return Spread(
        median=_quantile(sums, 1, 2),
        median_ci_lower=int(sums[math.floor(DRAWS / 2 - half)]) / 100,
        median_ci_upper=int(sums[math.ceil(DRAWS / 2 + half) - 1]) / 100,
        q1=_quantile(sums, 1, 4),
        q3=_quantile(sums, 3, 4),
        min=int(sums[0]) / 100,
        max=int(sums[-1]) / 100,
    )


def _quantile(values: NDArray[np.int64], over: int, under: int) -> float:
    """Between the two nearest, in whole numbers until the last division."""
    place, rest = divmod((len(values) - 1) * over, under)
    low, high = int(values[place]), int(values[min(place + 1, len(values) - 1)])
    return (low * (under - rest) + high * rest) / (100 * under)
