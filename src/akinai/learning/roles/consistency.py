"""Several attempts at a task: they are judged by their agreement, without the right answer, or by contrast. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from akinai.learning.roles.protocols import (
    Evaluation,
    Evaluator,
    Generator,
    Insights,
    ModelUsage,
    Retrieved,
    Trajectory,
)
from akinai.learning.roles.tasks import Assignment, Task, exact

ANSWERS = "answers"
"""The key of a trajectory's details that holds the answers of all attempts."""


@dataclass(frozen=True)
class RepeatedGenerator:
    """Attempts a training task several times. The trajectory is the first attempt's; its details hold all answers."""

    generator: Generator
    tries: int

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        if not assignment.attempt:
            return await self.generator.generate(assignment, retrieved, reflections)
        trajectories = [await self.generator.generate(assignment, retrieved, reflections) for _ in range(self.tries)]
        first = next((trajectory for trajectory in trajectories if not trajectory.failed), trajectories[0])
        usage = sum((trajectory.usage for trajectory in trajectories), ModelUsage())
        answers = [trajectory.answer for trajectory in trajectories if not trajectory.failed]
        return replace(first, details={ANSWERS: answers}, usage=usage)


def _answers(trajectory: Trajectory) -> list[str] | None:
    """The answers of all attempts; None for a single attempt, which judges a playbook."""
    return cast("Mapping[str, list[str]]", trajectory.details or {}).get(ANSWERS)


@dataclass(frozen=True)
class AgreementEvaluator:
    """Counts a training attempt as right when over half of all attempts gave its answer. It never reads the truth.

    Attempts that judge a playbook are left to `judge`.
    """

    judge: Evaluator

    async def evaluate(self, task: Task, trajectory: Trajectory) -> Evaluation:
        answers = _answers(trajectory)
        if answers is None:
            return await self.judge.evaluate(task, trajectory)
        counts: Counter[str] = Counter()
        for answer in answers:
            counts[next((counted for counted in counts if exact(counted, answer)), answer)] += 1
        agreeing = sum(exact(trajectory.answer, answer) for answer in answers)
        named = ", ".join(f"{answer!r:.100} {count} times" for answer, count in counts.most_common())
        report = f"{len(answers)} attempts answered {named}; whether any is right is not known"
        return Evaluation(2 * agreeing > len(answers), agreeing / len(answers), report)


@dataclass(frozen=True)
class ContrastEvaluator:
    """Checks all attempts at a training task; the report sets them side by side for the Reflector.

    The verdict is that of the first attempt. Attempts that judge a playbook are left to `judge`.
    """

    judge: Evaluator

    async def evaluate(self, task: Task, trajectory: Trajectory) -> Evaluation:
        verdict = await self.judge.evaluate(task, trajectory)
        answers = _answers(trajectory)
        if answers is None:
            return verdict
        attempts = [replace(trajectory, answer=answer, details=None) for answer in answers]
        evaluations = [await self.judge.evaluate(task, attempt) for attempt in attempts]
        verdicts = [f"{'right' if checked.right else 'wrong'}, {checked.score:g}" for checked in evaluations]
        lines = [
            f"attempt {number} answered {attempt.answer!r:.200}: {verdict}"
            for number, (attempt, verdict) in enumerate(zip(attempts, verdicts, strict=True), 1)
        ]
        mixed = len({evaluation.score for evaluation in evaluations}) > 1
        return replace(verdict, report="\n".join(filter(None, (verdict.report, *lines))), mixed=mixed)
