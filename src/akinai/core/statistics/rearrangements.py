"""Exact tests of a difference: the signs of paired differences are flipped, or the sides of unpaired values exchanged.

Where two players are equal every flip, and every exchange, was as likely as the values that were seen. So the tests err
in at most 5 % of studies whatever the scores are: normal, skewed, capped, or the two values of passed and failed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, cast

from akinai.core.chance import Chance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVEL = 0.05
"""A difference is shown where its p is below this; intervals hold the truth in the other 95 %."""
MOST_REARRANGEMENTS = 20_000
"""More of them are sampled, less the one that was seen. So many leave p values small enough for 435 comparisons."""
MOST_EXCHANGED = 200
"""Of more unpaired values together, a test by Welch's standard error holds without exchanges."""


@dataclass(frozen=True, slots=True)
class Exact:
    """An exact test of a true difference of 0, and the interval of differences that the same test does not refuse."""

    p: float
    """Two-sided."""
    ends: tuple[float, float] | None
    """None where so few values can refuse no difference."""


def sign_flips(differences: Sequence[float], level: float = LEVEL) -> Exact:
    """The test that flips the signs of paired differences: Fisher's (1935, The Design of Experiments, section 21) with
    the interval of Hartigan's typical values (1969, JASA 64:1303).

    The mean of each subset of the differences is a value that the true difference exceeds with a probability that is
    exact for symmetric differences: 2^n - 1 subsets cut the line in 2^n equally probable parts. Of more than 14 pairs
    subsets are sampled. For passed and failed the p is that of McNemar's exact test.
    """
    ordered = sorted(differences)
    mirrored = [-value for value in reversed(ordered)]
    if mirrored < ordered:  # one of the two orientations is computed, so that swapped sides agree to the bit
        return _mirror(_judged(mirrored, _subset_means, level))
    test = _judged(ordered, _subset_means, level)
    return _symmetric(test) if mirrored == ordered else test


def exchanges(a: Sequence[float], b: Sequence[float], level: float = LEVEL) -> Exact:
    """The test that exchanges values of a and b (Pitman 1937, Supplement to the JRSS 4:119), with its interval for a
    shift of b.

    Equally many values of either side are exchanged; the difference of their means is the typical value. More than
    20,000 exchanges are sampled.
    """
    side_a, side_b = sorted(a), sorted(b)
    if (len(side_b), side_b) < (len(side_a), side_a):
        return _mirror(exchanges(side_b, side_a, level))
    pivot = math.fsum((*side_a, *side_b)) / (len(side_a) + len(side_b))
    pool = [value - pivot for value in (*side_a, *side_b)]
    test = _judged(pool, lambda grid: _exchange_means(grid, len(side_a)), level)
    return _symmetric(test) if side_a == side_b else test


def fewest_pairs(level: float = LEVEL) -> int:
    """The smallest number of pairs that can show a difference: their signs all alike have a probability below `level`.

    6 for one comparison at 5 %.
    """
    return next(n for n in range(1, 200) if 2 / 2**n < level)


def fewest_runs(level: float = LEVEL) -> int:
    """The smallest number of runs on each of two sides without a common seed that can show a difference."""
    return next(n for n in range(1, 200) if not too_few(n, n, level))


def too_few(n_a: int, n_b: int, level: float = LEVEL) -> bool:
    """Whether so many runs of two sides without a common seed can show no difference, however large."""
    return math.comb(n_a + n_b, n_a) <= 2 / level


def _mirror(test: Exact) -> Exact:
    return Exact(test.p, test.ends and (-test.ends[1] + 0.0, -test.ends[0] + 0.0))


def _symmetric(test: Exact) -> Exact:
    """The test of values that are their own mirror image, whose sampled ends may differ."""
    end = test.ends and max(-test.ends[0], test.ends[1])
    return test if end is None else Exact(test.p, (-end, end))


def _judged(
    values: Sequence[float], typical_values: "Callable[[NDArray[np.float64]], NDArray[np.float64]]", level: float
) -> Exact:
    """p and interval by the typical values of some values.

    The values are rounded to a grid of whole numbers on which sums are exact, whatever the order and the machine, and a
    typical value within the rounding is 0.
    """
    import numpy as np

    peak = max(map(abs, values), default=0.0)
    if not peak:
        return Exact(1.0, None)
    unit = 2.0 ** -min(40, 52 - len(values).bit_length())
    typical = typical_values(np.round(np.array(values) / peak / unit))
    typical[np.abs(typical) <= len(values)] = 0.0
    rearranged = len(typical) + 1
    at_most, at_least = int((typical <= 0).sum()), int((typical >= 0).sum())
    p = min(1.0, 2 * (1 + min(at_most, at_least)) / rearranged)
    # the most typical values beyond an end that still leave a p of at least `level` there
    beyond = math.ceil(level / 2 * rearranged - 1e-9) - 2
    if beyond < 0:
        return Exact(p, None)
    typical.partition((beyond, len(typical) - 1 - beyond))
    scale = peak * unit
    return Exact(p, (float(typical[beyond]) * scale + 0.0, float(typical[-1 - beyond]) * scale + 0.0))


def _subset_means(grid: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """The mean of each subset that is not empty, or of a sample of them."""
    import numpy as np

    if 2 ** len(grid) > MOST_REARRANGEMENTS:
        sums, addend = np.zeros((2, MOST_REARRANGEMENTS - 1))
        for index, value in enumerate(grid):
            np.multiply(_coins(index), value, out=addend)
            sums += addend
        return sums / _subset_sizes(len(grid))
    sums, counts = np.zeros(1), np.zeros(1)
    for value in grid:
        sums, counts = np.concatenate((sums, sums + value)), np.concatenate((counts, counts + 1))
    return sums[1:] / counts[1:]


@lru_cache(maxsize=256)
def _coins(index: int) -> "NDArray[np.bool_]":
    """The samples of which a value is part, each by the toss of a coin."""
    import numpy as np

    words = Chance.of(0)("sign flips", index).many(np.arange(-(-MOST_REARRANGEMENTS // 64), dtype=np.uint64))
    return np.unpackbits(words.astype("<u8").view(np.uint8))[: MOST_REARRANGEMENTS - 1].astype(np.bool_)


@lru_cache(maxsize=16)
def _subset_sizes(n: int) -> "NDArray[np.float64]":
    """The number of values in each sampled subset; 1 for an empty one, of sum 0, which flips nothing."""
    import numpy as np

    sizes = np.zeros(MOST_REARRANGEMENTS - 1)
    for index in range(n):
        sizes += _coins(index)
    return np.maximum(sizes, 1.0)


def _exchange_means(grid: "NDArray[np.float64]", n_a: int) -> "NDArray[np.float64]":
    """For each exchange, the mean of the values that come from b less the mean of those that go there.

    The first `n_a` values are a's, the smaller side.
    """
    if math.comb(len(grid), n_a) > MOST_REARRANGEMENTS:
        return _sampled_exchanges(grid, n_a)
    members = _choices(len(grid), n_a)
    gains = grid[members].sum(axis=1) - grid[:n_a].sum()
    moved = (members >= n_a).sum(axis=1)
    return gains[moved > 0] / moved[moved > 0]


@lru_cache(maxsize=64)
def _choices(n: int, n_a: int) -> "NDArray[np.intp]":
    import numpy as np

    return np.array(list(combinations(range(n), n_a)), dtype=np.intp)


def _sampled_exchanges(grid: "NDArray[np.float64]", n_a: int) -> "NDArray[np.float64]":
    """A sample of exchanges; the side of a value is drawn with the chance that the seats left give it."""
    import numpy as np

    seats = np.full(MOST_REARRANGEMENTS - 1, float(n_a))
    gains, moved = np.full(len(seats), -grid[:n_a].sum()), np.zeros(len(seats))
    for index, value in enumerate(grid):
        taken = _draws(index) * (len(grid) - index) < seats
        seats -= taken
        gains += taken * value
        if index >= n_a:
            moved += taken
    return cast("NDArray[np.float64]", gains / np.maximum(moved, 1))


@lru_cache(maxsize=MOST_EXCHANGED)
def _draws(index: int) -> "NDArray[np.float64]":
    """A number below 1 for each sample."""
    import numpy as np

    samples = np.arange(MOST_REARRANGEMENTS - 1, dtype=np.uint64)
    words = Chance.of(0)("exchange", index).many(samples)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
