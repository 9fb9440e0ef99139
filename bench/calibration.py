"""Compares the rule-based players over 20 seeds with the figures that the paper gives for its own, different world.

Sources of the targets: the human of arXiv 2502.15840 ($844.05 after 67 days, one run) and its best model ($2,217.93).
"""

from statistics import mean

import akinai

SEEDS = range(1, 21)


def main() -> None:
    worth: dict[tuple[str, int], list[int | float]] = {}
    for player, days in (
        ("idle", 67),
        ("naive", 67),
        ("reference", 67),
        ("reference", 102),
        ("naive", 90),
        ("idle", 90),
    ):
        worth[player, days] = [
            run.score("net_worth")
            for run in akinai.run("vending", agent=player, seeds=SEEDS, days=days, preset="classic")
        ]
    worth["reference", 90] = [
        run.score("net_worth")
        for run in akinai.run("vending", agent="reference", seeds=SEEDS, days=90, preset="classic")
    ]
    for (player, days), values in sorted(worth.items()):
        dollars = [value / 100 for value in values]
        low, high = min(dollars), max(dollars)
        print(f"{player:10} {days:4} days  mean ${mean(dollars):9,.2f}  min ${low:9,.2f}  max ${high:9,.2f}")
    naive, reference = mean(worth["naive", 67]) / 84_405, mean(worth["reference", 102]) / 221_793
    print(f"naive at day 67 over $844.05         {naive:5.2f}   (to lie between 0.75 and 1.25)")
    print(f"reference at day 102 over $2,217.93  {reference:5.2f}   (to lie above 1)")
    pairs = zip(worth["idle", 90], worth["naive", 90], worth["reference", 90], strict=True)
    print(f"idle < naive < reference at day 90 on {sum(a < b < c for a, b, c in pairs)} of {len(SEEDS)} seeds")


if __name__ == "__main__":
    main()
