"""Model: what turns a conversation into a reply. A protocol; the providers live behind it in `runtime.models`."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from akinai.core.canonical import Json, canonical

Speaker = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to use a tool."""

    id: str
    name: str
    arguments: Json
    """An object as the provider parsed it, or the text that it could not parse."""


@dataclass(frozen=True)
class Message:
    """One part of a conversation."""

    speaker: Speaker
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant's message."""
    call_id: str = ""
    """Of a tool's message: the call that it answers."""

    def to_json(self) -> dict[str, Json]:
        told: dict[str, Json] = {"speaker": self.speaker, "text": self.text}
        if self.calls:
            told["calls"] = [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in self.calls]
        if self.call_id:
            told["call_id"] = self.call_id
        return told

    @cached_property
    def key(self) -> bytes:
        """16 bytes of BLAKE2b over its canonical JSON: what it says has this key. Made once, since a message stands in
        as many requests as a window is long."""
        return _key(self.to_json())

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> "Message":
        calls = tuple(ToolCall(one["id"], one["name"], one["arguments"]) for one in told.get("calls", ()))
        return Message(told["speaker"], told["text"], calls, told.get("call_id", ""))


class Tools(tuple[Mapping[str, Json], ...]):
    """What a model may call: name, description and parameters (JSON Schema) of each, as `Action.tool` gives them."""

    @cached_property
    def key(self) -> bytes:
        """As of a message; made once, since every request of an agent offers the same ones."""
        return _key(list(self))


NO_TOOLS = Tools()


@dataclass(frozen=True)
class Request:
    """What a model is asked: a conversation and the tools it may call."""

    messages: tuple[Message, ...]
    tools: Tools = NO_TOOLS

    def to_json(self) -> dict[str, Json]:
        return {"messages": [one.to_json() for one in self.messages], "tools": list(self.tools)}

    @cached_property
    def digest(self) -> str:
        """SHA-256 in hex over the keys of its tools and messages: the same question has the same digest."""
        return digest_of(self).hexdigest()


def digest_of(request: Request, behind: int = 0, begun: Any = None) -> Any:
    """The hash of a request; `begun` may hold that of its tools and its first `behind` messages."""
    hashed = begun.copy() if begun else hashlib.sha256(request.tools.key)
    hashed.update(b"".join([message.key for message in request.messages[behind:]]))
    return hashed


def _key(told: Json) -> bytes:
    return hashlib.blake2b(canonical(told).encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the provider counted them; 0 where it told nothing."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Of the input, those that the provider had read before."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input + other.input, self.output + other.output, self.cached + other.cached)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """The model's id as the provider returned it."""
    finish: str = ""
    """Why it stopped, in the provider's word."""
    latency_s: float = 0.0
    """Of the try that succeeded."""
    tries: int = 1
    from_cache: bool = False

    @property
    def message(self) -> Message:
        """The reply as it stands in the conversation that follows."""
        return Message("assistant", self.text, self.calls)

    def to_json(self) -> dict[str, Json]:
        return {
            "message": self.message.to_json(),
            "usage": {"input": self.usage.input, "output": self.usage.output, "cached": self.usage.cached},
            "model": self.model,
            "finish": self.finish,
            "latency_s": self.latency_s,
            "tries": self.tries,
            "from_cache": self.from_cache,
        }

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> "Reply":
        message, usage = Message.from_json(told["message"]), told["usage"]
        return Reply(
            message.text,
            message.calls,
            Usage(usage["input"], usage["output"], usage["cached"]),
            told["model"],
            told["finish"],
            told["latency_s"],
            told["tries"],
            told["from_cache"],
        )


class Model(Protocol):
    """Something that answers. ModelError when it cannot, after all tries."""

    name: str
    """As it was asked for: "openai:gpt-x"."""

    async def reply(self, request: Request) -> Reply:
        """The answer to one request."""
        ...


class Asker(Protocol):
    """Where an agent's requests go: a model, with every call written down before its reply is used."""

    async def ask(self, request: Request) -> Reply:
        """The reply to this actor's next call: recorded, or made now and recorded. EndRun when a budget is spent."""
        ...
