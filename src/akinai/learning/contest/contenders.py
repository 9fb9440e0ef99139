"""The contest that a contender enters, and its result. The entry point group `akinai.contenders` lists contenders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from akinai.core.errors import UsageError
from akinai.core.models import Asker
from akinai.learning.loop.job import Job
from akinai.learning.loop.loop import learn
from akinai.learning.loop.retriever import PlaybookRetriever, Retriever
from akinai.learning.loop.state import LoopConfig, LoopState
from akinai.learning.playbook.bullets import Playbook, Section
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.roles.protocols import Curator, Evaluator, ModelUsage, Reflector, RoleName, Roles
from akinai.learning.roles.tasks import Assignment, Task
from akinai.learning.roles.templates import PromptTemplates


class RunRecords(Protocol):
    """Further lessons and records for contenders whose tasks are runs of a world."""

    async def foreign_playbook(self) -> Playbook:
        """A playbook of another world."""
        ...

    async def excerpts(self, playbook: Playbook, tokens: int) -> Sequence[str]:
        """Condensed records of the runs that taught a playbook, in at most `tokens` tokens together."""
        ...


@dataclass(frozen=True)
class Contest:
    """The tasks, the roles and the budget of the learning that every contender is compared with."""

    train: Sequence[Task]
    judged: Sequence[Assignment]
    """The tasks that judge, without their answers."""
    roles: Roles
    evaluator: Evaluator
    config: LoopConfig
    playbook: Playbook
    """The playbook that was learned."""
    retriever: Callable[[LoopConfig], Retriever]
    """Makes the retriever of the tasks."""
    tokens: int
    """Tokens that models received and answered while the playbook was learned; 0 without a model."""
    injected: Mapping[str, tuple[str, ...]]
    """The ids of the bullets in the context of each judged task, by the task's id."""
    injected_tokens: float
    """Tokens of these bullets in the context of a task, on average."""
    open_file: Callable[[str], PlaybookFile]
    """The file of a contender's own playbook."""
    ask: Callable[[RoleName], Asker] | None = None
    """Returns the asker of a role's model; None where only rules play."""
    templates: PromptTemplates = field(default_factory=PromptTemplates)
    budget_tokens: int = 8_000
    """The intended size of a playbook."""
    tries: int = 3
    seed: int = 0
    records: RunRecords | None = None
    """None for tasks with known answers."""

    def asker(self, name: str, role: RoleName) -> Asker:
        """The asker of a role. UsageError where only rules play."""
        if self.ask is None:
            raise UsageError(f"{name} asks a model; name one, such as --model openai:gpt-5-mini, or leave {name} out")
        return self.ask(role)


@dataclass(frozen=True, slots=True)
class ContestResult:
    """The playbook and the retriever that a contender brings to the tasks that judge."""

    playbook: Playbook
    retriever: Retriever
    usage: ModelUsage = field(default_factory=ModelUsage)
    """The model calls of its learning."""


class Contender(Protocol):
    """Learns from the training tasks, with at most the tokens of the contest."""

    async def __call__(self, contest: Contest, /) -> ContestResult: ...


@dataclass(frozen=True, slots=True)
class Rival:
    """A contender as its package registers it."""

    learn: Contender
    asks_model: bool = False
    """Whether it needs a model."""
    on_runs: Contender | None = None
    """The contender for tasks that are runs of a world; None: it takes tasks with known answers only."""


class _Spent(Exception):
    pass


async def learn_by(
    contest: Contest, name: str, sections: Sequence[Section], roles: tuple[Reflector, Curator], **config: Any
) -> ContestResult:
    """Learn from the same tasks with other roles until the tokens of the contest are spent. Each epoch attempts each
    task once."""
    loop_config = replace(
        contest.config, batch=1, rounds=1, new_tries=False, reflect_on_success=True,
        gate=False, keep_best=False, dedup=False, prune=False, **config,
    )  # fmt: skip
    file, retriever, newest = contest.open_file(name), PlaybookRetriever(loop_config), LoopState("")
    file.begin(sections, fresh=True)
    reflector, curator = roles
    players = Roles(contest.roles.generator, reflector, curator, name, uses_model=True)

    def watch(step: str, state: LoopState) -> None:
        nonlocal newest
        newest = state
        tokens = used(state).tokens
        if step == "apply" and contest.tokens and tokens.input + tokens.output >= contest.tokens:
            raise _Spent

    with suppress(_Spent):
        await learn(Job(contest.train, players, contest.evaluator, file, retriever, loop_config), watch=watch)
    return ContestResult(file.load(), retriever.fresh(), used(newest))


def used(state: LoopState) -> ModelUsage:
    """The model calls of a learning so far."""
    return sum((epoch.counts.usage for epoch in state.epochs), state.counts.usage)
