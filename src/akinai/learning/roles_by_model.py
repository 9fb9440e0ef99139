"""Roles that ask a model: a prompt out, a strictly read reply in, asked again a few times when it cannot be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar, cast

from akinai.core.canonical import Json
from akinai.core.models import Asker, Message, Request
from akinai.learning.deltas import Delta, Refusal
from akinai.learning.index import PlaybookIndex, SearchQuery
from akinai.learning.injection import Injection, TokenCounter, estimate_tokens, inject, inject_all
from akinai.learning.playbook import Playbook
from akinai.learning.replies import UnreadableReply, object_in, read_operations, read_tags
from akinai.learning.roles import Curation, Evaluation, Insights, Retrieved, Roles, Spent, Trajectory
from akinai.learning.tasks import Assignment, Task
from akinai.learning.templates import PromptTemplates

T = TypeVar("T")
Reading: TypeAlias = Callable[[str], T]
"""Turns a reply into what it says, or raises UnreadableReply."""

TRIES = 3
"""Times that a model is asked before its reply is given up."""
CURATOR_BUDGET_TOKENS = 8_000
"""What the playbook should stay under, and the most of it that a Curator is shown."""


def model_roles(
    ask: Callable[[str], Asker],
    label: str,
    templates: PromptTemplates | None = None,
    *,
    tries: int = TRIES,
    budget_tokens: int = CURATOR_BUDGET_TOKENS,
    count_tokens: TokenCounter = estimate_tokens,
) -> Roles:
    """The three roles over a model. `ask` gives the asker of "generator", "reflector" and "curator"."""
    prompts = templates or PromptTemplates()
    return Roles(
        ModelGenerator(ask("generator"), prompts, tries=tries),
        ModelReflector(ask("reflector"), prompts, tries=tries),
        ModelCurator(ask("curator"), prompts, tries=tries, budget_tokens=budget_tokens, count_tokens=count_tokens),
        label,
        thinks=True,
    )


class ModelGenerator:
    """Does a task by one reply: reasoning, bullet_ids, and answer or actions."""

    def __init__(self, asker: Asker, templates: PromptTemplates, *, tries: int = TRIES) -> None:
        self._asker, self._templates, self._tries = asker, templates, tries

    async def generate(
        self, assignment: Assignment, given: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        templates = self._templates
        values = {
            "task": assignment.text,
            "bullets": _if_any("bullets", given.injection.text.strip(), templates),
            "reflections": _if_any("reflections", _told(reflections, templates), templates),
        }
        read = await _read_reply(
            self._asker, templates, templates.messages("generator", {**values}), _trajectory_of, self._tries
        )
        if read.value is None:
            return Trajectory(assignment.id, failed=read.failed, spent=read.spent)
        answer, actions, reasoning, used = read.value
        return Trajectory(assignment.id, answer, reasoning, actions, used=used, spent=read.spent)


class ModelReflector:
    """Finds out why a try failed; it sees the truth."""

    prompt = "reflector"

    def __init__(self, asker: Asker, templates: PromptTemplates, *, tries: int = TRIES) -> None:
        self._asker, self._templates, self._tries = asker, templates, tries

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        given: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        messages = self._templates.messages(self.prompt, self.values(task, trajectory, evaluation, given, earlier))
        read = await _read_reply(self._asker, self._templates, messages, self.reading(task, trajectory), self._tries)
        if read.value is None:
            return Insights(task.id, failed=read.failed, spent=read.spent)
        return replace(read.value, spent=read.spent)

    def values(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        given: Retrieved,
        earlier: Sequence[Insights],
    ) -> dict[str, str]:
        """What goes into the places of the prompt."""
        return {
            "task": task.text,
            "reasoning": "\n".join(filter(None, (trajectory.reasoning, *trajectory.actions))) or NONE,
            "answer": trajectory.answer or NONE,
            "truth": task.truth,
            "report": evaluation.report or f"right: {evaluation.right}, score: {evaluation.score:g}",
            "bullets": given.injection.text.strip() or NONE,
            "sections": _sections(given.playbook),
            "earlier": _if_any("earlier", _told(earlier, self._templates), self._templates),
        }

    def reading(self, task: Task, trajectory: Trajectory) -> Reading[Insights]:
        """How a reply is read."""
        return _insights_of(task.id)


class ModelCurator:
    """Decides what of the insights goes into the playbook; it sees as much of it as its budget holds."""

    prompt = "curator"

    def __init__(
        self,
        asker: Asker,
        templates: PromptTemplates,
        *,
        tries: int = TRIES,
        budget_tokens: int = CURATOR_BUDGET_TOKENS,
        count_tokens: TokenCounter = estimate_tokens,
    ) -> None:
        self._asker, self._templates, self._tries = asker, templates, tries
        self._budget_tokens, self._count_tokens = budget_tokens, count_tokens
        self._index: PlaybookIndex | None = None

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        told = _told(insights, self._templates)
        whole = inject_all(playbook, count_tokens=self._count_tokens)
        visible = whole if whole.tokens <= self._budget_tokens else self._nearest(told, playbook)
        values = {
            "bullets": visible.text.strip() or NONE,
            "insights": told,
            "sections": _sections(playbook),
            "tokens": str(whole.tokens),
            "budget": str(self._budget_tokens),
        }
        messages = self._templates.messages(self.prompt, values)
        read = await _read_reply(self._asker, self._templates, messages, self.reading(insights), self._tries)
        return Curation(read.value or Delta(), read.failed, read.spent)

    def reading(self, insights: Sequence[Insights]) -> Reading[Delta]:
        """How a reply is read."""
        return delta_in

    def _nearest(self, told: str, playbook: Playbook) -> Injection:
        """The bullets that the insights are about, those first that are nearest: of a large playbook the part that may
        have to change."""
        self._index = self._index or PlaybookIndex()
        self._index.refresh(playbook)
        found = self._index.search(SearchQuery(told, top_k=len(playbook), min_confidence=0.0))
        bullets = [result.bullet for result in found]
        return inject(bullets, budget_tokens=self._budget_tokens, count_tokens=self._count_tokens)


NONE = "-"
"""What stands in a prompt where there is nothing to show."""


@dataclass(frozen=True, slots=True)
class _Read(Generic[T]):
    """What came of asking."""

    value: T | None
    failed: str
    spent: Spent


async def _read_reply(
    asker: Asker,
    templates: PromptTemplates,
    messages: tuple[Message, ...],
    read: Callable[[str], T],
    tries: int,
) -> _Read[T]:
    """A reply as `read` reads it. One that it cannot read is shown to the model with the reason, and asked again."""
    spent, why = Spent(), ""
    for _ in range(tries):
        reply = await asker.ask(Request(messages))
        spent = spent + Spent(1, 0, reply.usage)
        try:
            return _Read(read(reply.text), "", spent)
        except UnreadableReply as error:
            why = str(error)
            spent = spent + Spent(0, 1)
            messages = (*messages, reply.message, Message("user", templates.filled("unreadable", why=why)))
    return _Read(None, f"{why} ({tries} replies)", spent)


def _trajectory_of(reply: str) -> tuple[str, tuple[str, ...], str, tuple[str, ...]]:
    """Answer, actions, reasoning and the ids of the bullets that were followed."""
    try:
        told = object_in(reply, "answer")
    except UnreadableReply as error:
        if error.truncated:
            raise
        told = object_in(reply, "actions")
    answer, actions = _answer(told.get("answer")), _texts(told, "actions")
    if not answer.strip() and not actions:
        raise UnreadableReply("answer is empty; give it")
    return answer, actions, text_in(told, "reasoning"), _texts(told, "bullet_ids")


def _insights_of(task_id: str) -> Callable[[str], Insights]:
    def read(reply: str) -> Insights:
        told = object_in(reply, "key_insight")
        insight = text_in(told, "key_insight")
        if not insight.strip():
            raise UnreadableReply("key_insight is empty; give one insight")
        return Insights(
            task_id,
            text_in(told, "reasoning"),
            text_in(told, "error_identification"),
            text_in(told, "root_cause_analysis"),
            text_in(told, "correct_approach"),
            insight,
            read_tags(told.get("bullet_tags") or []),
        )

    return read


def delta_in(reply: str) -> Delta:
    """A Curator's reply. UnreadableReply where it holds no list of operations."""
    told = object_in(reply, "operations")
    operations = read_operations(told["operations"])
    if len(operations) == 1 and isinstance(operations[0], Refusal) and operations[0].place == "operations":
        raise UnreadableReply(operations[0].text)
    return Delta(operations=operations, reason=text_in(told, "reasoning"))


def _answer(value: Json) -> str:
    """An answer as text: a number is one too."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return text_in({"answer": value}, "answer")


def text_in(told: Mapping[str, Json], name: str) -> str:
    """A field that may be missing. UnreadableReply where it is no text."""
    value = told.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise UnreadableReply(f"{name} is {shown(value)}; give a text")


def _texts(told: Mapping[str, Json], name: str) -> tuple[str, ...]:
    value = told.get(name)
    if value is None:
        return ()
    if isinstance(value, Sequence) and not isinstance(value, str):
        items = cast("Sequence[Json]", value)
        if all(isinstance(item, str) for item in items):
            return tuple(cast("Sequence[str]", items))
    raise UnreadableReply(f"{name} is {shown(value)}; give a list of texts")


def shown(value: Json) -> str:
    """A value as a message tells it."""
    return f"{json.dumps(value, ensure_ascii=False):.80}"


def _sections(playbook: Playbook) -> str:
    return "\n".join(f"- {one.name}: {one.description or NONE}" for one in playbook.sections) or NONE


def _told(insights: Sequence[Insights], templates: PromptTemplates) -> str:
    """Insights as a prompt shows them."""
    return "\n\n".join(
        templates.filled(
            "insight",
            task=one.task_id,
            error=one.error_identification or NONE,
            cause=one.root_cause_analysis or NONE,
            approach=one.correct_approach or NONE,
            insight=one.key_insight or NONE,
        )
        for one in insights
    )


def _if_any(name: str, text: str, templates: PromptTemplates) -> str:
    """A text under the words that a prompt puts above it; nothing for none."""
    return templates.filled(name, text=text) if text else ""
