"""Intervals of a mean (Student's t and Hall's correction for skewness) and of a share (Clopper and Pearson)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from akinai.core.statistics.rearrangements import LEVEL
from akinai.core.statistics.student_t import t_quantile, t_within

COVERAGE = ((20, 0.92), (10, 0.90), (5, 0.88), (2, 0.75))
"""Pairs of n and a share: from n values on, a 95 % interval holds the mean at least that often, for every score that
bench/intervals.py simulates: among them a log-normal, of skewness 6, and runs of two kinds far apart, of which two or
three values often show one. From 50 values on it is 94 % and more."""
_LARGEST = 1e100  # squares and cubes of scores must stay finite
_LEAST_SKEWNESS = 1e-6
"""Below it Hall's correction is its first term, to more digits than its inverse has."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, or a difference of means, with its interval and its test of a true value of 0.

    Both are the more cautious of two: Student's t, and Hall's transformation of it, which takes away the skewness of
    the estimate (1992, JRSS B 54:221; for two samples Zhou and Dinh 2005, Biostatistics 6:187). The interval holds what
    either does not refuse, and p is the larger, so that p is below a level exactly where the interval leaves 0 out.
    """

    centre: float
    error: float
    """The standard error; above 0."""
    skewness: float
    """The third central moment of the estimate, in units of its standard error."""
    df: int
    """Degrees of freedom."""

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """The interval that holds the truth but for a share `level`."""
        reach = t_quantile(1 - level / 2, self.df)
        above, below = max(reach, self._restored(reach)), min(-reach, self._restored(-reach))
        return self.centre - self.error * above + 0.0, self.centre - self.error * below + 0.0

    def p(self) -> float:
        """Two-sided p of a true value of 0."""
        t, a = self.centre / self.error, self.skewness
        if abs(a) < _LEAST_SKEWNESS:
            corrected = t + a / 6
        else:
            cube = 1 + a * t / 3
            corrected = (cube * cube * cube - 1) / a + a / 6
        return 1 - min(t_within(abs(t), self.df), t_within(abs(corrected), self.df))

    def _restored(self, t: float) -> float:
        """The t that Hall's transformation takes to this one."""
        a = self.skewness
        if abs(a) < _LEAST_SKEWNESS:
            return t - a / 6
        cube = 1 + a * (t - a / 6)
        return 3 / a * (math.copysign(abs(cube) ** (1 / 3), cube) - 1)


def estimate_mean(values: Sequence[float]) -> Estimate | None:
    """The mean of values in ascending order; None below two, and where all are equal, which shows no spread."""
    n, spread, skewness = len(values), *shape(values)
    if not spread:
        return None
    return Estimate(mean(values), spread / math.sqrt(n - 1), skewness / math.sqrt(n), n - 1)


def shape(values: Sequence[float]) -> tuple[float, float]:
    """The standard deviation and the skewness of some values, both with the divisor n; both 0 where all are equal."""
    if not values:
        return 0.0, 0.0
    centre = mean(values)
    deviations = [value - centre for value in values]
    peak = max(map(abs, deviations))
    if not peak:
        return 0.0, 0.0
    scaled = [d / peak for d in deviations]
    second, third = (math.fsum(d**power for d in scaled) / len(values) for power in (2, 3))
    return peak * math.sqrt(second), third / second / math.sqrt(second)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """A 95 % interval of the mean; None below two values and where all are equal: how far they might lie apart was not
    seen. Of passed and failed ask `proportion_interval`.

    How often it holds the true mean is simulated by bench/intervals.py; see `Estimate` and `COVERAGE`.
    """
    if len(values) < 2:
        return None
    estimate = estimate_mean(sorted(map(finite, values)))
    return estimate and estimate.interval()


def expected_coverage(n: int) -> float | None:
    """How often a 95 % interval over n values holds the mean of a very skewed score; None from 50 values on."""
    return None if n >= 50 else next((share for least, share in COVERAGE if n >= least), 0.0)


def proportion_interval(successes: int, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share, such as an accuracy; (0, 1) for n = 0, where nothing is known.

    Clopper and Pearson (1934, Biometrika 26:404): each end is the share that gives so many successes, or more of them,
    with half of the probability that is left. It holds the true share at least as often as it says, for every n and
    share. Never empty and never outside 0..1. Raises ValueError unless 0 <= successes <= n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"a share of {successes!r} in {n!r}: give successes from 0 to n")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence!r}: give a number between 0 and 1, such as 0.95")
    tail = (1 - confidence) / 2
    return _lower_end(successes, n, tail), 1 - _lower_end(n - successes, n, tail)


def _lower_end(successes: int, n: int, tail: float) -> float:
    """The largest share with which so many successes or more have a probability of at most `tail`."""
    if not successes:
        return 0.0
    low, high = 0.0, successes / n
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_least(successes, n, middle) <= tail else (low, middle)
    return low


def _at_least(successes: int, n: int, share: float) -> float:
    """The probability of so many successes or more; for shares of at most successes / n, where terms only shrink."""
    if not 0 < share < 1:
        return share
    logarithm = math.lgamma(n + 1) - math.lgamma(successes + 1) - math.lgamma(n - successes + 1)
    term = math.exp(logarithm + successes * math.log(share) + (n - successes) * math.log1p(-share))
    total, odds = 0.0, share / (1 - share)
    for count in range(successes, n + 1):
        total += term
        term *= (n - count) / (count + 1) * odds
        if term <= 1e-17 * total:
            break
    return total


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
