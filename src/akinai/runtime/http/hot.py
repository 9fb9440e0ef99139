"""The short way of a route that most requests are for: no scope, task, event or future for a request in one piece."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from akinai.runtime.http.connections import LimitedConnection

MAX_PLAIN_HEAD_BYTES = 1_024
REMEMBERED_HEADS = 16_384
"""Heads that are remembered, each without its length: about one a client."""

Headers = tuple[tuple[bytes, bytes], ...]
Reply = Callable[[int, bytes, Mapping[str, str]], None]
"""Answers with a status, JSON, and headers beside its type and length."""

_LENGTH = b"\r\nContent-Length: "
"""As most clients spell it; some write small letters alone."""
_LINE = re.compile(rb"([A-Za-z-]+): ?([!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)")
_PLAIN = frozenset({
    b"host", b"x-agent-id", b"authorization", b"content-type", b"accept", b"accept-encoding", b"accept-language",
    b"user-agent", b"connection",
})  # fmt: skip
"""Headers that change nothing about how a request is read; `connection` only as "keep-alive"."""


class HotRoute(Protocol):
    """A route with a short way."""

    line: bytes
    """Its request line."""

    def caller(self, headers: Headers) -> Any:
        """What `take` needs of the headers, whose names are in lower case. It is remembered with the head."""
        ...

    def take(self, caller: Any, body: bytes, reply: Reply) -> bool:
        """Begin with a request, which `reply` answers later, once. False for one that is to go the long way: then
        nothing was done."""
        ...


class _Head(NamedTuple):
    """A head that was read: what the route needs of it."""

    caller: Any


class HotWay:
    """The short way of one server."""

    def __init__(self, route: HotRoute, refuses: Callable[[Headers], bool]) -> None:
        """`refuses` tells requests that do not reach the app."""
        self.route, self._refuses = route, refuses
        self.start = route.line + b"\r\n"
        self.heads: dict[bytes, _Head] = {}
        self._ok: tuple[Any, bytes] = None, b""

    def read(self, head: bytes) -> _Head | None:
        """A head, given without its length; None for one that is not plain or whose request is refused."""
        headers: dict[bytes, bytes] = {}
        for line in head[len(self.start) :].split(b"\r\n"):
            match = _LINE.fullmatch(line)
            name = match[1].lower() if match else b""
            if match is None or name not in _PLAIN or name in headers:
                return None
            headers[name] = match[2]
        pairs = tuple(headers.items())
        if headers.get(b"connection", b"keep-alive").lower() != b"keep-alive" or self._refuses(pairs):
            return None
        return _Head(self.route.caller(pairs))

    def remember(self, head: bytes, read: _Head) -> None:
        if len(self.heads) >= REMEMBERED_HEADS:
            self.heads.clear()
        self.heads[head] = read

    def opening(self, status: int, defaults: list[tuple[bytes, bytes]]) -> bytes:
        """The head of an answer up to its length. `defaults` are the server's headers, a new list when they change."""
        stamp, text = self._ok
        if status != 200 or stamp is not defaults:
            lines = [STATUS_LINE[status], *(b"%b: %b\r\n" % pair for pair in defaults)]
            text = b"".join([*lines, b"content-type: application/json\r\ncontent-length: "])
            if status == 200:
                self._ok = defaults, text
        return text


class HotConnection(LimitedConnection):
    """A connection whose plain requests for one route go the short way. All others go the long one, with its refusals.

    A request is plain if it comes in one piece, when nothing waits, with headers that need no further look.
    """

    def __init__(self, *args: Any, hot: HotWay, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._hot = hot
        self._waiting = self._last = False
        self._held: list[bytes] = []
        self._idle: Any = None
        self._answered_at = 0.0

    def data_received(self, data: bytes) -> None:
        if self._waiting:
            self._held.append(data)
            self.flow.pause_reading()
        elif not (self._part == "between" and data.startswith(self._hot.start) and self._take(data)):
            super().data_received(data)

    def _take(self, data: bytes) -> bool:
        """Send a plain request the short way. False for any other, with which nothing was done."""
        end = data.find(b"\r\n\r\n", 0, MAX_PLAIN_HEAD_BYTES)
        if end < 0:
            return False
        start = data.find(_LENGTH, 0, end)
        if start < 0 and (start := data.find(_LENGTH.lower(), 0, end)) < 0:
            return False
        stop = data.find(b"\r\n", start + 2, end + 2)
        if data[start + len(_LENGTH) : stop] != b"%d" % (len(data) - end - 4):
            return False
        if self._refused or self._answering or self.flow.write_paused:
            return False
        hot, head = self._hot, data[:start] + data[stop:end]
        read = hot.heads.get(head)
        if new := read is None:
            read = hot.read(head)
        if read is None or not hot.route.take(read.caller, data[end + 4 :], self._answer):
            return False
        if new:
            hot.remember(head, read)
        self._waiting = True
        if self._timer is not None:
            self._stop_timer()
        self._unset_keepalive_if_required()
        return True

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._waiting = False
        transport = self.transport
        if transport.is_closing():
            return
        opening = self._hot.opening(status, self.server_state.default_headers)
        more = b"\r\n"
        if self._last:
            more += b"connection: close\r\n"
        for name, value in headers.items():
            more += f"{name}: {value}\r\n".encode()
        transport.write(b"%b%d%b\r\n%b" % (opening, len(body), more, body))
        if self._last:
            transport.close()
            return
        if transport.get_write_buffer_size():
            self._expect_reader()
        self._answered_at = self.loop.time()
        if self._idle is None:
            self._idle = self.loop.call_later(self.timeout_keep_alive, self._check_idle)
        if self._held:
            data = b"".join(self._held)
            self._held.clear()
            self.flow.resume_reading()
            self.data_received(data)

    def _check_idle(self) -> None:
        """Close a connection without requests. One timer looks now and then: each answer only notes its time."""
        if self._answering or self._part != "between":
            rest_s = float(self.timeout_keep_alive)
        else:
            rest_s = self._answered_at + self.timeout_keep_alive - self.loop.time()
        self._idle = None
        if rest_s > 0:
            self._idle = self.loop.call_later(rest_s, self._check_idle)
        else:
            self.transport.close()

    @property
    def _answering(self) -> bool:
        return self._waiting or super()._answering

    def on_response_complete(self) -> None:
        self._answered_at = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._idle is not None:
            self._idle.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        if self._waiting:
            self._last = True
        else:
            super().shutdown()
