"""Two groups of runs compared: paired where seeds are common, else by their means.

Pairs find a gain with far fewer runs. Interval and p come from one method in either case: an exact test, which holds
whatever the scores are, and the interval of a mean, which takes account of skewness. p is the larger of the two, and
the interval holds what either does not refuse; so they never disagree.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

from akinai.core.canonical import JsonRecord
from akinai.core.statistics.intervals import Estimate, estimate_mean, finite, mean, proportion_interval, sd, shape
from akinai.core.statistics.rearrangements import (
    LEVEL,
    MOST_EXCHANGED,
    Exact,
    exchanges,
    fewest_pairs,
    fewest_runs,
    sign_flips,
    too_few,
)
from akinai.core.statistics.student_t import t_quantile
from akinai.core.statistics.summaries import Better, Summary, summarise

Key = TypeVar("Key", bound=Hashable)
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class PairedComparison(JsonRecord):
    """Two groups of runs, a and b, paired by seed. Every seed is in exactly one of the first six counts.

    Where `failed_a` and `failed_b` differ, the pairs that are left may be the easy ones: show the counts with the
    difference.
    """

    pairs: int
    """Seeds with a value on both sides; the statistics are over these."""
    failed_a: int
    """Seeds that both sides played and only a failed."""
    failed_b: int
    failed_both: int
    only_a: int
    """Seeds that only a played."""
    only_b: int
    difference: float | None
    """Mean of b - a over the pairs; None without a pair."""
    sd_difference: float | None
    """Sample standard deviation of b - a (divisor pairs - 1); None below two pairs."""
    ci95: tuple[float, float] | None
    """95 % interval of the difference, which leaves 0 out exactly where p is below 5 %. None below six pairs, which can
    show no difference, and where all differences are equal, which shows no spread."""
    p: float | None
    """Two-sided p, to 12 decimals; None without a pair. At least 2 / 2^pairs, the probability that all differences have
    one sign."""
    wins: int | None
    """Pairs in which b is better than a; None where neither higher nor lower values are better."""
    losses: int | None
    """Pairs in which a is better than b."""
    ties: int
    mde: float | None
    """Minimum detectable effect of this many pairs with this spread, at 80 % power; None below six pairs, and where all
    differences are equal."""

    @property
    def fewest(self) -> int | None:
        """The smallest number of pairs that can show a difference, where these are too few; else None."""
        return fewest_pairs() if self.pairs < fewest_pairs() else None


def compare(
    a: Mapping[Key, float | None], b: Mapping[Key, float | None], *, better: Better | None = "higher"
) -> PairedComparison:
    """Compare b with a, pair by pair. The keys are seeds, or whatever else makes two runs a pair (an item's id).

    `better` says which values win. Swapping a and b negates the difference and its interval exactly. A value of None
    is a run that failed. NaN, infinities and numbers beyond 1e100 raise ValueError.
    """
    shared = a.keys() & b.keys()
    both = ((a[key], b[key]) for key in shared)
    pairs = [(finite(x), finite(y)) for x, y in both if x is not None and y is not None]
    failed_both = sum(a[key] is None and b[key] is None for key in shared)
    differences = sorted(y - x for x, y in pairs)
    spread = sd(differences)
    above, below = sum(y > x for x, y in pairs), sum(y < x for x, y in pairs)
    wins, losses = (above, below) if better == "higher" else (below, above) if better else (None, None)
    ends, p = _judge_pairs(differences) if differences else (None, None)
    return PairedComparison(
        pairs=len(pairs),
        failed_a=sum(a[key] is None for key in shared) - failed_both,
        failed_b=sum(b[key] is None for key in shared) - failed_both,
        failed_both=failed_both,
        only_a=len(a) - len(shared),
        only_b=len(b) - len(shared),
        difference=mean(differences) if differences else None,
        sd_difference=spread,
        ci95=ends,
        p=p,
        wins=wins,
        losses=losses,
        ties=sum(y == x for x, y in pairs),
        mde=mde(spread, len(differences)) if spread and len(differences) >= fewest_pairs() else None,
    )


def _judge_pairs(differences: Sequence[float]) -> tuple[tuple[float, float] | None, float]:
    """Interval and p of paired differences in ascending order.

    Of passed and failed, whose differences have one size, the exact test is enough (McNemar's, with the differences
    that are 0). Where one side won every pair that differs, the share of such pairs has its own exact interval besides.
    """
    exact = sign_flips(differences)
    sizes = {abs(difference) for difference in differences if difference}
    if len(sizes) != 1 or differences[0] == differences[-1] or exact.ends is None:
        ends, p = _joint(exact, estimate_mean(differences))
        return ends, 1.0 if p is None else p
    low, high = exact.ends
    if not differences[0] or not differences[-1]:
        size = differences[0] + differences[-1]  # of either sign; the other end is 0
        share = proportion_interval(sum(map(bool, differences)), len(differences))
        low, high = min(low, size * share[0], size * share[1]), max(high, size * share[0], size * share[1])
    return (low, high), round(exact.p, 12)


def _joint(exact: Exact | None, estimate: Estimate | None) -> tuple[tuple[float, float] | None, float | None]:
    """The interval of the values that either test does not refuse, and the larger p."""
    ps = [test for test in (exact and exact.p, estimate and estimate.p()) if test is not None]
    p = max(0.0, round(max(ps), 12)) if ps else None
    if estimate is None or (exact and exact.ends is None):
        return None, p
    (low, high), (exact_low, exact_high) = estimate.interval(), (exact and exact.ends) or estimate.interval()
    return (min(low, exact_low), max(high, exact_high)), p


def mde(sd: float, n: int, *, level: float = LEVEL) -> float:
    """The smallest true mean difference that n pairs find with 80 % power at a two-sided `level`.

    `sd` is the standard deviation of the differences, and the answer is in its unit. Raises ValueError for fewer pairs
    than can show a difference, and for a negative `sd`.
    """
    if n < (fewest := fewest_pairs(level)):
        raise ValueError(f"the minimum detectable effect of {n!r} pairs: give at least {fewest}, fewer show nothing")
    if finite(sd) < 0:
        raise ValueError(f"a standard deviation of {sd!r}: give a number of at least 0")
    return _detectable(sd / math.sqrt(n), n - 1, n - fewest, level)


def _detectable(error: float, df: int, beyond: int, level: float) -> float:
    """The difference that is found four times in five, with so many pairs beyond the fewest that can show one."""
    # minimum detectable effect: Bloom 1995, Evaluation Review 19:547
    students = (t_quantile(1 - level / 2, df) + t_quantile(0.80, df)) * error
    # the price of an exact test of few values, as bench/intervals.py measures it
    return students * (1 + 0.36 / (1 + beyond) ** 0.6)


def seeds_needed(sd: float, gain: float, *, level: float = LEVEL) -> int:
    """The smallest number of pairs whose `mde` is at most `gain`, in the unit of `sd`; at least 6 at a level of 5 %.

    Raises ValueError for a gain that is not above 0, or below a millionth of `sd`.
    """
    if finite(gain) <= 0:
        raise ValueError(f"a gain of {gain!r} to be seen: give a number above 0")
    if sd > 1e6 * gain:
        raise ValueError(f"a gain of {gain!r} against a spread of {sd!r}: give at least a millionth of the spread")
    # the effect shrinks with the root of n: from the normal answer one step leads next to n
    normal = _NORMAL.inv_cdf(1 - level / 2) + _NORMAL.inv_cdf(0.80)
    fewest = fewest_pairs(level)
    n = max(fewest, math.floor((normal * sd / gain) ** 2))
    n = max(fewest, math.floor(n * (mde(sd, n, level=level) / gain) ** 2))
    while mde(sd, n, level=level) > gain:
        n += 1
    while n > fewest and mde(sd, n - 1, level=level) <= gain:
        n -= 1
    return n


CAUTION = 0.8
"""A cautious number of seeds is enough in this share of pilots."""


def cautious_sd(sd: float, n: int) -> float:
    """An upper bound of the true spread, which holds in `CAUTION` of pilots of n seeds whose spread is `sd` (Browne
    1995, Statistics in Medicine 14:1933), with Wilson and Hilferty's quantile of chi-squared (1931, PNAS 17:684)."""
    df = n - 1
    quantile = df * (1 - 2 / (9 * df) + _NORMAL.inv_cdf(1 - CAUTION) * (2 / (9 * df)) ** 0.5) ** 3
    return sd * (df / quantile) ** 0.5


@dataclass(frozen=True, slots=True)
class WelchComparison(JsonRecord):
    """Two groups of runs, a and b, that share no seed."""

    n_a: int
    """Runs of a with a value."""
    n_b: int
    failed_a: int
    """Runs of a without one."""
    failed_b: int
    difference: float | None
    """Mean of b less mean of a; None where a side has no value."""
    ci95: tuple[float, float] | None
    """95 % interval of the difference: it leaves 0 out exactly where p is below 5 %. None below two values on a side,
    where so few values can show no difference (4 and 4 can), and where a side shows no spread."""
    p: float | None
    """Two-sided p, to 12 decimals; None below two values on a side."""
    mde: float | None
    """Minimum detectable effect of these runs with these spreads, at 80 % power; None where no difference can be
    shown."""

    @property
    def fewest(self) -> int | None:
        """The smallest number of runs on each side that can show a difference, where these are too few; else None."""
        return fewest_runs() if too_few(self.n_a, self.n_b) else None


def welch_compare(a: Iterable[float | None], b: Iterable[float | None]) -> WelchComparison:
    """Compare b with a by their means; None is a run without a value. Swapping the sides negates the difference.

    Values of the sides are exchanged (see `exchanges`), and the difference is estimated with Welch's standard error
    (1947, Biometrika 34:28), which lets the sides differ in spread, and Hall's correction for skewness. NaN, infinities
    and numbers beyond 1e100 raise ValueError.
    """
    values_a, values_b = list(a), list(b)
    of_a, of_b = summarise(values_a), summarise(values_b)
    difference = None if of_a.mean is None or of_b.mean is None else of_b.mean - of_a.mean + 0.0
    counts = (of_a.n, of_b.n, of_a.failed, of_b.failed, difference)
    if difference is None or of_a.sd is None or of_b.sd is None:
        return WelchComparison(*counts, None, None, None)
    side_a, side_b = (sorted(float(value) for value in side if value is not None) for side in (values_a, values_b))
    estimate = _estimate_difference(side_a, side_b)
    few = estimate is None or len(side_a) + len(side_b) <= MOST_EXCHANGED
    ends, p = _joint(exchanges(side_a, side_b) if few else None, estimate)
    return WelchComparison(*counts, ends, p, welch_mde(of_a, of_b))


def _estimate_difference(a: Sequence[float], b: Sequence[float]) -> Estimate | None:
    """The mean of b less that of a, each in ascending order; None where a side shows no spread."""
    (spread_a, skewness_a), (spread_b, skewness_b) = shape(a), shape(b)
    n_a, n_b = len(a), len(b)
    if not spread_a or not spread_b:
        return None
    error, df = _standard_error(sd(a) or 0.0, n_a, sd(b) or 0.0, n_b)
    # the third moments of the two means, in units of the error with the divisor n, as for a single mean
    unit = math.hypot(spread_a / math.sqrt(n_a), spread_b / math.sqrt(n_b))
    third_a, third_b = skewness_a * (spread_a / unit) ** 3 / n_a**2, skewness_b * (spread_b / unit) ** 3 / n_b**2
    return Estimate(mean(b) - mean(a) + 0.0, error, third_b - third_a, df)


def welch_mde(a: Summary, b: Summary, *, level: float = LEVEL) -> float | None:
    """The smallest true difference of means that is found with 80 % power at a two-sided `level`; None below two values
    on a side, and where so few can show no difference."""
    if a.sd is None or b.sd is None or too_few(a.n, b.n, level):
        return None
    error, df = _standard_error(a.sd, a.n, b.sd, b.n)
    return _detectable(error, df, max(0, min(a.n, b.n) - fewest_runs(level)), level)


def welch_seeds_needed(a: Summary, b: Summary, gain: float, *, level: float = LEVEL) -> int | None:
    """Runs that each side needs, with no seed in common, to find `gain` with 80 % power; None below two values.

    At least 6 at a level of 5 %, and about one run more than needed. Raises ValueError for a gain that is not above 0,
    or below a millionth of the spread.
    """
    if a.sd is None or b.sd is None:
        return None
    # n pairs whose differences have the variance of both sides together: pairs that have nothing in common.
    return seeds_needed(math.hypot(a.sd, b.sd), gain, level=level)


def _standard_error(sd_a: float, n_a: int, sd_b: float, n_b: int) -> tuple[float, int]:
    """The standard error of a difference of means, and its degrees of freedom, rounded down."""
    of_a, of_b = sd_a * sd_a / n_a, sd_b * sd_b / n_b
    both = of_a + of_b
    if not both:
        return 0.0, n_a + n_b - 2
    # Welch-Satterthwaite, in shares of the variance so that nothing overflows
    share_a, share_b = of_a / both, of_b / both
    return math.sqrt(both), max(1, int(1 / (share_a * share_a / (n_a - 1) + share_b * share_b / (n_b - 1)) + 1e-9))
