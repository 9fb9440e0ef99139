"""The front of everything that listens: binds, bounds heads, bodies and times, and checks Host, Origin and token."""

import asyncio
import json
import signal
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, MutableMapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Literal

import uvicorn

from akinai.core.errors import UsageError
from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.connections import LimitedConnection
from akinai.runtime.http.hot import HotConnection, HotRoute, HotWay

BACKLOG = 4_096
"""Most connections that wait to be accepted."""
MAX_BODY_BYTES = 2_097_152
LOOPBACK = ("127.0.0.1", "::1", "localhost")
SAFE_METHODS = ("GET", "HEAD")
STOPPING = (signal.SIGTERM, signal.SIGINT)

Auth = Literal["open", "token"]
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI application."""
Headers = Sequence[tuple[bytes, bytes]]


class Listener(StrEnum):
    """Everything of Akinai that listens. A test attacks each alike."""

    MARKET = "serve"
    SESSIONS = "sessions"
    STUDIO = "studio"
    PLAY = "play"
    GAME = "game"
    MCP = "mcp"
    A2A = "a2a"
    OPENENV = "openenv"
    MODEL = "akinai.testing.endpoint"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that a guard gives in place of the app."""

    status: int
    body: bytes = b""
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Guard:
    """The checks that come before an app sees a request."""

    hosts: AllowedHosts | None = None
    """None where no browser brings a permission by itself, since every request carries a token."""
    own_pages: bool = False
    """Whether only pages of the server itself may change anything."""
    admit: Callable[[Scope], Answer | None] | None = None
    """Checks the token of a request; None where the app does, or no token is needed."""
    max_body_bytes: int | None = MAX_BODY_BYTES
    """None where the app counts while it reads."""
    headers: Headers = ()
    """Added to every answer."""

    def refuses(self, headers: Headers) -> bool:
        """Whether a request that would change something does not reach the app, which is the same each time."""
        assert self.admit is None
        return self.answer({"headers": headers, "method": "POST"}) is not None

    def answer(self, scope: Scope) -> Answer | None:
        """The answer to a request that does not reach the app; None for one that does."""
        headers: Headers = scope.get("headers", ())
        if self.hosts is not None and (why := self.hosts.refuse(headers)):
            return refusal(403, "foreign_host", why)
        changes = self.own_pages and scope.get("method", "GET") not in SAFE_METHODS
        if changes and not any(name == b"origin" for name, _ in headers):
            return refusal(403, "foreign_page", "Only a page of this server may change anything")
        return None if self.admit is None else self.admit(scope)


class Front:
    """An address on which something listens."""

    def __init__(self, listener: Listener, sock: socket.socket, host: str) -> None:
        self.listener, self.sock = listener, sock
        bound, self.port = sock.getsockname()[:2]
        name = bound if ":" in bound or host in ("0.0.0.0", "") else host
        self.url = f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    @staticmethod
    @contextmanager
    def at(listener: Listener, host: str, port: int) -> "Generator[Front]":
        """A bound address, closed on exit. Port 0 picks a free one. UsageError if it cannot be bound."""
        if not 0 <= port <= 65_535:
            raise UsageError(f"a port is a number from 0 to 65535, not {port}")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # Connections inherit it. Without it the end of an answer waits 40 ms for its head to be acknowledged.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                sock.bind((host, port))
                sock.listen(BACKLOG)
            except OSError as error:
                why = error.strerror or error
                raise UsageError(f"cannot listen on {host}:{port}: {why}; choose another --port or --host") from error
            sock.setblocking(False)
            yield Front(listener, sock, host)

    @asynccontextmanager
    async def serving(
        self,
        app: App,
        guard: Guard,
        *,
        hot: HotRoute | None = None,
        grace_s: int = 2,
        keep_alive_s: int = 5,
        sockets: bool = False,
    ) -> "AsyncGenerator[Serving]":
        """Take requests until the block is left; open answers then have `grace_s` seconds.

        `hot` is a route of the app whose plain requests go the short way; `sockets` takes WebSockets too.
        """
        connection: Any = LimitedConnection
        if hot is not None:
            connection = partial(HotConnection, hot=HotWay(hot, guard.refuses))
        config = uvicorn.Config(
            Door(app, guard), http=connection, ws="websockets-sansio" if sockets else "none", interface="asgi3",
            lifespan="auto" if sockets else "off", log_config=None, access_log=False, server_header=False,
            proxy_headers=False, timeout_graceful_shutdown=grace_s, timeout_keep_alive=keep_alive_s,
        )  # fmt: skip
        serving = Serving(_Server(config))
        task = asyncio.create_task(serving.server.serve(sockets=[self.sock]))
        try:
            while not serving.server.started and not task.done():
                await asyncio.sleep(0.005)
            serving.task = task
            yield serving
        finally:
            serving.server.should_exit = True
            await task


class Serving:
    """A front that takes requests."""

    def __init__(self, server: uvicorn.Server) -> None:
        self.server = server
        self.task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Accept no more requests. A second call does not wait for requests that are being answered."""
        self.server.force_exit = self.server.should_exit
        self.server.should_exit = True

    async def ended(self) -> None:
        """Wait until every accepted request is answered."""
        assert self.task is not None
        await asyncio.shield(self.task)

    async def until_signal(self, stop: Callable[[], None] | None = None) -> None:
        """Serve until SIGTERM or SIGINT, which call `stop`, and until what was accepted is answered."""
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, ValueError, RuntimeError):  # Windows, and threads
            for number in STOPPING:
                loop.add_signal_handler(number, stop or self.stop)
        await self.ended()


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, which would end the process before runs are closed."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class Door:
    """The app behind a guard. It adds no step to requests of an app that counts its bodies and adds no headers."""

    def __init__(self, app: App, guard: Guard) -> None:
        self._app, self._guard = app, guard
        self._plain = guard.max_body_bytes is None and not guard.headers

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "lifespan":
            return self._app(scope, receive, send)
        if answer := self._guard.answer(scope):
            return _send(scope, send, answer, self._guard.headers)
        return self._app(scope, receive, send) if self._plain else self._bounded(scope, receive, send)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The app with a body up to the limit; a larger one is answered 413, and the app sees its client leave."""
        read, begun, refused = 0, False, False
        limit = self._guard.max_body_bytes

        async def receiving() -> Message:
            nonlocal read, refused
            message = await receive()
            read += len(message.get("body", b""))
            if limit is not None and message["type"] == "http.request" and read > limit:
                if not begun and not refused:
                    refused = True
                    why = f"The body of a request may have {limit:,} bytes; send less"
                    await _send(scope, send, refusal(413, "too_large", why), self._guard.headers)
                return {"type": "http.disconnect"}
            return message

        async def sending(message: Message) -> None:
            nonlocal begun
            if refused:
                return
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": [*message.get("headers", ()), *self._guard.headers]}
            await send(message)

        try:
            await self._app(scope, receiving, sending)
        except Exception:
            if not refused:  # an app may raise when its client leaves
                raise


def expect_safe(host: str, auth: Auth, deed: str) -> None:
    """UsageError when anybody on other machines could do the deed."""
    if auth == "open" and host not in LOOPBACK:
        raise UsageError(f"on --host {host!r} anybody could {deed}; add --auth token, or listen on 127.0.0.1")


def refusal(status: int, code: str, why: str) -> Answer:
    """A refusal as JSON, with a sentence."""
    body = json.dumps({"detail": why, "error": {"code": code, "message": why}}, ensure_ascii=False).encode()
    more = [(b"www-authenticate", b"Bearer")] if status == 401 else []
    return Answer(status, body, [(b"content-type", b"application/json"), *more])


async def _send(scope: Scope, send: Send, answer: Answer, more: Headers) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": str(answer.status)})
        return
    headers = [*answer.headers, (b"content-length", str(len(answer.body)).encode()), *more]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
