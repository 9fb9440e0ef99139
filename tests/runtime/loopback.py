"""What the tests of models share: a server on loopback that answers as it is told, a clock of their own."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from akinai.core.models import Message, Request, Tools
from akinai.runtime.models.contract import terms_of
from akinai.runtime.models.langchain import LangChainModel, open_model
from akinai.runtime.models.rate_limit import Clock
from akinai.testing.endpoint import Endpoint
from akinai.testing.endpoint.http import Connection, HttpAnswer, HttpRequest, Server

TOOLS = Tools(
    (
        {
            "name": "set_price",
            "description": "Set a price.",
            "parameters": {
                "type": "object",
                "properties": {"slot": {"type": "string"}, "price": {"type": "number"}},
                "required": ["slot"],
            },
        },
        {
            "name": "advance_day",
            "description": "Go to the next day.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    )
)
HELLO = Request((Message("system", "You run a shop."), Message("user", "Begin.")), TOOLS)


def asking(text: str) -> Request:
    """A request that differs from others by its text."""
    return Request((Message("user", text),))


@dataclass
class Stopwatch:
    """A clock on which nobody waits: to sleep is to be told so and to be later."""

    time_s: float = 0.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time_s += seconds
        await asyncio.sleep(0)

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: self.time_s, sleep=self.sleep, jitter=lambda: 1.0)


@asynccontextmanager
async def model_at(
    server: "Endpoint | Loopback", provider: str = "openai", **options: Any
) -> AsyncIterator[LangChainModel]:
    """A model that is served there; it waits for nothing unless it is told to."""
    url = server.url if provider == "anthropic" else server.openai_url
    options = {"clock": Stopwatch().clock, "timeout_s": 20.0, **options}
    async with open_model(f"{provider}:test", base_url=url, **options) as model:
        yield model


@dataclass
class Loopback:
    """Answers in order, the last one again and again, and keeps what it was sent."""

    answers: Sequence[HttpAnswer]
    bodies: list[Mapping[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    now: Callable[[], float] = time.monotonic
    at: list[float] = field(default_factory=list)
    """When each request came, on the clock of `now`."""
    port: int = 0
    refuse: Callable[[Mapping[str, Any]], HttpAnswer | None] = lambda _: None
    """The answer to a body that it does not take; None for one that it does."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    async def handle(self, request: HttpRequest, connection: Connection) -> HttpAnswer:
        self.bodies.append(json.loads(request.body))
        self.headers.append(request.headers)
        self.at.append(self.now())
        return self.refuse(self.bodies[-1]) or self.answers[min(len(self.bodies), len(self.answers)) - 1]


@contextmanager
def answering(
    *answers: HttpAnswer, refuse: Callable[[Mapping[str, Any]], HttpAnswer | None] = lambda _: None
) -> Iterator[Loopback]:
    """A server that gives these answers, where it does not refuse. Nothing is known of one that had its port before."""
    terms_of.cache_clear()
    loopback = Loopback(answers, refuse=refuse)
    server = Server(loopback.handle)
    server.start()
    loopback.port = server.port
    try:
        yield loopback
    finally:
        server.close()


def ok(body: Mapping[str, Any] | str) -> HttpAnswer:
    """An answer with status 200 and this JSON, or this text in its place."""
    return HttpAnswer(200, (body if isinstance(body, str) else json.dumps(body)).encode())


def status(number: int, message: str = "no", **headers: str) -> HttpAnswer:
    """An error as both providers word it, with headers as `retry_after="7"`."""
    body = {"type": "error", "error": {"type": "some_error", "message": message}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpAnswer(number, json.dumps(body).encode(), headers=named)


def completion(text: str | None = "Good.", calls: Sequence[Mapping[str, Any]] = (), **over: Any) -> dict[str, Any]:
    """A chat completion of OpenAI; `calls` as they stand in it."""
    message = {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}
    usage = {
        "prompt_tokens": 120,
        "completion_tokens": 7,
        "total_tokens": 127,
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "test-2031-01-01",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": usage,
        **over,
    }


def called(id: str | None, name: str, arguments: Any) -> dict[str, Any]:
    """A call as OpenAI words it."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def letter(blocks: Sequence[Mapping[str, Any]], **over: Any) -> dict[str, Any]:
    """A message of Anthropic."""
    usage = {"input_tokens": 50, "output_tokens": 7, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test-2031-01-01",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
        **over,
    }


PROVIDERS = ("openai", "anthropic")
GOOD = {"openai": ok(completion("Good.")), "anthropic": ok(letter([{"type": "text", "text": "Good."}]))}
"""By provider: an answer that says "Good."."""
