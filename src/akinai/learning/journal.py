"""A playbook's journal: a file that only grows, a change a line, each a patch with its reason and evidence."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from akinai.core.canonical import Json, keepable
from akinai.learning.errors import CorruptPlaybook
from akinai.learning.formats import parse
from akinai.learning.patches import bullets_put, patched
from akinai.learning.playbook import Bullet, Memory, Playbook

ChangeKind: TypeAlias = Literal[
    "begin", "sections", "delta", "edit", "import", "dedup", "prune", "restore", "rollback", "recover"
]
"""Why a playbook changed: begun, sections added, a delta, edited by hand outside Akinai, and so on by their names."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode
_NOTHING: Mapping[str, Json] = {}
_BLANK = Playbook().memory


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the journal: what changed, why, and on what evidence."""

    n: int
    """1-based place in the journal; the playbook after it is the point n, and point 0 is the empty playbook."""
    at: str
    """ISO 8601 in UTC."""
    kind: ChangeKind
    id: str = ""
    """The delta's id; empty for other kinds."""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    to: int | None = None
    """The point that a rollback went back to."""
    delta: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    """What was asked, word for word: operations and taggings with their own reasons."""
    refused: tuple[Mapping[str, Json], ...] = ()
    """The refusals of the delta: place, code and text."""
    counted: tuple[tuple[str, str], ...] = ()
    """The (task, bullet id) pairs that moved a counter."""
    patch: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    before: str = ""
    """SHA-256 of the playbook's file before the change; empty when there was none."""
    after: str = ""

    @property
    def put(self) -> tuple[Bullet, ...]:
        """The bullets that it added or changed, as it left them."""
        return bullets_put(self.patch, f"line {self.n} of the journal")

    @property
    def removed_ids(self) -> tuple[str, ...]:
        """The bullets that it removed."""
        return tuple(str(id) for id in _list(self.patch, "removed"))

    def line(self) -> bytes:
        """The change as the journal holds it; fields that say nothing are left out."""
        told: dict[str, Json] = {
            "n": self.n,
            "at": self.at,
            "kind": self.kind,
            "id": self.id,
            "reason": self.reason,
            "evidence": [*self.evidence],
            "to": self.to,
            "delta": self.delta,
            "refused": [*self.refused],
            "counted": [[task, id] for task, id in self.counted],
            "patch": self.patch,
            "before": self.before,
            "after": self.after,
        }
        kept = {name: value for name, value in told.items() if value not in ("", None, [], {})}
        # What was refused for its text is told with a mark in its place.
        return keepable(_encode(kept)).encode() + b"\n"


class Journal:
    """The file of changes. Reading needs no lock: a line that is still being written is not there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last: Change | None = None
        """The last change that `catch_up` saw."""
        self._memories = [_BLANK]
        self._size = 0
        self._inode = 0
        self._previous: Change | None = None

    @property
    def points(self) -> int:
        """How many changes `catch_up` saw."""
        return len(self._memories) - 1

    @property
    def memory(self) -> Memory:
        """What is used up after the last change that `catch_up` saw."""
        return self._memories[-1]

    def catch_up(self) -> None:
        """Read what other processes added, and cut off a line that a crash left half written. Needs the lock."""
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
        for change in list(self._parsed(whole, len(self._memories))):
            self._remember(change)
        self._size += len(whole)
        if len(whole) < len(data):
            os.truncate(self.path, self._size)

    def append(self, change: Change) -> None:
        """Add a line for good. When that fails nothing is added. Needs the lock, after `catch_up`."""
        line = change.line()
        try:
            with open(self.path, "ab") as file:
                self._inode = os.fstat(file.fileno()).st_ino
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self._cut()
            raise
        self._remember(change)
        self._size += len(line)

    def take_back(self) -> None:
        """Undo the last `append`, once: the save that it announced has failed."""
        assert self.last is not None
        self._size -= len(self.last.line())
        self._memories.pop()
        self.last = self._previous
        self._cut()

    def changes(self) -> Iterator[Change]:
        """Every whole line, first to last. CorruptPlaybook names a line that cannot be read."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        yield from self._parsed(data[: data.rfind(b"\n") + 1], 1)

    def states(self) -> Iterator[tuple[Change, Playbook]]:
        """Every change with the playbook after it; CorruptPlaybook as for `changes`."""
        playbook, memories = Playbook(), [_BLANK]
        for change in self.changes():
            place = f"line {change.n}"
            try:
                playbook = patched(playbook, change.patch, self.path.name)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise CorruptPlaybook(self.path.name, place, f"the patch does not fit ({error!r})") from error
            memories.append(_next_memory(memories, change))
            yield change, replace(playbook, memory=memories[-1])

    def _parsed(self, data: bytes, first: int) -> Iterator[Change]:
        for n, line in enumerate(data.split(b"\n")[:-1], first):
            yield _read_change(line, self.path.name, n)

    def _cut(self) -> None:
        with suppress(OSError):  # the disk that failed may refuse this too; the next start finishes what is left
            os.truncate(self.path, self._size)

    def _remember(self, change: Change) -> None:
        self._previous, self.last = self.last, change
        self._memories.append(_next_memory(self._memories, change))

    def _forget(self, inode: int) -> None:
        self.last, self._memories, self._size, self._inode = None, [_BLANK], 0, inode


def _next_memory(memories: Sequence[Memory], change: Change) -> Memory:
    """A rollback goes back in memory too, so that what it undid can be learned again."""
    if change.to is not None:
        return memories[change.to]
    last = memories[-1]
    applied = last.applied.insert(change.id) if change.id else last.applied
    return Memory(applied, last.counted.update(change.counted) if change.counted else last.counted)


def _read_change(line: bytes, file: str, n: int) -> Change:
    place = f"line {n}"
    try:
        told = parse(line.decode(), file)
    except (UnicodeDecodeError, CorruptPlaybook) as error:
        raise CorruptPlaybook(file, place, f"no change here ({error})") from error
    if not isinstance(told, Mapping) or told.get("n") != n or told.get("kind") not in get_args(ChangeKind):
        raise CorruptPlaybook(file, place, f"no change numbered {n} here")
    try:
        return Change(
            n,
            str(told.get("at", "")),
            cast("ChangeKind", told["kind"]),
            str(told.get("id", "")),
            str(told.get("reason", "")),
            tuple(str(item) for item in _list(told, "evidence")),
            _point(told.get("to"), n),
            _mapping(told.get("delta", {})),
            tuple(_mapping(item) for item in _list(told, "refused")),
            tuple((str(task), str(id)) for task, id in cast("Sequence[Sequence[Json]]", _list(told, "counted"))),
            _mapping(told.get("patch", {})),
            str(told.get("before", "")),
            str(told.get("after", "")),
        )
    except (TypeError, ValueError) as error:
        raise CorruptPlaybook(file, place, f"a change with a wrong field ({error})") from error


def _point(value: Json, n: int) -> int | None:
    if value is None or (type(value) is int and 0 <= value < n):
        return value
    raise ValueError(f"to is {value!r:.40}")


def _list(told: Mapping[str, Json], name: str) -> Sequence[Json]:
    value = told.get(name, ())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    raise TypeError(f"{name} is {value!r:.40}")


def _mapping(value: Json) -> Mapping[str, Json]:
    if isinstance(value, Mapping):
        return value
    raise TypeError(f"{value!r:.40} where an object belongs")
