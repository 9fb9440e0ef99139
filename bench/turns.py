"""Two owners who play alike on one street: whether the seat, or who acts first on day 1, brings money.

    python bench/turns.py [seeds] [days]        by default 200 seeds and 25 days

`stocker` plays both owners of `arena`. Differences are of one seed each, with the 95 % interval of their mean and that
of the share of seeds in which the one is ahead; a tie is left out of the share.
"""

import sys
from collections.abc import Mapping, Sequence

import akinai
from akinai.core.money import format_cents
from akinai.core.statistics import proportion_interval, summarise

SEEDS, DAYS, PLAYER, BATCH = 200, 25, "stocker", 20
FIRST, SECOND = "owner_1", "owner_2"


def differences(seeds: int, days: int) -> Mapping[str, Sequence[int]]:
    """The cents by which one owner ends above the other, seed by seed: by seat, and by who acts first on day 1."""
    by_seat, by_turn = list[int](), list[int]()
    for start in range(1, seeds + 1, BATCH):  # not all ledgers at once
        batch = range(start, min(start + BATCH, seeds + 1))
        for run in akinai.run("vending", preset="arena", agent=PLAYER, seeds=batch, days=days):
            cents = {score.name: int(score.value) for score in run.scores}
            ahead = cents[f"bank_balance_{FIRST}"] - cents[f"bank_balance_{SECOND}"]
            by_seat.append(ahead)
            by_turn.append(ahead if run.ledger.entries[0].actor == FIRST else -ahead)
    return {f"{FIRST} less {SECOND}": by_seat, "first on day 1 less the other": by_turn}


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    days = int(sys.argv[2]) if len(sys.argv) > 2 else DAYS
    print(f"{PLAYER} twice, {seeds} seeds of {days} days")
    for name, cents in differences(seeds, days).items():
        interval = summarise(cents).ci95 or (0, 0)
        mean, low, high = (format_cents(round(value)) for value in (sum(cents) / len(cents), *interval))
        ahead, behind = sum(value > 0 for value in cents), sum(value < 0 for value in cents)
        least, most = proportion_interval(ahead, ahead + behind)
        print(
            f"{name:30} {mean} ({low} to {high}); ahead in {ahead} of {ahead + behind} ({least:.0%} to {most:.0%}), "
            f"{len(cents) - ahead - behind} ties"
        )


if __name__ == "__main__":
    main()
