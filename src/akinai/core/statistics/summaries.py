"""One score over several runs: mean, spread and interval. Values are finite numbers of at most 1e100 in size."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Literal, TypeAlias

from akinai.core.canonical import Json
from akinai.core.statistics.clusters import clustered
from akinai.core.statistics.intervals import finite, mean, mean_interval, sd

Bounds: TypeAlias = tuple[float, float]
"""The least and the greatest value that is possible."""
BOUNDLESS: Bounds = (-math.inf, math.inf)

Better = Literal["higher", "lower"]
"""Which way a score improves."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One score over the runs of a group. Every statistic is None if no run has a value."""

    n: int
    """Runs that have a value; the statistics are over these."""
    failed: int
    """Runs without a value. They are in no mean, so show them with it: n of n + failed runs."""
    mean: float | None
    median: float | None
    sd: float | None
    """Sample standard deviation (divisor n - 1); None below two values."""
    min: float | None
    max: float | None
    ci95: tuple[float, float] | None
    """95 % interval of the mean, see `mean_interval`; None below two values."""

    def to_json(self) -> dict[str, Json]:
        """The fields as JSON-native values: the interval a list, an absent figure null, never NaN."""
        return {**asdict(self), "ci95": list(self.ci95) if self.ci95 else None}


def summarise(
    values: Iterable[float | None],
    *,
    seed: int = 0,
    bounds: Bounds = BOUNDLESS,
    clusters: Iterable[Hashable] | None = None,
) -> Summary:
    """Summarise one score over runs; None is a run that failed, counted and never dropped in silence.

    `seed` names the resampling draws of `mean_interval`. The interval is cut at the `bounds`, which no mean can pass.
    `clusters` has a key for each value: values of one key, such as runs of one seed, are one draw of chance, and the
    interval is over the keys (see `clustered`). NaN, infinities and numbers beyond 1e100 raise ValueError.
    """
    runs = list(values)
    known = sorted(finite(value) for value in runs if value is not None)
    return Summary(
        n=len(known),
        failed=len(runs) - len(known),
        mean=mean(known) if known else None,
        median=median(known) if known else None,
        sd=sd(known),
        min=known[0] if known else None,
        max=known[-1] if known else None,
        ci95=_within(bounds, known, mean_interval(_independent(runs, known, clusters), seed=seed)),
    )


def _independent(
    runs: Sequence[float | None], known: Sequence[float], clusters: Iterable[Hashable] | None
) -> Sequence[float]:
    """The values that chance drew one by one: those of single runs, or one for each cluster."""
    if clusters is None:
        return known
    table: dict[Hashable, list[float]] = {}
    for value, key in zip(runs, clusters, strict=True):
        if value is not None:
            table.setdefault(key, []).append(value)
    return list(clustered(table).values())


def _within(bounds: Bounds, ascending: Sequence[float], ends: tuple[float, float] | None) -> tuple[float, float] | None:
    """The interval cut at the bounds; unchanged where a value lies beyond them, since then they are no bounds."""
    low, high = bounds
    if ends is None or ascending[0] < low or ascending[-1] > high:
        return ends
    return max(ends[0], low), min(ends[1], high)


def share_between(value: float, low: float, high: float) -> float | None:
    """How far `value` is on the way from a low baseline (0) to a high one (1); below 0 or above 1 when it lies
    outside; None when the baselines are equal.
    """
    return None if low == high else (value - low) / (high - low)
