"""How a PostgresStore writes: what waits together is one transaction, and a lost COMMIT is decided by digest."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

import psycopg
from psycopg.errors import DeadlockDetected, SerializationFailure, UniqueViolation

from akinai.core.errors import AkinaiError
from akinai.stores.headers import HEADER
from akinai.stores.postgres_changes import AddTrace, Append, Batch, Change, Create, Known
from akinai.stores.postgres_rows import channel_of
from akinai.stores.postgres_server import Connection, Patience, Server, blames_one, cut

FEW = 4
"""Entries that one statement writes faster than a transaction around COPY, which has five journeys to the server."""
ROWS_AT_ONCE = 10_000
"""Where a batch is full: what waits longer than this goes into the next transaction."""
TRIES = 20
"""How often a batch looks again when other processes were quicker."""

_INSERT_RUN: LiteralString = f"INSERT INTO runs ({HEADER}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
# The genesis decides all that follows: it is never replaced.
_UPDATE_RUN: LiteralString = """
    UPDATE runs SET agents = %s, status = %s, created_at = %s, parent = %s, group_name = %s, ending = %s, entries = %s,
    digest = %s, error = %s, card = %s WHERE run_id = %s"""
_NOTIFY: LiteralString = "SELECT pg_notify(run, seq) FROM unnest(%s::text[], %s::text[]) AS heads (run, seq)"
_COPY = "COPY actions (run_id, seq, created_at, data, digest) FROM STDIN"
_INSERT_FEW: LiteralString = f"""
    WITH entries AS (INSERT INTO actions (run_id, seq, created_at, data, digest)
    SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::jsonb[], %s::text[])) {_NOTIFY}"""


@dataclass(slots=True, eq=False)
class _Job:
    """A change that waits, and who is to be answered."""

    change: Change
    answer: "asyncio.Future[None]"
    error: Exception | None = None
    doubtful: bool = False
    """Whether it was sent when a connection was lost, so that it may be in."""


class Writer:
    """One connection, and one task that commits all that waits in one transaction."""

    def __init__(self, server: Server, connection: Connection | None) -> None:
        self._server = server
        self._connection = connection
        self._waiting: list[_Job] = []
        self._task: asyncio.Task[None] | None = None

    async def write(self, change: Change) -> None:
        """Make the change in the next transaction; answered after its commit."""
        job = _Job(change, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        if self._task is None:
            self._task = asyncio.create_task(self._drain())
        await job.answer

    async def close(self) -> None:
        """Finish what waits, then let go of the connection."""
        while self._task is not None:
            await asyncio.wait([self._task])
        self.drop()

    def drop(self) -> None:
        """Let go of the connection at once; a transaction under way is the server's to end."""
        if self._connection is not None:
            self._connection.pgconn.finish()
            self._connection = None

    async def _drain(self) -> None:
        jobs: list[_Job] = []
        try:
            while self._waiting:
                jobs = self._take()
                await self._commit(jobs)
                _answer(jobs)
        except BaseException:
            # The loop ends, and with it everybody who waits.
            self.drop()
            for job in [*jobs, *self._waiting]:
                job.answer.cancel()
            self._waiting.clear()
            raise
        finally:
            self._task = None

    def _take(self) -> list[_Job]:
        rows, count = 0, 0
        while count < len(self._waiting) and (not count or rows < ROWS_AT_ONCE):
            rows += len(self._waiting[count].change)
            count += 1
        jobs, self._waiting = self._waiting[:count], self._waiting[count:]
        return jobs

    async def _commit(self, jobs: Sequence[_Job]) -> None:
        """Bring every job to its end: in the database, or with an error."""
        patience: Patience | None = None
        tries = 0
        while True:
            try:
                await self._try(jobs)
                return
            except Exception as error:
                tries += 1
                if cut(error):
                    self.drop()
                    patience = patience or Patience()
                    if not patience.over:
                        await patience.pause()
                        continue
                elif isinstance(error, UniqueViolation | DeadlockDetected | SerializationFailure) and tries < TRIES:
                    continue
                elif len(jobs) > 1 and blames_one(error):
                    for job in jobs:
                        await self._commit([job])
                    return
                for job in jobs:
                    job.error = self._server.broken(error)
                return

    async def _try(self, jobs: Sequence[_Job]) -> None:
        if self._connection is None:
            self._connection = await self._server.connect()
        known = await _look(self._connection, jobs)
        batch = Batch()
        for job in jobs:
            job.error = _refusal(job, known, batch)
        try:
            await _put(self._connection, batch)
        except psycopg.Error as error:
            if cut(error):
                for job in jobs:
                    job.doubtful = job.doubtful or job.error is None
            raise


def _refusal(job: _Job, known: Known, batch: Batch) -> AkinaiError | None:
    try:
        job.change.judge(known, batch, job.doubtful)
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


async def _look(connection: Connection, jobs: Sequence[_Job]) -> Known:
    known = Known()
    asked = list({job.change.run_id for job in jobs})
    found = await connection.execute(
        "SELECT run_id, created_at, (SELECT max(seq) FROM actions WHERE actions.run_id = runs.run_id) FROM runs "
        "WHERE run_id = ANY(%s)",
        (asked,),
        prepare=True,
    )
    for run_id, created_at, last in await found.fetchall():
        known.last[run_id], known.created[run_id] = last or 0, created_at
    created = {job.change.run_id for job in jobs if isinstance(job.change, Create)}
    if not known.last.keys() | created >= set(asked):
        found = await connection.execute("SELECT run_id FROM runs")
        known.runs = {run_id for (run_id,) in await found.fetchall()}
    if calls := [key for job in jobs if isinstance(job.change, AddTrace) for key in job.change.keys]:
        found = await connection.execute(
            "SELECT run_id, actor, call, created_at FROM trace "
            "JOIN unnest(%s::text[], %s::text[], %s::bigint[]) AS asked (run_id, actor, call) "
            "USING (run_id, actor, call)",
            [list(column) for column in zip(*calls, strict=True)],
        )
        known.calls = {(run_id, actor, call): at for run_id, actor, call, at in await found.fetchall()}
    for job in jobs:
        if job.doubtful and isinstance(job.change, Append) and job.change.entries:
            key = (job.change.run_id, job.change.entries[-1].seq)
            found = await connection.execute("SELECT digest FROM actions WHERE (run_id, seq) = (%s, %s)", key)
            known.digests.update([(key, digest) for (digest,) in await found.fetchall()])
    return known


async def _put(connection: Connection, batch: Batch) -> None:
    others = batch.runs or batch.updates or batch.trace
    if not (others or batch.entries):
        return
    heads = [[channel_of(run_id) for run_id in batch.heads], [str(seq) for seq in batch.heads.values()]]
    if not others and len(batch.entries) <= FEW:
        columns = [list(column) for column in zip(*batch.entries, strict=True)]
        await connection.execute(_INSERT_FEW, [*columns, *heads], prepare=True)
        return
    async with connection.transaction(), connection.cursor() as cursor:
        if batch.runs:
            await cursor.executemany(_INSERT_RUN, batch.runs)
        if batch.entries:
            async with cursor.copy(_COPY) as copy:
                for row in batch.entries:
                    await copy.write_row(row)
            await cursor.execute(_NOTIFY, heads)
        if batch.updates:
            await cursor.executemany(_UPDATE_RUN, [(*row[2:], row[0]) for row in batch.updates.values()])
        if batch.trace:
            await cursor.executemany("INSERT INTO trace VALUES (%s, %s, %s, %s, %s)", batch.trace)
