"""Measures what sentences on scores promise: how often intervals of `akinai.core.statistics` hold the truth, how often
equal agents seem to differ, and how often a difference is found that a sentence calls visible.

Run: `python bench/intervals.py [experiments]`, by default 10,000 (some ten minutes), at least 10. Scores are skewed as
money is, or coarse: many runs near the bottom and a long tail above, some that went broke, shares of passed runs,
sheets of ten questions. Exits with 1 where an interval holds the truth less often than is printed, where equal agents
differ in more than 6 % of studies, and where an interval and its p disagree.

Not called statistics.py: a script's folder comes first on the import path and would hide the standard module.
"""

import math
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np

from akinai.core.statistics import (
    LEVEL,
    Bounds,
    cautious_sd,
    clustered,
    compare,
    expected_coverage,
    fewest_pairs,
    mde,
    pass_hat_k,
    rank,
    seeds_needed,
    summarise,
    welch_compare,
)

Rng = np.random.Generator
Draw = Callable[[Rng, int], np.ndarray]
SHARE: Bounds = (0.0, 1.0)


class Shape:
    """A kind of score, with its true mean."""

    def __init__(
        self, draw: Draw, mean: float, skewness: float, bounds: Bounds | None = None, *, hidden: bool = False
    ) -> None:
        self.draw, self.mean, self.skewness, self.bounds = draw, mean, skewness, bounds
        self.hidden = hidden
        """Whether one sample of ten in ten seeds lacks a kind of run, so that no interval can look for it."""


def broke(rng: Rng, n: int, spread: float) -> np.ndarray:
    return np.where(rng.random(n) < 0.2, 0.0, rng.normal(5, spread, size=n) if spread else 5.0)


def two_kinds(rng: Rng, n: int) -> np.ndarray:
    return rng.normal(size=n) + np.where(rng.random(n) < 0.5, 0.0, 10.0)


SHAPES: dict[str, Shape] = {
    "normal": Shape(lambda rng, n: rng.normal(size=n), 0.0, 0.0),
    "gamma": Shape(lambda rng, n: rng.gamma(2, size=n), 2.0, 1.4),
    "exponential": Shape(lambda rng, n: rng.exponential(size=n), 1.0, 2.0),
    "log-normal": Shape(lambda rng, n: rng.lognormal(size=n), math.exp(0.5), 6.2),
    "capped": Shape(lambda rng, n: np.minimum(rng.exponential(size=n), 1.0), 1 - math.exp(-1), -0.4),
    "zero-inflated": Shape(lambda rng, n: np.where(rng.random(n) < 0.3, 0.0, rng.exponential(size=n)), 0.7, 2.0),
    "broke 1 in 5": Shape(partial(broke, spread=0.0), 4.0, -1.5),
    "broke 1 in 5, else varied": Shape(partial(broke, spread=1.0), 4.0, -1.1, hidden=True),
    "two kinds far apart": Shape(two_kinds, 5.0, 0.0, hidden=True),
    "counts, 1 on average": Shape(lambda rng, n: rng.poisson(size=n).astype(float), 1.0, 1.0),
    "share .1": Shape(lambda rng, n: (rng.random(n) < 0.1).astype(float), 0.1, 2.7, SHARE),
    "share .5": Shape(lambda rng, n: (rng.random(n) < 0.5).astype(float), 0.5, 0.0, SHARE),
    "ten questions": Shape(lambda rng, n: rng.binomial(10, 0.6, size=n) / 10, 0.6, -0.1, SHARE),
    "ten easy questions": Shape(lambda rng, n: rng.binomial(10, 0.9, size=n) / 10, 0.9, -0.8, SHARE),
}
SIZES = (2, 3, 5, 10, 20, 50)
AGENTS = 8
REPEATS = 3
MOST_SKEWED, FEWEST_SEEDS, LEAST = 2.0, 10, 93.0
MOST_FALSE = 6.0
SUMMARY_BUDGET_MS = 25.0

Interval = Callable[[Rng, int], tuple[Bounds | None, float]]
"""An interval of a sample, and the truth that it should hold."""


def mean_of(shape: Shape) -> Interval:
    return lambda rng, n: (summarise(shape.draw(rng, n).tolist(), bounds=shape.bounds).ci95, shape.mean)


def clusters(rng: Rng, n: int) -> tuple[Bounds | None, float]:
    """The mean over seeds that were played three times, a part of the value being the seed's own."""
    seeds = rng.exponential(1.0, size=(n, 1)) + rng.exponential(0.7, size=(n, REPEATS))
    return summarise(clustered(dict(enumerate(seeds.tolist()))).values()).ci95, 1.7


def uneven_clusters(rng: Rng, n: int) -> tuple[Bounds | None, float]:
    """The same where each seed was played two to four times."""
    own, sizes = rng.exponential(1.0, size=n), rng.integers(2, 5, size=n)
    table = {seed: (own[seed] + rng.exponential(0.7, size=sizes[seed])).tolist() for seed in range(n)}
    return summarise(clustered(table).values()).ci95, 1.7


def passes(rng: Rng, n: int) -> tuple[Bounds | None, float]:
    """pass^2 of tasks that were tried four times each, some easy and some hard."""
    values = [pass_hat_k(int(c), 4, 2) for c in rng.binomial(4, rng.beta(2, 1, size=n))]
    return summarise(values, bounds=SHARE).ci95, 0.5


def paired(rng: Rng, n: int) -> tuple[Bounds | None, float]:
    """A difference on common seeds: both sides feel the seed, and the better one more."""
    luck = rng.exponential(1.0, size=n)
    gains = 0.3 * luck + rng.gamma(2, 0.4, size=n) - rng.gamma(2, 0.3, size=n)
    return against_nothing(gains).ci95, 0.5


def pairs_of(shape: Shape) -> Interval:
    """A difference on common seeds, of two sides that share no luck; b has 1 more."""

    def interval(rng: Rng, n: int) -> tuple[Bounds | None, float]:
        return against_nothing(shape.draw(rng, n) + 1.0 - shape.draw(rng, n)).ci95, 1.0

    return interval


def constant_against(shape: Shape) -> Interval:
    """A difference on common seeds from a side that never varies."""
    return lambda rng, n: (against_nothing(shape.draw(rng, n)).ci95, shape.mean)


def apart(shape: Shape) -> Interval:
    """A difference without a common seed, b having twice the spread unless the score has bounds."""
    factor = 1 if shape.bounds else 2

    def interval(rng: Rng, n: int) -> tuple[Bounds | None, float]:
        ends = welch_compare(shape.draw(rng, n).tolist(), (factor * shape.draw(rng, n)).tolist()).ci95
        return ends, (factor - 1) * shape.mean

    return interval


def against_nothing(gains: np.ndarray):
    return compare(dict.fromkeys(range(len(gains)), 0.0), dict(enumerate(gains.tolist())))


def coverage(interval: Interval, n: int, experiments: int) -> tuple[float, float]:
    """The share of intervals that hold the truth, and the share of samples that have one, in %."""
    rng, held, given_one = np.random.default_rng(n), 0, 0
    for _ in range(experiments):
        ends, truth = interval(rng, n)
        given_one += ends is not None
        held += ends is not None and ends[0] <= truth + 1e-9 and truth - 1e-9 <= ends[1]
    return 100 * held / given_one if given_one else math.nan, 100 * given_one / experiments


def false_winners(shape: Shape, n: int, studies: int) -> tuple[float, int]:
    """The share of studies of equal agents that name a winner, in %, and how many intervals disagree with their p."""
    rng, named, disagreeing = np.random.default_rng(n), 0, 0
    for _ in range(studies):
        groups = {str(agent): dict(enumerate(shape.draw(rng, n).tolist())) for agent in range(AGENTS)}
        pairs = rank(groups, better="higher").pairs
        named += any(pair.winner for pair in pairs)
        disagreeing += sum(not agrees(pair.comparison.ci95, pair.comparison.p) for pair in pairs)
    return 100 * named / studies, disagreeing


def agrees(ends: Bounds | None, p: float | None) -> bool:
    return ends is None or p is None or (p < LEVEL) == (not ends[0] <= 0 <= ends[1])


def power(shape: Shape, n: int, experiments: int) -> float:
    """The share of studies that find a gain of `mde`, in %, for differences of this shape."""
    rng = np.random.default_rng(n)
    many = shape.draw(rng, 100_000)
    gain = mde(float(many.std()), n)
    gains = (shape.draw(rng, n) - shape.mean + gain for _ in range(experiments))
    return 100 * sum((against_nothing(row).p or 1) < LEVEL for row in gains) / experiments


def enough(n: int, experiments: int) -> tuple[float, float]:
    """The share of normal pilots of n seeds whose planned number of seeds is enough, and whose cautious number is."""
    rng, gain = np.random.default_rng(n), 0.8
    needed = seeds_needed(1.0, gain)
    spreads = [float(rng.normal(size=n).std(ddof=1)) for _ in range(experiments)]
    planned = sum(seeds_needed(sd, gain) >= needed for sd in spreads)
    cautious = sum(seeds_needed(cautious_sd(sd, n), gain) >= needed for sd in spreads)
    return 100 * planned / experiments, 100 * cautious / experiments


def summary_ms(n: int) -> float:
    values = np.random.default_rng(0).normal(size=n).tolist()
    started = perf_counter()
    for _ in range(20):
        summarise(values)
    return (perf_counter() - started) / 20 * 1000


INTERVALS: dict[str, Interval] = {
    **{f"mean: {name}": mean_of(shape) for name, shape in SHAPES.items()},
    "mean, seeds played 3 times": clusters,
    "mean, 2 to 4 times": uneven_clusters,
    "pass^2 of 4 tries": passes,
    "pairs, common luck": paired,
    **{f"pairs: {name}": pairs_of(shape) for name, shape in SHAPES.items()},
    **{f"against a constant: {name}": constant_against(shape) for name, shape in SHAPES.items()},
    **{f"no common seed: {name}": apart(shape) for name, shape in SHAPES.items()},
}


def promised(name: str, n: int) -> float:
    """The share in % that an interval has to hold: 93 % from ten seeds on, else what is printed beside it."""
    _, _, kind = name.partition(": ")
    shape, printed = SHAPES.get(kind), 100 * (expected_coverage(n) or 0.94)
    beyond = shape is not None and (shape.hidden or (shape.bounds is None and abs(shape.skewness) > MOST_SKEWED))
    return printed if beyond or n < FEWEST_SEEDS else max(printed, LEAST)


def print_coverage(experiments: int) -> list[str]:
    print(f"share of 95 % intervals that hold the truth, in %, {experiments:,} experiments each (pairs a tenth)")
    print("(in brackets: the share of samples that have an interval, where not all have)")
    print(f"{'':46}" + "".join(f"  n={n:<10}" for n in SIZES))
    short: list[str] = []
    for name, interval in INTERVALS.items():
        print(f"{name:46}", end="", flush=True)
        for n in SIZES:
            held, given_one = coverage(interval, n, experiments if name.startswith("mean") else experiments // 10)
            cell = "-" if math.isnan(held) else f"{held:.1f}" + (f" ({given_one:.0f})" if given_one < 99.5 else "")
            print(f"  {cell:12}", end="", flush=True)
            drawn = (experiments if name.startswith("mean") else experiments // 10) * given_one / 100
            error = 100 * 1.96 * math.sqrt(0.95 * 0.05 / max(drawn, 1))
            if held < promised(name, n) - 1.5 * error:  # of 200 cells
                short.append(f"{name}, n={n}: {held:.1f} %, promised {promised(name, n):.0f} %")
        print(flush=True)
    return short


def print_false_winners(studies: int) -> list[str]:
    error = 100 * 1.96 * math.sqrt(0.06 * 0.94 / studies)
    print(f"\nstudies of {AGENTS} equal agents that name a winner, in %, {studies:,} studies each (+-{error:.1f})")
    print(f"{'':46}" + "".join(f"  n={n:<4}" for n in SIZES[:-1]))
    wrong: list[str] = []
    for name, shape in SHAPES.items():
        print(f"{name:46}", end="", flush=True)
        for n in SIZES[:-1]:
            named, disagreeing = false_winners(shape, n, studies)
            print(f"  {named:5.1f} ", end="", flush=True)
            if named > MOST_FALSE + error:
                wrong.append(f"{name}, n={n}: a winner in {named:.1f} % of studies")
            if disagreeing:
                wrong.append(f"{name}, n={n}: interval and p disagree {disagreeing} times")
        print(flush=True)
    return wrong


def main() -> int:
    experiments = max(10, int(sys.argv[1])) if len(sys.argv) > 1 else 10_000
    wrong = [*print_coverage(experiments), *print_false_winners(experiments // 10)]
    sizes = [n for n in (6, 8, 10, 15, 20, 50) if n >= fewest_pairs()]
    print("\nshare of studies that find a gain of mde on common seeds, in % (meant: 80)")
    print(f"{'':46}" + "".join(f"  n={n:<4}" for n in sizes))
    for name in ("normal", "gamma", "exponential", "log-normal", "capped", "zero-inflated", "ten questions"):
        row = "".join(f"  {power(SHAPES[name], n, experiments // 10):5.1f} " for n in sizes)
        print(f"{name:46}{row}", flush=True)
    print("\nshare of pilots whose planned number of seeds is enough, in %; cautious number (meant: 80)")
    for n in (3, 5, 10, 20):
        print(f"{f'pilot of {n}':46}" + "".join(f"  {share:5.1f} " for share in enough(n, experiments // 10)))
    cost = summary_ms(100)
    print(f"\na summary of 100 values: {cost:.2f} ms, {cost / SUMMARY_BUDGET_MS:.2f} of its budget")
    for line in wrong:
        print(f"not as promised: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
