"""The view of a playbook: its bullets with the runs that taught them and how they did, and its history."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.playbook.journal import Change

_ENTRY = re.compile(r"^(?P<run>.+)#(?P<entry>\d+)$")


@dataclass(frozen=True, slots=True)
class Source:
    """The run or task that taught a bullet."""

    run: str
    """A run of a world, or a task of a data set."""
    entries: tuple[int, ...] = ()
    """Entries of the run's ledger; none for a task."""


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A line of the journal, and what it did to bullets."""

    change: Change
    verbs: Mapping[str, str]
    """By bullet: "added", "changed", "counted" or "removed"."""

    def count(self, verb: str) -> int:
        """Bullets to which it did that."""
        return sum(done == verb for done in self.verbs.values())


@dataclass(frozen=True, slots=True)
class PlaybookView:
    """A playbook with its history."""

    name: str
    playbook: Playbook
    history: tuple[ChangeView, ...]
    """The newest first."""

    @property
    def runs(self) -> Sequence[str]:
        """The runs and tasks that taught bullets, in their order."""
        return list(dict.fromkeys(source.run for bullet in self.playbook for source in sources_of(bullet)))

    def bullets(self, section: Section) -> Sequence[Bullet]:
        """The bullets of a section, those that were used most first."""
        return sorted(section.bullets, key=lambda bullet: -(bullet.uses + bullet.neutral))

    def changes(self, bullet: Bullet) -> Sequence[ChangeView]:
        """The changes of a bullet, the oldest first."""
        return [change for change in reversed(self.history) if bullet.id in change.verbs]

    @staticmethod
    def sources(bullet: Bullet) -> Sequence[Source]:
        """See `sources_of`."""
        return sources_of(bullet)


def playbook_view(name: str, playbook: Playbook, changes: Iterable[Change] = ()) -> PlaybookView:
    """The view of a playbook; `changes` are its journal, first to last."""
    bullets: dict[str, Bullet] = {}
    history = [ChangeView(change, _verbs(change, bullets)) for change in changes]
    return PlaybookView(name, playbook, tuple(reversed(history)))


def sources_of(bullet: Bullet) -> tuple[Source, ...]:
    """The runs and tasks that a bullet was learned from, each once with its entries."""
    entries_by_run: dict[str, dict[int, None]] = {}
    for text in bullet.sources:
        for part in text.split(" -> "):
            entry = _ENTRY.match(part.strip())
            entries = entries_by_run.setdefault(entry["run"] if entry else part.strip(), {})
            if entry:
                entries[int(entry["entry"])] = None
    return tuple(Source(run, tuple(entries)) for run, entries in entries_by_run.items())


def _verbs(change: Change, bullets: dict[str, Bullet]) -> Mapping[str, str]:
    """What a change did to which bullets; `bullets` are those before it, and then those after it."""
    verbs: dict[str, str] = {}
    for bullet in change.put:
        old = bullets.get(bullet.id)
        words = (bullet.content, bullet.keywords, bullet.section)
        same = old is not None and (old.content, old.keywords, old.section) == words
        verbs[bullet.id] = "added" if old is None else "counted" if same else "changed"
        bullets[bullet.id] = bullet
    for id in change.removed_ids:
        verbs[id] = "removed"
        bullets.pop(id, None)
    return verbs
