"""The lines that agents log: taken in memory, kept in the trace book a moment later. They decide nothing."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.errors import SequenceConflict, StoreError
from akinai.core.trace import TraceBook, TraceRecord
from akinai.runtime.session import clock_us
from akinai.server.watching import tell
from akinai.worlds.market.times import iso

FLUSH_S = 0.2
MOST_UNKEPT = 100_000
"""Lines in memory; more are turned away."""
AT_A_TIME = 1_000
LOG = "log"
"""The kind of a trace record, and where in its data the line stands as it came."""


class Logbook:
    """Log lines of one run. Those of the last moment are lost in a crash."""

    def __init__(self, book: TraceBook, run_id: str) -> None:
        self._book, self._run_id = book, run_id
        self._unkept: list[TraceRecord] = []
        self._last = 0
        self._task: asyncio.Task[None] | None = None

    def add(self, actor: str, line: Mapping[str, Json]) -> bool:
        """Take a line. False when too many are still to be kept."""
        if len(self._unkept) >= MOST_UNKEPT:
            return False
        # A time is a number that no other line of the actor has, here or before a restart.
        self._last = max(self._last + 1, clock_us())
        self._unkept.append(TraceRecord(actor, self._last, self._last, {"kind": LOG, LOG: line}))
        if self._task is None:
            self._task = asyncio.create_task(self._keep_soon())
        return True

    async def _keep_soon(self) -> None:
        try:
            await asyncio.sleep(FLUSH_S)
            while self._unkept:
                await self._keep()
        except StoreError as error:
            tell("log_not_kept", lines=len(self._unkept), error=str(error))
            self._unkept.clear()
        finally:
            self._task = None

    async def _keep(self) -> None:
        records = self._unkept[:AT_A_TIME]
        try:
            await self._book.add_trace(self._run_id, records)
        except SequenceConflict:
            later = [TraceRecord(one.actor, one.call + AT_A_TIME, one.at, one.data) for one in records]
            self._last = max(self._last, later[-1].call)
            await self._book.add_trace(self._run_id, later)
        del self._unkept[: len(records)]

    async def read(
        self, after_us: int | None, before_us: int | None, offset: int, limit: int | None
    ) -> tuple[Sequence[Json], int]:
        """A page of the lines between two times, oldest first, and how many there are in all."""
        found = {(one.actor, one.call): one for one in self._unkept}
        async for one in self._book.read_trace(self._run_id):
            found[one.actor, one.call] = one
        lines = [
            one
            for one in sorted(found.values(), key=lambda one: (one.at, one.actor, one.call))
            if isinstance(one.data, Mapping)
            and LOG in one.data
            and (after_us is None or one.at > after_us)
            and (before_us is None or one.at < before_us)
        ]
        page = lines[offset:] if limit is None else lines[offset : offset + limit]
        return [_told(one) for one in page], len(lines)

    async def close(self) -> None:
        """Keep what was taken."""
        task = self._task
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        with suppress(StoreError):
            while self._unkept:
                await self._keep()


def _told(record: TraceRecord) -> Json:
    data = cast("Mapping[str, Any]", record.data)
    return {"agent_id": record.actor or None, "created_at": iso(record.at), **data[LOG]}
