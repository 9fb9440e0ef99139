"""Two ways of speaking with a model: tool calls, and one JSON object a reply."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from akinai.agents.structured import EXPECTED, read_reply, reasoning_in
from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Move
from akinai.core.models import Message, Reply, ToolCall

NUDGE = "your reply called no tool; go on by calling one, for nothing else is heard"


@dataclass(frozen=True, slots=True)
class Wish:
    """One action of a reply, and the call that its outcome answers."""

    move: Move
    call_id: str = ""


class Speech(Protocol):
    """How moves are read from a model's replies, and how outcomes and old moves are told to it."""

    offers_tools: bool
    """Whether the verbs go beside the conversation as tools; else they are described in the system's message."""

    def wishes(self, verbs: Verbs, reply: Reply) -> list[Wish]:
        """The moves in a reply, in order, at least one."""
        ...

    def answer(self, wish: Wish, told: str) -> Message:
        """The outcome of a wish as the next message."""
        ...

    def retold(self, move: Move, call_id: str) -> tuple[Message, Wish]:
        """A recorded move as if the model had made it."""
        ...


class ByTools:
    """Tool calls, several in a reply."""

    offers_tools = True

    def wishes(self, verbs: Verbs, reply: Reply) -> list[Wish]:
        if not reply.calls:
            return [Wish(Move(Unreadable.of(reply.text, NUDGE)))]
        told = [reply.text, *[""] * (len(reply.calls) - 1)]
        return [
            Wish(Move(verbs.heard(call.name, _object(call), _shown(call)), said), call.id)
            for call, said in zip(reply.calls, told, strict=True)
        ]

    def answer(self, wish: Wish, told: str) -> Message:
        return Message("tool", told, call_id=wish.call_id) if wish.call_id else Message("user", told)

    def retold(self, move: Move, call_id: str) -> tuple[Message, Wish]:
        if isinstance(move.action, Unreadable):
            return Message("assistant", move.action.text), Wish(move)
        call = ToolCall(call_id, move.action.tool_name(), move.action.say())
        return Message("assistant", move.said, (call,)), Wish(move, call_id)


class ByJson:
    """One JSON object a reply, for models without tool calls."""

    offers_tools = False

    def wishes(self, verbs: Verbs, reply: Reply) -> list[Wish]:
        if reply.calls:
            return [Wish(Move(Unreadable.of(_shown(reply.calls[0]), f"no tools are offered here; {EXPECTED}")))]
        return [Wish(Move(read_reply(verbs, reply.text), reasoning_in(reply.text)))]

    def answer(self, wish: Wish, told: str) -> Message:
        return Message("user", told)

    def retold(self, move: Move, call_id: str) -> tuple[Message, Wish]:
        if isinstance(move.action, Unreadable):
            return Message("assistant", move.action.text), Wish(move)
        said = {"reasoning": move.said} if move.said else {}
        told = {"action": move.action.tool_name().upper(), **said, **move.action.say()}
        return Message("assistant", json.dumps(told, ensure_ascii=False)), Wish(move)


def described(verbs: Sequence[type[Action]]) -> str:
    """Verbs as the system's message tells them where no tools are offered."""
    told: list[str] = []
    for verb in verbs:
        tool = verb.tool()
        schema = json.dumps(tool["parameters"], ensure_ascii=False)
        told.append(f"{tool['name'].upper()}: {tool['description']}\nParameters (JSON Schema): {schema}")
    return "\n\n".join(told)


def _object(call: ToolCall) -> object:
    return {} if call.arguments is None or call.arguments == "" else call.arguments


def _shown(call: ToolCall) -> str:
    """A call as text, for the ledger when it cannot be read."""
    given = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
    return f"{call.name}({given})"
