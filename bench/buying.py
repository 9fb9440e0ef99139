"""What the market's customers learn is worth: on populations they have not seen, and sentence by sentence.

python bench/buying.py [--data DIR]: DIR holds the public populations 3x9, 10x30 and 33x99; without it made ones alone.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import akinai
from akinai.core.lessons import sentence_of
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


def print_population(name: str, settings: Sequence[str], playbook: Path) -> None:
    """Print one population: without the playbook, with it, with its control, and with the careful player."""
    options: dict[str, Any] = {"playbook": playbook, "judge_only": True, "eval_seeds": JUDGED}
    judged: dict[str, Any] = akinai.learn("market", settings=[*settings], **options).to_json()
    careful, gain, control = play_markets(JUDGED, settings, agent="careful"), judged["paired"], judged["control"]
    low, high = gain["ci95"] or (0.0, 0.0)
    print(
        f"{name:<28}{judged['without']:>9.2f}{judged['with']:>9.2f}{gain['gain']:>+9.2f}{low:>+9.2f}{high:>+9.2f}"
        f"{gain['wins']:>5}{gain['losses']:>5}{control['paired']['gain']:>+14.2f}{dollars(careful):>10.2f}"
    )


def print_bullets(settings: Sequence[str], bullets: Sequence[str]) -> None:
    """Print the welfare with each bullet alone, and with all others."""
    nothing, everything = dollars(play_markets(FEW, settings)), dollars(play_markets(FEW, settings, *bullets))
    print(f"{'none, and all':<58}{nothing:>10.2f}{everything:>10.2f}")
    for bullet in bullets:
        remaining = [other for other in bullets if other != bullet]
        alone, others = play_markets(FEW, settings, bullet), play_markets(FEW, settings, *remaining)
        print(f"{sentence_of(bullet).partition(':')[0]:58.55}{dollars(alone):>10.2f}{dollars(others):>10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    data: Path | None = parser.parse_args().data
    start = perf_counter()
    with TemporaryDirectory() as folder:
        config = TrainConfig("market", "first", TRAIN, "101", settings=MADE)
        playbook = Path(folder) / "market.json"
        learned = learn(config, playbook=playbook)
        print(f"learned from seeds {TRAIN} of ten customers in {perf_counter() - start:.1f} s:\n")
        print("\n".join(f"- {bullet.content}" for bullet in learned.playbook))
        print_tables(playbook, [bullet.for_players for bullet in learned.playbook], data)


def print_tables(playbook: Path, bullets: Sequence[str], data: Path | None) -> None:
    """Print the worth of the playbook by population, and that of each bullet."""
    print(f"\ndollars, seeds {JUDGED}{'without':>20}{'with':>9}{'gain':>9}{'from':>9}{'to':>9}{'won':>5}{'lost':>5}"
          f"{'over control':>14}{'careful':>10}")  # fmt: skip
    print_population("ten made customers", MADE, playbook)
    print_population("forty made customers", ("customers=40",), playbook)
    print_population("ten who look for builders", (*MADE, "population=contractors"), playbook)
    public = [f"data={data / name}" for name in ("3x9", "10x30", "33x99")] if data else []
    for setting in public:
        print_population(Path(setting).name, (setting,), playbook)
    where = public[-1:] or ["customers=33"]
    print(f"\ndollars, {Path(where[0]).name}, seeds {FEW}{'it alone':>40}{'but it':>10}")
    print_bullets(where, bullets)


if __name__ == "__main__":
    main()
