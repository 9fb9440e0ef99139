"""Numbers that a run showed, as sentences tell them and as several runs add them up."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from akinai.core.advice import Place, Wording, listed, mean


@dataclass(frozen=True, slots=True)
class Seen:
    """What came a day, on average, under one condition: a price, a factor, a number of products."""

    at: float
    a_day: float
    days: int


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


def best_at(seen: Sequence[Seen]) -> float:
    """Under which condition most came, of those that were seen often: a third of the mean number of days."""
    often = sum(one.days for one in seen) / (3 * len(seen))
    return max((one for one in seen if one.days >= often), key=lambda one: one.a_day).at


def seen_in(row: str, most: int = MOST_SEEN, *, digits: tuple[int, int]) -> Place:
    """Where a sentence tells observations, a row each."""
    return listed(
        Wording(row),
        lambda rows: together((Seen(float(one["at"]), one["a_day"], one["days"]) for one in rows), most, digits=digits),
    )
