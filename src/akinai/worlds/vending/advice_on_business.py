"""Sentences on the business: suppliers, variety, visits, deliveries, cash, the last orders; and the order to try."""

import re
from dataclasses import dataclass
from typing import Self

from akinai.core.advice import cents_in, mean, money
from akinai.worlds.vending.seen import COUNTS, Seen, together


@dataclass(frozen=True, slots=True)
class SupplierAdvice:
    """What a supplier charges and how soon its goods come."""

    address: str
    cost_cents: tuple[tuple[str, int], ...]
    """Paid for a unit, on average, by product."""
    orders: int
    lead_days: float
    hour: int
    """Of the day of delivery at which goods came, the latest."""
    late: int

    def said(self) -> str:
        told = ", ".join(f"{product} {money(cents)}" for product, cents in self.cost_cents)
        return (
            f"Order from {self.address} by letter: in {self.orders} orders a unit cost, on average, {told}; goods came "
            f"{self.lead_days:.1f} days after the letter, by {self.hour}:00; {self.late} orders were late."
        )

    _PATTERN = re.compile(
        r"Order from (\S+) by letter: in (\d+) orders a unit cost, on average, (.+); goods came ([\d.]+) days after "
        r"the letter, by (\d+):00; (\d+) orders were late\."
    )
    _COST = re.compile(r"(\w+) (\$[\d.]+)")

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        address, orders, told, lead, hour, late = found.groups()
        costs = tuple((product, cents_in(cost)) for product, cost in cls._COST.findall(told))
        return cls(address, costs, int(orders), float(lead), int(hour), int(late))

    def plus(self, other: Self) -> Self:
        mine, theirs, costs = dict(self.cost_cents), dict(other.cost_cents), dict[str, int]()
        for product in sorted({*mine, *theirs}):
            here, there = mine.get(product), theirs.get(product)
            costs[product] = (
                round(mean(here, self.orders, there, other.orders))
                if here is not None and there is not None
                else here or there or 0
            )
        orders, late = self.orders + other.orders, self.late + other.late
        lead = mean(self.lead_days, self.orders, other.lead_days, other.orders)
        hour = max(self.hour, other.hour)
        return type(self)(other.address, tuple(costs.items()), orders, lead, hour, late)


@dataclass(frozen=True, slots=True)
class VarietyAdvice:
    """How many products to keep on sale."""

    seen: tuple[Seen, ...]
    """Cents of profit that customers asked for a day, by the number of products on sale."""

    @property
    def best(self) -> int:
        often = sum(one.days for one in self.seen) / (3 * len(self.seen))
        return round(max((one for one in self.seen if one.days >= often), key=lambda one: one.a_day).at)

    def said(self) -> str:
        told = ", ".join(f"{money(one.a_day)} with {one.at:.0f} ({one.days} days)" for one in self.seen)
        return (
            f"Keep about {self.best} different products on sale, half of them small: a day's demand was worth, above "
            f"its cost, {told}."
        )

    _PATTERN = re.compile(
        r"Keep about \d+ different products on sale, half of them small: a day's demand was worth, above its cost, "
        r"(.+)\."
    )
    _SEEN = re.compile(r"(-?\$[\d.,]+) with (\d+) \((\d+) days\)")

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        rows = cls._SEEN.findall(found[1])
        seen = together((Seen(float(at), cents_in(worth), int(days)) for worth, at, days in rows), 12, digits=COUNTS)
        return cls(seen) if seen else None

    def plus(self, other: Self) -> Self:
        return type(self)(together((*self.seen, *other.seen), 12, digits=COUNTS))


@dataclass(frozen=True, slots=True)
class VisitAdvice:
    """How often to go to the machine."""

    a_day: float
    """Units asked for of the product that sells best."""
    slot_units: int
    days: int
    empty: int
    """Evenings on which a product was sold out, counted product by product."""

    @property
    def every_days(self) -> int:
        return max(1, int(self.slot_units / max(round(self.a_day, 2), 0.1)))

    def said(self) -> str:
        return (
            f"Visit the machine every {self.every_days} days and leave no slot empty: customers asked for up to "
            f"{self.a_day:.2f} a day of one product and a slot holds {self.slot_units}; in {self.days} days products "
            f"were sold out on {self.empty} evenings."
        )

    _PATTERN = re.compile(
        r"Visit the machine every \d+ days and leave no slot empty: customers asked for up to ([\d.]+) a day of one "
        r"product and a slot holds (\d+); in (\d+) days products were sold out on (\d+) evenings\."
    )

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        a_day, units, days, empty = found.groups()
        return cls(float(a_day), int(units), int(days), int(empty))

    def plus(self, other: Self) -> Self:
        a_day = mean(self.a_day, self.days, other.a_day, other.days)
        return type(self)(a_day, other.slot_units, self.days + other.days, self.empty + other.empty)


@dataclass(frozen=True, slots=True)
class HourAdvice:
    """When to restock on the day of a delivery."""

    hour: int
    deliveries: int
    too_early: int

    def said(self) -> str:
        return (
            f"Restock on the day of a delivery at its hour or later, not before: {self.deliveries} deliveries came by "
            f"{self.hour}:00, and {self.too_early} restocks were refused because the goods were not there yet."
        )

    _PATTERN = re.compile(
        r"Restock on the day of a delivery at its hour or later, not before: (\d+) deliveries came by (\d+):00, and "
        r"(\d+) restocks were refused because the goods were not there yet\."
    )

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        return cls(int(found[2]), int(found[1]), int(found[3]))

    def plus(self, other: Self) -> Self:
        deliveries, early = self.deliveries + other.deliveries, self.too_early + other.too_early
        return type(self)(max(self.hour, other.hour), deliveries, early)


@dataclass(frozen=True, slots=True)
class CashAdvice:
    """How much cash to keep."""

    fee_cents: int
    days: int
    missed: int
    in_machine_cents: float
    """On an average evening."""

    @property
    def keep_cents(self) -> int:
        return 15 * self.fee_cents

    def said(self) -> str:
        return (
            f"Collect the money at every visit and keep {money(self.keep_cents)} in cash when you order: a fee of "
            f"{money(self.fee_cents)} is due each midnight, {self.missed} of {self.days} could not be paid, and "
            f"{money(self.in_machine_cents)} lay in the machine on an average evening."
        )

    _PATTERN = re.compile(
        r"Collect the money at every visit and keep \S+ in cash when you order: a fee of (\S+) is due each midnight, "
        r"(\d+) of (\d+) could not be paid, and (\S+) lay in the machine on an average evening\."
    )

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        return cls(cents_in(found[1]), int(found[3]), int(found[2]), cents_in(found[4]))

    def plus(self, other: Self) -> Self:
        lying = mean(self.in_machine_cents, self.days, other.in_machine_cents, other.days)
        return type(self)(other.fee_cents, self.days + other.days, self.missed + other.missed, lying)


@dataclass(frozen=True, slots=True)
class LastOrderAdvice:
    """When to stop ordering."""

    lead_days: int
    """The longest that goods took."""
    runs: int
    lost_cents: int
    """Paid for goods that were on their way at the end, all runs together."""

    @property
    def days(self) -> int:
        return self.lead_days + 1

    def said(self) -> str:
        return (
            f"Order nothing in the last {self.days} days: goods took up to {self.lead_days} days, and {self.runs} runs "
            f"ended with goods for {money(self.lost_cents)} on their way, which count for nothing."
        )

    _PATTERN = re.compile(
        r"Order nothing in the last \d+ days: goods took up to (\d+) days, and (\d+) runs ended with goods for (\S+) "
        r"on their way, which count for nothing\."
    )

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        return cls(int(found[1]), int(found[2]), cents_in(found[3]))

    def plus(self, other: Self) -> Self:
        longest = max(self.lead_days, other.lead_days)
        return type(self)(longest, self.runs + other.runs, self.lost_cents + other.lost_cents)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An order to try things out, so that there is something to learn from; no lesson."""

    number: int
    """Another one tries other things."""

    def said(self) -> str:
        return f"Experiment {self.number}: try other products, suppliers and prices, and other prices at each visit."

    @classmethod
    def read(cls, text: str) -> Self | None:
        found = re.match(r"Experiment (\d+): ", text)
        return cls(int(found[1])) if found else None

    def plus(self, other: Self) -> Self:
        return other
