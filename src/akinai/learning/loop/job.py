"""A job of the loop: its tasks, roles, playbook and steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, get_args

from akinai.core.canonical import bad_text, short_digest
from akinai.core.errors import UnknownName, UsageError
from akinai.learning.loop.evaluation import Breaker
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.loop.state import Beginning, LoopConfig, LoopState, StepName
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.roles.protocols import Evaluator, Roles
from akinai.learning.roles.tasks import Task
from akinai.learning.search.dedup import Refiner
from akinai.learning.search.embedders import EmbedderFitter
from akinai.retrieval import Embedder

Step: TypeAlias = "Callable[[Job, LoopState], Awaitable[LoopState]]"
Watch: TypeAlias = Callable[[str, LoopState], None]
"""Called with each step and the state after it."""


@dataclass(frozen=True, slots=True)
class Node:
    """A step that a caller adds. It runs whenever the step `after` is done; then the loop goes on as after that step.

    Its function maps a state to the next, and may keep JSON in the state's `notes`. Repeating it after a crash has to
    be harmless.
    """

    name: str
    step: Step
    after: str
    """A step of the loop, or another node."""
    route: Callable[[Job, LoopState], str | None] | None = None
    """Returns the step of `may_go_to` to go to instead, or None to go on as usual."""
    may_go_to: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """The tasks, the roles that learn from them, and the playbook. UsageError for task ids that cannot be used.

    Only the gate and the selection of the best attempt the held-out tasks: no Reflector or Curator ever sees one.
    """

    train: Sequence[Task]
    roles: Roles
    evaluator: Evaluator
    playbook: PlaybookFile
    retriever: PlaybookRetriever
    config: LoopConfig = field(default_factory=LoopConfig)
    held_out: Sequence[Task] = ()
    breaker: Breaker = field(default_factory=Breaker)
    began: Beginning = field(default_factory=Beginning)
    """The playbook before this learning, for a state that is new."""
    embedder: Embedder | EmbedderFitter | None = None
    """Finds near duplicates; None: words and pairs of words."""
    refiners: Sequence[Refiner] = ()
    """Change the playbook at the end of each epoch, after `dedup` and `prune` of the config."""
    nodes: Sequence[Node] = ()
    """Steps that the caller adds."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "config", self.config.for_roles(uses_model=self.roles.uses_model))
        check_ids(self.train)
        check_ids(self.held_out)
        _check_nodes(self.nodes)
        asks_held_out = self.config.gate or self.config.keep_best
        if asks_held_out and not self.held_out:
            feature = "the gate" if self.config.gate else "the best playbook"
            raise UsageError(f"{feature} was asked for and there are no held-out tasks; name some, or leave it out")
        if asks_held_out and (shared := {task.id for task in self.train} & {task.id for task in self.held_out}):
            raise UsageError(f"task {min(shared)!r} is both trained on and held out; let it be one of them")

    @cached_property
    def by_id(self) -> Mapping[str, Task]:
        return {task.id: task for task in self.train}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the tasks, the config and the roles' label; a state is resumed only where it is the same."""
        nodes = [[node.name, node.after] for node in self.nodes]
        tasks = [[task.id, task.text, task.truth] for task in self.train]
        config = self.config.model_dump(include=set(LoopConfig.model_fields))
        parts = [config, self.roles.label, *([nodes] if nodes else []), tasks]
        return short_digest(parts)

    def batch(self, state: LoopState) -> Sequence[Task]:
        """The tasks of the current batch."""
        return self.train[state.done : state.done + self.config.batch]


def check_ids(tasks: Sequence[Task]) -> None:
    """UsageError unless every task has an id of its own that a playbook's journal can hold."""
    counts = Counter(task.id for task in tasks)
    for id, count in counts.items():
        if count > 1 or not id or bad_text(id):
            why = f"stands {count} times" if count > 1 else (bad_text(id) or "is empty")
            raise UsageError(f"the task id {id[:100]!r} {why}; give each task an id of its own")


def _check_nodes(nodes: Sequence[Node]) -> None:
    """UsageError unless every node has a name of its own and a step before it that no other node follows."""
    names: list[str] = [*get_args(StepName)]
    for node in nodes:
        if node.name in names:
            raise UsageError(f"there are two steps {node.name!r}; give the node another name")
        if unknown := next((name for name in (node.after, *node.may_go_to) if name not in names), None):
            raise UnknownName("step", unknown, names, f"for the node {node.name!r}")
        if any(other.after == node.after for other in nodes if other is not node):
            raise UsageError(f"two nodes follow {node.after!r}; put {node.name!r} after the other node")
        names.append(node.name)


def begin(job: Job) -> LoopState:
    """The first state of a new learning. Its id is the last point of the playbook's journal."""
    changes = job.playbook.history()
    n = changes[-1].n if changes else 0
    return LoopState(f"learn-{n}", began=job.began, fingerprint=job.fingerprint, over=not job.train)


def check_resumable(job: Job, state: LoopState) -> LoopState:
    """The state, if it is one of this job; otherwise UsageError."""
    if state.fingerprint != job.fingerprint:
        raise UsageError(
            f"{state.learning_id!r} was begun with other tasks, roles or settings; "
            "go on with those, or begin anew (--fresh)"
        )
    return state
