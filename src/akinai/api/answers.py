"""Replies of OpenAI's and Anthropic's clients: the tool calls in them, and the messages that answer them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from akinai.api.seat import Answer
from akinai.core.errors import UsageError
from akinai.core.models import Reply, ToolCall

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ClientReply:
    """A reply as its client returned it."""

    message: Any
    """What the conversation keeps of it; None for a reply that holds nothing."""
    reply: Reply
    anthropic: bool

    def messages(self, answers: Sequence[Answer]) -> list[Any]:
        """The reply and its answers, one for each call or one for a reply without calls, as the next messages."""
        kept = [] if self.message is None else [self.message]
        if not self.reply.calls:
            return [*kept, *({"role": "user", "content": answer.text} for answer in answers)]
        pairs = list(zip(self.reply.calls, answers, strict=True))
        if not self.anthropic:
            return [
                *kept,
                *({"role": "tool", "tool_call_id": call.id, "content": answer.text} for call, answer in pairs),
            ]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": answer.text, "is_error": not answer.ok}
            for call, answer in pairs
        ]
        return [*kept, {"role": "user", "content": results}]


def read_reply(reply: Any) -> ClientReply:
    """A chat completion of OpenAI's client or a message of Anthropic's, as an object or as JSON.

    UsageError for anything else.
    """
    document = _document(reply)
    choices: Any = document.get("choices")
    if choices:
        return _chat_message(choices[0]["message"] if isinstance(reply, Mapping) else reply.choices[0].message)
    if isinstance(document.get("content"), list) and document.get("role") == "assistant":
        return _anthropic_message(document, document["content"] if isinstance(reply, Mapping) else reply.content)
    raise UsageError(
        f"a {type(reply).__name__} is no reply of a model; "
        "pass the chat completion of OpenAI's client or the message of Anthropic's"
    )


def _chat_message(message: Any) -> ClientReply:
    document = _document(message)
    calls = tuple(
        ToolCall(call["id"], call["function"]["name"], call["function"].get("arguments"))
        for call in document.get("tool_calls") or ()
        if "function" in call
    )
    text = document.get("content") or document.get("refusal") or ""
    return ClientReply(message if calls or text else None, Reply(text, calls), anthropic=False)


def _anthropic_message(document: Document, content: Any) -> ClientReply:
    blocks = cast("list[Document]", document["content"])
    calls = tuple(
        ToolCall(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"
    )
    text = "\n\n".join(block["text"] for block in blocks if block["type"] == "text")
    message = {"role": "assistant", "content": content} if blocks else None
    return ClientReply(message, Reply(text, calls), anthropic=True)


def _document(reply: Any) -> Document:
    """A client's object as JSON, without what the provider did not send."""
    if isinstance(reply, Mapping):
        return cast("Document", reply)
    dump = getattr(reply, "model_dump", None)
    return dump(mode="json", exclude_unset=True) if dump else {}
