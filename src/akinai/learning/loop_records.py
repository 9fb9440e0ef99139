"""What the loop knows between two steps: a value that is written as JSON, so that a crash resumes at the step. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Literal, TypeAlias

from pydantic import TypeAdapter

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.models import Usage
from akinai.learning.deltas import BulletTag, Refusal, Tagging
from akinai.learning.roles import Curation, Evaluation, Insights, Spent, Trajectory

StepName: TypeAlias = Literal["generate", "evaluate", "reflect", "curate", "gate", "apply", "refine"]

MOST_ROUNDS = 5
RULES_BATCH = 500
"""Tasks between two checkpoints when no model is asked: a checkpoint a task would cost more than the task."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a playbook is learned. UsageError for what cannot be."""

    epochs: int = 1
    """Times that the training tasks are gone through."""
    online: bool = False
    """One pass; each batch is scored before anything is learned from it, and the scores are the result."""
    batch: int = 1
    """Tasks that are done with the same playbook and taught by one delta."""
    rounds: int = 1
    """Reflections on a failed task, 0 to 5; each is followed by a new try where `new_tries` says so."""
    new_tries: bool = True
    reflect_on_success: bool = False
    gate: bool = False
    """Keep the operations of a delta only when the held-out tasks go no worse with them."""
    dedup: bool = True
    """Merge duplicates at the end of each epoch."""
    prune: bool = False
    """Leave out what was used often and seldom right at the end of each epoch; a rollback brings it back."""
    top_k: int = 10
    """Bullets that are looked for."""
    budget_tokens: int | None = 2_000
    """Of the bullets in one context; None is no bound."""
    min_confidence: float = 0.3
    whole: bool = False
    """Give the whole playbook to every task, as ACE does."""

    def __post_init__(self) -> None:
        if not 0 <= self.rounds <= MOST_ROUNDS:
            raise UsageError(f"{self.rounds} rounds of reflection; give 0 to {MOST_ROUNDS}")
        if self.epochs < 1 or self.batch < 1 or self.top_k < 0:
            raise UsageError(
                f"{self.epochs} epochs in batches of {self.batch} with {self.top_k} bullets; "
                "give at least 1 epoch, 1 task and 0 bullets"
            )
        if self.online and self.epochs != 1:
            raise UsageError(f"online learning of {self.epochs} epochs; each task comes once there, leave epochs at 1")


@dataclass(frozen=True, slots=True)
class Try:
    """One try at a task."""

    trajectory: Trajectory
    evaluation: Evaluation | None = None
    broken: bool = False
    """The model gave no answer at all; nobody reflects on that."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One task of the batch under way."""

    task_id: str
    tries: tuple[Try, ...] = ()
    insights: tuple[Insights, ...] = ()
    """One a round."""

    @property
    def right_at_once(self) -> bool:
        """Whether the first try was right: the one that counts."""
        return bool(self.tries) and _right(self.tries[0])

    @property
    def score_at_once(self) -> float:
        """Of the first try; 0 where it has none."""
        first = self.tries[0].evaluation if self.tries else None
        return first.score if first else 0.0

    @property
    def solved(self) -> bool:
        """Whether the last try was right."""
        return bool(self.tries) and _right(self.tries[-1])

    @property
    def last(self) -> Try:
        return self.tries[-1]

    @property
    def told(self) -> tuple[Insights, ...]:
        """The insights that there are."""
        return tuple(one for one in self.insights if not one.failed)

    @property
    def spent(self) -> Spent:
        return _sum([one.trajectory.spent for one in self.tries] + [one.spent for one in self.insights])

    def wants_try(self) -> bool:
        """Whether it was not tried yet, or not since the last reflection on its failure."""
        if not self.tries:
            return True
        return not self.solved and len(self.told) >= len(self.tries)

    def wants_reflection(self, plan: Plan) -> bool:
        """Whether somebody should say why it went as it did."""
        if self.last.broken or self.last.evaluation is None:
            return False
        return len(self.insights) < plan.rounds if not self.solved else plan.reflect_on_success and not self.insights

    def with_try(self, trajectory: Trajectory, *, broken: bool) -> Attempt:
        return replace(self, tries=(*self.tries, Try(trajectory, broken=broken)))

    def judged(self, evaluation: Evaluation) -> Attempt:
        return replace(self, tries=(*self.tries[:-1], replace(self.last, evaluation=evaluation)))

    def with_insights(self, insights: Insights) -> Attempt:
        return replace(self, insights=(*self.insights, insights))

    def tagging(self, name: str) -> Tagging:
        """What its bullets did for it, each counted once: as the first that spoke of it said.

        A right first try speaks through its Generator, which names what it followed; a failure through its Reflector.
        """
        injected = tuple(dict.fromkeys(id for one in self.tries for id in one.trajectory.injected))
        said: list[BulletTag | Refusal] = [tag for one in self.insights for tag in one.tags]
        if self.right_at_once:
            said = [*(BulletTag(id, "helpful") for id in self.tries[0].trajectory.used), *said]
        return Tagging(name, injected, tuple(_first_of_each(said)))


@dataclass(frozen=True, slots=True)
class Tally:
    """What an epoch came to, task by task."""

    tasks: int = 0
    right: int = 0
    """First tries that were right."""
    failed: int = 0
    """First tries without an answer; they are among the tasks, and not right."""
    new_tries: int = 0
    righted: int = 0
    """Tasks that a new try got right."""
    learned: int = 0
    """Operations that changed the playbook."""
    refused: int = 0
    """Operations and tags that were refused."""
    given_up: int = 0
    """Reflections and curations without a readable reply."""
    gated: int = 0
    """Operations that the gate turned down."""
    injected_tokens: int = 0
    """Of the bullets in the first tries' contexts, together."""
    whole_tokens: int = 0
    """What the whole playbook in each of them would have come to."""
    spent: Spent = field(default_factory=Spent)

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, name) + getattr(other, name) for name in _COUNTS), spent=self.spent + other.spent)


_COUNTS = tuple(name for name in Tally.__dataclass_fields__ if name != "spent")


@dataclass(frozen=True, slots=True)
class EpochReport:
    """One pass over the training tasks. Every task was scored before anything was learned from it in this pass."""

    epoch: int
    tally: Tally
    playbook_size: int
    """Bullets at its end."""
    playbook_tokens: int
    improvement: float | None
    """(accuracy - that of the epoch before) / that of the epoch before; None for the first, or after one of 0."""
    points: float | None
    """The same difference in percentage points; None for the first."""

    @property
    def accuracy(self) -> float:
        """Right first tries over all tasks, failed ones included."""
        return self.tally.right / self.tally.tasks if self.tally.tasks else 0.0

    def to_json(self) -> dict[str, Json]:
        told = asdict(self.tally)
        spent = self.tally.spent
        told["spent"] = {
            "calls": spent.calls,
            "unreadable": spent.unreadable,
            "input_tokens": spent.usage.input,
            "output_tokens": spent.usage.output,
        }
        return {
            "epoch": self.epoch,
            "accuracy": self.accuracy,
            "improvement": self.improvement,
            "improvement_points": self.points,
            "playbook_size": self.playbook_size,
            "playbook_tokens": self.playbook_tokens,
            **told,
        }


@dataclass(frozen=True, slots=True)
class GateCheck:
    """What the held-out tasks said of a delta."""

    before: float
    """Their mean score without its operations."""
    after: float
    wins: int
    losses: int
    spent: Spent = field(default_factory=Spent)

    @property
    def passed(self) -> bool:
        """Not worse on the same tasks."""
        return self.after >= self.before


@dataclass(frozen=True, slots=True)
class State:
    """Where the loop stands."""

    session: str
    """Names this learning in ids of deltas, so that none is applied twice."""
    epoch: int = 1
    done: int = 0
    """Tasks of the epoch before the batch under way."""
    attempts: tuple[Attempt, ...] = ()
    curation: Curation | None = None
    gate: GateCheck | None = None
    tally: Tally = field(default_factory=Tally)
    """Of the epoch under way."""
    epochs: tuple[EpochReport, ...] = ()
    marks: str = ""
    """Of the epoch under way, in the order of its tasks: "1" for a right first try, "0" for another."""
    worth: tuple[float, ...] = ()
    """Of the same tries: their scores."""
    course: str = ""
    """The fingerprint of what is learned: another course cannot go on from here."""
    over: bool = False

    @property
    def delta_id(self) -> str:
        """Of the batch under way."""
        return f"{self.session}/{self.epoch}/{self.done}"

    def to_json(self) -> dict[str, Json]:
        return _adapter().dump_python(self, mode="json")

    @staticmethod
    def from_json(told: Json) -> State:
        return _adapter().validate_python(told)


@cache
def _adapter() -> TypeAdapter[State]:
    return TypeAdapter(State)


def _right(one: Try) -> bool:
    return one.evaluation is not None and one.evaluation.right


def _sum(all_spent: Iterable[Spent]) -> Spent:
    return sum(all_spent, Spent(usage=Usage()))


def _first_of_each(said: Iterable[BulletTag | Refusal]) -> Iterable[BulletTag | Refusal]:
    seen: set[str] = set()
    for tag in said:
        if isinstance(tag, BulletTag):
            if tag.id in seen:
                continue
            seen.add(tag.id)
        yield tag
