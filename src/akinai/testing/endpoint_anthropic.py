"""Anthropic's messages as a server speaks them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from akinai.core.canonical import Json
from akinai.core.models import Message, Reply, Request, ToolCall, Tools
from akinai.testing.endpoint_wires import Incoming, Refused, expect_pairs, objects_in, pieces, text_in, text_of

_ERRORS = {
    400: "invalid_request_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicWire:
    """`POST /v1/messages`."""

    def read(self, body: Mapping[str, Any]) -> Incoming:
        model, metadata = body.get("model"), body.get("metadata")
        if not isinstance(model, str):
            raise Refused("model: field required")
        if not isinstance(body.get("max_tokens"), int):
            raise Refused("max_tokens: field required")
        turns = objects_in(body.get("messages"), "messages")
        _expect_turns(turns)
        told = [message for turn in turns for message in _messages(turn)]
        system = text_in(body.get("system"))
        messages = (*([Message("system", system)] if system else []), *told)
        expect_pairs(messages)
        return Incoming(
            model=model,
            user=str(metadata.get("user_id") or "") if isinstance(metadata, dict) else "",
            request=Request(messages, Tools(_tool(one) for one in objects_in(body.get("tools"), "tools"))),
            streams=bool(body.get("stream")),
        )

    def write(self, reply: Reply, number: int) -> dict[str, Json]:
        return {
            **_frame(reply, number),
            "content": list(_blocks(reply)),
            "stop_reason": _stop_reason(reply),
            "usage": {**_usage_in(reply), "output_tokens": reply.usage.output},
        }

    def events(self, reply: Reply, number: int, asked: Incoming) -> list[str]:
        before: Json = {**_usage_in(reply), "output_tokens": 0}
        opened: Json = {**_frame(reply, number), "content": [], "stop_reason": None, "usage": before}
        told: list[dict[str, Json]] = [{"type": "message_start", "message": opened}]
        calls = iter(reply.calls)
        for index, block in enumerate(_blocks(reply)):
            if block["type"] == "text":
                empty: Json = {"type": "text", "text": ""}
                deltas: list[Json] = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text)]
            else:
                empty = {**block, "input": {}}
                text = text_of(next(calls).arguments)
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(text)]
            told.append({"type": "content_block_start", "index": index, "content_block": empty})
            told += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            told.append({"type": "content_block_stop", "index": index})
        stop: Json = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
        usage: Json = {**_usage_in(reply), "output_tokens": reply.usage.output}
        told += [{"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]
        return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in told]

    def error(self, status: int, message: str) -> dict[str, Json]:
        return {"type": "error", "error": {"type": _ERRORS.get(status, "api_error"), "message": message}}


def _expect_turns(turns: list[dict[str, Any]]) -> None:
    """Refused for what the provider refuses: no messages, a first one by the assistant, one without content."""
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
    """The messages that one turn holds: a user's blocks are results and texts, each a message of its own."""
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


def _tool(told: Mapping[str, Any]) -> Mapping[str, Json]:
    name, schema = told.get("name"), told.get("input_schema")
    if not isinstance(name, str) or not isinstance(schema, dict):
        raise Refused(f"a tool has a name and an input_schema, not {told!r:.200}")
    return {"name": name, "description": told.get("description", ""), "parameters": schema}


def _blocks(reply: Reply) -> Iterator[dict[str, Json]]:
    if reply.text:
        yield {"type": "text", "text": reply.text}
    for call in reply.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}


def _input(arguments: Json) -> Json:
    """The wire knows objects alone: broken JSON stands in one. In a stream it comes as it is."""
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
    """Of the input, what was read from the cache is told apart, not included."""
    usage = reply.usage
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
    }
