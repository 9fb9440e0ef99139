"""Advice on buying in a market: sentences that hold their numbers, and how they are read back and merged.

A sentence's advice follows from its own numbers, so two sentences about one thing merge into a third.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated, Any, Self

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
class Deals(Mergeable):
    """Payments of one kind."""

    count: Total
    cents: Annotated[int, mean_by("count")]
    """The mean utility that a payment left its customer; 0 where there were none."""

    @staticmethod
    def of(gains_cents: Iterable[int]) -> "Deals":
        gains = list(gains_cents)
        return Deals(len(gains), round(sum(gains) / len(gains)) if gains else 0)


@dataclass(frozen=True, slots=True)
class PricePoint(Mergeable):
    """The utility that payments at one price left, both as shares of the customer's willingness to pay."""

    price: Annotated[float, mean_by("payments")]
    left: Annotated[float, mean_by("payments")]
    payments: Total


MOST_SEEN = 6
"""Maximum prices in a sentence; the nearest ones are averaged."""


def merge_points(points: Iterable[PricePoint]) -> tuple[PricePoint, ...]:
    """Observations in rising order, `MOST_SEEN` at most."""
    rows = merge_nearest((point for point in points if point.payments > 0), MOST_SEEN, lambda point: point.price)
    return tuple(PricePoint(round(row.price, 2), round(row.left, 2), row.payments) for row in rows)


@dataclass(frozen=True, slots=True)
class ComparisonAdvice(TemplateAdvice):
    """Whether to insist on something, by the gains of payments with and without it."""

    lacking: Deals
    having: Deals

    @property
    def checks(self) -> bool | None:
        """Whether to insist; None where no payment without it was seen."""
        return self.lacking.cents < self.having.cents if self.lacking.count else None

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self | None:
        lacking, having = (Deals(values[f"{deal}.count"], values[f"{deal}.cents"]) for deal in ("lacking", "having"))
        return cls(lacking, having)


class AmenityAdvice(ComparisonAdvice):
    """Whether to buy only where all amenities are: payments for all items to places with and without them."""

    __slots__ = ()
    TEMPLATE = SentenceTemplate(
        "{checks}: {lacking.count:int} payments to places that lacked one left their customers with "
        "{lacking.cents:money} each on average, {having.count:int} to places that had all with {having.cents:money}.",
        checks=choice(
            {
                True: "Write only to businesses that have every amenity you need",
                False: "Write to businesses whatever amenities they have",
                None: "See which amenities a business has before you write to it",
            }
        ),
    )


class ItemsAdvice(ComparisonAdvice):
    """Whether to pay only for a proposal that holds all items: payments for a part of them, and for all, whatever the
    place was like."""

    __slots__ = ()
    TEMPLATE = SentenceTemplate(
        "{checks}: {lacking.count:int} payments for a part left their customers with {lacking.cents:money} each on "
        "average, {having.count:int} for all of it, amenities or not, with {having.cents:money}.",
        checks=choice(
            {
                True: "Pay only for a proposal that holds every item you want",
                False: "Pay for a proposal that holds some of what you want",
                None: "See which items a proposal holds before you pay it",
            }
        ),
    )


def _left_cents(mine: "WaitAdvice", other: "WaitAdvice", _: str) -> tuple[int, ...]:
    """The side that saw fewer proposals counts as if further ones had gained its customers nothing."""
    a, b = mine.left_cents, other.left_cents
    pairs = [(a[-1] if x is None else x, b[-1] if y is None else y) for x, y in zip_longest(a, b)]
    return tuple(round(weighted_mean(x, mine.customers, y, other.customers)) for x, y in pairs)


@dataclass(frozen=True, slots=True)
class WaitAdvice(TemplateAdvice):
    """How many proposals to wait for, and how long."""

    customers: Total
    """Customers that got at least one proposal that fits: all items, from a business with all amenities."""
    first_best: Total
    """Those among them whose first such proposal was the cheapest."""
    left_cents: Annotated[tuple[int, ...], Merging(_left_cents)]
    """The mean utility that the cheapest of the first one, of the first two and so on would have left a customer; a
    proposal that expired before the last of them came is left out."""
    answers: Total
    mean_s: Annotated[float, mean_by("answers")]
    """Mean seconds from a question to the proposal that answered it."""
    longest_s: Largest

    @property
    def best(self) -> int:
        """The least number beyond which nothing was gained."""
        return self.left_cents.index(max(self.left_cents)) + 1

    @property
    def patience_s(self) -> int:
        """Seconds to wait: twice the longest, at least a minute."""
        return max(60, 2 * self.longest_s)

    @property
    def order(self) -> str:
        """The instruction."""
        if self.best == 1:
            return "Pay the first proposal that fits in items and amenities"
        return f"Wait for {self.best} proposals that fit in items and amenities, and pay the cheapest"

    @property
    def counts(self) -> str:
        return ", ".join(str(count) for count in range(1, len(self.left_cents) + 1))

    TEMPLATE = SentenceTemplate(
        "{order}: the first was the cheapest for {first_best:int} of {customers:int} customers, and the cheapest of the"
        " first {counts} would have left each with {left_cents} on average. Be ready to wait {patience_s:int} s: "
        "{answers:int} proposals came {mean_s:.1} s after the question on average, the last after {longest_s:int} s.",
        order=Placeholder("(?:Wait for|Pay the first) [^:]+"),
        counts=Placeholder(r"[\d, ]+"),
        left_cents=repeated(SentenceTemplate("{:money}"), lambda rows: tuple(row[""] for row in rows)),
    )


@dataclass(frozen=True, slots=True)
class PriceAdvice(TemplateAdvice):
    """The price up to which a proposal that fits is worth it."""

    points: Annotated[
        tuple[PricePoint, ...], Merging(lambda mine, other, _: merge_points((*mine.points, *other.points)))
    ]

    @property
    def percent(self) -> int | None:
        """The maximum price in per cent of the willingness to pay: where the line of least squares through the points
        leaves nothing. None where a higher price did not leave less."""
        payments = sum(point.payments for point in self.points)
        price = sum(point.price * point.payments for point in self.points) / payments
        left = sum(point.left * point.payments for point in self.points) / payments
        spread = sum(point.payments * (point.price - price) ** 2 for point in self.points)
        slope = sum(point.payments * (point.price - price) * (point.left - left) for point in self.points)
        return max(round(100 * (price - left * spread / slope)), 0) if slope < 0 else None

    @property
    def limit(self) -> str:
        return "whatever it costs" if self.percent is None else f"up to {self.percent}% of it"

    TEMPLATE = SentenceTemplate(
        "Add up what you would pay for the items you want, and take a proposal that fits {limit}: as shares of that "
        "sum, payments left {points}.",
        limit=Placeholder(r"whatever it costs|up to \d+% of it"),
        points=repeated(
            SentenceTemplate("{left:percent} at {price:percent} ({payments:int} payments)"),
            lambda rows: merge_points(PricePoint(**row) for row in rows),
        ),
    )


@dataclass(frozen=True, slots=True)
class MenuAdvice(TemplateAdvice):
    """Whether to write only to businesses that have all items."""

    lacking: Total
    """Businesses that were asked and whose menu lacked an item."""
    lacking_whole: Total
    """Those of them that proposed all that was wanted."""
    having: Total
    having_whole: Total

    @property
    def checks(self) -> bool | None:
        """Whether to; None where one kind of business was not asked."""
        if not (self.lacking and self.having):
            return None
        return self.lacking_whole * self.having < self.having_whole * self.lacking

    TEMPLATE = SentenceTemplate(
        "{checks}: of {lacking:int} that lacked one and were asked, {lacking_whole:int} proposed all of it; of "
        "{having:int} that had all, {having_whole:int} did.",
        checks=choice(
            {
                True: "Read the menus, and write only to businesses that have every item you want",
                False: "Write to businesses whatever their menus hold",
                None: "Read the menus before you write to a business",
            }
        ),
    )


@dataclass(frozen=True, slots=True)
class Ranked(Mergeable):
    """The ranks of the best business in the results of one search algorithm."""

    algorithm: str
    searches: Total
    top3: Total
    """Searches that had it among the first three results."""
    top10: Total
    last: Largest
    """Its worst rank; 0 where it was never found."""


def _both_ranked(mine: "SearchAdvice", other: "SearchAdvice", _: str) -> tuple[Ranked, ...]:
    both = {ranked.algorithm: ranked for ranked in mine.ranked}
    for ranked in other.ranked:
        own = both.get(ranked.algorithm)
        both[ranked.algorithm] = ranked if own is None else own.merge(ranked)
    return tuple(both[name] for name in sorted(both))


@dataclass(frozen=True, slots=True)
class SearchAdvice(TemplateAdvice):
    """The search to use, and the number of results to read."""

    ranked: Annotated[tuple[Ranked, ...], Merging(_both_ranked)]
    """By the name of the algorithm."""

    @property
    def best(self) -> Ranked:
        """The algorithm that most often has it among the first ten results, then among the first three."""
        return max(self.ranked, key=lambda ranked: (ranked.top10 / ranked.searches, ranked.top3 / ranked.searches))

    @property
    def results(self) -> int:
        """The number of results to read."""
        return max(self.best.last, 1)

    TEMPLATE = SentenceTemplate(
        "Search for the names of your items with the algorithm {best.algorithm:word} and read at least {results:int} "
        "results: the cheapest business that fits stood among the first 3 and the first 10 with {ranked}.",
        ranked=repeated(
            SentenceTemplate(
                "{algorithm:word} {top3:int} and {top10:int} times of {searches:int}, at place {last:int} at most"
            ),
            lambda rows: tuple(Ranked(**row) for row in rows if row["searches"] > 0),
            separator="; ",
        ),
    )


@dataclass(frozen=True, slots=True)
class Experiment(TemplateAdvice):
    """An instruction to try things out, so that the runs teach more; it is no lesson."""

    number: int
    """Another one tries other things."""

    TEMPLATE = SentenceTemplate(
        "Experiment {number:int}: try other searches, write to businesses with and without all you want, and wait for "
        "one proposal or for several."
    )


KINDS = AdviceKinds(
    AmenityAdvice, ItemsAdvice, MenuAdvice, WaitAdvice, PriceAdvice, SearchAdvice, Experiment,
)  # fmt: skip

read_advice, merge_advice = KINDS.read, KINDS.merge
