"""Roles without a model: Evaluators that check answers or several attempts, and a Curator of lessons. Pure."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from akinai.core.lessons import Lesson, split_record, with_record
from akinai.learning.playbook.bullets import Bullet, Playbook
from akinai.learning.playbook.deltas import Delta, Operation
from akinai.learning.roles.protocols import (
    Curation,
    Evaluation,
    Evaluator,
    Generator,
    Insights,
    ModelUsage,
    Retrieved,
    Trajectory,
)
from akinai.learning.roles.tasks import SEARCHING, Assignment, Check, Task, exact, grade, with_options

Merge: TypeAlias = Callable[[str, Lesson], str]
"""(a bullet as players get it, a later lesson about the same thing) -> the new bullet."""

ABOUT = "applicability_context"
"""The bullet field that holds the topic of its lesson."""


class AnswerEvaluator:
    """Compares the answer with the truth.

    `labels` are the answers that tasks choose from. Where a check looks for the truth inside an answer, one that names
    several of them, or of the task's own choices, is worth as much as one drawn by lot.
    """

    def __init__(self, check: Check, labels: Sequence[str] = ()) -> None:
        self._check, self._labels = check, labels

    async def evaluate(self, task: Task, trajectory: Trajectory) -> Evaluation:
        answer = trajectory.answer.strip()
        if getattr(self._check, "blocks", False):
            graded = await asyncio.to_thread(grade, self._check, task.truth, answer)
        elif self._check in SEARCHING:
            graded = with_options(self._check, task.truth, answer, _choices(task) or self._labels)
        else:
            graded = grade(self._check, task.truth, answer)
        right = graded.score >= 1
        partly = f", score {graded.score:.2f}" if 0 < graded.score < 1 else ""
        verdict = "" if right else f"not right{partly}: answered {answer!r:.500}"
        return Evaluation(right, graded.score, "\n".join(filter(None, (verdict, graded.report))))


def _choices(task: Task) -> tuple[str, ...]:
    match task.data:
        case {"choices": [*choices]}:
            return tuple(map(str, choices))
        case _:
            return ()


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


def replace_content(bullet: str, lesson: Lesson) -> str:
    """The merge in which the later lesson replaces the bullet."""
    return lesson.bullet


class LessonCurator:
    """Turns lessons into operations: a lesson about a new topic becomes an ADD, one about a known topic an UPDATE.

    Lessons of a batch about the same topic become one operation. Equal contents are added once. The evidence of a
    lesson that names entries are these entries of the run that is its insights' first source.
    """

    def __init__(self, merge: Merge = replace_content) -> None:
        self._merge = merge

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        topical = (bullet for bullet in playbook if ABOUT in bullet.extra)
        by_topic = {(bullet.section, str(bullet.extra[ABOUT])): bullet for bullet in topical}
        operations: dict[tuple[str, str], Operation] = {}
        for insight in insights:
            for lesson in insight.lessons:
                key = lesson.section, lesson.about or f"\0{lesson.content}"
                sources = (evidence(insight.sources[0], lesson.entries),) if lesson.entries else insight.sources
                operations[key] = self._operation(lesson, sources, operations.get(key), by_topic.get(key))
        news = tuple(operation for key, operation in operations.items() if not _is_known(operation, by_topic.get(key)))
        return Curation(Delta(operations=news, reason="lessons of the rules"))

    def _operation(
        self, lesson: Lesson, sources: tuple[str, ...], earlier: Operation | None, bullet: Bullet | None
    ) -> Operation:
        """The operation for a lesson; `earlier` is the batch's operation so far about the same topic."""
        if earlier is not None:
            content, record = split_record(self._merge(with_record(earlier.content or "", earlier.record), lesson))
            return replace(
                earlier,
                content=content,
                record=record,
                keywords=_joined(earlier.keywords, lesson.keywords),
                evidence=tuple(dict.fromkeys((*earlier.evidence, *sources))),
            )
        if bullet is not None:
            content, record = split_record(self._merge(bullet.for_players, lesson))
            keywords = _joined(bullet.keywords, lesson.keywords)
            return Operation("UPDATE", lesson.section, bullet.id, content, keywords, record=record, evidence=sources)
        details: Mapping[str, str] = {ABOUT: lesson.about} if lesson.about else {}
        return Operation(
            *("ADD", lesson.section, None, lesson.content, lesson.keywords or None, details),
            evidence=sources,
            record=lesson.record,
        )


def evidence(run: str, entries: Sequence[int]) -> str:
    """Entries of a run in the form of a bullet's source: "run#12 -> run#40"."""
    return " -> ".join(f"{run}#{entry}" for entry in entries)


def _joined(a: Sequence[str] | None, b: Sequence[str]) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys((*(a or ()), *b))) or None


def _is_known(operation: Operation, bullet: Bullet | None) -> bool:
    """Whether the bullet already has this content, record and keywords: new sources alone do not change it."""
    if bullet is None or operation.record != bullet.record:
        return False
    return operation.content == bullet.content and operation.keywords in (None, bullet.keywords)
