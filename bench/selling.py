"""Measures the worth of what businesses learn: on other populations, against customers that learned or did not.

python bench/selling.py: a quarter of the businesses learn, from four markets of eight customers, once from customers
who pay the first proposal and once from customers who learned to compare; both playbooks are judged against both.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import akinai

SETTINGS = {"customers": 8}
TRAIN = "1-4"
JUDGED = "101-104", "101-130"
"""Seeds against customers who do not learn, where the outcome is plain, and against those who learned."""


def money(paired: Any) -> str:
    """A gain, with its interval where there are pairs enough; "-" where the playbook gives no control."""
    if paired is None:
        return f"{'-':>8}"
    interval = " ({:+.2f} to {:+.2f})".format(*paired["ci95"]) if paired["ci95"] else ""
    return f"{paired['gain']:>+8.2f}{interval}"


def main() -> None:
    start = perf_counter()
    with TemporaryDirectory() as home:
        folder = Path(home)
        common: dict[str, Any] = {"settings": SETTINGS, "store": str(folder / "runs.db")}
        buyers = str(folder / "buyers.json")
        akinai.learn("market", seeds="1-2", eval_seeds="101", playbook=buyers, **common)
        names = {"first": "customers who do not learn", buyers: "customers who learned"}
        for number, taught_by in enumerate(names):
            playbook = folder / f"sellers{number}.json"
            options: dict[str, Any] = {"role": "business", "playbook": playbook, **common}
            learned = akinai.learn("market", seeds=TRAIN, eval_seeds="101", opponents=[taught_by], **options)
            print(f"\nlearned from {names[taught_by]}:\n")
            print("\n".join(f"- {bullet.content}" for bullet in learned.playbook))
            heads = f"{'without':>9}  {'gain':<28}{'over the control':<28}{'won, lost':<11}beside it"
            print(f"\n{'dollars a market':<32}{heads}")
            for opponents, seeds in zip(names, JUDGED, strict=True):
                judged = akinai.learn("market", eval_seeds=seeds, opponents=[opponents], judge_only=True, **options)
                document: Any = judged.to_json()
                (row,) = document["opponents"]
                paired, beside = row["paired"], row["beside"]
                print(
                    f"{names[opponents]:<32}{row['without']:>9.2f}  {money(paired):<28}{money(row['over_control']):<28}"
                    f"{paired['wins']:>3}, {paired['losses']:<6}"
                    + "; ".join(f"{name} {money(figures['paired'])}" for name, figures in beside.items())
                )
    print(f"\n{perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
