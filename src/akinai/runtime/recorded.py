"""Model calls as the trace keeps them: nothing is lost and nothing is written twice.

A prompt repeats almost all of the one before, so written out in full the trace would grow with the square of a run's
length. Here the messages of an actor are numbered as they first come, and a call names those of its prompt as ranges.
"""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.errors import AgentError
from akinai.core.models import NO_TOOLS, Message, Reply, Request, Tools, Usage, digest_of
from akinai.core.trace import TraceRecord
from akinai.runtime.prices import Prices

KIND = "model_call"
"""What tells a call from other records of a trace."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model, with all that it was asked and all that it answered."""

    actor: str
    number: int
    """The actor's n-th, from 1."""
    at: int
    """When it was written down: microseconds since the epoch."""
    model: str
    """As it was asked for: "openai:NAME"."""
    digest: str
    """Of the request."""
    request: Request
    reply: Reply


@dataclass(frozen=True, slots=True)
class Piece:
    """What a request brings to the messages of its actor."""

    numbers: Sequence[int]
    """Of the messages in its prompt, in order."""
    new: Mapping[bytes, Message]
    """Those that were not there before, by key and in order: they take the next numbers."""
    tools: str | None
    """The digest of its tools."""
    hashed: Any
    """The hash that gives the request's digest."""


class Prompts:
    """The messages and the tools of one actor, numbered: what turns its requests into records and back."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._numbers: dict[bytes, int] = {}
        self._tools: dict[str, Tools] = {}
        self._before = Request(())
        self._before_piece = Piece((), {}, None, digest_of(self._before))

    def piece(self, request: Request) -> Piece:
        """What a request brings; `learn` it once its call is written."""
        messages, before, begin = request.messages, self._before_piece, len(self._before.messages)
        # Mostly it is the request before with something at its end.
        if messages[:begin] != self._before.messages or request.tools is not self._before.tools:
            before, begin = Piece((), {}, None, None), 0
        numbers = [*before.numbers]
        new: dict[bytes, Message] = {}
        places: dict[bytes, int] = {}
        for message in messages[begin:]:
            number = self._numbers.get(message.key, places.get(message.key))
            if number is None:
                number = places[message.key] = len(self._messages) + len(new)
                new[message.key] = message
            numbers.append(number)
        return Piece(numbers, new, _digest(request.tools), digest_of(request, begin, before.hashed))

    def told(self, piece: Piece, request: Request, reply: Reply, model: str) -> dict[str, Json]:
        """The data of the record of a call."""
        data: dict[str, Json] = {
            "kind": KIND,
            "model": model,
            "request": piece.hashed.hexdigest(),
            "prompt": list(_ranges(piece.numbers)),
            "new": [message.to_json() for message in piece.new.values()],
            "tools": piece.tools,
            "reply": reply.to_json(),
        }
        if piece.tools and piece.tools not in self._tools:
            data["tool_list"] = list(request.tools)
        return data

    def learn(self, piece: Piece, request: Request, reply: Reply) -> None:
        """Number the new messages of a written call, then its reply."""
        for message in piece.new.values():
            self._add(message)
        if piece.tools:
            self._tools.setdefault(piece.tools, request.tools)
        self._add(reply.message)
        self._before, self._before_piece = request, piece

    def read(self, record: TraceRecord) -> Call:
        """The call in a record that follows those read or learned before. AgentError when it is none."""
        data = cast("Mapping[str, Any]", record.data)
        try:
            for told in data["new"]:
                self._add(Message.from_json(told))
            messages = tuple(self._messages[number] for begin, end in data["prompt"] for number in range(begin, end))
            if "tool_list" in data:
                self._tools[data["tools"]] = Tools(data["tool_list"])
            request = Request(messages, self._tools[data["tools"]] if data["tools"] else NO_TOOLS)
            reply = Reply.from_json(data["reply"])
            self._add(reply.message)
            return Call(record.actor, record.call, record.at, data["model"], data["request"], request, reply)
        except (KeyError, IndexError, TypeError) as error:
            raise AgentError(
                f"the trace of call {record.call} of {record.actor!r} is damaged ({type(error).__name__}: {error})"
            ) from error

    def _add(self, message: Message) -> None:
        self._numbers.setdefault(message.key, len(self._messages))
        self._messages.append(message)


def calls_in(records: Iterable[TraceRecord]) -> Iterator[Call]:
    """The calls in a trace, with their full prompts; `records` in the order in which a store reads them.

    AgentError names a record that is damaged.
    """
    prompts: dict[str, Prompts] = {}
    for record in records:
        if is_call(record):
            yield prompts.setdefault(record.actor, Prompts()).read(record)


def is_call(record: TraceRecord) -> bool:
    """Whether a record of a trace is a call of a model."""
    return isinstance(record.data, Mapping) and record.data.get("kind") == KIND


@dataclass(frozen=True, slots=True)
class Figures:
    """What the model calls of a run came to. Tokens, seconds, tries and dollars are of calls that were sent."""

    calls: int
    """Those that the response cache answered included."""
    cache_hits: int
    tries: int
    usage: Usage
    latency_s: float
    latency_p50_s: float | None
    """Of a call; None when none was sent."""
    dollars: float | None
    """None where the price of a model is not known."""
    models: tuple[str, ...]
    """Ids as the providers returned them, in the order in which they first did."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


def figures(records: Iterable[TraceRecord], prices: Prices | None = None) -> Figures:
    """What the model calls in a trace came to, for a run card."""
    told = [cast("Mapping[str, Any]", record.data) for record in records if is_call(record)]
    replies = [(data["model"], Reply.from_json(data["reply"])) for data in told]
    sent = [(model, reply) for model, reply in replies if not reply.from_cache]
    known = prices or {}
    priced = all(model in known for model, _ in sent)
    return Figures(
        calls=len(replies),
        cache_hits=len(replies) - len(sent),
        tries=sum(reply.tries for _, reply in sent),
        usage=sum((reply.usage for _, reply in sent), Usage()),
        latency_s=sum(reply.latency_s for _, reply in sent),
        latency_p50_s=statistics.median(reply.latency_s for _, reply in sent) if sent else None,
        dollars=sum(known[model].dollars(reply.usage) for model, reply in sent) if priced else None,
        models=tuple(dict.fromkeys(reply.model for _, reply in replies)),
    )


def _ranges(numbers: Iterable[int]) -> Iterator[list[int]]:
    """Numbers as ranges that hold their begin and not their end."""
    begin = end = None
    for number in chain(numbers, (None,)):
        if number is not None and number == end:
            end = number + 1
            continue
        if begin is not None and end is not None:
            yield [begin, end]
        begin, end = number, None if number is None else number + 1


def _digest(tools: Tools) -> str | None:
    return tools.key.hex() if tools else None
