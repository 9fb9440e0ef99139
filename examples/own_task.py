"""A data set of one's own, learned without a model: capitals that are unknown at first and remembered later."""

import sys
from pathlib import Path

import akinai
from akinai.core.lessons import Lesson
from akinai.learning import DataSet, Section, Task
from akinai.learning.roles.protocols import Evaluation, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles.rules import LessonCurator
from akinai.learning.roles.tasks import Assignment

CAPITALS = {"Chad": "N'Djamena", "Fiji": "Suva", "Laos": "Vientiane", "Oman": "Muscat", "Peru": "Lima"}


class Remember:
    """Generator and Reflector: answer what a bullet says, and note what was not known."""

    async def generate(self, assignment: Assignment, retrieved: Retrieved, reflections: object = ()) -> Trajectory:
        best = next(iter(retrieved.bullets), None)
        answer = best.content.partition(" is ")[2] if best else ""
        return Trajectory(assignment.id, answer, used=(best.id,) if best else ())

    async def reflect(self, task: Task, trajectory: Trajectory, evaluation: Evaluation, *_: object) -> Insights:
        return Insights(task.id, lessons=(Lesson("capitals", f"{task.text} is {task.truth}", about=task.id),))


def load(split: str) -> list[Task]:
    return [Task(name, f"The capital of {name}", city) for name, city in CAPITALS.items()] if split == "train" else []


if __name__ == "__main__":
    rules = Roles(Remember(), Remember(), LessonCurator())
    capitals = DataSet("capitals", load, sections=(Section("capitals", "Which city it is."),), rules=rules)
    learned = akinai.learn(capitals, epochs=2, playbook=Path(*sys.argv[1:2], "capitals.json"))
    print(" then ".join(f"{epoch.accuracy:.0%}" for epoch in learned.epochs))
