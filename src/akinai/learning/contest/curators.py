"""Two other memories as Curators: a dynamic cheatsheet (arXiv 2504.07952) and a reasoning bank (arXiv 2509.25140).

Both read the attempt, whether it was right, and the right answer where the learning knows it. The cheatsheet is one
text, which is rewritten after each task and injected whole (its cumulative form). The bank adds up to three strategies
after each task, from success and from failure, changes none of them, and injects the nearest ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from akinai.core.canonical import Json
from akinai.core.models import Asker
from akinai.core.replies.objects import UnreadableReply, object_in
from akinai.learning.contest.contenders import Contest, ContestResult, Rival, learn_by
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.playbook.deltas import Delta, Operation
from akinai.learning.roles.model import NONE
from akinai.learning.roles.protocols import Curation, Evaluation, Insights, Retrieved, Trajectory
from akinai.learning.roles.replies import object_field, text_in
from akinai.learning.roles.requests import ModelRole
from akinai.learning.roles.tasks import Task
from akinai.learning.roles.templates import PromptTemplates

CHEATSHEET, BANK = "cheatsheet", "reasoning-bank"
MOST_ITEMS = 3
"""Strategies from one task."""
NEAREST = 3
"""Strategies in the context of a task, at most."""


class Recorder:
    """A Reflector without a model: it passes on the attempt, whether it was right, and the right answer if it is
    told."""

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        retrieved: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        attempt = "\n".join(filter(None, (trajectory.reasoning, *trajectory.actions, trajectory.answer))) or NONE
        return Insights(task.id, attempt, key_insight=outcome_text(task, trajectory, evaluation))


def outcome_text(task: Task, trajectory: Trajectory, evaluation: Evaluation) -> str:
    """Whether an attempt was right, or how a run ended, with the right answer or what the world knew if it is told."""
    details = cast("Mapping[str, Json]", trajectory.details or {})
    truth = task.truth or str(details.get("truth") or "")
    if "run" in details:
        return "\n".join(filter(None, (evaluation.report, truth)))
    return f"{'right' if evaluation.right else 'wrong'}{f'; the right answer is {truth}' if truth else ''}"


class CheatsheetCurator(ModelRole):
    """Rewrites the whole cheatsheet after each task."""

    prompt = CHEATSHEET

    def __init__(self, asker: Asker, templates: PromptTemplates, *, tries: int, budget_tokens: int) -> None:
        super().__init__(asker, templates, tries=tries)
        self._budget = budget_tokens

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        bullet = next(iter(playbook), None)
        values = {
            "cheatsheet": bullet.content if bullet else NONE,
            "attempts": _attempts(insights),
            "budget": str(self._budget),
        }
        parsed = await self.ask(values, lambda reply: _sheet_operations(reply, bullet))
        return Curation(Delta(operations=parsed.value or ()), parsed.failed, parsed.usage)


class BankCurator(ModelRole):
    """Adds the strategies that a task taught."""

    prompt = "reasoning_bank"

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        parsed = await self.ask({"attempts": _attempts(insights), "most": str(MOST_ITEMS)}, _bank_operations)
        return Curation(Delta(operations=parsed.value or ()), parsed.failed, parsed.usage)


async def cheatsheet(contest: Contest) -> ContestResult:
    """A dynamic cheatsheet, learned from the same tasks."""
    asker = contest.asker(CHEATSHEET, "curator")
    curator = CheatsheetCurator(asker, contest.templates, tries=contest.tries, budget_tokens=contest.budget_tokens)
    sections = (Section(CHEATSHEET, "What has proved useful."),)
    return await learn_by(contest, CHEATSHEET, sections, (Recorder(), curator), whole=True)


async def reasoning_bank(contest: Contest) -> ContestResult:
    """A reasoning bank, learned from the same tasks."""
    curator = BankCurator(contest.asker(BANK, "curator"), contest.templates, tries=contest.tries)
    sections = (Section(BANK, "Strategies from success and failure."),)
    return await learn_by(contest, BANK, sections, (Recorder(), curator), whole=False, top_k=NEAREST)


def _attempts(insights: Sequence[Insights]) -> str:
    return "\n\n".join(f"{item.task_text}\n\n{item.reasoning}\n\n({item.key_insight})" for item in insights)


def _sheet_operations(reply: str, bullet: Bullet | None) -> tuple[Operation, ...]:
    text = text_in(object_in(reply, CHEATSHEET), CHEATSHEET).strip()
    if not text:
        raise UnreadableReply("cheatsheet is empty; give the whole new cheatsheet")
    if bullet is None:
        return (Operation("ADD", CHEATSHEET, None, text),)
    return (Operation("UPDATE", CHEATSHEET, bullet.id, text),) if bullet.content != text else ()


def _bank_operations(reply: str) -> tuple[Operation, ...]:
    value = object_in(reply, "items")["items"]
    if not isinstance(value, list):
        raise UnreadableReply('items is no list; give a list of {"title", "description", "content"}')
    return tuple(Operation("ADD", BANK, None, text) for item in value[:MOST_ITEMS] if (text := _item(item)))


def _item(item: Json) -> str:
    fields = object_field(item, "an item", '{"title", "description", "content"}')
    title, description, content = (text_in(fields, name).strip() for name in ("title", "description", "content"))
    return " ".join(filter(None, (f"{title}:" if title else "", description, content)))


CHEATSHEET_RIVAL = Rival(cheatsheet, asks_model=True, on_runs=cheatsheet)
BANK_RIVAL = Rival(reasoning_bank, asks_model=True, on_runs=reasoning_bank)
