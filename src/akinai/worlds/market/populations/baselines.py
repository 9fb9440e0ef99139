"""Baselines of a market: the welfare of its population at menu prices, by the way in which customers choose.

They are the four of the public sets (`baseline_utilities.json`), computed in the same way: every customer buys once,
from a business whose menu holds all it wants, and its utility is twice its willingness to pay if the amenities are
there too, else 0, less the price (arXiv 2510.25779, section 4).
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
"""Samples of random choice by all customers."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of welfare under random choice, in dollars."""

    median: float
    median_ci_lower: float
    """With `median_ci_upper`, a 95 % interval of the median by order statistics."""
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
    """The cheapest that has all, where it leaves a gain: the best possible."""

    def to_json(self) -> dict[str, dict[str, float]]:
        """The document of the public sets."""
        return {
            "pick_any_baseline": asdict(self.pick_any),
            "pick_cheapest_baseline": {"constant": self.pick_cheapest_cents / 100},
            "pick_any_with_amenities_baseline": asdict(self.pick_any_with_amenities),
            "pick_optimal_baseline": {"constant": self.pick_optimal_cents / 100},
        }


@dataclass(frozen=True, slots=True)
class Option:
    """A business whose menu holds all that a customer wants."""

    price_cents: int
    utility_cents: int
    suits: bool
    """Whether it has the amenities too."""


def baselines(people: Population, chance: Chance) -> Baselines:
    """All four baselines; a customer without a business of the kind buys nothing, and has 0."""
    options = options_by_customer(people)
    suiting = [[option for option in own_options if option.suits] for own_options in options]
    return Baselines(
        pick_any=_spread(options, chance("pick_any")),
        pick_cheapest_cents=sum(
            min(own_options, key=lambda option: option.price_cents).utility_cents
            for own_options in options
            if own_options
        ),
        pick_any_with_amenities=_spread(suiting, chance("pick_any_with_amenities")),
        pick_optimal_cents=best_cents(people),
    )


def best_cents(people: Population) -> int:
    """The best possible welfare: an upper bound for markets of this population in which sellers keep to their menus."""
    return sum(
        max([0, *(option.utility_cents for option in options if option.suits)])
        for options in options_by_customer(people)
    )


def options_by_customer(people: Population) -> Sequence[Sequence[Option]]:
    """For each customer, the businesses that have all its items, in the order of the population."""
    sellers_by_item: dict[str, list[int]] = defaultdict(list)
    for index, business in enumerate(people.businesses):
        for item in business.menu_features:
            sellers_by_item[item].append(index)
    by_customer: list[Sequence[Option]] = []
    for customer in people.customers:
        sellers = [set(sellers_by_item[item]) for item in customer.menu_features]
        indexes = sorted(set[int].intersection(*sellers)) if sellers else range(len(people.businesses))
        by_customer.append([_option(people, customer, index) for index in indexes])
    return by_customer


def _option(people: Population, customer: Customer, index: int) -> Option:
    business = people.businesses[index]
    price = half_even_cents(sum((dollars(business.menu_features[item]) for item in customer.menu_features), Decimal(0)))
    suits = all(business.amenity_features.get(need) is True for need in customer.amenity_features)
    worth = half_even_cents(2 * sum((dollars(value) for value in customer.menu_features.values()), Decimal(0)))
    return Option(price, (worth if suits else 0) - price, suits)


def _spread(options: Sequence[Sequence[Option]], chance: Chance) -> Spread:
    """The spread over `DRAWS` samples in which each customer takes one of its options with equal probability."""
    import numpy as np

    draws, sums = np.arange(DRAWS, dtype=np.uint64), np.zeros(DRAWS, np.int64)
    for number, own_options in enumerate(options):
        if own_options:
            picks = (chance(number).many(draws) >> np.uint64(32)) * np.uint64(len(own_options)) >> np.uint64(32)
            sums += np.array([option.utility_cents for option in own_options], np.int64)[picks.astype(np.int64)]
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
    """The quantile `over / under` in dollars, interpolated in whole numbers until the last division."""
    index, remainder = divmod((len(values) - 1) * over, under)
    low, high = int(values[index]), int(values[min(index + 1, len(values) - 1)])
    return (low * (under - remainder) + high * remainder) / (100 * under)
