"""A playbook on disk: `<name>.json`, its journal beside it, and every change made whole, by one process at a time.

A save writes and syncs the new file under another name, adds the change to the journal, and moves the file into its
place. Killed before the second step it has not happened; killed after it, the next change finishes it.
"""

import shutil
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Protocol

from akinai.core.errors import AkinaiError, UnknownName, UsageError
from akinai.learning.deltas import BulletTag, Delta, Refusal, apply_delta
from akinai.learning.errors import CorruptPlaybook, PlaybookError
from akinai.learning.files import locked, move, prepare, sha256, write_whole
from akinai.learning.formats import decoded, dumps, loads
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
        self._digest = ""

    def exists(self) -> bool:
        return self.path.exists()

    def load(self) -> Playbook:
        """The playbook as the file has it; what its deltas used up is known to `commit` alone.

        UsageError when there is none, CorruptPlaybook naming the place at fault, NewerPlaybook for a newer schema.
        """
        data = self._read()
        if data is None:
            raise self._missing()
        return self._parsed(data)

    def begin(self, sections: Iterable[Section] = (), *, reason: str = "") -> Saved:
        """Make the playbook with these sections, or add to an existing one those that it has not."""
        with self._locked(create=True):
            before = self._current(create=True)
            kind: ChangeKind = "sections" if self._journal.last else "begin"
            return self._save(Change(0, "", kind, reason=reason), before, before.with_sections(sections))

    def commit(self, delta: Delta) -> Saved:
        """Apply a delta and write it to the journal; one whose id is there already does nothing."""
        with self._locked():
            before = self._current()
            if delta.id and delta.id in before.memory.applied:
                return Saved(before, self._journal.points, repeated=True)
            after, refusals = apply_delta(before, delta)
            old, new = before.memory.counted, after.memory.counted
            asked = Change(
                *(0, "", "delta", delta.id, delta.reason, delta.evidence),
                delta=delta.to_json(),
                refused=tuple(refusal.to_json() for refusal in refusals),
                counted=tuple(pair for pair in _pairs(delta) if pair in new and pair not in old),
            )
            return replace(self._save(asked, before, after), refusals=refusals)

    def change(self, kind: ChangeKind, edit: Callable[[Playbook], Edited]) -> Saved:
        """Replace the playbook by what `edit` makes of its newest version; nothing is written when that is equal.

        The number for the next id never falls, whatever `edit` says. An "import" makes a playbook that is not there.
        """
        create = kind == "import"
        with self._locked(create=create):
            before = self._current(create=create)
            edited = edit(before)
            asked = Change(0, "", kind, reason=edited.reason, evidence=tuple(edited.evidence))
            return self._save(asked, before, edited.playbook)

    def history(self) -> list[Change]:
        """Every change, first to last."""
        return list(self._journal.changes())

    def at(self, n: int) -> Playbook:
        """The playbook after change `n` of the journal, 0 the empty one. UsageError for a point that is not there."""
        return self._states_at(n)[n]

    def diff(self, a: int, b: int) -> Difference:
        """What changed from point `a` to point `b` of the journal."""
        states = self._states_at(a, b)
        return difference(states[a], states[b])

    def rollback(self, n: int, *, reason: str = "") -> Saved:
        """Make the playbook what it was at point `n`, by a change of its own.

        Ids stay used, and what the undone deltas counted is forgotten: they can be applied anew.
        """
        with self._locked():
            before = self._current()
            after = replace(self.at(n), updated_at=before.updated_at)
            return self._save(Change(0, "", "rollback", reason=reason, to=n), before, after)

    def restore(self, ids: Sequence[str], *, reason: str = "") -> Saved:
        """Bring bullets back as they last were, under the ids they had, at the end of their sections.

        UsageError for one that is there, UnknownName for one that never was; then none is restored.
        """
        with self._locked():
            before = self._current()
            if there := next((id for id in ids if id in before), None):
                raise UsageError(f"bullet {there!r} was to be restored and is in the playbook; leave it out")
            last = {bullet.id: bullet for change in self._journal.changes() for bullet in change.put}
            if unknown := next((id for id in ids if id not in last), None):
                raise UnknownName("bullet in the journal", unknown, last)
            sections = before.with_sections(Section(last[id].section) for id in ids)
            asked = Change(0, "", "restore", reason=reason)
            return self._save(asked, before, sections.with_bullets({id: last[id] for id in ids}))

    def recover(self) -> Recovered:
        """Make the files readable again: the playbook from the journal, or a journal that goes on from the playbook.

        What cannot be read is kept beside it, numbered. Nothing happens when both can be read. PlaybookError when
        there is nothing to recover from.
        """
        with self._locked():
            good, broken_journal = self._good_changes()
            state = good[-1][1] if good else Playbook()
            data = self._read()
            try:
                found = None if data is None else self._parsed(data)
            except CorruptPlaybook:
                found = None
            if found is None and not good:
                raise PlaybookError(
                    f"{self.path.name} cannot be read and has no journal to recover from; mend it by hand"
                )
            if found is not None and not broken_journal:
                return Recovered(found, ())
            kept = [_keep(self.path)] if data is not None and found is None else []
            if broken_journal:
                kept.append(_keep(self.journal_path))
                write_whole(self.journal_path, b"".join(change.line() for change, _ in good))
            self._journal.catch_up()
            self._digest = "" if data is None else sha256(data)
            reason = f"kept {', '.join(path.name for path in kept)}" if kept else "the file was gone"
            saved = self._save(Change(0, "", "recover", reason=reason), state, found or state, rewrite=True)
            return Recovered(saved.playbook, tuple(kept))

    @contextmanager
    def _locked(self, *, create: bool = False) -> Generator[None]:
        """The lock; a name that was mistyped leaves no folder and no lock behind."""
        if not create and not self.path.exists() and not self.journal_path.exists():
            raise self._missing()
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
                self._known = digest, loads(decoded(data, self.path.name), self.path.name)
            except CorruptPlaybook as error:
                raise CorruptPlaybook(error.file, error.place, error.why, self._offer()) from error
        return self._known[1]

    def _offer(self) -> str:
        """What the journal could give back, in words; empty when it could not."""
        good, _ = self._good_changes()
        if not good:
            return ""
        last = good[-1][0]
        return f"its journal has the last good state, change {last.n} of {last.at}: recover it; the file is kept"

    def _good_changes(self) -> tuple[list[tuple[Change, Playbook]], bool]:
        """The changes that can be read with their states, and whether one follows that cannot."""
        good: list[tuple[Change, Playbook]] = []
        try:
            good.extend(self._journal.states())
        except CorruptPlaybook:
            return good, True
        return good, False

    def _current(self, *, create: bool = False) -> Playbook:
        """The newest playbook, under the lock: an interrupted save finished, an edit by hand taken into the journal."""
        self._journal.catch_up()
        data, last = self._read(), self._journal.last
        self._digest = "" if data is None else sha256(data)
        if data is None and last is None and create:
            return Playbook()
        if data is None and (last is None or last.before):
            raise self._missing(self._journal.points)
        playbook = Playbook() if data is None else self._parsed(data)
        if last is None:
            found = Change(1, self._now(), "begin", reason="found without a journal", before=self._digest)
            self._journal.append(replace(found, patch=patch_between(Playbook(), playbook), after=self._digest))
        elif self._digest == last.after:
            pass
        elif self._digest == last.before:
            playbook = patched(playbook, last.patch, self.journal_path.name)
            self._replace_file(playbook)
        else:
            playbook = self._taken_in(playbook, last)
        return replace(playbook, memory=self._journal.memory)

    def _taken_in(self, edited: Playbook, last: Change) -> Playbook:
        """An edit by hand as a change of the journal. It may not make ids repeat."""
        known = self.at(last.n)
        safe = replace(edited, next_id=max(edited.next_id, known.next_id))
        after = self._digest if safe == edited else sha256(dumps(safe).encode())
        edit = Change(
            *(last.n + 1, self._now(), "edit"), reason="the file was changed outside Akinai", before=last.after
        )
        self._journal.append(replace(edit, patch=patch_between(known, safe), after=after))
        if safe != edited:
            self._replace_file(safe)
        return safe

    def _save(self, asked: Change, before: Playbook, after: Playbook, *, rewrite: bool = False) -> Saved:
        """Write a change to the journal and the file, whole or not at all. A change that is none is not written."""
        at = self._now()
        after = replace(after, next_id=max(before.next_id, after.next_id))
        changed = after != before
        begun = not self._digest
        if not changed and not begun and not rewrite and asked.kind not in ("delta", "rollback"):
            return Saved(before, self._journal.points)
        if changed or begun:
            after = replace(after, updated_at=at, created_at=after.created_at or at)
        patch = patch_between(before, after)
        change = replace(asked, n=self._journal.points + 1, at=at, patch=patch, before=self._digest)
        if changed or begun or rewrite:
            self._write(change, after)
        else:
            self._journal.append(replace(change, after=self._digest))
        return Saved(replace(after, memory=self._journal.memory), self._journal.points)

    def _write(self, change: Change, after: Playbook) -> None:
        """The three steps of a save. One that fails leaves journal and file as they were."""
        data = dumps(after).encode()
        digest = sha256(data)
        try:
            prepare(self.path, data, self._temporary)
            self._journal.append(replace(change, after=digest))
        except OSError as error:
            self._temporary.unlink(missing_ok=True)
            raise self._unsaved(error) from error
        try:
            move(self._temporary, self.path)
        except OSError as error:
            self._journal.take_back()
            raise self._unsaved(error) from error
        self._known, self._digest = (digest, after), digest

    def _replace_file(self, playbook: Playbook) -> None:
        """Write what the journal has already."""
        data = dumps(playbook).encode()
        prepare(self.path, data, self._temporary)
        move(self._temporary, self.path)
        self._known, self._digest = (sha256(data), playbook), sha256(data)

    def _states_at(self, *points: int) -> dict[int, Playbook]:
        states, last = {0: Playbook()}, 0
        for change, playbook in self._journal.states():
            last = change.n
            if last in points:
                states[last] = playbook
        if strange := next((n for n in points if n not in states), None):
            raise UsageError(f"point {strange} of {self.path.name} was asked for; its journal has points 0 to {last}")
        return states

    def _missing(self, points: int = 0) -> AkinaiError:
        if points:
            return PlaybookError(
                f"{self.path} is gone and its journal has {points} changes; "
                "recover it, or move the journal away to begin anew"
            )
        return UsageError(f"no playbook {str(self.path)!r}; begin it there, or name one that is there")

    def _unsaved(self, error: OSError) -> PlaybookError:
        return PlaybookError(f"{self.path} could not be saved ({error}); it is as it was, mend that and try again")


def _pairs(delta: Delta) -> Iterable[tuple[str, str]]:
    """The (task, bullet id) pairs that a delta would count, each once."""
    tags = ((tagging.task, tag) for tagging in delta.taggings for tag in tagging.tags)
    return dict.fromkeys((task, tag.id) for task, tag in tags if isinstance(tag, BulletTag))


def _keep(path: Path) -> Path:
    """A copy of a file that cannot be read, under a name of its own."""
    kept = next(name for number in count(1) if not (name := path.with_name(f"{path.name}.corrupt-{number}")).exists())
    shutil.copy2(path, kept)
    return kept
