"""The response cache: replies in a file, so that repeating a run asks no model. Off unless `--cache` names a file."""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol, Self, TypeVar, runtime_checkable

from akinai.core.canonical import Json, canonical
from akinai.core.errors import StoreError, UsageError
from akinai.core.models import Model, Reply, Request
from akinai.core.untrusted.documents import why_unfit
from akinai.stores.sqlite.file import BUSY_TIMEOUT_S, enable_wal

T = TypeVar("T")

APPLICATION_ID = 0x416B6963
"""`PRAGMA application_id` of our files: "Akic"."""

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"


@runtime_checkable
class Sampled(Protocol):
    """A model with sampling parameters, on which its replies depend."""

    sampling: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class CallSite:
    """The position of a call in a run. The same request at another position is another draw, with its own reply."""

    seed: int
    """The run's seed."""
    actor: str
    call: int
    """Its number among the actor's calls, from 1."""


def cache_key(request_digest: str, model: Model, site: CallSite) -> str:
    """SHA-256 in hex over everything that a reply depends on."""
    sampling = dict(model.sampling) if isinstance(model, Sampled) else {}
    parts: Json = [request_digest, model.name, sampling, site.seed, site.actor, site.call]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


async def ask(cache: "ResponseCache | None", model: Model, request: Request, site: CallSite) -> Reply:
    """The reply that the cache has for a request, or the model's, which it then keeps."""
    if cache is None:
        return await model.reply(request)
    key = cache_key(request.digest, model, site)
    reply = await cache.find(key)
    if reply is None:
        reply = await model.reply(request)
        await cache.keep(key, reply)
    return reply


class ResponseCache:
    """Replies by key in a SQLite file that several processes may use at once. The first reply under a key stays."""

    def __init__(self, path: Path) -> None:
        """Use `open` instead."""
        self.path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"akinai {path.name}")
        self._connection: sqlite3.Connection | None = None

    @classmethod
    async def open(cls, path: Path | str) -> Self:
        """Open the cache in a file, which is created when missing. StoreError for a file that cannot be used."""
        cache = cls(Path(path).absolute())
        try:
            await cache._run(lambda _: None)
        except BaseException:
            await cache.close()
            raise
        return cache

    async def find(self, key: str) -> Reply | None:
        """The reply under a key, marked as cached, with no latency and no tries; None when there is none."""
        text = await self._run(partial(_select, key=key))
        if text is None:
            return None
        return replace(Reply.from_json(json.loads(text)), latency_s=0.0, tries=0, from_cache=True)

    async def keep(self, key: str, reply: Reply) -> None:
        """Store a reply under a key that has none yet."""
        # ASCII, so that half a surrogate pair from a model can be kept.
        await self._run(partial(_insert, key=key, text=json.dumps(reply.to_json())))

    async def close(self) -> None:
        """Close the file."""
        closed = asyncio.get_running_loop().run_in_executor(self._thread, self._close_connection)
        self._thread.shutdown(wait=False)
        await closed

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
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

    def _close_connection(self) -> None:
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
            _create(connection, path)
        # A reply lost in a power cut is simply requested again.
        connection.execute("PRAGMA synchronous = NORMAL")
        enable_wal(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def expect_cache_path(file: str) -> None:
    """Raise UsageError for a path where no cache can be, before anything is written."""
    path = Path(file)
    if path.is_dir():
        raise UsageError(f"the response cache {file!r} is a folder; name a file")
    if path.exists() and (why := why_unfit(path.stat().st_mode, 0)):
        raise UsageError(f"the response cache {file!r} cannot be used: {why}")
    if not path.parent.is_dir():
        raise UsageError(f"no folder {str(path.parent)!r} for the response cache {file!r}; make it first")


def _create(connection: sqlite3.Connection, path: Path) -> None:
    """Create the table in an empty file. StoreError, without a change, for the database of another application."""
    connection.execute("BEGIN IMMEDIATE")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    occupied = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    if application != APPLICATION_ID and (application or occupied):
        raise StoreError(f"{str(path)!r} is no response cache but another database; name another file")
    connection.execute(_TABLE)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("COMMIT")
