"""The trace's format of model calls: complete, with each message written once.

A prompt repeats almost all of the previous one, so a trace of full prompts would grow with the square of a run's
length. Therefore the messages of an actor are numbered, and a record gives its prompt as ranges of numbers.
"""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

from akinai.core.canonical import Json, JsonRecord
from akinai.core.errors import AgentError
from akinai.core.models import NO_TOOLS, Hash, Message, Reply, Request, Tools, Usage, digest_of
from akinai.core.stores import TraceRecord
from akinai.runtime.models.budget import Prices

KIND = "model_call"
"""The kind of a trace record that holds a model call."""
ACTION = "action"
"""The key for the number of the action that a call led to, counted per actor from 1 over the whole ledger.
If a reply led to several actions, it is the first of them. Records of calls outside a run's own driver lack it."""

TOO_LONG = "too_long"
"""The key for the context limits that the agent met before the call: None for one of the server, after which it dropped
the oldest quarter of its conversation, or the tokens of a window that a resume gave it."""

TOOLS_REFUSED = "tools_refused"
"""The key that marks a call before which the server took no tools, so that the agent asked for JSON."""


@dataclass(frozen=True, slots=True)
class Call:
    """One model call: the whole request and the whole reply."""

    actor: str
    number: int
    """Its number among the actor's calls, from 1."""
    at: int
    """When it was recorded, in microseconds since the epoch."""
    model: str
    """Its name as `--model` takes it: "openai:NAME"."""
    digest: str
    """The request's digest."""
    request: Request
    reply: Reply
    too_long: tuple[int | None, ...] = ()
    """The context limits before it, as under `TOO_LONG`."""
    tools_refused: bool = False
    """Whether the server took no tools before it."""


@dataclass(frozen=True, slots=True)
class NumberedPrompt:
    """A request's messages by their numbers among all messages of its actor."""

    numbers: Sequence[int]
    """The messages of the prompt, in order."""
    new: Mapping[bytes, Message]
    """The messages without a number so far, by key and in order: they take the next numbers."""
    tools: str | None
    """The digest of the tools; None for a request without any."""
    hashed: Hash | None
    """The hash object of the request's digest; None in an empty prompt."""


class TraceCodec:
    """Encodes the calls of one actor as trace records, and decodes them; it numbers the actor's messages and tools."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._numbers: dict[bytes, int] = {}
        self._tools: dict[str, Tools] = {}
        self._last_request = Request(())
        self._last_prompt = NumberedPrompt((), {}, None, digest_of(self._last_request))

    def prompt(self, request: Request) -> NumberedPrompt:
        """The numbered prompt of a request; `add` it once its call is in the trace."""
        messages, last, begin = request.messages, self._last_prompt, len(self._last_request.messages)
        # Usually it is the last request with more messages at its end.
        if messages[:begin] != self._last_request.messages or request.tools is not self._last_request.tools:
            last, begin = NumberedPrompt((), {}, None, None), 0
        numbers = [*last.numbers]
        new: dict[bytes, Message] = {}
        new_numbers: dict[bytes, int] = {}
        for message in messages[begin:]:
            number = self._numbers.get(message.key, new_numbers.get(message.key))
            if number is None:
                number = new_numbers[message.key] = len(self._messages) + len(new)
                new[message.key] = message
            numbers.append(number)
        tools = request.tools.key.hex() if request.tools else None
        return NumberedPrompt(numbers, new, tools, digest_of(request, begin, last.hashed))

    def encode(self, prompt: NumberedPrompt, request: Request, reply: Reply, model: str) -> dict[str, Json]:
        """The data of a call's trace record."""
        data: dict[str, Json] = {
            "kind": KIND,
            "model": model,
            "request": prompt.hashed.hexdigest() if prompt.hashed else request.digest,
            "prompt": list(_ranges(prompt.numbers)),
            "new": [message.to_json() for message in prompt.new.values()],
            "tools": prompt.tools,
            "reply": reply.to_json(),
        }
        if prompt.tools and prompt.tools not in self._tools:
            data["tool_list"] = list(request.tools)
        return data

    def add(self, prompt: NumberedPrompt, request: Request, reply: Reply) -> None:
        """Number the new messages of a recorded call, then its reply."""
        for message in prompt.new.values():
            self._add(message)
        if prompt.tools:
            self._tools.setdefault(prompt.tools, request.tools)
        self._add(reply.message)
        self._last_request, self._last_prompt = request, prompt

    def decode(self, record: TraceRecord) -> Call:
        """The call in a record that follows those decoded or added before. AgentError when it holds none."""
        data = cast("Mapping[str, Any]", record.data)
        try:
            for message in data["new"]:
                self._add(Message.from_json(message))
            messages = tuple(self._messages[number] for begin, end in data["prompt"] for number in range(begin, end))
            if "tool_list" in data:
                self._tools[data["tools"]] = Tools(data["tool_list"])
            request = Request(messages, self._tools[data["tools"]] if data["tools"] else NO_TOOLS)
            reply = Reply.from_json(data["reply"])
            self._add(reply.message)
            too_long = tuple(data.get(TOO_LONG, ()))
            origin = (record.actor, record.call, record.at, data["model"], data["request"])
            return Call(*origin, request, reply, too_long, TOOLS_REFUSED in data)
        except (KeyError, IndexError, TypeError) as error:
            raise AgentError(
                f"the trace of call {record.call} of {record.actor!r} is damaged ({type(error).__name__}: {error})"
            ) from error

    def _add(self, message: Message) -> None:
        self._numbers.setdefault(message.key, len(self._messages))
        self._messages.append(message)


def decode_calls(records: Iterable[TraceRecord]) -> Iterator[Call]:
    """The calls in a trace, with their full prompts; `records` in the order in which a store reads them.

    AgentError names a damaged record.
    """
    codecs: dict[str, TraceCodec] = {}
    for record in records:
        if is_call(record):
            yield codecs.setdefault(record.actor, TraceCodec()).decode(record)


def is_call(record: TraceRecord) -> bool:
    """Whether a trace record is a model call."""
    return isinstance(record.data, Mapping) and record.data.get("kind") == KIND


@dataclass(frozen=True, slots=True)
class Figures(JsonRecord):
    """Totals of a run's model calls. Cached replies count as calls, not in tokens, seconds, tries or dollars."""

    calls: int
    """Including those that the response cache answered."""
    cache_hits: int
    tries: int
    usage: Usage
    latency_s: float
    latency_p50_s: float | None
    """Median of a call; None when none was sent."""
    dollars: float | None
    """None where a model's price is not known."""
    models: tuple[str, ...]
    """Ids as the providers returned them, in order of their first reply."""


def figures(records: Iterable[TraceRecord], prices: Prices | None = None) -> Figures:
    """Totals of the model calls in a trace, for a run card."""
    calls = [cast("Mapping[str, Any]", record.data) for record in records if is_call(record)]
    replies = [(data["model"], Reply.from_json(data["reply"])) for data in calls]
    sent = [(model, reply) for model, reply in replies if not reply.from_cache]
    prices = prices or {}
    priced = all(model in prices for model, _ in sent)
    return Figures(
        calls=len(replies),
        cache_hits=len(replies) - len(sent),
        tries=sum(reply.tries for _, reply in sent),
        usage=sum((reply.usage for _, reply in sent), Usage()),
        latency_s=sum(reply.latency_s for _, reply in sent),
        latency_p50_s=statistics.median(reply.latency_s for _, reply in sent) if sent else None,
        dollars=sum(prices[model].dollars(reply.usage) for model, reply in sent) if priced else None,
        models=tuple(dict.fromkeys(reply.model for _, reply in replies)),
    )


def _ranges(numbers: Iterable[int]) -> Iterator[list[int]]:
    """Numbers as half-open ranges [begin, end]."""
    begin = end = None
    for number in chain(numbers, (None,)):
        if number is not None and number == end:
            end = number + 1
            continue
        if begin is not None and end is not None:
            yield [begin, end]
        begin, end = number, None if number is None else number + 1
