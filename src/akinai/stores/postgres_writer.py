"""How a PostgresStore writes: what waits together is one transaction, and a lost COMMIT is decided by digest."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

import psycopg
from psycopg.errors import DeadlockDetected, SerializationFailure, UniqueViolation

from akinai.core.errors import AkinaiError
from akinai.stores.headers import HEADER
from akinai.stores.postgres_changes import AddTrace, Append, Batch, Change, Columns, Create, Known
from akinai.stores.postgres_rows import channel_of
from akinai.stores.postgres_server import Connection, Patience, Server, blames_one, cut

ROWS_AT_ONCE = 10_000
"""Where a batch is full: what waits longer than this goes into the next transaction."""
CHARACTERS_AT_ONCE = 8_000_000
"""Of entries in one statement; the server takes no value of a gigabyte."""
TRIES = 20
"""How often a batch looks again when other processes were quicker."""

_INSERT_RUN: LiteralString = f"INSERT INTO runs ({HEADER}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
# The genesis decides all that follows: it is never replaced.
_UPDATE_RUN: LiteralString = """
    UPDATE runs SET agents = %s, status = %s, created_at = %s, parent = %s, group_name = %s, ending = %s, entries = %s,
    digest = %s, error = %s, card = %s WHERE run_id = %s"""
_SEPARATOR = "\x1f"
"""Between the values of a column: JSON cannot hold it unescaped."""
_COLUMN: LiteralString = "string_to_array(%s, chr(31))"
# Five texts are sent, whatever the number of entries: an array's values would each be quoted here and read there.
_INSERT_ENTRIES: LiteralString = f"""
    WITH entries AS (INSERT INTO actions (run_id, seq, created_at, data, digest)
    SELECT (%s::text[])[run::int], seq::bigint, at::bigint, data::jsonb, digest
    FROM unnest({_COLUMN}, {_COLUMN}, {_COLUMN}, {_COLUMN}, {_COLUMN}) AS rows (run, seq, at, data, digest))
    SELECT pg_notify(channel, last) FROM unnest(%s::text[], %s::text[]) AS heads (channel, last)"""


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
        self._heads: dict[str, int] = {}
        """The last numbers of runs that this connection let grow. Another process may have gone on from there: then the
        primary key refuses what is written behind it, and what is refused by them alone is looked at anew."""

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
            self._heads = {}

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
        heads, self._heads = self._heads, {}  # until this transaction is known to be in
        known = Known(last=heads)
        batch = _judged(jobs, known) if _grow(jobs, heads) else None
        if batch is None or any(job.error for job in jobs):
            known = await _look(self._connection, jobs)
            batch = _judged(jobs, known)
        try:
            await _put(self._connection, batch)
        except psycopg.Error as error:
            if cut(error):
                for job in jobs:
                    job.doubtful = job.doubtful or job.error is None
            raise
        self._heads = heads | known.last


def _grow(jobs: Sequence[_Job], heads: Mapping[str, int]) -> bool:
    """Whether they do no more than let runs grow whose last numbers are known."""
    return all(isinstance(job.change, Append) and job.change.run_id in heads and not job.doubtful for job in jobs)


def _judged(jobs: Sequence[_Job], known: Known) -> Batch:
    batch = Batch()
    for job in jobs:
        job.error = _refusal(job, known, batch)
    return batch


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
    entries = list(_statements(batch))
    if not (batch.runs or batch.updates or batch.trace) and len(entries) <= 1:
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


def _statements(batch: Batch) -> Iterator[Sequence[object]]:
    """The values of each statement that writes entries: of one for all of them, unless they are very large."""
    runs = list(batch.heads)
    places = {run_id: str(place) for place, run_id in enumerate(runs, 1)}
    notified = [[channel_of(run_id) for run_id in runs], [str(last) for last in batch.heads.values()]]
    for rows in _parts(batch.entries):
        columns = zip(*((places[run_id], *rest) for run_id, *rest in rows), strict=True)
        yield [runs, *(_SEPARATOR.join(column) for column in columns), *notified]
        notified = [[], []]  # once is enough: the server tells it after the commit


def _parts(entries: Sequence[Columns]) -> Iterator[Sequence[Columns]]:
    begun = size = 0
    for place, (_, _, _, text, _) in enumerate(entries, 1):
        size += len(text)
        if size > CHARACTERS_AT_ONCE or place == len(entries):
            yield entries[begun:place]
            begun, size = place, 0
