"""Reflector and Curator that ask a model about runs: what they learn names the entries of the ledger that show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from akinai.core.canonical import Json
from akinai.learning.deltas import Delta, Operation
from akinai.learning.replies import UnreadableReply, object_in, read_tags
from akinai.learning.roles import Evaluation, Insights, Retrieved, Trajectory
from akinai.learning.roles_by_model import NONE, ModelCurator, ModelReflector, Reading, delta_in, shown, text_in
from akinai.learning.tasks import Task

MOST_INSIGHTS = 8
"""Of one run."""


class RunReflector(ModelReflector):
    """Finds out why a run went as it did.

    It sees the condensed record as the trajectory's `reasoning`, and in its details what the world knows: {"run": its
    name, "entries": how many, "truth": text}.
    """

    prompt = "run_reflector"

    def values(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        given: Retrieved,
        earlier: Sequence[Insights],
    ) -> dict[str, str]:
        truth = str(trajectory.details.get("truth") or NONE)
        told = super().values(task, trajectory, evaluation, given, earlier)
        return {**told, "truth": truth, "most": str(MOST_INSIGHTS)}

    def reading(self, task: Task, trajectory: Trajectory) -> Reading[Insights]:
        run, entries = str(trajectory.details["run"]), int(trajectory.details["entries"])

        def read(reply: str) -> Insights:
            told = object_in(reply, "insights")
            found = _insights(told["insights"], run, entries)
            return Insights(
                task.id,
                text_in(told, "reasoning"),
                text_in(told, "error_identification"),
                text_in(told, "root_cause_analysis"),
                text_in(told, "correct_approach"),
                "\n".join(f"{insight} [{place}]" for insight, place in found),
                read_tags(told.get("bullet_tags") or []),
                sources=tuple(dict.fromkeys(place for _, place in found)),
            )

        return read


class RunCurator(ModelCurator):
    """Decides what of the insights goes into the playbook; an operation stands on the evidence of insights alone."""

    prompt = "run_curator"

    def reading(self, insights: Sequence[Insights]) -> Reading[Delta]:
        known = {source for one in insights for source in one.sources}

        def read(reply: str) -> Delta:
            delta = delta_in(reply)
            for number, one in enumerate(delta.operations):
                made_up = [place for place in one.evidence if place not in known] if isinstance(one, Operation) else []
                if made_up:
                    raise UnreadableReply(
                        f"operations[{number}].evidence names {made_up[0]!r:.80}, which stands behind no insight; "
                        "copy it from there"
                    )
            return delta

        return read


def evidence(run: str, entries: Sequence[int]) -> str:
    """Entries of a run as a bullet's source names them."""
    return " -> ".join(f"{run}#{entry}" for entry in entries)


def _insights(value: Json, run: str, entries: int) -> list[tuple[str, str]]:
    """Each insight with its evidence. UnreadableReply names what is wrong."""
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_INSIGHTS:
        raise UnreadableReply(f"insights is {shown(value)}; give a list of 1 to {MOST_INSIGHTS} insights")
    return [_insight(item, f"insights[{number}]", run, entries) for number, item in enumerate(value)]


def _insight(item: Json, place: str, run: str, entries: int) -> tuple[str, str]:
    if not isinstance(item, Mapping):
        raise UnreadableReply(f'{place} is {shown(item)}; give {{"insight", "entries"}}')
    told = cast("Mapping[str, Json]", item)
    insight, named = text_in(told, "insight"), told.get("entries")
    if not insight.strip():
        raise UnreadableReply(f"{place}.insight is empty; say it in a sentence")
    if not isinstance(named, list) or not named or not all(map(_entry_of(entries), named)):
        raise UnreadableReply(f"{place}.entries is {shown(named)}; give numbers of entries of the run, 1 to {entries}")
    return " ".join(insight.split()), evidence(run, sorted({int(str(one)) for one in named}))


def _entry_of(entries: int) -> Callable[[Json], bool]:
    return lambda one: isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= entries
