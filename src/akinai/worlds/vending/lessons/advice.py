"""Advice on running a business: sentences that hold the numbers they come from, so that they can be parsed and merged.

The recommendation of a sentence follows from its own numbers, so two sentences on one subject merge into a third.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

from akinai.core.lessons import (
    AdviceKinds,
    Largest,
    Mergeable,
    Merging,
    Placeholder,
    SentenceTemplate,
    TemplateAdvice,
    Total,
    choice,
    mean_by,
    merge_nearest,
    repeated,
    weighted_mean,
)


@dataclass(frozen=True, slots=True)
class DataPoint(Mergeable):
    """The average result of a day under a condition, such as a price, a factor or a number of products."""

    at: Annotated[float, mean_by("days")]
    """The condition."""
    a_day: Annotated[float, mean_by("days")]
    """The average result."""
    days: Total
    """The number of days on which it was observed."""


class Scale(NamedTuple):
    """The most points in a sentence, beyond which the nearest are merged; digits of their conditions and results."""

    most: int
    at: int
    a_day: int


PRICES, FACTORS, COUNTS = Scale(6, 0, 2), Scale(10, 2, 0), Scale(12, 0, 0)


def merge_points(points: Iterable[DataPoint], scale: Scale) -> tuple[DataPoint, ...]:
    """Data points in rising order, as a sentence holds them."""
    observed = (replace(point, at=round(point.at, scale.at)) for point in points if point.days > 0)
    rows = merge_nearest(observed, scale.most, lambda point: point.at)
    return tuple(DataPoint(round(row.at, scale.at), round(row.a_day, scale.a_day), row.days) for row in rows)


def merged_points(scale: Scale) -> Merging:
    """The points of two sentences as those of one."""
    return Merging(lambda mine, other, name: merge_points((*getattr(mine, name), *getattr(other, name)), scale))


def best_condition(points: Sequence[DataPoint]) -> float:
    """The condition with the best result, of those observed on at least a third of the mean number of days."""
    often = sum(point.days for point in points) / (3 * len(points))
    return max((point for point in points if point.days >= often), key=lambda point: point.a_day).at


def points_placeholder(row: str, scale: Scale) -> Placeholder:
    """A placeholder for data points in a sentence, each written as a row."""

    def parse(rows: Iterable[Mapping[str, Any]]) -> tuple[DataPoint, ...]:
        points = (DataPoint(float(values["at"]), values["a_day"], values["days"]) for values in rows)
        return merge_points(points, scale)

    return repeated(SentenceTemplate(row), parse)


@dataclass(frozen=True, slots=True)
class PriceAdvice(TemplateAdvice):
    """The price at which a product earns most, from the demand observed at several prices."""

    product: str
    name: str
    size: str
    list_cents: int
    """The usual price in shops, which tells a reader whether the market is the same."""
    cost_cents: Annotated[int, mean_by("days")]
    points: Annotated[tuple[DataPoint, ...], merged_points(PRICES)]
    """The units that customers wanted a day, by price in cents."""

    @property
    def days(self) -> int:
        return sum(point.days for point in self.points)

    @property
    def line(self) -> tuple[float, float] | None:
        """Units a day at price 0 and the units lost for each cent more, by least squares; None where demand did not
        fall."""
        days = self.days
        at = sum(point.at * point.days for point in self.points) / days
        units = sum(point.a_day * point.days for point in self.points) / days
        spread = sum(point.days * (point.at - at) ** 2 for point in self.points)
        slope = (
            sum(point.days * (point.at - at) * (point.a_day - units) for point in self.points) / spread
            if spread
            else 0.0
        )
        return (units - slope * at, -slope) if slope < 0 else None

    @property
    def best_cents(self) -> int:
        """The price of greatest profit on that line, (price of zero demand + cost) / 2, within the observed prices;
        without a line, the observed price that earned most. In steps of five cents."""
        low, high = self.points[0].at, self.points[-1].at
        if self.line is None:
            best = max(self.points, key=lambda point: point.a_day * (point.at - self.cost_cents)).at
        else:
            most, loss = self.line
            best = min(max((most / loss + self.cost_cents) / 2, low), high)
        return max(5 * round(best / 5), 5)

    @property
    def units_a_day(self) -> float:
        """Units expected a day at the best price."""
        if self.line is None:
            return min(self.points, key=lambda point: abs(point.at - self.best_cents)).a_day
        most, loss = self.line
        return max(most - loss * self.best_cents, 0.0)

    @property
    def earns_cents(self) -> float:
        """Cents expected a day at the best price."""
        return self.units_a_day * (self.best_cents - self.cost_cents)

    TEMPLATE = SentenceTemplate(
        "Sell {name} ({product:word}, {size:word}) at about {best_cents:money} where its list price is "
        "{list_cents:money}: it should earn {earns_cents:money} a day at a cost of {cost_cents:money} a unit. "
        "Customers asked a day for {points}.",
        points=points_placeholder("{a_day:.2} at {at:money} ({days:int} days)", PRICES),
    )


@dataclass(frozen=True, slots=True)
class MarkupAdvice(TemplateAdvice):
    """The best price, as a multiple of the list price, of a product that little is known about."""

    points: Annotated[tuple[DataPoint, ...], merged_points(FACTORS)]
    """Cents that a product earned a day, by its price as a multiple of the list price."""

    @property
    def best(self) -> float:
        """The multiple that earned most, of those observed often."""
        return best_condition(self.points)

    TEMPLATE = SentenceTemplate(
        "Sell a product that you know little of at about {best:.2} times its list price: a product earned a day "
        "{points}.",
        points=points_placeholder("{a_day:money} at {at:.2} times it ({days:int} days)", FACTORS),
    )


SPARE_DAYS = 9.0
"""Days of sales to hold beyond the lead time: for the days between orders, and for busy days."""


@dataclass(frozen=True, slots=True)
class StockAdvice(TemplateAdvice):
    """How many units of a product to hold."""

    product: str
    name: str
    a_day: Annotated[float, mean_by("days")]
    days: Total
    lead_days: Annotated[float, mean_by("days")]
    empty_days: Total

    @property
    def units(self) -> int:
        return max(1, math.ceil(round(self.a_day, 2) * (round(self.lead_days, 1) + SPARE_DAYS)))

    TEMPLATE = SentenceTemplate(
        "Keep about {units:int} units of {name} ({product:word}) in machine, storage and orders together: customers "
        "asked for {a_day:.2} a day on {days:int} days, goods took {lead_days:.1} days to come, and it was sold out on"
        " {empty_days:int} evenings."
    )


@dataclass(frozen=True, slots=True)
class SpoilAdvice(TemplateAdvice):
    """Whether a product is sold before it spoils."""

    product: str
    name: str
    bought: Total
    spoiled: Total
    shelf_days: int

    @property
    def wasteful(self) -> bool:
        """Whether a tenth or more is thrown away, which costs the margin."""
        return 10 * self.spoiled >= self.bought

    TEMPLATE = SentenceTemplate(
        "{wasteful} {name} ({product:word}), which keeps {shelf_days:int} days: {spoiled:int} of {bought:int} units "
        "bought were spoiled.",
        wasteful=choice({True: "Leave out", False: "Do not overstock"}),
    )


def _mean_costs(mine: "SupplierAdvice", other: "SupplierAdvice", _: str) -> tuple[tuple[str, int], ...]:
    before, costs = dict(mine.cost_cents), dict(other.cost_cents)
    for product, cost in before.items():
        later = costs.get(product)
        costs[product] = cost if later is None else round(weighted_mean(cost, mine.orders, later, other.orders))
    return tuple(sorted(costs.items()))


@dataclass(frozen=True, slots=True)
class SupplierAdvice(TemplateAdvice):
    """A supplier's prices and lead time."""

    address: str
    cost_cents: Annotated[tuple[tuple[str, int], ...], Merging(_mean_costs)]
    """The average cost of a unit, by product."""
    orders: Total
    lead_days: Annotated[float, mean_by("orders")]
    hour: Largest
    """The latest hour of the day at which goods came."""
    late: Total

    TEMPLATE = SentenceTemplate(
        "Order from {address} by letter: in {orders:int} orders a unit cost, on average, {cost_cents}; goods came "
        "{lead_days:.1} days after the letter, by {hour:int}:00; {late:int} orders were late.",
        address=Placeholder(r"\S+"),
        cost_cents=repeated(
            SentenceTemplate("{0:word} {1:money}"), lambda rows: tuple((row["0"], row["1"]) for row in rows)
        ),
    )


@dataclass(frozen=True, slots=True)
class _ProductCount(TemplateAdvice):
    """How many products to keep on sale, by what a day brought with so many."""

    points: Annotated[tuple[DataPoint, ...], merged_points(COUNTS)]
    """Cents of a day, by the number of products on sale."""

    @property
    def best(self) -> int:
        return round(best_condition(self.points))


_PRODUCT_COUNTS = points_placeholder("{a_day:money} with {at:int} ({days:int} days)", COUNTS)


@dataclass(frozen=True, slots=True)
class VarietyAdvice(_ProductCount):
    """How many products to keep on sale; the cents are the profit in a day's demand."""

    TEMPLATE = SentenceTemplate(
        "Keep about {best:int} different products on sale, half of them small: a day's demand was worth, above its "
        "cost, {points}.",
        points=_PRODUCT_COUNTS,
    )


@dataclass(frozen=True, slots=True)
class VisitAdvice(TemplateAdvice):
    """How often to visit the machine."""

    a_day: Annotated[float, mean_by("days")]
    """The units that customers wanted a day of the product that sells best."""
    slot_units: int
    days: Total
    empty: Total
    """Evenings on which a product was sold out, counted for each product."""

    @property
    def every_days(self) -> int:
        return max(1, int(self.slot_units / max(round(self.a_day, 2), 0.1)))

    TEMPLATE = SentenceTemplate(
        "Visit the machine every {every_days:int} days and leave no slot empty: customers asked for up to {a_day:.2} a"
        " day of one product and a slot holds {slot_units:int}; in {days:int} days products were sold out on "
        "{empty:int} evenings."
    )


@dataclass(frozen=True, slots=True)
class HourAdvice(TemplateAdvice):
    """The hour to restock on the day of a delivery."""

    hour: Largest
    deliveries: Total
    too_early: Total

    TEMPLATE = SentenceTemplate(
        "Restock on the day of a delivery at its hour or later, not before: {deliveries:int} deliveries came by "
        "{hour:int}:00, and {too_early:int} restocks were refused because the goods were not there yet."
    )


@dataclass(frozen=True, slots=True)
class CashAdvice(TemplateAdvice):
    """How much cash to keep."""

    fee_cents: int
    days: Total
    missed: Total
    in_machine_cents: Annotated[float, mean_by("days")]
    """Cents in the machine on an average evening."""

    @property
    def keep_cents(self) -> int:
        return 15 * self.fee_cents

    TEMPLATE = SentenceTemplate(
        "Collect the money at every visit and keep {keep_cents:money} in cash when you order: a fee of "
        "{fee_cents:money} is due each midnight, {missed:int} of {days:int} could not be paid, and "
        "{in_machine_cents:money} lay in the machine on an average evening."
    )


@dataclass(frozen=True, slots=True)
class LastOrderAdvice(TemplateAdvice):
    """When to stop ordering."""

    lead_days: Largest
    """The longest lead time."""
    runs: Total
    lost_cents: Total
    """Cents paid for goods that were on their way at the end, over all runs."""

    @property
    def days(self) -> int:
        return self.lead_days + 1

    TEMPLATE = SentenceTemplate(
        "Order nothing in the last {days:int} days: goods took up to {lead_days:int} days, and {runs:int} runs ended "
        "with goods for {lost_cents:money} on their way, which count for nothing."
    )


@dataclass(frozen=True, slots=True)
class SignAdvice(TemplateAdvice):
    """Be at the storage when goods come."""

    missed: Total
    orders: Total

    TEMPLATE = SentenceTemplate(
        "Work every day and wait at the storage at the hour for which goods are promised: of {orders:int} orders, "
        "{missed:int} came while nobody was there, and fetching goods from the depot costs $12.00 and more."
    )


@dataclass(frozen=True, slots=True)
class ClaimAdvice(TemplateAdvice):
    """Count deliveries and claim what is missing."""

    short: Total
    orders: Total
    missing_cents: Total

    TEMPLATE = SentenceTemplate(
        "Count every delivery on the day on which it comes and claim what is missing: {short:int} of {orders:int} were "
        "short, by {missing_cents:money} in all."
    )


@dataclass(frozen=True, slots=True)
class CustomerAdvice(TemplateAdvice):
    """Answer customers."""

    complaints: Total
    unanswered: Total

    TEMPLATE = SentenceTemplate(
        "Pay customers who ask for their money back, on the day of their letter: {unanswered:int} of {complaints:int} "
        "waited in vain, and each that does tells others."
    )


@dataclass(frozen=True, slots=True)
class NewsAdvice(TemplateAdvice):
    """Read the news."""

    events: Total
    days: Total
    unread: Total

    TEMPLATE = SentenceTemplate(
        "Read the news every third day and order for the events that it announces: there were {events:int} in "
        "{days:int} days, and {unread:int} of them came as a surprise."
    )


@dataclass(frozen=True, slots=True)
class TrustAdvice(TemplateAdvice):
    """Look suppliers up."""

    orders: Total
    came: Annotated[float, mean_by("orders")]
    """The share of the charged goods that suppliers below the trade price delivered."""
    other_orders: Total
    others_came: Annotated[float, mean_by("other_orders")]
    """The share of the charged goods that the other suppliers delivered."""

    TEMPLATE = SentenceTemplate(
        "Read a supplier's reviews before you order, and leave those who fail you: of suppliers far below the trade "
        "price, {came:percent} of what was paid for came in {orders:int} orders, of the others {others_came:percent} "
        "in {other_orders:int}."
    )


@dataclass(frozen=True, slots=True)
class BargainAdvice(TemplateAdvice):
    """Bargain."""

    offers: Total
    off: Annotated[float, mean_by("offers")]
    """The mean share by which an offer lowered a supplier's prices."""

    TEMPLATE = SentenceTemplate(
        "Bargain with every supplier that you mean to order from, an offer a day, a tenth to a fifth below its price: "
        "{offers:int} offers lowered prices by {off:percent} each on average."
    )


@dataclass(frozen=True, slots=True)
class ShelfAdvice(_ProductCount):
    """How many products to keep at a site; the cents are its sales in a day."""

    TEMPLATE = SentenceTemplate(
        "Keep about {best:int} different products in each machine: a site sold in a day for {points}.",
        points=_PRODUCT_COUNTS,
    )


@dataclass(frozen=True, slots=True)
class SiteAdvice(TemplateAdvice):
    """Whether to take further sites."""

    days: Total
    earned_cents: Annotated[float, mean_by("days")]
    """The cents that a site sold in a day above the cost of the goods, on average."""
    rent_cents: int
    """The rent of a site for 28 days."""

    @property
    def pays(self) -> bool:
        return self.earned_cents * 28 > 2 * self.rent_cents

    TEMPLATE = SentenceTemplate(
        "Take further sites as soon as the account covers the price of the pitch and goods for it: on {days:int} days "
        "a site earned {earned_cents:money} a day above the cost of its goods, and its rent for 28 days is "
        "{rent_cents:money}."
    )


@dataclass(frozen=True, slots=True)
class TasteAdvice(TemplateAdvice):
    """Learn tastes and prices from sales."""

    products: Total
    spread: Annotated[float, mean_by("products")]
    """The mean distance of a product's sales from what its popularity promises, as a share."""

    TEMPLATE = SentenceTemplate(
        "Try prices above and below the typical one, keep what sells best at its price, and look at this every week: "
        "sales of {products:int} products were {spread:percent} off what their popularity promises."
    )


@dataclass(frozen=True, slots=True)
class Experiment(TemplateAdvice):
    """An instruction to experiment, so that there is something to learn from; it is no lesson."""

    number: int
    """The experiment's number: each number tries other things."""

    TEMPLATE = SentenceTemplate(
        "Experiment {number:int}: try other products, suppliers and prices, and other prices at each visit."
    )


KINDS = AdviceKinds(
    PriceAdvice, MarkupAdvice, StockAdvice, SupplierAdvice, VarietyAdvice, VisitAdvice, HourAdvice, CashAdvice,
    LastOrderAdvice, SpoilAdvice, Experiment, SignAdvice, ClaimAdvice, CustomerAdvice, NewsAdvice, TrustAdvice,
    BargainAdvice, ShelfAdvice, SiteAdvice, TasteAdvice,
)  # fmt: skip

read_advice, merge_advice = KINDS.read, KINDS.merge
