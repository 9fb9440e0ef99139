"""The state of the loop between two steps. It is written as JSON, so that after a crash the step is resumed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from akinai.core.canonical import Json, JsonRecord
from akinai.core.errors import UsageError
from akinai.learning.playbook.deltas import BulletTag, Refusal, Tagging
from akinai.learning.roles.protocols import Curation, Evaluation, Insights, ModelUsage, Trajectory, added

StepName: TypeAlias = Literal["generate", "evaluate", "reflect", "curate", "gate", "apply", "refine", "select"]

MOST_ROUNDS = 5
RULES_BATCH = 500
"""Tasks between two checkpoints when no model is asked: a checkpoint for each task would cost more than the task."""


class LoopConfig(BaseModel):
    """Settings of the loop. A checkpoint is resumed under equal ones alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int = Field(default=1, ge=1)
    """Passes over the training tasks."""
    online: bool = False
    """One pass; each batch is scored before anything is learned from it, and those scores are the result."""
    batch: int = Field(default=0, ge=0)
    """Tasks that see the same playbook and are taught by one delta; 0: one with a model, 500 without."""
    rounds: int = Field(default=1, ge=0, le=MOST_ROUNDS)
    """Reflections on a failed task; with `new_tries` each is followed by another attempt."""
    new_tries: bool | None = None
    """Whether a failed task is attempted again after a reflection; None: with a model."""
    reflect_on_success: bool = False
    gate: bool = False
    """Keep the operations of a delta only if the held-out tasks score no worse with them."""
    dedup: bool = True
    """Merge duplicates at the end of each epoch."""
    prune: bool = False
    """Remove bullets that were used often and seldom right at the end of each epoch; a rollback restores them. Off by
    default: `akinai playbook prune` shows first what it would remove."""
    top_k: int = Field(default=10, ge=0)
    """Bullets to search for."""
    budget_tokens: int = Field(default=2_000, ge=0)
    """Limit on the bullets in one context; 0 is no limit."""
    min_confidence: float = Field(default=0.3, ge=0, le=1)
    whole: bool = False
    """Give the whole playbook to every task, as ACE does."""
    no_truth: bool = False
    """Whether Reflector and Curator learn without right answers; a model has to reflect."""
    keep_best: bool = False
    """End with the playbook that does best on the held-out tasks, judged as it grows."""
    select_every: int = Field(default=0, ge=0)
    """Number of tasks after which the playbook is judged within an epoch too; 0: after each epoch alone."""
    patience: int = Field(default=0, ge=0)
    """Judgements in a row without a better playbook that end the learning; 0: none do."""

    @model_validator(mode="after")
    def _passes_once_online(self) -> Self:
        if self.online and self.epochs != 1:
            raise UsageError(f"online learning of {self.epochs} epochs; each task comes once there, leave epochs at 1")
        return self

    def for_roles(self, *, uses_model: bool) -> Self:
        """The settings with the batch and the new tries that suit roles which ask a model, or do not."""
        new_tries = uses_model if self.new_tries is None else self.new_tries
        return self.model_copy(
            update={"batch": self.batch or (1 if uses_model else RULES_BATCH), "new_tries": new_tries}
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a task."""

    trajectory: Trajectory
    evaluation: Evaluation | None = None
    broken: bool = False
    """The model gave no answer at all; nobody reflects on that."""
    injected_tokens: int = 0
    """Tokens of the bullets in its context."""

    @property
    def right(self) -> bool:
        return self.evaluation is not None and self.evaluation.right


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """A task of the current batch: its attempts, and one set of insights for each round of reflection."""

    task_id: str
    attempts: tuple[Attempt, ...] = ()
    insights: tuple[Insights, ...] = ()

    @property
    def first_right(self) -> bool:
        """Whether the first attempt, which is the one that counts, was right."""
        return bool(self.attempts) and self.attempts[0].right

    @property
    def first_score(self) -> float:
        """The score of the first attempt; 0 without one."""
        first = self.attempts[0].evaluation if self.attempts else None
        return first.score if first else 0.0

    @property
    def solved(self) -> bool:
        """Whether the last attempt was right."""
        return bool(self.attempts) and self.last.right

    @property
    def last(self) -> Attempt:
        return self.attempts[-1]

    @property
    def readable_insights(self) -> tuple[Insights, ...]:
        return tuple(insights for insights in self.insights if not insights.failed)

    @property
    def usage(self) -> ModelUsage:
        attempts = (attempt.trajectory.usage for attempt in self.attempts)
        return sum((insights.usage for insights in self.insights), sum(attempts, ModelUsage()))

    def wants_attempt(self) -> bool:
        """Whether the task has not been attempted yet, or not since the last reflection on its failure."""
        if not self.attempts:
            return True
        return not self.solved and len(self.readable_insights) >= len(self.attempts)

    def wants_reflection(self, config: LoopConfig) -> bool:
        if self.last.broken or self.last.evaluation is None:
            return False
        if self.solved:
            return (config.reflect_on_success or self.last.evaluation.mixed) and not self.insights
        return len(self.insights) < config.rounds

    def with_evaluation(self, evaluation: Evaluation) -> TaskProgress:
        return replace(self, attempts=(*self.attempts[:-1], replace(self.last, evaluation=evaluation)))

    def tagging(self, name: str) -> Tagging:
        """The task's verdict on its bullets. Each bullet counts once, with its first tag.

        After a right first attempt the bullets that the Generator says it followed are helpful; the other tags are the
        Reflector's.
        """
        injected = tuple(dict.fromkeys(id for attempt in self.attempts for id in attempt.trajectory.injected))
        tags: list[BulletTag | Refusal] = [tag for insights in self.insights for tag in insights.tags]
        if self.first_right:
            tags = [*(BulletTag(id, "helpful") for id in self.attempts[0].trajectory.used), *tags]
        first: dict[str | int, BulletTag | Refusal] = {}
        for number, tag in enumerate(tags):
            first.setdefault(tag.id if isinstance(tag, BulletTag) else number, tag)
        return Tagging(name, injected, tuple(first.values()))


@dataclass(frozen=True, slots=True)
class EpochCounts:
    """Counts over the tasks of an epoch."""

    tasks: int = 0
    right: int = 0
    """First attempts that were right."""
    failed: int = 0
    """First attempts without an answer. They count among the tasks, and as wrong."""
    applied: int = 0
    """Operations that changed the playbook."""
    refusals: Mapping[str, int] = field(default_factory=dict[str, int])
    """Operations and tags that were refused, by the code of the refusal."""
    asked_again: int = 0
    """Operations that were nearly right, and were asked for once more."""
    given_up: int = 0
    """Reflections and curations without a readable reply."""
    gated: int = 0
    """Operations that the gate rejected."""
    injected_tokens: int = 0
    """Tokens of the bullets in the contexts of the first attempts, summed."""
    whole_tokens: int = 0
    """Tokens that the whole playbook would have taken in those contexts."""
    usage: ModelUsage = field(default_factory=ModelUsage)

    def __add__(self, other: EpochCounts) -> EpochCounts:
        counts = (getattr(self, name) + getattr(other, name) for name in _COUNTS)
        return EpochCounts(
            **dict(zip(_COUNTS, counts, strict=True)),
            refusals=added(self.refusals, other.refusals),
            usage=self.usage + other.usage,
        )


_COUNTS = tuple(name for name in EpochCounts.__dataclass_fields__ if name not in ("usage", "refusals"))


@dataclass(frozen=True, slots=True)
class EpochReport:
    """One pass over the training tasks. Each task is scored before this pass learns anything from it."""

    epoch: int
    counts: EpochCounts
    before: float | None = None
    """The accuracy of the epoch before; None for the first."""

    @property
    def accuracy(self) -> float:
        """Right first attempts over all tasks, failed ones included."""
        return self.counts.right / self.counts.tasks if self.counts.tasks else 0.0

    @property
    def points(self) -> float | None:
        """The difference from the epoch before, in percentage points."""
        return None if self.before is None else 100 * (self.accuracy - self.before)

    @property
    def improvement(self) -> float | None:
        """The same as a share of the accuracy before; None after one of 0 too."""
        return (self.accuracy - self.before) / self.before if self.before else None


@dataclass(frozen=True, slots=True)
class GateCheck:
    """How the held-out tasks scored without and with the operations of a delta."""

    before: float
    """Mean score without the operations."""
    after: float
    usage: ModelUsage = field(default_factory=ModelUsage)

    @property
    def passed(self) -> bool:
        """Whether the mean score is no worse on the same tasks."""
        return self.after >= self.before


@dataclass(frozen=True, slots=True)
class HeldOutScores:
    """The scores of the held-out tasks with a playbook, kept so that the same playbook is not judged again."""

    digest: str
    """The digest of its bullets' ids and texts; counters do not matter."""
    scores: Mapping[str, float]
    """By task id."""

    @property
    def mean(self) -> float:
        return sum(self.scores.values()) / len(self.scores) if self.scores else 0.0


@dataclass(frozen=True, slots=True)
class Selected:
    """A judgement of the playbook on the held-out tasks during a learning."""

    point: int
    """The last change in the playbook's journal."""
    epoch: int
    """0: before anything was learned."""
    tasks: int
    """Tasks of that epoch that were learned from."""
    score: float
    """Mean score."""
    usage: ModelUsage = field(default_factory=ModelUsage)


@dataclass(frozen=True, slots=True)
class Beginning(JsonRecord):
    """The playbook that a learning began with."""

    bullets: int = 0
    sources: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number of bullets by file or run that they were learned from, by name; "" for bullets without a source."""
    unrecorded: int = 0
    """Bullets whose tasks are not recorded."""
    seen: tuple[str, ...] = ()
    """Ids of the training tasks that had been learned from before."""
    migrated: int = 0
    """Bullets of an earlier release that got the record of their sentence."""


@dataclass(frozen=True, slots=True)
class LoopState:
    """The checkpoint of a learning."""

    learning_id: str
    """Begins the ids of this learning's deltas, so that none is applied twice."""
    epoch: int = 1
    done: int = 0
    """Tasks of the epoch before the current batch."""
    batch: tuple[TaskProgress, ...] = ()
    """The tasks of the current batch; empty before its first step."""
    curation: Curation | None = None
    gate: GateCheck | None = None
    counts: EpochCounts = field(default_factory=EpochCounts)
    """Those of the current epoch."""
    epochs: tuple[EpochReport, ...] = ()
    first_right: tuple[bool, ...] = ()
    """Whether the first attempt was right, for each finished task of the current epoch in order."""
    first_scores: tuple[float, ...] = ()
    """The scores of the same attempts."""
    began: Beginning = field(default_factory=Beginning)
    judged: HeldOutScores | None = None
    """The scores of the playbook that the held-out tasks judged last."""
    selected: tuple[Selected, ...] = ()
    """All judgements of the growing playbook, the beginning's first."""
    epoch_closed: bool = False
    """Whether the epoch was just closed, rather than judged on its way."""
    stopping: bool = False
    """Whether patience ran out: the epoch is closed and the learning ends."""
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON that the job's own nodes keep."""
    fingerprint: str = ""
    """Identifies the job: a state of another job is not resumed."""
    over: bool = False
    closed: bool = False
    """Whether the learning was judged too, so that the next one on its thread begins anew."""

    @property
    def best(self) -> Selected | None:
        """The first of the best judgements."""
        return max(self.selected, key=lambda selected: selected.score, default=None)

    @property
    def usage(self) -> ModelUsage:
        """The model calls so far."""
        epochs = sum((epoch.counts.usage for epoch in self.epochs), self.counts.usage)
        return sum((selected.usage for selected in self.selected), epochs)

    @property
    def delta_id(self) -> str:
        """The id of the current batch's delta."""
        return f"{self.learning_id}/{self.epoch}/{self.done}"

    def to_json(self) -> dict[str, Json]:
        return _adapter().dump_python(self, mode="json")

    @staticmethod
    def from_json(value: Json) -> LoopState:
        return _adapter().validate_python(value)


@cache
def _adapter() -> TypeAdapter[LoopState]:
    return TypeAdapter(LoopState)
