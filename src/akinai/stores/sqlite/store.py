"""SqliteStore, which keeps ledgers in one file. One thread commits appends that arrive together in one transaction."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from akinai.core.errors import AkinaiError
from akinai.core.ledger import Entry
from akinai.core.stores import CoveringScores, RunHeader, ScoreRecord, Status, TraceRecord
from akinai.stores import expect_consecutive, store_closed
from akinai.stores.header_rows import header_row
from akinai.stores.pending import PendingChange, answer
from akinai.stores.sqlite import statements
from akinai.stores.sqlite.file import (
    FileIdentity,
    Synchronous,
    open_file,
    open_reader,
    parse_path,
    shorten,
    store_error,
)

T = TypeVar("T")


class SqliteStore:
    """Keeps runs in a SQLite file that several processes may use at once.

    An append returns after its commit has reached the disk (WAL, synchronous=FULL). A caller that is cancelled while
    it waits does not undo its append: all of it is kept, or none. One event loop at a time.
    """

    def __init__(self, path: Path, open_connection: Callable[[], sqlite3.Connection]) -> None:
        """For `open` only, which first checks that the file is ours."""
        self.path = path
        self._writer = _Writer(path, open_connection)
        self._reader = _ConnectionThread(path, partial(open_reader, path))
        self._closed = False

    @classmethod
    async def open(cls, url: str, *, create: bool = True, synchronous: Synchronous = "FULL") -> "SqliteStore":
        """Open the store in a file: a path, or "sqlite:///path" ("sqlite:////x/y.db" for the path "/x/y.db").

        With `create=False` a store on media that cannot be written opens for reading, and every change of it fails.
        With `synchronous="NORMAL"` a power cut, but not a crash, may lose the last appends that have returned.
        Raises UsageError with `create=False` when there is no store, StoreError for a location that cannot be used or
        a file of another application, which stays untouched, StoreVersion for a store of a newer Akinai.
        """
        path = parse_path(url)
        store = cls(path, partial(open_file, path, create, synchronous))
        try:
            await store._writer.run(lambda _: None)
        except BaseException:
            await store.close()
            raise
        return store

    async def create(self, run: RunHeader) -> None:
        await self._write(partial(statements.insert_run, run_id=run.run_id, row=header_row(run)))

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        first = expect_consecutive(run_id, entries)
        rows = [(run_id, entry.seq, entry.at, entry.text, entry.digest) for entry in entries]
        await self._write(partial(statements.insert_entries, run_id=run_id, first=first, rows=rows))

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        chunk, more = await self._query(partial(statements.entries, run_id=run_id, after=after))
        while True:
            for entry in chunk:
                yield entry
            if not more:
                return
            chunk, more = await self._query(partial(statements.entries, run_id=run_id, after=chunk[-1].seq))

    async def header(self, run_id: str) -> RunHeader:
        return await self._query(partial(statements.header, run_id=run_id))

    async def runs(
        self,
        *,
        group: str | None = None,
        status: Status | None = None,
        limit: int | None = None,
        agents: Sequence[str] | None = None,
    ) -> Sequence[RunHeader]:
        return await self._query(partial(statements.headers, group=group, status=status, limit=limit, agents=agents))

    async def update(self, run: RunHeader) -> None:
        await self._write(partial(statements.update_run, run_id=run.run_id, row=header_row(run)))

    async def add_trace(self, run_id: str, records: Sequence[TraceRecord]) -> None:
        rows = [(run_id, record.actor, record.call, record.at, record.text) for record in records]
        await self._write(partial(statements.insert_trace, run_id=run_id, rows=rows))

    async def read_trace(self, run_id: str, actor: str | None = None) -> AsyncIterator[TraceRecord]:
        after = (actor or "", -1)
        while chunk := await self._query(partial(statements.traces, run_id=run_id, actor=actor, after=after)):
            for record in chunk:
                yield record
            after = (chunk[-1].actor, chunk[-1].call)

    async def keep_scores(self, records: Sequence[ScoreRecord]) -> None:
        await self._write(partial(statements.keep_scores, records=records))

    async def kept_scores(self, run_id: str) -> ScoreRecord | None:
        return await self._query(partial(statements.kept_scores, run_id=run_id))

    async def covering_scores(self, starts: Mapping[str, str]) -> Sequence[CoveringScores]:
        return await self._query(partial(statements.covering_scores, starts=starts))

    async def forget(self, run_ids: Sequence[str]) -> None:
        await self._write(partial(statements.forget, run_ids=run_ids))

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            # Both closings are submitted before the wait, so a caller that is cancelled here leaves no thread running.
            await asyncio.shield(asyncio.wrap_future(self._writer.close(self._reader.close())))

    async def _query(self, query: Callable[[sqlite3.Connection], T]) -> T:
        self._check_open()
        return await self._reader.run(query)

    async def _write(self, change: Callable[[sqlite3.Connection], None]) -> None:
        self._check_open()
        await self._writer.write(change)

    def _check_open(self) -> None:
        if self._closed:
            raise store_closed(shorten(self.path))


class _ConnectionThread:
    """A connection and the only thread that uses it."""

    def __init__(self, path: Path, open_connection: Callable[[], sqlite3.Connection]) -> None:
        self.path = path
        self._open_connection = open_connection
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"akinai {path.name}")

    async def run(self, task: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `task`, run in the thread after earlier tasks. StoreError when the database fails."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._use, task)

    def close(self, after: "Future[None] | None" = None) -> "Future[None]":
        """Close the connection and the thread after queued tasks and `after`. The future is done when both are."""
        closed = self._thread.submit(self._disconnect, after)
        self._thread.shutdown(wait=False)
        return closed

    def _use(self, task: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = self._open_connection()
            return task(self._connection)
        except sqlite3.Error as error:
            raise store_error(self.path, error) from error

    def _disconnect(self, after: "Future[None] | None") -> None:
        if after is not None:
            # The last connection to close folds the journal into the file; if two close at once, neither does.
            wait([after])
        if self._connection is not None:
            self._connection.close()


_Job = PendingChange[Callable[[sqlite3.Connection], None]]
"""A change that waits for the writer. An AkinaiError refuses it before it has written anything."""


class _Writer(_ConnectionThread):
    """Commits all waiting changes in one transaction."""

    def __init__(self, path: Path, open_connection: Callable[[], sqlite3.Connection]) -> None:
        self._files = files = FileIdentity(path)

        def open_files() -> sqlite3.Connection:
            connection = open_connection()
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # which opens the journal
            files.remember(connection)
            return connection

        super().__init__(path, open_files)
        self._lock = threading.Lock()
        self._waiting: list[_Job] = []
        self._idle = True

    async def write(self, change: Callable[[sqlite3.Connection], None]) -> None:
        """Make the change in the next transaction; returns after its commit."""
        job: _Job = PendingChange(change)
        with self._lock:
            self._waiting.append(job)
            idle, self._idle = self._idle, False
        if idle:
            self._thread.submit(self._use, self._drain)
        await job.future

    def _drain(self, connection: sqlite3.Connection) -> None:
        while True:
            with self._lock:
                jobs, self._waiting = self._waiting, []
                if not jobs:
                    self._idle = True
                    return
            self._commit(connection, jobs)
            for loop in {job.future.get_loop() for job in jobs}:
                # In a closed loop nobody waits any more.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(answer, [job for job in jobs if job.future.get_loop() is loop])

    def _commit(self, connection: sqlite3.Connection, jobs: Sequence[_Job]) -> None:
        """One transaction for all jobs; when it fails, one for each, so that a bad job fails alone."""
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            for job in jobs:
                job.error = store_error(self.path, error)
            return
        try:
            for job in jobs:
                job.error = _execute(connection, job)
            self._files.expect_same(connection)
            connection.execute("COMMIT")
            self._files.expect_same(connection)
        except Exception as error:  # a fault of a job must not end the thread that all others wait for
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            if len(jobs) == 1:
                jobs[0].error = store_error(self.path, error)
                return
            for job in jobs:
                self._commit(connection, [job])


def _execute(connection: sqlite3.Connection, job: _Job) -> AkinaiError | None:
    """Make the change. Returns the error of a job that is refused."""
    try:
        job.change(connection)
    except AkinaiError as refusal:
        return refusal
    return None
