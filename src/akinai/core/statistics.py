"""What several runs of one score say together: a summary over seeds, a comparison paired by seed, and how small a
gain that many seeds could have seen. Numbers in, numbers out; nothing here knows a score by name.

Every figure is deterministic: the resampling draws are a function of `seed`, and the order of the values is ignored.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist, median
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from akinai.core.canonical import Json
from akinai.core.chance import Chance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)

Bounds: TypeAlias = tuple[float, float]
"""The least and the greatest that a value can be."""
BOUNDLESS: Bounds = (-math.inf, math.inf)

_NORMAL = NormalDist()
_RESAMPLES = 10_000
_FEWEST_TO_RESAMPLE = 5
_LARGEST = 1e100  # squares and cubes of scores must stay finite
_MOST_TERMS_DF = 2_000  # above it an expansion in 1/df is good to 11 digits and shorter than the finite sum


@dataclass(frozen=True, slots=True)
class Summary:
    """One score over the runs of a group. With no run that has a value every statistic is None."""

    n: int
    """Runs that have a value: what the statistics are made of."""
    failed: int
    """Runs without a value. They are in no mean, so show them beside it: n of n + failed runs."""
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
        return _told(self)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two groups of runs, a and b, paired by seed. Every seed is in exactly one of the first six counts.

    Where `failed_a` and `failed_b` differ, the pairs that are left may be the easy ones: show the counts with the
    difference.
    """

    pairs: int
    """Seeds with a value on both sides: what the figures are made of."""
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
    wins: int
    """Pairs in which b is above a. Whether higher is better is for the score to say."""
    losses: int
    ties: int
    smallest_visible: float | None
    """The gain that this many pairs with this spread would have found four times in five; None below two pairs."""

    def to_json(self) -> dict[str, Json]:
        """The fields as JSON-native values: the interval a list, an absent figure null, never NaN."""
        return _told(self)


def summarise(values: Iterable[float | None], *, seed: int = 0, bounds: Bounds = BOUNDLESS) -> Summary:
    """Summarise one score over runs; None is a run that failed, counted and never dropped in silence.

    `seed` names the resampling draws of `mean_interval`. No mean is beyond the `bounds`, so no end of the interval is
    told beyond them either. NaN, infinities and numbers beyond 1e100 raise ValueError.
    """
    runs = list(values)
    known = sorted(_usable(value) for value in runs if value is not None)
    return Summary(
        n=len(known),
        failed=len(runs) - len(known),
        mean=_mean(known) if known else None,
        median=median(known) if known else None,
        sd=_sd(known),
        min=known[0] if known else None,
        max=known[-1] if known else None,
        ci95=_within(bounds, known, mean_interval(known, seed=seed)),
    )


def _within(bounds: Bounds, ascending: Sequence[float], ends: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval cut at the bounds; as it was where a value lies beyond them, since then they are none."""
    low, high = bounds
    if ends is None or ascending[0] < low or ascending[-1] > high:
        return ends
    return max(ends[0], low), min(ends[1], high)


def compare(a: Mapping[Key, float | None], b: Mapping[Key, float | None], *, seed: int = 0) -> Comparison:
    """Compare b with a, pair by pair. The keys are seeds, or whatever else makes two runs a pair (an item's id).

    Swapping a and b negates the difference and its interval exactly. A value of None is a run that failed. NaN,
    infinities and numbers beyond 1e100 raise ValueError.
    """
    shared = a.keys() & b.keys()
    both = ((a[key], b[key]) for key in shared)
    pairs = [(_usable(x), _usable(y)) for x, y in both if x is not None and y is not None]
    failed_both = sum(a[key] is None and b[key] is None for key in shared)
    differences = sorted(y - x for x, y in pairs)
    sd = _sd(differences)
    return Comparison(
        pairs=len(pairs),
        failed_a=sum(a[key] is None for key in shared) - failed_both,
        failed_b=sum(b[key] is None for key in shared) - failed_both,
        failed_both=failed_both,
        only_a=len(a) - len(shared),
        only_b=len(b) - len(shared),
        difference=_mean(differences) if differences else None,
        sd_difference=sd,
        ci95=mean_interval(differences, seed=seed),
        p=_t_test(differences),
        wins=sum(y > x for x, y in pairs),
        losses=sum(y < x for x, y in pairs),
        ties=sum(y == x for x, y in pairs),
        smallest_visible=None if sd is None else smallest_visible(sd, len(differences)),
    )


def mean_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float] | None:
    """A 95 % interval of the mean; None below two values. Equal values give an interval of no width: of a share of
    successes ask `proportion_interval`.

    From five values on, the BCa bootstrap (Efron 1987, JASA 82:171) with the normal quantile 1.96 widened to
    sqrt(n / (n - 1)) t_{0.975, n - 1}, as Hesterberg (2015, The American Statistician 69:371) widens the percentile
    interval for small samples. Below five, Student's t: n values hold the median between them with probability
    1 - 2^(1 - n), half for two of them, so nothing that resamples them can be honest.

    How often it holds the true mean, in % (bench/intervals.py, +-0.7): on normal scores 93 at n = 5 and 95 at 10, 20
    and 50; on exponential ones 88, 93, 93, 94; on log-normal ones 84, 88, 90, 92. Few and skewed values promise less
    than they say.
    """
    n = len(values)
    if n < 2:
        return None
    ordered = sorted(_usable(value) for value in values)
    mean = _mean(ordered)
    if n < _FEWEST_TO_RESAMPLE:
        half = t_quantile(0.975, n - 1) * (_sd(ordered) or 0.0) / math.sqrt(n)
        return mean - half, mean + half
    deviations = [value - mean for value in ordered]
    below, above = _bca_ends(deviations, math.sqrt(n / (n - 1)) * t_quantile(0.975, n - 1), seed)
    return max(mean + below, ordered[0]), min(mean + above, ordered[-1])  # no rounding dust outside the sample


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


def smallest_visible(sd: float, n: int) -> float:
    """The smallest true mean difference that n pairs find with 80 % power in a two-sided paired t-test at 5 %.

    `sd` is the standard deviation of the differences, and the answer is in its unit. Raises ValueError below two
    pairs or for a negative `sd`.
    """
    if n < 2:
        raise ValueError(f"the smallest visible gain of {n!r} pairs: give at least 2, one pair shows no spread")
    if _usable(sd) < 0:
        raise ValueError(f"a standard deviation of {sd!r}: give a number of at least 0")
    # minimum detectable effect: Bloom 1995, Evaluation Review 19:547
    return (t_quantile(0.975, n - 1) + t_quantile(0.80, n - 1)) * sd / math.sqrt(n)


def seeds_needed(sd: float, gain: float) -> int:
    """The smallest number of pairs whose `smallest_visible` is at most `gain`, in the unit of `sd`; at least 2.

    Raises ValueError for a gain that is not above 0, or below a millionth of `sd`.
    """
    if _usable(gain) <= 0:
        raise ValueError(f"a gain of {gain!r} to be seen: give a number above 0")
    if sd > 1e6 * gain:
        raise ValueError(f"a gain of {gain!r} against a spread of {sd!r}: give at least a millionth of the spread")
    # t quantiles lie above the normal ones, so the normal answer is where the search may start
    n = max(2, math.floor(((_NORMAL.inv_cdf(0.975) + _NORMAL.inv_cdf(0.80)) * sd / gain) ** 2))
    while smallest_visible(sd, n) > gain:
        n += 1
    return n


def share_between(value: float, low: float, high: float) -> float | None:
    """How far `value` is on the way from a low baseline (0) to a high one (1); below 0 or above 1 when it lies
    outside; None when the baselines are equal.
    """
    return None if low == high else (value - low) / (high - low)


def t_quantile(p: float, df: int) -> float:
    """The p-quantile of Student's t with `df` degrees of freedom, to at least 10 digits for p from 0.001 to 0.999.

    Raises ValueError unless 0 < p < 1 and df >= 1.
    """
    if not 0 < p < 1 or df < 1:
        raise ValueError(f"the {p!r} quantile of Student's t with {df!r} degrees of freedom: give 0 < p < 1, df >= 1")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    x = _NORMAL.inv_cdf(p)
    if df > _MOST_TERMS_DF:
        return _t_expansion(x, df)
    log_peak = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    # The distribution function is concave above 0 and the normal quantile lies left of the root, so each Newton step
    # ends left of it too: the steps shrink and cannot overshoot.
    for _ in range(100):
        density = math.exp(log_peak - (df + 1) / 2 * math.log1p(x * x / df))
        step = (2 * p - 1 - t_within(x, df)) / (2 * density)
        x += step
        if abs(step) <= 1e-14 * x:
            break
    return x


def t_within(t: float, df: int) -> float:
    """P(|T| <= t) for Student's T and t >= 0, as a finite sum; Abramowitz and Stegun 26.7.3 and 26.7.4."""
    theta = math.atan(t / math.sqrt(df))
    cos2 = math.cos(theta) ** 2
    odd = df % 2
    term = math.cos(theta) if odd else 1.0
    total = term if df > 1 else 0.0
    for k in range(2 + odd, df, 2):
        term *= cos2 * (k - 1) / k
        total += term
    area = math.sin(theta) * total
    return 2 / math.pi * (theta + area) if odd else area


def _t_expansion(x: float, df: int) -> float:
    """Student's t quantile from the normal quantile x; Abramowitz and Stegun 26.7.5, to the term in 1/df^3."""
    g1 = (x**3 + x) / 4
    g2 = (5 * x**5 + 16 * x**3 + 3 * x) / 96
    g3 = (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384
    return x + (g1 + (g2 + g3 / df) / df) / df


def _t_test(differences: Sequence[float]) -> float | None:
    sd = _sd(differences)
    if not sd:
        return None
    n = len(differences)
    return max(0.0, round(1 - t_within(abs(_mean(differences)) * math.sqrt(n) / sd, n - 1), 12))


def _told(record: Summary | Comparison) -> dict[str, Json]:
    told: dict[str, Json] = asdict(record)
    told["ci95"] = list(record.ci95) if record.ci95 else None
    return told


def _usable(value: float) -> float:
    if not abs(value) <= _LARGEST:
        raise ValueError(f"a score of {value!r}: give a finite number, or None for a run that failed")
    return float(value) + 0.0  # JSON holds no -0


def _mean(values: Sequence[float]) -> float:
    """The mean, rounded once, and never outside the values, so that equal values have deviations of exactly 0."""
    return min(max(math.fsum(values) / len(values), min(values)), max(values)) + 0.0


def _sd(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _bca_ends(deviations: Sequence[float], z: float, seed: int) -> tuple[float, float]:
    """The two ends of the BCa interval, as distances from the mean, for ascending deviations from it."""
    peak = max(-deviations[0], deviations[-1])
    if peak == 0:
        return 0.0, 0.0
    means = _resampled_means(deviations, seed)
    dust = 1e-12 * peak  # a mean that is 0 but for rounding lies on neither side
    excess = int((means < -dust).sum()) - int((means > dust).sum())
    bias = math.copysign(_NORMAL.inv_cdf(0.5 + abs(excess) / (2 * len(means))), excess)
    units = [d / peak for d in deviations]
    squares = math.fsum(u * u for u in units)
    acceleration = math.fsum(u * u * u for u in units) / (6 * squares * math.sqrt(squares))
    # The acceleration is within 1/6 and z at most 3.11 (five values), so both denominators are positive unless 99.8 %
    # of the resampled means lie on one side of the mean, which no sample does.
    lower = bias + (bias - z) / (1 - acceleration * (bias - z))
    upper = bias + (bias + z) / (1 - acceleration * (bias + z))
    # the upper end is the lower end of the mirrored sample, to the bit
    return _quantile(means, _NORMAL.cdf(lower)), -_quantile(-means[::-1], _NORMAL.cdf(-upper))


def _quantile(ascending: "NDArray[np.float64]", share: float) -> float:
    place = share * (len(ascending) - 1)
    index = min(int(place), len(ascending) - 2)
    left, right = float(ascending[index]), float(ascending[index + 1])
    return left + (place - index) * (right - left)


def _resampled_means(ascending: Sequence[float], seed: int) -> "NDArray[np.float64]":
    """The sorted means of resamples with replacement: half drawn, half their mirror images (the smallest value for
    the largest and so on), so that a mirrored sample gives mirrored means.

    The sums are built one draw at a time: a reduction by NumPy may round differently from machine to machine.
    """
    import numpy as np

    n = len(ascending)
    values = np.array(ascending, dtype=np.float64)
    rows = np.arange(_RESAMPLES // 2, dtype=np.uint64)
    sums = np.zeros((2, len(rows)), dtype=np.float64)
    for draw in range(n):
        words = Chance.of(seed)("resample", draw).many(rows)
        index = ((words >> 32) * n >> 32).astype(np.intp)  # below n; the bias is below n / 2^32
        sums[0] += values[index]
        sums[1] += values[n - 1 - index]
    return np.sort(sums.ravel() / n)
