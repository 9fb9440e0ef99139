"""Judging: answers to tasks with a playbook and nothing learned from them; and what two playbooks differ by."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from akinai.core.canonical import Json
from akinai.core.errors import ModelError
from akinai.core.statistics import Comparison, compare, proportion_interval
from akinai.learning.loop_shelf import Shelf
from akinai.learning.playbook import Playbook
from akinai.learning.roles import Evaluator, Generator, Insights, Retrieved, Spent, Trajectory, with_injected
from akinai.learning.tasks import Task

T = TypeVar("T")

BROKEN_IN_A_ROW = 3
"""Calls of a model that break one after the other before the learning stops; it can be resumed."""


class Breaker:
    """Lets a broken call pass as a failed one, but not several in a row."""

    def __init__(self, limit: int = BROKEN_IN_A_ROW) -> None:
        self._limit, self._broken = limit, 0

    async def guard(self, call: Callable[[], Awaitable[T]], broken: Callable[[ModelError], T]) -> T:
        """What the call gives, or what `broken` makes of its ModelError; the last of several in a row is raised."""
        try:
            value = await call()
        except ModelError as error:
            self._broken += 1
            if self._broken >= self._limit:
                raise
            return broken(error)
        self._broken = 0
        return value


async def answered(
    generator: Generator,
    task: Task,
    given: Retrieved,
    breaker: Breaker,
    reflections: Sequence[Insights] = (),
    attempt: str = "",
) -> tuple[Trajectory, bool]:
    """A try at a task, and whether the model broke over it. The Generator sees the assignment, never the task."""
    broken = False

    def failed(error: ModelError) -> Trajectory:
        nonlocal broken
        broken = True
        return Trajectory(task.id, failed=f"the model is broken: {error}")

    assignment = replace(task.assignment, attempt=attempt)
    trajectory = await breaker.guard(lambda: generator.generate(assignment, given, reflections), failed)
    return with_injected(trajectory, given), broken


async def side_by_side(calls: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in their order; the first error ends the calls that are still under way."""
    if len(calls) == 1:
        return [await calls[0]]
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a playbook did on some tasks. Failed answers are among them, with the score 0."""

    right: Mapping[str, bool]
    """By task."""
    scores: Mapping[str, float]
    failed: int = 0
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    spent: Spent = field(default_factory=Spent)
    injected_tokens: int = 0
    """Of the bullets in the tasks' contexts, together."""

    @property
    def accuracy(self) -> float:
        return sum(self.right.values()) / len(self.right) if self.right else 0.0

    @property
    def mean(self) -> float:
        """Of the scores."""
        return sum(self.scores.values()) / len(self.scores) if self.scores else 0.0

    def only(self, ids: Sequence[str]) -> Judgement:
        """The part of it on some of the tasks, such as those that do not stand in the training tasks too."""
        return Judgement({id: self.right[id] for id in ids}, {id: self.scores[id] for id in ids})

    def to_json(self) -> dict[str, Json]:
        right = sum(self.right.values())
        return {
            "tasks": len(self.right),
            "right": right,
            "failed": self.failed,
            "accuracy": self.accuracy,
            "accuracy_ci95": list(proportion_interval(right, len(self.right))),
            "mean_score": self.mean,
            "injected_tokens": self.injected_tokens,
            "input_tokens": self.spent.usage.input,
            "output_tokens": self.spent.usage.output,
        }


async def judge(
    tasks: Sequence[Task],
    playbook: Playbook,
    generator: Generator,
    evaluator: Evaluator,
    shelf: Shelf,
    breaker: Breaker | None = None,
) -> Judgement:
    """Answer every task with the playbook, and learn nothing. ModelError when the model stays broken."""
    guard = breaker or Breaker()

    injected_tokens = 0

    async def one(task: Task) -> tuple[Trajectory, bool, float]:
        nonlocal injected_tokens
        given = shelf.retrieve(playbook, task.assignment.query)
        trajectory, _ = await answered(generator, task, given, guard)
        injected_tokens += shelf.tokens_of(given, trajectory.injected)
        if trajectory.failed:
            return trajectory, False, 0.0
        evaluation = await evaluator.evaluate(task, trajectory)
        return trajectory, evaluation.right, evaluation.score

    found = dict(zip((task.id for task in tasks), await side_by_side([one(task) for task in tasks]), strict=True))
    return Judgement(
        {id: right for id, (_, right, _) in found.items()},
        {id: score for id, (_, _, score) in found.items()},
        sum(bool(trajectory.failed) for trajectory, _, _ in found.values()),
        {id: trajectory.answer for id, (trajectory, _, _) in found.items()},
        sum((trajectory.spent for trajectory, _, _ in found.values()), Spent()),
        injected_tokens,
    )


def gain(without: Judgement, with_it: Judgement) -> Comparison:
    """What the playbook did for the same tasks, paired: difference of the scores with its interval, wins and losses."""
    return compare(without.scores, with_it.scores)
