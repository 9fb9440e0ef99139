"""Two groups of runs that have no seeds in common, compared by their means. Where seeds are common, compare pairs:
`akinai.core.statistics.compare` sees a gain with far fewer runs.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from akinai.core.canonical import Json
from akinai.core.statistics import Summary, seeds_needed, summarise, t_quantile, t_within


@dataclass(frozen=True, slots=True)
class Apart:
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
    smallest_visible: float | None
    """The gain that these runs with these spreads would have found four times in five."""

    def to_json(self) -> dict[str, Json]:
        """The fields as JSON-native values, an absent figure null."""
        return {**asdict(self), "ci95": list(self.ci95) if self.ci95 else None}


def compare_apart(a: Iterable[float | None], b: Iterable[float | None]) -> Apart:
    """Compare b with a by their means; None is a run without a value. Swapping the sides negates the difference.

    Interval and test are Welch's (1947, Biometrika 34:28), which let the sides differ in spread. NaN, infinities and
    numbers beyond 1e100 raise ValueError.
    """
    one, two = summarise(a), summarise(b)
    difference = None if one.mean is None or two.mean is None else two.mean - one.mean + 0.0
    counts = (one.n, two.n, one.failed, two.failed, difference)
    if difference is None or one.sd is None or two.sd is None:
        return Apart(*counts, None, None, None)
    error, df = _error(one.sd, one.n, two.sd, two.n)
    half = t_quantile(0.975, df) * error
    p = max(0.0, round(1 - t_within(abs(difference) / error, df), 12)) if error else None
    return Apart(*counts, (difference - half, difference + half), p, smallest_visible_apart(one, two))


def smallest_visible_apart(a: Summary, b: Summary) -> float | None:
    """The smallest true difference of means that Welch's test at 5 % finds with 80 % power; None below two values."""
    if a.sd is None or b.sd is None:
        return None
    error, df = _error(a.sd, a.n, b.sd, b.n)
    return (t_quantile(0.975, df) + t_quantile(0.80, df)) * error


def seeds_needed_apart(a: Summary, b: Summary, gain: float) -> int | None:
    """Runs on each side, with no seeds in common, that find `gain` four times in five; None below two values.

    At least 2, and a run or so more than needed. Raises ValueError for a gain that
    is not above 0, or below a millionth of the spread.
    """
    if a.sd is None or b.sd is None:
        return None
    # n pairs whose differences have the variance of both sides together: pairs that have nothing in common.
    return seeds_needed(math.hypot(a.sd, b.sd), gain)


def _error(sd_a: float, n_a: int, sd_b: float, n_b: int) -> tuple[float, int]:
    """The standard error of a difference of means, and its degrees of freedom, rounded down."""
    of_a, of_b = sd_a * sd_a / n_a, sd_b * sd_b / n_b
    both = of_a + of_b
    if not both:
        return 0.0, n_a + n_b - 2
    # Welch-Satterthwaite, in shares of the variance so that nothing overflows
    share_a, share_b = of_a / both, of_b / both
    return math.sqrt(both), max(1, int(1 / (share_a * share_a / (n_a - 1) + share_b * share_b / (n_b - 1)) + 1e-9))
