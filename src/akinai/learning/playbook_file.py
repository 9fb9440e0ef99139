"""A playbook on disk: `<name>.json`, its journal beside it, and every change made whole, once, by one process at a time.

A save writes and syncs the new file under another name, adds the change to the journal, and moves the file into its
place. Killed before the second step it has not happened; killed after it, the next change finishes it.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from akinai.core.errors import UnknownName, UsageError
from akinai.learning.deltas import Delta, Refusal, apply_delta
from akinai.learning.errors import CorruptPlaybook, PlaybookError
from akinai.learning.files import locked, move, prepare, sha256, write_whole
from akinai.learning.formats import dumps, loads, read_bullet
from akinai.learning.journal import Change, ChangeKind, Journal
from akinai.learning.patches import Difference, difference, patch_between, patched
from akinai.learning.playbook import Playbook, Section

LOCK_TIMEOUT_S = 60.0
"""How long a change waits for other processes."""


class Edited(Protocol):
    """A changed playbook and why: what an edit gives back, `refine`'s results among them."""

    @property
    def playbook(self) -> Playbook: ...
    @property
    def reason(self) -> str: ...
    @property
    def evidence(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Edit:
    """The plainest `Edited`."""

    playbook: Playbook
    reason: str = ""
    evidence: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """The playbook after a change was asked for."""

    playbook: Playbook
    n: int
    """The journal's last point, 0 for an empty one."""
    refusals: tuple[Refusal, ...] = ()
    repeated: bool = False
    """The delta had been applied before, and nothing was done."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What `recover` found to do."""

    playbook: Playbook
    kept: tuple[Path, ...]
    """Where the files that could not be read are now; empty when all could."""


def utc_now() -> str:
    """The time as a playbook writes it: ISO 8601, UTC, whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class PlaybookFile:
    """A playbook on disk, shared by any number of processes.

    `load` reads without waiting and sees one whole version. Changes wait for each other (`PlaybookBusy` after
    `lock_timeout_s`) and are made on the newest version; one that fails leaves the file as it was. What somebody
    edited by hand becomes a change of its own at the next save. `now` is the clock, for tests and repeatable runs.
    """

    def __init__(
        self, path: Path | str, *, now: Callable[[], str] = utc_now, lock_timeout_s: float = LOCK_TIMEOUT_S
    ) -> None:
        self.path = Path(path).resolve()  # a link stays a link, and all its names share one lock
        stem = self.path.name.removesuffix(".json")
        self.journal_path = self.path.with_name(f"{stem}.journal.jsonl")
        self._lock_path = self.path.with_name(f".{stem}.lock")
        self._temporary = self.path.with_name(f".{self.path.name}.saving")
        self._now, self._lock_timeout_s = now, lock_timeout_s
        self._journal = Journal(self.journal_path)
        self._known: tuple[str, Playbook] | None = None

    def exists(self) -> bool:
        return self.path.exists()

    def load(self) -> Playbook:
        """The playbook as the file has it. UsageError when there is none, CorruptPlaybook naming the place at fault."""
        data = self._read()
        if data is None:
            raise self._missing()
        return self._parsed(data)

    def begin(self, sections: Iterable[Section] = (), *, reason: str = "") -> Saved:
        """Make the playbook with these sections, or add those that an existing one has not."""
        with self._locked():
            before = self._current(create=True)
            after = before.with_sections(sections)
            kind: ChangeKind = "sections" if self._journal.last or before.sections else "begin"
            if after == before and self.exists():
                return self._saved(before)
            return self._save(kind, before, after, reason=reason)

    def commit(self, delta: Delta) -> Saved:
        """Apply a delta and write it to the journal; one whose id is there already does nothing."""
        with self._locked():
            before = self._current()
            if delta.id and delta.id in before.applied:
                return replace(self._saved(before), repeated=True)
            after, refusals = apply_delta(before, delta, at=self._now())
            asked = Change(
                *(0, "", "delta", delta.id, delta.reason, delta.evidence),
                delta=delta.to_json(),
                refused=tuple(refusal.to_json() for refusal in refusals),
                counted=_newly_counted(before, after, delta),
            )
            return replace(self._write(asked, before, after), refusals=refusals)

    def change(self, kind: ChangeKind, edit: Callable[[Playbook], Edited]) -> Saved:
        """Replace the playbook by what `edit` makes of its newest version; nothing is written when that is equal.

        The number for the next id never falls, whatever `edit` says. An "import" makes a playbook that is not there.
        """
        with self._locked():
            before = self._current(create=kind == "import")
            edited = edit(before)
            return self._save(kind, before, edited.playbook, reason=edited.reason, evidence=edited.evidence)

    def history(self) -> list[Change]:
        """Every change, first to last."""
        return list(self._journal.changes())

    def at(self, n: int) -> Playbook:
        """The playbook after change `n` of the journal, 0 the empty one. UsageError for a point that is not there."""
        return self._states_at(n)[0]

    def diff(self, a: int, b: int) -> Difference:
        """What the playbook at point `b` has and the one at `a` has not, and the other way round."""
        return difference(*self._states_at(a, b))

    def rollback(self, n: int, *, reason: str = "") -> Saved:
        """Make the playbook what it was at point `n`, as a change of its own. Ids stay used; deltas can be applied anew."""
        with self._locked():
            before = self._current()
            return self._save("rollback", before, self.at(n), reason=reason, to=n)

    def restore(self, ids: Sequence[str], *, reason: str = "") -> Saved:
        """Bring bullets back as they last were, at the end of their sections, under the ids they had.

        UsageError for one that is there, UnknownName for one that never was; then none is restored.
        """
        with self._locked():
            before = self._current()
            if there := next((id for id in ids if id in before), None):
                raise UsageError(f"bullet {there!r} was to be restored and is in the playbook; leave it out")
            last = {
                bullet.id: bullet
                for change in self._journal.changes()
                for item in change.patch.get("put", ())  # pyright: ignore[reportGeneralTypeIssues, reportOptionalIterable, reportUnknownVariableType, reportUnknownMemberType] - a list where it is there
                for bullet in [read_bullet(item, self.journal_path.name, f"line {change.n} put.")]
            }
            if unknown := next((id for id in ids if id not in last), None):
                raise UnknownName("bullet in the journal", unknown, last)
            restored = {id: last[id] for id in ids}
            after = before.with_sections(Section(bullet.section) for bullet in restored.values())
            return self._save("restore", before, after.with_bullets(restored), reason=reason)

    def recover(self) -> Recovered:
        """Make the files readable again: the playbook from the journal, or a journal that goes on from the playbook.

        What cannot be read is kept beside it, numbered. Nothing happens when both can be read.
        """
        with self._locked():
            return self._recovered()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._lock_path, self._lock_timeout_s):
            yield

    def _read(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None

    def _parsed(self, data: bytes) -> Playbook:
        digest = sha256(data)
        if self._known is None or self._known[0] != digest:
            try:
                self._known = digest, loads(_decoded(data, self.path.name), self.path.name)
            except CorruptPlaybook as error:
                raise CorruptPlaybook(error.file, error.place, error.why, self._offer()) from error
        return self._known[1]

    def _offer(self) -> str:
        """The last good state that the journal could give back."""
        try:
            last = next(reversed(self.history()), None)
        except PlaybookError:
            return ""
        if last is None:
            return ""
        return f"its journal has the last good state, change {last.n} of {last.at}: recover it; the file is kept"
