"""Days of groups as figures show them: what the runs of a group were together, drawn from the days of each."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from akinai.core.canonical import Json
from akinai.core.statistics import t_quantile
from akinai.runtime.analysis import Analysis, Group, RunRecord, Series

WEEK = 7
Days = Sequence[float | None]
"""A figure of one run by day, from the first; None where there is none."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One figure over the days of a group's runs."""

    mean: tuple[float | None, ...]
    """By day from 1; None on a day without a value."""
    low: tuple[float | None, ...]
    """95 % interval of the mean by Student's t; the mean itself where one run has a value."""
    high: tuple[float | None, ...]
    n: int
    """Runs that have a value on some day."""

    @property
    def last(self) -> float | None:
        """The mean on the last day that has one."""
        return next((mean for mean in reversed(self.mean) if mean is not None), None)

    @property
    def known(self) -> list[float]:
        return [mean for mean in self.mean if mean is not None]

    def to_json(self) -> dict[str, Json]:
        return {"n": self.n, "mean": list(self.mean), "low": list(self.low), "high": list(self.high)}


Curves = Mapping[str, Curve]
"""By the name of the group."""


def curve(runs: Iterable[Days], *, carried: bool) -> Curve | None:
    """The mean of runs over their days, to the end of the longest; None without a value.

    A run that ended earlier goes on with its last value where that is `carried` on, as money is, and else with 0, as
    sales are: it stays in the mean of every day.
    """
    known = [values for values in runs if any(value is not None for value in values)]
    if not known:
        return None
    columns = [
        [value for values in known if (value := _at(values, day, carried=carried)) is not None]
        for day in range(max(map(len, known)))
    ]
    quantiles = {n: t_quantile(0.975, n - 1) for n in {len(column) for column in columns} if n > 1}
    points = [_point(column, quantiles.get(len(column), 0.0)) for column in columns]
    mean, low, high = zip(*points, strict=True)
    return Curve(mean, low, high, len(known))


def _at(values: Days, day: int, *, carried: bool) -> float | None:
    return values[day] if day < len(values) else values[-1] if carried else 0.0


def _point(values: Sequence[float], quantile: float) -> tuple[float | None, float | None, float | None]:
    """The mean, and the ends of its interval."""
    if not values:
        return None, None, None
    mean = fmean(values)
    half = quantile * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    low = mean - half if min(values) < 0 else max(mean - half, 0.0)  # no fewer than none where nothing is below zero
    return round(mean, 6), round(low, 6), round(mean + half, 6)


def weekly(values: Days) -> list[float | None]:
    """The mean of each day and the six before it, or of as many as there are."""
    told: list[float | None] = []
    for day in range(1, len(values) + 1):
        week = [value for value in values[max(0, day - WEEK) : day] if value is not None]
        told.append(fmean(week) if week else None)
    return told


@dataclass(frozen=True, slots=True)
class Members:
    """The groups of an analysis with the days of their runs."""

    runs: Mapping[str, Sequence[RunRecord]]
    """Those that can be read, by the group's name."""

    @staticmethod
    def of(analysis: Analysis, groups: Sequence[Group]) -> "Members":
        by_id = {run.id: run for run in analysis.runs}
        return Members({group.name: [by_id[one] for one in group.runs if not by_id[one].trouble] for group in groups})

    def curves(self, of: Callable[[Series], Days], *, carried: bool) -> Curves:
        """A curve for each group whose runs have such days."""
        made = {
            name: curve(
                [aligned(series.days, of(series), carried=carried) for series in _series(runs)], carried=carried
            )
            for name, runs in self.runs.items()
        }
        return {name: one for name, one in made.items() if one is not None}

    def fact(self, name: str, *, carried: bool) -> Curves:
        """A fact of the world over the days."""
        return self.curves(lambda series: series.facts.get(name, ()), carried=carried)

    def facts(self) -> list[str]:
        """The names of all facts that are told of a day."""
        told = (name for runs in self.runs.values() for series in _series(runs) for name in series.facts)
        return list(dict.fromkeys(told))

    def items(self, table: str) -> list[str]:
        """The items of a table, those with the largest sum first."""
        sums: dict[str, float] = {}
        for runs in self.runs.values():
            for series in _series(runs):
                for item, values in series.tables.get(table, {}).items():
                    sums[item] = sums.get(item, 0.0) + sum(values) / len(runs)
        return sorted(sums, key=lambda item: (-sums[item], item))

    def sales(self, product: str) -> Curves:
        """Units sold a day, as the mean of the last seven days."""
        return self.curves(lambda series: weekly(series.tables.get("sold", {}).get(product, ())), carried=False)

    def prices(self, product: str) -> Curves:
        """Cents at midnight, over the runs that had set a price."""
        return self.curves(
            lambda series: [value or None for value in series.tables.get("price_cents", {}).get(product, ())],
            carried=True,
        )

    def actions(self) -> Curves:
        """Actions a day, as the mean of the last seven days."""
        return self.curves(lambda series: weekly(actions_a_day(series)), carried=False)

    def tools(self) -> dict[str, dict[str, float]]:
        """Uses of each tool a day, over all days of a group's runs; by group and tool."""
        told: dict[str, dict[str, float]] = {}
        for name, runs in self.runs.items():
            days = sum(len(series.days) for series in _series(runs))
            used: dict[str, float] = {}
            for series in _series(runs):
                for tool, uses in series.tools.items():
                    used[tool] = used.get(tool, 0.0) + sum(uses)
            if days:
                told[name] = {tool: uses / days for tool, uses in used.items()}
        return told

    def representative(self, score: str) -> RunRecord | None:
        """A run that stands for the best group: its run with the median of a score, of those with days."""
        best = max(
            (runs for runs in self.runs.values() if any(_series(runs))),
            key=lambda runs: fmean(run.value(score) or 0 for run in runs),
            default=(),
        )
        ordered = sorted((run for run in best if run.series and run.series.days), key=lambda run: run.value(score) or 0)
        return ordered[(len(ordered) - 1) // 2] if ordered else None


def _series(runs: Iterable[RunRecord]) -> list[Series]:
    return [run.series for run in runs if run.series and run.series.days]


def aligned(days: Sequence[int], values: Days, *, carried: bool) -> list[float | None]:
    """Values by day from the first on; a day that none was told for has the one before it, or 0 as in `curve`."""
    told: list[float | None] = []
    for day, value in zip(days, values, strict=False):
        told += [told[-1] if carried and told else None if carried else 0.0] * (day - 1 - len(told))
        told.append(value)
    return told


def actions_a_day(series: Series) -> list[float]:
    """Actions of a run on each of its days, refusals and sub-agents' included."""
    return [float(sum(day)) for day in zip(*series.tools.values(), strict=True)]


def day_of(entry: int, series: Series) -> float:
    """The day on which an entry was made, with its place among that day's: 3.5 is half through the third."""
    before = 0.0
    for day, actions in zip(series.days, actions_a_day(series), strict=False):
        if entry <= before + actions:
            return day + (entry - before - 1) / max(actions, 1)
        before += actions
    return float(series.days[-1] + 1 if series.days else 1)
