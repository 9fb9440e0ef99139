"""Evaluation of a playbook: tasks are attempted with it and nothing is learned; and the gain between two playbooks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from akinai.core.errors import ModelError
from akinai.core.statistics import PairedComparison, compare
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.loop.state import Attempt
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.roles.protocols import (
    Evaluator,
    Generator,
    Insights,
    ModelUsage,
    Trajectory,
    with_injected,
)
from akinai.learning.roles.tasks import Task
from akinai.together import gather_or_cancel

T = TypeVar("T")

BROKEN_IN_A_ROW = 3
"""Consecutive model errors that stop the learning; it can be resumed."""


class Breaker:
    """A circuit breaker: a model error counts as a failed call, but several in a row are raised."""

    def __init__(self, limit: int = BROKEN_IN_A_ROW) -> None:
        self._limit, self._broken = limit, 0

    async def guard(self, call: Callable[[], Awaitable[T]], fallback: Callable[[ModelError], T]) -> T:
        """The result of the call, or that of `fallback` for its ModelError. Raises the last of several in a row."""
        try:
            value = await call()
        except ModelError as error:
            self._broken += 1
            if self._broken >= self._limit:
                raise
            return fallback(error)
        self._broken = 0
        return value


async def attempt_task(
    generator: Generator,
    task: Task,
    playbook: Playbook,
    retriever: PlaybookRetriever,
    breaker: Breaker,
    reflections: Sequence[Insights] = (),
    name: str = "",
) -> Attempt:
    """One attempt at a task, not evaluated yet. The Generator sees the assignment, never the task."""
    retrieved = retriever.retrieve(playbook, task.assignment.query)
    broken = False

    def failed(error: ModelError) -> Trajectory:
        nonlocal broken
        broken = True
        return Trajectory(task.id, failed=f"the model is broken: {error}")

    assignment = replace(task.assignment, attempt=name)
    trajectory = await breaker.guard(lambda: generator.generate(assignment, retrieved, reflections), failed)
    trajectory = with_injected(trajectory, retrieved)
    tokens = retriever.injected_tokens(retrieved, trajectory.injected)
    return Attempt(trajectory, broken=broken, injected_tokens=tokens)


async def attempt_all(
    tasks: Sequence[Task],
    playbook: Playbook,
    generator: Generator,
    evaluator: Evaluator,
    retriever: PlaybookRetriever,
    name: str = "",
) -> list[Attempt]:
    """An attempt at each task. Those that have an answer are evaluated."""
    breaker = Breaker()

    async def evaluated(task: Task) -> Attempt:
        attempt = await attempt_task(generator, task, playbook, retriever, breaker, name=name)
        if attempt.trajectory.failed:
            return attempt
        return replace(attempt, evaluation=await evaluator.evaluate(task, attempt.trajectory))

    return await gather_or_cancel([evaluated(task) for task in tasks])


@dataclass(frozen=True, slots=True)
class EvalResult:
    """The scores of a playbook on tasks. Failed answers are included, with the score 0."""

    right: Mapping[str, bool]
    """By task id."""
    scores: Mapping[str, float]
    failed: int = 0
    usage: ModelUsage = field(default_factory=ModelUsage)
    injected_tokens: int = 0
    """Tokens of the bullets in all contexts, summed."""
    beside: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    """By task id, further figures of the attempt by name. Tasks without any are left out."""
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    """By task id, what was answered; empty where nothing was."""

    @property
    def accuracy(self) -> float:
        return sum(self.right.values()) / len(self.right) if self.right else 0.0

    @property
    def mean(self) -> float:
        """The mean score."""
        return sum(self.scores.values()) / len(self.scores) if self.scores else 0.0

    def figure(self, name: str) -> EvalResult:
        """The result with a figure of `beside` in place of the scores."""
        scores = {id: figures[name] for id, figures in self.beside.items() if name in figures}
        return EvalResult({id: self.right[id] for id in scores}, scores)

    def only(self, ids: Sequence[str]) -> EvalResult:
        """The result on some of the tasks, such as those that are not training tasks too."""
        beside = {id: self.beside[id] for id in ids if id in self.beside}
        return EvalResult({id: self.right[id] for id in ids}, {id: self.scores[id] for id in ids}, beside=beside)


async def judge(
    tasks: Sequence[Task],
    playbook: Playbook,
    generator: Generator,
    evaluator: Evaluator,
    retriever: PlaybookRetriever,
) -> EvalResult:
    """Attempt every task with the playbook, and learn nothing. ModelError when the model stays broken."""
    done = await attempt_all(tasks, playbook, generator, evaluator, retriever)
    attempts = dict(zip((task.id for task in tasks), done, strict=True))
    return EvalResult(
        {id: attempt.right for id, attempt in attempts.items()},
        {id: attempt.evaluation.score if attempt.evaluation else 0.0 for id, attempt in attempts.items()},
        sum(bool(attempt.trajectory.failed) for attempt in done),
        sum((attempt.trajectory.usage for attempt in done), ModelUsage()),
        sum(attempt.injected_tokens for attempt in done),
        {
            id: cast("Mapping[str, Any]", attempt.trajectory.details or {}).get("beside", {})
            for id, attempt in attempts.items()
        },
        {id: attempt.trajectory.answer for id, attempt in attempts.items()},
    )


def gain(without: EvalResult, with_playbook: EvalResult) -> PairedComparison:
    """The difference of scores on the same tasks, paired, with its interval, wins and losses."""
    return compare(without.scores, with_playbook.scores)
