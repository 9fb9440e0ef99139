"""Roles without a model: the check of an answer as an Evaluator, and a world's lessons as deltas. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from akinai.core.lessons import Lesson
from akinai.learning.deltas import Delta, Operation
from akinai.learning.playbook import Bullet, Playbook
from akinai.learning.roles import Curation, Evaluation, Insights, Trajectory
from akinai.learning.tasks import Check, Task

Merge: TypeAlias = Callable[[str, Lesson], str]
"""(what the bullet says, a later lesson about the same thing) -> what the bullet says then."""

ABOUT = "applicability_context"
"""The field of a bullet that holds what its lesson is about."""


class AnswerEvaluator:
    """Compares the answer with the truth."""

    def __init__(self, check: Check) -> None:
        self._check = check

    async def evaluate(self, task: Task, trajectory: Trajectory) -> Evaluation:
        answer = trajectory.answer.strip()
        right = bool(answer) and self._check(task.truth, answer)
        return Evaluation(right, float(right), "" if right else f"answered {answer!r:.500}")


def newest(said: str, lesson: Lesson) -> str:
    """The merge that lets the later lesson replace what the bullet says."""
    return lesson.content


class LessonCurator:
    """Turns lessons into operations: one about something new is an ADD, one about the same thing an UPDATE.

    Lessons of a batch about the same thing become one operation. Equal contents are added once.
    """

    def __init__(self, merge: Merge = newest) -> None:
        self._merge = merge

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        known = {_key(bullet): bullet for bullet in playbook if ABOUT in bullet.extra}
        asked: dict[tuple[str, str], Operation] = {}
        for one in insights:
            for lesson in one.lessons:
                key = lesson.section, lesson.about or f"\0{lesson.content}"
                asked[key] = self._operation(lesson, one.sources, asked.get(key), known.get(key))
        operations = tuple(one for key, one in asked.items() if not _says_nothing_new(one, known.get(key)))
        return Curation(Delta(operations=operations, reason="lessons of the rules"))

    def _operation(
        self, lesson: Lesson, sources: tuple[str, ...], asked: Operation | None, bullet: Bullet | None
    ) -> Operation:
        """The operation for a lesson, after those of the batch before it about the same thing."""
        if asked is not None:
            return replace(
                asked,
                content=self._merge(asked.content or "", lesson),
                keywords=_joined(asked.keywords, lesson.keywords),
                evidence=tuple(dict.fromkeys((*asked.evidence, *sources))),
            )
        if bullet is not None:
            content, keywords = self._merge(bullet.content, lesson), _joined(bullet.keywords, lesson.keywords)
            return Operation("UPDATE", lesson.section, bullet.id, content, keywords, evidence=sources)
        details: Mapping[str, str] = {ABOUT: lesson.about} if lesson.about else {}
        return Operation(
            "ADD", lesson.section, None, lesson.content, lesson.keywords or None, details, evidence=sources
        )


def _key(bullet: Bullet) -> tuple[str, str]:
    return bullet.section, str(bullet.extra[ABOUT])


def _joined(a: Sequence[str] | None, b: Sequence[str]) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys((*(a or ()), *b))) or None


def _says_nothing_new(operation: Operation, bullet: Bullet | None) -> bool:
    """Whether a bullet says all of it already; then it only gets its sources longer, and is left alone."""
    if bullet is None:
        return False
    return operation.content == bullet.content and operation.keywords in (None, bullet.keywords)
