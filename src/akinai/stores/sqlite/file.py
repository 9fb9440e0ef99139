"""The file of a SqliteStore: its tables, and ways to open it without changing files of other applications."""

import errno
import logging
import os
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal

from akinai.core.errors import StoreError, StoreVersion, UsageError
from akinai.core.untrusted.documents import why_unfit

APPLICATION_ID = 0x416B696E
"""The `PRAGMA application_id` of our files: "Akin"."""
SCHEMA_VERSION = 2
"""The `PRAGMA user_version` of our files."""
BUSY_TIMEOUT_S = 60.0
"""Time that a write waits for locks of other processes."""
PAGE_BYTES = 8192
"""Compared with 4,096: a tenth faster with entries of half a kilobyte, a third smaller on disk with long ones."""

_LOG = logging.getLogger(__name__)

Synchronous = Literal["FULL", "NORMAL"]

# Rowids are kept: in a table without them the planner prefers the primary key to the indexes on expressions.
# `agent_id` is generated from the data, so that the two never differ.
_SCORES = """CREATE TABLE IF NOT EXISTS run_scores (
    run_id TEXT PRIMARY KEY NOT NULL, digest TEXT NOT NULL, version TEXT NOT NULL, data TEXT NOT NULL)"""
_STEPS = {1: (_SCORES,)}
"""By schema version: the statements that migrate to the next one."""
_SCHEMA = (
    """CREATE TABLE runs (
        run_id TEXT NOT NULL UNIQUE, genesis TEXT NOT NULL, agents TEXT NOT NULL, status TEXT NOT NULL,
        created_at INTEGER NOT NULL, parent TEXT, group_name TEXT, ending TEXT, entries INTEGER, digest TEXT,
        error TEXT, card TEXT NOT NULL)""",
    """CREATE TABLE actions (
        run_id TEXT NOT NULL, seq INTEGER NOT NULL,
        agent_id TEXT GENERATED ALWAYS AS (json_extract(data, '$.agent_id')) VIRTUAL,
        created_at INTEGER NOT NULL, data TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run_id, seq))""",
    """CREATE INDEX idx_actions_to_agent
        ON actions (run_id, json_extract(data, '$.request.parameters.to_agent_id'), seq)
        WHERE json_extract(data, '$.request.parameters.to_agent_id') IS NOT NULL""",
    """CREATE INDEX idx_actions_from_agent
        ON actions (run_id, json_extract(data, '$.request.parameters.from_agent_id'), seq)
        WHERE json_extract(data, '$.request.parameters.from_agent_id') IS NOT NULL""",
    "CREATE INDEX idx_actions_name ON actions (run_id, json_extract(data, '$.request.name'), seq)",
    """CREATE TABLE trace (
        run_id TEXT NOT NULL, actor TEXT NOT NULL, call INTEGER NOT NULL, created_at INTEGER NOT NULL,
        data TEXT NOT NULL, PRIMARY KEY (run_id, actor, call))""",
    _SCORES,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
"""Errors of a lock on a drive that has none."""
_LOCAL = "name a file on a local disk with --store"
_WRITABLE = "name another with --store if you may not write there"
_UNLOCKED = "its drive failed, or has no locks or no shared memory, as drives of a network"
_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL)
"""Codes of a place where nothing can be written, or nothing locked or shared: what is there can be read."""
_ADVICE = {
    sqlite3.SQLITE_BUSY: f"another process held it for {BUSY_TIMEOUT_S:.0f} s, or its drive has no locks; {_LOCAL}",
    sqlite3.SQLITE_CANTOPEN: _WRITABLE,
    sqlite3.SQLITE_READONLY: _WRITABLE,
    sqlite3.SQLITE_IOERR: f"{_UNLOCKED}; {_LOCAL}",
    sqlite3.SQLITE_PROTOCOL: f"{_UNLOCKED}; {_LOCAL}",
    sqlite3.SQLITE_ERROR: "the file is damaged; restore a copy",
    sqlite3.SQLITE_FULL: "make room on the disk",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a copy",
    sqlite3.SQLITE_NOTADB: "the file is damaged; restore a copy",
}


def parse_path(url: str) -> Path:
    """The file at a path or at "sqlite:///path". UsageError when the address names no file."""
    if not url.lower().startswith("sqlite:"):
        return Path(url).absolute()
    path = url[len("sqlite:///") :]
    if not url.lower().startswith("sqlite:///") or path in ("", ":memory:"):
        raise UsageError(f"no file in the address {url!r}; write 'sqlite:///akinai.db', or 'memory:'")
    return Path(path).absolute()


def shorten(path: Path) -> str:
    """The path for messages, relative when it is below the working folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def connect(path: Path, mode: str, *pragmas: str) -> sqlite3.Connection:
    """A connection without implicit transactions. `mode` is SQLite's: "ro", "rw" or "rwc"."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", BUSY_TIMEOUT_S, isolation_level=None, uri=True)
    # An invalid byte must reach the digest check rather than stop the reading.
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    for pragma in pragmas:
        connection.execute(pragma)
    return connection


def open_file(path: Path, create: bool, synchronous: Synchronous) -> sqlite3.Connection:
    """A writing connection to a file that is checked to be ours and has our tables.

    Without `create`, it is for reading alone where nothing can be written. Raises UsageError when there is no store and
    `create` is false, StoreError when the file cannot be used or belongs to another application, StoreVersion for a
    store of a newer Akinai.
    """
    try:
        _check_path(path, create)
        if not _has_locks(path.parent):
            return _without_locks(path, create)
        _keep_private(path, create)
        connection = connect(path, "rwc" if create else "rw", f"PRAGMA page_size = {PAGE_BYTES}")
        try:
            _prepare(connection, path, create)
            connection.execute(f"PRAGMA synchronous = {synchronous}")
        except BaseException:
            connection.close()
            raise
    except OSError as error:
        raise StoreError(f"cannot open a store at {shorten(path)!r}: {error.strerror}; name another place") from error
    except sqlite3.Error as error:
        if create or _code(error) not in _UNWRITABLE:
            raise store_error(path, error) from error
        connection = open_reader(path)
    return connection


def _keep_private(path: Path, create: bool) -> None:
    """Let the owner alone read and write the file, which SQLite's files beside it follow; say where that changes."""
    if create:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    if os.name != "posix" or not path.exists() or not _is_shared(path) or path.stat().st_uid != os.geteuid():
        return
    with suppress(OSError):
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            if file.exists():
                file.chmod(0o600)
    if _is_shared(path):
        _LOG.warning("akinai: others can read the store %r: its drive knows no rights", shorten(path))
    else:
        _LOG.warning("akinai: others could read the store %r; now only its owner can", shorten(path))


def _is_shared(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o077)


def _has_locks(folder: Path) -> bool:
    """Whether files of a folder can be locked; True where that cannot be told. SQLite takes a drive without locks for a
    busy one, and waits."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _NO_LOCKS
    return True


def _without_locks(path: Path, create: bool) -> sqlite3.Connection:
    """What is there for reading; StoreError for a store to be written."""
    if create:
        raise StoreError(f"cannot open a store at {shorten(path)!r}: its drive has no locks; {_LOCAL}")
    return _read_as_it_is(path, None)


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection for reading, also on media that cannot be written, and on drives without locks or shared memory.

    StoreError there where entries are still in the journal: SQLite would have to write.
    """
    if not _has_locks(path.parent):
        return _read_as_it_is(path, None)
    connection = connect(path, "rw", "PRAGMA query_only = ON")
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.Error as error:
        connection.close()
        if _code(error) not in _UNWRITABLE:
            raise
        return _read_as_it_is(path, error)
    return connection


def _read_as_it_is(path: Path, error: Exception | None) -> sqlite3.Connection:
    """A connection to a file that nobody writes. StoreError, after `error`, where entries are still in the journal."""
    journal = path.with_name(f"{path.name}-wal")
    if journal.exists() and journal.stat().st_size:
        raise StoreError(
            f"the store {shorten(path)!r} cannot be read where nothing can be written or locked, since its last "
            f"entries are in {journal.name!r}; copy both files to a place where you may write"
        ) from error
    return connect(path, "ro&immutable=1", "PRAGMA query_only = ON")


def _check_path(path: Path, create: bool) -> None:
    """Raise the errors that can be noticed before anything is written."""
    if path.exists():
        if path.is_dir():
            raise StoreError(f"cannot open a store at {shorten(path)!r}: it is a folder; name a file in it")
        if why := why_unfit(os.stat(path).st_mode, 0):
            raise StoreError(f"cannot open a store at {shorten(path)!r}: {why}")
        _expect_ours(path)
    elif not create:
        raise _no_store(path)
    elif path.parent.exists() and not path.parent.is_dir():
        raise StoreError(
            f"cannot open a store at {shorten(path)!r}: {shorten(path.parent)!r} is a file; name a place in a folder"
        )
    elif not path.parent.is_dir():
        raise StoreError(
            f"cannot open a store at {shorten(path)!r}: {shorten(path.parent)!r} is no folder; make it first"
        )


def _expect_ours(path: Path) -> None:
    """Check the file without locks and journals, so that a file of another application stays as it is.

    The file is read through SQLite only: closing it as a plain file would drop the locks of this process.
    """
    with closing(connect(path, "ro&immutable=1")) as connection:
        try:
            _has_tables(connection, path)
        except sqlite3.Error as error:
            if _code(error) == sqlite3.SQLITE_NOTADB:
                raise StoreError(f"{shorten(path)!r} is no database; name another file for the store") from error
            # Any other error may come from a process that is making the store right now; opening it with locks decides.


def _has_tables(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether our tables exist; False in an empty database. StoreError for another application's, StoreVersion."""
    occupied = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    version = _version(connection)
    # Queried last: a process that makes the store between these queries must not pass for another application.
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID and (application or version or occupied):
        raise StoreError(f"{shorten(path)!r} is a database of another application; name another file for the store")
    if version > SCHEMA_VERSION:
        raise StoreVersion(
            f"the store {shorten(path)!r} has schema version {version}, this Akinai knows {SCHEMA_VERSION}; "
            "install a newer Akinai"
        )
    return application == APPLICATION_ID


def _prepare(connection: sqlite3.Connection, path: Path, create: bool) -> None:
    """Create missing tables, then switch to WAL. Safe in several processes at once.

    The order matters: the file without its journal always shows which application it belongs to.
    """
    if not _has_tables(connection, path):
        if not create:
            raise _no_store(path)
        connection.execute("BEGIN IMMEDIATE")
        if not _has_tables(connection, path):
            for statement in _SCHEMA:
                connection.execute(statement)
        connection.execute("COMMIT")
    if _version(connection) < SCHEMA_VERSION:
        _migrate(connection, path)
    enable_wal(connection)


def enable_wal(connection: sqlite3.Connection) -> None:
    """Switch a file to WAL, however long another connection holds it up to the limit of a lock."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait here, whatever the timeout says.
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Migrate a file of an older schema to the current one, completely or not at all. The older file is kept beside it.

    Safe in several processes at once: the second one has nothing left to do.
    """
    connection.execute("BEGIN IMMEDIATE")
    version = _version(connection)
    if version < SCHEMA_VERSION:
        _keep_copy(path, version)
        for step in range(version, SCHEMA_VERSION):
            for statement in _STEPS[step]:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _keep_copy(path: Path, version: int) -> None:
    """Copy the file with its journal to NAME.bak-VERSION, or, where that is taken, to NAME.bak-VERSION-2 and so on."""
    names = (f"{path.name}.bak-{version}{f'-{number}' if number > 1 else ''}" for number in count(1))
    backup = next(backup for backup in map(path.with_name, names) if not backup.exists())
    part = path.with_name(f"{backup.name}.part")
    try:
        with closing(connect(path, "rw", "PRAGMA query_only = ON")) as source, closing(connect(part, "rwc")) as copy:
            source.backup(copy)
        part.replace(backup)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version


class FileIdentity:
    """The identity of the files that a connection writes to: the database and its journal.

    A file that is deleted or replaced stays readable and writable through the connection, and is lost when it closes.
    Another store's content, copied into the file, is noticed by its runs: it holds none of this store's first runs,
    although no commit of another connection deleted them.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._names = path, (str(path), f"{path}-wal")
        self._identities: list[tuple[int, int]] = []
        self._changed = (0, 0)
        """The time of the file's last change in nanoseconds, and its size in bytes."""
        self._runs = frozenset[str]()
        self._commits = 0
        """SQLite's `data_version`, which only commits of other connections change."""

    def remember(self, connection: sqlite3.Connection) -> None:
        """Remember the current files as those of the connection."""
        self._identities, self._changed = self._find()
        self._runs, self._commits = _first_runs(connection), _data_version(connection)

    def expect_same(self, connection: sqlite3.Connection) -> None:
        """Raise StoreError when the names lead to other files, to none, or to a file with another store's content."""
        identities, changed = self._find()
        self._identities = self._identities or identities
        if not identities or identities != self._identities:
            raise self._replaced()
        commits = _data_version(connection)
        if commits != self._commits:
            self._runs, self._commits = self._runs | _first_runs(connection), commits
        if changed != self._changed:  # by a checkpoint, or by somebody else
            self._expect_own_runs()
            self._changed = changed
        self._runs = self._runs or _first_runs(connection)

    def _expect_own_runs(self) -> None:
        """Raise StoreError when the file alone, without its journal, holds runs and none of them was there before."""
        try:
            with closing(connect(self._path, "ro&immutable=1")) as connection:
                runs = _first_runs(connection)
        except sqlite3.Error as error:
            if _code(error) == sqlite3.SQLITE_NOTADB:
                raise self._replaced() from error
            return  # a checkpoint is under way
        if runs and self._runs and not runs & self._runs:
            raise self._replaced()
        self._runs |= runs

    def _replaced(self) -> StoreError:
        return StoreError(
            f"the store {shorten(self._path)!r} was deleted or replaced while it was open, so nothing more is kept "
            "there; put the file back, or stop and start again"
        )

    def _find(self) -> tuple[list[tuple[int, int]], tuple[int, int]]:
        try:
            stats = [os.stat(name) for name in self._names]
        except OSError:
            return [], (0, 0)
        return [(file.st_dev, file.st_ino) for file in stats], (stats[0].st_mtime_ns, stats[0].st_size)


def _data_version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return version


def _first_runs(connection: sqlite3.Connection) -> frozenset[str]:
    """The first runs of a store with their genesis, by which stores are told apart."""
    rows = connection.execute("SELECT run_id || ' ' || genesis FROM runs ORDER BY rowid LIMIT 20")
    return frozenset(text for (text,) in rows)


def _no_store(path: Path) -> UsageError:
    return UsageError(
        f"no store at {shorten(path)!r}; a first run makes one ('akinai run'), or name another with --store"
    )


def store_error(path: Path, error: Exception) -> Exception:
    """A database failure as a StoreError with advice; any other error unchanged."""
    if isinstance(error, sqlite3.Error):
        code = _code(error)
        advice = _ADVICE.get(code, "the run can be resumed when the place works again")
        place = f" in the folder {str(path.parent)!r}" if advice == _WRITABLE else ""
        return StoreError(f"the store {shorten(path)!r} does not work{place}: {error}; {advice}")
    if isinstance(error, UnicodeError | OverflowError):
        return StoreError(f"the store {shorten(path)!r} cannot keep this: {error}")
    return error


def _code(error: sqlite3.Error) -> int:
    # An extended code holds the primary code in its low byte; errors of the Python module itself have none.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
