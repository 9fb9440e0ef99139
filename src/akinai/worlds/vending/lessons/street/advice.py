"""Advice on a business of several sites: whom to trust, what to claim, what to prepare for. It names no product and no
supplier, since every seed has its own."""

from dataclasses import dataclass
from typing import Self

from akinai.core.lessons import SentenceTemplate, TemplateAdvice, weighted_mean
from akinai.worlds.vending.lessons.data_points import (
    COUNTS,
    DataPoint,
    best_condition,
    merge_points,
    points_placeholder,
)


@dataclass(frozen=True, slots=True)
class SignAdvice(TemplateAdvice):
    """Be at the storage when goods come."""

    missed: int
    orders: int

    TEMPLATE = SentenceTemplate(
        "Work every day and wait at the storage at the hour for which goods are promised: of {orders:int} orders, "
        "{missed:int} came while nobody was there, and fetching goods from the depot costs $12.00 and more."
    )

    def merge(self, other: Self) -> Self:
        return type(self)(self.missed + other.missed, self.orders + other.orders)


@dataclass(frozen=True, slots=True)
class ClaimAdvice(TemplateAdvice):
    """Count deliveries and claim what is missing."""

    short: int
    orders: int
    missing_cents: int

    TEMPLATE = SentenceTemplate(
        "Count every delivery on the day on which it comes and claim what is missing: {short:int} of {orders:int} were "
        "short, by {missing_cents:money} in all."
    )

    def merge(self, other: Self) -> Self:
        missing = self.missing_cents + other.missing_cents
        return type(self)(self.short + other.short, self.orders + other.orders, missing)


@dataclass(frozen=True, slots=True)
class CustomerAdvice(TemplateAdvice):
    """Answer customers."""

    complaints: int
    unanswered: int

    TEMPLATE = SentenceTemplate(
        "Pay customers who ask for their money back, on the day of their letter: {unanswered:int} of {complaints:int} "
        "waited in vain, and each that does tells others."
    )

    def merge(self, other: Self) -> Self:
        return type(self)(self.complaints + other.complaints, self.unanswered + other.unanswered)


@dataclass(frozen=True, slots=True)
class NewsAdvice(TemplateAdvice):
    """Read the news."""

    events: int
    days: int
    unread: int

    TEMPLATE = SentenceTemplate(
        "Read the news every third day and order for the events that it announces: there were {events:int} in "
        "{days:int} days, and {unread:int} of them came as a surprise."
    )

    def merge(self, other: Self) -> Self:
        return type(self)(self.events + other.events, self.days + other.days, self.unread + other.unread)


@dataclass(frozen=True, slots=True)
class TrustAdvice(TemplateAdvice):
    """Look suppliers up."""

    orders: int
    came: float
    """The share of the charged goods that suppliers below the trade price delivered."""
    other_orders: int
    others_came: float
    """The share of the charged goods that the other suppliers delivered."""

    TEMPLATE = SentenceTemplate(
        "Read a supplier's reviews before you order, and leave those who fail you: of suppliers far below the trade "
        "price, {came:percent} of what was paid for came in {orders:int} orders, of the others {others_came:percent} "
        "in {other_orders:int}."
    )

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.orders + other.orders,
            weighted_mean(self.came, self.orders, other.came, other.orders),
            self.other_orders + other.other_orders,
            weighted_mean(self.others_came, self.other_orders, other.others_came, other.other_orders),
        )


@dataclass(frozen=True, slots=True)
class BargainAdvice(TemplateAdvice):
    """Bargain."""

    offers: int
    off: float
    """The mean share by which an offer lowered a supplier's prices."""

    TEMPLATE = SentenceTemplate(
        "Bargain with every supplier that you mean to order from, an offer a day, a tenth to a fifth below its price: "
        "{offers:int} offers lowered prices by {off:percent} each on average."
    )

    def merge(self, other: Self) -> Self:
        off = weighted_mean(self.off, self.offers, other.off, other.offers)
        return type(self)(self.offers + other.offers, off)


@dataclass(frozen=True, slots=True)
class ShelfAdvice(TemplateAdvice):
    """How many products to keep at a site."""

    points: tuple[DataPoint, ...]
    """Cents of sales at a site and day, by the number of products on sale."""

    @property
    def best(self) -> int:
        return round(best_condition(self.points))

    TEMPLATE = SentenceTemplate(
        "Keep about {best:int} different products in each machine: a site sold in a day for {points}.",
        points=points_placeholder("{a_day:money} with {at:int} ({days:int} days)", 12, digits=COUNTS),
    )

    def merge(self, other: Self) -> Self:
        return type(self)(merge_points((*self.points, *other.points), 12, digits=COUNTS))


@dataclass(frozen=True, slots=True)
class SiteAdvice(TemplateAdvice):
    """Whether to take further sites."""

    days: int
    earned_cents: float
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

    def merge(self, other: Self) -> Self:
        earned = weighted_mean(self.earned_cents, self.days, other.earned_cents, other.days)
        return type(self)(self.days + other.days, earned, other.rent_cents)


@dataclass(frozen=True, slots=True)
class TasteAdvice(TemplateAdvice):
    """Learn tastes and prices from sales."""

    products: int
    spread: float
    """The mean distance of a product's sales from what its popularity promises, as a share."""

    TEMPLATE = SentenceTemplate(
        "Try prices above and below the typical one, keep what sells best at its price, and look at this every week: "
        "sales of {products:int} products were {spread:percent} off what their popularity promises."
    )

    def merge(self, other: Self) -> Self:
        spread = weighted_mean(self.spread, self.products, other.spread, other.products)
        return type(self)(self.products + other.products, spread)


STREET_KINDS = (
    SignAdvice, ClaimAdvice, CustomerAdvice, NewsAdvice, TrustAdvice, BargainAdvice, ShelfAdvice, SiteAdvice,
    TasteAdvice,
)  # fmt: skip
