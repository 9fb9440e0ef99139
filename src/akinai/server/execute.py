"""The hot route, `POST /actions/execute`, and the limits in front of all others: plain ASGI, below the framework."""

import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from akinai.core.canonical import Json
from akinai.core.errors import StoreError
from akinai.core.ledger import Outcome, Turn
from akinai.server import wire
from akinai.server.door import Badge, Door, Refused
from akinai.server.market import HostedMarket, NotTheHolder, Overloaded
from akinai.server.watching import Watching
from akinai.server.wire import Malformed, Told
from akinai.worlds.market.state import State

MOST_BYTES = 1_048_576
"""Of a request's body."""
DRAINED_BYTES = 8 * MOST_BYTES
"""What is read of a larger body and thrown away, so that its sender is still there for the answer."""
EXECUTE = "/actions/execute"
RETRY_S = 1

Headers = Iterable[tuple[bytes, bytes]]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of any route."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict[str, str])


def refusal(status: int, detail: Json, code: str = "") -> Reply:
    """An answer that is no answer of the rules: 4xx and 5xx."""
    told: dict[str, Json] = {"detail": detail}
    if code:
        told["error"] = {"code": code, "message": detail}
    headers = {401: {"www-authenticate": "Bearer"}, 429: {"retry-after": str(RETRY_S)}, 503: {"retry-after": "1"}}
    return Reply(status, wire.dumped(told), headers.get(status, {}))


async def guarded(work: Awaitable[Reply]) -> Reply:
    """What a piece of work answers, also when it is turned away, too much, or not kept."""
    try:
        return await work
    except Malformed as error:
        return refusal(422, error.detail)
    except Refused as error:
        return refusal(error.status, error.why)
    except NotTheHolder:
        return refusal(401, "The id is registered already; to change its profile send Authorization: Bearer its token")
    except Overloaded:
        return refusal(429, "Too many requests wait; try again in a second", "overloaded")
    except StoreError:
        why = "The market could not keep the action, so it was not done; try again with the same idempotency_key"
        return refusal(503, why, "store_unavailable")


class Execute:
    """Reads an action, hands it to the market, and answers when it is durable."""

    def __init__(self, market: HostedMarket, door: Door, watching: Watching) -> None:
        self._market, self._door, self._watching = market, door, watching

    async def __call__(self, headers: Headers, body: bytes) -> Reply:
        return await guarded(self._act(headers, body))

    async def _act(self, headers: Headers, body: bytes) -> Reply:
        started = time.perf_counter()
        actor = await self._door.agent(Badge.of(headers))
        request, world = wire.read_request(body), self._market.world

        def tell(state: State, turn: Turn, outcome: Outcome) -> Told:
            return wire.answer(world, state, turn, request, outcome)

        told = await self._market.act(actor, request.action, tell)
        self._watching.acted(told.name, told.code, time.perf_counter() - started)
        return Reply(200, told.body)


class Front:
    """Reads bodies up to their limit, answers the hot route, and hands the rest to the app."""

    def __init__(self, app: App, execute: Execute, watching: Watching) -> None:
        self._app, self._execute, self._watching = app, execute, watching

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        body = await _body(scope, receive)
        if body is None:
            return None  # the client has gone
        if len(body) > MOST_BYTES:
            why = f"The body is above {MOST_BYTES:,} bytes; send less"
            await self._answer(send, refusal(413, why), close=True)
        elif scope["path"] == EXECUTE and scope["method"] == "POST":
            await self._answer(send, await self._execute(scope["headers"], body))
        else:
            await self._app(scope, _again(body, receive), self._counted(send))

    async def _answer(self, send: Send, reply: Reply, *, close: bool = False) -> None:
        self._watching.answered(reply.status)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(reply.body)).encode())]
        if close:
            headers.append((b"connection", b"close"))
        if reply.headers:
            headers += [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    def _counted(self, send: Send) -> Send:
        async def counted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._watching.answered(message["status"])
            await send(message)

        return counted


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """The body; of one that is too long so much that it shows. None when the client has gone."""
    message = await receive()
    if message["type"] != "http.request":
        return None
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return body
    chunks, length = [body], len(body)
    while message.get("more_body") and length <= DRAINED_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            return None
        chunk: bytes = message.get("body", b"")
        length += len(chunk)
        if length - len(chunk) <= MOST_BYTES:
            chunks.append(chunk)
    return b"".join(chunks)


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read, then what comes behind it."""
    told = False

    async def once() -> MutableMapping[str, Any]:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once
