"""PostgresStore: ledgers on a PostgreSQL server, for several processes and machines. Part of the extra `postgres`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import LiteralString, TypeVar

import psycopg
from psycopg.sql import SQL, Identifier

from akinai.core.errors import AkinaiError, BrokenChain, StoreError
from akinai.core.ledger import Entry
from akinai.core.stores import RunHeader
from akinai.core.trace import TraceRecord
from akinai.stores import closed_store, first_in_order, unknown_run
from akinai.stores.headers import HEADER, header_of, headers_of
from akinai.stores.postgres_changes import AddTrace, Append, Change, Create, Update
from akinai.stores.postgres_rows import again, channel_of, entry_of
from akinai.stores.postgres_schema import prepare
from akinai.stores.postgres_server import Connection, Patience, Readers, Server, cut, server_at
from akinai.stores.postgres_writer import Writer

ENTRIES_A_CHUNK = 500
TRACES_A_CHUNK = 50
LOOK_S = 2.0
"""How often `changes` looks by itself, should a notification be lost."""

T = TypeVar("T")

_COLUMNS: LiteralString = HEADER.replace("genesis, agents", "genesis::text, agents::text").replace("card", "card::text")


class PostgresStore:
    """Keeps runs on a PostgreSQL server that many processes may use at once.

    An append is answered after its commit reached the server's disk. A caller that is cancelled while it waits does not
    take its append back: all of it lands, or none. A connection that is lost is sought again for half a minute, and an
    append that was under way is in once, whatever became of its COMMIT. One event loop at a time.
    """

    def __init__(self, server: Server, connection: Connection) -> None:
        """Made by `open`, which answers once the tables are known to be ours."""
        self._server = server
        self._lines = _Lines(server, connection)
        self._closed = False

    @classmethod
    async def open(cls, url: str, *, create: bool = True) -> "PostgresStore":
        """Open the store at "postgresql://user@host:port/database"; the password may stand in PGPASSWORD or ~/.pgpass.

        The tables are made in the first schema of the search path, which "?options=-csearch_path%3DNAME" sets.
        UsageError with `create=False` when no store is there; StoreError for a server that does not answer, or a schema
        with tables of another application, which are left as they are; StoreVersion for a store of a newer Akinai.
        """
        server = server_at(url)
        try:
            connection = await server.connect()
        except psycopg.Error as error:
            raise server.unreachable(error) from error
        try:
            await prepare(connection, server, create)
        except BaseException as error:
            await connection.close()
            if isinstance(error, psycopg.Error):
                raise server.broken(error) from error
            raise
        return cls(server, connection)

    @property
    def url(self) -> str:
        """The address without its password."""
        return self._server.shown

    async def create(self, run: RunHeader) -> None:
        await self._write(Create(run))

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        first_in_order(run_id, entries)
        await self._write(Append(run_id, entries))

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
        await self._write(Update(run))

    async def add_trace(self, run_id: str, records: Sequence[TraceRecord]) -> None:
        await self._write(AddTrace(run_id, records))

    async def read_trace(self, run_id: str, actor: str | None = None) -> AsyncIterator[TraceRecord]:
        after = (actor or "", -1)
        while chunk := await self._ask(partial(_traces, run_id=run_id, actor=actor, after=after)):
            for record in chunk:
                yield record
            after = (chunk[-1].actor, chunk[-1].call)

    async def changes(self, run_id: str, after: int = 0) -> AsyncIterator[int]:
        """The number of a run's last entry, each time that it is above `after` and has grown, whoever wrote it.

        It goes on until it is closed, on a connection of its own. UnknownName for a run that is not there.
        """
        patience: Patience | None = None
        while True:
            try:
                async with self._listening(run_id) as connection:
                    patience = None
                    last = await _last(connection, run_id)
                    while True:
                        self._check_open()
                        if last > after:
                            after = last
                            yield last
                        last = await _told(connection, run_id)
            except psycopg.Error as error:
                patience = patience or Patience()
                if not cut(error) or patience.over:
                    raise self._server.broken(error) from error
                await patience.pause()

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            lines = self._here()
            await lines.writer.close()
            lines.drop()

    async def _ask(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        self._check_open()
        return await self._here().readers.ask(work)

    async def _write(self, change: Change) -> None:
        self._check_open()
        await self._here().writer.write(change)

    def _here(self) -> "_Lines":
        """The connections of the running event loop; those of one that ended are given up."""
        if self._lines.loop is not asyncio.get_running_loop():
            self._lines.drop()
            self._lines = _Lines(self._server)
        return self._lines

    def _check_open(self) -> None:
        if self._closed:
            raise closed_store(self._server.shown)

    @asynccontextmanager
    async def _listening(self, run_id: str) -> AsyncIterator[Connection]:
        self._check_open()
        connection = await self._server.connect()
        try:
            await connection.execute(SQL("LISTEN {}").format(Identifier(channel_of(run_id))))
            yield connection
        finally:
            await connection.close()


class _Lines:
    """The connections of one event loop."""

    def __init__(self, server: Server, connection: Connection | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        self.writer = Writer(server, connection)
        self.readers = Readers(server)

    def drop(self) -> None:
        """Let go of the connections, without waiting for what is under way."""
        self.writer.drop()
        self.readers.close()


async def _unknown(connection: Connection, run_id: str) -> AkinaiError:
    found = await connection.execute("SELECT run_id FROM runs")
    return unknown_run(run_id, [known for (known,) in await found.fetchall()])


async def _expect_run(connection: Connection, run_id: str) -> None:
    found = await connection.execute("SELECT 1 FROM runs WHERE run_id = %s", (run_id,))
    if await found.fetchone() is None:
        raise await _unknown(connection, run_id)


async def _entries(connection: Connection, run_id: str, after: int) -> list[Entry]:
    """The next chunk; none at the end. A broken entry is told of when it is the first, after those before it."""
    found = await connection.execute(
        "SELECT seq, created_at, data::text, digest FROM actions WHERE run_id = %s AND seq > %s ORDER BY seq LIMIT %s",
        (run_id, after, ENTRIES_A_CHUNK),
        prepare=True,
    )
    rows = await found.fetchall()
    if not rows:
        await _expect_run(connection, run_id)
    entries: list[Entry] = []
    try:
        entries.extend(entry_of(*row) for row in rows)
    except BrokenChain:
        if not entries:
            raise
    return entries


async def _last(connection: Connection, run_id: str) -> int:
    found = await connection.execute("SELECT max(seq) FROM actions WHERE run_id = %s", (run_id,))
    ((last,),) = await found.fetchall()
    if last is None:
        await _expect_run(connection, run_id)
    return last or 0


async def _told(connection: Connection, run_id: str) -> int:
    """The number that the next notifications tell; the one that is found where none comes in time."""
    told = [one.payload async for one in connection.notifies(timeout=LOOK_S, stop_after=1)]
    return max((int(last) for last in told if last.isdecimal()), default=0) or await _last(connection, run_id)


async def _traces(connection: Connection, run_id: str, actor: str | None, after: tuple[str, int]) -> list[TraceRecord]:
    only: LiteralString = "actor = %s AND call > %s" if actor is not None else "(actor, call) > (%s, %s)"
    found = await connection.execute(
        f"SELECT actor, call, created_at, data::text FROM trace WHERE run_id = %s AND {only} "
        "ORDER BY actor, call LIMIT %s",
        (run_id, *after, TRACES_A_CHUNK),
    )
    rows = await found.fetchall()
    if not rows:
        await _expect_run(connection, run_id)
    try:
        return [TraceRecord.parse(*row) for row in rows]
    except ValueError as error:
        raise StoreError(f"the trace of run {run_id!r} holds what is not JSON: {error}") from error


async def _header(connection: Connection, run_id: str) -> RunHeader:
    found = await connection.execute(f"SELECT {_COLUMNS} FROM runs WHERE run_id = %s", (run_id,))
    row = await found.fetchone()
    if row is None:
        raise await _unknown(connection, run_id)
    return header_of(row, again)


async def _headers(connection: Connection) -> list[RunHeader]:
    found = await connection.execute(f"SELECT {_COLUMNS} FROM runs ORDER BY created_at, id")
    return headers_of(await found.fetchall(), again)
