"""A run as a sample of a log: its entries as tool events, its model calls as model events, scores and findings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from akinai.agents.protocols import outcome_text
from akinai.core.actions import Action, Unreadable
from akinai.core.canonical import Json
from akinai.core.chance import seed_label
from akinai.core.findings import Finding
from akinai.core.ledger import Outcome
from akinai.core.models import ToolCall, Usage
from akinai.core.steps import Step, Steps
from akinai.core.worlds import World, participants
from akinai.runtime.export.eval_log.model_calls import (
    MessagePool,
    assistant_message,
    call_event,
    model_name,
    place_calls,
    tool_message,
    usage_json,
)
from akinai.runtime.export.lines import iso
from akinai.runtime.play.trace_codec import Call
from akinai.runtime.runs.records import Run

SCORER = "scores"
"""The scorer whose value holds all scores of the world by name."""
FINDINGS = "findings"
"""The scorer that counts mistakes; conduct stands beside them."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample, and its part of the log's other documents."""

    id: str
    document: dict[str, Any]
    """Read once, in the order of its keys: what is long is an iterator, and what follows from it a function."""
    summary: dict[str, Json]
    scores: Mapping[str, float]
    usage: Mapping[str, Usage]
    """Tokens by model."""


def sample_id(seed: int) -> str:
    """The id of a seed's sample: runs of the same seed are epochs of it. Of a sealed game "sealed-7-of-3f9a0c1"."""
    return f"seed-{seed}" if seed >= 0 else seed_label(seed).rstrip(".").replace(" ", "-")


def scores_document(run: Run) -> dict[str, Json]:
    """The scores of a judged run as Inspect's scores, by scorer."""
    numbers: dict[str, Json] = {score.name: score.value for score in run.scores}
    about: dict[str, Json] = {score.name: score.to_json() for score in run.scores}
    findings = run.findings or ()
    listed = "\n".join(f"{finding.type} by {finding.actor}: {finding.assumed}" for finding in findings)
    counts = {"types": dict(run.finding_types)} | ({"conduct": dict(run.conduct)} if run.conduct else {})
    return {
        SCORER: {
            "value": numbers,
            "explanation": ", ".join(f"{score.name} {score.value} {score.unit}" for score in run.scores),
            "metadata": {"digest": run.digest, "ending": run.ending, "scores": about},
        },
        FINDINGS: {
            "value": sum(run.finding_types.values()),
            "explanation": listed,
            "metadata": {**counts, "findings": [finding.to_json() for finding in findings]},
        },
    }


def make_sample(world: World[Any], run: Run, steps: Steps[Any], epoch: int, calls: Sequence[Call]) -> Sample:
    """The sample of a judged run with its findings. Its document goes through the steps, none of which it holds."""
    opening, seed = steps.opening, run.seed
    actors = participants(world, opening)
    view = world.view(opening, actors[0]).text if actors else ""
    transcript = _Transcript(world, view, steps)
    scores, id = scores_document(run), sample_id(seed)
    usage = _usage(calls)
    began = run.header.created_at
    metadata: dict[str, Json] = {
        "run": run.id,
        **run.header.game_json(),
        "digest": run.digest,
        "status": run.status,
        "ending": run.ending,
        "entries": run.entries,
    }
    shared: dict[str, Json] = {
        "id": id,
        "epoch": epoch,
        "input": view,
        "target": "",
        "metadata": metadata,
        "scores": scores,
        "model_usage": {model: usage_json(tokens) for model, tokens in usage.items()},
        "started_at": iso(began),
        "completed_at": iso(max((call.at for call in calls), default=began)),
        "uuid": f"{run.digest[:22]}-{epoch}",
    }
    init: dict[str, Json] = {
        "event": "sample_init",
        "sample": {"id": id, "input": view, "target": "", "metadata": metadata},
        "state": {},
    }
    begins = run.header.created_at if run.began is None else run.began  # in its world's time, or this machine's

    def events() -> Iterator[dict[str, Json]]:
        yield transcript.clocked(init, begins)
        yield from transcript.events(calls, run.findings or ())
        for name, score in scores.items():
            yield {"event": "score", **transcript.clock, "score": score, "scorer": name}

    error: dict[str, Json] = {}
    if run.status == "failed":
        trace = run.traceback or ""
        error = {"error": {"message": run.reason or "", "traceback": trace, "traceback_ansi": trace}}
    document: dict[str, Any] = {
        **shared,
        **error,
        "messages": transcript.messages(),
        "output": transcript.output,
        "events": events(),
        "events_data": lambda: {"messages": transcript.pool.messages, "calls": []},
    }
    summary: dict[str, Json] = {**shared, "completed": True, "message_count": 1 + 2 * run.entries}
    if error:
        summary["error"] = run.reason or ""
    numbers = {score.name: float(score.value) for score in run.scores}
    return Sample(id, document, summary, {**numbers, FINDINGS: float(sum(run.finding_types.values()))}, usage)


def _usage(calls: Sequence[Call]) -> dict[str, Usage]:
    """Tokens of the calls that were sent, by model."""
    usage: dict[str, Usage] = {}
    for call in calls:
        if not call.reply.from_cache:
            name = model_name(call.model)
            usage[name] = usage.get(name, Usage()) + call.reply.usage
    return usage


class _Transcript:
    """The events and the messages of a sample."""

    def __init__(self, world: World[Any], view: str, steps: Steps[Any]) -> None:
        self._world, self._view, self._steps = world, view, steps
        self.pool = MessagePool()
        self.clock: dict[str, Json] = {}
        """The time of the last event, and the seconds that the models had taken by then."""
        self._worked = 0.0
        self._last: dict[str, Json] | None = None

    def output(self) -> dict[str, Json]:
        """The last message of an agent, as a model's output."""
        last = self._last
        choices: list[Json] = [] if last is None else [{"message": last, "stop_reason": "stop"}]
        return {"model": "", "choices": choices, "completion": "" if last is None else last["content"]}

    def messages(self) -> Iterator[dict[str, Json]]:
        """The view, and each action with its result."""
        yield {"id": "view", "role": "user", "content": self._view, "source": "input"}
        for step in self._steps:
            entry, action = step.entry, step.turn.action
            call_id, name, observed = f"entry-{entry.seq}", action.tool_name(), self._observed(step)
            call = ToolCall(call_id, name, action.encode())
            message = assistant_message(f"{call_id}-action", entry.said, (call,))
            self._last = {**message, "metadata": {"actor": entry.actor}}
            yield self._last
            yield tool_message(f"{call_id}-result", outcome_text(observed), call_id, name, _error(observed, action))

    def events(self, calls: Sequence[Call], findings: Sequence[Finding]) -> Iterator[dict[str, Json]]:
        """All events in the order of the ledger; a finding follows the last entry that shows it."""
        placed: Mapping[int, Sequence[Call]] = {}
        if calls:
            placed = place_calls(self._world.verbs, self._steps, calls)
        findings_by_entry: dict[int, list[Finding]] = {}
        for finding in findings:
            findings_by_entry.setdefault(finding.entries[-1], []).append(finding)
        at = 0
        for step in self._steps:
            at = step.entry.at
            yield from self._calls(placed.get(step.entry.seq, ()), at)
            yield self.clocked(self._entry(step), at)
            for finding in findings_by_entry.get(step.entry.seq, ()):
                yield self.clocked({"event": "info", "source": "finding", "data": finding.to_json()}, at)
        yield from self._calls(placed.get(0, ()), at)

    def clocked(self, event: dict[str, Json], at: int) -> dict[str, Json]:
        """An event with its time, which is now the last."""
        self.clock = {"timestamp": iso(at), "working_start": self._worked}
        return {**event, **self.clock}

    def _calls(self, calls: Sequence[Call], at: int) -> Iterator[dict[str, Json]]:
        for call in calls:
            yield self.clocked(call_event(call, self.pool, {}), at)
            self._worked += call.reply.latency_s

    def _observed(self, step: Step[Any]) -> Outcome:
        return self._world.facets.observation.observe(step.after, step.turn, step.outcome)

    def _entry(self, step: Step[Any]) -> dict[str, Json]:
        entry, action, observed = step.entry, step.turn.action, self._observed(step)
        call_id, error = f"entry-{entry.seq}", _error(observed, action)
        event: dict[str, Json] = {
            "event": "tool",
            "uuid": call_id,
            "id": call_id,
            "type": "function",
            "function": action.tool_name(),
            "arguments": action.encode(),
            "result": outcome_text(observed),
            "events": [],
            "completed": iso(entry.at),
            "working_time": 0.0,
            "agent": entry.actor,
            "message_id": f"{call_id}-result",
            "metadata": {"entry": entry.seq, "digest": entry.digest, "code": observed.code, "said": entry.said},
        }
        return event | ({"error": error, "failed": True} if error else {})


def _error(outcome: Outcome, action: Action) -> dict[str, Json] | None:
    """A refusal as the error of a tool call."""
    if outcome.ok:
        return None
    return {"type": "parsing" if isinstance(action, Unreadable) else "unknown", "message": outcome_text(outcome)}
