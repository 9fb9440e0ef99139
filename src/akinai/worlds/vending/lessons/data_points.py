"""Data points: average results under a condition, as sentences of advice hold them and as several runs merge them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from akinai.core.lessons import Placeholder, SentenceTemplate, repeated, weighted_mean


@dataclass(frozen=True, slots=True)
class DataPoint:
    """The average result of a day under a condition, such as a price, a factor or a number of products."""

    at: float
    """The condition."""
    a_day: float
    """The average result."""
    days: int
    """The number of days on which it was observed."""


MAX_POINTS = 6
"""The most data points in a sentence; beyond that, the nearest are merged."""


PRICES, FACTORS, COUNTS = (0, 2), (2, 0), (0, 0)
"""Digits of condition and result: whole cents and hundredths of units, hundredths and whole cents, whole numbers."""


def merge_points(
    points: Iterable[DataPoint], most: int = MAX_POINTS, *, digits: tuple[int, int]
) -> tuple[DataPoint, ...]:
    """Sort data points by condition, merge equal conditions, then merge the nearest until `most` are left.

    Conditions and results are rounded to so many digits. Weighted means keep points on a straight line on it.
    """
    rows: list[DataPoint] = []
    rounded = (DataPoint(round(point.at, digits[0]), point.a_day, point.days) for point in points if point.days > 0)
    for point in sorted(rounded, key=lambda point: point.at):
        if rows and rows[-1].at == point.at:
            rows[-1] = _merge_two(rows[-1], point)
        else:
            rows.append(point)
    while len(rows) > most:
        i = min(range(len(rows) - 1), key=lambda i: rows[i + 1].at - rows[i].at)
        rows[i : i + 2] = [_merge_two(rows[i], rows[i + 1])]
    return tuple(DataPoint(round(row.at, digits[0]), round(row.a_day, digits[1]), row.days) for row in rows)


def _merge_two(a: DataPoint, b: DataPoint) -> DataPoint:
    at = a.at if a.at == b.at else weighted_mean(a.at, a.days, b.at, b.days)
    return DataPoint(at, weighted_mean(a.a_day, a.days, b.a_day, b.days), a.days + b.days)


def best_condition(points: Sequence[DataPoint]) -> float:
    """The condition with the best result, of those observed on at least a third of the mean number of days."""
    often = sum(point.days for point in points) / (3 * len(points))
    return max((point for point in points if point.days >= often), key=lambda point: point.a_day).at


def points_placeholder(row: str, most: int = MAX_POINTS, *, digits: tuple[int, int]) -> Placeholder:
    """A placeholder for data points in a sentence, each written as a row."""

    def parse(rows: Iterable[Mapping[str, Any]]) -> tuple[DataPoint, ...]:
        points = (DataPoint(float(values["at"]), values["a_day"], values["days"]) for values in rows)
        return merge_points(points, most, digits=digits)

    return repeated(SentenceTemplate(row), parse)
