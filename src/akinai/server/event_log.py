"""The server's log: JSON lines on stderr. It delays nothing and never raises, whatever has become of the reader."""

import json
import logging
import os
import queue
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

logger = logging.getLogger("akinai.server")

MAX_WAITING = 10_000
"""Lines that wait for a slow reader; further lines are lost."""
DRAIN_S = 1.0
"""Seconds that a stop waits for the reader."""
_SOURCES = (("akinai.server", logging.INFO), ("uvicorn", logging.WARNING), ("asyncio", logging.WARNING))


def log_event(name: str, level: int = logging.INFO, /, **facts: object) -> None:
    """Write a line to the log: the event and its facts. Never pass a token, a message or a password."""
    with suppress(Exception):  # a log that is gone must not fail what it reports
        logger.log(level, name, extra={"facts": facts})


class JsonLines(logging.Handler):
    """Writes a JSON object a line, in a thread of its own: a reader that stops reading delays that alone."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_WAITING)
        self._writer = threading.Thread(target=self._write_all, name="akinai log", daemon=True)
        self._writer.start()

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(Exception):
            self._lines.put_nowait(self.format(record) + "\n")

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "level": record.levelname.lower(), "what": record.getMessage()}
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["error"] = logging.Formatter().formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)

    def drain(self) -> None:
        """End the thread after the lines that wait, or after DRAIN_S."""
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._writer.join(DRAIN_S)

    def _write_all(self) -> None:
        while (line := self._lines.get()) is not None:
            _write(sys.stderr, line)  # looked up each time, because a program may have redirected it


def _write(stream: Any, text: str) -> None:
    """Write past the stream's buffer, so that a blocked write holds no lock that the interpreter's exit needs."""
    with suppress(Exception):  # the reader is dead, the disk is full, the stream is closed
        try:
            target = stream.fileno()
        except (AttributeError, OSError, ValueError):
            stream.write(text)
            return
        data = text.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(target, data) :]


def write_within(stream: Any, text: str, seconds: float = DRAIN_S) -> None:
    """Write a text to a stream whose reader may be gone; give up after some seconds."""
    writer = threading.Thread(target=_write, args=(stream, text), daemon=True)
    writer.start()
    writer.join(seconds)


@contextmanager
def logging_to_stderr() -> Generator[None]:
    """Log one JSON object a line: our own events and the warnings of the HTTP server and the event loop."""
    handler = JsonLines()
    for name, level in _SOURCES:
        source = logging.getLogger(name)
        source.handlers, source.propagate = [handler], False
        source.setLevel(level)
    try:
        yield
    finally:
        for name, _ in _SOURCES:
            logging.getLogger(name).removeHandler(handler)
        handler.drain()
