"""What the market's customers learn is worth: on populations they have not seen, and sentence by sentence.

python bench/buying.py [--data DIR]: DIR holds the public populations 3x9, 10x30 and 33x99; without it made ones alone.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import akinai
from akinai.runtime.learn.learner import learn
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.play.agent_spec import AgentSpec
from akinai.runtime.runs.records import Runs

TRAIN, JUDGED, FEW = "1-5", "101-110", "101-103"
MADE = ("customers=10",)


def play_markets(seeds: str, settings: Sequence[str], *bullets: str, agent: str = "first") -> Runs:
    """Play markets in which all customers have the bullets."""
    return akinai.run("market", agent=AgentSpec(agent, bullets=bullets), seeds=seeds, settings=[*settings])


def dollars(runs: Runs) -> float:
    """Welfare of a market, on average."""
    return sum(run.scores[0].value for run in runs) / len(runs) / 100


def print_population(name: str, settings: Sequence[str], bullets: Sequence[str]) -> None:
    """Print one population: without the playbook, with it, and with the careful player."""
    without, with_playbook = play_markets(JUDGED, settings), play_markets(JUDGED, settings, *bullets)
    careful, gain = play_markets(JUDGED, settings, agent="careful"), akinai.compare(without, with_playbook)["welfare"]
    assert gain.difference is not None
    assert gain.paired is not None
    low, high = gain.ci95 or (0.0, 0.0)
    print(
        f"{name:<28}{dollars(without):>9.2f}{dollars(with_playbook):>9.2f}{gain.difference / 100:>+9.2f}"
        f"{low / 100:>+9.2f}{high / 100:>+9.2f}{gain.paired.wins:>5}{gain.paired.losses:>5}{dollars(careful):>10.2f}"
    )


def print_bullets(settings: Sequence[str], bullets: Sequence[str]) -> None:
    """Print the welfare with each bullet alone, and with all others."""
    nothing, everything = dollars(play_markets(FEW, settings)), dollars(play_markets(FEW, settings, *bullets))
    print(f"{'none, and all':<58}{nothing:>10.2f}{everything:>10.2f}")
    for bullet in bullets:
        remaining = [other for other in bullets if other != bullet]
        alone, others = play_markets(FEW, settings, bullet), play_markets(FEW, settings, *remaining)
        print(f"{bullet.partition(':')[0]:58.55}{dollars(alone):>10.2f}{dollars(others):>10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    data: Path | None = parser.parse_args().data
    start = perf_counter()
    with TemporaryDirectory() as folder:
        config = TrainConfig("market", "first", TRAIN, "101", settings=MADE)
        learned = learn(config, playbook=Path(folder) / "market.json")
    bullets = [bullet.content for bullet in learned.playbook]
    print(f"learned from seeds {TRAIN} of ten customers in {perf_counter() - start:.1f} s:\n")
    print("\n".join(f"- {bullet}" for bullet in bullets))
    print(f"\ndollars, seeds {JUDGED}{'without':>20}{'with':>9}{'gain':>9}{'from':>9}{'to':>9}{'won':>5}{'lost':>5}"
          f"{'careful':>10}")  # fmt: skip
    print_population("ten made customers", MADE, bullets)
    print_population("forty made customers", ("customers=40",), bullets)
    print_population("ten who look for builders", (*MADE, "population=contractors"), bullets)
    public = [f"data={data / name}" for name in ("3x9", "10x30", "33x99")] if data else []
    for setting in public:
        print_population(Path(setting).name, (setting,), bullets)
    where = public[-1:] or ["customers=33"]
    print(f"\ndollars, {Path(where[0]).name}, seeds {FEW}{'it alone':>40}{'but it':>10}")
    print_bullets(where, bullets)


if __name__ == "__main__":
    main()
