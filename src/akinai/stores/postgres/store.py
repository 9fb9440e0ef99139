"""PostgresStore: ledgers on a PostgreSQL server, for several processes and machines.

JSONB orders keys and writes numbers in its own way. The store makes what it reads canonical again, so that entries,
texts and digests equal those of every other store.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import LiteralString, TypeVar, cast

import psycopg
from psycopg.errors import UndefinedTable
from psycopg.sql import SQL, Identifier

from akinai.core.canonical import Json, canonical
from akinai.core.errors import AkinaiError, BrokenChain, StoreError
from akinai.core.ledger import Entry, chain_end
from akinai.core.stores import CoveringScores, RunHeader, ScoreRecord, Status, TraceRecord
from akinai.stores import expect_consecutive, store_closed, unknown_run
from akinai.stores.header_rows import HEADER_COLUMNS, parse_header, parse_headers
from akinai.stores.postgres.changes import AddTrace, Append, Change, Create, KeepScores, Update
from akinai.stores.postgres.connections import (
    Backoff,
    Connection,
    Readers,
    Server,
    channel_name,
    is_connection_lost,
    parse_server,
)
from akinai.stores.postgres.schema import prepare_schema
from akinai.stores.postgres.writer import Writer

ENTRIES_PER_CHUNK = 500
TRACES_PER_CHUNK = 50
POLL_S = 2.0
"""The interval at which `changes` polls the table, in case a notification is lost."""

T = TypeVar("T")

_SELECTED: LiteralString = (
    HEADER_COLUMNS.replace("genesis", "genesis::text").replace("agents", "agents::text").replace("card", "card::text")
)


_FORGET: tuple[LiteralString, ...] = tuple(
    f"DELETE FROM {table} WHERE run_id = ANY(%s)" for table in ("actions", "trace", "run_scores", "runs")
)


class PostgresStore:
    """Keeps runs on a PostgreSQL server that many processes may use at once.

    An append returns after its commit has reached the server's disk. A caller that is cancelled while it waits does not
    undo its append: all of it is kept, or none. After a lost connection the store reconnects for half a minute, and an
    append that was under way is kept exactly once, whatever became of its COMMIT. One event loop at a time.
    """

    def __init__(self, server: Server, connection: Connection) -> None:
        """For `open` only, which first checks that the tables are ours."""
        self._server = server
        self._connections = _Connections(server, connection)
        self._closed = False

    @classmethod
    async def open(cls, url: str, *, create: bool = True) -> "PostgresStore":
        """Open the store at "postgresql://user@host:port/database"; the password may be in PGPASSWORD or ~/.pgpass.

        The tables are made in the first schema of the search path, which "?options=-csearch_path%3DNAME" sets.
        Raises UsageError with `create=False` when there is no store, StoreError for a server that does not answer or a
        schema with tables of another application, which stay untouched, StoreVersion for a store of a newer Akinai.
        """
        server = parse_server(url)
        try:
            connection = await server.connect()
        except psycopg.Error as error:
            raise server.connect_error(error) from error
        try:
            await prepare_schema(connection, server, create)
        except BaseException as error:
            await connection.close()
            if isinstance(error, psycopg.Error):
                raise server.store_error(error) from error
            raise
        return cls(server, connection)

    @property
    def url(self) -> str:
        """The address without its password."""
        return self._server.display_url

    async def create(self, run: RunHeader) -> None:
        await self._write(Create(run))

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        expect_consecutive(run_id, entries)
        await self._write(Append(run_id, entries))

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
        self,
        *,
        group: str | None = None,
        status: Status | None = None,
        limit: int | None = None,
        agents: Sequence[str] | None = None,
    ) -> Sequence[RunHeader]:
        return await self._query(partial(_headers, group=group, status=status, limit=limit, agents=agents))

    async def update(self, run: RunHeader) -> None:
        await self._write(Update(run))

    async def add_trace(self, run_id: str, records: Sequence[TraceRecord]) -> None:
        await self._write(AddTrace(run_id, records))

    async def read_trace(self, run_id: str, actor: str | None = None) -> AsyncIterator[TraceRecord]:
        after = (actor or "", -1)
        while chunk := await self._query(partial(_traces, run_id=run_id, actor=actor, after=after)):
            for record in chunk:
                yield record
            after = (chunk[-1].actor, chunk[-1].call)

    async def keep_scores(self, records: Sequence[ScoreRecord]) -> None:
        await asyncio.gather(*(self._write(KeepScores(record)) for record in records))

    async def kept_scores(self, run_id: str) -> ScoreRecord | None:
        return await self._query(partial(_kept_scores, run_id=run_id))

    async def covering_scores(self, starts: Mapping[str, str]) -> Sequence[CoveringScores]:
        return await self._query(partial(_covering_scores, starts=starts))

    async def forget(self, run_ids: Sequence[str]) -> None:
        sent = False

        async def work(connection: Connection) -> None:
            nonlocal sent
            async with connection.transaction():
                for run_id in () if sent else run_ids:  # a lost connection may have committed it
                    await _expect_run(connection, run_id)
                sent = True
                for statement in _FORGET:
                    await connection.execute(statement, (list(run_ids),))

        await self._query(work)
        self._current().writer.forget(run_ids)

    async def changes(self, run_id: str, after: int = 0) -> AsyncIterator[int]:
        """The number of a run's last entry, each time it grows beyond `after`, whichever process wrote it.

        Runs until it is closed, on a connection of its own. UnknownName for a run that does not exist.
        """
        backoff: Backoff | None = None
        while True:
            try:
                async with self._listen(run_id) as connection:
                    backoff = None
                    last = await _last_seq(connection, run_id)
                    while True:
                        self._check_open()
                        if last > after:
                            after = last
                            yield last
                        last = await _next_seq(connection, run_id)
            except psycopg.Error as error:
                backoff = backoff or Backoff()
                if not is_connection_lost(error) or backoff.expired:
                    raise self._server.store_error(error) from error
                await backoff.pause()

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            connections = self._current()
            await connections.writer.close()
            connections.drop()

    async def _query(self, query: Callable[[Connection], Awaitable[T]]) -> T:
        self._check_open()
        return await self._current().readers.run(query)

    async def _write(self, change: Change) -> None:
        self._check_open()
        await self._current().writer.write(change)

    def _current(self) -> "_Connections":
        """The connections of the running event loop; those of an earlier loop are dropped."""
        if self._connections.loop is not asyncio.get_running_loop():
            self._connections.drop()
            self._connections = _Connections(self._server)
        return self._connections

    def _check_open(self) -> None:
        if self._closed:
            raise store_closed(self._server.display_url)

    @asynccontextmanager
    async def _listen(self, run_id: str) -> AsyncGenerator[Connection]:
        self._check_open()
        connection = await self._server.connect()
        try:
            await connection.execute(SQL("LISTEN {}").format(Identifier(channel_name(run_id))))
            yield connection
        finally:
            await connection.close()


class _Connections:
    """The connections of one event loop."""

    def __init__(self, server: Server, connection: Connection | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        self.writer = Writer(server, connection)
        self.readers = Readers(server)

    def drop(self) -> None:
        """Close the connections without waiting for queries and writes that are under way."""
        self.writer.drop()
        self.readers.close()


async def _unknown(connection: Connection, run_id: str) -> AkinaiError:
    cursor = await connection.execute("SELECT run_id FROM runs")
    return unknown_run(run_id, [id for (id,) in await cursor.fetchall()])


async def _expect_run(connection: Connection, run_id: str) -> None:
    cursor = await connection.execute("SELECT 1 FROM runs WHERE run_id = %s", (run_id,))
    if await cursor.fetchone() is None:
        raise await _unknown(connection, run_id)


async def _entries(connection: Connection, run_id: str, after: int) -> tuple[list[Entry], bool]:
    """The next chunk, and whether there may be another.

    BrokenChain when its first entry is broken; a later broken entry ends the chunk.
    """
    rows = await _chunk(connection, run_id, after)
    if not rows:
        await _expect_run(connection, run_id)
    entries: list[Entry] = []
    try:
        entries.extend(_parse_entry(*row) for row in rows)
    except BrokenChain:
        if not entries:
            raise
    return entries, len(rows) == ENTRIES_PER_CHUNK or len(entries) < len(rows)


async def _last_seq(connection: Connection, run_id: str) -> int:
    cursor = await connection.execute("SELECT max(seq) FROM actions WHERE run_id = %s", (run_id,))
    ((last,),) = await cursor.fetchall()
    if last is None:
        await _expect_run(connection, run_id)
    return last or 0


async def _next_seq(connection: Connection, run_id: str) -> int:
    """The highest entry number of the next notifications; read from the table when none comes in time."""
    payloads = [notification.payload async for notification in connection.notifies(timeout=POLL_S, stop_after=1)]
    notified = max((int(last) for last in payloads if last.isdecimal()), default=0)
    return notified or await _last_seq(connection, run_id)


async def _traces(connection: Connection, run_id: str, actor: str | None, after: tuple[str, int]) -> list[TraceRecord]:
    condition: LiteralString = "actor = %s AND call > %s" if actor is not None else "(actor, call) > (%s, %s)"
    cursor = await connection.execute(
        f"SELECT actor, call, created_at, data::text FROM trace WHERE run_id = %s AND {condition} "
        "ORDER BY actor, call LIMIT %s",
        (run_id, *after, TRACES_PER_CHUNK),
    )
    rows = await cursor.fetchall()
    if not rows:
        await _expect_run(connection, run_id)
    try:
        return [TraceRecord.parse(*row) for row in rows]
    except ValueError as error:
        raise StoreError(f"the trace of run {run_id!r} holds what is not JSON: {error}") from error


async def _kept_scores(connection: Connection, run_id: str) -> ScoreRecord | None:
    try:
        cursor = await connection.execute("SELECT * FROM run_scores WHERE run_id = %s", (run_id,))
    except UndefinedTable:  # a store from before scores were kept, where no table can be made
        return None
    row = await cursor.fetchone()
    return None if row is None else ScoreRecord(*row)


async def _covering_scores(connection: Connection, starts: Mapping[str, str]) -> list[CoveringScores]:
    covering: list[CoveringScores] = []
    for run_id, start in starts.items():
        record = await _kept_scores(connection, run_id)
        if record is None:
            continue
        end, count = start, 0
        while rows := await _chunk(connection, run_id, count):
            try:
                texts = [(seq, at, _canonicalize(text), digest) for seq, at, text, digest in rows]
            except (ValueError, RecursionError):
                end = None
            else:
                end = chain_end(end, texts, count + 1)
            if end is None:
                break
            count += len(rows)
        if end == record.digest:
            traced = await connection.execute("SELECT 1 FROM trace WHERE run_id = %s LIMIT 1", (run_id,))
            covering.append(CoveringScores(record, count, await traced.fetchone() is not None))
    return covering


async def _chunk(connection: Connection, run_id: str, after: int) -> list[tuple[int, int, str, str]]:
    cursor = await connection.execute(
        "SELECT seq, created_at, data::text, digest FROM actions WHERE run_id = %s AND seq > %s ORDER BY seq LIMIT %s",
        (run_id, after, ENTRIES_PER_CHUNK),
        prepare=True,
    )
    return cast("list[tuple[int, int, str, str]]", await cursor.fetchall())


async def _header(connection: Connection, run_id: str) -> RunHeader:
    cursor = await connection.execute(f"SELECT {_SELECTED} FROM runs WHERE run_id = %s", (run_id,))
    row = await cursor.fetchone()
    if row is None:
        raise await _unknown(connection, run_id)
    return parse_header(row, _canonicalize)


async def _headers(
    connection: Connection, group: str | None, status: Status | None, limit: int | None, agents: Sequence[str] | None
) -> list[RunHeader]:
    cursor = await connection.execute(
        f"SELECT {_SELECTED} FROM runs WHERE (%(group)s::text IS NULL OR group_name = %(group)s "
        "OR card->'sweep'->>'name' = %(group)s) AND (%(status)s::text IS NULL OR status = %(status)s) "
        "AND (%(agents)s::text[] IS NULL OR EXISTS (SELECT 1 FROM "
        "jsonb_each_text(CASE jsonb_typeof(agents) WHEN 'object' THEN agents ELSE '{}' END) AS played "
        "WHERE played.value = ANY(%(agents)s))) ORDER BY created_at DESC, id DESC LIMIT %(limit)s",
        {"group": group, "status": status, "limit": limit, "agents": None if agents is None else [*agents]},
    )
    return parse_headers(await cursor.fetchall(), _canonicalize)[::-1]


def _parse_entry(seq: int, at: int, text: str, digest: str) -> Entry:
    """An entry from the text of its JSONB. Raises BrokenChain when the text does not hold an entry."""
    try:
        text = _canonicalize(text)
    except (ValueError, RecursionError) as error:
        raise BrokenChain(seq, f"its data is not JSON that Akinai reads ({error})") from error
    return Entry.parse(seq, at, text, digest)


def _canonicalize(text: str) -> str:
    """The text of a JSONB value as canonical JSON."""
    return canonical(cast("Json", json.loads(text)))
