"""Brains: what answers behind the wire. A brain knows the HTTP messages of a request and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from akinai.core.canonical import Json
from akinai.core.models import Reply, Request, ToolCall
from akinai.testing.endpoint_wires import Refused


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for a reply, whichever wire it came over."""

    key: str
    """The conversation: "MODEL#LABEL/DIGEST". MODEL as asked for without its label. LABEL is what stands behind "#" in
    the model's name, or else the request's `user` (`metadata.user_id`), or else a digest of the API key. DIGEST is of
    the system message."""
    nth: int
    """1-based place among the requests of this conversation."""
    model: str
    request: Request
    body_sha256: str
    """Of the HTTP body: a request that is sent again has it again."""
    replaced: bool = False
    """Whether a fault takes the place of the reply, so that the client will not read it."""


class Brain(Protocol):
    """Something that answers."""

    async def reply(self, asked: Asked) -> Reply:
        """The reply; its calls have ids. The same request again must get the same reply again.

        Refused for a request that cannot be answered: the client gets it as status 400.
        """
        ...


def call(name: str, arguments: Json = None) -> ToolCall:
    """A call for a script. Arguments that are text go over OpenAI's wire as they are, JSON or not."""
    return ToolCall("", name, {} if arguments is None else arguments)


class ScriptBrain:
    """Gives replies in order, in each conversation from the first; Refused when they are over.

    A text is a reply without calls, a call one without text; what else a reply can be is a `Reply`. Calls without an id
    get one.
    """

    def __init__(self, replies: Sequence[str | ToolCall | Reply]) -> None:
        self._replies = [_numbered(_as_reply(one), place) for place, one in enumerate(replies, 1)]
        self._given: dict[str, dict[str, Reply]] = {}

    async def reply(self, asked: Asked) -> Reply:
        if asked.replaced:
            return Reply("")
        given = self._given.setdefault(asked.key, {})
        if asked.body_sha256 not in given:
            if len(given) == len(self._replies):
                raise Refused(f"the script is over: it had {len(self._replies)} replies, all given to {asked.key}")
            given[asked.body_sha256] = self._replies[len(given)]
        return given[asked.body_sha256]


class ByModel:
    """Asks the brain that goes by the model's name, and the first for any other name."""

    def __init__(self, brains: Mapping[str, Brain]) -> None:
        self.models = tuple(brains)
        self._brains = dict(brains)

    async def reply(self, asked: Asked) -> Reply:
        return await self._brains.get(asked.model, self._brains[self.models[0]]).reply(asked)


def _as_reply(said: str | ToolCall | Reply) -> Reply:
    match said:
        case str():
            return Reply(said)
        case ToolCall():
            return Reply("", (said,))
        case Reply():
            return said


def _numbered(reply: Reply, place: int) -> Reply:
    calls = (replace(one, id=one.id or f"call_{place}_{nth}") for nth, one in enumerate(reply.calls, 1))
    return replace(reply, calls=tuple(calls))
