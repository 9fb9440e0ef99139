"""A playbook on disk: `<name>.json` and its journal. Changes are atomic, and one process makes them at a time.

A save writes and syncs the new file under a temporary name, appends the change to the journal, and moves the file to
its place. A crash before the second step undoes the save; after a later crash the next change completes it.
"""

import shutil
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from akinai.core.errors import AkinaiError, UnknownName, UsageError, why_unreadable
from akinai.learning.playbook.atomic import locked, move, prepare, read_playbook_file, sha256, write_atomically
from akinai.learning.playbook.bullets import Playbook, Section
from akinai.learning.playbook.deltas import BulletTag, Delta, Edit, Refusal, apply_delta
from akinai.learning.playbook.errors import CorruptPlaybook, PlaybookError
from akinai.learning.playbook.formats import TEXT_ENDINGS, YAML_ENDINGS, dumps, dumps_yaml, ending_of, loads_file
from akinai.learning.playbook.journal import Change, ChangeKind, Journal
from akinai.learning.playbook.patches import Difference, apply_patch, difference, make_patch

LOCK_TIMEOUT_S = 60.0
"""Time that a change waits for other processes."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The playbook after a requested change."""

    playbook: Playbook
    n: int
    """The last point of the journal, 0 for an empty journal."""
    refusals: tuple[Refusal, ...] = ()
    repeated: bool = False
    """Whether the delta was applied before, so that nothing was done."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """The result of `recover`."""

    playbook: Playbook
    copies: tuple[Path, ...]
    """Copies of the files that could not be read."""


def utc_now() -> str:
    """The current time in ISO 8601, UTC, whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class PlaybookFile:
    """A playbook on disk, shared by any number of processes.

    `load` reads one whole version without waiting. Changes wait for each other (PlaybookBusy after `lock_timeout_s`)
    and apply to the newest version; a change that fails leaves the file as it was. An edit by hand becomes a change of
    its own at the next save. `now` is the clock, for tests and repeatable runs.
    """

    def __init__(
        self, path: Path | str, *, now: Callable[[], str] = utc_now, lock_timeout_s: float = LOCK_TIMEOUT_S
    ) -> None:
        self.path = Path(path).resolve()  # a link stays a link, and all its names share one lock
        self.ending = ending_of(self.path)
        stem = self.path.name.removesuffix(".json")
        self.journal_path = self.path.with_name(f"{stem}.journal.jsonl")
        self._lock_path = self.path.with_name(f".{stem}.lock")
        self._temporary = self.path.with_name(f".{self.path.name}.saving")
        self._now, self._lock_timeout_s = now, lock_timeout_s
        self._journal = Journal(self.journal_path)
        self._cached: tuple[str, Playbook] | None = None
        self._digest = ""

    def exists(self) -> bool:
        return self.path.exists()

    def load(self) -> Playbook:
        """The playbook in the file, without the record of processed deltas, which only `commit` needs.

        UsageError when there is no file, CorruptPlaybook naming the place at fault, NewerPlaybook for a newer schema.
        """
        data = read_playbook_file(self.path)
        if data is None:
            raise self._missing()
        return self._parsed(data)

    def begin(
        self,
        sections: Iterable[Section] = (),
        *,
        reason: str = "",
        fresh: bool = False,
        edit: Callable[[Playbook], Playbook] | None = None,
    ) -> Saved:
        """Create the playbook with these sections, or add missing sections to an existing one.

        `fresh` first removes everything that it held; a rollback restores that. `edit` changes the result at the
        beginning of a learning.
        """
        with self._locked(create=True):
            before = self._current(create=True)
            after = (Playbook() if fresh else before).with_sections(sections)
            kind: ChangeKind = "learn" if edit else "sections"
            if fresh or not self._journal.last:
                kind = "begin"
            return self._save(Change(0, "", kind, reason=reason), before, edit(after) if edit else after)

    def commit(self, delta: Delta) -> Saved:
        """Apply a delta and write it to the journal. A delta whose id is there already does nothing."""
        with self._locked():
            before = self._current()
            if delta.id and delta.id in before.processed.deltas:
                return Saved(before, self._journal.points, repeated=True)
            after, refusals = apply_delta(before, delta)
            old, new = before.processed.tags, after.processed.tags
            tags = ((tagging.task, tag) for tagging in delta.taggings for tag in tagging.tags)
            pairs = dict.fromkeys((task, tag.id) for task, tag in tags if isinstance(tag, BulletTag))
            requested = Change(
                *(0, "", "delta", delta.id, delta.reason, delta.evidence),
                delta=delta.to_json(),
                refused=tuple(refusal.to_json() for refusal in refusals),
                counted=tuple(pair for pair in pairs if pair in new and pair not in old),
            )
            return replace(self._save(requested, before, after), refusals=refusals)

    def change(self, kind: ChangeKind, edit: Callable[[Playbook], Edit]) -> Saved:
        """Replace the newest playbook by the result of `edit`; an equal result is not written.

        The number of the next id never decreases, whatever `edit` returns. An "import" creates a missing playbook.
        """
        create = kind == "import"
        with self._locked(create=create):
            before = self._current(create=create)
            edited = edit(before)
            requested = Change(0, "", kind, reason=edited.reason, evidence=tuple(edited.evidence))
            return self._save(requested, before, edited.playbook)

    def history(self) -> list[Change]:
        """Every change, first to last."""
        return list(self._journal.changes())

    def at(self, n: int) -> Playbook:
        """The playbook after change `n` of the journal; 0 is the empty playbook. UsageError for an unknown point."""
        return self._states_at(n)[n]

    def diff(self, a: int, b: int) -> Difference:
        """The difference between points `a` and `b` of the journal."""
        states = self._states_at(a, b)
        return difference(states[a], states[b])

    def rollback(self, n: int, *, reason: str = "") -> Saved:
        """Restore the playbook of point `n`, as a change of its own.

        Ids are not reused. Deltas that are undone can be applied again.
        """
        with self._locked():
            before = self._current()
            after = replace(self.at(n), updated_at=before.updated_at)
            return self._save(Change(0, "", "rollback", reason=reason, to=n), before, after)

    def restore(self, ids: Sequence[str], *, reason: str = "") -> Saved:
        """Restore bullets in their last version, under their ids, at the end of their sections.

        UsageError for an existing bullet, UnknownName for an unknown id; then none is restored.
        """

        def restored(before: Playbook) -> Edit:
            if existing := next((id for id in ids if id in before), None):
                raise UsageError(f"bullet {existing!r} was to be restored and is in the playbook; leave it out")
            last = {bullet.id: bullet for change in self._journal.changes() for bullet in change.put}
            if unknown := next((id for id in ids if id not in last), None):
                raise UnknownName("bullet in the journal", unknown, last)
            sections = before.with_sections(Section(last[id].section) for id in ids)
            return Edit(sections.with_bullets({id: last[id] for id in ids}), reason)

        return self.change("restore", restored)

    def recover(self) -> Recovered:
        """Repair the files: the playbook from the journal, or a journal that continues from the playbook.

        Unreadable files are copied under a numbered name. Nothing happens when both files can be read. PlaybookError
        when there is nothing to recover from.
        """
        with self._locked():
            good, broken_journal = self._good_changes()
            state = good[-1][1] if good else Playbook()
            data = read_playbook_file(self.path)
            try:
                readable = None if data is None else self._parsed(data)
            except CorruptPlaybook:
                readable = None
            if readable is None and not good:
                raise PlaybookError(
                    f"{self.path.name} cannot be read and has no journal to recover from; mend it by hand"
                )
            if readable is not None and not broken_journal:
                return Recovered(readable, ())
            copies = [_copy_aside(self.path)] if data is not None and readable is None else []
            if broken_journal:
                copies.append(_copy_aside(self.journal_path))
                write_atomically(self.journal_path, b"".join(change.line() for change, _ in good))
            self._journal.catch_up()
            self._digest = "" if data is None else sha256(data)
            reason = f"kept {', '.join(path.name for path in copies)}" if copies else "the file was gone"
            saved = self._save(Change(0, "", "recover", reason=reason), state, readable or state, rewrite=True)
            return Recovered(saved.playbook, tuple(copies))

    @contextmanager
    def _locked(self, *, create: bool = False) -> Generator[None]:
        """The lock. A mistyped name creates no folder and no lock. UsageError for a form that holds too little."""
        if self.ending in TEXT_ENDINGS:
            raise UsageError(
                f"{self.path.name!r} is a text, which cannot hold all that a change writes; "
                f"make a playbook of it: 'akinai playbook import {self.path.stem} {self.path.name}'"
            )
        if not create and not self.path.exists() and not self.journal_path.exists():
            raise self._missing()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self._lock_path, self._lock_timeout_s):
                yield
        except OSError as error:
            why = f"{why_unreadable(error)}, in a folder where you may write"
            raise UsageError(
                f"the playbook {self.path.name!r} cannot be written in {str(self.path.parent)!r}: {why}"
            ) from error

    def _parsed(self, data: bytes) -> Playbook:
        digest = sha256(data)
        if self._cached is None or self._cached[0] != digest:
            try:
                self._cached = digest, loads_file(data, self.path.name, self.ending)
            except CorruptPlaybook as error:
                good, _ = self._good_changes()
                if not good:
                    raise
                last = good[-1][0]
                offer = (
                    f"its journal has the last good state, change {last.n} of {last.at}: recover it; the file is kept"
                )
                raise CorruptPlaybook(error.file, error.location, error.why, offer) from error
        return self._cached[1]

    def _data(self, playbook: Playbook) -> bytes:
        """The bytes of a playbook in the form of this file."""
        return (dumps_yaml(playbook) if self.ending in YAML_ENDINGS else dumps(playbook)).encode()

    def _good_changes(self) -> tuple[list[tuple[Change, Playbook]], bool]:
        """The readable changes with their states, and whether an unreadable change follows."""
        good: list[tuple[Change, Playbook]] = []
        try:
            good.extend(self._journal.states())
        except CorruptPlaybook:
            return good, True
        return good, False

    def _current(self, *, create: bool = False) -> Playbook:
        """The newest playbook, under the lock, after completing an interrupted save or recording an edit by hand."""
        self._journal.catch_up()
        data, last = read_playbook_file(self.path), self._journal.last
        self._digest = "" if data is None else sha256(data)
        if data is None and last is None and create:
            return Playbook()
        if data is None and (last is None or last.before):
            raise self._missing(self._journal.points)
        playbook = Playbook() if data is None else self._parsed(data)
        if last is None:
            begin = Change(1, self._now(), "begin", reason="found without a journal", before=self._digest)
            self._journal.append(replace(begin, patch=make_patch(Playbook(), playbook), after=self._digest))
        elif self._digest == last.after:
            pass
        elif self._digest == last.before:
            playbook = apply_patch(playbook, last.patch, self.journal_path.name)
            self._replace_file(playbook)
        else:
            playbook = self._adopt_edit(playbook, last)
        return replace(playbook, processed=self._journal.processed)

    def _adopt_edit(self, edited: Playbook, last: Change) -> Playbook:
        """Record an edit by hand in the journal. Ids are not reused."""
        recorded = self.at(last.n)
        safe = replace(edited, next_id=max(edited.next_id, recorded.next_id))
        after = self._digest if safe == edited else sha256(self._data(safe))
        edit = Change(
            *(last.n + 1, self._now(), "edit"), reason="the file was changed outside Akinai", before=last.after
        )
        self._journal.append(replace(edit, patch=make_patch(recorded, safe), after=after))
        if safe != edited:
            self._replace_file(safe)
        return safe

    def _save(self, requested: Change, before: Playbook, after: Playbook, *, rewrite: bool = False) -> Saved:
        """Write a change to the journal and the file, or neither. A change without effect is not written."""
        at = self._now()
        after = replace(after, next_id=max(before.next_id, after.next_id))
        changed = after != before
        begun = not self._digest
        if not changed and not begun and not rewrite and requested.kind not in ("delta", "rollback"):
            return Saved(before, self._journal.points)
        if changed or begun:
            after = replace(after, updated_at=at, created_at=after.created_at or at)
        patch = make_patch(before, after)
        change = replace(requested, n=self._journal.points + 1, at=at, patch=patch, before=self._digest)
        if changed or begun or rewrite:
            self._write(change, after)
        else:
            self._journal.append(replace(change, after=self._digest))
        return Saved(replace(after, processed=self._journal.processed), self._journal.points)

    def _write(self, change: Change, after: Playbook) -> None:
        """Carry out the three steps of a save. A failure leaves journal and file as they were."""
        data = self._data(after)
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
            self._journal.undo_append()
            raise self._unsaved(error) from error
        self._cached, self._digest = (digest, after), digest

    def _replace_file(self, playbook: Playbook) -> None:
        """Write a playbook that is in the journal already."""
        data = self._data(playbook)
        prepare(self.path, data, self._temporary)
        move(self._temporary, self.path)
        self._cached, self._digest = (sha256(data), playbook), sha256(data)

    def _states_at(self, *points: int) -> dict[int, Playbook]:
        states, last = {0: Playbook()}, 0
        for change, playbook in self._journal.states():
            last = change.n
            if last in points:
                states[last] = playbook
        if unknown := next((n for n in points if n not in states), None):
            raise UsageError(f"point {unknown} of {self.path.name} was asked for; its journal has points 0 to {last}")
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


def _copy_aside(path: Path) -> Path:
    """Copy an unreadable file under a free name."""
    copy = next(name for number in count(1) if not (name := path.with_name(f"{path.name}.corrupt-{number}")).exists())
    shutil.copy2(path, copy)
    return copy
