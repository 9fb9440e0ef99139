"""The leaderboard of the rule-based players, as the README shows it: means over seeds with 95 % intervals.

python bench/players.py [seeds]        by default 20 seeds
"""

import sys
from collections.abc import Mapping, Sequence

import akinai
from akinai.core.presentation.words import figure, label

SEEDS = 20
GAMES: Sequence[tuple[str, Mapping[str, object], Sequence[str]]] = (
    ("vending", {"preset": "quarter"}, ("reference", "naive", "idle")),
    (
        "market",
        {"settings": {"customers.count": 10, "businesses.count": 30}},
        ("careful", "strict_budget", "cheapest", "first"),
    ),
    ("qa", {"settings": {"draw": 20}}, ("overlap", "first")),
)
"""World, settings, and players from the best on."""


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    print("| world | player | score | mean | 95 % |\n| --- | --- | --- | --- | --- |")
    for world, options, players in GAMES:
        for player in players:
            runs = akinai.run(world, agent=player, seeds=range(1, seeds + 1), ledgers=False, **options)
            name, unit = next(iter(runs.units().items()))
            summary = runs.summary()[name]
            low, high = summary.ci95 or (None, None)
            ends = f"{figure(low, unit)} to {figure(high, unit)}"
            print(f"| `{runs[0].world}` | `{player}` | {label(name)} | {figure(summary.mean, unit)} | {ends} |")


if __name__ == "__main__":
    main()
