"""Numbers that a run showed, as sentences tell them and as several runs add them up; and what a sentence must do."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, Self

from akinai.core.money import format_cents, read_dollars


class Advice(Protocol):
    """One kind of sentence."""

    def said(self) -> str:
        """The sentence."""
        ...

    @classmethod
    def read(cls, text: str) -> Self | None:
        """What a sentence of this kind says; None for any other text."""
        ...

    def plus(self, other: Self) -> Self:
        """What both say together, each weighing as much as it has seen."""
        ...


@dataclass(frozen=True, slots=True)
class Seen:
    """What came a day, on average, under one condition: a price, a factor, a number of products."""

    at: float
    a_day: float
    days: int


def mean(a: float, a_weight: float, b: float, b_weight: float) -> float:
    """Of two means; 0 where neither has any weight."""
    total = a_weight + b_weight
    return (a * a_weight + b * b_weight) / total if total else 0.0


MOST_SEEN = 6
"""Conditions that one sentence tells; nearer ones are told as one."""


PRICES, FACTORS, COUNTS = (0, 2), (2, 0), (0, 0)
"""Digits of a condition and of what came of it: whole cents and units, multiples and whole cents, whole numbers."""


def together(seen: Iterable[Seen], most: int = MOST_SEEN, *, digits: tuple[int, int]) -> tuple[Seen, ...]:
    """Observations in rising order, equal conditions as one, then the nearest ones until `most` are left.

    Conditions and outcomes are told with as many digits; their weighted means keep a straight line where it was.
    """
    rows: list[Seen] = []
    rounded = (Seen(round(one.at, digits[0]), one.a_day, one.days) for one in seen if one.days > 0)
    for one in sorted(rounded, key=lambda one: one.at):
        if rows and rows[-1].at == one.at:
            rows[-1] = _joined(rows[-1], one)
        else:
            rows.append(one)
    while len(rows) > most:
        i = min(range(len(rows) - 1), key=lambda i: rows[i + 1].at - rows[i].at)
        rows[i : i + 2] = [_joined(rows[i], rows[i + 1])]
    return tuple(Seen(round(one.at, digits[0]), round(one.a_day, digits[1]), one.days) for one in rows)


def _joined(a: Seen, b: Seen) -> Seen:
    at = a.at if a.at == b.at else mean(a.at, a.days, b.at, b.days)
    return Seen(at, mean(a.a_day, a.days, b.a_day, b.days), a.days + b.days)


def money(cents: float) -> str:
    """As a sentence tells it."""
    return format_cents(round(cents))


def cents_in(text: str) -> int:
    """Of an amount as `money` tells it."""
    amount = read_dollars(text.lstrip("-"), maximum_cents=10**15)
    return -amount if text.startswith("-") else amount
