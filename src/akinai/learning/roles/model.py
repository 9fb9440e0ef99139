"""Roles that ask a model: they send a prompt, parse the reply strictly, and ask again when it cannot be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from akinai.core.canonical import Json
from akinai.core.models import Asker, Message
from akinai.core.replies.objects import UnreadableReply, object_in, only
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.deltas import Delta, Operation, Refusal, apply_delta
from akinai.learning.roles.protocols import (
    Curation,
    Curator,
    Evaluation,
    Generator,
    Insights,
    Reflector,
    Retrieved,
    RoleName,
    Roles,
    Trajectory,
)
from akinai.learning.roles.replies import (
    ANSWER,
    ANSWER_SCHEMA,
    INSIGHT,
    INSIGHT_SCHEMA,
    INSIGHTS,
    INSIGHTS_SCHEMA,
    OPERATIONS,
    OPERATIONS_SCHEMA,
    object_field,
    quote_value,
    read_operations,
    read_tags,
    text_in,
    texts_in,
)
from akinai.learning.roles.requests import TRIES, UNREADABLE_LIMIT, ModelRole, Parsed, UnreadableStreak
from akinai.learning.roles.rules import evidence
from akinai.learning.roles.tasks import Assignment, Progress, Task
from akinai.learning.roles.templates import PromptTemplates
from akinai.learning.search.index import PlaybookIndex, SearchQuery
from akinai.learning.search.injection import Injection, inject, inject_all

CURATOR_BUDGET_TOKENS = 8_000
"""The intended size of a playbook, and the limit on the part of it in a Curator's prompt."""
MOST_INSIGHTS = 8
"""Insights from one run."""
NONE = "-"
"""Stands for an empty value in a prompt."""


def model_roles(
    ask: Callable[[RoleName], Asker],
    label: str,
    templates: PromptTemplates | None = None,
    *,
    tries: int = TRIES,
    unreadable_limit: int = UNREADABLE_LIMIT,
    budget_tokens: int = CURATOR_BUDGET_TOKENS,
    generator: Generator | None = None,
    learners: tuple[Reflector, Curator] | None = None,
    learner_types: tuple[type[ModelReflector], type[ModelCurator]] | None = None,
) -> Roles:
    """The three roles over models. `ask` returns the asker of a role. It is not called for roles that `generator` and
    `learners` replace; `learner_types` are other classes of the two that learn."""
    prompts, streak = templates or PromptTemplates(), UnreadableStreak(unreadable_limit)
    if generator is None:
        generator = ModelGenerator(ask("generator"), prompts, tries=tries, streak=streak)
    if learners is None:
        reflector, curator = learner_types or (ModelReflector, ModelCurator)
        learners = (
            reflector(ask("reflector"), prompts, tries=tries, streak=streak),
            curator(ask("curator"), prompts, tries=tries, streak=streak, budget_tokens=budget_tokens),
        )
    return Roles(generator, *learners, label, uses_model=True)


class ModelGenerator(ModelRole):
    """Does a task in one reply: reasoning, bullet_ids, and answer or actions."""

    role = "generator"
    prompt = "generator"
    schema = ANSWER_SCHEMA

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        templates = self._templates
        values = {
            "task": assignment.text,
            "bullets": _with_heading("bullets", retrieved.injection.text.strip(), templates),
            "reflections": _with_heading("reflections", _insights_text(reflections, templates), templates),
        }
        parsed = await self.ask(values, _trajectory_in)
        trajectory = parsed.value or Trajectory("", failed=parsed.failed)
        return replace(trajectory, task_id=assignment.id, usage=parsed.usage)


class ModelReflector(ModelRole):
    """Explains why an attempt failed. It sees the truth."""

    role = "reflector"
    prompt = "reflector"
    schema = INSIGHT_SCHEMA

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        retrieved: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        values = {
            "task": task.text,
            "reasoning": "\n".join(filter(None, (trajectory.reasoning, *trajectory.actions))) or NONE,
            "answer": trajectory.answer or NONE,
            "truth": self.truth(task, trajectory) or self._templates.text("no_truth"),
            "report": evaluation.report or f"right: {evaluation.right}, score: {evaluation.score:g}",
            "bullets": _to_judge(retrieved, self._templates),
            "sections": _sections(retrieved.playbook),
            "earlier": _with_heading("earlier", _insights_text(earlier, self._templates), self._templates),
            "progress": _progress_text(task.progress, self._templates),
            "most": str(MOST_INSIGHTS),
        }
        parsed = await self.ask(values, lambda reply: self.read(reply, trajectory))
        return replace(parsed.value or Insights("", failed=parsed.failed), task_id=task.id, usage=parsed.usage)

    def truth(self, task: Task, trajectory: Trajectory) -> str:
        """What the attempt is compared with; empty where that is not told."""
        return task.truth

    def read(self, reply: str, trajectory: Trajectory) -> Insights:
        """The insights in a reply, or UnreadableReply."""
        fields = object_in(reply, INSIGHT)
        insight = text_in(fields, "key_insight")
        if not insight.strip():
            raise UnreadableReply("key_insight is empty; give one insight")
        return _insights_in(fields, insight)


class ModelCurator(ModelRole):
    """Decides which insights go into the playbook. It sees as much of the playbook as its budget holds."""

    prompt = "curator"
    schema = OPERATIONS_SCHEMA

    def __init__(
        self,
        asker: Asker,
        templates: PromptTemplates,
        *,
        tries: int = TRIES,
        streak: UnreadableStreak | None = None,
        budget_tokens: int = CURATOR_BUDGET_TOKENS,
    ) -> None:
        super().__init__(asker, templates, tries=tries, streak=streak)
        self._budget_tokens = budget_tokens
        self._index: PlaybookIndex | None = None

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        text = _insights_text(insights, self._templates)
        whole = inject_all(playbook)
        visible = whole if whole.tokens <= self._budget_tokens else self._nearest(text, playbook)
        values = {
            "bullets": visible.text.strip() or NONE,
            "insights": text,
            "sections": _sections(playbook),
            "tokens": str(whole.tokens),
            "budget": str(self._budget_tokens),
            "tasks": _tasks_text(insights),
            "progress": _progress_text(insights[-1].progress if insights else None, self._templates),
        }
        parsed = await self.ask(values, lambda reply: self.read(reply, insights))
        if parsed.value is None:
            return Curation(Delta(), parsed.failed, parsed.usage)
        return await self._corrected(parsed.value, parsed, insights, playbook)

    async def _corrected(
        self, delta: Delta, parsed: Parsed[Delta], insights: Sequence[Insights], playbook: Playbook
    ) -> Curation:
        """The delta, after asking once more for operations that misspell the name of a section or a bullet."""
        _, refusals = apply_delta(playbook, replace(delta, taggings=()))
        near = {refusal.place: refusal.text for refusal in refusals if refusal.close}
        if not near:
            return Curation(delta, "", parsed.usage)
        ask = self._templates.filled("misnamed", why="\n".join(f"- {part}: {why}" for part, why in near.items()))
        messages = (*parsed.messages, Message("user", ask))
        corrected = await self.ask_on(messages, lambda reply: self.read(reply, insights), 1)
        usage = parsed.usage + corrected.usage
        if corrected.value is None:
            return Curation(delta, "", usage, len(near))
        unchanged = [operation for n, operation in enumerate(delta.operations) if f"operations[{n}]" not in near]
        new = [operation for operation in corrected.value.operations if operation not in unchanged]
        return Curation(replace(delta, operations=(*unchanged, *new)), "", usage, len(near))

    def read(self, reply: str, insights: Sequence[Insights]) -> Delta:
        """The delta in a reply. UnreadableReply where it holds no list of operations."""
        fields = object_in(reply, OPERATIONS)
        operations = read_operations(fields["operations"])
        if len(operations) == 1 and isinstance(operations[0], Refusal) and operations[0].place == "operations":
            raise UnreadableReply(operations[0].text)
        return Delta(operations=operations, reason=text_in(fields, "reasoning"))

    def _nearest(self, insights: str, playbook: Playbook) -> Injection:
        """The bullets nearest to the insights: the part of a large playbook that they may change."""
        self._index = self._index or PlaybookIndex()
        self._index.refresh(playbook)
        results = self._index.search(SearchQuery(insights, top_k=len(playbook), min_confidence=0.0))
        bullets = [result.bullet for result in results]
        return inject(bullets, budget_tokens=self._budget_tokens)


class RunReflector(ModelReflector):
    """Explains why a run went as it did; every insight names the ledger entries that show it.

    It reads the condensed record from the trajectory's `reasoning`, and the world's hidden facts from its details:
    {"run": name, "entries": number of entries, "truth": text}.
    """

    prompt = "run_reflector"
    schema = INSIGHTS_SCHEMA

    def truth(self, task: Task, trajectory: Trajectory) -> str:
        return str(trajectory.details.get("truth") or "")

    def read(self, reply: str, trajectory: Trajectory) -> Insights:
        run, entries = str(trajectory.details["run"]), int(trajectory.details["entries"])
        fields = object_in(reply, INSIGHTS)
        items = fields["insights"]
        if not isinstance(items, list) or not 1 <= len(items) <= MOST_INSIGHTS:
            text = f"insights is {quote_value(items)}; give a list of 1 to {MOST_INSIGHTS} insights"
            raise UnreadableReply(text)
        insights = [_run_insight(item, f"insights[{number}]", run, entries) for number, item in enumerate(items)]
        text = "\n".join(f"{text} [{source}]" for text, source in insights)
        return _insights_in(fields, text, (source for _, source in insights))


class RunCurator(ModelCurator):
    """Decides which insights go into the playbook. The evidence of an operation must be that of an insight."""

    prompt = "run_curator"

    def read(self, reply: str, insights: Sequence[Insights]) -> Delta:
        valid_sources = {source for insight in insights for source in insight.sources}
        delta = super().read(reply, insights)
        for number, operation in enumerate(delta.operations):
            sources = operation.evidence if isinstance(operation, Operation) else ()
            if unknown := next((source for source in sources if source not in valid_sources), None):
                raise UnreadableReply(
                    f"operations[{number}].evidence names {quote_value(unknown)}, which is the evidence of no "
                    "insight; copy it from an insight"
                )
        return delta


def _trajectory_in(reply: str) -> Trajectory:
    fields = object_in(reply, ANSWER)
    answer, actions = _answer(fields.get("answer")), texts_in(fields, "actions") or ()
    if not answer.strip() and not actions:
        raise UnreadableReply("answer is empty; give it")
    used = tuple(id.strip("[] ") for id in texts_in(fields, "bullet_ids") or ())
    return Trajectory("", answer, text_in(fields, "reasoning"), actions, used=used)


def _insights_in(fields: Mapping[str, Json], insight: str, sources: Iterable[str] = ()) -> Insights:
    """The explanation and the tags in a Reflector's object, with what was learned and its evidence."""
    return Insights(
        "",
        text_in(fields, "reasoning"),
        text_in(fields, "error_identification"),
        text_in(fields, "root_cause_analysis"),
        text_in(fields, "correct_approach"),
        insight,
        read_tags(fields.get("bullet_tags") or []),
        sources=tuple(dict.fromkeys(sources)),
    )


def _run_insight(item: Json, location: str, run: str, entries: int) -> tuple[str, str]:
    """The text and the source of an insight. UnreadableReply names the field at fault."""
    fields = object_field(item, location, '{"insight", "entries"}')
    insight, named = text_in(fields, "insight"), fields.get("entries")
    if not insight.strip():
        raise UnreadableReply(f"{location}.insight is empty; say it in a sentence")
    if not isinstance(named, list) or not named or not all(_is_entry(value, entries) for value in named):
        raise UnreadableReply(
            f"{location}.entries is {quote_value(named)}; give numbers of entries of the run, 1 to {entries}"
        )
    return " ".join(insight.split()), evidence(run, sorted({int(str(entry)) for entry in named}))


def _is_entry(value: Json, entries: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= entries


def _answer(value: Json) -> str:
    """An answer as text; a number is an answer too."""
    value = only(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return text_in({"answer": value}, "answer")


def _sections(playbook: Playbook) -> str:
    return "\n".join(f"- {section.name}: {section.description or NONE}" for section in playbook.sections) or NONE


def _tasks_text(insights: Sequence[Insights]) -> str:
    """The tasks that the insights come from, each once."""
    texts = {item.task_id: item.task_text for item in insights if item.task_text}
    return "\n\n".join(f"[{id}]\n{text}" for id, text in texts.items()) or NONE


def _progress_text(progress: Progress | None, templates: PromptTemplates) -> str:
    """The position of a task in the training, for a prompt; empty outside of a training."""
    return "" if progress is None else templates.filled("progress", **{k: str(v) for k, v in asdict(progress).items()})


def _insights_text(insights: Sequence[Insights], templates: PromptTemplates) -> str:
    """Insights as text for a prompt."""
    return "\n\n".join(
        templates.filled(
            "insight",
            task=item.task_id,
            error=item.error_identification or NONE,
            cause=item.root_cause_analysis or NONE,
            approach=item.correct_approach or NONE,
            insight=item.key_insight or NONE,
        )
        for item in insights
    )


def _to_judge(retrieved: Retrieved, templates: PromptTemplates) -> str:
    """The bullets of a task, and their ids once more: a small model copies what stands beside the name of a field."""
    ids = ", ".join(retrieved.injection.bullet_ids)
    return templates.filled("judged", text=retrieved.injection.text.strip(), ids=ids) if ids else NONE


def _with_heading(name: str, text: str, templates: PromptTemplates) -> str:
    """A text in the template that introduces it; empty for an empty text."""
    return templates.filled(name, text=text) if text else ""
