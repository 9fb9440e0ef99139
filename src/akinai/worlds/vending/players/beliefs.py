"""A trader's beliefs about demand, learned from sales: tastes, prices and sites."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import NamedTuple

WORTHS = (0.60, 0.71, 0.84, 1.0, 1.18, 1.40, 1.66, 1.95)
"""Hypotheses on the price that people find right, as a share of the typical one."""
ELASTICITIES = (1.6, 2.1, 2.6)
USUAL_ELASTICITY = 1.5
"""Assumed where nothing was learned and none is named."""
GRID = tuple((worth, elasticity) for worth in WORTHS for elasticity in ELASTICITIES)
LEVELS = tuple(0.85 + 0.5 * i / 7 for i in range(8))
"""Hypotheses on the town's level of prices, as a share of the typical ones."""
SPREAD = (0.50, 1.70)
"""The least and greatest price that people find right for a product, as a share of the town's level."""


@cache
def _worths_by_level() -> tuple[tuple[float, ...], ...]:
    """The probability of each of `WORTHS`, by the town's level."""
    edges = [0.0, *[(a + b) / 2 for a, b in pairwise(WORTHS)], 9.9]
    rows: list[tuple[float, ...]] = []
    for level in LEVELS:
        low, high = SPREAD[0] * level, SPREAD[1] * level
        shares = [max(0.0, min(high, upper) - max(low, lower)) / (high - low) for lower, upper in pairwise(edges)]
        rows.append(tuple(share * 0.97 + 0.03 / len(WORTHS) for share in shares))
    return tuple(rows)


def prior_of_worths(likelihoods: list[list[float]]) -> tuple[float, ...]:
    """The probability of each of `WORTHS` for any product of this town, from what all products say of its level."""
    rows, scores = _worths_by_level(), list[float]()
    for row in rows:
        scores.append(sum(log(sum(a * b for a, b in zip(row, worths, strict=True))) for worths in likelihoods))
    top = max(scores)
    weights = [exp((score - top) * 0.8) for score in scores]
    total = sum(weights)
    return tuple(
        sum(weight * row[index] for weight, row in zip(weights, rows, strict=True)) / total
        for index in range(len(WORTHS))
    )


STEPS = 16
"""Prices are remembered in steps of this part of the typical price."""
PRIOR = 4.0
"""Days of sales that the popularity named on the web is worth."""


def log(x: float) -> float:
    """The natural logarithm of x > 0, by arithmetic that is equal on every machine."""
    power = 0
    while x > 1.5:
        x, power = x / 2, power + 1
    while x < 0.75:
        x, power = x * 2, power - 1
    t1 = (x - 1) / (x + 1)
    square = t1 * t1
    t3 = t1 * square
    t5 = t3 * square
    t7 = t5 * square
    t9 = t7 * square
    t11 = t9 * square
    t13 = t11 * square
    t15 = t13 * square
    t17 = t15 * square
    total = t1 + t3 / 3 + t5 / 5 + t7 / 7 + t9 / 9 + t11 / 11 + t13 / 13 + t15 / 15 + t17 / 17
    return 2 * (total + t17 * square / 19) + power * 0.6931471805599453


def exp(x: float) -> float:
    """The exponential of x <= 0, by arithmetic that is equal on every machine."""
    if x < -60:
        return 0.0
    x /= 1024
    total = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5))))
    for _ in range(10):
        total *= total
    return total


def effect(worth: float, elasticity: float, price: float) -> float:
    """The factor of a price on demand; all prices are shares of the typical price."""
    return min(max(1 + elasticity * (worth - price) / worth, 0.0), 2.0)


@cache
def _row(step: int) -> tuple[list[float], list[float]]:
    """The effects of a remembered price at the points of the grid, and their logarithms."""
    effects = [max(effect(worth, elasticity, step / STEPS), 0.02) for worth, elasticity in GRID]
    return effects, [log(factor) for factor in effects]


@dataclass(frozen=True, slots=True)
class Product:
    """A product as the web describes it."""

    id: str
    name: str
    category: str
    small: bool
    typical_cents: int
    popularity: float
    """Units a day at the typical price, roughly."""
    shelf_days: int
    trade_cents: int
    elasticity: float = 0.0
    """The public one; 0 where none is named."""


Posterior = tuple[float, tuple[tuple[float, float, float], ...]]
"""Units a day at the price that people find right, and points of weight, worth and elasticity."""


@dataclass
class Sales:
    """Sales of a product by remembered price: customer-days of an average site, and units."""

    seen: dict[int, list[float]] = field(default_factory=dict[int, list[float]])

    def add(self, step: int, days: float, units: float) -> None:
        entry = self.seen.setdefault(step, [0.0, 0.0])
        entry[0] += days
        entry[1] += units

    def fade(self, factor: float) -> None:
        """Let old sales count less, since tastes change."""
        for step, entry in list(self.seen.items()):
            entry[0] *= factor
            entry[1] *= factor
            if entry[0] < 0.3:
                del self.seen[step]

    def likelihood(self, product: Product) -> list[float]:
        """The likelihood of the sales under each of `WORTHS`, scaled to at most 1."""
        points, step = self._points(product)[0], len(ELASTICITIES)
        sums = [sum(points[index : index + step]) for index in range(0, len(points), step)]
        top = max(sums)
        return [likelihood / top for likelihood in sums]

    def posterior(self, product: Product, prior: tuple[float, ...] = ()) -> Posterior:
        """Gamma-Poisson beliefs over the grid."""
        weights, rates, units = self._points(product)
        if prior:
            weights = [weight * prior[index // len(ELASTICITIES)] for index, weight in enumerate(weights)]
        total = sum(weights)
        demands = [(PRIOR + units) / rate for rate in rates]
        mean = sum([weight * demand for weight, demand in zip(weights, demands, strict=True)]) / total
        points = tuple(
            (weight / total * demand / mean, worth, elasticity)
            for weight, demand, (worth, elasticity) in zip(weights, demands, GRID, strict=True)
            if weight > 0.01 * total
        )
        return mean, points

    def _points(self, product: Product) -> tuple[list[float], list[float], float]:
        units = sum([entry[1] for entry in self.seen.values()])
        days, logs = [0.0] * len(GRID), [0.0] * len(GRID)
        for step, (x, u) in self.seen.items():
            effects, log_effects = _row(step)
            days = [total + factor * x for total, factor in zip(days, effects, strict=True)]
            logs = [total + u * log_factor for total, log_factor in zip(logs, log_effects, strict=True)]
        rates = [PRIOR / product.popularity + x for x in days]
        scores = [like - (PRIOR + units) * log(rate) for like, rate in zip(logs, rates, strict=True)]
        top = max(scores)
        return [exp(score - top) for score in scores], rates, units


def public_belief(product: Product) -> Posterior:
    """What the web says of a product's demand, and nothing else."""
    return product.popularity, ((1.0, 1.0, product.elasticity or USUAL_ELASTICITY),)


def unrounded_price(product: Product, belief: Posterior, cost: float) -> float:
    """The price of greatest expected margin, in cents."""
    level = slope = 0.0
    for weight, worth, elasticity in belief[1]:
        level += weight * (1 + elasticity)
        slope += weight * elasticity / (worth * product.typical_cents)
    return (level / slope + cost) / 2


def best_price(product: Product, belief: Posterior, cost: float) -> int:
    """The price of greatest expected margin in whole cents, within bounds where the belief was learned."""
    price = int(unrounded_price(product, belief, cost))
    if len(belief[1]) > 1:
        price = min(max(price, product.typical_cents * 5 // 10), product.typical_cents * 2)
    return price


def units_a_day(product: Product, belief: Posterior, price: int) -> float:
    """Expected units a day at a price, on an average site with full variety."""
    share = price / product.typical_cents
    return belief[0] * sum([weight * effect(worth, e, share) for weight, worth, e in belief[1]])


@dataclass(frozen=True)
class Calendar:
    """Public factors of weekdays, months and weathers."""

    weekdays: tuple[float, ...] = (1.0,) * 7
    months: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])
    """By category."""
    weathers: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])

    def factor(self, category: str, weekday: int, month: int, weather: str | None) -> float:
        factor = self.weekdays[weekday]
        if category in self.months:
            factor *= self.months[category][month]
            factor *= self.weathers[category].get(weather or "", 1.0)
        return factor


class Effect(NamedTuple):
    """What the news says of an event."""

    times: Mapping[str, float]
    """Factors on demand by category; "" is any other category."""
    pays: float
    """The factor on the price that people find right."""

    def factor(self, category: str) -> float:
        """The factor on the demand for a category."""
        return self.times.get(category, self.times[""])


class Outlook:
    """Expected sales after a day, in days of usual sales, given the announced events by day."""

    def __init__(self, events: Mapping[int, Effect], day: int) -> None:
        self.events, self.day = events, day
        self._sums: dict[str, list[float]] = {}
        """By category: the sums over the first days, cached."""

    def usual_days(self, category: str, horizon: float) -> float:
        """The days of usual sales within a horizon in days, which need not be whole."""
        if not self.events:
            return horizon
        whole, sums = max(int(horizon), 0), self._sums.setdefault(category, [0.0])
        while len(sums) <= whole:
            sums.append(sums[-1] + self._factor(category, len(sums) - 1))
        fraction = horizon - whole
        return sums[whole] + fraction * self._factor(category, whole) if fraction > 0 else sums[whole]

    def _factor(self, category: str, later: int) -> float:
        effect = self.events.get(self.day + later)
        return effect.factor(category) if effect else 1.0
