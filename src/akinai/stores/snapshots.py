"""Snapshots: the state of a served run as lines in a file, so that a restart folds only the entries that came since.

They decide nothing and can be lost. One that is damaged, of another record or of other code is left alone.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from akinai.core.canonical import canonical
from akinai.core.stores import RunHeader, Store
from akinai.stores.memory import MemoryStore

LINES_PER_CHUNK = 500
PAUSE_S = 0.005
"""Pause of the writer between chunks, in which others work."""


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """The file of a run's snapshot: its lines, and their SHA-256."""

    path: Path

    @staticmethod
    def of(store: Store, header: RunHeader) -> "SnapshotFile | None":
        """The file for a run: beside a store that is a file, else in the user's folder for caches. None for a store
        that keeps nothing."""
        if isinstance(store, MemoryStore):
            return None
        path = getattr(store, "path", None)
        caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        folder = Path(caches, "akinai", "snapshots") if path is None else Path(f"{path}.snapshots")
        name = canonical([header.run_id, header.created_at, header.genesis.digest])
        return SnapshotFile(folder / hashlib.sha256(name.encode()).hexdigest()[:32])

    @property
    def _unfinished(self) -> Path:
        return self.path.with_suffix(".new")

    def write(self, lines: Iterable[str], hurried: Callable[[], bool] = lambda: False) -> None:
        """Replace the file at once, or not at all. It pauses for others unless it is hurried. OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._unfinished.unlink(missing_ok=True)
        digest, texts = hashlib.sha256(), iter(lines)
        try:
            with os.fdopen(os.open(self._unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                while chunk := "".join([f"{line}\n" for line in islice(texts, LINES_PER_CHUNK)]).encode():
                    digest.update(chunk)
                    file.write(chunk)
                    if not hurried():
                        time.sleep(PAUSE_S)
                file.write(digest.hexdigest().encode())
            self._unfinished.replace(self.path)
        except BaseException:
            self._unfinished.unlink(missing_ok=True)
            raise

    def read(self) -> Iterator[str]:
        """The lines; nothing where there is no whole file. Its digest is checked before the first. OSError."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            size = _checked_size(file)
            file.seek(0)
            while size > 0:
                line = file.readline()
                size -= len(line)
                yield line[:-1].decode()

    def remove(self) -> None:
        """Remove the file, and what an interrupted writer left of it."""
        for path in (self.path, self._unfinished):
            path.unlink(missing_ok=True)


def _checked_size(file: BinaryIO) -> int:
    """The bytes of head and lines; 0 unless their digest follows them."""
    size = file.seek(0, os.SEEK_END) - 2 * hashlib.sha256().digest_size
    if size <= 0:
        return 0
    file.seek(0)
    digest, rest = hashlib.sha256(), size
    while rest and (part := file.read(min(rest, 1 << 20))):
        digest.update(part)
        rest -= len(part)
    return size if file.read() == digest.hexdigest().encode() else 0
