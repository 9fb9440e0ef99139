"""Intervals of a mean (bootstrap-t) and of a share (Wilson), deterministic for a given `seed`."""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from akinai.core.chance import Chance
from akinai.core.statistics.student_t import t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NORMAL = NormalDist()
_RESAMPLES = 10_000
_FEWEST_TO_RESAMPLE = 5
_LEAST_SPREAD = 1 / 3
COVERAGE = ((10, 0.92), (5, 0.84), (3, 0.88), (2, 0.81))
"""Pairs of n and a share: from n values on, a 95 % interval holds the mean at least that often, for scores as skewed as
money is, by bench/intervals.py. From 20 values on it is 94 to 96 %."""
_LARGEST = 1e100  # squares and cubes of scores must stay finite


def mean_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float] | None:
    """A 95 % interval of the mean; None below two values. Equal values give an interval of no width: of a share of
    successes ask `proportion_interval`.

    From five values on, the bootstrap-t (Efron and Tibshirani 1993, chapter 12.5; Hall 1988, Annals of Statistics
    16:927), within the sample's extremes. A resample that happens to hold next to no spread counts as one with a third
    of the sample's. Below five, Student's t: n values hold the median between them with probability 1 - 2^(1 - n), half
    for two of them, so nothing that resamples them can be honest.

    How often it holds the true mean is simulated by bench/intervals.py.
    """
    n = len(values)
    if n < 2:
        return None
    ordered = sorted(finite(value) for value in values)
    centre = mean(ordered)
    if n < _FEWEST_TO_RESAMPLE:
        half = t_quantile(0.975, n - 1) * (sd(ordered) or 0.0) / math.sqrt(n)
        return centre - half, centre + half
    below, above = _bootstrap_t_ends([value - centre for value in ordered], seed)
    return max(centre + below, ordered[0]), min(centre + above, ordered[-1])  # also no rounding dust outside the sample


def expected_coverage(n: int) -> float | None:
    """How often a 95 % interval over n values holds the mean of a skewed score; None from 20 values on."""
    return None if n >= 20 else next((share for least, share in COVERAGE if n >= least), 0.0)


def proportion_interval(successes: int, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a share, such as an accuracy; (0, 1) for n = 0, where nothing is known.

    Never empty and never outside 0..1, also at 0 or n successes. Raises ValueError unless 0 <= successes <= n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"a share of {successes!r} in {n!r}: give successes from 0 to n")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence!r}: give a number between 0 and 1, such as 0.95")
    z = _NORMAL.inv_cdf((1 + confidence) / 2)
    # Wilson 1927, JASA 22:209, multiplied through by n
    centre = successes + z * z / 2
    half = z * math.sqrt(successes * (n - successes) / max(n, 1) + z * z / 4)
    low = (centre - half) / (n + z * z)
    high = (centre + half) / (n + z * z) if successes < n else 1.0  # else 1 but for rounding
    return low, high


def finite(value: float) -> float:
    """The value as a float. Raises ValueError for NaN, infinities and numbers beyond 1e100."""
    if not abs(value) <= _LARGEST:
        raise ValueError(f"a score of {value!r}: give a finite number, or None for a run that failed")
    return float(value) + 0.0  # JSON holds no -0


def mean(values: Sequence[float]) -> float:
    """The mean, rounded once, and never outside the values, so that equal values have deviations of exactly 0."""
    return min(max(math.fsum(values) / len(values), min(values)), max(values)) + 0.0


def sd(values: Sequence[float]) -> float | None:
    """The sample standard deviation (divisor n - 1); None below two values."""
    if len(values) < 2:
        return None
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def _bootstrap_t_ends(deviations: Sequence[float], seed: int) -> tuple[float, float]:
    """The two ends of the bootstrap-t interval, as distances from the mean, for ascending deviations from it."""
    peak = max(-deviations[0], deviations[-1])
    if peak == 0:
        return 0.0, 0.0
    ratios = _studentised_means([d / peak for d in deviations], seed)
    # the upper end is the lower end of the mirrored sample, to the bit
    return -_quantile(ratios, 0.975) * peak, _quantile(-ratios[::-1], 0.975) * peak


def _quantile(ascending: "NDArray[np.float64]", share: float) -> float:
    position = share * (len(ascending) - 1)
    index = min(int(position), len(ascending) - 2)
    left, right = float(ascending[index]), float(ascending[index + 1])
    return left + (position - index) * (right - left)


def _studentised_means(ascending: Sequence[float], seed: int) -> "NDArray[np.float64]":
    """The sorted means of resamples with replacement, each times the sample's spread over its own: half drawn, half
    their mirror images (the smallest value for the largest and so on), so that a mirrored sample gives mirrored means.

    The sums are built one draw at a time: a reduction by NumPy may round differently from machine to machine.
    """
    import numpy as np

    n = len(ascending)
    values = np.array(ascending, dtype=np.float64)
    sums = np.zeros((2, _RESAMPLES // 2), dtype=np.float64)
    squares = np.zeros_like(sums)
    for draw in range(n):
        index = _draw(n, draw, seed)
        for half, drawn in enumerate((values[index], values[n - 1 - index])):
            sums[half] += drawn
            squares[half] += drawn * drawn
    means = sums.ravel() / n
    variance = math.fsum(value * value for value in ascending) / n
    own = np.maximum(squares.ravel() / n - means * means, variance * _LEAST_SPREAD**2)
    return np.sort(means / np.sqrt(own / variance))


@lru_cache(maxsize=512)
def _draw(n: int, draw: int, seed: int) -> "NDArray[np.int32]":
    """The indexes of the n values that each resample takes at one draw; asked for often."""
    import numpy as np

    words = Chance.of(seed)("resample", draw).many(np.arange(_RESAMPLES // 2, dtype=np.uint64))
    return ((words >> 32) * n >> 32).astype(np.int32)  # below n; the bias is below n / 2^32
