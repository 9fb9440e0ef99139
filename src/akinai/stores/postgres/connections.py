"""The server of a PostgresStore: its address, without the password in messages, its connections and its errors."""

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from akinai.core.errors import AkinaiError, StoreError, UsageError

READERS = 4
"""Queries that run at the same time."""
RECONNECT_S = 30.0
"""Time that the store tries to reconnect after it lost a connection."""
LOCK_TIMEOUT_S = 60.0
"""Time that a write waits for locks of other processes."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.02, 1.0

T = TypeVar("T")
Connection = psycopg.AsyncConnection[tuple[Any, ...]]

# With these a silent loss of the network is noticed within a minute. The address overrides them.
_DEFAULTS = {
    "application_name": "akinai",
    "connect_timeout": "10",
    "keepalives_idle": "20",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
# Settings of the address or the server are kept, unless a commit would return before it is on disk.
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
_BAD_VALUE = ("22", "54")
"""Classes of SQLSTATE for a bad value, rather than a fault of the server."""

# An @ or / in a password that is not written as %40 or %2F turns the rest of it into a host or a database, which is
# shown in messages.
_PLAIN = r"postgresql://[^@/]*(@[^@/]*)?(/[^@/?]*)?(\?|$)"


@dataclass(frozen=True, slots=True)
class Server:
    """A database at an address."""

    conninfo: str = field(repr=False)
    """The connection string for libpq. It may hold the password, so it is never shown."""
    display_url: str
    """The address without its password, for messages."""

    async def connect(self) -> Connection:
        """A new connection in autocommit mode whose commits wait for the disk. Raises psycopg.Error."""
        connection = await psycopg.AsyncConnection.connect(self.conninfo, autocommit=True)
        try:
            await connection.execute(_SETTINGS.encode())
        except BaseException:
            await connection.close()
            raise
        return connection

    def store_error(self, error: Exception) -> Exception:
        """A database failure as a StoreError with advice; any other error unchanged."""
        if isinstance(error, psycopg.Error):
            message = " ".join((error.diag.message_primary or str(error)).split())
            code = error.sqlstate or ""
            if code.startswith(_BAD_VALUE) or (isinstance(error, psycopg.DataError) and not code):
                return StoreError(f"the store {self.display_url!r} cannot keep this: {message}")
            advice = _ADVICE.get(code, "the run can be resumed when the server works again")
            return StoreError(f"the store {self.display_url!r} does not work: {message}; {advice}")
        if isinstance(error, UnicodeError):
            return StoreError(f"the store {self.display_url!r} cannot keep this: {error}")
        return error

    def connect_error(self, error: psycopg.Error) -> StoreError:
        """The StoreError for a first connection that failed."""
        message = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
        return StoreError(
            f"cannot open the store {self.display_url!r}: {message}; "
            "are the server, the database and the password there? (the password may be in PGPASSWORD or ~/.pgpass)"
        )


def parse_server(url: str) -> Server:
    """The server at "postgresql://user@host:port/database"; "postgres:" and "postgresql+driver:" mean the same.

    UsageError for an address that libpq cannot read. Its own message is left out, since it may hold the password.
    """
    plain = re.sub(r"^postgres(ql)?(\+\w+)?:", "postgresql:", url, count=1, flags=re.IGNORECASE)
    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(plain).items() if value is not None}
        if not re.match(_PLAIN, plain) or not re.fullmatch(r"[\d,]*", parts.get("port", "")):
            raise ValueError
    except (psycopg.Error, ValueError):
        raise UsageError(
            "the store's address is none that PostgreSQL can read; write postgresql://USER@HOST:PORT/DATABASE, "
            "with %40 for an @ and %2F for a / inside a part (the password may be in PGPASSWORD or ~/.pgpass)"
        ) from None
    return Server(make_conninfo(**(_DEFAULTS | parts), client_encoding="UTF8"), _display_url(parts))


def _display_url(parts: dict[str, str]) -> str:
    user, host, port = (parts.get(part, "") for part in ("user", "host", "port"))
    folder = f"?host={host}" if host.startswith("/") else ""
    authority = "" if folder else f"[{host}]" if ":" in host else host
    authority = (f"{user}@" if user else "") + authority + (f":{port}" if port else "")
    return f"postgresql://{authority}/{parts.get('dbname', '')}{folder}"


def channel_name(run_id: str) -> str:
    """The NOTIFY channel of a run's new entries. A channel's name has at most 63 bytes, so the id is hashed."""
    return f"akinai_{hashlib.blake2b(run_id.encode(), digest_size=16).hexdigest()}"


class Backoff:
    """Pauses between attempts to reconnect, each longer than the last, until RECONNECT_S have passed."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + RECONNECT_S
        self._pause = FIRST_PAUSE_S

    @property
    def expired(self) -> bool:
        return time.monotonic() > self._deadline

    async def pause(self) -> None:
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE_S)


def is_connection_lost(error: Exception) -> bool:
    """Whether the server cannot be reached at the moment, as opposed to refusing the statement."""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P", "53300"))


def is_worth_splitting(error: Exception) -> bool:
    """Whether one change may have broken its whole batch; otherwise the server refuses every change alike."""
    refused = isinstance(error, psycopg.OperationalError) and not (error.sqlstate or "").startswith(_BAD_VALUE)
    return not refused


class Readers:
    """A small pool of connections for queries."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._slots = asyncio.Semaphore(READERS)
        self._idle: list[Connection] = []
        self._closed = False

    async def run(self, query: Callable[[Connection], Awaitable[T]]) -> T:
        """The result of `query`, which runs again when its connection is lost. StoreError when the database fails."""
        backoff: Backoff | None = None
        while True:
            try:
                async with self._slots, self._connection() as connection:
                    return await query(connection)
            except psycopg.Error as error:
                backoff = backoff or Backoff()
                if not is_connection_lost(error) or backoff.expired:
                    raise self._server.store_error(error) from error
            self.drop_idle()  # they were most likely lost with it
            await backoff.pause()

    def drop_idle(self) -> None:
        """Close the connections that nobody uses."""
        for connection in self._idle:
            connection.pgconn.finish()
        self._idle.clear()

    def close(self) -> None:
        """Close all connections, those in use as soon as their query is done."""
        self._closed = True
        self.drop_idle()

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[Connection]:
        connection = self._idle.pop() if self._idle else await self._server.connect()
        try:
            yield connection
        except BaseException as error:
            await self._put_back(connection, sound=isinstance(error, AkinaiError))
            raise
        await self._put_back(connection, sound=True)

    async def _put_back(self, connection: Connection, *, sound: bool) -> None:
        if sound and not self._closed:
            self._idle.append(connection)
        else:
            await connection.close()
