"""Files that are replaced atomically, and the lock that lets one process at a time do it."""

import hashlib
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from akinai.core.errors import UsageError
from akinai.core.untrusted.documents import MOST_BYTES
from akinai.files import open_named
from akinai.learning.playbook.errors import PlaybookBusy


def sha256(data: bytes) -> str:
    """The SHA-256 of some bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def read_playbook_file(path: Path) -> bytes | None:
    """The bytes of a playbook's file; None where there is none. UsageError says why it cannot be read."""
    try:
        with open_named(path, f"the playbook {path.name!r}", most_bytes=MOST_BYTES) as file:
            return file.read()
    except UsageError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the content of a file. Readers, and a crash at any moment, see the old content or the new."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.saving")
    prepare(path, data, temporary)
    move(temporary, path)


def prepare(path: Path, data: bytes, temporary: Path) -> None:
    """Write and sync `data` to a temporary file with the permissions of `path`, which it will replace."""
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def move(temporary: Path, path: Path) -> None:
    """Move a prepared file to its place, durably."""
    try:
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # Windows cannot open a folder
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def append(path: Path, data: bytes) -> None:
    """Add bytes to the end of a file, durably, in one call: lines of several processes do not mix."""
    with open(path, "ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def locked(path: Path, timeout_s: float) -> Generator[None]:
    """Hold the lock of the file `path`, which stays, empty; the system frees that of a process that dies.

    PlaybookBusy when another process keeps it for `timeout_s`; OSError where it cannot be written.
    """
    from filelock import FileLock, Timeout

    with open(path, "ab"):  # the lock would try again until its time is up
        pass
    lock = FileLock(path)
    try:
        lock.acquire(timeout=timeout_s, poll_interval=0.005)
    except Timeout:
        raise PlaybookBusy(f"{path} is locked by another process for {timeout_s:g} s; try again") from None
    try:
        yield
    finally:
        lock.release()
