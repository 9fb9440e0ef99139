"""The endpoint: answers HTTP requests through a responder, with faults, latency and a log."""

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
from akinai.testing.endpoint.anthropic import AnthropicWire
from akinai.testing.endpoint.faults import STATUS, FaultKind, Faults, apply_fault, replaces_reply, untidy
from akinai.testing.endpoint.http import HOST, Connection, HttpAnswer, HttpRequest, Server
from akinai.testing.endpoint.log import Exchange, Log, public_headers, reply_record
from akinai.testing.endpoint.openai import OpenAIWire
from akinai.testing.endpoint.responders import ByModel
from akinai.testing.endpoint.wires import Incoming, ModelCall, Refused, Responder, Wire, tokens_of, tokens_of_tools

WIRES: Mapping[str, Wire] = {"/chat/completions": OpenAIWire(), "/messages": AnthropicWire()}
"""By the end of the path."""
KEPT_CALLS = 64
"""Newest calls whose messages are kept."""


@dataclass(slots=True)
class _Conversation:
    """The endpoint's own record of a conversation."""

    count: int = 0
    before: Request = field(default_factory=lambda: Request(()))
    """The last request that was answered; its beginning counts as cached when the next request shares it."""
    tokens: Sequence[int] = ()
    """The tokens of each of its messages."""
    tools_tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Answer:
    """The HTTP answer to a request (None: it hangs), and what the log records about it."""

    http: HttpAnswer | None
    reply: Reply | None = None
    error: str = ""
    call: ModelCall | None = None
    fault: FaultKind | None = None


class Endpoint:
    """Serves a responder inside a `with` block. All its members are thread-safe."""

    def __init__(
        self,
        responder: Responder,
        *,
        faults: Faults | None = None,
        latency_s: float = 0.0,
        log: Path | str | None = None,
        port: int = 0,
        models: tuple[str, ...] = ("test",),
    ) -> None:
        self._responder, self._faults, self._latency_s = responder, faults or Faults(), latency_s
        self._models = responder.models if isinstance(responder, ByModel) else models
        self._log = Log(Path(log) if log else None)
        self._server = Server(self._handle, port)
        self._conversations: dict[str, _Conversation] = {}
        self._count = 0
        self.calls: deque[ModelCall] = deque(maxlen=KEPT_CALLS)
        """The newest calls, with their messages and tools."""

    @property
    def url(self) -> str:
        """The base URL for Anthropic's client, without a slash at the end."""
        return f"http://{HOST}:{self._server.port}"

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's client, which includes the version."""
        return f"{self.url}/v1"

    @property
    def log(self) -> tuple[Exchange, ...]:
        """All exchanges so far, in the order of the answers."""
        return self._log.exchanges

    def start(self) -> Self:
        """Accept connections. UsageError when the port is taken."""
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
                key=answer.call.key if answer.call else "",
                nth=answer.call.nth if answer.call else 0,
                at=at,
                took_s=time.time() - at,
                method=http.method,
                path=http.path,
                headers=public_headers(http.headers),
                body_sha256=digest,
                body_bytes=len(http.body),
                status=0 if answer.http is None or answer.http.cut == "before_headers" else answer.http.status,
                fault=answer.fault,
                reply=reply_record(answer.reply) if answer.reply else None,
                error=answer.error,
                gone=connection.gone.is_set(),
            )
        )
        if answer.http is None:
            await connection.gone.wait()
        return answer.http or HttpAnswer(0, cut="before_headers")

    async def _answer(self, http: HttpRequest, digest: str, number: int, connection: Connection) -> _Answer:
        """The answer to any request."""
        wire = next((wire for end, wire in WIRES.items() if http.path.endswith(end)), None)
        if wire is None or http.method != "POST":
            return self._answer_elsewhere(http)
        call, fault = None, None
        try:
            incoming = wire.read(_object_in(http.body))
            call, fault = self._count_call(incoming, http, digest)
            answer = await self._answer_call(wire, incoming, call, fault, number)
        except Refused as refused:
            why = str(refused)
            answer = _Answer(_json(400, wire.error(400, why)), error=why)
        except Exception as error:  # a test's own responder: its test is told
            why = f"the endpoint's responder broke: {type(error).__name__}: {error}"
            answer = _Answer(_json(400, wire.error(400, why)), error=why)
        await _pause(self._latency_s + (self._faults.slow_s if fault == "slow" else 0.0), connection)
        return replace(answer, call=call, fault=fault)

    def _count_call(self, incoming: Incoming, http: HttpRequest, digest: str) -> tuple[ModelCall, FaultKind | None]:
        """The request as a call of its conversation, and its fault."""
        model, _, label = incoming.model.partition("#")
        system = "\n".join(message.text for message in incoming.request.messages if message.speaker == "system")
        key = f"{model}#{label or incoming.user or _key_digest(http.headers)}/{_short(system)}"
        conversation = self._conversations.setdefault(key, _Conversation())
        conversation.count += 1
        fault = self._faults.kind_for(key, conversation.count)
        call = ModelCall(key, conversation.count, model, incoming.request, digest, replaces_reply(fault))
        self.calls.append(call)
        return call, fault

    async def _answer_call(
        self, wire: Wire, incoming: Incoming, call: ModelCall, fault: FaultKind | None, number: int
    ) -> _Answer:
        """The answer to a readable request. The responder is asked only where its reply can reach the client."""
        if fault == "hang":
            return _Answer(None)
        if fault and fault in STATUS:
            status, why = STATUS[fault], f"injected fault: {fault}"
            wait = {"retry-after": f"{self._faults.retry_after_s:g}"} if fault == "rate_limit_wait" else {}
            return _Answer(replace(_json(status, wire.error(status, why)), headers=wait), error=why)
        if fault in ("cut", "cut_in_body", "malformed"):
            return _Answer(_broken(fault, wire, incoming, number))
        reply = await self._responder.reply(call)
        reply = apply_fault(fault, reply, incoming.request.tools, call.nth)
        reply = untidy(reply, call.body_sha256) if fault == "untidy" else reply
        reply = replace(reply, model=reply.model or call.model)
        if reply.usage == Usage():
            reply = replace(reply, usage=self._usage(call, reply))
        return _Answer(_http_answer(wire, reply, number, incoming), reply)

    def _usage(self, call: ModelCall, reply: Reply) -> Usage:
        """Tokens by the endpoint's own count. The beginning that a request shares with the one before it is cached."""
        conversation, now = self._conversations[call.key], call.request
        pairs = zip(conversation.before.messages, now.messages, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        conversation.tokens = [*conversation.tokens[:same], *map(tokens_of, now.messages[same:])]
        if now.tools != conversation.before.tools:
            conversation.tools_tokens, same = tokens_of_tools(now), 0
        conversation.before = now
        tools = conversation.tools_tokens
        cached = tools + sum(conversation.tokens[:same]) if same else 0
        return Usage(tools + sum(conversation.tokens), tokens_of(reply.message), cached)

    def _answer_elsewhere(self, http: HttpRequest) -> _Answer:
        """The list of models; status 404 for any other path."""
        if http.method == "GET" and http.path.endswith("/models"):
            return _Answer(_json(200, _models(self._models)))
        why = (
            f"no {http.method} {http.path} here; there is POST /v1/chat/completions, POST /v1/messages, GET /v1/models"
        )
        return _Answer(_json(404, OpenAIWire().error(404, why)), error=why)


def _object_in(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Refused(f"the body should be an object, not {value!r:.80}")
    return cast("dict[str, Any]", value)


def _key_digest(headers: Mapping[str, str]) -> str:
    """A digest of the API key: the key itself is recorded nowhere."""
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    return f"key-{_short(key)}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


async def _pause(seconds: float, connection: Connection) -> None:
    """Wait, or return at once when the client disconnects."""
    if seconds > 0:
        try:
            await asyncio.wait_for(connection.gone.wait(), seconds)
        except TimeoutError:
            return


def _http_answer(wire: Wire, reply: Reply, number: int, incoming: Incoming) -> HttpAnswer:
    if incoming.streams:
        return HttpAnswer(200, "".join(wire.events(reply, number, incoming)).encode(), "text/event-stream")
    return _json(200, wire.write(reply, number))


def _broken(fault: FaultKind, wire: Wire, incoming: Incoming, number: int) -> HttpAnswer:
    """An answer without its end: cut off with the connection, or sent as if it were complete."""
    whole = _http_answer(wire, Reply("This answer never arrives whole.", model="broken"), number, incoming)
    if fault == "malformed":
        end = b"\n\n" if incoming.streams else b""  # ends the event: clients never read an open one
        return replace(whole, body=whole.body[: len(whole.body) * 2 // 3] + end)
    return replace(whole, cut="before_headers" if fault == "cut" else "in_body")


def _json(status: int, document: Mapping[str, Any]) -> HttpAnswer:
    return HttpAnswer(status, json.dumps(document).encode(), headers={})


def _models(names: tuple[str, ...]) -> dict[str, Any]:
    """The list of models in a form that both providers' clients read."""
    shared = {"created": 0, "created_at": "1970-01-01T00:00:00Z", "owned_by": "akinai"}
    data = [{"id": name, "object": "model", "type": "model", "display_name": name, **shared} for name in names]
    return {"object": "list", "data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}
