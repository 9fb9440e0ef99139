"""A model endpoint for tests: a real HTTP server on 127.0.0.1 that speaks OpenAI's and Anthropic's wires.

    with Endpoint(ScriptBrain([call("advance_day"), "That was a good day."])) as endpoint:
        model = ChatOpenAI(model="test", base_url=endpoint.openai_url, api_key="none")

A `Brain` answers: a script, or a rule-based player that plays from the HTTP messages alone (`endpoint_player` says what
a client must send for that). `Faults` say what goes wrong; the log is the witness of what was sent. The same in a
process of its own: `python -m akinai.testing.endpoint --world vending --player reference --log FILE`, its URL on the
first line.
"""

import asyncio
import hashlib
import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Self, cast

from akinai.core.models import Reply, Request, Usage
from akinai.testing.endpoint_anthropic import AnthropicWire
from akinai.testing.endpoint_brains import Asked, Brain, ByModel, ScriptBrain, call
from akinai.testing.endpoint_faults import STATUS, FaultKind, Faults, faulty, replacing
from akinai.testing.endpoint_http import HOST, Connection, HttpAnswer, HttpRequest, Server
from akinai.testing.endpoint_log import Exchange, Log, logged, public_headers, read_log
from akinai.testing.endpoint_openai import OpenAIWire
from akinai.testing.endpoint_player import PlayerBrain
from akinai.testing.endpoint_wires import Incoming, Refused, Wire, tokens_of, tokens_of_tools

__all__ = [
    "Asked",
    "Brain",
    "ByModel",
    "Endpoint",
    "Exchange",
    "FaultKind",
    "Faults",
    "PlayerBrain",
    "Refused",
    "ScriptBrain",
    "call",
    "read_log",
]

WIRES: Mapping[str, Wire] = {"/chat/completions": OpenAIWire(), "/messages": AnthropicWire()}
"""By how the path ends."""
KEPT = 64
"""Newest requests of which the messages are kept."""


@dataclass(slots=True)
class _Conversation:
    """What the endpoint itself remembers of a conversation."""

    count: int = 0
    before: Request = field(default_factory=lambda: Request(()))
    """The last that was answered: what of it begins the next one counts as cached."""
    tokens: Sequence[int] = ()
    """Of its messages."""
    tools_tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a request comes to: the HTTP answer (None: it hangs) and what the log says of it."""

    http: HttpAnswer | None
    reply: Reply | None = None
    error: str = ""
    asked: Asked | None = None
    fault: FaultKind | None = None


class Endpoint:
    """Serves a brain while its `with` block lasts. All of it may be used from any thread."""

    def __init__(
        self,
        brain: Brain,
        *,
        faults: Faults | None = None,
        latency_s: float = 0.0,
        log: Path | str | None = None,
        port: int = 0,
        models: tuple[str, ...] = ("test",),
    ) -> None:
        self._brain, self._faults, self._latency_s = brain, faults or Faults(), latency_s
        self._models = brain.models if isinstance(brain, ByModel) else models
        self._log = Log(Path(log) if log else None)
        self._server = Server(self._handle, port)
        self._conversations: dict[str, _Conversation] = {}
        self._count = 0
        self.asked: deque[Asked] = deque(maxlen=KEPT)
        """The newest requests that a brain was asked, with their messages and tools."""

    @property
    def url(self) -> str:
        """Where it is, for Anthropic's client; without a slash at the end."""
        return f"http://{HOST}:{self._server.port}"

    @property
    def openai_url(self) -> str:
        """The same for OpenAI's client, which wants the version in it."""
        return f"{self.url}/v1"

    @property
    def log(self) -> tuple[Exchange, ...]:
        """What was asked and answered up to now, in the order of the answers."""
        return self._log.exchanges

    def start(self) -> Self:
        """Accept connections. OSError when the port is taken."""
        self._server.start()
        return self

    def close(self) -> None:
        """Cut all connections and stop; may be called twice."""
        self._server.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _handle(self, http: HttpRequest, connection: Connection) -> HttpAnswer:
        self._count += 1
        number, at = self._count, time.time()
        digest = hashlib.sha256(http.body).hexdigest()
        answer = await self._answer(http, digest, number, connection)
        self._log.add(
            Exchange(
                n=number,
                key=answer.asked.key if answer.asked else "",
                nth=answer.asked.nth if answer.asked else 0,
                at=at,
                took_s=time.time() - at,
                method=http.method,
                path=http.path,
                headers=public_headers(http.headers),
                body_sha256=digest,
                body_bytes=len(http.body),
                status=0 if answer.http is None or answer.http.cut == "before_headers" else answer.http.status,
                fault=answer.fault,
                reply=logged(answer.reply) if answer.reply else None,
                error=answer.error,
                gone=connection.gone.is_set(),
            )
        )
        if answer.http is None:
            await connection.gone.wait()
        return answer.http or HttpAnswer(0, cut="before_headers")

    async def _answer(self, http: HttpRequest, digest: str, number: int, connection: Connection) -> _Answer:
        """What becomes of a request, whatever it is."""
        wire = next((wire for end, wire in WIRES.items() if http.path.endswith(end)), None)
        if wire is None or http.method != "POST":
            return self._elsewhere(http)
        asked, fault = None, None
        try:
            incoming = wire.read(_object_in(http.body))
            asked, fault = self._asked(incoming, http, digest)
            answer = await self._conversed(wire, incoming, asked, fault, number)
        except Refused as refused:
            why = str(refused)
            answer = _Answer(_json(400, wire.error(400, why)), error=why)
        except Exception as error:
            why = f"the endpoint's brain broke: {type(error).__name__}: {error}"
            answer = _Answer(_json(400, wire.error(400, why)), error=why)
        await _pause(self._latency_s + (self._faults.slow_s if fault == "slow" else 0.0), connection)
        return replace(answer, asked=asked, fault=fault)

    def _asked(self, incoming: Incoming, http: HttpRequest, digest: str) -> tuple[Asked, FaultKind | None]:
        """The request as its brain sees it, and what goes wrong with it."""
        model, _, label = incoming.model.partition("#")
        system = "\n".join(one.text for one in incoming.request.messages if one.speaker == "system")
        key = f"{model}#{label or incoming.user or _of_key(http.headers)}/{_short(system)}"
        conversation = self._conversations.setdefault(key, _Conversation())
        conversation.count += 1
        fault = self._faults.of(key, conversation.count)
        asked = Asked(key, conversation.count, model, incoming.request, digest, replacing(fault))
        self.asked.append(asked)
        return asked, fault

    async def _conversed(
        self, wire: Wire, incoming: Incoming, asked: Asked, fault: FaultKind | None, number: int
    ) -> _Answer:
        """What becomes of a readable request; the brain is asked only where its reply can reach the client."""
        if fault == "hang":
            return _Answer(None)
        if fault and fault in STATUS:
            status, why = STATUS[fault], f"injected fault: {fault}"
            wait = {"retry-after": f"{self._faults.retry_after_s:g}"} if fault == "rate_limit_wait" else {}
            return _Answer(replace(_json(status, wire.error(status, why)), headers=wait), error=why)
        if fault in ("cut", "cut_in_body", "malformed"):
            return _Answer(_broken(fault, wire, incoming, number))
        reply = await self._brain.reply(asked)
        reply = faulty(fault, reply, incoming.request.tools, asked.nth)
        reply = replace(reply, model=reply.model or asked.model)
        if reply.usage == Usage():
            reply = replace(reply, usage=self._usage(asked, reply))
        return _Answer(_spoken(wire, reply, number, incoming), reply)

    def _usage(self, asked: Asked, reply: Reply) -> Usage:
        """Tokens by the endpoint's own count: the beginning that the request shares with the one before is cached."""
        conversation, now = self._conversations[asked.key], asked.request
        pairs = zip(conversation.before.messages, now.messages, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        conversation.tokens = [*conversation.tokens[:same], *map(tokens_of, now.messages[same:])]
        if now.tools != conversation.before.tools:
            conversation.tools_tokens, same = tokens_of_tools(now), 0
        conversation.before = now
        tools = conversation.tools_tokens
        cached = tools + sum(conversation.tokens[:same]) if same else 0
        return Usage(tools + sum(conversation.tokens), tokens_of(reply.message), cached)

    def _elsewhere(self, http: HttpRequest) -> _Answer:
        """The list of models, and what is asked in the wrong place."""
        if http.method == "GET" and http.path.endswith("/models"):
            return _Answer(_json(200, _models(self._models)))
        why = (
            f"no {http.method} {http.path} here; there is POST /v1/chat/completions, POST /v1/messages, GET /v1/models"
        )
        return _Answer(_json(404, OpenAIWire().error(404, why)), error=why)


def _object_in(body: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the body is not JSON: {error}") from error
    if not isinstance(told, dict):
        raise Refused(f"the body should be an object, not {told!r:.80}")
    return cast("dict[str, Any]", told)


def _of_key(headers: Mapping[str, str]) -> str:
    """A digest of the API key, so that the key itself is written nowhere."""
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    return f"key-{_short(key)}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


async def _pause(seconds: float, connection: Connection) -> None:
    """Wait; a client that goes away ends it."""
    if seconds > 0:
        try:
            await asyncio.wait_for(connection.gone.wait(), seconds)
        except TimeoutError:
            return


def _spoken(wire: Wire, reply: Reply, number: int, incoming: Incoming) -> HttpAnswer:
    if incoming.streams:
        return HttpAnswer(200, "".join(wire.events(reply, number, incoming)).encode(), "text/event-stream")
    return _json(200, wire.write(reply, number))


def _broken(fault: FaultKind, wire: Wire, incoming: Incoming, number: int) -> HttpAnswer:
    """An answer without its end: cut off with the connection, or sent as if it were whole."""
    whole = _spoken(wire, Reply("This answer never arrives whole.", model="broken"), number, incoming)
    if fault == "malformed":
        end = b"\n\n" if incoming.streams else b""  # what ends an event: an open one is never read
        return replace(whole, body=whole.body[: len(whole.body) * 2 // 3] + end)
    return replace(whole, cut="before_headers" if fault == "cut" else "in_body")


def _json(status: int, told: Mapping[str, Any]) -> HttpAnswer:
    return HttpAnswer(status, json.dumps(told).encode(), headers={})


def _models(names: tuple[str, ...]) -> dict[str, Any]:
    """The list as both providers' clients read it."""
    born = {"created": 0, "created_at": "1970-01-01T00:00:00Z", "owned_by": "akinai"}
    data = [{"id": name, "object": "model", "type": "model", "display_name": name, **born} for name in names]
    return {"object": "list", "data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


if __name__ == "__main__":
    from akinai.testing.endpoint_command import main

    main()
