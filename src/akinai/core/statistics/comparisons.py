"""Two groups of runs compared: paired where seeds are common, else by their means with Welch's test.

Pairs find a gain with far fewer runs.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TypeVar

from akinai.core.canonical import Json
from akinai.core.statistics.intervals import finite, mean, mean_interval, sd
from akinai.core.statistics.student_t import t_quantile, t_within
from akinai.core.statistics.summaries import Better, Summary, summarise

Key = TypeVar("Key", bound=Hashable)
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class PairedComparison:
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
    """95 % interval of the difference, see `mean_interval`; None below two pairs."""
    p: float | None
    """Two-sided p of the paired t-test, to 12 decimals; None below two pairs or where all differences are equal."""
    wins: int | None
    """Pairs in which b is better than a; None where neither higher nor lower values are better."""
    losses: int | None
    """Pairs in which a is better than b."""
    ties: int
    mde: float | None
    """Minimum detectable effect of this many pairs with this spread, at 80 % power; None below two pairs."""

    def to_json(self) -> dict[str, Json]:
        """The fields as JSON-native values: the interval a list, an absent figure null, never NaN."""
        return {**asdict(self), "ci95": list(self.ci95) if self.ci95 else None}


def compare(
    a: Mapping[Key, float | None], b: Mapping[Key, float | None], *, better: Better | None = "higher", seed: int = 0
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
    return PairedComparison(
        pairs=len(pairs),
        failed_a=sum(a[key] is None for key in shared) - failed_both,
        failed_b=sum(b[key] is None for key in shared) - failed_both,
        failed_both=failed_both,
        only_a=len(a) - len(shared),
        only_b=len(b) - len(shared),
        difference=mean(differences) if differences else None,
        sd_difference=spread,
        ci95=mean_interval(differences, seed=seed),
        p=_t_test(differences),
        wins=wins,
        losses=losses,
        ties=sum(y == x for x, y in pairs),
        mde=None if spread is None else mde(spread, len(differences)),
    )


def _t_test(differences: Sequence[float]) -> float | None:
    """Two-sided p of the paired t-test."""
    spread = sd(differences)
    if not spread:
        return None
    n = len(differences)
    return max(0.0, round(1 - t_within(abs(mean(differences)) * math.sqrt(n) / spread, n - 1), 12))


def mde(sd: float, n: int) -> float:
    """The smallest true mean difference that n pairs find with 80 % power in a two-sided paired t-test at 5 %.

    `sd` is the standard deviation of the differences, and the answer is in its unit. Raises ValueError below two
    pairs or for a negative `sd`.
    """
    if n < 2:
        raise ValueError(f"the minimum detectable effect of {n!r} pairs: give at least 2, one pair shows no spread")
    if finite(sd) < 0:
        raise ValueError(f"a standard deviation of {sd!r}: give a number of at least 0")
    # minimum detectable effect: Bloom 1995, Evaluation Review 19:547
    return (t_quantile(0.975, n - 1) + t_quantile(0.80, n - 1)) * sd / math.sqrt(n)


def seeds_needed(sd: float, gain: float) -> int:
    """The smallest number of pairs whose `mde` is at most `gain`, in the unit of `sd`; at least 2.

    Raises ValueError for a gain that is not above 0, or below a millionth of `sd`.
    """
    if finite(gain) <= 0:
        raise ValueError(f"a gain of {gain!r} to be seen: give a number above 0")
    if sd > 1e6 * gain:
        raise ValueError(f"a gain of {gain!r} against a spread of {sd!r}: give at least a millionth of the spread")
    # t quantiles lie above the normal ones, so the normal answer is where the search may start
    n = max(2, math.floor(((_NORMAL.inv_cdf(0.975) + _NORMAL.inv_cdf(0.80)) * sd / gain) ** 2))
    while mde(sd, n) > gain:
        n += 1
    return n


@dataclass(frozen=True, slots=True)
class WelchComparison:
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
    """95 % interval of the difference; None below two values on a side."""
    p: float | None
    """Two-sided p of Welch's t-test, to 12 decimals; None below two values on a side or where neither side varies."""
    mde: float | None
    """Minimum detectable effect of these runs with these spreads, at 80 % power; None below two values on a side."""

    def to_json(self) -> dict[str, Json]:
        """The fields as JSON-native values, an absent figure null."""
        return {**asdict(self), "ci95": list(self.ci95) if self.ci95 else None}


def welch_compare(a: Iterable[float | None], b: Iterable[float | None]) -> WelchComparison:
    """Compare b with a by their means; None is a run without a value. Swapping the sides negates the difference.

    Interval and test are Welch's (1947, Biometrika 34:28), which let the sides differ in spread. NaN, infinities and
    numbers beyond 1e100 raise ValueError.
    """
    of_a, of_b = summarise(a), summarise(b)
    difference = None if of_a.mean is None or of_b.mean is None else of_b.mean - of_a.mean + 0.0
    counts = (of_a.n, of_b.n, of_a.failed, of_b.failed, difference)
    if difference is None or of_a.sd is None or of_b.sd is None:
        return WelchComparison(*counts, None, None, None)
    error, df = _standard_error(of_a.sd, of_a.n, of_b.sd, of_b.n)
    half = t_quantile(0.975, df) * error
    p = max(0.0, round(1 - t_within(abs(difference) / error, df), 12)) if error else None
    return WelchComparison(*counts, (difference - half, difference + half), p, welch_mde(of_a, of_b))


def welch_mde(a: Summary, b: Summary) -> float | None:
    """The smallest true difference of means that Welch's test at 5 % finds with 80 % power; None below two values."""
    if a.sd is None or b.sd is None:
        return None
    error, df = _standard_error(a.sd, a.n, b.sd, b.n)
    return (t_quantile(0.975, df) + t_quantile(0.80, df)) * error


def welch_seeds_needed(a: Summary, b: Summary, gain: float) -> int | None:
    """Runs that each side needs, with no seed in common, to find `gain` with 80 % power; None below two values.

    At least 2, and about one run more than needed. Raises ValueError for a gain that is not above 0, or below a
    millionth of the spread.
    """
    if a.sd is None or b.sd is None:
        return None
    # n pairs whose differences have the variance of both sides together: pairs that have nothing in common.
    return seeds_needed(math.hypot(a.sd, b.sd), gain)


def _standard_error(sd_a: float, n_a: int, sd_b: float, n_b: int) -> tuple[float, int]:
    """The standard error of a difference of means, and its degrees of freedom, rounded down."""
    of_a, of_b = sd_a * sd_a / n_a, sd_b * sd_b / n_b
    both = of_a + of_b
    if not both:
        return 0.0, n_a + n_b - 2
    # Welch-Satterthwaite, in shares of the variance so that nothing overflows
    share_a, share_b = of_a / both, of_b / both
    return math.sqrt(both), max(1, int(1 / (share_a * share_a / (n_a - 1) + share_b * share_b / (n_b - 1)) + 1e-9))
