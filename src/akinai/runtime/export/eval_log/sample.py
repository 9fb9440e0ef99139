"""A run as a sample of a log: its entries as tool events, its model calls as model events, scores and findings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from akinai.agents.protocols import outcome_text
from akinai.core.actions import Unreadable
from akinai.core.canonical import Json
from akinai.core.chance import seed_label
from akinai.core.findings import Finding
from akinai.core.ledger import Outcome
from akinai.core.models import ToolCall, Usage
from akinai.core.steps import Step
from akinai.core.worlds import World, participants, replay
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
"""The scorer that counts findings."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample, and its part of the log's other documents."""

    document: dict[str, Json]
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
    return {
        SCORER: {
            "value": numbers,
            "explanation": ", ".join(f"{score.name} {score.value} {score.unit}" for score in run.scores),
            "metadata": {"digest": run.digest, "ending": run.ending, "scores": about},
        },
        FINDINGS: {
            "value": len(findings),
            "explanation": listed,
            "metadata": {"types": dict(run.finding_types), "findings": [finding.to_json() for finding in findings]},
        },
    }


def make_sample(world: World[Any], run: Run, epoch: int, calls: Sequence[Call]) -> Sample:
    """The sample of a judged run with its findings."""
    steps = replay(world, run.ledger)
    opening, seed = steps.opening, run.seed
    actors = participants(world, opening)
    view = world.view(opening, actors[0]).text if actors else ""
    transcript = _Transcript(world, view)
    transcript.write(list(steps), calls, run.findings or ())
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
    init = {
        "event": "sample_init",
        "sample": {"id": id, "input": view, "target": "", "metadata": metadata},
        "state": {},
    }
    clock = {"timestamp": transcript.begins(run), "working_start": 0.0}
    last = transcript.events[-1] if transcript.events else clock
    end = {name: last[name] for name in ("timestamp", "working_start")}
    score_events = [{"event": "score", **end, "score": score, "scorer": name} for name, score in scores.items()]
    error: dict[str, Json] = {}
    if run.status == "failed":
        trace = run.traceback or ""
        error = {"error": {"message": run.reason or "", "traceback": trace, "traceback_ansi": trace}}
    document: dict[str, Json] = {
        **shared,
        **error,
        "messages": transcript.messages,
        "output": transcript.output,
        "events": [{**init, **clock}, *transcript.events, *score_events],
        "events_data": {"messages": transcript.pool.messages, "calls": []},
    }
    summary: dict[str, Json] = {**shared, "completed": True, "message_count": len(transcript.messages)}
    if error:
        summary["error"] = run.reason or ""
    numbers = {score.name: float(score.value) for score in run.scores}
    return Sample(document, summary, {**numbers, FINDINGS: float(len(run.findings or ()))}, usage)


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

    def __init__(self, world: World[Any], view: str) -> None:
        self._world = world
        self.pool = MessagePool()
        self.events: list[dict[str, Json]] = []
        self.messages: list[dict[str, Json]] = [{"id": "view", "role": "user", "content": view, "source": "input"}]
        self._worked = 0.0
        """Seconds that the models have taken so far."""

    @property
    def output(self) -> dict[str, Json]:
        """The last message of an agent, as a model's output."""
        last = next((message for message in reversed(self.messages) if message["role"] == "assistant"), None)
        choices: list[Json] = [] if last is None else [{"message": last, "stop_reason": "stop"}]
        return {"model": "", "choices": choices, "completion": "" if last is None else last["content"]}

    def begins(self, run: Run) -> str:
        """The beginning of the sample in its world's time, or else in this machine's."""
        return iso(run.header.created_at if run.began is None else run.began)

    def write(self, steps: Sequence[Step[Any]], calls: Sequence[Call], findings: Sequence[Finding]) -> None:
        """Write all events in the order of the ledger; a finding follows the last entry that shows it."""
        placed = place_calls(self._world.verbs, steps, calls)
        findings_by_entry: dict[int, list[Finding]] = {}
        for finding in findings:
            findings_by_entry.setdefault(finding.entries[-1], []).append(finding)
        at = 0
        for step in steps:
            at = step.entry.at
            self._add_calls(placed.get(step.entry.seq, ()), at)
            self._add_entry(step)
            for finding in findings_by_entry.get(step.entry.seq, ()):
                self._add({"event": "info", "source": "finding", "data": finding.to_json()}, at)
        self._add_calls(placed.get(0, ()), at)

    def _add(self, event: dict[str, Json], at: int) -> None:
        self.events.append({**event, "timestamp": iso(at), "working_start": self._worked})

    def _add_calls(self, calls: Sequence[Call], at: int) -> None:
        for call in calls:
            self._add(call_event(call, self.pool, {}), at)
            self._worked += call.reply.latency_s

    def _add_entry(self, step: Step[Any]) -> None:
        entry, action = step.entry, step.turn.action
        observed = self._world.facets.observation.observe(step.after, step.turn, step.outcome)
        text, call_id, message_id = outcome_text(observed), f"entry-{entry.seq}", f"entry-{entry.seq}-result"
        error = _error(observed, unreadable=isinstance(action, Unreadable))
        arguments = action.encode()
        call = ToolCall(call_id, action.tool_name(), arguments)
        message = assistant_message(f"entry-{entry.seq}-action", entry.said, (call,))
        self.messages += [
            {**message, "metadata": {"actor": entry.actor}},
            tool_message(message_id, text, call_id, action.tool_name(), error),
        ]
        event: dict[str, Json] = {
            "event": "tool",
            "uuid": call_id,
            "id": call_id,
            "type": "function",
            "function": action.tool_name(),
            "arguments": arguments,
            "result": text,
            "events": [],
            "completed": iso(entry.at),
            "working_time": 0.0,
            "agent": entry.actor,
            "message_id": message_id,
            "metadata": {"entry": entry.seq, "digest": entry.digest, "code": observed.code, "said": entry.said},
        }
        self._add(event | ({"error": error, "failed": True} if error else {}), entry.at)


def _error(outcome: Outcome, *, unreadable: bool) -> dict[str, Json] | None:
    """A refusal as the error of a tool call."""
    if outcome.ok:
        return None
    return {"type": "parsing" if unreadable else "unknown", "message": outcome_text(outcome)}
