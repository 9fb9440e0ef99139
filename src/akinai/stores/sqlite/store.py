"""SqliteStore: ledgers in one file. One thread commits appends that arrive together in one transaction."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from akinai.core.errors import AkinaiError, BrokenChain, StoreError
from akinai.core.ledger import Entry
from akinai.core.stores import RunHeader, ScoreRecord, Status, TraceRecord
from akinai.stores import (
    duplicate_run,
    expect_consecutive,
    sequence_conflict,
    store_closed,
    trace_conflict,
    unknown_run,
)
from akinai.stores.header_rows import HEADER_COLUMNS, Row, header_row, parse_header, parse_headers
from akinai.stores.sqlite.file import (
    FileIdentity,
    Synchronous,
    open_file,
    open_reader,
    parse_path,
    shorten,
    store_error,
)

ENTRIES_PER_CHUNK = 500
TRACES_PER_CHUNK = 50

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
        await self._write(partial(_insert_run, run_id=run.run_id, row=header_row(run)))

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        first = expect_consecutive(run_id, entries)
        rows = [(run_id, entry.seq, entry.at, entry.text, entry.digest) for entry in entries]
        await self._write(partial(_insert_entries, run_id=run_id, first=first, rows=rows))

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        chunk, more = await self._query(partial(_entries, run_id=run_id, after=after))
        while True:
            for entry in chunk:
                yield entry
            if not more:
                return
            chunk, more = await self._query(partial(_entries, run_id=run_id, after=chunk[-1].seq))

    async def header(self, run_id: str) -> RunHeader:
        return await self._query(partial(_header, run_id=run_id))

    async def runs(
        self, *, group: str | None = None, status: Status | None = None, limit: int | None = None
    ) -> Sequence[RunHeader]:
        return await self._query(partial(_headers, group=group, status=status, limit=limit))

    async def update(self, run: RunHeader) -> None:
        await self._write(partial(_update_run, run_id=run.run_id, row=header_row(run)))

    async def add_trace(self, run_id: str, records: Sequence[TraceRecord]) -> None:
        rows = [(run_id, record.actor, record.call, record.at, record.text) for record in records]
        await self._write(partial(_insert_trace, run_id=run_id, rows=rows))

    async def read_trace(self, run_id: str, actor: str | None = None) -> AsyncIterator[TraceRecord]:
        after = (actor or "", -1)
        while chunk := await self._query(partial(_traces, run_id=run_id, actor=actor, after=after)):
            for record in chunk:
                yield record
            after = (chunk[-1].actor, chunk[-1].call)

    async def keep_scores(self, records: Sequence[ScoreRecord]) -> None:
        await self._write(partial(_keep_scores, records=records))

    async def kept_scores(self, run_id: str) -> ScoreRecord | None:
        return await self._query(partial(_kept_scores, run_id=run_id))

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


@dataclass(slots=True, eq=False)
class _Job:
    """A change that waits for the writer. An AkinaiError refuses it before it has written anything."""

    change: Callable[[sqlite3.Connection], None]
    future: "asyncio.Future[None]"
    error: Exception | None = None


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
        job = _Job(change, asyncio.get_running_loop().create_future())
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
                    loop.call_soon_threadsafe(_resolve, [job for job in jobs if job.future.get_loop() is loop])

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
        except Exception as error:
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


def _resolve(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        if job.future.done():  # its caller was cancelled
            continue
        if job.error is None:
            job.future.set_result(None)
        else:
            job.future.set_exception(job.error)


def _unknown_run(connection: sqlite3.Connection, run_id: str) -> AkinaiError:
    return unknown_run(run_id, [known for (known,) in connection.execute("SELECT run_id FROM runs")])


def _has_run(connection: sqlite3.Connection, run_id: str) -> bool:
    return connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone() is not None


def _insert_run(connection: sqlite3.Connection, run_id: str, row: Row) -> None:
    if _has_run(connection, run_id):
        raise duplicate_run(run_id)
    connection.execute(f"INSERT INTO runs ({HEADER_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)


def _update_run(connection: sqlite3.Connection, run_id: str, row: Row) -> None:
    if not _has_run(connection, run_id):
        raise _unknown_run(connection, run_id)
    names = [name for name in HEADER_COLUMNS.split(", ") if name != "genesis"]
    connection.execute(
        f"UPDATE runs SET ({', '.join(names)}) = ({', '.join('?' * len(names))}) WHERE run_id = ?",
        (row[0], *row[2:], run_id),
    )


def _insert_entries(connection: sqlite3.Connection, run_id: str, first: int, rows: Sequence[Row]) -> None:
    (last,) = connection.execute("SELECT max(seq) FROM actions WHERE run_id = ?", (run_id,)).fetchone()
    if last is None and not _has_run(connection, run_id):
        raise _unknown_run(connection, run_id)
    if rows and first != (last or 0) + 1:
        raise sequence_conflict(run_id, last or 0, first)
    connection.executemany("INSERT INTO actions (run_id, seq, created_at, data, digest) VALUES (?, ?, ?, ?, ?)", rows)


def _entries(connection: sqlite3.Connection, run_id: str, after: int) -> tuple[list[Entry], bool]:
    """The next chunk, and whether there may be another.

    BrokenChain when its first entry is broken; a later broken entry ends the chunk.
    """
    rows = connection.execute(
        "SELECT seq, created_at, data, digest FROM actions WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
        (run_id, after, ENTRIES_PER_CHUNK),
    ).fetchall()
    if not rows and not _has_run(connection, run_id):
        raise _unknown_run(connection, run_id)
    entries: list[Entry] = []
    try:
        entries.extend(Entry.parse(*row) for row in rows)
    except BrokenChain:
        if not entries:
            raise
    return entries, len(rows) == ENTRIES_PER_CHUNK or len(entries) < len(rows)


def _insert_trace(connection: sqlite3.Connection, run_id: str, rows: Sequence[tuple[str, str, int, int, str]]) -> None:
    if not _has_run(connection, run_id):
        raise _unknown_run(connection, run_id)
    seen: set[tuple[str, int]] = set()
    for _, actor, call, _, _ in rows:
        found = connection.execute("SELECT 1 FROM trace WHERE (run_id, actor, call) = (?, ?, ?)", (run_id, actor, call))
        if (actor, call) in seen or found.fetchone():
            raise trace_conflict(run_id, actor, call)
        seen.add((actor, call))
    connection.executemany("INSERT INTO trace VALUES (?, ?, ?, ?, ?)", rows)


def _traces(
    connection: sqlite3.Connection, run_id: str, actor: str | None, after: tuple[str, int]
) -> list[TraceRecord]:
    condition = "actor = ? AND call > ?" if actor is not None else "(actor, call) > (?, ?)"
    rows = connection.execute(
        f"SELECT actor, call, created_at, data FROM trace WHERE run_id = ? AND {condition} "
        "ORDER BY actor, call LIMIT ?",
        (run_id, *after, TRACES_PER_CHUNK),
    ).fetchall()
    if not rows and not _has_run(connection, run_id):
        raise _unknown_run(connection, run_id)
    try:
        return [TraceRecord.parse(*row) for row in rows]
    except ValueError as error:
        raise StoreError(f"the trace of run {run_id!r} holds what is not JSON: {error}") from error


def _keep_scores(connection: sqlite3.Connection, records: Sequence[ScoreRecord]) -> None:
    for record in records:
        if not _has_run(connection, record.run_id):
            raise _unknown_run(connection, record.run_id)
    rows = [(record.run_id, record.digest, record.version, record.text) for record in records]
    connection.executemany("INSERT OR REPLACE INTO run_scores VALUES (?, ?, ?, ?)", rows)


def _kept_scores(connection: sqlite3.Connection, run_id: str) -> ScoreRecord | None:
    try:
        row = connection.execute("SELECT * FROM run_scores WHERE run_id = ?", (run_id,)).fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return None  # a file from before scores were kept, where nothing can be written
    return None if row is None else ScoreRecord(*map(str, row))


def _header(connection: sqlite3.Connection, run_id: str) -> RunHeader:
    row = connection.execute(f"SELECT {HEADER_COLUMNS} FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise _unknown_run(connection, run_id)
    return parse_header(row)


def _headers(
    connection: sqlite3.Connection, group: str | None, status: Status | None, limit: int | None
) -> list[RunHeader]:
    # A damaged card is no JSON, and json_extract would refuse the whole query.
    sweep = "CASE WHEN json_valid(card) THEN json_extract(card, '$.sweep.name') END"
    rows = connection.execute(
        f"SELECT {HEADER_COLUMNS} FROM runs WHERE (:name IS NULL OR :name IN (group_name, {sweep})) "
        "AND (:status IS NULL OR status = :status) ORDER BY created_at DESC, rowid DESC LIMIT :limit",
        {"name": group, "status": status, "limit": -1 if limit is None else limit},
    )
    return parse_headers(rows)[::-1]
