"""The placebo over many shuffles, and the learner's rules against it and raw examples, on questions of JCommonsenseQA.

python bench/against.py [--data DIR]: DIR holds train-v1.3.json and valid-v1.3.json; without it the product's own
questions are used. The playbook is learned once; each shuffle gives every judged question the bullets of another one.
"""

import argparse
import asyncio
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from akinai.learning.contest.contenders import Contest
from akinai.learning.contest.controls import AssignedRetriever, placebo, shuffle_bullets
from akinai.learning.loop.evaluation import EvalResult, gain, judge
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.roles.rules import AnswerEvaluator
from akinai.runtime.learn.data_sets import find_data_set
from akinai.runtime.learn.learner import learn
from akinai.runtime.learn.settings import learn_settings

LEARNED, JUDGED, SHUFFLES = 1_000, 300, 100
MEAN_BUDGET, COVER_BUDGET = 1.0, 90
"""Points that the mean gain of the placebo may be away from 0; shuffles whose interval has to hold 0."""


def files(data: Path | None, folder: Path) -> dict[str, str]:
    """The first questions of each file."""
    if data is None:
        return {}
    for name, count in (("train-v1.3.json", LEARNED), ("valid-v1.3.json", JUDGED)):
        with (data / name).open(encoding="utf-8") as file:
            (folder / name).write_text("".join(islice(file, count)), encoding="utf-8")
    return {"data": str(folder / "train-v1.3.json"), "eval": str(folder / "valid-v1.3.json")}


async def shuffles(contest: Contest, tasks: Any, none: EvalResult) -> list[tuple[float, tuple[float, float] | None]]:
    """The placebo's gain over no playbook and its interval, by shuffle."""
    gains: list[tuple[float, tuple[float, float] | None]] = []
    learned = await placebo(contest)
    shared = contest.retriever(contest.config)  # one index for all shuffles
    for seed in range(SHUFFLES):
        retriever = AssignedRetriever(shared, shuffle_bullets(replace(contest, seed=seed)))
        result = await judge(tasks, learned.playbook, contest.roles.generator, contest.evaluator, retriever)
        paired = gain(none, result)
        gains.append((100 * (paired.difference or 0.0), paired.ci95))
    return gains


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of JCommonsenseQA's files")
    args = parser.parse_args()
    with TemporaryDirectory() as home:
        folder = Path(home)
        data_set = find_data_set("qa", {**files(args.data, folder), "extra": False})
        learned = learn(data_set, playbook=folder / "p.json", against="placebo,icl")
        document: Any = learned.to_json()
        for row in document["against"]:
            over = row["gain"] or {"gain": 0.0, "ci95": None}
            low, high = over["ci95"] or (0.0, 0.0)
            figures = f"{100 * over['gain']:>+8.1f}  {100 * low:+.1f} to {100 * high:+.1f}"
            print(f"{row['name']:<12}{row['score']:>8.1%}{figures}  {row['injected']:,.0f} tokens, n = {row['n']:,}")
        assert data_set.rules is not None
        assert learned.judged is not None
        assert learned.baseline is not None
        tasks = data_set.load("validation")
        settings = learn_settings({}, defaults=data_set.settings)
        contest = Contest(
            data_set.load("train"),
            [task.assignment for task in tasks],
            data_set.rules,
            AnswerEvaluator(data_set.check),
            settings.loop_config(uses_model=False),
            learned.playbook,
            lambda config: settings.retriever(config, data_set),
            tokens=0,
            injected=learned.judged.injected,
            injected_tokens=0.0,
            open_file=lambda name: PlaybookFile(folder / f"{name}.json"),
        )
        results = asyncio.run(shuffles(contest, tasks, learned.baseline))
    mean = sum(points for points, _ in results) / len(results)
    covered = sum(ends is None or ends[0] <= 0 <= ends[1] for _, ends in results)
    print(f"placebo over {len(results)} shuffles: mean gain {mean:+.2f} points, budget {MEAN_BUDGET:g} either way")
    print(f"intervals that hold 0: {covered} of {len(results)}, budget {COVER_BUDGET}")


if __name__ == "__main__":
    main()
