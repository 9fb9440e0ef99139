"""What the two providers' wires have in common: a request as it was read, and what no provider would take."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from akinai.core.canonical import Json
from akinai.core.models import Message, Reply, Request

PIECES = 3
"""Into how many pieces a streamed text is cut."""
CHARACTERS_A_TOKEN = 4
TOKENS_A_MESSAGE = 3


class Refused(Exception):
    """A request that the provider would answer with 400; the message says why."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as a wire told it."""

    model: str
    """As it was asked for, a label behind "#" included."""
    user: str
    """What the client says of whom it asks for: `user`, `metadata.user_id`; mostly empty."""
    request: Request
    streams: bool = False
    usage_in_stream: bool = True


class Wire(Protocol):
    """One provider's spelling of requests, replies and errors."""

    def read(self, body: Mapping[str, Any]) -> Incoming:
        """The request that a JSON body holds. Refused where the provider would not take it."""
        ...

    def write(self, reply: Reply, number: int) -> dict[str, Json]:
        """The endpoint's reply of this number as the provider's JSON."""
        ...

    def events(self, reply: Reply, number: int, asked: Incoming) -> list[str]:
        """A reply as the lines of a stream, one an event."""
        ...

    def error(self, status: int, message: str) -> dict[str, Json]:
        """An error as the provider's JSON."""
        ...


def text_in(content: object) -> str:
    """The text of a content field: a string, or the text parts of a list. Refused for anything else."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise Refused(f"content should be a string or a list of parts, not {content!r:.80}")
    parts = [cast("dict[str, Any]", part) for part in content if isinstance(part, dict)]
    return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def objects_in(value: object, name: str) -> list[dict[str, Any]]:
    """A list of objects, empty where there is none. Refused for anything else."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise Refused(f"{name} should be a list of objects, not {value!r:.80}")
    return cast("list[dict[str, Any]]", value)


def text_of(arguments: Json) -> str:
    """The arguments of a call as text: what is text already goes out as it is, JSON or not."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def expect_pairs(messages: Sequence[Message]) -> None:
    """Refused unless each call is answered by the results right behind it and each result answers a call."""
    open_calls: list[str] = []
    for message in messages:
        if message.speaker == "tool":
            if message.call_id not in open_calls:
                raise Refused(f"the result of {message.call_id!r} follows no message with that call")
            open_calls.remove(message.call_id)
            continue
        if open_calls:
            raise Refused(f"the calls {open_calls!r} are not answered by the results right behind them")
        open_calls = [call.id for call in message.calls]
    if open_calls:
        raise Refused(f"the calls {open_calls!r} have no results")


def pieces(text: str) -> list[str]:
    """A text in the pieces in which it is streamed."""
    step = max(1, -(-len(text) // PIECES))
    return [text[start : start + step] for start in range(0, len(text), step)]


def tokens_in(texts: Iterable[str]) -> int:
    """Tokens as this endpoint counts them: one for each four characters, rounded up."""
    return -(-sum(map(len, texts)) // CHARACTERS_A_TOKEN)


def tokens_of(message: Message) -> int:
    """Tokens of one message, its calls included."""
    calls = [part for call in message.calls for part in (call.name, text_of(call.arguments))]
    return TOKENS_A_MESSAGE + tokens_in([message.text, *calls])


def tokens_of_tools(request: Request) -> int:
    """Tokens of the tools that a request offers."""
    return tokens_in([json.dumps(list(request.tools), ensure_ascii=False)]) if request.tools else 0
