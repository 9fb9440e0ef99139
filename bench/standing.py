"""Mean scores of the vending world's rule-based players over seeds.

python bench/standing.py [seeds] [days]        by default 20 seeds and 90 days
"""

import sys
from statistics import mean

import akinai
from akinai.core.worlds import replay
from akinai.worlds.vending import Vending

SEEDS, DAYS = 20, 90
PLAYERS = ("idle", "naive", "reference")


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    days = int(sys.argv[2]) if len(sys.argv) > 2 else DAYS
    world = Vending()
    judging = world.facets.judging
    values: dict[str, dict[str, list[float]]] = {}
    for player in PLAYERS:
        for run in akinai.run("vending", agent=player, seeds=range(1, seeds + 1), days=days, preset="classic"):
            steps = replay(world, run.ledger)
            for score in (*run.scores, *judging.coherence(steps, judging.detect(steps))):
                scale = 100 if score.unit == "cents" else 1
                name = f"{score.name}, {'dollars' if scale == 100 else score.unit}"
                values.setdefault(name, {}).setdefault(player, []).append(score.value / scale)
    print(f"{seeds} seeds, {days} days, means{'':20}" + "".join(f"{player:>12}" for player in PLAYERS))
    for name, by_player in values.items():
        figures = "".join(f"{mean(by_player[p]):12,.2f}" if p in by_player else f"{'-':>12}" for p in PLAYERS)
        print(f"{name:44}{figures}")


if __name__ == "__main__":
    main()
