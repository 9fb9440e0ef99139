"""Sentences on one product or all: its price, how much of it to have, whether it keeps."""

import math
from dataclasses import dataclass
from typing import Self

from akinai.core.advice import Worded, Wording, mean, one_of
from akinai.worlds.vending.seen import FACTORS, PRICES, Seen, best_at, seen_in, together


@dataclass(frozen=True, slots=True)
class PriceAdvice(Worded):
    """At what price a product earns most, by the demand seen at several."""

    product: str
    name: str
    size: str
    list_cents: int
    """Its usual price in shops, by which a reader knows whether it is the same market."""
    cost_cents: int
    seen: tuple[Seen, ...]
    """Units asked for a day, by price in cents."""

    @property
    def days(self) -> int:
        return sum(one.days for one in self.seen)

    @property
    def line(self) -> tuple[float, float] | None:
        """Units a day at the price 0, and what a cent more takes off, by least squares; None where demand was not seen
        to fall."""
        days = self.days
        at = sum(one.at * one.days for one in self.seen) / days
        units = sum(one.a_day * one.days for one in self.seen) / days
        spread = sum(one.days * (one.at - at) ** 2 for one in self.seen)
        slope = sum(one.days * (one.at - at) * (one.a_day - units) for one in self.seen) / spread if spread else 0.0
        return (units - slope * at, -slope) if slope < 0 else None

    @property
    def best_cents(self) -> int:
        """The price of the greatest profit on that line, (zero demand + cost) / 2, never beyond the prices seen;
        without a line the seen price that earned most. In steps of five cents."""
        low, high = self.seen[0].at, self.seen[-1].at
        if self.line is None:
            best = max(self.seen, key=lambda one: one.a_day * (one.at - self.cost_cents)).at
        else:
            most, loss = self.line
            best = min(max((most / loss + self.cost_cents) / 2, low), high)
        return max(5 * round(best / 5), 5)

    @property
    def units_a_day(self) -> float:
        """Expected at the best price."""
        if self.line is None:
            return min(self.seen, key=lambda one: abs(one.at - self.best_cents)).a_day
        most, loss = self.line
        return max(most - loss * self.best_cents, 0.0)

    @property
    def earns_cents(self) -> float:
        """Expected a day at the best price."""
        return self.units_a_day * (self.best_cents - self.cost_cents)

    WORDS = Wording(
        "Sell {name} ({product:word}, {size:word}) at about {best_cents:money} where its list price is "
        "{list_cents:money}: it should earn {earns_cents:money} a day at a cost of {cost_cents:money} a unit. "
        "Customers asked a day for {seen}.",
        seen=seen_in("{a_day:.2} at {at:money} ({days:int} days)", digits=PRICES),
    )

    def plus(self, other: Self) -> Self:
        cost = round(mean(self.cost_cents, self.days, other.cost_cents, other.days))
        seen = together((*self.seen, *other.seen), digits=PRICES)
        return type(self)(other.product, other.name, other.size, other.list_cents, cost, seen)


@dataclass(frozen=True, slots=True)
class MarkupAdvice(Worded):
    """By how much more than its list price a product that one knows little of is best sold."""

    seen: tuple[Seen, ...]
    """Cents that a product earned a day, by its price as a multiple of the list price."""

    @property
    def best(self) -> float:
        """The multiple that earned most, of those seen often."""
        return best_at(self.seen)

    WORDS = Wording(
        "Sell a product that you know little of at about {best:.2} times its list price: a product earned a day "
        "{seen}.",
        seen=seen_in("{a_day:money} at {at:.2} times it ({days:int} days)", 10, digits=FACTORS),
    )

    def plus(self, other: Self) -> Self:
        return type(self)(together((*self.seen, *other.seen), 10, digits=FACTORS))


SPARE_DAYS = 9.0
"""Days of sales to hold beyond those that goods are on their way: between orders, and for busy days."""


@dataclass(frozen=True, slots=True)
class StockAdvice(Worded):
    """How many units of a product to have."""

    product: str
    name: str
    a_day: float
    days: int
    lead_days: float
    empty_days: int

    @property
    def units(self) -> int:
        return max(1, math.ceil(round(self.a_day, 2) * (round(self.lead_days, 1) + SPARE_DAYS)))

    WORDS = Wording(
        "Keep about {units:int} units of {name} ({product:word}) in machine, storage and orders together: customers "
        "asked for {a_day:.2} a day on {days:int} days, goods took {lead_days:.1} days to come, and it was sold out on"
        " {empty_days:int} evenings."
    )

    def plus(self, other: Self) -> Self:
        a_day = mean(self.a_day, self.days, other.a_day, other.days)
        lead = mean(self.lead_days, self.days, other.lead_days, other.days)
        days, empty = self.days + other.days, self.empty_days + other.empty_days
        return type(self)(other.product, other.name, a_day, days, lead, empty)


@dataclass(frozen=True, slots=True)
class SpoilAdvice(Worded):
    """Whether goods of a product are sold before they spoil."""

    product: str
    name: str
    bought: int
    spoiled: int
    shelf_days: int

    @property
    def wasteful(self) -> bool:
        """A tenth and more is thrown away, which eats the margin."""
        return 10 * self.spoiled >= self.bought

    WORDS = Wording(
        "{wasteful} {name} ({product:word}), which keeps {shelf_days:int} days: {spoiled:int} of {bought:int} units "
        "bought were spoiled.",
        wasteful=one_of({True: "Leave out", False: "Do not overstock"}),
    )

    def plus(self, other: Self) -> Self:
        bought, spoiled = self.bought + other.bought, self.spoiled + other.spoiled
        return type(self)(other.product, other.name, bought, spoiled, other.shelf_days)
