"""Sentences on what to pay: places and proposals that lack something, how many answers to wait for, what price."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Self

from akinai.core.advice import Place, Worded, Wording, listed, mean, one_of
from akinai.worlds.market.seen import Deals, Seen, together


@dataclass(frozen=True, slots=True)
class Compared(Worded):
    """Whether to see to something, by what payments with and without it left their customers with."""

    lacking: Deals
    having: Deals

    @property
    def checks(self) -> bool | None:
        """None where no payment without it was seen."""
        return self.lacking.cents < self.having.cents if self.lacking.count else None

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self | None:
        lacking, having = (Deals(told[f"{one}.count"], told[f"{one}.cents"]) for one in ("lacking", "having"))
        return cls(lacking, having)

    def plus(self, other: Self) -> Self:
        return type(self)(self.lacking.plus(other.lacking), self.having.plus(other.having))


class AmenityAdvice(Compared):
    """Whether to buy only where all amenities are: payments for all items to places with and without them."""

    __slots__ = ()
    WORDS = Wording(
        "{checks}: {lacking.count:int} payments to places that lacked one left their customers with "
        "{lacking.cents:money} each on average, {having.count:int} to places that had all with {having.cents:money}.",
        checks=one_of(
            {
                True: "Write only to businesses that have every amenity you need",
                False: "Write to businesses whatever amenities they have",
                None: "See which amenities a business has before you write to it",
            }
        ),
    )


class ItemsAdvice(Compared):
    """Whether to pay only for a proposal that holds all items: payments for a part of them, and for all, whatever the
    place was like."""

    __slots__ = ()
    WORDS = Wording(
        "{checks}: {lacking.count:int} payments for a part left their customers with {lacking.cents:money} each on "
        "average, {having.count:int} for all of it, amenities or not, with {having.cents:money}.",
        checks=one_of(
            {
                True: "Pay only for a proposal that holds every item you want",
                False: "Pay for a proposal that holds some of what you want",
                None: "See which items a proposal holds before you pay it",
            }
        ),
    )


@dataclass(frozen=True, slots=True)
class WaitAdvice(Worded):
    """How many proposals to wait for, and how long."""

    customers: int
    """Who got at least one proposal of all they want, from a place that has all they need."""
    first_best: int
    """To how many of them the first such proposal was the cheapest."""
    left_cents: tuple[int, ...]
    """What the cheapest of the first one, of the first two and so on would have left a customer with, on average, as
    far as it had not expired when the last of them came."""
    answers: int
    mean_s: float
    """From a question to the proposal that answered it."""
    longest_s: int

    @property
    def best(self) -> int:
        """The least number beyond which nothing was gained."""
        return self.left_cents.index(max(self.left_cents)) + 1

    @property
    def patience_s(self) -> int:
        """Twice the longest, and a minute at least."""
        return max(60, 2 * self.longest_s)

    @property
    def told(self) -> str:
        """What to do."""
        if self.best == 1:
            return "Pay the first proposal that fits in items and amenities"
        return f"Wait for {self.best} proposals that fit in items and amenities, and pay the cheapest"

    @property
    def counts(self) -> str:
        return ", ".join(str(count) for count in range(1, len(self.left_cents) + 1))

    WORDS = Wording(
        "{told}: the first was the cheapest for {first_best:int} of {customers:int} customers, and the cheapest of the"
        " first {counts} would have left each with {left_cents} on average. Be ready to wait {patience_s:int} s: "
        "{answers:int} proposals came {mean_s:.1} s after the question on average, the last after {longest_s:int} s.",
        told=Place("(?:Wait for|Pay the first) [^:]+"),
        counts=Place(r"[\d, ]+"),
        left_cents=listed(Wording("{:money}"), lambda rows: tuple(one[""] for one in rows)),
    )

    def plus(self, other: Self) -> Self:
        """Where one has seen fewer proposals, more would have been no use to its customers."""
        mine, theirs = self.left_cents, other.left_cents
        both = [
            (mine[-1] if here is None else here, theirs[-1] if there is None else there)
            for here, there in zip_longest(mine, theirs)
        ]
        return type(self)(
            self.customers + other.customers,
            self.first_best + other.first_best,
            tuple(round(mean(here, self.customers, there, other.customers)) for here, there in both),
            self.answers + other.answers,
            mean(self.mean_s, self.answers, other.mean_s, other.answers),
            max(self.longest_s, other.longest_s),
        )


@dataclass(frozen=True, slots=True)
class PriceAdvice(Worded):
    """Up to what price a proposal that fits is worth it."""

    seen: tuple[Seen, ...]

    @property
    def percent(self) -> int | None:
        """Of what one is willing to pay: where nothing is left by the line of least squares through what was seen.
        None where less was not left at a higher price."""
        payments = sum(one.payments for one in self.seen)
        price = sum(one.price * one.payments for one in self.seen) / payments
        left = sum(one.left * one.payments for one in self.seen) / payments
        spread = sum(one.payments * (one.price - price) ** 2 for one in self.seen)
        slope = sum(one.payments * (one.price - price) * (one.left - left) for one in self.seen)
        return max(round(100 * (price - left * spread / slope)), 0) if slope < 0 else None

    @property
    def limit(self) -> str:
        return "whatever it costs" if self.percent is None else f"up to {self.percent}% of it"

    WORDS = Wording(
        "Add up what you would pay for the items you want, and take a proposal that fits {limit}: as shares of that "
        "sum, payments left {seen}.",
        limit=Place(r"whatever it costs|up to \d+% of it"),
        seen=listed(
            Wording("{left:percent} at {price:percent} ({payments:int} payments)"),
            lambda rows: together(Seen(**one) for one in rows),
        ),
    )

    def plus(self, other: Self) -> Self:
        return type(self)(together((*self.seen, *other.seen)))
