"""A check that gives a part of the full mark: the table of a learning has the mean marks and their gain."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import akinai
from akinai.learning import DataSet, Grade, Task
from akinai.learning.roles.protocols import Evaluation, Insights, Roles, Trajectory
from akinai.learning.roles.rules import LessonCurator
from akinai.learning.roles.tasks import Assignment, Split
from akinai.report.tables.learned import learned_page
from akinai.report.tables.learning import scores_table

TRUTHS: dict[str, Sequence[str]] = {"train": ["a"], "validation": ["ab", "xy", "az"], "test": ["ab", "xy"]}


class AlwaysAb:
    """Answers "ab", and learns nothing."""

    async def generate(self, assignment: Assignment, *_: object) -> Trajectory:
        return Trajectory(assignment.id, "ab")

    async def reflect(self, task: Task, trajectory: Trajectory, evaluation: Evaluation, *_: object) -> Insights:
        return Insights(task.id)


def letters(truth: str, answer: str) -> Grade:
    """A quarter for the first letter."""
    return Grade(1 if answer == truth else 0.25 if answer[:1] == truth[:1] else 0)


def scores(tmp_path: Path, check: object) -> dict[str, Sequence[float]]:
    """The accuracies or marks without and with the playbook and the gain, by row, as the document's table has them."""

    def load(split: Split) -> list[Task]:
        return [Task(f"{split}-{truth}", f"Guess {split} {truth[::-1]}", truth) for truth in TRUTHS.get(split, ())]

    data_set = DataSet("letters", load, check, rules=Roles(AlwaysAb(), AlwaysAb(), LessonCurator()))  # type: ignore[arg-type]
    learned = akinai.learn(data_set, playbook=tmp_path / "p.json")
    document: Any = learned.to_json()
    console = Console(width=200)
    with console.capture() as captured:
        console.print(learned_page(document, 200, learned.sentences))
    table: Any = scores_table(document).to_json()
    heads = [table["heads"].index(head) for head in ("without a playbook", "with it", "gain")]
    rows = {row[0]: [row[at] for at in heads] for row in table["rows"]}
    assert [name for name in rows if name not in captured.get()] == []
    return rows


def test_marks_in_part_are_in_the_table_with_their_gain(tmp_path: Path) -> None:
    """One right, one wrong, one of a quarter: an accuracy of a third, a mean mark of 41.7 %; the gain is that of the mark."""
    rows = scores(tmp_path, letters)
    assert rows["accuracy on validation"] == [pytest.approx(1 / 3), pytest.approx(1 / 3), None]
    assert rows["mean mark on validation"] == [pytest.approx(5 / 12), pytest.approx(5 / 12), 0]
    assert "mean mark on test" not in rows  # all or nothing there, as the accuracy says
    assert rows["accuracy on test"] == [0.5, 0.5, 0]


def test_all_or_nothing_has_no_mean_mark(tmp_path: Path) -> None:
    """The accuracy says it all."""
    rows = scores(tmp_path, lambda truth, answer: truth == answer)
    assert rows["accuracy on validation"][2] == 0
    assert not any("mark" in name for name in rows)
