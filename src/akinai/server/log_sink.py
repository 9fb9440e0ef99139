"""The log lines of agents: buffered in memory and stored in the trace book a moment later."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.errors import SequenceConflict, StoreError
from akinai.core.stores import TraceBook, TraceRecord
from akinai.runtime.play.session import clock_us
from akinai.server.event_log import log_event
from akinai.worlds.market.model.units import iso

FLUSH_S = 0.2
MAX_BUFFERED = 100_000
"""Lines in memory; further lines are refused."""
MAX_BUFFERED_BYTES = 64 * 1_048_576
"""Bytes of lines in memory, as they were sent; further lines are refused."""
BATCH = 1_000
"""Lines that are stored at once."""
LOG = "log"
"""The kind of a log line's trace record, and the key of the original line in its data."""


class LogSink:
    """Log lines of one run. A crash loses those of the last moment."""

    def __init__(self, book: TraceBook, run_id: str) -> None:
        self._book, self._run_id = book, run_id
        self._buffer: list[TraceRecord] = []
        self._last = self._bytes = 0
        self._task: asyncio.Task[None] | None = None

    def add(self, actor: str, line: Mapping[str, Json], size: int = 0) -> bool:
        """Buffer a line of so many bytes. Returns False when the buffer is full."""
        if len(self._buffer) >= MAX_BUFFERED or self._bytes > MAX_BUFFERED_BYTES:
            return False
        self._bytes += size
        # The time numbers the record, so it must differ from every earlier line of the actor, also before a restart.
        self._last = max(self._last + 1, clock_us())
        self._buffer.append(TraceRecord(actor, self._last, self._last, {"kind": LOG, LOG: line}))
        if self._task is None:
            self._task = asyncio.create_task(self._store_soon())
        return True

    async def _store_soon(self) -> None:
        try:
            await asyncio.sleep(FLUSH_S)
            while self._buffer:
                await self._store()
            self._bytes = 0
        except StoreError as error:
            lost = len(self._buffer)
            self._buffer.clear()
            self._bytes = 0
            log_event("log_not_kept", lines=lost, error=str(error))
        finally:
            self._task = None

    async def _store(self) -> None:
        records = self._buffer[:BATCH]
        try:
            await self._book.add_trace(self._run_id, records)
        except SequenceConflict:
            later = [TraceRecord(record.actor, record.call + BATCH, record.at, record.data) for record in records]
            self._last = max(self._last, later[-1].call)
            await self._book.add_trace(self._run_id, later)
        del self._buffer[: len(records)]

    async def read(
        self, after_us: int | None, before_us: int | None, offset: int, limit: int | None
    ) -> tuple[Sequence[Json], int]:
        """A page of the lines between two times, oldest first, and the total number of them."""
        records = {(record.actor, record.call): record for record in self._buffer}
        async for record in self._book.read_trace(self._run_id):
            records[record.actor, record.call] = record
        lines = [
            record
            for record in sorted(records.values(), key=lambda record: (record.at, record.actor, record.call))
            if isinstance(record.data, Mapping)
            and LOG in record.data
            and (after_us is None or record.at > after_us)
            and (before_us is None or record.at < before_us)
        ]
        page = lines[offset:] if limit is None else lines[offset : offset + limit]
        return [_render(record) for record in page], len(lines)

    async def close(self) -> None:
        """Store the buffered lines."""
        task = self._task
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        with suppress(StoreError):
            while self._buffer:
                await self._store()


def _render(record: TraceRecord) -> Json:
    data = cast("Mapping[str, Any]", record.data)
    optional: Mapping[str, Json] = {"message": None, "data": None, "metadata": None}
    return {"agent_id": record.actor or None, "created_at": iso(record.at), **optional, **data[LOG]}
