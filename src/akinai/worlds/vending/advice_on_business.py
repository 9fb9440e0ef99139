"""Sentences on the business: suppliers, variety, visits, deliveries, cash, the last orders; and the order to try."""

from dataclasses import dataclass
from typing import Self

from akinai.core.advice import Place, Worded, Wording, listed, mean
from akinai.worlds.vending.seen import COUNTS, Seen, best_at, seen_in, together


@dataclass(frozen=True, slots=True)
class SupplierAdvice(Worded):
    """What a supplier charges and how soon its goods come."""

    address: str
    cost_cents: tuple[tuple[str, int], ...]
    """Paid for a unit, on average, by product."""
    orders: int
    lead_days: float
    hour: int
    """Of the day of delivery at which goods came, the latest."""
    late: int

    WORDS = Wording(
        "Order from {address} by letter: in {orders:int} orders a unit cost, on average, {cost_cents}; goods came "
        "{lead_days:.1} days after the letter, by {hour:int}:00; {late:int} orders were late.",
        address=Place(r"\S+"),
        cost_cents=listed(Wording("{0:word} {1:money}"), lambda rows: tuple((one["0"], one["1"]) for one in rows)),
    )

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
class VarietyAdvice(Worded):
    """How many products to keep on sale."""

    seen: tuple[Seen, ...]
    """Cents of profit that customers asked for a day, by the number of products on sale."""

    @property
    def best(self) -> int:
        return round(best_at(self.seen))

    WORDS = Wording(
        "Keep about {best:int} different products on sale, half of them small: a day's demand was worth, above its "
        "cost, {seen}.",
        seen=seen_in("{a_day:money} with {at:int} ({days:int} days)", 12, digits=COUNTS),
    )

    def plus(self, other: Self) -> Self:
        return type(self)(together((*self.seen, *other.seen), 12, digits=COUNTS))


@dataclass(frozen=True, slots=True)
class VisitAdvice(Worded):
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

    WORDS = Wording(
        "Visit the machine every {every_days:int} days and leave no slot empty: customers asked for up to {a_day:.2} a"
        " day of one product and a slot holds {slot_units:int}; in {days:int} days products were sold out on "
        "{empty:int} evenings."
    )

    def plus(self, other: Self) -> Self:
        a_day = mean(self.a_day, self.days, other.a_day, other.days)
        return type(self)(a_day, other.slot_units, self.days + other.days, self.empty + other.empty)


@dataclass(frozen=True, slots=True)
class HourAdvice(Worded):
    """When to restock on the day of a delivery."""

    hour: int
    deliveries: int
    too_early: int

    WORDS = Wording(
        "Restock on the day of a delivery at its hour or later, not before: {deliveries:int} deliveries came by "
        "{hour:int}:00, and {too_early:int} restocks were refused because the goods were not there yet."
    )

    def plus(self, other: Self) -> Self:
        deliveries, early = self.deliveries + other.deliveries, self.too_early + other.too_early
        return type(self)(max(self.hour, other.hour), deliveries, early)


@dataclass(frozen=True, slots=True)
class CashAdvice(Worded):
    """How much cash to keep."""

    fee_cents: int
    days: int
    missed: int
    in_machine_cents: float
    """On an average evening."""

    @property
    def keep_cents(self) -> int:
        return 15 * self.fee_cents

    WORDS = Wording(
        "Collect the money at every visit and keep {keep_cents:money} in cash when you order: a fee of "
        "{fee_cents:money} is due each midnight, {missed:int} of {days:int} could not be paid, and "
        "{in_machine_cents:money} lay in the machine on an average evening."
    )

    def plus(self, other: Self) -> Self:
        lying = mean(self.in_machine_cents, self.days, other.in_machine_cents, other.days)
        return type(self)(other.fee_cents, self.days + other.days, self.missed + other.missed, lying)


@dataclass(frozen=True, slots=True)
class LastOrderAdvice(Worded):
    """When to stop ordering."""

    lead_days: int
    """The longest that goods took."""
    runs: int
    lost_cents: int
    """Paid for goods that were on their way at the end, all runs together."""

    @property
    def days(self) -> int:
        return self.lead_days + 1

    WORDS = Wording(
        "Order nothing in the last {days:int} days: goods took up to {lead_days:int} days, and {runs:int} runs ended "
        "with goods for {lost_cents:money} on their way, which count for nothing."
    )

    def plus(self, other: Self) -> Self:
        longest = max(self.lead_days, other.lead_days)
        return type(self)(longest, self.runs + other.runs, self.lost_cents + other.lost_cents)


@dataclass(frozen=True, slots=True)
class Experiment(Worded):
    """An order to try things out, so that there is something to learn from; no lesson."""

    number: int
    """Another one tries other things."""

    WORDS = Wording(
        "Experiment {number:int}: try other products, suppliers and prices, and other prices at each visit."
    )

    def plus(self, other: Self) -> Self:
        return other
