"""Curves of groups: means over their runs, day by day."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from akinai.analysis.analyse import Analysis
from akinai.analysis.records import Group
from akinai.core.canonical import JsonRecord
from akinai.core.presentation.charts import ItemChart
from akinai.core.statistics import t_quantile
from akinai.runtime.runs.records import Run, Series

WEEK = 7
Days = Sequence[float | None]
"""A quantity of one run by day, from day 1; None on a day without a value."""


@dataclass(frozen=True, slots=True)
class Curve(JsonRecord):
    """A quantity over the days, as the mean over a group's runs."""

    mean: tuple[float | None, ...]
    """By day from 1; None on a day without a value."""
    low: tuple[float | None, ...]
    """The 95 % interval of the mean by Student's t; the mean itself if only one run has a value."""
    high: tuple[float | None, ...]
    n: int
    """Runs that have a value on at least one day."""

    @property
    def last(self) -> float | None:
        """The mean on the last day that has a value."""
        return next((mean for mean in reversed(self.mean) if mean is not None), None)

    @property
    def values(self) -> list[float]:
        """The means of the days that have one."""
        return [mean for mean in self.mean if mean is not None]


Curves = Mapping[str, Curve]
"""Curves by group."""


def curve(runs: Iterable[Days], *, carried: bool) -> Curve | None:
    """The mean over runs on each day, up to the last day of the longest; None without a value.

    A run that ended earlier stays in the mean: with its last value if it is `carried`, as money is, else with 0, as
    sales are.
    """
    valued = [values for values in runs if any(value is not None for value in values)]
    if not valued:
        return None
    columns = [
        [value for values in valued if (value := _at(values, day, carried=carried)) is not None]
        for day in range(max(map(len, valued)))
    ]
    quantiles = {n: t_quantile(0.975, n - 1) for n in {len(column) for column in columns} if n > 1}
    points = [_point(column, quantiles.get(len(column), 0.0)) for column in columns]
    mean, low, high = zip(*points, strict=True)
    return Curve(mean, low, high, len(valued))


def _at(values: Days, day: int, *, carried: bool) -> float | None:
    return values[day] if day < len(values) else values[-1] if carried else 0.0


def _point(values: Sequence[float], quantile: float) -> tuple[float | None, float | None, float | None]:
    """The mean, and the ends of its interval."""
    if not values:
        return None, None, None
    mean = fmean(values)
    half = quantile * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    low = mean - half if min(values) < 0 else max(mean - half, 0.0)  # never below 0 unless a value is
    return round(mean, 6), round(low, 6), round(mean + half, 6)


def weekly(values: Days) -> list[float | None]:
    """The mean of each day and up to six days before it."""
    means: list[float | None] = []
    for day in range(1, len(values) + 1):
        week = [value for value in values[max(0, day - WEEK) : day] if value is not None]
        means.append(fmean(week) if week else None)
    return means


@dataclass(frozen=True, slots=True)
class Members:
    """The runs of each group, with their days."""

    runs: Mapping[str, Sequence[Run]]
    """Runs that can be read, by group."""

    @staticmethod
    def of(analysis: Analysis, groups: Sequence[Group]) -> "Members":
        by_id = {run.id: run for run in analysis.runs}
        return Members({group.name: [by_id[id] for id in group.runs if by_id[id].measured] for group in groups})

    def curves(self, of: Callable[[Series], Days], *, carried: bool) -> Curves:
        """A curve of the quantity `of` for each group whose runs have it."""
        curves = {
            name: curve(
                [align_days(series.days, of(series), carried=carried) for series in _series(runs)], carried=carried
            )
            for name, runs in self.runs.items()
        }
        return {name: curve for name, curve in curves.items() if curve is not None}

    def fact(self, name: str, *, carried: bool) -> Curves:
        """Curves of a fact of the world."""
        return self.curves(lambda series: series.facts.get(name, ()), carried=carried)

    def facts(self) -> list[str]:
        """The names of all facts that a run has of its days."""
        names = (name for runs in self.runs.values() for series in _series(runs) for name in series.facts)
        return list(dict.fromkeys(names))

    def items(self, table: str) -> list[str]:
        """The items of a table, the largest sum first."""
        sums: dict[str, float] = {}
        for runs in self.runs.values():
            for series in _series(runs):
                for item, values in series.tables.get(table, {}).items():
                    sums[item] = sums.get(item, 0.0) + sum(values) / len(runs)
        return sorted(sums, key=lambda item: (-sums[item], item))

    def item(self, chart: ItemChart, item: str) -> Curves:
        """Curves of one item of a table: a flow as the mean of the last seven days, a level while it is above 0."""
        if chart.kind == "flow":
            return self.curves(lambda series: weekly(series.tables.get(chart.table, {}).get(item, ())), carried=False)
        return self.curves(
            lambda series: [value or None for value in series.tables.get(chart.table, {}).get(item, ())], carried=True
        )

    def actions(self) -> Curves:
        """Actions per day, as the mean of the last seven days."""
        return self.curves(lambda series: weekly(actions_a_day(series)), carried=False)

    def tools(self) -> dict[str, dict[str, float]]:
        """Uses of each tool per day, over all days of a group's runs; by group and tool."""
        uses_per_day: dict[str, dict[str, float]] = {}
        for name, runs in self.runs.items():
            days = sum(len(series.days) for series in _series(runs))
            used: dict[str, float] = {}
            for series in _series(runs):
                for tool, uses in series.tools.items():
                    used[tool] = used.get(tool, 0.0) + sum(uses)
            if days:
                uses_per_day[name] = {tool: uses / days for tool, uses in used.items()}
        return uses_per_day

    def representative(self, score: str) -> Run | None:
        """The run with the median score in the group with the best mean, among runs with days."""
        best = max(
            (runs for runs in self.runs.values() if any(_series(runs))),
            key=lambda runs: fmean(run.value(score) or 0 for run in runs),
            default=(),
        )
        ordered = sorted((run for run in best if run.series and run.series.days), key=lambda run: run.value(score) or 0)
        return ordered[(len(ordered) - 1) // 2] if ordered else None


def _series(runs: Iterable[Run]) -> list[Series]:
    return [run.series for run in runs if run.series and run.series.days]


def align_days(days: Sequence[int], values: Days, *, carried: bool) -> list[float | None]:
    """Put values in a list by day from day 1. A day without a value has the one before it if `carried`, else 0."""
    by_day: list[float | None] = []
    for day, value in zip(days, values, strict=False):
        by_day += [by_day[-1] if carried and by_day else None if carried else 0.0] * (day - 1 - len(by_day))
        by_day.append(value)
    return by_day


def actions_a_day(series: Series) -> list[float]:
    """The number of actions on each day of a run, refused ones and those of sub-agents included."""
    return [float(sum(day)) for day in zip(*series.tools.values(), strict=True)]


def day_of(entry: int, series: Series) -> float:
    """The day of an entry, with its place among that day's entries as a fraction: 3.5 is halfway through day 3."""
    before = 0.0
    for day, actions in zip(series.days, actions_a_day(series), strict=False):
        if entry <= before + actions:
            return day + (entry - before - 1) / max(actions, 1)
        before += actions
    return float(series.days[-1] + 1 if series.days else 1)
