"""Measures how much pairing by seed saves: the variance of a difference on common seeds, and on different ones.

Run: `python bench/pairing.py [seeds] [days]`, by default 40 seeds and 60 days. The same runs are paired twice: seed by
seed, and against the runs of the next seed, as two experiments that have no seed in common would meet.
"""

import math
import sys
from dataclasses import dataclass
from statistics import mean, variance

import akinai
from akinai.core.statistics import seeds_needed, summarise, welch_seeds_needed

SEEDS, DAYS = 40, 60
SCORE = "net_worth"
GAINS = (10, 25, 50, 100)
"""Dollars."""


@dataclass(frozen=True)
class Pair:
    """Two ways of playing, and what the second one changes."""

    name: str
    a: tuple[str, tuple[str, ...]]
    b: tuple[str, tuple[str, ...]]


PAIRS = (
    Pair("naive against reference", ("naive", ()), ("reference", ())),
    Pair("reference, weaker crowds", ("reference", ()), ("reference", ("demand.footfall=24",))),
    Pair("reference, dearer fee", ("reference", ()), ("reference", ("fee_cents=300",))),
    Pair("reference, smaller slots", ("reference", ()), ("reference", ("small_capacity=6", "large_capacity=3"))),
)


def worths(player: str, settings: tuple[str, ...], seeds: int, days: int) -> list[float]:
    """Net worth in dollars, seed by seed."""
    runs = akinai.run(
        "vending",
        agent=player,
        seeds=range(1, seeds + 1),
        days=days,
        settings=settings,
        ledgers=False,
        preset="classic",
    )
    return [run.score(SCORE) / 100 for run in runs]


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    days = int(sys.argv[2]) if len(sys.argv) > 2 else DAYS
    worths_by_side: dict[tuple[str, tuple[str, ...]], list[float]] = {}
    for pair in PAIRS:
        for side in (pair.a, pair.b):
            if side not in worths_by_side:
                worths_by_side[side] = worths(*side, seeds, days)
        print_pair(pair, worths_by_side[pair.a], worths_by_side[pair.b])


def print_pair(pair: Pair, a: list[float], b: list[float]) -> None:
    paired = variance([round(y - x, 2) for x, y in zip(a, b, strict=True)])
    apart = variance(a) + variance(b)
    shifted = variance([y - x for x, y in zip(a, b[1:] + b[:1], strict=True)])
    ratio = f"{apart / paired:,.1f}" if paired else "beyond measure"
    print(f"{pair.name}, {len(a)} seeds: {mean(b) - mean(a):+,.2f} dollars on average")
    print(
        f"  sd of a difference: common seeds {math.sqrt(paired):,.2f}, other seeds {math.sqrt(apart):,.2f} "
        f"(shifted by one seed {math.sqrt(shifted):,.2f}); variance ratio {ratio}"
    )
    for gain in GAINS:
        needed = seeds_needed(math.sqrt(paired), max(gain, math.sqrt(paired) / 1e5))
        alone = welch_seeds_needed(summarise(a), summarise(b), gain)
        print(f"  pairs needed for a gain of ${gain}: paired {needed:,}, unpaired {alone:,}")
    print(flush=True)


if __name__ == "__main__":
    main()
