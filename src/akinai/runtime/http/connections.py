"""uvicorn's HTTP/1.1 with limits: on the size of a request's head, and on how long heads, bodies and readers take."""

import asyncio
import json
from typing import Any, Literal, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

MAX_HEAD_BYTES = 16_384
"""Limit on the request line and all headers together, trailers included. An agent's id has at most 500 characters."""
MAX_HEADERS = 100
ARRIVAL_S = 10.0
"""Seconds for a head to arrive, from the connection or its first byte on, and then for its body."""
UNREAD_S = 30.0
"""Seconds that a client may read nothing of an answer that waits for it."""
LINGER_S = 2.0
"""Seconds for which a refused request is read and discarded, so that its sender reads the refusal."""


class LimitedConnection(HttpToolsProtocol):
    """A connection whose requests have a small head and arrive in time.

    Refused with 431 for a head that is too large and 408 for one that is late, and closed. A late body closes the
    connection, and so does a client that does not read its answers.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._part: Literal["between", "head", "body"] = "between"
        self._head_bytes = self._headers = self._read = 0
        self._too_large = self._refused = False
        self._timer: asyncio.TimerHandle | None = None
        self._unread_timer: asyncio.TimerHandle | None = None
        self._unread = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect_in_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        if self._unread_timer is not None:
            self._unread_timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reader()

    def on_response_complete(self) -> None:
        if self.transport.get_write_buffer_size():
            self._expect_reader()
        super().on_response_complete()

    def _expect_reader(self) -> None:
        """Look later whether the client has read anything of what waits for it."""
        if self._unread_timer is None:
            self._unread = self.transport.get_write_buffer_size()
            self._unread_timer = self.loop.call_later(UNREAD_S, self._check_reader)

    def _check_reader(self) -> None:
        self._unread_timer = None
        unread = self.transport.get_write_buffer_size()
        if unread and unread >= self._unread:
            self.transport.abort()  # closing would wait for the reader
        elif unread:
            self._expect_reader()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        part = self._part
        super().data_received(data)
        if self._refused or self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self._part == "head":
            # A head that began in this chunk is counted from the next one on, since other requests may precede it.
            self._read += len(data) if part == "head" else 0
            if self._read > MAX_HEAD_BYTES:
                self._refuse_large()
                return
        if self._timer is None and (self._part != "between" or not self._answering):
            self._expect_in_time()

    @property
    def _answering(self) -> bool:
        """Whether a request waits for its answer."""
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._part = "head"
        self._head_bytes = self._headers = self._read = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers += 1
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES or self._headers > MAX_HEADERS:
            self._too_large = True
            raise ValueError("the head is too large")  # which ends the parsing

    def on_headers_complete(self) -> None:
        self._stop_timer()
        self._part = "body"
        cast("dict[str, Any]", self.scope)["extensions"] = {"akinai.transport": self.transport}
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_timer()
        self._part = "between"
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._too_large:
            self._refuse_large()
        else:
            self._refuse(400, "bad_request", "This is no HTTP request")

    def _expect_in_time(self) -> None:
        self._timer = self.loop.call_later(ARRIVAL_S, self._late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self.transport.is_closing():
            return
        if self.pipeline:  # reading is paused until an earlier request is answered
            self._expect_in_time()
        elif self._part == "head":
            self._refuse(408, "too_slow", f"The head of a request must arrive within {ARRIVAL_S:g} s")
        else:
            self.transport.close()

    def _refuse_large(self) -> None:
        why = f"The head of a request may have {MAX_HEAD_BYTES:,} bytes and {MAX_HEADERS} headers; send less"
        self._refuse(431, "head_too_large", why)

    def _refuse(self, status: int, code: str, why: str) -> None:
        """Answer, then read and discard for a moment: closing at once could take the answer from its reader."""
        self._refused = True
        self._stop_timer()
        self._unset_keepalive_if_required()
        if self._answering:  # an earlier request, or one whose trailers are at fault
            self.transport.close()
            return
        body = json.dumps({"detail": why, "error": {"code": code, "message": why}}).encode()
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[status] + head + body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.close)
