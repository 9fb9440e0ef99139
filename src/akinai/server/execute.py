"""The hot route, `POST /actions/execute`, and how bodies are read and requests refused."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from akinai.core.canonical import Json
from akinai.core.errors import StoreError
from akinai.core.ledger import Outcome, Turn
from akinai.runtime.http.hot import Reply as HotReply
from akinai.server import wire
from akinai.server.authentication import Authentication, Credentials, Unauthorized
from akinai.server.market import HostedMarket, LookAlike, Overloaded, WrongToken
from akinai.server.metrics import Metrics
from akinai.server.wire import Answer, Malformed
from akinai.worlds.market import Market, State

MAX_BODY_BYTES = 1_048_576
MAX_LOG_BYTES = 8 * MAX_BODY_BYTES
"""A log line may be larger than an action: the public agents log whole model calls."""
EXECUTE_PATH = "/actions/execute"
RETRY_S = 1

Headers = Iterable[tuple[bytes, bytes]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class TooLarge(Exception):
    """A body above its limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is above {limit:,} bytes; send less")


class Disconnected(Exception):
    """The client went away before its body was complete; nobody reads an answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The HTTP answer of a route; the body is JSON."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict[str, str])


def refusal(status: int, detail: Json, code: str = "") -> Reply:
    """An answer with a 4xx or 5xx status. Refusals by the market's rules are answers with status 200."""
    body: dict[str, Json] = {"detail": detail}
    if code:
        body["error"] = {"code": code, "message": detail}
    return Reply(status, wire.encode(body), _HEADERS.get(status, {}))


_HEADERS = {
    401: {"www-authenticate": "Bearer"},
    429: {"retry-after": str(RETRY_S)},
    503: {"retry-after": str(RETRY_S)},
}


async def reply_or_refusal(work: Awaitable[Reply]) -> Reply:
    """The reply of `work`, or a refusal when it raises an error that a client may see."""
    try:
        return await work
    except Exception as error:
        return refusal_of(error)


def refusal_of(error: Exception) -> Reply:
    """The refusal of an error that a client may see; any other error is raised."""
    match error:
        case Malformed():
            return refusal(422, error.detail)
        case TooLarge():
            return refusal(413, str(error))
        case Disconnected():
            return refusal(400, str(error))
        case Unauthorized():
            return refusal(error.status, error.why)
        case WrongToken():
            why = "The id is registered already; to change its profile send Authorization: Bearer its token"
            return refusal(401, why)
        case LookAlike():
            return refusal(422, str(error), "look_alike")
        case Overloaded():
            return refusal(429, "Too many requests wait; try again in a second", "overloaded")
        case StoreError():
            why = "The market could not keep the action, so it was not done; try again with the same idempotency_key"
            return refusal(503, why, "store_unavailable")
        case _:
            raise error


class _HotRequest:
    """A request that went the short way: it stands where a future does, and answers when its entry is durable."""

    __slots__ = ("_metrics", "_reply", "_request", "_started", "_world")

    def __init__(self, world: Market, request: wire.Request, reply: HotReply, metrics: Metrics) -> None:
        self._world, self._request, self._reply, self._metrics = world, request, reply, metrics
        self._started = time.perf_counter()

    def respond(self, state: State, turn: Turn, outcome: Outcome) -> Answer:
        return wire.encode_answer(self._world, state, turn, self._request, outcome)

    def done(self) -> bool:
        return False

    def set_result(self, result: Answer, /) -> None:
        self._metrics.acted(result.verb, result.code, time.perf_counter() - self._started)
        self._metrics.answered(200)
        self._reply(200, result.body, {})

    def set_exception(self, exception: Exception, /) -> None:
        try:
            reply = refusal_of(exception)
        except Exception as error:  # as on the long way, it is logged, and this request alone fails
            logging.getLogger("uvicorn.error").exception("Exception in %s", EXECUTE_PATH, exc_info=error)
            reply = refusal(500, "Internal Server Error")
        self._metrics.answered(reply.status)
        self._reply(reply.status, reply.body, reply.headers)


class ExecuteRoute:
    """Reads an action, passes it to the market, and answers when it is durable."""

    line = f"POST {EXECUTE_PATH} HTTP/1.1".encode()
    caller = staticmethod(Credentials.of)

    def __init__(self, market: HostedMarket, authentication: Authentication, metrics: Metrics) -> None:
        self._market, self._authentication, self._metrics = market, authentication, metrics

    async def __call__(self, headers: Headers, receive: Receive) -> Reply:
        return await reply_or_refusal(self._act(headers, receive))

    def take(self, caller: Credentials, body: bytes, reply: HotReply) -> bool:
        """Begin with a request of a known agent. False, with nothing done, for whatever will be refused."""
        actor = self._authentication.known(caller)
        if actor is None:
            return False
        try:
            request = wire.read_request(body)
            hot = _HotRequest(self._market.world, request, reply, self._metrics)
            self._market.submit(actor, request.action, hot.respond, hot)
        except (Malformed, Overloaded, LookAlike, WrongToken):
            return False
        return True

    async def _act(self, headers: Headers, receive: Receive) -> Reply:
        actor = await self._authentication.agent(Credentials.of(headers))
        body = await read_body(receive)
        started = time.perf_counter()
        request, world = wire.read_request(body), self._market.world

        def respond(state: State, turn: Turn, outcome: Outcome) -> Answer:
            return wire.encode_answer(world, state, turn, request, outcome)

        answer = await self._market.act(actor, request.action, respond)
        self._metrics.acted(answer.verb, answer.code, time.perf_counter() - started)
        return Reply(200, answer.body)


async def read_body(receive: Receive, limit: int = MAX_BODY_BYTES) -> bytes:
    """The body of a request. TooLarge above the limit, Disconnected.

    The connection discards what is left of a body, so that its sender reads the answer.
    """
    chunks, length, more = list[bytes](), 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected("The client disconnected")
        chunk: bytes = message.get("body", b"")
        length += len(chunk)
        if length > limit:
            raise TooLarge(limit)
        chunks.append(chunk)
        more = message.get("more_body", False)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
