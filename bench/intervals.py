"""Measures how often intervals of `akinai.core.statistics` hold the truth, and how often a gain of `mde` is found.

Run: `python bench/intervals.py [experiments]`, by default 10,000 (some ten minutes). Money is skewed as scores are:
many runs near the bottom and a long tail above, or some that went broke. Seeds that were played several times share two
thirds of their variance. Exits with 1 where an interval of 20 seeds or more holds the truth in less than 94 %.

Not called statistics.py: a script's folder comes first on the import path and would hide the standard module.
"""

import math
import sys
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter

import numpy as np

from akinai.core.statistics import (
    clustered,
    compare,
    mde,
    mean_interval,
    pass_hat_k,
    proportion_interval,
    summarise,
    t_quantile,
)
from akinai.core.statistics.intervals import _draw  # the very resamples, drawn once for many samples

Rng = np.random.Generator
Ends = tuple[float, float] | None

SHAPES: dict[str, tuple[Callable[[Rng, int], np.ndarray], float]] = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0),
    "gamma, skewness 1.4": (lambda rng, n: rng.gamma(2, size=n), 2.0),
    "exponential, 2": (lambda rng, n: rng.exponential(size=n), 1.0),
    "1 in 5 broke": (lambda rng, n: np.where(rng.random(n) < 0.2, 0.0, rng.normal(5, 1, size=n)), 4.0),
}
BEYOND = {"log-normal, 6.2": (lambda rng, n: rng.lognormal(size=n), math.exp(0.5))}
"""A tail that no sample of this size shows: printed, and no interval is promised for it."""
SIZES = (2, 3, 5, 10, 20, 50)
REPEATS, BATCH = 3, 200
LEAST, FEWEST_SEEDS = 94.0, 20
SUMMARY_BUDGET_MS = 25.0


def one_sample(shape: str) -> Callable[[Rng, int], tuple[list[float], float]]:
    draw, mean = (SHAPES | BEYOND)[shape]
    return lambda rng, n: (draw(rng, n).tolist(), mean)


def clusters(rng: Rng, n: int) -> tuple[list[float], float]:
    """The mean over seeds that were played three times, a part of the value being the seed's own."""
    seeds = rng.exponential(1.0, size=(n, 1)) + rng.exponential(0.7, size=(n, REPEATS))
    return list(clustered(dict(enumerate(seeds.tolist()))).values()), 1.7


def uneven_clusters(rng: Rng, n: int) -> tuple[list[float], float]:
    """The same where each seed was played two to four times."""
    own, sizes = rng.exponential(1.0, size=n), rng.integers(2, 5, size=n)
    table = {seed: (own[seed] + rng.exponential(0.7, size=sizes[seed])).tolist() for seed in range(n)}
    return list(clustered(table).values()), 1.7


def paired(rng: Rng, n: int) -> tuple[list[float], float]:
    """A difference on common seeds: both sides feel the seed, and the better one more."""
    luck = rng.exponential(1.0, size=n)
    return (0.3 * luck + rng.gamma(2, 0.4, size=n) - rng.gamma(2, 0.3, size=n)).tolist(), 0.5


def passes(rng: Rng, n: int) -> tuple[list[float], float]:
    """pass^2 of tasks that were tried four times each, some easy and some hard."""
    return [pass_hat_k(int(c), 4, 2) for c in rng.binomial(4, rng.beta(2, 1, size=n))], 0.5


def unpaired(rng: Rng, n: int) -> tuple[Ends, float]:
    """A difference without a common seed, of two skewed sides: as `welch_compare` makes it."""
    a, b = rng.gamma(2, 1, size=n), rng.gamma(2, 1.3, size=n)
    of_a, of_b = a.var(ddof=1) / n, b.var(ddof=1) / n
    df = int((of_a + of_b) ** 2 / ((of_a**2 + of_b**2) / (n - 1)) + 1e-9)
    middle, half = b.mean() - a.mean(), t_quantile(0.975, max(1, df)) * math.sqrt(of_a + of_b)
    return (middle - half, middle + half), 0.6


def share(rng: Rng, n: int) -> tuple[Ends, float]:
    return proportion_interval(int(rng.binomial(n, 0.7)), n), 0.7


MEANS: dict[str, Callable[[Rng, int], tuple[list[float], float]]] = {
    **{f"mean: {name}": one_sample(name) for name in SHAPES},
    "mean, seeds played 3 times": clusters,
    "mean, 2 to 4 times": uneven_clusters,
    "difference on common seeds": paired,
    "pass^2 of 4 tries": passes,
    **{f"mean: {name}": one_sample(name) for name in BEYOND},
}
OTHERS = {"difference, no common seed": unpaired, "share of successes": share}


def mean_coverage(kind: Callable[[Rng, int], tuple[list[float], float]], n: int, experiments: int) -> float:
    """The coverage of `mean_interval` in %, for many samples at once: all samples of a size share their resamples."""
    rng, held = np.random.default_rng(n), 0
    for start in range(0, experiments, BATCH):
        drawn = [kind(rng, n) for _ in range(min(BATCH, experiments - start))]
        samples = np.sort(np.array([values for values, _ in drawn]), axis=1)
        low, high = many_intervals(samples)
        for row in range(2 if start == 0 else 0):
            assert np.allclose(mean_interval(samples[row].tolist()) or (), (low[row], high[row]), atol=1e-9)
        truth = drawn[0][1]
        held += int(((low <= truth) & (truth <= high)).sum())
    return 100 * held / experiments


def many_intervals(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of `mean_interval` for each row, ascending within it."""
    n = samples.shape[1]
    centre, deviations = samples.mean(axis=1), samples - samples.mean(axis=1, keepdims=True)
    variance = (deviations**2).mean(axis=1)
    if n < 5:
        half = t_quantile(0.975, n - 1) * np.sqrt(variance / (n - 1))
        return centre - half, centre + half
    weights = resample_weights(n)
    means = deviations @ weights
    own = np.maximum(deviations**2 @ weights - means**2, variance[:, None] / 9)
    own[variance == 0] = 1.0
    ratios = means * np.sqrt(variance[:, None] / own)
    low, high = np.quantile(ratios, (0.975, 0.025), axis=1)
    return np.maximum(centre - low, samples[:, 0]), np.minimum(centre - high, samples[:, -1])


@lru_cache(maxsize=1)
def resample_weights(n: int) -> np.ndarray:
    """The share of each value in each resample, half of them mirrored."""
    index = np.stack([_draw(n, draw, 0) for draw in range(n)])
    weights = np.stack([(index == value).sum(axis=0) for value in range(n)]) / n
    return np.concatenate([weights, weights[::-1]], axis=1)


def coverage(kind: Callable[[Rng, int], tuple[Ends, float]], n: int, experiments: int) -> float:
    rng, held = np.random.default_rng(n), 0
    for _ in range(experiments):
        ends, truth = kind(rng, n)
        held += ends is not None and ends[0] <= truth <= ends[1]
    return 100 * held / experiments


def power(n: int, experiments: int) -> float:
    rng, gain, nothing, detections = np.random.default_rng(n), mde(1.0, n), dict.fromkeys(range(n), 0.0), 0
    for _ in range(experiments):
        p = compare(nothing, dict(enumerate(rng.normal(gain, 1, size=n).tolist()))).p
        detections += p is not None and p < 0.05
    return 100 * detections / experiments


def summary_ms(n: int) -> float:
    values = np.random.default_rng(0).normal(size=n).tolist()
    started = perf_counter()
    for _ in range(20):
        summarise(values)
    return (perf_counter() - started) / 20 * 1000


def main() -> int:
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    error = 100 * 1.96 * math.sqrt(0.95 * 0.05 / experiments)
    print(f"share of 95 % intervals that hold the truth, in %, {experiments:,} experiments each (+-{error:.1f})")
    print(f"{'':30}" + "".join(f"  n={n:<4}" for n in SIZES))
    short: list[str] = []
    for name in (*MEANS, *OTHERS):
        print(f"{name:30}", end="", flush=True)
        for n in SIZES:
            held = (
                mean_coverage(MEANS[name], n, experiments) if name in MEANS else coverage(OTHERS[name], n, experiments)
            )
            print(f"  {held:5.1f} ", end="", flush=True)
            promised = n >= FEWEST_SEEDS and not any(name.endswith(beyond) for beyond in BEYOND)
            if promised and held < LEAST - error:
                short.append(f"{name}, n={n}: {held:.1f} %")
        print(flush=True)
    print("\nshare of paired t-tests at 5 % that find a gain of mde, in % (meant: 80)")
    print(f"{'':30}" + "".join(f"  {power(n, min(experiments, 1_000)):5.1f} " for n in SIZES))
    cost = summary_ms(100)
    print(f"\na summary of 100 values: {cost:.1f} ms, {cost / SUMMARY_BUDGET_MS:.2f} of its budget")
    for line in short:
        print(f"below {LEAST:.0f} %: {line}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
