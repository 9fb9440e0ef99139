"""The server behind a PostgresStore: its address, told without the password, connections to it, and its errors."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from akinai.core.errors import AkinaiError, StoreError, UsageError

READERS = 4
"""How many questions are asked at a time."""
PATIENCE_S = 30.0
"""How long a connection that was lost is sought again."""
LOCK_TIMEOUT_S = 60.0
"""How long a write waits for other processes."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.02, 1.0

T = TypeVar("T")
Connection = psycopg.AsyncConnection[tuple[Any, ...]]

# A server that is cut off without a word is noticed within a minute; what the address says goes first.
_DEFAULTS = {
    "application_name": "akinai",
    "connect_timeout": "10",
    "keepalives_idle": "20",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
# What the address or the server sets is kept, unless it would answer before the disk does.
_SETTINGS = f"""
    SELECT CASE WHEN current_setting('lock_timeout') = '0'
        THEN set_config('lock_timeout', '{LOCK_TIMEOUT_S:.0f}s', false) END,
        CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
        THEN set_config('synchronous_commit', 'on', false) END"""
_ADVICE = {
    "23505": "another process writes the same, again and again; read the run anew",
    "3F000": "make the schema first: CREATE SCHEMA NAME",
    "25006": "it takes no writes: is it a standby?",
    "42501": "ask for the right to read and write there",
    "42P01": "its tables are gone; restore a copy",
    "53100": "make room on its disk",
    "53300": "it has no connection left: play with fewer --jobs",
    "55P03": "another process held it too long",
}
_UNKEPT = ("22", "54")
"""Classes of errors that speak of what is to be kept, not of the server."""

# An @ or / in a password that is not written as %40 or %2F makes a host or a database of its rest, which would be told.
_PLAIN = r"postgresql://[^@/]*(@[^@/]*)?(/[^@/?]*)?(\?|$)"


@dataclass(frozen=True, slots=True)
class Server:
    """A database, as its address names it."""

    conninfo: str = field(repr=False)
    """For libpq, with the password if there is one: never shown."""
    shown: str
    """The address as it may be told to anybody."""

    async def connect(self) -> Connection:
        """A connection that commits statement by statement and waits for the disk. psycopg.Error when there is none."""
        connection = await psycopg.AsyncConnection.connect(self.conninfo, autocommit=True)
        try:
            await connection.execute(_SETTINGS.encode())
        except BaseException:
            await connection.close()
            raise
        return connection

    def broken(self, error: Exception) -> Exception:
        """What a failure of the database is to the caller; an error of another kind is itself."""
        if isinstance(error, psycopg.Error):
            told = " ".join((error.diag.message_primary or str(error)).split())
            code = error.sqlstate or ""
            if code.startswith(_UNKEPT) or (isinstance(error, psycopg.DataError) and not code):
                return StoreError(f"the store {self.shown!r} cannot keep this: {told}")
            advice = _ADVICE.get(code, "the run can be resumed when the server works again")
            return StoreError(f"the store {self.shown!r} does not work: {told}; {advice}")
        if isinstance(error, UnicodeError):
            return StoreError(f"the store {self.shown!r} cannot keep this: {error}")
        return error

    def unreachable(self, error: psycopg.Error) -> StoreError:
        """Why the first connection failed."""
        told = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
        return StoreError(
            f"cannot open the store {self.shown!r}: {told}; are the server, the database and the password there? "
            "(the password may stand in PGPASSWORD or ~/.pgpass)"
        )


def server_at(url: str) -> Server:
    """The server that "postgresql://user@host:port/database" names; "postgres:" and "postgresql+driver:" are the same.

    UsageError for an address that libpq cannot read. What libpq says of it may hold the password, so it is not told.
    """
    plain = re.sub(r"^postgres(ql)?(\+\w+)?:", "postgresql:", url, count=1, flags=re.IGNORECASE)
    try:
        given = {key: str(value) for key, value in conninfo_to_dict(plain).items() if value is not None}
        if not re.match(_PLAIN, plain) or not re.fullmatch(r"[\d,]*", given.get("port", "")):
            raise ValueError
    except (psycopg.Error, ValueError):
        raise UsageError(
            "the store's address is none that PostgreSQL can read; write postgresql://USER@HOST:PORT/DATABASE, "
            "with %40 for an @ and %2F for a / inside a part (the password may stand in PGPASSWORD or ~/.pgpass)"
        ) from None
    return Server(make_conninfo(**(_DEFAULTS | given), client_encoding="UTF8"), _shown(given))


def _shown(given: dict[str, str]) -> str:
    user, host, port = (given.get(part, "") for part in ("user", "host", "port"))
    folder = f"?host={host}" if host.startswith("/") else ""
    place = "" if folder else f"[{host}]" if ":" in host else host
    place = (f"{user}@" if user else "") + place + (f":{port}" if port else "")
    return f"postgresql://{place}/{given.get('dbname', '')}{folder}"


class Patience:
    """Pauses between tries to find a lost server again: ever longer, until PATIENCE_S are over."""

    def __init__(self) -> None:
        self._until = time.monotonic() + PATIENCE_S
        self._pause = FIRST_PAUSE_S

    @property
    def over(self) -> bool:
        return time.monotonic() > self._until

    async def pause(self) -> None:
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE_S)


def cut(error: Exception) -> bool:
    """Whether the error says that the server cannot be reached just now, rather than that it refuses."""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P", "53300"))


def blames_one(error: Exception) -> bool:
    """Whether the error may be due to one of many changes; otherwise the server takes none of them."""
    refused = isinstance(error, psycopg.OperationalError) and not (error.sqlstate or "").startswith(_UNKEPT)
    return not refused


class Readers:
    """A few connections on which questions are asked, each kept for the next question."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._seats = asyncio.Semaphore(READERS)
        self._idle: list[Connection] = []
        self._closed = False

    async def ask(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """What `work` gives, asked again when the connection is cut. StoreError when the database fails."""
        patience: Patience | None = None
        while True:
            try:
                async with self._seats, self._one() as connection:
                    return await work(connection)
            except psycopg.Error as error:
                patience = patience or Patience()
                if not cut(error) or patience.over:
                    raise self._server.broken(error) from error
            self.drop()  # those beside it were cut as well
            await patience.pause()

    def drop(self) -> None:
        """Let go of the connections on which nobody asks."""
        for connection in self._idle:
            connection.pgconn.finish()
        self._idle.clear()

    def close(self) -> None:
        """Let go of all connections: of those in use when they have answered."""
        self._closed = True
        self.drop()

    @asynccontextmanager
    async def _one(self) -> AsyncIterator[Connection]:
        connection = self._idle.pop() if self._idle else await self._server.connect()
        try:
            yield connection
        except BaseException as error:
            await self._put_back(connection, isinstance(error, AkinaiError))
            raise
        await self._put_back(connection, True)

    async def _put_back(self, connection: Connection, sound: bool) -> None:
        if sound and not self._closed:
            self._idle.append(connection)
        else:
            await connection.close()
