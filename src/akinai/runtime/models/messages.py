"""Conversations and replies as LangChain's messages."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never, cast

from akinai.core.canonical import Json, bad_text, canonical, keepable
from akinai.core.models import Message, Reply, ToolCall, Usage
from akinai.runtime.models.transport import FIELD, THOUGHT, unwrap, wrap

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage


BESIDE = "beside"
"""The field of a thought that LangChain keeps beside a message, and gives to its server in the server's own field."""


class Messages:
    """A conversation as LangChain's messages. A request that continues the last one has only its end converted."""

    def __init__(self) -> None:
        self._last: tuple[Message, ...] = ()
        self._converted: list[BaseMessage] = []

    def convert(self, messages: tuple[Message, ...]) -> "list[BaseMessage]":
        """The messages for LangChain. A system message after others becomes a user's, which all servers accept."""
        from langchain_core.messages import SystemMessage

        begin = len(self._last)
        converted = [*self._converted] if messages[:begin] == self._last else []
        for message in messages[len(converted) :]:
            leads = not converted or isinstance(converted[-1], SystemMessage)
            system = message.speaker == "system" and leads
            converted.append(SystemMessage(keepable(message.text)) if system else _converted(message))
        self._last, self._converted = messages, converted
        return [*converted]


def _converted(message: Message) -> "BaseMessage":
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    text = keepable(message.text)
    match message.speaker:
        case "system" | "user":
            return HumanMessage(text)
        case "assistant":
            calls = [
                {"type": "tool_call", "id": call.id, "name": call.name, "args": _args(call)} for call in message.calls
            ]
            thoughts = [cast("Mapping[str, Json]", thought) for thought in message.thoughts]
            beside = {"reasoning_content": message.thinking} if thoughts else {}
            if all(thought.get(FIELD) == BESIDE for thought in thoughts):
                return AIMessage(text, tool_calls=calls, additional_kwargs=beside)
            blocks: list[Any] = [*map(_thought, message.thoughts), *([{"type": "text", "text": text}] if text else [])]
            return AIMessage(blocks, tool_calls=calls, additional_kwargs=beside)
        case "tool":
            return ToolMessage(text, tool_call_id=message.call_id)
        case _:
            assert_never(message.speaker)


def _thought(block: Json) -> dict[str, Any]:
    """A thought as a content block: as its server wrote it, wrapped where it goes into a field beside it."""
    thought = dict(cast("Mapping[str, Any]", block))
    return {"type": THOUGHT, THOUGHT: thought} if FIELD in thought else thought


def _args(call: ToolCall) -> dict[str, Any]:
    args = wrap(call.arguments)
    text = canonical(args)
    return args if bad_text(text) is None else json.loads(keepable(text))


def reply_in(message: "AIMessage") -> Reply:
    """The reply in LangChain's message."""
    metadata = message.response_metadata
    finish = metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("done_reason")
    return Reply(
        text=str(message.text) or message.additional_kwargs.get("refusal") or "",
        calls=tuple(_calls([*message.tool_calls, *message.invalid_tool_calls])),
        usage=_usage(message),
        model=str(metadata.get("model_name") or metadata.get("model") or ""),
        finish=str(finish or ""),
        thoughts=tuple(_thoughts(message)),
    )


def _thoughts(message: "AIMessage") -> Iterable[Json]:
    """The blocks of thinking in a message of any provider."""
    for item in message.content if isinstance(message.content, list) else ():
        block = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        if block.get("type") in ("thinking", "redacted_thinking"):
            fields = {key: value for key, value in block.items() if key != "index"}
            yield json.loads(keepable(canonical(cast("Json", fields))))
    beside = message.additional_kwargs.get("reasoning_content")
    if isinstance(message.content, str) and isinstance(beside, str) and beside:
        yield {"type": "thinking", "thinking": keepable(beside), FIELD: BESIDE}


def _calls(raw_calls: Sequence[Any]) -> Iterable[ToolCall]:
    """The calls, each with a unique id: some servers give none, or the same one to all."""
    ids: set[str] = set()
    for number, raw in enumerate(raw_calls, 1):
        id = raw.get("id") or ""
        if not id or id in ids:
            id = f"{id or 'call'}_{number}"
        ids.add(id)
        yield ToolCall(id, raw.get("name") or "", unwrap(raw.get("args")))


def _usage(message: "AIMessage") -> Usage:
    usage = message.usage_metadata
    if usage is None:
        return Usage()
    details = cast("dict[str, int | None]", usage.get("input_token_details") or {})
    # A priority or flex tier adds its name as a prefix.
    cached = sum(count or 0 for name, count in details.items() if name.endswith("cache_read"))
    return Usage(usage["input_tokens"], usage["output_tokens"], cached)
