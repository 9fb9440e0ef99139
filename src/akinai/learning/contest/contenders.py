"""The contest that a contender enters, and its result. The entry point group `akinai.contenders` lists contenders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from akinai.core.errors import UsageError
from akinai.core.models import Asker
from akinai.learning.loop.job import Job
from akinai.learning.loop.loop import learn
from akinai.learning.loop.retriever import PlaybookRetriever
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

    async def excerpts(self, playbook: Playbook, tokens: int, *, truth: bool) -> Sequence[str]:
        """Condensed records of the runs that taught a playbook, in at most `tokens` tokens together; with `truth` they
        say what the world knew."""
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
    retriever: Callable[[LoopConfig], PlaybookRetriever]
    """Makes the retriever of the tasks."""
    tokens: int
    """Tokens that models received and answered while the playbook was learned; 0 without a model."""
    injected_tokens: float
    """Tokens of the bullets in the context of a judged task, on average."""
    open_file: Callable[[str], PlaybookFile]
    """The file of a contender's own playbook."""
    ask: Callable[[RoleName], Asker] | None = None
    """Returns the asker of a role's model; None where only rules play."""
    templates: PromptTemplates = field(default_factory=PromptTemplates)
    budget_tokens: int = 8_000
    """The intended size of a playbook."""
    tries: int = 3
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
    retriever: PlaybookRetriever
    usage: ModelUsage = field(default_factory=ModelUsage)
    """The model calls of its learning."""
    saw_truth: bool = True
    """Whether it makes use of right answers, or of what a world knows, where the contest tells them."""


class Contender(Protocol):
    """Learns from the training tasks with the tokens of the contest. Where its config says `no_truth`, it shows no
    right answer to a model."""

    async def __call__(self, contest: Contest, /) -> ContestResult: ...


@dataclass(frozen=True, slots=True)
class Rival:
    """A contender as its package registers it."""

    learn: Contender
    asks_model: bool = False
    """Whether it needs a model."""
    on_runs: Contender | None = None
    """The contender for tasks that are runs of a world; None: it takes tasks with known answers only."""


MOST_EPOCHS = 50
"""Passes over the training tasks that a contender may make to spend the tokens of the contest."""


def nearly_spent(contest: Contest, spent: int, step: float) -> bool:
    """Whether the tokens of the contest are spent, to the nearest step; never where only rules learn."""
    return bool(contest.tokens) and spent + step / 2 >= contest.tokens


class _Spent(Exception):
    pass


async def learn_by(
    contest: Contest, name: str, sections: Sequence[Section], roles: tuple[Reflector, Curator], **config: Any
) -> ContestResult:
    """Learn from the same tasks with other roles until the tokens of the contest are spent. Each epoch attempts each
    task once."""
    epochs = MOST_EPOCHS if contest.tokens else contest.config.epochs
    changes: dict[str, Any] = {
        "batch": 1, "rounds": 1, "new_tries": False, "reflect_on_success": True, "epochs": epochs,
        "gate": False, "keep_best": False, "dedup": False, "prune": False, **config,
    }  # fmt: skip
    loop_config = contest.config.model_copy(update=changes)
    file, newest, taught = contest.open_file(name), LoopState(""), 0
    retriever = contest.retriever(loop_config) if contest.records else PlaybookRetriever(loop_config)
    file.begin(sections, fresh=True)
    reflector, curator = roles
    players = Roles(contest.roles.generator, reflector, curator, name, uses_model=True)

    def watch(step: str, state: LoopState) -> None:
        nonlocal newest, taught
        newest = state
        if step == "apply":
            taught += 1
            tokens = state.usage.tokens.input + state.usage.tokens.output
            if nearly_spent(contest, tokens, tokens / taught):
                raise _Spent

    with suppress(_Spent):
        await learn(Job(contest.train, players, contest.evaluator, file, retriever, loop_config), watch=watch)
    return ContestResult(file.load(), retriever.fresh(), newest.usage)
