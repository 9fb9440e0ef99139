"""A small HTTP/1.1 server on loopback, on a thread of its own. It knows nothing of models."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Event, Thread
from typing import Literal, cast

HOST = "127.0.0.1"
MOST_HEAD_BYTES = 65_536
CLOSE_S = 5.0
"""Seconds that closing waits for unfinished answers."""

_REASONS = {status.value: status.phrase for status in HTTPStatus} | {529: "Overloaded"}


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


class Connection(asyncio.Protocol):
    """A client's connection. Requests are answered in sequence."""

    def __init__(self, handler: "Handler", open_connections: "set[Connection]") -> None:
        self.gone = asyncio.Event()
        """Set when the client or the server has closed the connection."""
        self._handler, self._open = handler, open_connections
        self._buffer = bytearray()
        self._answering: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        if self._answering is None:
            self._open.discard(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._answering is None:
            self._next()

    async def finish(self) -> None:
        """Cut the connection and wait for an unfinished answer."""
        if self._transport is not None:
            self._transport.abort()
        self.gone.set()
        if self._answering is not None:
            await asyncio.wait([self._answering], timeout=CLOSE_S)

    def _next(self) -> None:
        """Take the next request out of the buffer once it is complete."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MOST_HEAD_BYTES:
                self._refuse(431)
            return
        try:
            method, path, headers = _head(self._buffer[:end].decode("latin-1"))
            length = int(headers.get("content-length", "0"))
        except ValueError:
            self._refuse(400)
            return
        if "transfer-encoding" in headers or length < 0:
            self._refuse(411)
            return
        start = end + 4
        if len(self._buffer) < start + length:
            if headers.get("expect", "").lower() == "100-continue" and len(self._buffer) == start:
                self._write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        body = bytes(self._buffer[start : start + length])
        del self._buffer[: start + length]
        request = HttpRequest(method, path, headers, body)
        self._answering = asyncio.get_running_loop().create_task(self._answer(request))

    async def _answer(self, request: HttpRequest) -> None:
        try:
            self._send(await self._handler(request, self), request)
        finally:
            self._answering = None
            if self.gone.is_set():
                self._open.discard(self)
        if self._buffer and not self.gone.is_set():
            self._next()

    def _send(self, answer: HttpAnswer, request: HttpRequest) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        closes = answer.cut is not None or request.headers.get("connection", "").lower() == "close"
        if answer.cut != "before_headers":
            body = answer.body[: len(answer.body) // 2] if answer.cut else answer.body
            self._write(_head_of(answer, closes) + (b"" if request.method == "HEAD" else body))
        if closes:
            self._transport.close()

    def _refuse(self, status: int) -> None:
        self._write(_head_of(HttpAnswer(status), closes=True))
        if self._transport is not None:
            self._transport.close()

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


Handler = Callable[[HttpRequest, Connection], Awaitable[HttpAnswer]]


def _head(text: str) -> tuple[str, str, dict[str, str]]:
    """Method, path without query, headers by lower-case name. ValueError when the text is no request."""
    first, *lines = text.split("\r\n")
    method, target, _ = first.split(" ")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError(line)
        headers[name.lower()] = value.strip()
    return method, target.partition("?")[0], headers


def _head_of(answer: HttpAnswer, closes: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Unknown')}",
        f"content-type: {answer.content_type}",
        f"content-length: {len(answer.body)}",
        *(f"{name}: {value}" for name, value in answer.headers.items()),
        *(["connection: close"] if closes else []),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Server:
    """Serves a handler on 127.0.0.1 until it is closed. The handler runs on the server's own event loop."""

    def __init__(self, handler: Handler, port: int = 0) -> None:
        self._handler, self.port = handler, port
        """The port; 0 for a free one, known once the server is started."""
        self._ready, self._stop = Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._broken: BaseException | None = None
        self._thread = Thread(target=self._run, name="akinai-endpoint", daemon=True)

    def start(self) -> None:
        """Start; returns when connections are accepted. OSError when the port is taken."""
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
        connections: set[Connection] = set()
        server = await self._loop.create_server(
            lambda: Connection(self._handler, connections), HOST, self.port, backlog=1024
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        await asyncio.gather(*(connection.finish() for connection in tuple(connections)))
        await server.wait_closed()
