"""Protocols for moves in a model's replies: tool calls, or one JSON object in each reply."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Move
from akinai.core.ledger import Outcome
from akinai.core.models import FILTERED, Message, Reply, ToolCall
from akinai.core.replies.arguments import read_call
from akinai.core.replies.moves import EXPECTED, join_texts, read_moves
from akinai.core.replies.thoughts import split_thoughts

NUDGE = "your reply called no tool; go on by calling one, for nothing else is heard"

CUT_NUDGE = "your reply was cut at the limit of its length before it held a whole action; write less"
CUT_FINISHES = frozenset({"length", "max_tokens", "MAX_TOKENS", "model_length"})
"""Why a reply stopped, in the terms of providers, where it was cut at the limit of its length."""

FILTER_NUDGE = "a content filter of the model's server withheld the reply (content_filter); go on with another action"
FILTER_FINISHES = frozenset({FILTERED, "refusal", "safety", "SAFETY", "PROHIBITED_CONTENT"})
"""Why a reply stopped, in the terms of providers, where a filter stopped it."""


@dataclass(frozen=True, slots=True)
class RequestedMove:
    """A move in a model's reply."""

    move: Move
    call_id: str = ""
    """The id of the tool call that its outcome answers; empty without a tool call."""


class ActionProtocol(Protocol):
    """The form in which a model writes its actions and reads their outcomes."""

    offers_tools: bool
    """Whether the verbs are sent as tools; otherwise the system message describes them."""

    def read_moves(self, verbs: Verbs, reply: Reply) -> list[RequestedMove]:
        """The moves in a reply, in order; at least one, unreadable where the reply holds none."""
        ...

    def render_outcome(self, requested: RequestedMove, text: str) -> Message:
        """The outcome of a move as the next message of the conversation."""
        ...

    def render_move(self, move: Move, call_id: str) -> tuple[Message, RequestedMove]:
        """A recorded move as if the model had made it now, with this id for its tool call."""
        ...


class ToolCallProtocol:
    """Actions are tool calls; a reply may hold several."""

    offers_tools = True

    def read_moves(self, verbs: Verbs, reply: Reply) -> list[RequestedMove]:
        if not reply.calls:
            return [RequestedMove(_with_thinking(Move(Unreadable.of(reply.text, _stopped(reply) or NUDGE)), reply))]
        parts = split_thoughts(reply.text)
        moves = [read_call(verbs, call.name, call.arguments, _call_text(call)) for call in reply.calls]
        text = parts.text.strip() if parts.thoughts else reply.text
        moves[0] = replace(moves[0], said=join_texts(text, moves[0].said), thoughts=parts.thoughts)
        if isinstance(moves[-1].action, Unreadable) and reply.finish in CUT_FINISHES:
            moves[-1] = replace(moves[-1], action=Unreadable.of(_call_text(reply.calls[-1]), CUT_NUDGE))
        moves[0] = _with_thinking(moves[0], reply)
        return [RequestedMove(move, call.id) for call, move in zip(reply.calls, moves, strict=True)]

    def render_outcome(self, requested: RequestedMove, text: str) -> Message:
        return Message("tool", text, call_id=requested.call_id) if requested.call_id else Message("user", text)

    def render_move(self, move: Move, call_id: str) -> tuple[Message, RequestedMove]:
        if isinstance(move.action, Unreadable):
            return Message("assistant", move.action.text), RequestedMove(move)
        call = ToolCall(call_id, move.action.tool_name(), move.action.encode())
        return Message("assistant", move.said, (call,)), RequestedMove(move, call_id)


class JsonProtocol:
    """Each reply is one JSON object with an action, for models without tool calls."""

    offers_tools = False

    def read_moves(self, verbs: Verbs, reply: Reply) -> list[RequestedMove]:
        if reply.calls:
            text = _call_text(reply.calls[0])
            moves: Sequence[Move] = [Move(Unreadable.of(text, f"no tools are offered here; {EXPECTED}"))]
        else:
            moves = read_moves(verbs, reply.text)
            if isinstance(moves[0].action, Unreadable) and (why := _stopped(reply)):
                moves = [replace(moves[0], action=Unreadable.of(reply.text, f"{why}; {EXPECTED}"))]
        return [RequestedMove(move) for move in (_with_thinking(moves[0], reply), *moves[1:])]

    def render_outcome(self, requested: RequestedMove, text: str) -> Message:
        return Message("user", text)

    def render_move(self, move: Move, call_id: str) -> tuple[Message, RequestedMove]:
        if isinstance(move.action, Unreadable):
            return Message("assistant", move.action.text), RequestedMove(move)
        reasoning = {"reasoning": move.said} if move.said else {}
        reply = {"action": move.action.tool_name().upper(), **reasoning, **move.action.encode()}
        return Message("assistant", json.dumps(reply, ensure_ascii=False)), RequestedMove(move)


def form_of_reply(verbs: Sequence[type[Action]]) -> str:
    """A reply of JSON in a sentence, with names of these verbs: small models copy an example to the letter."""
    bare: dict[bool, str] = {}
    for verb in verbs:
        bare.setdefault(not verb.tool()["parameters"]["properties"], verb.tool_name().upper())
    names = [f"{bare[False]} with parameters beside it"] if False in bare else []
    names += [f"{bare[True]} alone"] if True in bare else []
    return f"The action of a reply is for example {', or '.join(names)}." if names else ""


def describe_verbs(verbs: Sequence[type[Action]]) -> str:
    """The verbs as the system message describes them where no tools are offered, below the form of a reply."""
    descriptions = [form_of_reply(verbs)] if verbs else []
    for verb in verbs:
        schema = json.dumps(_without_empty_required(verb.tool()["parameters"]), ensure_ascii=False)
        about = f"{verb.tool_name().upper()}: {verb.description(named=True)}"
        descriptions.append(f"{about}\nParameters (JSON Schema): {schema}")
    return "\n\n".join(descriptions)


def _without_empty_required(schema: Any) -> Any:
    """A schema without its empty lists of required fields, which small models copy among the parameters."""
    if isinstance(schema, list):
        return [_without_empty_required(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("dict[str, Any]", schema)
    return {key: _without_empty_required(item) for key, item in fields.items() if (key, item) != ("required", [])}


def outcome_text(outcome: Outcome) -> str:
    """The text of an outcome as its agent reads it: a refusal begins with its code."""
    return outcome.text if outcome.ok else f"Refused ({outcome.code}): {outcome.text}"


def _stopped(reply: Reply) -> str:
    """What a server did to a reply that holds no whole action; empty where the model ended it itself."""
    return FILTER_NUDGE if reply.finish in FILTER_FINISHES else CUT_NUDGE if reply.finish in CUT_FINISHES else ""


def _with_thinking(move: Move, reply: Reply) -> Move:
    """The move with the thinking that its server gave in a field of its own, before the thoughts in its text."""
    return replace(move, thoughts=join_texts(reply.message.thinking, move.thoughts))


def _call_text(call: ToolCall) -> str:
    """A call as text, kept in the ledger when it cannot be read."""
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
    return f"{call.name}({arguments})"
