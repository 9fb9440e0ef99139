"""The response cache: replies kept in a file, so that the same run again asks no model. Off unless one is opened."""

import asyncio
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol, Self, TypeVar, runtime_checkable

from akinai.core.canonical import Json, canonical
from akinai.core.errors import StoreError
from akinai.core.models import Model, Reply

T = TypeVar("T")

APPLICATION_ID = 0x416B6963
"""What `PRAGMA application_id` says of our files: "Akic"."""
BUSY_TIMEOUT_S = 60.0
"""How long a write waits for other processes."""

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"


@runtime_checkable
class Sampled(Protocol):
    """A model that is asked with parameters of sampling, as its replies depend on them."""

    sampling: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in which run a call is made. The same request elsewhere is another draw, so it has a reply of its own."""

    seed: int
    """Of the run."""
    actor: str
    call: int
    """The actor's n-th, from 1."""


def cache_key(request_digest: str, model: Model, place: Place) -> str:
    """SHA-256 in hex over all that a reply depends on."""
    sampling = dict(model.sampling) if isinstance(model, Sampled) else {}
    parts: Json = [request_digest, model.name, sampling, place.seed, place.actor, place.call]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


class ResponseCache:
    """Replies by key in a SQLite file that several processes may use at once. The first reply under a key stays."""

    def __init__(self, path: Path) -> None:
        """Made by `open`."""
        self.path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"akinai {path.name}")
        self._connection: sqlite3.Connection | None = None

    @classmethod
    async def open(cls, path: Path | str) -> Self:
        """Open the cache in a file, made when it is not there. StoreError for a place or a file that will not do."""
        cache = cls(Path(path).absolute())
        try:
            await cache._ask(lambda _: None)
        except BaseException:
            await cache.close()
            raise
        return cache

    async def find(self, key: str) -> Reply | None:
        """The reply under a key, marked as from the cache; it took no time and no try."""
        text = await self._ask(partial(_select, key=key))
        if text is None:
            return None
        return replace(Reply.from_json(json.loads(text)), latency_s=0.0, tries=0, from_cache=True)

    async def keep(self, key: str, reply: Reply) -> None:
        """Put a reply under a key, unless there is one."""
        # ASCII, so that half a surrogate pair from a model can be kept.
        await self._ask(partial(_insert, key=key, text=json.dumps(reply.to_json())))

    async def close(self) -> None:
        """Let go of the file."""
        gone = asyncio.get_running_loop().run_in_executor(self._thread, self._let_go)
        self._thread.shutdown(wait=False)
        await gone

    async def _ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._use, work)

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = _connect(self.path)
            return work(self._connection)
        except sqlite3.Error as error:
            raise StoreError(
                f"the response cache {str(self.path)!r} does not work: {error}; name another file, or play without one"
            ) from error

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _select(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
    return row and row[0]


def _insert(connection: sqlite3.Connection, key: str, text: str) -> None:
    connection.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (key, text))


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, BUSY_TIMEOUT_S, isolation_level=None)
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID:
            _make(connection, path)
        # What a power cut takes from a cache is asked for again.
        connection.execute("PRAGMA synchronous = NORMAL")
        _turn_to_wal(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: sqlite3.Connection, path: Path) -> None:
    """Make the table in an empty file. StoreError for the database of another application, which is left as it is."""
    connection.execute("BEGIN IMMEDIATE")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    occupied = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    if application != APPLICATION_ID and (application or occupied):
        raise StoreError(f"{str(path)!r} is no response cache but another database; name another file")
    connection.execute(_TABLE)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("COMMIT")


def _turn_to_wal(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:
            # SQLite does not wait for others here, whatever the timeout says.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
