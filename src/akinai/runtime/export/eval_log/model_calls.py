"""The model calls of a trace as model events of a log, each before the entries that its reply became."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from akinai.agents.protocols import ActionProtocol, JsonProtocol, ToolCallProtocol
from akinai.core.actions import Action, Verbs
from akinai.core.canonical import Json
from akinai.core.models import Message, ToolCall, Usage
from akinai.core.steps import Step
from akinai.runtime.play.trace_codec import Call

STOP_REASONS = {
    "content_filter": "content_filter", "end_turn": "stop", "length": "max_tokens", "max_tokens": "max_tokens",
    "stop": "stop", "tool_calls": "tool_calls", "tool_use": "tool_calls",
}  # fmt: skip
"""Inspect's stop reasons by those of providers; any other is "unknown"."""


def place_calls(verbs: Verbs, steps: Iterable[Step[Any]], calls: Iterable[Call]) -> Mapping[int, Sequence[Call]]:
    """Group calls by the number of the first entry that their reply became.

    A call whose reply became no entry, such as a summary, comes before the actor's next entry; if there is none, its
    key is 0.
    """
    placed: dict[int, list[Call]] = {}
    by_actor: dict[str, list[tuple[int, Action]]] = {}
    for step in steps:
        by_actor.setdefault(step.entry.actor, []).append((step.entry.seq, step.turn.action))
    cursors = dict.fromkeys(by_actor, 0)
    for call in calls:
        own, cursor = by_actor.get(call.actor, []), cursors.get(call.actor, 0)
        moves = _moves(verbs, call)
        start = next((index for index in range(cursor, len(own)) if own[index][1] == moves[0]), None)
        index = cursor if start is None else start
        placed.setdefault(own[index][0] if index < len(own) else 0, []).append(call)
        if start is not None:
            cursors[call.actor] = start + len(moves)
    return placed


def _moves(verbs: Verbs, call: Call) -> Sequence[Action]:
    """The actions in a reply, as the ledger stores them; at least one."""
    protocol: ActionProtocol = ToolCallProtocol() if call.request.tools else JsonProtocol()
    return [verbs.settled(requested.move.action) for requested in protocol.read_moves(verbs, call.reply)]


class MessagePool:
    """The messages of a sample's model calls, each written once, as Inspect's `events_data` holds them."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Json]] = []
        self._numbers: dict[bytes, int] = {}
        self._functions: dict[str, str] = {}

    def refer(self, messages: Sequence[Message]) -> list[list[int]]:
        """A prompt as half-open ranges of numbers in the pool; new messages are added."""
        ranges: list[list[int]] = []
        for message in messages:
            number = self._numbers.get(message.key)
            if number is None:
                number = self._numbers[message.key] = len(self.messages)
                self._functions |= {call.id: call.name for call in message.calls}
                self.messages.append(self._render(message, f"m{number}"))
            if ranges and ranges[-1][1] == number:
                ranges[-1][1] = number + 1
            else:
                ranges.append([number, number + 1])
        return ranges

    def _render(self, message: Message, id: str) -> dict[str, Json]:
        match message.speaker:
            case "assistant":
                return assistant_message(id, message.text, message.calls)
            case "tool":
                function = self._functions.get(message.call_id)
                return tool_message(id, message.text, message.call_id, function)
            case role:
                return {"id": id, "role": role, "content": message.text, "source": "input"}


def assistant_message(id: str, text: str, calls: Sequence[ToolCall], model: str | None = None) -> dict[str, Json]:
    """An agent's message with its tool calls."""
    message: dict[str, Json] = {"id": id, "role": "assistant", "content": text, "source": "generate"}
    if calls:
        message["tool_calls"] = [_tool_call(call) for call in calls]
    return message | ({"model": model} if model else {})


def tool_message(id: str, text: str, call_id: str, function: str | None, error: Json = None) -> dict[str, Json]:
    """The answer to a tool call."""
    message: dict[str, Json] = {"id": id, "role": "tool", "content": text, "tool_call_id": call_id}
    return message | ({"function": function} if function else {}) | ({"error": error} if error else {})


def _tool_call(call: ToolCall) -> dict[str, Json]:
    document = {"id": call.id, "function": call.name, "type": "function"}
    if isinstance(call.arguments, Mapping):
        return {**document, "arguments": call.arguments}
    if call.arguments in (None, ""):
        return {**document, "arguments": {}}
    return {**document, "arguments": {"text": call.arguments}, "parse_error": "the arguments are no JSON object"}


def call_event(call: Call, pool: MessagePool, clock: Mapping[str, Json]) -> dict[str, Json]:
    """A model call as a model event; `clock` holds its time."""
    reply, id = call.reply, f"{call.actor}-call-{call.number}"
    message = assistant_message(f"{id}-reply", reply.text, reply.calls, reply.model or None)
    stop_reason = STOP_REASONS.get(reply.finish, "tool_calls" if reply.calls and not reply.finish else "unknown")
    output: dict[str, Json] = {
        "model": reply.model or call.model,
        "choices": [{"message": message, "stop_reason": stop_reason}],
        "completion": reply.text,
        "usage": usage_json(reply.usage),
        "time": reply.latency_s,
    }
    event: dict[str, Json] = {
        "event": "model",
        "uuid": id,
        **clock,
        "model": model_name(call.model),
        "input": [],
        "input_refs": cast("Json", pool.refer(call.request.messages)),
        "tools": [dict(tool) for tool in call.request.tools],
        "tool_choice": "auto" if call.request.tools else "none",
        "config": {},
        "output": output,
        "retries": reply.tries - 1,
        "working_time": reply.latency_s,
        "metadata": {"actor": call.actor, "call": call.number, "recorded_at_us": call.at, "request": call.digest},
    }
    return event | ({"cache": "read"} if reply.from_cache else {})


def model_name(model: str) -> str:
    """A model's name in Inspect's spelling: "openai:NAME" is "openai/NAME"."""
    return model.replace(":", "/", 1)


def usage_json(usage: Usage) -> dict[str, Json]:
    """Tokens as Inspect counts them: those read from a provider's cache are separate."""
    tokens: dict[str, Json] = {
        "input_tokens": usage.input - usage.cached,
        "output_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    }
    return tokens | ({"input_tokens_cache_read": usage.cached} if usage.cached else {})
