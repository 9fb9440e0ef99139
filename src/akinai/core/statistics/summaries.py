"""One score over several runs: mean, spread and interval. Values are finite numbers of at most 1e100 in size."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, TypeAlias, TypeVar

from akinai.core.canonical import JsonRecord
from akinai.core.statistics.intervals import finite, mean, mean_interval, proportion_interval, sd

Key = TypeVar("Key", bound=Hashable)

Bounds: TypeAlias = tuple[float, float]
"""The least and the greatest value that is possible."""
BOUNDLESS: Bounds = (-math.inf, math.inf)

Better = Literal["higher", "lower"]
"""Which way a score improves."""


@dataclass(frozen=True, slots=True)
class Summary(JsonRecord):
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
    """95 % interval of the mean: of a share of passed runs `proportion_interval`, else `mean_interval`. None below two
    values, and where all are equal but for shares of 0 and 1."""


def summarise(
    values: Iterable[float | None],
    *,
    bounds: Bounds | None = None,
    clusters: Iterable[Hashable] | None = None,
) -> Summary:
    """Summarise one score over runs; None is a run that failed, counted and never dropped in silence.

    The interval is cut at the `bounds`, which no mean can pass. Within bounds of 0 and 1 values that are all 0 or 1
    passed or failed, and have the interval of a share; without bounds they may as well be counts, of which a further
    run may be 3, and the interval is as wide as either's. `clusters` has a key for each value: values of
    one key, such as runs of one seed, are one draw of chance, and the interval is over the keys (see `clustered`). NaN,
    infinities and numbers beyond 1e100 raise ValueError.
    """
    runs = list(values)
    ascending = sorted(finite(value) for value in runs if value is not None)
    return Summary(
        n=len(ascending),
        failed=len(runs) - len(ascending),
        mean=mean(ascending) if ascending else None,
        median=median(ascending) if ascending else None,
        sd=sd(ascending),
        min=ascending[0] if ascending else None,
        max=ascending[-1] if ascending else None,
        ci95=_interval(_independent(runs, ascending, clusters), ascending, bounds),
    )


def clustered(values: Mapping[Key, Sequence[float]]) -> dict[Key, float]:
    """One value for each cluster: runs that share a seed are one draw of chance, so their values enter an interval
    together.

    The mean of the results is the mean of all values, and its standard error is the cluster-robust one (Liang and Zeger
    1986, Biometrika 73:13, times G / (G - 1) for G clusters).

    With equally many values in each cluster these are the clusters' means. Clusters without a value are left out.
    """
    full = {key: [finite(value) for value in cluster] for key, cluster in values.items() if cluster}
    n = sum(map(len, full.values()))
    if n == len(full):
        return {key: cluster[0] for key, cluster in full.items()}
    sizes = {len(cluster) for cluster in full.values()}
    if len(sizes) == 1:
        return {key: mean(cluster) for key, cluster in full.items()}
    centre = mean([value for cluster in full.values() for value in cluster])
    share = len(full) / n
    return {key: centre + share * math.fsum(value - centre for value in cluster) for key, cluster in full.items()}


def _independent(
    runs: Sequence[float | None], ascending: Sequence[float], clusters: Iterable[Hashable] | None
) -> Sequence[float]:
    """The values that chance drew one by one: those of single runs, or one for each cluster."""
    if clusters is None:
        return ascending
    table: dict[Hashable, list[float]] = {}
    for value, key in zip(runs, clusters, strict=True):
        if value is not None:
            table.setdefault(key, []).append(value)
    return list(clustered(table).values())


def _interval(independent: Sequence[float], ascending: Sequence[float], bounds: Bounds | None) -> Bounds | None:
    """The interval of the mean, cut at the bounds unless a value lies beyond them, since then they are no bounds."""
    ends, (low, high) = mean_interval(independent), bounds or BOUNDLESS
    if len(independent) > 1 and bounds in (None, (0.0, 1.0)) and set(independent) <= {0.0, 1.0}:
        least, most = proportion_interval(round(sum(independent)), len(independent))
        return (least, most) if bounds or not ends else (min(least, ends[0]), max(most, ends[1]))
    if ends is None or ascending[0] < low or ascending[-1] > high:
        return ends
    return max(ends[0], low), min(ends[1], high)


def share_between(value: float, low: float, high: float) -> float | None:
    """How far `value` is on the way from a low baseline (0) to a high one (1); below 0 or above 1 when it lies
    outside; None when the baselines are equal.
    """
    return None if low == high else (value - low) / (high - low)
