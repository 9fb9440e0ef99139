"""Model: turns a conversation into a reply. A protocol; `runtime.models` implements it for all providers."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from akinai.core.canonical import Json, as_json, canonical

TIMEOUT_S = 180.0
"""Seconds to wait for a reply, of a model or of a program, by default."""
THINK, END_THINK = "<think>\n", "\n</think>"
"""The marks around thinking, as records and screens show it."""
FILTERED = "content_filter"
"""Why a reply is missing or cut: a content filter of the provider."""
Speaker = Literal["system", "user", "assistant", "tool"]


def estimate_tokens(text: str) -> int:
    """An estimate of the tokens of a text: one for four characters of ASCII, one for any other character.

    A rule of thumb for large models in English and Japanese; for billing, use the model's own tokenizer.
    """
    ascii_characters = len(text.encode("ascii", "ignore"))
    return -(-ascii_characters // 4) + len(text) - ascii_characters


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that a model asks for."""

    id: str
    name: str
    arguments: Json
    """The object that the provider parsed, or the text that it could not parse."""


@dataclass(frozen=True)
class Message:
    """One part of a conversation."""

    speaker: Speaker
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Only in an assistant's message."""
    call_id: str = ""
    """Only in a tool's message: the call that it answers."""
    thoughts: tuple[Json, ...] = ()
    """Only in an assistant's message: the blocks of its thinking, which go back to the server that wrote them."""

    @property
    def thinking(self) -> str:
        """The text of its thoughts; a text that a server wrote into two fields counts once."""
        texts = [_thought_text(block) for block in self.thoughts]
        return "\n".join(dict.fromkeys(text for text in texts if text))

    @property
    def marked_text(self) -> str:
        """Its thinking between marks, then its text."""
        return f"{marked_thinking(self.thinking)}\n{self.text}".strip() if self.thinking else self.text

    def to_json(self) -> dict[str, Json]:
        more = {"calls": self.calls, "call_id": self.call_id, "thoughts": self.thoughts}
        return {"speaker": self.speaker, "text": self.text} | {
            name: as_json(part) for name, part in more.items() if part
        }

    @cached_property
    def key(self) -> bytes:
        """16 bytes of BLAKE2b over its canonical JSON. Computed once, since a message is part of many requests."""
        return _key(self.to_json())

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Message":
        calls = tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in data.get("calls", ()))
        return Message(data["speaker"], data["text"], calls, data.get("call_id", ""), tuple(data.get("thoughts", ())))


def marked_thinking(thinking: str, limit: int | None = None) -> str:
    """Thinking as records and screens show it, between marks; empty for none. Of more than `limit` the end is shown."""
    if not thinking:
        return ""
    excerpt = thinking if limit is None or len(thinking) <= limit else f"...{thinking[3 - limit :]}"
    return f"{THINK}{excerpt.replace(END_THINK, '')}{END_THINK}"


def _thought_text(block: Json) -> str:
    """The text of a block of thinking: a string, or a list of text blocks; empty for thinking that is encrypted."""
    text = block.get("thinking") if isinstance(block, Mapping) else None
    if isinstance(text, str):
        return text.strip()
    parts = text if isinstance(text, Sequence) else ()
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping)).strip()


class Tools(tuple[Mapping[str, Json], ...]):
    """The tools that a model may call: name, description and parameters (JSON Schema), as in `Action.tool`."""

    @cached_property
    def key(self) -> bytes:
        """16 bytes of BLAKE2b, as in a message. Computed once, since an agent's requests all offer the same tools."""
        return _key(list(self))


NO_TOOLS = Tools()


@dataclass(frozen=True)
class Request:
    """A request to a model: a conversation and the tools that it may call."""

    messages: tuple[Message, ...]
    tools: Tools = NO_TOOLS
    schema: Mapping[str, Json] | None = None
    """The JSON Schema of the object that the reply should be; providers without structured output ignore it."""

    def to_json(self) -> dict[str, Json]:
        data: dict[str, Json] = {"messages": [m.to_json() for m in self.messages], "tools": list(self.tools)}
        return data if self.schema is None else {**data, "schema": self.schema}

    @cached_property
    def digest(self) -> str:
        """SHA-256 in hex over its tools, messages and schema: equal requests have equal digests."""
        hashed = digest_of(self)
        if self.schema is not None:
            hashed.update(_key(self.schema))
        return hashed.hexdigest()


class Hash(Protocol):
    """A hash object of `hashlib`."""

    def update(self, data: bytes, /) -> None: ...
    def copy(self) -> "Hash": ...
    def hexdigest(self) -> str: ...


def digest_of(request: Request, skip: int = 0, prefix: Hash | None = None) -> Hash:
    """The hash of a request. `prefix` may be the hash of its tools and its first `skip` messages."""
    hashed = prefix.copy() if prefix else hashlib.sha256(request.tools.key)
    hashed.update(b"".join([message.key for message in request.messages[skip:]]))
    return hashed


def _key(data: Json) -> bytes:
    return hashlib.blake2b(canonical(data).encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; 0 where it reported none."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Input tokens that came from the provider's prompt cache."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input + other.input, self.output + other.output, self.cached + other.cached)


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer to one request."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """The model's id as the provider returned it."""
    finish: str = ""
    """Why it stopped, in the provider's term."""
    latency_s: float = 0.0
    """Seconds of the attempt that succeeded."""
    tries: int = 1
    from_cache: bool = False
    thoughts: tuple[Json, ...] = ()
    """Blocks of thinking, as in a message. They decide nothing."""

    @property
    def message(self) -> Message:
        """The reply as a message of the conversation."""
        return Message("assistant", self.text, self.calls, thoughts=self.thoughts)

    def to_json(self) -> dict[str, Json]:
        return {
            "message": self.message.to_json(),
            "usage": as_json(self.usage),
            "model": self.model,
            "finish": self.finish,
            "latency_s": self.latency_s,
            "tries": self.tries,
            "from_cache": self.from_cache,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Reply":
        message, usage = Message.from_json(data["message"]), data["usage"]
        return Reply(
            message.text,
            message.calls,
            Usage(usage["input"], usage["output"], usage["cached"]),
            data["model"],
            data["finish"],
            data["latency_s"],
            data["tries"],
            data["from_cache"],
            message.thoughts,
        )


class Model(Protocol):
    """A language model."""

    name: str
    """Its name as `--model` takes it: "openai:gpt-x"."""

    async def reply(self, request: Request) -> Reply:
        """The answer to one request. ModelError when there is none after all attempts."""
        ...


class Asker(Protocol):
    """Takes an agent's requests to a model and records every call before its reply is used."""

    async def ask(self, request: Request) -> Reply:
        """The reply to this actor's next call, from the record or made now. EndRun when the budget is spent."""
        ...
