"""The roles of the learner and the records that pass between them. Pure; other modules implement the roles.

    Task -> Generator -> Trajectory -> Evaluator -> Evaluation -> Reflector -> Insights -> Curator -> Delta

A role is any object with the one method of its protocol. `roles.model` asks a model. Without a model the roles are a
world's own rules: a rule-based Reflector finds `Lesson`s, and `LessonCurator(merge)` in `roles.rules` turns them into
deltas, where a lesson about the same thing as a bullet updates it. A world does not import this package, so the code
that adapts its rules to these protocols is in `runtime`.

A role never raises for a bad reply: its result says `failed`. It raises ModelError when its model is broken, and EndRun
when a budget is spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias

from akinai.core.lessons import Lesson
from akinai.core.models import Usage
from akinai.learning.playbook.bullets import Bullet, Playbook
from akinai.learning.playbook.deltas import BulletTag, Delta, Refusal
from akinai.learning.roles.tasks import Assignment, Progress, Task
from akinai.learning.search.injection import Injection

RoleName: TypeAlias = Literal["generator", "reflector", "curator"]


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The model calls of a role; all 0 without a model."""

    calls: int = 0
    unreadable: int = 0
    """Replies that could not be read, whether asked again or given up."""
    tokens: Usage = field(default_factory=Usage)
    reasons: Mapping[str, int] = field(default_factory=dict[str, int])
    """The unreadable replies by the code of `UnreadableReply`, or "length"."""

    def __add__(self, other: ModelUsage) -> ModelUsage:
        return ModelUsage(
            self.calls + other.calls,
            self.unreadable + other.unreadable,
            self.tokens + other.tokens,
            added(self.reasons, other.reasons),
        )


def added(a: Mapping[str, int], b: Mapping[str, int]) -> Mapping[str, int]:
    """Counts by name, summed."""
    return {name: a.get(name, 0) + b.get(name, 0) for name in (*a, *b)} if b else a


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The bullets for a task."""

    injection: Injection
    """Their text for a prompt, and the ids that may be tagged afterwards."""
    playbook: Playbook = field(default_factory=Playbook)
    """The playbook that was searched."""

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        """The injected bullets, best first."""
        return tuple(self.playbook[id] for id in self.injection.bullet_ids)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A Generator's record of one attempt at a task."""

    task_id: str
    answer: str = ""
    """Empty without an answer, which counts as wrong."""
    reasoning: str = ""
    actions: tuple[str, ...] = ()
    """The actions, one a line, for tasks that ask for more than an answer."""
    injected: tuple[str, ...] = ()
    """Ids of the bullets in its context, best first. The loop adds those that it retrieved; a Generator that searches
    the playbook itself adds its own results."""
    used: tuple[str, ...] = ()
    """The injected bullets that the Generator says it followed: tagged helpful when the attempt was right."""
    source: str = ""
    """Where the attempt is on record, "run#1 -> run#530"; empty: the task's own source."""
    failed: str = ""
    """Why there is no answer, such as an unreadable reply or a broken model; empty when there is one."""
    details: Any = None
    """Further JSON for the Evaluator and Reflector of the same author. It is part of the checkpoint."""
    usage: ModelUsage = field(default_factory=ModelUsage)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict on an attempt."""

    right: bool
    score: float
    """1 for a right answer and 0 for a wrong one; elsewhere a world's own measure, where more is better."""
    report: str = ""
    """The output of the check, for the Reflector: a test's output, findings and scores."""
    mixed: bool = False
    """Whether several attempts were compared and differed, which is worth a reflection even if the first was right."""


@dataclass(frozen=True, slots=True)
class Insights:
    """A Reflector's conclusions from one attempt."""

    task_id: str
    reasoning: str = ""
    error_identification: str = ""
    root_cause_analysis: str = ""
    correct_approach: str = ""
    key_insight: str = ""
    tags: tuple[BulletTag | Refusal, ...] = ()
    """Only injected bullets can be tagged; other tags are refused when the delta is applied."""
    lessons: tuple[Lesson, ...] = ()
    """The lessons of a rule-based Reflector, for `LessonCurator`; a model's Reflector gives texts alone."""
    sources: tuple[str, ...] = ()
    """Evidence for what is learned, "run#seq -> run#seq"; the loop fills in the task's source where there is none."""
    task_text: str = ""
    """The task in words, for the Curator; the loop fills it in."""
    progress: Progress | None = None
    """The position of the task in the training; the loop fills it in."""
    failed: str = ""
    """Why there are no insights: replies that could not be read."""
    usage: ModelUsage = field(default_factory=ModelUsage)


@dataclass(frozen=True, slots=True)
class Curation:
    """The changes that a Curator asks for."""

    delta: Delta
    """Operations and their reason; the loop adds the id, the taggings and the evidence."""
    failed: str = ""
    usage: ModelUsage = field(default_factory=ModelUsage)
    asked_again: int = 0
    """Operations that were nearly right, and were asked for once more."""


class Generator(Protocol):
    """Attempts a task with bullets in its context."""

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        """One attempt. `reflections` are those on earlier attempts at this task, oldest first; they are empty at the
        first attempt, which is the one that counts for accuracy."""
        ...


class Evaluator(Protocol):
    """Decides whether an attempt was right."""

    async def evaluate(self, task: Task, trajectory: Trajectory) -> Evaluation: ...


class Reflector(Protocol):
    """Explains why an attempt went as it did. It only sees training tasks."""

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        retrieved: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        """Insights from one attempt. `earlier` are those of the previous rounds on the same task."""
        ...


class Curator(Protocol):
    """Turns insights into operations on the playbook."""

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        """One delta for the insights of a batch of tasks."""
        ...


@dataclass(frozen=True, slots=True)
class Roles:
    """The three roles of a learning."""

    generator: Generator
    reflector: Reflector
    curator: Curator
    label: str = "rules"
    """For reports: "rules", or the model's name."""
    uses_model: bool = False
    """Whether a model is asked: then a batch is one task, and a failed task is attempted again after reflections."""


def with_injected(trajectory: Trajectory, retrieved: Retrieved) -> Trajectory:
    """The trajectory with the ids of all retrieved bullets, the Generator's own included. Only these count as used."""
    own = (id for id in trajectory.injected if id in retrieved.playbook)
    injected = tuple(dict.fromkeys((*retrieved.injection.bullet_ids, *own)))
    allowed = frozenset(injected)
    used = tuple(id for id in dict.fromkeys(trajectory.used) if id in allowed)
    return replace(trajectory, injected=injected, used=used)
