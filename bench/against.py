"""Permuted bullets over many shuffles, and the learner's rules against them and raw examples, on JCommonsenseQA.

python bench/against.py [--data DIR]: DIR holds train-v1.3.json and valid-v1.3.json; without it the product's own
questions are used. The playbook is learned once; in each shuffle its bullets exchange their answers.
"""

import argparse
import asyncio
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from akinai.learning.contest.controls import permuted_control
from akinai.learning.data_sets import DataSet
from akinai.learning.loop.evaluation import EvalResult, gain, judge
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.roles.protocols import Roles
from akinai.learning.roles.rules import AnswerEvaluator
from akinai.learning.roles.tasks import Task
from akinai.runtime.learn.data_sets import find_data_set
from akinai.runtime.learn.learner import learn
from akinai.runtime.learn.settings import learn_settings

LEARNED, JUDGED, SHUFFLES = 1_000, 300, 10


def files(data: Path | None, folder: Path) -> dict[str, str]:
    """The first questions of each file."""
    if data is None:
        return {}
    for name, count in (("train-v1.3.json", LEARNED), ("valid-v1.3.json", JUDGED)):
        with (data / name).open(encoding="utf-8") as file:
            (folder / name).write_text("".join(islice(file, count)), encoding="utf-8")
    return {"data": str(folder / "train-v1.3.json"), "eval": str(folder / "valid-v1.3.json")}


async def shuffles(
    playbook: Playbook, retriever: PlaybookRetriever, roles: Roles, tasks: Sequence[Task], data_set: DataSet
) -> list[EvalResult]:
    """The results with permuted bullets, by shuffle."""
    results: list[EvalResult] = []
    for seed in range(SHUFFLES):
        control = permuted_control(playbook, retriever, seed)
        if control is not None:
            evaluator = AnswerEvaluator(data_set.check)
            results.append(await judge(tasks, control.playbook, roles.generator, evaluator, control.retriever))
    return results


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
        retriever = settings.retriever(data_set)
        results = asyncio.run(shuffles(learned.playbook, retriever, data_set.rules, tasks, data_set))
    kept = [100 * (gain(learned.baseline, result).difference or 0.0) for result in results]
    over = [gain(result, learned.judged) for result in results]
    mean = 100 * sum(paired.difference or 0.0 for paired in over) / len(over)
    above = sum(paired.ci95 is not None and paired.ci95[0] > 0 for paired in over)
    print(f"permuted over {len(results)} shuffles: gain over none {min(kept):+.1f} to {max(kept):+.1f} points")
    print(f"the playbook over them: {mean:+.1f} points on average, intervals above 0: {above} of {len(over)}")


if __name__ == "__main__":
    main()
