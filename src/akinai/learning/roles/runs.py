"""Reflector and Curator that ask a model about runs. Every insight names the ledger entries that show it."""

from __future__ import annotations

from collections.abc import Sequence

from akinai.core.canonical import Json
from akinai.core.replies.objects import UnreadableReply, object_in
from akinai.learning.playbook.deltas import Delta, Operation
from akinai.learning.roles import schemas
from akinai.learning.roles.model import ModelCurator, ModelReflector, delta_in, insights_in
from akinai.learning.roles.protocols import Evaluation, Insights, Retrieved, Trajectory
from akinai.learning.roles.replies import INSIGHTS, object_field, quote_value, text_in
from akinai.learning.roles.requests import Parser
from akinai.learning.roles.rules import evidence
from akinai.learning.roles.tasks import Task

MOST_INSIGHTS = 8
"""Insights from one run."""


class RunReflector(ModelReflector):
    """Explains why a run went as it did.

    It reads the condensed record from the trajectory's `reasoning`, and the world's hidden facts from its details:
    {"run": name, "entries": number of entries, "truth": text}.
    """

    prompt = "run_reflector"
    schema = schemas.INSIGHTS

    def values(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        retrieved: Retrieved,
        earlier: Sequence[Insights],
    ) -> dict[str, str]:
        truth = str(trajectory.details.get("truth") or self._templates.text("no_truth"))
        values = super().values(task, trajectory, evaluation, retrieved, earlier)
        return {**values, "truth": truth, "most": str(MOST_INSIGHTS)}

    def parser(self, task: Task, trajectory: Trajectory) -> Parser[Insights]:
        run, entries = str(trajectory.details["run"]), int(trajectory.details["entries"])

        def read(reply: str) -> Insights:
            fields = object_in(reply, INSIGHTS)
            items = fields["insights"]
            if not isinstance(items, list) or not 1 <= len(items) <= MOST_INSIGHTS:
                text = f"insights is {quote_value(items)}; give a list of 1 to {MOST_INSIGHTS} insights"
                raise UnreadableReply(text)
            insights = [_insight(item, f"insights[{number}]", run, entries) for number, item in enumerate(items)]
            text = "\n".join(f"{text} [{source}]" for text, source in insights)
            return insights_in(task.id, fields, text, (source for _, source in insights))

        return read


class RunCurator(ModelCurator):
    """Decides which insights go into the playbook. The evidence of an operation must be that of an insight."""

    prompt = "run_curator"

    def parser(self, insights: Sequence[Insights]) -> Parser[Delta]:
        valid_sources = {source for insight in insights for source in insight.sources}

        def read(reply: str) -> Delta:
            delta = delta_in(reply)
            for number, operation in enumerate(delta.operations):
                sources = operation.evidence if isinstance(operation, Operation) else ()
                if unknown := next((source for source in sources if source not in valid_sources), None):
                    raise UnreadableReply(
                        f"operations[{number}].evidence names {quote_value(unknown)}, which is the evidence of no "
                        "insight; copy it from an insight"
                    )
            return delta

        return read


def _insight(item: Json, location: str, run: str, entries: int) -> tuple[str, str]:
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
