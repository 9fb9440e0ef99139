"""SqliteStore: ledgers in one file. Appends that arrive together are committed together, by one thread."""

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
from akinai.core.stores import RunHeader
from akinai.core.trace import TraceRecord
from akinai.stores import closed_store, first_in_order, sequence_conflict, taken_run, trace_conflict, unknown_run
from akinai.stores.headers import HEADER, header_of, headers_of, row_of
from akinai.stores.sqlite_file import Synchronous, broken, connect, open_file, path_in, told

ENTRIES_A_CHUNK = 500
TRACES_A_CHUNK = 50

T = TypeVar("T")


class SqliteStore:
    """Keeps runs in a SQLite file that several processes may use at once.

    An append is answered after its commit reached the disk (WAL, synchronous=FULL). A caller that is cancelled while
    it waits does not take its append back: all of it lands, or none. One event loop at a time.
    """

    def __init__(self, path: Path, opened: Callable[[], sqlite3.Connection]) -> None:
        """Made by `open`, which answers once the file is known to be ours."""
        self.path = path
        self._writer = _Writer(path, opened)
        self._reader = _Thread(path, partial(connect, path, "rw", "PRAGMA query_only = ON"))
        self._closed = False

    @classmethod
    async def open(cls, url: str, *, create: bool = True, synchronous: Synchronous = "FULL") -> "SqliteStore":
        """Open the store in a file: a path, or "sqlite:///path" ("sqlite:////x/y.db" for the path "/x/y.db").

        With `synchronous="NORMAL"` a power cut, though no crash, may lose the last appends that were answered.
        UsageError with `create=False` when no store is there; StoreError for a place that does not work or a file
        of another application, which is left as it is; StoreVersion for a store of a newer Akinai.
        """
        path = path_in(url)
        store = cls(path, partial(open_file, path, create, synchronous))
        try:
            await store._writer.ask(lambda _: None)
        except BaseException:
            await store.close()
            raise
        return store

    async def create(self, run: RunHeader) -> None:
        await self._write(partial(_insert_run, run_id=run.run_id, row=row_of(run)))

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        first = first_in_order(run_id, entries)
        rows = [(run_id, entry.seq, entry.at, entry.text, entry.digest) for entry in entries]
        await self._write(partial(_insert_entries, run_id=run_id, first=first, rows=rows))

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        while chunk := await self._ask(partial(_entries, run_id=run_id, after=after)):
            for entry in chunk:
                yield entry
            after = chunk[-1].seq

    async def header(self, run_id: str) -> RunHeader:
        return await self._ask(partial(_header, run_id=run_id))

    async def runs(self) -> Sequence[RunHeader]:
        return await self._ask(_headers)

    async def update(self, run: RunHeader) -> None:
        await self._write(partial(_update_run, run_id=run.run_id, row=row_of(run)))

    async def add_trace(self, run_id: str, records: Sequence[TraceRecord]) -> None:
        rows = [(run_id, record.actor, record.call, record.at, record.text) for record in records]
        await self._write(partial(_insert_trace, run_id=run_id, rows=rows))

    async def read_trace(self, run_id: str, actor: str | None = None) -> AsyncIterator[TraceRecord]:
        after = (actor or "", -1)
        while chunk := await self._ask(partial(_traces, run_id=run_id, actor=actor, after=after)):
            for record in chunk:
                yield record
            after = (chunk[-1].actor, chunk[-1].call)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            # Asked before it is awaited: a caller cancelled here leaves no thread behind.
            await asyncio.shield(asyncio.wrap_future(self._writer.close(self._reader.close())))

    async def _ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._check_open()
        return await self._reader.ask(work)

    async def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        self._check_open()
        await self._writer.write(work)

    def _check_open(self) -> None:
        if self._closed:
            raise closed_store(told(self.path))


class _Thread:
    """A connection and the one thread that touches it."""

    def __init__(self, path: Path, opened: Callable[[], sqlite3.Connection]) -> None:
        self.path = path
        self._opened = opened
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"akinai {path.name}")

    async def ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` gives, done in the thread after what is queued there. StoreError when the database fails."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._use, work)

    def close(self, after: "Future[None] | None" = None) -> "Future[None]":
        """Let go of the connection and the thread, after what is queued and `after`; the future tells when."""
        gone = self._thread.submit(self._let_go, after)
        self._thread.shutdown(wait=False)
        return gone

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = self._opened()
            return work(self._connection)
        except sqlite3.Error as error:
            raise broken(self.path, error) from error

    def _let_go(self, after: "Future[None] | None") -> None:
        if after is not None:
            # The last connection folds the journal into the file; of two that close at once neither is the last.
            wait([after])
        if self._connection is not None:
            self._connection.close()


@dataclass(slots=True, eq=False)
class _Job:
    """A change that waits for the writer. It refuses with an AkinaiError before it has written anything."""

    work: Callable[[sqlite3.Connection], None]
    answer: "asyncio.Future[None]"
    error: Exception | None = None


class _Writer(_Thread):
    """Commits all that waits in one transaction."""

    def __init__(self, path: Path, opened: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(path, opened)
        self._lock = threading.Lock()
        self._waiting: list[_Job] = []
        self._idle = True

    async def write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do `work` in the next transaction; answered after its commit."""
        job = _Job(work, asyncio.get_running_loop().create_future())
        with self._lock:
            self._waiting.append(job)
            idle, self._idle = self._idle, False
        if idle:
            self._thread.submit(self._use, self._drain)
        await job.answer

    def _drain(self, connection: sqlite3.Connection) -> None:
        while True:
            with self._lock:
                jobs, self._waiting = self._waiting, []
                if not jobs:
                    self._idle = True
                    return
            self._commit(connection, jobs)
            for loop in {job.answer.get_loop() for job in jobs}:
                # Where the loop is closed nobody waits any more.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(_answer, [job for job in jobs if job.answer.get_loop() is loop])

    def _commit(self, connection: sqlite3.Connection, jobs: Sequence[_Job]) -> None:
        """One transaction for all; when that fails, one for each, so that a bad job fails alone."""
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            for job in jobs:
                job.error = broken(self.path, error)
            return
        try:
            for job in jobs:
                job.error = _refusal(connection, job)
            connection.execute("COMMIT")
        except Exception as error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            if len(jobs) == 1:
                jobs[0].error = broken(self.path, error)
                return
            for job in jobs:
                self._commit(connection, [job])


def _refusal(connection: sqlite3.Connection, job: _Job) -> AkinaiError | None:
    try:
        job.work(connection)
    except AkinaiError as refusal:
        return refusal
    return None


def _answer(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        if job.answer.done():  # its caller was cancelled
            continue
        if job.error is None:
            job.answer.set_result(None)
        else:
            job.answer.set_exception(job.error)


def _unknown(connection: sqlite3.Connection, run_id: str) -> AkinaiError:
    return unknown_run(run_id, [known for (known,) in connection.execute("SELECT run_id FROM runs")])


def _there(connection: sqlite3.Connection, run_id: str) -> bool:
    return connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone() is not None


def _insert_run(connection: sqlite3.Connection, run_id: str, row: tuple[object, ...]) -> None:
    if _there(connection, run_id):
        raise taken_run(run_id)
    connection.execute(f"INSERT INTO runs ({HEADER}) VALUES ({', '.join('?' * len(row))})", row)


def _update_run(connection: sqlite3.Connection, run_id: str, row: tuple[object, ...]) -> None:
    if not _there(connection, run_id):
        raise _unknown(connection, run_id)
    names = [name for name in HEADER.split(", ") if name != "genesis"]
    connection.execute(
        f"UPDATE runs SET ({', '.join(names)}) = ({', '.join('?' * len(names))}) WHERE run_id = ?",
        (row[0], *row[2:], run_id),
    )


def _insert_entries(
    connection: sqlite3.Connection, run_id: str, first: int, rows: Sequence[tuple[object, ...]]
) -> None:
    (last,) = connection.execute("SELECT max(seq) FROM actions WHERE run_id = ?", (run_id,)).fetchone()
    if last is None and not _there(connection, run_id):
        raise _unknown(connection, run_id)
    if rows and first != (last or 0) + 1:
        raise sequence_conflict(run_id, last or 0, first)
    connection.executemany("INSERT INTO actions (run_id, seq, created_at, data, digest) VALUES (?, ?, ?, ?, ?)", rows)


def _entries(connection: sqlite3.Connection, run_id: str, after: int) -> list[Entry]:
    """The next chunk; none at the end. A broken entry is told of when it is the first, after those before it."""
    rows = connection.execute(
        "SELECT seq, created_at, data, digest FROM actions WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
        (run_id, after, ENTRIES_A_CHUNK),
    ).fetchall()
    if not rows and not _there(connection, run_id):
        raise _unknown(connection, run_id)
    entries: list[Entry] = []
    try:
        entries.extend(Entry.parse(*row) for row in rows)
    except BrokenChain:
        if not entries:
            raise
    return entries


def _insert_trace(connection: sqlite3.Connection, run_id: str, rows: Sequence[tuple[str, str, int, int, str]]) -> None:
    if not _there(connection, run_id):
        raise _unknown(connection, run_id)
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
    only = "actor = ? AND call > ?" if actor is not None else "(actor, call) > (?, ?)"
    rows = connection.execute(
        f"SELECT actor, call, created_at, data FROM trace WHERE run_id = ? AND {only} ORDER BY actor, call LIMIT ?",
        (run_id, *after, TRACES_A_CHUNK),
    ).fetchall()
    if not rows and not _there(connection, run_id):
        raise _unknown(connection, run_id)
    try:
        return [TraceRecord.parse(*row) for row in rows]
    except ValueError as error:
        raise StoreError(f"the trace of run {run_id!r} holds what is not JSON: {error}") from error


def _header(connection: sqlite3.Connection, run_id: str) -> RunHeader:
    row = connection.execute(f"SELECT {HEADER} FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise _unknown(connection, run_id)
    return header_of(row)


def _headers(connection: sqlite3.Connection) -> list[RunHeader]:
    return headers_of(connection.execute(f"SELECT {HEADER} FROM runs ORDER BY created_at, rowid"))
