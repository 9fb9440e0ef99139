"""The hot route, `POST /actions/execute`, and the ASGI middleware that limits bodies and counts answers."""

import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from akinai.core.canonical import Json
from akinai.core.errors import StoreError
from akinai.core.ledger import Outcome, Turn
from akinai.server import wire
from akinai.server.authentication import Authentication, Credentials, Unauthorized
from akinai.server.market import HostedMarket, Overloaded, WrongToken
from akinai.server.metrics import Metrics
from akinai.server.wire import Answer, Malformed
from akinai.worlds.market import State

MAX_BODY_BYTES = 1_048_576
MAX_LOG_BYTES = 8 * MAX_BODY_BYTES
"""A log line may be larger than an action: the public agents log whole model calls."""
MAX_READ_BYTES = 2 * MAX_LOG_BYTES
"""How much of a larger body is read and discarded, so that its sender is still connected for the answer."""
EXECUTE_PATH = "/actions/execute"
LOG_PATH = "/logs/create"
FIXED_PATHS = frozenset(
    {EXECUTE_PATH, LOG_PATH, "/actions/protocol", "/agents", "/agents/register", "/health", "/logs"}
)
"""Paths that may be requested with a slash at the end."""
RETRY_S = 1

Headers = Iterable[tuple[bytes, bytes]]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


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
    headers = {401: {"www-authenticate": "Bearer"}, 429: {"retry-after": str(RETRY_S)}, 503: {"retry-after": "1"}}
    return Reply(status, wire.encode(body), headers.get(status, {}))


async def reply_or_refusal(work: Awaitable[Reply]) -> Reply:
    """The reply of `work`, or a refusal when it raises an error that a client may see."""
    try:
        return await work
    except Malformed as error:
        return refusal(422, error.detail)
    except Unauthorized as error:
        return refusal(error.status, error.why)
    except WrongToken:
        return refusal(401, "The id is registered already; to change its profile send Authorization: Bearer its token")
    except Overloaded:
        return refusal(429, "Too many requests wait; try again in a second", "overloaded")
    except StoreError:
        why = "The market could not keep the action, so it was not done; try again with the same idempotency_key"
        return refusal(503, why, "store_unavailable")


class ExecuteRoute:
    """Reads an action, passes it to the market, and answers when it is durable."""

    def __init__(self, market: HostedMarket, authentication: Authentication, metrics: Metrics) -> None:
        self._market, self._authentication, self._metrics = market, authentication, metrics

    async def __call__(self, headers: Headers, body: bytes) -> Reply:
        return await reply_or_refusal(self._act(headers, body))

    async def _act(self, headers: Headers, body: bytes) -> Reply:
        started = time.perf_counter()
        actor = await self._authentication.agent(Credentials.of(headers))
        request, world = wire.read_request(body), self._market.world

        def respond(state: State, turn: Turn, outcome: Outcome) -> Answer:
            return wire.encode_answer(world, state, turn, request, outcome)

        answer = await self._market.act(actor, request.action, respond)
        self._metrics.acted(answer.verb, answer.code, time.perf_counter() - started)
        return Reply(200, answer.body)


class Middleware:
    """Reads bodies up to their limit, answers the hot route, and passes all other requests to the app."""

    def __init__(self, app: App, execute: ExecuteRoute, metrics: Metrics) -> None:
        self._app, self._execute, self._metrics = app, execute, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        path: str = scope["path"]
        if path[-1:] == "/" and path[:-1] in FIXED_PATHS:
            path = path[:-1]
            scope = {**scope, "path": path, "raw_path": path.encode()}
        limit = MAX_LOG_BYTES if path == LOG_PATH else MAX_BODY_BYTES
        body = await _read_body(receive, limit)
        if body is None:
            return None  # the client has disconnected
        if len(body) > limit:
            why = f"The body is above {limit:,} bytes; send less"
            await self._answer(send, refusal(413, why), close=True)
        elif path == EXECUTE_PATH and scope["method"] == "POST":
            await self._answer(send, await self._execute(scope["headers"], body))
        else:
            await self._app(scope, _replay(body, receive), self._counting(send))

    async def _answer(self, send: Send, reply: Reply, *, close: bool = False) -> None:
        self._metrics.answered(reply.status)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(reply.body)).encode())]
        if close:
            headers.append((b"connection", b"close"))
        if reply.headers:
            headers += [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    def _counting(self, send: Send) -> Send:
        """A `send` that counts the answer in the metrics."""

        async def counting(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._metrics.answered(message["status"])
            await send(message)

        return counting


async def _read_body(receive: Receive, limit: int) -> bytes | None:
    """The body, cut just past the limit; None if the client disconnected."""
    message = await receive()
    if message["type"] != "http.request":
        return None
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return body
    chunks, length = [body], len(body)
    while message.get("more_body") and length <= MAX_READ_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            return None
        chunk: bytes = message.get("body", b"")
        length += len(chunk)
        if length - len(chunk) <= limit:
            chunks.append(chunk)
    return b"".join(chunks)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that first returns the body that was read already."""
    replayed = False

    async def replay() -> MutableMapping[str, Any]:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
