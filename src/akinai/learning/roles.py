"""The roles of the learner and what passes between them. Pure: who fills a role is another file's business.

    Task -> Generator -> Trajectory -> Evaluator -> Evaluation -> Reflector -> Insights -> Curator -> Delta

A role is any object with the one method of its protocol. With a model they are `roles_by_model`; without one they are a
world's own rules, put together as `Roles`. `LessonCurator(merge)` in `roles_by_rules` turns a world's `Lesson`s into
deltas, so a rule-based Reflector has only to find lessons: one about the same thing as a bullet updates it, and
`merge(old content, lesson)` says how. A world knows nothing of this room, so what puts its rules into these protocols
stands in `runtime`.

A role never raises for a bad reply: it says `failed`. It raises `ModelError` when its model is broken, and EndRun when
a budget is spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from akinai.core.lessons import Lesson
from akinai.core.models import Usage
from akinai.learning.deltas import BulletTag, Delta, Refusal
from akinai.learning.index import SearchResult
from akinai.learning.injection import Injection
from akinai.learning.playbook import Bullet, Playbook
from akinai.learning.tasks import Assignment, Task


@dataclass(frozen=True, slots=True)
class Spent:
    """What a role used; all 0 without a model."""

    calls: int = 0
    unreadable: int = 0
    """Replies that could not be read: asked again, or given up."""
    usage: Usage = field(default_factory=Usage)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.calls + other.calls, self.unreadable + other.unreadable, self.usage + other.usage)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The bullets that a task is given."""

    injection: Injection
    """Their text for a prompt, and the ids that may be tagged afterwards."""
    results: tuple[SearchResult, ...] = ()
    """All that were found with their scores, best first, for players that weigh them; empty when the whole playbook is
    given. One that did not fit the budget is here and not in the injection."""
    playbook: Playbook = field(default_factory=Playbook)
    """The playbook that was asked."""

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        """The bullets of the injection, best first."""
        return tuple(self.playbook[id] for id in self.injection.bullet_ids)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One try at a task, as the Generator left it."""

    task_id: str
    answer: str = ""
    """Empty where there is none; it counts as wrong."""
    reasoning: str = ""
    actions: tuple[str, ...] = ()
    """What was done, for tasks that are more than an answer: an action a line."""
    injected: tuple[str, ...] = ()
    """Ids of the bullets in its context, best first; the loop fills in what it gave. A Generator that looks into the
    playbook by itself names those that it found."""
    used: tuple[str, ...] = ()
    """Of those, the ones that it says it followed: tagged helpful when the try was right."""
    source: str = ""
    """Where it is on record, "run#1 -> run#530"; empty: the task's own source."""
    failed: str = ""
    """Why there is no answer: an unreadable reply, a broken model; empty when there is one."""
    details: Any = None
    """Whatever the Evaluator and the Reflector of the same maker need beside it; JSON, since it is checkpointed."""
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a try was worth."""

    right: bool
    score: float
    """1 for a right answer and 0 for a wrong one; a world's own measure elsewhere, more is better."""
    report: str = ""
    """What the check found, for the Reflector: a test's output, findings and scores."""


@dataclass(frozen=True, slots=True)
class Insights:
    """What a Reflector makes of one try."""

    task_id: str
    reasoning: str = ""
    error_identification: str = ""
    root_cause_analysis: str = ""
    correct_approach: str = ""
    key_insight: str = ""
    tags: tuple[BulletTag | Refusal, ...] = ()
    """Only bullets that were injected can be tagged; others are refused when the delta is applied."""
    lessons: tuple[Lesson, ...] = ()
    """A rule-based Reflector's findings, for `LessonCurator`; a model's Reflector gives texts alone."""
    sources: tuple[str, ...] = ()
    """Evidence for what is learned: "run#seq -> run#seq"; the loop fills in the task's source where there is none."""
    failed: str = ""
    """Why there are none: replies that could not be read."""
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class Curation:
    """What a Curator asks of the playbook."""

    delta: Delta
    """Operations and their reason; the loop gives it its id, its taggings and its evidence."""
    failed: str = ""
    spent: Spent = field(default_factory=Spent)


class Generator(Protocol):
    """Does a task with bullets in its context."""

    async def generate(
        self, assignment: Assignment, given: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        """One try. `reflections` are those on its earlier tries at this task, oldest first; empty at the first, which
        is the one that counts for accuracy."""
        ...


class Evaluator(Protocol):
    """Says whether a try was right."""

    async def evaluate(self, task: Task, trajectory: Trajectory) -> Evaluation: ...


class Reflector(Protocol):
    """Says why a try went as it did. It is shown training tasks alone."""

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        given: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        """Insights from one try. `earlier` are those of the rounds before, on the same task."""
        ...


class Curator(Protocol):
    """Turns insights into operations on the playbook."""

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        """One delta for a batch of insights, of one task or of several."""
        ...


@dataclass(frozen=True, slots=True)
class Roles:
    """Who generates, reflects and curates."""

    generator: Generator
    reflector: Reflector
    curator: Curator
    label: str = "rules"
    """For reports: "rules", or the model's name."""
    thinks: bool = False
    """Whether a model is asked: then a batch is one task and a failure is tried anew after each reflection."""


def with_injected(trajectory: Trajectory, given: Retrieved) -> Trajectory:
    """The trajectory with what it was given, or found in the playbook; it cannot have used anything else."""
    found = (id for id in trajectory.injected if id in given.playbook)
    injected = tuple(dict.fromkeys((*given.injection.bullet_ids, *found)))
    known = frozenset(injected)
    return replace(
        trajectory, injected=injected, used=tuple(id for id in dict.fromkeys(trajectory.used) if id in known)
    )
