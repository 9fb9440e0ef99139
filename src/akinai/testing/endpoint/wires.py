"""The common part of the two providers' wires: the request as the endpoint reads it, and the checks of both."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from akinai.core.canonical import Json
from akinai.core.models import Message, Reply, Request

PIECES = 3
"""Number of pieces that a streamed text is cut into."""
CHARACTERS_A_TOKEN = 4
TOKENS_A_MESSAGE = 3


class Refused(Exception):
    """A request that the provider would answer with status 400; the message says why."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as read from a wire."""

    model: str
    """The model's name, with a label after "#" if the client gave one."""
    user: str
    """The client's end user: OpenAI's `user`, Anthropic's `metadata.user_id`; mostly empty."""
    request: Request
    streams: bool = False
    usage_in_stream: bool = True


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request for a reply, the same for every wire."""

    key: str
    """The conversation: "MODEL#LABEL/DIGEST". MODEL is the requested name without its label. LABEL is the part of the
    requested name after "#", or else the request's `user` (`metadata.user_id`), or else a digest of the API key. DIGEST
    is of the system message."""
    nth: int
    """1-based index of the request in its conversation."""
    model: str
    request: Request
    body_sha256: str
    """The digest of the HTTP body: equal when a request is sent again."""
    replaced: bool = False
    """Whether a fault replaces the reply, so that the client will not see it."""


class Responder(Protocol):
    """Answers the calls of clients."""

    async def reply(self, call: ModelCall) -> Reply:
        """The reply; its tool calls have ids. An equal call must get an equal reply.

        Raises Refused for a call that cannot be answered: the client gets status 400.
        """
        ...


class Wire(Protocol):
    """One provider's encoding of requests, replies and errors."""

    def read(self, body: Mapping[str, Any]) -> Incoming:
        """The request in a JSON body. Raises Refused where the provider would reject it."""
        ...

    def write(self, reply: Reply, number: int) -> dict[str, Json]:
        """The endpoint's n-th reply as the provider's JSON."""
        ...

    def events(self, reply: Reply, number: int, incoming: Incoming) -> list[str]:
        """A reply as the events of a stream."""
        ...

    def error(self, status: int, message: str) -> dict[str, Json]:
        """An error as the provider's JSON."""
        ...


def text_in(content: object) -> str:
    """The text of a content field: a string, or the text parts of a list. Raises Refused for anything else."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise Refused(f"content should be a string or a list of parts, not {content!r:.80}")
    parts = [object_in(part) for part in cast("list[object]", content)]
    return "".join(str(part.get("text", "")) for part in parts if part and part.get("type") == "text")


def object_in(value: object) -> dict[str, Any] | None:
    """A JSON object; None for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def objects_in(value: object, name: str) -> list[dict[str, Any]]:
    """A list of objects, empty for None. Raises Refused for anything else."""
    if value is None:
        return []
    if isinstance(value, list):
        objects = [object_in(item) for item in cast("list[object]", value)]
        if None not in objects:
            return [item for item in objects if item is not None]
    raise Refused(f"{name} should be a list of objects, not {value!r:.80}")


def text_of(arguments: Json) -> str:
    """The arguments of a tool call as text. Arguments that are text already are sent unchanged, JSON or not."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def expect_pairs(messages: Sequence[Message]) -> None:
    """Raise Refused unless every tool call is answered by the results right after it, and every result answers one."""
    open_calls: list[str] = []
    for message in messages:
        if message.speaker == "tool":
            if message.call_id not in open_calls:
                raise Refused(f"the result of {message.call_id!r} follows no message with that call")
            open_calls.remove(message.call_id)
            continue
        if open_calls:
            raise Refused(f"the calls {open_calls!r} are not answered by the results right after them")
        open_calls = [call.id for call in message.calls]
    if open_calls:
        raise Refused(f"the calls {open_calls!r} have no results")


def pieces(text: str) -> list[str]:
    """The pieces in which a text is streamed."""
    step = max(1, -(-len(text) // PIECES))
    return [text[start : start + step] for start in range(0, len(text), step)]


def tokens_in(texts: Iterable[str]) -> int:
    """Tokens by this endpoint's own count: one for every four characters, rounded up."""
    return -(-sum(map(len, texts)) // CHARACTERS_A_TOKEN)


def tokens_of(message: Message) -> int:
    """Tokens of a message, its tool calls included."""
    calls = [part for call in message.calls for part in (call.name, text_of(call.arguments))]
    return TOKENS_A_MESSAGE + tokens_in([message.text, *calls])


def tokens_of_tools(request: Request) -> int:
    """Tokens of the tools that a request offers."""
    return tokens_in([json.dumps(list(request.tools), ensure_ascii=False)]) if request.tools else 0
