"""How often the 95 % intervals of `akinai.core.statistics` hold the true mean, how often a gain of `mde`
is found, and what a summary costs. Run: `python bench/intervals.py [repetitions]`, by default 4,000 (two minutes).

Not called statistics.py: a script's folder comes first on the import path and would hide the standard module.
"""

import math
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np

from akinai.core.statistics import compare, mde, mean_interval, summarise

Draw = Callable[[np.random.Generator, int], np.ndarray]

SHAPES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
    "log-normal": (lambda rng, n: rng.lognormal(size=n), math.exp(0.5)),
    "1 in 5 broke": (lambda rng, n: np.where(rng.random(n) < 0.2, 0.0, rng.normal(5, 1, size=n)), 4.0),
}
SIZES = (3, 5, 10, 20, 50)
SUMMARY_BUDGET_MS = 25.0


def coverage(draw: Draw, mean: float, n: int, repetitions: int) -> float:
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(repetitions):
        low, high = mean_interval(draw(rng, n).tolist()) or (math.nan, math.nan)
        held += low <= mean <= high
    return held / repetitions


def power(n: int, repetitions: int) -> float:
    rng = np.random.default_rng(n)
    gain = mde(1.0, n)
    nothing = dict.fromkeys(range(n), 0.0)
    found = 0
    for _ in range(repetitions):
        p = compare(nothing, dict(enumerate(rng.normal(gain, 1, size=n).tolist()))).p
        found += p is not None and p < 0.05
    return found / repetitions


def summary_ms(n: int) -> float:
    values = np.random.default_rng(0).normal(size=n).tolist()
    started = perf_counter()
    for _ in range(20):
        summarise(values)
    return (perf_counter() - started) / 20 * 1000


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    error = 100 * 1.96 * math.sqrt(0.95 * 0.05 / repetitions)
    print(f"share of 95 % intervals that hold the mean, in %, {repetitions:,} samples each (+-{error:.1f})")
    print(f"{'':14}" + "".join(f"  n={n:<4}" for n in SIZES))
    for name, (draw, mean) in SHAPES.items():
        print(
            f"{name:14}" + "".join(f"  {100 * coverage(draw, mean, n, repetitions):5.1f} " for n in SIZES), flush=True
        )
    print("\nshare of paired t-tests at 5 % that find a gain of mde, in % (meant: 80)")
    print(f"{'':14}" + "".join(f"  {100 * power(n, repetitions):5.1f} " for n in SIZES))
    cost = summary_ms(100)
    print(f"\na summary of 100 values: {cost:.1f} ms, {cost / SUMMARY_BUDGET_MS:.2f} of its budget")


if __name__ == "__main__":
    main()
