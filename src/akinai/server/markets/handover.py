"""Connections that go from process to process: a request is read by whoever holds its connection, and answered by the
process that owns its market. No byte of an action or an answer passes another process."""

import asyncio
import os
import socket
import struct
from collections import deque
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import httptools

from akinai.server.connections import MAX_HEAD_BYTES, LimitedConnection

_LENGTH = struct.Struct("!I")
_CHUNK = 1 << 18
_MOST_AT_ONCE = 64
"""Connections that one read may bring."""


class Channel:
    """The way between two processes for connections, each with the bytes that were read of it."""

    def __init__(
        self, sock: socket.socket, received: Callable[[socket.socket, bytes], None], lost: Callable[[], None]
    ) -> None:
        """`received` takes the connections of the other process; `lost` is called once, when that has ended."""
        sock.setblocking(False)
        self._sock, self._received, self._lost = sock, received, lost
        self._loop = asyncio.get_running_loop()
        self._read, self._files = bytearray(), deque[int]()
        self._unsent = deque[tuple[bytes, int | None]]()
        self._open = True
        self._loop.add_reader(sock, self._receive)

    def send(self, file: int, begun: bytes) -> None:
        """Give away a connection by its file descriptor, which is closed here."""
        if not self._open:
            os.close(file)
            return
        self._unsent.append((_LENGTH.pack(len(begun)) + begun, file))
        if len(self._unsent) == 1:
            self._send()

    def close(self) -> None:
        """Send and receive nothing more."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._sock)
            self._loop.remove_writer(self._sock)
            self._sock.close()
            for file in [*self._files, *(file for _, file in self._unsent if file is not None)]:
                os.close(file)

    def _send(self) -> None:
        try:
            while self._unsent:
                data, file = self._unsent[0]
                sent = socket.send_fds(self._sock, [data], [] if file is None else [file])
                if file is not None:
                    os.close(file)
                self._unsent[0] = (data[sent:], None)
                if sent == len(data):
                    self._unsent.popleft()
        except BlockingIOError:
            self._loop.add_writer(self._sock, self._send)
        except OSError:
            self._end()
        else:
            self._loop.remove_writer(self._sock)

    def _receive(self) -> None:
        try:
            data, files, _, _ = socket.recv_fds(self._sock, _CHUNK, _MOST_AT_ONCE)
        except BlockingIOError:
            return
        except OSError:
            data, files = b"", []
        self._files += files
        self._read += data
        while len(self._read) >= _LENGTH.size and self._files:
            end = _LENGTH.size + _LENGTH.unpack_from(self._read)[0]
            if len(self._read) < end:
                break
            begun = bytes(self._read[_LENGTH.size : end])
            del self._read[:end]
            self._received(socket.socket(fileno=self._files.popleft()), begun)
        if not data:
            self._end()

    def _end(self) -> None:
        if self._open:
            self.close()
            self._lost()


Route = Callable[[str], Channel | None]
"""The way to the owner of a path; None where this process answers itself."""


class RoutedConnection(LimitedConnection):
    """A connection whose requests are answered here or, from the first byte on, given to the process that owns them."""

    def __init__(self, route: Route, *args: Any, begun: bytes = b"", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._route, self._begun = route, begun

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._begun:  # before anything else is read
            self.data_received(b"")

    def data_received(self, data: bytes) -> None:
        if self._refused or self._part != "between" or self._answering:
            super().data_received(data)
            return
        data, self._begun = self._begun + data, b""
        path = requested_path(data)
        if path is None:
            self._begun = data
            if self._timer is None:
                self._expect_in_time()
        elif (owner := self._route(path)) is None:
            super().data_received(data)
        elif self.transport.get_write_buffer_size():
            self._refuse(421, "other_market", "This connection is another market's until its answers are read")
        else:
            self._give(owner, data)

    def _give(self, owner: Channel, data: bytes) -> None:
        self._refused = True  # what is still read here is nobody's
        owner.send(os.dup(self.transport.get_extra_info("socket").fileno()), data)
        self.transport.abort()  # closes this process's descriptor and sends nothing

    def _late(self) -> None:
        if self._begun:
            self._part = "head"
        super()._late()


def requested_path(data: bytes) -> str | None:
    """The path of the request that begins with these bytes; empty for no request, None before its line is complete."""
    line, complete, _ = data[:MAX_HEAD_BYTES].lstrip(b"\r\n").partition(b"\n")
    if not complete:
        is_begin = len(data) < MAX_HEAD_BYTES and (not line or line[:1].isupper())
        return None if is_begin else ""
    words = line.split(b" ")
    try:
        path = httptools.parse_url(words[1]).path
    except (IndexError, httptools.HttpParserInvalidURLError):
        return ""
    return unquote((path or b"").decode("latin-1"))
