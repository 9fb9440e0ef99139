"""The server side of Anthropic's messages."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from akinai.core.canonical import Json
from akinai.core.models import Message, Reply, Request, ToolCall, Tools
from akinai.testing.endpoint.wires import (
    Incoming,
    Refused,
    expect_pairs,
    object_in,
    objects_in,
    pieces,
    text_in,
    text_of,
)

_ERRORS = {
    400: "invalid_request_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicWire:
    """`POST /v1/messages`."""

    def read(self, body: Mapping[str, Any]) -> Incoming:
        model, metadata = body.get("model"), object_in(body.get("metadata"))
        if not isinstance(model, str):
            raise Refused("model: field required")
        if not isinstance(body.get("max_tokens"), int):
            raise Refused("max_tokens: field required")
        turns = objects_in(body.get("messages"), "messages")
        _expect_turns(turns)
        spoken = [message for turn in turns for message in _messages(turn)]
        system = text_in(body.get("system"))
        messages = (*([Message("system", system)] if system else []), *spoken)
        expect_pairs(messages)
        return Incoming(
            model=model,
            user=str((metadata or {}).get("user_id") or ""),
            request=Request(messages, Tools(_tool(tool) for tool in objects_in(body.get("tools"), "tools"))),
            streams=bool(body.get("stream")),
        )

    def write(self, reply: Reply, number: int) -> dict[str, Json]:
        return {
            **_frame(reply, number),
            "content": list(_blocks(reply)),
            "stop_reason": _stop_reason(reply),
            "usage": {**_usage_in(reply), "output_tokens": reply.usage.output},
        }

    def events(self, reply: Reply, number: int, incoming: Incoming) -> list[str]:
        before: Json = {**_usage_in(reply), "output_tokens": 0}
        opened: Json = {**_frame(reply, number), "content": [], "stop_reason": None, "usage": before}
        events: list[dict[str, Json]] = [{"type": "message_start", "message": opened}]
        calls = iter(reply.calls)
        for index, block in enumerate(_blocks(reply)):
            if block["type"] == "text":
                empty: Json = {"type": "text", "text": ""}
                deltas: list[Json] = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text)]
            else:
                empty = {**block, "input": {}}
                text = text_of(next(calls).arguments)
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(text)]
            events.append({"type": "content_block_start", "index": index, "content_block": empty})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        stop: Json = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
        usage: Json = {**_usage_in(reply), "output_tokens": reply.usage.output}
        events.append({"type": "message_delta", "delta": stop, "usage": usage})
        events.append({"type": "message_stop"})
        return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]

    def error(self, status: int, message: str) -> dict[str, Json]:
        return {"type": "error", "error": {"type": _ERRORS.get(status, "api_error"), "message": message}}


def _expect_turns(turns: list[dict[str, Any]]) -> None:
    """Raise Refused as the provider does: no messages, a first message by the assistant, a message without content."""
    if not turns:
        raise Refused("messages: at least one message is required")
    if turns[0].get("role") != "user":
        raise Refused("messages.0: the first message must be by the user")
    for index, turn in enumerate(turns):
        if turn.get("role") not in ("user", "assistant"):
            raise Refused(f"messages.{index}.role: 'user' or 'assistant', not {turn.get('role')!r:.80}")
        last = index == len(turns) - 1 and turn["role"] == "assistant"
        if not turn.get("content") and not last:
            raise Refused(f"messages.{index}: all messages must have non-empty content")


def _messages(turn: Mapping[str, Any]) -> Iterator[Message]:
    """The messages of a turn: each of a user's blocks, a result or a text, is a message of its own."""
    content = turn["content"]
    if isinstance(content, str):
        yield Message(turn["role"], content)
        return
    blocks = objects_in(content, "content")
    if any(block.get("type") == "text" and not block.get("text") for block in blocks):
        raise Refused("text content blocks must be non-empty")
    if turn["role"] == "assistant":
        calls = tuple(_read_call(block) for block in blocks if block.get("type") == "tool_use")
        yield Message("assistant", text_in(content), calls)
        return
    for block in blocks:
        if block.get("type") == "tool_result":
            yield Message("tool", text_in(block.get("content")), call_id=str(block.get("tool_use_id")))
        elif block.get("type") == "text":
            yield Message("user", str(block["text"]))


def _read_call(block: Mapping[str, Any]) -> ToolCall:
    if not isinstance(block.get("input"), dict):
        raise Refused(f"tool_use.input: input should be a dictionary, not {block.get('input')!r:.80}")
    return ToolCall(str(block.get("id")), str(block.get("name")), block["input"])


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Json]:
    name, schema = tool.get("name"), object_in(tool.get("input_schema"))
    if not isinstance(name, str) or schema is None:
        raise Refused(f"a tool has a name and an input_schema, not {tool!r:.200}")
    return {"name": name, "description": tool.get("description", ""), "parameters": schema}


def _blocks(reply: Reply) -> Iterator[dict[str, Json]]:
    if reply.text:
        yield {"type": "text", "text": reply.text}
    for call in reply.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}


def _input(arguments: Json) -> Json:
    """The arguments as an object, as this wire needs them: broken JSON is wrapped. A stream sends it unchanged."""
    return {"INVALID_JSON": arguments} if isinstance(arguments, str) else arguments


def _stop_reason(reply: Reply) -> str:
    return reply.finish or ("tool_use" if reply.calls else "end_turn")


def _frame(reply: Reply, number: int) -> dict[str, Json]:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "stop_sequence": None,
    }


def _usage_in(reply: Reply) -> dict[str, Json]:
    """Anthropic counts cached tokens apart from the other input tokens."""
    usage = reply.usage
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
    }
