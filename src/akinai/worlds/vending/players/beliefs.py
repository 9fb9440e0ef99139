"""A trader's beliefs about demand, learned from sales: tastes, prices and sites."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

VARIETY = (0, 0.60, 0.65, 0.70, 0.75, 0.80, 0.84, 0.88, 0.91, 0.94, 0.96, 0.98, 1.0)
"""The factor on sales by number of different products, as the web says."""
GRID = tuple((worth / 100, elasticity / 10) for worth in (82, 102, 124, 148, 176) for elasticity in (15, 20, 25))
"""Hypotheses on demand: the price that people find right, as a share of the typical one, and the elasticity."""
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
    category: str
    small: bool
    typical_cents: int
    popularity: float
    """Units a day at the typical price, roughly."""
    shelf_days: int
    trade_cents: int


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

    def posterior(self, product: Product) -> Posterior:
        """Gamma-Poisson beliefs over the grid."""
        units = sum([entry[1] for entry in self.seen.values()])
        days, logs = [0.0] * len(GRID), [0.0] * len(GRID)
        for step, (x, u) in self.seen.items():
            effects, log_effects = _row(step)
            days = [total + factor * x for total, factor in zip(days, effects, strict=True)]
            logs = [total + u * log_factor for total, log_factor in zip(logs, log_effects, strict=True)]
        rates = [PRIOR / product.popularity + x for x in days]
        scores = [like - (PRIOR + units) * log(rate) for like, rate in zip(logs, rates, strict=True)]
        top = max(scores)
        weights = [exp(score - top) for score in scores]
        total = sum(weights)
        demands = [(PRIOR + units) / rate for rate in rates]
        mean = sum([weight * demand for weight, demand in zip(weights, demands, strict=True)]) / total
        points = tuple(
            (weight / total * demand / mean, worth, elasticity)
            for weight, demand, (worth, elasticity) in zip(weights, demands, GRID, strict=True)
            if weight > 0.01 * total
        )
        return mean, points


def best_price(product: Product, belief: Posterior, cost: float) -> int:
    """The price of greatest expected margin, in cents."""
    level = slope = 0.0
    for weight, worth, elasticity in belief[1]:
        level += weight * (1 + elasticity)
        slope += weight * elasticity / (worth * product.typical_cents)
    price = int((level / slope + cost) / 2)
    if len(belief[1]) > 1:
        price = min(max(price, product.typical_cents * 7 // 10), product.typical_cents * 2)
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


EVENTS: Mapping[str, Mapping[str, float]] = {
    "festival": {"": 2.3},
    "heat": {"": 0.95, "drink": 2.4, "dairy": 1.5},
    "works": {"": 0.5},
    "holiday": {"": 0.35},
}
"""The factors of events on demand by category, as the news words them; "" is any other category."""
AT_FESTIVALS = 1.16
"""The factor on the price that people are believed to find right at festivals."""


def event_factor(kind: str | None, category: str) -> float:
    """The factor on the demand for a category while an event of this kind is on; None is no event."""
    factors = EVENTS.get(kind or "", {})
    return factors.get(category, factors.get("", 1.0))


class Outlook:
    """Expected sales after a day, in days of usual sales, given the announced events by day."""

    def __init__(self, events: Mapping[int, str], day: int) -> None:
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
        kind = self.events.get(self.day + later)
        return event_factor(kind, category) if kind else 1.0
