"""A check that gives a part of the full mark: the table of a learning has the mean marks and their gain."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

import akinai
from akinai.learning import DataSet, Grade, Task
from akinai.learning.roles.protocols import Evaluation, Insights, Roles, Trajectory
from akinai.learning.roles.rules import LessonCurator
from akinai.learning.roles.tasks import Assignment, Split
from akinai.report.tables.learned import learned_page

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


def table(tmp_path: Path, check: object) -> dict[str, str]:
    def load(split: Split) -> list[Task]:
        return [Task(f"{split}-{truth}", f"Guess {split} {truth[::-1]}", truth) for truth in TRUTHS.get(split, ())]

    data_set = DataSet("letters", load, check, rules=Roles(AlwaysAb(), AlwaysAb(), LessonCurator()))  # type: ignore[arg-type]
    learned = akinai.learn(data_set, playbook=tmp_path / "p.json")
    console = Console(width=200)
    with console.capture() as captured:
        console.print(learned_page(learned.to_json(), 200, learned.sentences))
    rows = [line.rsplit("  ", 2) for line in captured.get().splitlines()]
    return {row[0].strip(): " ".join(row[1:]).strip() for row in rows if len(row) > 1}


def test_marks_in_part_are_in_the_table_with_their_gain(tmp_path: Path) -> None:
    """One right, one wrong, one of a quarter: an accuracy of a third, a mean mark of 41.7 %; the gain is that of the mark."""
    rows = {name.partition("  ")[0]: name + text for name, text in table(tmp_path, letters).items()}
    assert "33.3%" in rows["accuracy with the playbook (n = 3)"]
    for when in "without a playbook", "with the playbook":
        assert "41.7%" in rows[f"mean mark {when}"]
        assert f"mean mark on test {when}" not in rows  # all or nothing there, as the accuracy says
    assert "+0.0" in rows["gain of the mean mark in points, task by task"]
    assert "gain on test in points" in rows


def test_all_or_nothing_has_no_mean_mark(tmp_path: Path) -> None:
    """The accuracy says it all."""
    rows = " ".join(table(tmp_path, lambda truth, answer: truth == answer))
    assert "gain in points, task by task" in rows
    assert "mark" not in rows
