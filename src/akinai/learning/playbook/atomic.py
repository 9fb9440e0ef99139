"""Files that are replaced atomically, and the lock that lets one process at a time do it."""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from akinai.core.errors import UsageError, why_unreadable
from akinai.core.untrusted.documents import DocumentError, decode_text, why_unfit
from akinai.learning.playbook.errors import PlaybookBusy

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.001, 0.05


def sha256(data: bytes) -> str:
    """The SHA-256 of some bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def read_bounded(path: Path) -> bytes:
    """A file's bytes. OSError where it cannot be read; DocumentError for a folder, a pipe, or one too large."""
    info = os.stat(path)
    if why := why_unfit(info.st_mode, info.st_size):
        raise DocumentError(why)
    return path.read_bytes()


def read_text(path: Path) -> str:
    """A file's text. UsageError says why it cannot be read."""
    try:
        return decode_text(read_bounded(path))
    except (OSError, DocumentError) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {why_unreadable(error)}") from error


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
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, where the system can sync folders."""
    with suppress(OSError):  # Windows cannot open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def locked(path: Path, timeout_s: float) -> Generator[None]:
    """Hold the lock of the file `path`. PlaybookBusy when another process keeps it for `timeout_s`.

    With `fcntl` the system frees the lock of a process that dies. Elsewhere the lock is the file `<path>.held`, which a
    killed process leaves behind; the error then says what to delete.
    """
    with by_flock(path, timeout_s) if fcntl else by_creation(path, timeout_s):
        yield


@contextmanager
def by_flock(path: Path, timeout_s: float) -> Generator[None]:
    """The lock by `fcntl.flock`. The file stays, empty."""
    with open(path, "ab") as file:
        _wait(lambda: _flocked(file), timeout_s, f"{path} is locked by another process for {timeout_s:g} s; try again")
        yield


@contextmanager
def by_creation(path: Path, timeout_s: float) -> Generator[None]:
    """The lock by exclusive creation of the file `<path>.held`, which works on every system."""
    held = path.with_name(path.name + ".held")
    stuck = f"{held} is there for {timeout_s:g} s; if no process with the number in it runs any more, delete the file"
    _wait(lambda: _created(held), timeout_s, stuck)
    try:
        yield
    finally:
        held.unlink()


def _flocked(file: IO[bytes]) -> bool:
    assert fcntl is not None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _created(held: Path) -> bool:
    try:
        handle = os.open(held, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except (FileExistsError, PermissionError):  # Windows raises the latter while another process deletes the file
        return False
    with open(handle, "wb") as file:
        file.write(str(os.getpid()).encode())
    return True


def _wait(taken: Callable[[], bool], timeout_s: float, otherwise: str) -> None:
    deadline, pause = time.monotonic() + timeout_s, _FIRST_WAIT_S
    while not taken():
        if time.monotonic() >= deadline:
            raise PlaybookBusy(otherwise)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_WAIT_S)
