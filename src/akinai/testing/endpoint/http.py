"""A small HTTP server on loopback, on a thread of its own, behind Akinai's front. It knows nothing of models."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Literal

from akinai.core.errors import MissingExtra
from akinai.runtime.http.allowed_hosts import AllowedHosts

try:
    from akinai.runtime.http.front import Front, Guard, Listener, Receive, Scope, Send
except ImportError as error:
    raise MissingExtra("the test endpoint", "uvicorn and httptools", "server") from error

HOST = "127.0.0.1"
MAX_BODY_BYTES = 4_194_304


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request."""

    method: str
    path: str
    """Without the query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer, possibly cut off."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: Literal["before_headers", "in_body"] | None = None
    """The point at which the connection is cut; None: not at all."""


class Connection:
    """A client's connection."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        """Set when the client or the server has closed the connection."""


Handler = Callable[[HttpRequest, Connection], Awaitable[HttpAnswer]]


class Server:
    """Serves a handler on 127.0.0.1 until it is closed. The handler runs on the server's own event loop."""

    def __init__(self, handler: Handler, port: int = 0) -> None:
        self._handler, self.port = handler, port
        """The port; 0 for a free one, known once the server is started."""
        self._ready, self._stop = Event(), asyncio.Event()
        self._open: set[Connection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._broken: BaseException | None = None
        self._thread = Thread(target=self._run, name="akinai-endpoint", daemon=True)

    def start(self) -> None:
        """Start; returns when connections are accepted. UsageError when the port is taken."""
        self._thread.start()
        self._ready.wait()
        if self._broken is not None:
            self._thread.join()
            raise self._broken

    def close(self) -> None:
        """Cut all connections and end the thread; may be called twice."""
        if self._thread.is_alive() and self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # raised in the thread that waits for the server
            self._broken = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        with Front.at(Listener.MODEL, HOST, self.port) as front:
            guard = Guard(hosts=AllowedHosts(), max_body_bytes=MAX_BODY_BYTES)
            async with front.serving(self._app, guard, grace_s=1):
                self.port = front.port
                self._ready.set()
                await self._stop.wait()
                for connection in tuple(self._open):
                    connection.gone.set()

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        connection = Connection()
        self._open.add(connection)
        watch = asyncio.create_task(_watch(receive, connection))
        try:
            answer = await self._handler(HttpRequest(scope["method"], scope["path"], headers, bytes(body)), connection)
        finally:
            watch.cancel()
            self._open.discard(connection)
        if not connection.gone.is_set() or answer.cut:
            await _send(answer, send, scope["extensions"]["akinai.transport"])


async def _watch(receive: Receive, connection: Connection) -> None:
    """Notice when a client leaves."""
    with suppress(asyncio.CancelledError):
        await receive()
        connection.gone.set()


async def _send(answer: HttpAnswer, send: Send, transport: asyncio.Transport) -> None:
    if answer.cut == "before_headers":
        transport.close()
        return
    named = {"content-type": answer.content_type, "content-length": str(len(answer.body)), **answer.headers}
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    part = answer.body[: len(answer.body) // 2] if answer.cut else answer.body
    await send({"type": "http.response.body", "body": part, "more_body": bool(answer.cut)})
    if answer.cut:
        transport.close()
