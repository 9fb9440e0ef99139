"""Numbers that a run showed, as sentences tell them and as several runs add them up."""

from collections.abc import Iterable
from dataclasses import dataclass

from akinai.core.advice import mean


@dataclass(frozen=True, slots=True)
class Deals:
    """Payments of one kind."""

    count: int
    cents: int
    """What one left its customer with, on average; 0 where there were none."""

    @staticmethod
    def of(gains_cents: Iterable[int]) -> "Deals":
        gains = list(gains_cents)
        return Deals(len(gains), round(sum(gains) / len(gains)) if gains else 0)

    def plus(self, other: "Deals") -> "Deals":
        return Deals(self.count + other.count, round(mean(self.cents, self.count, other.cents, other.count)))


@dataclass(frozen=True, slots=True)
class Seen:
    """What a payment left at one price, both as shares of what the customer would have paid."""

    price: float
    left: float
    payments: int


MOST_SEEN = 6
"""Prices that one sentence tells; nearer ones are told as one."""


def together(seen: Iterable[Seen]) -> tuple[Seen, ...]:
    """Observations in rising order, equal prices as one, then the nearest ones until `MOST_SEEN` are left.

    Weighted means keep a straight line where it was.
    """
    rows: list[Seen] = []
    for one in sorted((one for one in seen if one.payments > 0), key=lambda one: one.price):
        if rows and rows[-1].price == one.price:
            rows[-1] = _joined(rows[-1], one)
        else:
            rows.append(one)
    while len(rows) > MOST_SEEN:
        i = min(range(len(rows) - 1), key=lambda i: rows[i + 1].price - rows[i].price)
        rows[i : i + 2] = [_joined(rows[i], rows[i + 1])]
    return tuple(Seen(round(one.price, 2), round(one.left, 2), one.payments) for one in rows)


def _joined(a: Seen, b: Seen) -> Seen:
    price = mean(a.price, a.payments, b.price, b.payments)
    return Seen(price, mean(a.left, a.payments, b.left, b.payments), a.payments + b.payments)
