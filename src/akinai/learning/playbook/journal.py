"""A playbook's journal: an append-only file with one change a line, each a patch with its reason and evidence."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from pydantic import TypeAdapter, ValidationError

from akinai.core.canonical import Json, JsonRecord, keepable
from akinai.core.errors import UnknownName
from akinai.learning.playbook.atomic import append
from akinai.learning.playbook.bullets import Bullet, Playbook, Processed
from akinai.learning.playbook.errors import CorruptPlaybook
from akinai.learning.playbook.formats import parse
from akinai.learning.playbook.patches import apply_patch, bullets_put

ChangeKind: TypeAlias = Literal[
    "begin", "sections", "learn", "delta", "edit", "import", "dedup", "prune", "refine", "restore", "rollback",
    "recover",
]  # fmt: skip
"""Why a playbook changed; "learn" is the beginning of a learning, "edit" is a change that was made outside Akinai."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode
_NOTHING: Mapping[str, Any] = {}
_BLANK = Playbook().processed


@dataclass(frozen=True, slots=True)
class Change(JsonRecord):
    """One line of the journal: what changed, why, and on what evidence."""

    n: int
    """1-based line of the journal. Point n is the playbook after this change, point 0 the empty playbook."""
    at: str
    """ISO 8601 in UTC."""
    kind: ChangeKind
    id: str = ""
    """The delta's id; empty for other kinds."""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    to: int | None = None
    """The point that a rollback went back to."""
    delta: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    """The delta as it was asked for: operations and taggings with their own reasons."""
    refused: tuple[Mapping[str, Any], ...] = ()
    """The refusals of the delta: place, code and text."""
    counted: tuple[tuple[str, str], ...] = ()
    """The (task, bullet id) pairs that were counted."""
    patch: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    before: str = ""
    """SHA-256 of the playbook's file before the change; empty when there was none."""
    after: str = ""

    @property
    def put(self) -> tuple[Bullet, ...]:
        """The bullets that the change added or changed, as they are after it."""
        return bullets_put(self.patch, f"line {self.n} of the journal")

    @property
    def removed_ids(self) -> tuple[str, ...]:
        """The ids of the bullets that the change removed."""
        return tuple(map(str, self.patch.get("removed", ())))

    def line(self) -> bytes:
        """The change as a line of the journal, without empty fields."""
        filled = {name: value for name, value in self.to_json().items() if value not in ("", None, [], {})}
        # Text that was refused may not be encodable; it is replaced by a mark.
        return keepable(_encode(filled)).encode() + b"\n"


_CHANGE = TypeAdapter(Change)


class Journal:
    """The file of changes. Reading needs no lock: an incomplete last line is ignored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last: Change | None = None
        """The last change that `catch_up` saw."""
        self._processed_after = [_BLANK]
        self._size = 0
        self._inode = 0

    @property
    def points(self) -> int:
        """Number of changes that `catch_up` saw."""
        return len(self._processed_after) - 1

    @property
    def processed(self) -> Processed:
        """The deltas and tags that cannot be applied again after the last change that `catch_up` saw."""
        return self._processed_after[-1]

    def catch_up(self) -> None:
        """Read what other processes added, and remove a line that a crash left incomplete. Needs the lock."""
        try:
            with open(self.path, "rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._size:
                    self._forget(status.st_ino)
                file.seek(self._size)
                data = file.read()
        except FileNotFoundError:
            self._forget(0)
            return
        whole = data[: data.rfind(b"\n") + 1]
        for change in list(self._parsed(whole, len(self._processed_after))):
            self._remember(change)
        self._size += len(whole)
        if len(whole) < len(data):
            os.truncate(self.path, self._size)

    def append(self, change: Change) -> None:
        """Add a line durably; a failure adds nothing. Needs the lock, after `catch_up`."""
        line = change.line()
        try:
            append(self.path, line)
            self._inode = os.stat(self.path).st_ino
        except OSError:
            self._cut()
            raise
        self._remember(change)
        self._size += len(line)

    def undo_append(self) -> None:
        """Undo the last `append` after the save that it belongs to failed; the journal is read anew."""
        assert self.last is not None
        self._size -= len(self.last.line())
        self._cut()
        self._forget(0)

    def changes(self) -> Iterator[Change]:
        """Every complete line, first to last. CorruptPlaybook names a line that cannot be read."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        yield from self._parsed(data[: data.rfind(b"\n") + 1], 1)

    def states(self) -> Iterator[tuple[Change, Playbook]]:
        """Every change with the playbook after it; CorruptPlaybook as for `changes`."""
        playbook, states = Playbook(), [_BLANK]
        for change in self.changes():
            try:
                playbook = apply_patch(playbook, change.patch, self.path.name)
            except (KeyError, TypeError, ValueError, AttributeError, UnknownName) as error:
                reason = f"the patch does not fit ({error!r})"
                raise CorruptPlaybook(self.path.name, f"line {change.n}", reason) from error
            states.append(_next_processed(states, change))
            yield change, replace(playbook, processed=states[-1])

    def _parsed(self, data: bytes, first: int) -> Iterator[Change]:
        file = self.path.name
        for n, line in enumerate(data.split(b"\n")[:-1], first):
            location = f"line {n}"
            try:
                change = _CHANGE.validate_python({"at": "", **cast("dict[str, Json]", parse(line.decode(), file))})
            except (UnicodeDecodeError, CorruptPlaybook, TypeError, ValidationError) as error:
                why = " ".join(str(error).split())
                raise CorruptPlaybook(file, location, f"no change here ({why:.300})") from error
            if change.n != n or not 0 <= (change.to or 0) < n:
                raise CorruptPlaybook(file, location, f"no change numbered {n} here")
            yield change

    def _cut(self) -> None:
        with suppress(OSError):  # the disk that failed may refuse this too; the next start finishes what is left
            os.truncate(self.path, self._size)

    def _remember(self, change: Change) -> None:
        self.last = change
        self._processed_after.append(_next_processed(self._processed_after, change))

    def _forget(self, inode: int) -> None:
        self.last, self._processed_after, self._size, self._inode = None, [_BLANK], 0, inode


def _next_processed(states: Sequence[Processed], change: Change) -> Processed:
    """The record after a change. A rollback restores the earlier one, so that deltas can be applied again."""
    if change.to is not None:
        return states[change.to]
    last = states[-1]
    applied = last.deltas.set(change.id, None) if change.id else last.deltas
    return Processed(applied, last.tags.update(dict.fromkeys(change.counted)) if change.counted else last.tags)
