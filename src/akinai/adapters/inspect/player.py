"""A seat of a session that is played by Inspect's model and tools loop."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from akinai.adapters.inspect.framework import (
    ChatMessageUser,
    ToolDef,
    ToolError,
    ToolInfo,
    ToolParams,
    execute_tools,
    get_model,
)
from akinai.agents.chat import Window, estimated_tokens
from akinai.agents.protocols import RequestedMove, ToolCallProtocol
from akinai.api.seat import Answer, Seat
from akinai.api.session import AsyncSession
from akinai.core.agents import Move
from akinai.core.errors import EndRun
from akinai.core.models import Message, Reply, ToolCall


@dataclass(frozen=True)
class _Sized(Message):
    """A message as the window counts it, with Inspect's own."""

    original: Any = None


class Player:
    """Plays a seat to the end of its run: asks the model with the conversation's newest messages, takes its actions."""

    def __init__(self, seat: Seat[AsyncSession], head: Sequence[Any], window_tokens: int, max_replies: int = 0) -> None:
        """`head` are the messages that never leave the window; after `max_replies` the seat is left, 0 is no cap."""
        self._seat, self._head, self._left = seat, list(head), max_replies or None
        self._window = Window(window_tokens)
        self._reserved = sum(estimated_tokens(Message("user", message.text)) for message in head)
        self._tools = model_tools(seat)

    async def play(self, messages: list[Any]) -> Any:
        """The output of the last call; `messages` gets what is added to the conversation."""
        output = None
        while not self._seat.session.done:
            if self._left == 0:
                with suppress(EndRun):
                    await self._seat.session.leave("message_cap", self._seat.actor)
                break
            self._left = self._left and self._left - 1
            self._window.overflow(self._reserved)
            newest = [message.original for message in self._window.messages if isinstance(message, _Sized)]
            output = await get_model().generate([*self._head, *newest], self._tools)
            self._add(messages, output.message)
            for message in await self._answer(output.message):
                self._add(messages, message)
        return output

    def _add(self, messages: list[Any], message: Any) -> None:
        messages.append(message)
        speaker = "assistant" if message.role == "assistant" else "user"
        calls = tuple(ToolCall(call.id, call.function, str(call.arguments)) for call in _calls(message))
        self._window.add(_Sized(speaker, message.text, calls, original=message))

    async def _answer(self, message: Any) -> Sequence[Any]:
        """The answers to a reply, each of whose calls is an action; so is a reply without any."""
        calls = _calls(message)
        reply = Reply(message.text, tuple(ToolCall(call.id, call.function, _arguments(call)) for call in calls))
        requested = ToolCallProtocol().read_moves(self._seat.session.world.verbs, reply)
        if not calls:
            answer = await self._take(requested[0].move)
            return [ChatMessageUser(content=answer.text, metadata=answer.metadata)]
        answers: list[Any] = []
        for call, move in zip(calls, requested, strict=True):
            answers += await self._execute(message, call, move)
        return answers

    async def _execute(self, message: Any, call: Any, requested: RequestedMove) -> Sequence[Any]:
        """A call through Inspect's tools, which record it; whatever it asks for, the session judges it."""

        answers: list[Answer] = []

        async def act(**kwargs: Any) -> str:
            answers.append(answer := await self._take(requested.move))
            if not answer.ok:
                raise ToolError(answer.text)
            return answer.text

        # Any name and any arguments: what is no action of the world is an entry of the ledger, too.
        anything = ToolParams(additionalProperties=True)
        tool = ToolDef(act, call.function, "An action.", anything, parallel=False, max_output=0)
        if call.parse_error:
            call = replace(call, parse_error=None, arguments={"parse_error": call.parse_error})
        alone = message.model_copy(update={"tool_calls": [call]})
        messages: list[Any] = (await execute_tools([*self._head, alone], [tool])).messages
        metadata = answers[0].metadata if answers else None
        return [message.model_copy(update={"metadata": metadata}) for message in messages]

    async def _take(self, move: Move) -> Answer:
        """Take an action."""
        seat = self._seat
        return seat.over() if seat.session.done else await seat.settle(seat.take(move))


def model_tools(seat: Seat[AsyncSession]) -> list[Any]:
    """All actions of the seat as Inspect's tools; those that are not offered now are refused."""
    return [
        ToolInfo(
            name=tool["name"],
            description=tool["description"],
            parameters=ToolParams.model_validate(_alternatives(tool["parameters"])),
        )
        for tool in seat.tools()
    ]


def _alternatives(schema: Any) -> Any:
    """A schema in the words that Inspect's has: `anyOf` for `oneOf`, `enum` for `const`."""
    if isinstance(schema, list):
        return [_alternatives(item) for item in schema]  # pyright: ignore[reportUnknownVariableType] - JSON
    if not isinstance(schema, Mapping):
        return schema
    plain = {str(key): _alternatives(item) for key, item in schema.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
    if "oneOf" in plain:
        plain["anyOf"] = plain.pop("oneOf")
    if "const" in plain and "enum" not in plain:
        plain["enum"] = [plain.pop("const")]
    return plain


def _calls(message: Any) -> Sequence[Any]:
    return getattr(message, "tool_calls", None) or ()


def _arguments(call: Any) -> Any:
    """A call's arguments; where they could not be parsed, why, which no action takes."""
    return call.parse_error or call.arguments
