"""The server side of OpenAI's chat completions."""

import json
from collections.abc import Mapping
from typing import Any

from akinai.core.canonical import Json
from akinai.core.models import Message, Reply, Request, Speaker, ToolCall, Tools
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

_ERRORS = {400: "invalid_request_error", 404: "invalid_request_error", 429: "rate_limit_error"}
_ROLES: Mapping[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


class OpenAIWire:
    """`POST /v1/chat/completions`."""

    def read(self, body: Mapping[str, Any]) -> Incoming:
        model, options = body.get("model"), object_in(body.get("stream_options"))
        if not isinstance(model, str):
            raise Refused("you must provide a model parameter")
        messages = tuple(_message(item) for item in objects_in(body.get("messages"), "messages"))
        if not messages:
            raise Refused("messages is empty: there should be at least one")
        expect_pairs(messages)
        return Incoming(
            model=model,
            user=str(body.get("user") or ""),
            request=Request(
                messages, Tools(_tool(tool) for tool in objects_in(body.get("tools"), "tools")), _schema(body)
            ),
            streams=bool(body.get("stream")),
            usage_in_stream=bool((options or {}).get("include_usage")),
        )

    def write(self, reply: Reply, number: int) -> dict[str, Json]:
        message: dict[str, Json] = {"role": "assistant", "content": reply.text or (None if reply.calls else "")}
        message["refusal"] = None
        if reply.calls:
            message["tool_calls"] = [_call(call) for call in reply.calls]
        choice: Json = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
        return {**_frame(reply, number, "chat.completion"), "choices": [choice], "usage": _usage(reply)}

    def events(self, reply: Reply, number: int, incoming: Incoming) -> list[str]:
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in pieces(reply.text)]
        for index, call in enumerate(reply.calls):
            whole, text = _call(call), text_of(call.arguments)
            deltas.append({"tool_calls": [{"index": index, **whole, "function": {"name": call.name, "arguments": ""}}]})
            deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in pieces(text)]
        choices: list[Json] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": _finish(reply)})
        frame = _frame(reply, number, "chat.completion.chunk")
        chunks: list[Json] = [{**frame, "choices": [choice]} for choice in choices]
        if incoming.usage_in_stream:
            chunks.append({**frame, "choices": [], "usage": _usage(reply)})
        return [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]

    def error(self, status: int, message: str) -> dict[str, Json]:
        kind = _ERRORS.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _schema(body: Mapping[str, Any]) -> Mapping[str, Json] | None:
    """The JSON Schema in `response_format`; None without one."""
    form = object_in(body.get("response_format")) or {}
    named = object_in(form.get("json_schema")) or {}
    return object_in(named.get("schema"))


def _message(item: Mapping[str, Any]) -> Message:
    role, content = item.get("role"), item.get("content")
    speaker = _ROLES.get(role) if isinstance(role, str) else None
    if speaker is None:
        raise Refused(f"{role!r:.80} is not one of the roles {', '.join(_ROLES)}")
    calls = tuple(_read_call(call) for call in objects_in(item.get("tool_calls"), "tool_calls"))
    if content is None and not calls:
        raise Refused(f"content of a message by {role!r} should be a string, not null")
    return Message(speaker, text_in(content), calls, str(item.get("tool_call_id") or ""))


def _read_call(call: Mapping[str, Any]) -> ToolCall:
    function = object_in(call.get("function"))
    if function is None or not isinstance(function.get("arguments"), str):
        raise Refused(f"a tool call has a function with arguments as text, not {call!r:.200}")
    return ToolCall(str(call.get("id")), str(function.get("name")), _parsed(function["arguments"]))


def _parsed(text: str) -> Json:
    """Arguments as an object, or as text where they are no JSON object."""
    try:
        value = object_in(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return text if value is None else value


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Json]:
    function = object_in(tool.get("function"))
    if tool.get("type") != "function" or function is None or not isinstance(function.get("name"), str):
        raise Refused(f"a tool is of type 'function' and has a name, not {tool!r:.200}")
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters": function.get("parameters", {}),
    }


def _call(call: ToolCall) -> dict[str, Json]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": text_of(call.arguments)},
    }


def _finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _frame(reply: Reply, number: int, kind: str) -> dict[str, Json]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": reply.model, "system_fingerprint": None}


def _usage(reply: Reply) -> dict[str, Json]:
    usage = reply.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
