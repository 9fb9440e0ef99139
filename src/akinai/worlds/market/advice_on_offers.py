"""Sentences on what to pay: places and proposals that lack something, how many answers to wait for, what price."""

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, Self

from akinai.core.advice import cents_in, mean, money
from akinai.worlds.market.seen import Deals, Leads, Seen, together


@dataclass(frozen=True, slots=True)
class AmenityAdvice:
    """Whether to buy only where all amenities are."""

    lacking: Deals
    """Payments for all items to places that lacked an amenity."""
    having: Deals
    """The same to places that had all."""

    @property
    def checks(self) -> bool | None:
        """None where no such payment was seen."""
        return self.lacking.cents < self.having.cents if self.lacking.count else None

    _LEADS: ClassVar[Leads] = {
        True: "Write only to businesses that have every amenity you need",
        False: "Write to businesses whatever amenities they have",
        None: "See which amenities a business has before you write to it",
    }

    def said(self) -> str:
        return (
            f"{self._LEADS[self.checks]}: {self.lacking.count} payments to places that lacked one left their "
            f"customers with {money(self.lacking.cents)} each on average, {self.having.count} to places that had all "
            f"with {money(self.having.cents)}."
        )

    _PATTERN = re.compile(
        rf"(?:{'|'.join(_LEADS.values())}): "
        r"(\d+) payments to places that lacked one left their customers with (\S+) each on average, (\d+) to places "
        r"that had all with (\S+)\."
    )

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        return cls(Deals(int(found[1]), cents_in(found[2])), Deals(int(found[3]), cents_in(found[4])))

    def plus(self, other: Self) -> Self:
        return type(self)(self.lacking.plus(other.lacking), self.having.plus(other.having))


@dataclass(frozen=True, slots=True)
class ItemsAdvice:
    """Whether to pay only for a proposal that holds all items."""

    part: Deals
    """Payments for a part of what was wanted."""
    whole: Deals
    """Payments for all of it, whatever the place was like."""

    @property
    def checks(self) -> bool | None:
        """None where no such payment was seen."""
        return self.part.cents < self.whole.cents if self.part.count else None

    _LEADS: ClassVar[Leads] = {
        True: "Pay only for a proposal that holds every item you want",
        False: "Pay for a proposal that holds some of what you want",
        None: "See which items a proposal holds before you pay it",
    }

    def said(self) -> str:
        return (
            f"{self._LEADS[self.checks]}: {self.part.count} payments for a part left their customers with "
            f"{money(self.part.cents)} each on average, {self.whole.count} for all of it, amenities or not, with "
            f"{money(self.whole.cents)}."
        )

    _PATTERN = re.compile(
        rf"(?:{'|'.join(_LEADS.values())}): "
        r"(\d+) payments for a part left their customers with (\S+) each on average, (\d+) for all of it, amenities "
        r"or not, with (\S+)\."
    )

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        return cls(Deals(int(found[1]), cents_in(found[2])), Deals(int(found[3]), cents_in(found[4])))

    def plus(self, other: Self) -> Self:
        return type(self)(self.part.plus(other.part), self.whole.plus(other.whole))


@dataclass(frozen=True, slots=True)
class WaitAdvice:
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

    def said(self) -> str:
        counts = ", ".join(str(count) for count in range(1, len(self.left_cents) + 1))
        left = ", ".join(money(cents) for cents in self.left_cents)
        told = (
            f"Wait for {self.best} proposals that fit in items and amenities, and pay the cheapest"
            if self.best > 1
            else "Pay the first proposal that fits in items and amenities"
        )
        return (
            f"{told}: the first was the cheapest for {self.first_best} of {self.customers} customers, and the cheapest "
            f"of the first {counts} would have left each with {left} on average. Be ready to wait {self.patience_s} s: "
            f"{self.answers} proposals came {self.mean_s:.1f} s after the question on average, the last after "
            f"{self.longest_s} s."
        )

    _PATTERN = re.compile(
        r"(?:Wait for \d+ proposals that fit in items and amenities, and pay the cheapest|Pay the first proposal that "
        r"fits in items and amenities): the first was the cheapest for (\d+) of (\d+) customers, and the cheapest of "
        r"the first [\d, ]+ would have left each with (.+) on average\. Be ready to wait \d+ s: (\d+) proposals came "
        r"([\d.]+) s after the question on average, the last after (\d+) s\."
    )
    _LEFT = re.compile(r"-?\$[\d,]+\.\d\d")

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        left = tuple(cents_in(one) for one in cls._LEFT.findall(found[3]))
        return cls(int(found[2]), int(found[1]), left, int(found[4]), float(found[5]), int(found[6])) if left else None

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
class PriceAdvice:
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

    def said(self) -> str:
        told = ", ".join(f"{one.left:.0%} at {one.price:.0%} ({one.payments} payments)" for one in self.seen)
        limit = "whatever it costs" if self.percent is None else f"up to {self.percent}% of it"
        return (
            f"Add up what you would pay for the items you want, and take a proposal that fits {limit}: as shares of "
            f"that sum, payments left {told}."
        )

    _PATTERN = re.compile(
        r"Add up what you would pay for the items you want, and take a proposal that fits (?:whatever it costs|up to "
        r"\d+% of it): as shares of that sum, payments left (.+)\."
    )
    _SEEN = re.compile(r"(-?\d+)% at (\d+)% \((\d+) payments\)")

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        rows = cls._SEEN.findall(found[1])
        seen = together(Seen(int(price) / 100, int(left) / 100, int(count)) for left, price, count in rows)
        return cls(seen) if seen else None

    def plus(self, other: Self) -> Self:
        return type(self)(together((*self.seen, *other.seen)))
