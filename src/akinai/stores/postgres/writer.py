"""The writer of a PostgresStore. Changes that wait together share a transaction. After a lost COMMIT, digests show
whether it took effect."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

import psycopg
from psycopg.errors import DeadlockDetected, SerializationFailure, UniqueViolation

from akinai.core.errors import AkinaiError
from akinai.stores.header_rows import HEADER_COLUMNS
from akinai.stores.pending import PendingChange, answer
from akinai.stores.postgres.changes import AddTrace, Append, Batch, Change, Create, EntryRow, Snapshot
from akinai.stores.postgres.connections import (
    Backoff,
    Connection,
    Server,
    channel_name,
    is_connection_lost,
    is_worth_splitting,
)

ROWS_PER_BATCH = 10_000
"""Rows that fill a batch; further changes go into the next transaction."""
CHARACTERS_PER_STATEMENT = 8_000_000
"""Characters of entries in one statement; the server takes no value of a gigabyte."""
ATTEMPTS = 20
"""Attempts at a batch when other processes were faster."""

_INSERT_RUN: LiteralString = (
    f"INSERT INTO runs ({HEADER_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
# The genesis is never replaced: it decides everything that follows.
_UPDATE_RUN: LiteralString = """
    UPDATE runs SET agents = %s, status = %s, created_at = %s, parent = %s, group_name = %s, ending = %s, entries = %s,
    digest = %s, error = %s, card = %s WHERE run_id = %s"""
_SEPARATOR = "\x1f"
"""Separates the values of a column. JSON never holds it unescaped."""
_COLUMN: LiteralString = "string_to_array(%s, chr(31))"
# Five texts are sent, whatever the number of entries: the values of an array would each be quoted and parsed.
_INSERT_ENTRIES: LiteralString = f"""
    WITH entries AS (INSERT INTO actions (run_id, seq, created_at, data, digest)
    SELECT (%s::text[])[run::int], seq::bigint, at::bigint, data::jsonb, digest
    FROM unnest({_COLUMN}, {_COLUMN}, {_COLUMN}, {_COLUMN}, {_COLUMN}) AS rows (run, seq, at, data, digest))
    SELECT pg_notify(channel, last) FROM unnest(%s::text[], %s::text[]) AS heads (channel, last)"""

_KEEP_SCORES: LiteralString = """
    INSERT INTO run_scores VALUES (%s, %s, %s, %s) ON CONFLICT (run_id)
    DO UPDATE SET (digest, version, data) = (excluded.digest, excluded.version, excluded.data)"""

_PRECEDED = (UniqueViolation, DeadlockDetected, SerializationFailure)
"""Errors of a batch when another process was faster."""


@dataclass(slots=True, eq=False)
class _Job(PendingChange[Change]):
    """A waiting change."""

    in_doubt: bool = False
    """Whether it was sent just before a connection was lost, so that it may be committed."""


class Writer:
    """One connection, and one task that commits all waiting changes in one transaction."""

    def __init__(self, server: Server, connection: Connection | None) -> None:
        self._server = server
        self._connection = connection
        self._waiting: list[_Job] = []
        self._task: asyncio.Task[None] | None = None
        self._last_seqs: dict[str, int] = {}
        """Last entry numbers of runs that this connection appended to. They may be out of date when another process
        appends too: the primary key then refuses the write, and a change refused by them alone is checked anew."""

    async def write(self, change: Change) -> None:
        """Make the change in the next transaction; returns after its commit."""
        job = _Job(change)
        self._waiting.append(job)
        if self._task is None:
            self._task = asyncio.create_task(self._drain())
        await job.future

    async def close(self) -> None:
        """Commit the waiting changes, then close the connection."""
        while self._task is not None:
            await asyncio.wait([self._task])
        self.drop()

    def forget(self, run_ids: Sequence[str]) -> None:
        """Forget the entry numbers of runs that were removed."""
        for run_id in run_ids:
            self._last_seqs.pop(run_id, None)

    def drop(self) -> None:
        """Close the connection at once; the server ends a transaction under way."""
        if self._connection is not None:
            self._connection.pgconn.finish()
            self._connection = None
            self._last_seqs = {}

    async def _drain(self) -> None:
        jobs: list[_Job] = []
        try:
            while self._waiting:
                jobs = self._take_batch()
                await self._commit(jobs)
                answer(jobs)
        except BaseException:
            # The event loop is ending, so every caller is cancelled.
            self.drop()
            for job in [*jobs, *self._waiting]:
                job.future.cancel()
            self._waiting.clear()
            raise
        finally:
            self._task = None

    def _take_batch(self) -> list[_Job]:
        rows, count = 0, 0
        while count < len(self._waiting) and (not count or rows < ROWS_PER_BATCH):
            rows += len(self._waiting[count].change)
            count += 1
        jobs, self._waiting = self._waiting[:count], self._waiting[count:]
        return jobs

    async def _commit(self, jobs: Sequence[_Job]) -> None:
        """Commit every job, or give it an error."""
        backoff: Backoff | None = None
        attempts = 0
        while True:
            try:
                await self._try_commit(jobs)
                return
            except Exception as error:  # psycopg, the network or the loop: each job gets an outcome
                attempts += 1
                if is_connection_lost(error):
                    self.drop()
                    backoff = backoff or Backoff()
                    if not backoff.expired:
                        await backoff.pause()
                        continue
                elif isinstance(error, _PRECEDED) and attempts < ATTEMPTS:
                    continue
                elif len(jobs) > 1 and is_worth_splitting(error):
                    for job in jobs:
                        await self._commit([job])
                    return
                for job in jobs:
                    job.error = self._server.store_error(error)
                return

    async def _try_commit(self, jobs: Sequence[_Job]) -> None:
        if self._connection is None:
            self._connection = await self._server.connect()
        last_seqs, self._last_seqs = self._last_seqs, {}  # until this transaction is known to be committed
        snapshot = Snapshot(last_seqs=last_seqs)
        batch = _build_batch(jobs, snapshot) if _only_append(jobs, last_seqs) else None
        if batch is None or any(job.error for job in jobs):
            snapshot = await _load_snapshot(self._connection, jobs)
            batch = _build_batch(jobs, snapshot)
        try:
            await _write(self._connection, batch)
        except psycopg.Error as error:
            if is_connection_lost(error):
                for job in jobs:
                    job.in_doubt = job.in_doubt or job.error is None
            raise
        self._last_seqs = last_seqs | snapshot.last_seqs


def _only_append(jobs: Sequence[_Job], last_seqs: Mapping[str, int]) -> bool:
    """Whether all jobs append to runs whose last numbers are known, and none is in doubt."""
    return all(isinstance(job.change, Append) and job.change.run_id in last_seqs and not job.in_doubt for job in jobs)


def _build_batch(jobs: Sequence[_Job], snapshot: Snapshot) -> Batch:
    batch = Batch()
    for job in jobs:
        job.error = _join(job, batch, snapshot)
    return batch


def _join(job: _Job, batch: Batch, snapshot: Snapshot) -> AkinaiError | None:
    """Join the batch. Returns the error of a job that is refused."""
    try:
        job.change.join(batch, snapshot, job.in_doubt)
    except AkinaiError as refusal:
        return refusal
    return None


async def _load_snapshot(connection: Connection, jobs: Sequence[_Job]) -> Snapshot:
    """The runs, calls and entries that the jobs name, as the database holds them."""
    snapshot = Snapshot()
    run_ids = list({job.change.run_id for job in jobs})
    cursor = await connection.execute(
        "SELECT run_id, created_at, (SELECT max(seq) FROM actions WHERE actions.run_id = runs.run_id) FROM runs "
        "WHERE run_id = ANY(%s)",
        (run_ids,),
        prepare=True,
    )
    for run_id, created_at, last in await cursor.fetchall():
        snapshot.last_seqs[run_id], snapshot.created[run_id] = last or 0, created_at
    created = {job.change.run_id for job in jobs if isinstance(job.change, Create)}
    if not snapshot.last_seqs.keys() | created >= set(run_ids):
        cursor = await connection.execute("SELECT run_id FROM runs")
        snapshot.run_ids = {run_id for (run_id,) in await cursor.fetchall()}
    if calls := [key for job in jobs if isinstance(job.change, AddTrace) for key in job.change.keys]:
        cursor = await connection.execute(
            "SELECT run_id, actor, call, created_at FROM trace "
            "JOIN unnest(%s::text[], %s::text[], %s::bigint[]) AS asked (run_id, actor, call) "
            "USING (run_id, actor, call)",
            [list(column) for column in zip(*calls, strict=True)],
        )
        snapshot.call_times = {(run_id, actor, call): at for run_id, actor, call, at in await cursor.fetchall()}
    for job in jobs:
        if job.in_doubt and isinstance(job.change, Append) and job.change.entries:
            key = (job.change.run_id, job.change.entries[-1].seq)
            cursor = await connection.execute("SELECT digest FROM actions WHERE (run_id, seq) = (%s, %s)", key)
            snapshot.digests.update([(key, digest) for (digest,) in await cursor.fetchall()])
    return snapshot


async def _write(connection: Connection, batch: Batch) -> None:
    """Write the batch in one transaction. A single statement needs no explicit one."""
    entries = list(_statements(batch))
    if not (batch.runs or batch.updates or batch.trace or batch.scores) and len(entries) <= 1:
        for values in entries:
            await connection.execute(_INSERT_ENTRIES, values, prepare=True)
        return
    async with connection.transaction(), connection.cursor() as cursor:
        if batch.runs:
            await cursor.executemany(_INSERT_RUN, batch.runs)
        for values in entries:
            await cursor.execute(_INSERT_ENTRIES, values, prepare=True)
        if batch.updates:
            await cursor.executemany(_UPDATE_RUN, [(*row[2:], row[0]) for row in batch.updates.values()])
        if batch.trace:
            await cursor.executemany("INSERT INTO trace VALUES (%s, %s, %s, %s, %s)", batch.trace)
        if batch.scores:
            await cursor.executemany(_KEEP_SCORES, [batch.scores[run_id] for run_id in sorted(batch.scores)])


def _statements(batch: Batch) -> Iterator[Sequence[object]]:
    """The values of each statement that writes entries; a single statement unless the entries are very large."""
    runs = list(batch.last_seqs)
    indices = {run_id: str(index) for index, run_id in enumerate(runs, 1)}
    channels, last_seqs = [channel_name(run_id) for run_id in runs], [str(last) for last in batch.last_seqs.values()]
    for rows in _split(batch.entries):
        columns = zip(*((indices[run_id], *values) for run_id, *values in rows), strict=True)
        yield [runs, *(_SEPARATOR.join(column) for column in columns), channels, last_seqs]
        channels, last_seqs = list[str](), list[str]()  # once is enough: the server notifies after the commit


def _split(entries: Sequence[EntryRow]) -> Iterator[Sequence[EntryRow]]:
    start = size = 0
    for end, (_, _, _, text, _) in enumerate(entries, 1):
        size += len(text)
        if size > CHARACTERS_PER_STATEMENT or end == len(entries):
            yield entries[start:end]
            start, size = end, 0
