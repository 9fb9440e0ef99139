"""The view of a playbook: its bullets with the runs that taught them and how they did, and its history."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from akinai.learning.playbook.bullets import Bullet, Playbook
from akinai.learning.playbook.journal import Change
from akinai.learning.playbook.patches import Difference

_ENTRY = re.compile(r"^(?P<run>.+)#(?P<entry>\d+)$")


@dataclass(frozen=True, slots=True)
class Source:
    """The run or task that taught a bullet."""

    run: str
    """A run of a world, or a task of a data set."""
    entries: tuple[int, ...] = ()
    """Entries of the run's ledger; none for a task."""


@dataclass(frozen=True, slots=True)
class BulletChange:
    """A change of a bullet."""

    n: int
    """The line of the journal."""
    at: str
    verb: str
    """"added", "changed", "counted" or "removed"."""
    reason: str


@dataclass(frozen=True, slots=True)
class BulletView:
    """A bullet."""

    bullet: Bullet
    sources: tuple[Source, ...]
    changes: tuple[BulletChange, ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section with its bullets, those that were used most first."""

    name: str
    description: str
    bullets: tuple[BulletView, ...]


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A line of the journal."""

    n: int
    at: str
    kind: str
    reason: str
    added: int
    changed: int
    removed: int
    counted: int
    refused: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlaybookView:
    """A playbook with its history."""

    name: str
    sections: tuple[SectionView, ...]
    history: tuple[ChangeView, ...]
    """The newest first."""

    @property
    def bullets(self) -> Sequence[BulletView]:
        """All bullets."""
        return [bullet for section in self.sections for bullet in section.bullets]

    @property
    def runs(self) -> Sequence[str]:
        """The runs and tasks that taught bullets, in their order."""
        return list(dict.fromkeys(source.run for bullet in self.bullets for source in bullet.sources))


def playbook_view(name: str, playbook: Playbook, changes: Iterable[Change] = ()) -> PlaybookView:
    """The view of a playbook; `changes` are its journal, first to last."""
    by_bullet: dict[str, list[BulletChange]] = {}
    bullets: dict[str, Bullet] = {}
    history = [_change(change, bullets, by_bullet) for change in changes]
    sections = tuple(
        SectionView(
            section.name,
            section.description,
            tuple(
                BulletView(bullet, sources_of(bullet), tuple(by_bullet.get(bullet.id, ())))
                for bullet in sorted(section.bullets, key=lambda bullet: -(bullet.uses + bullet.neutral))
            ),
        )
        for section in playbook.sections
    )
    return PlaybookView(name, sections, tuple(reversed(history)))


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


def _change(change: Change, bullets: dict[str, Bullet], by_bullet: dict[str, list[BulletChange]]) -> ChangeView:
    verbs: dict[str, str] = {}
    for bullet in change.put:
        old = bullets.get(bullet.id)
        same = old is not None and (old.content, old.keywords, old.section) == (
            bullet.content, bullet.keywords, bullet.section,
        )  # fmt: skip
        verbs[bullet.id] = "added" if old is None else "counted" if same else "changed"
        bullets[bullet.id] = bullet
    for id in change.removed_ids:
        verbs[id] = "removed"
        bullets.pop(id, None)
    for id, verb in verbs.items():
        by_bullet.setdefault(id, []).append(BulletChange(change.n, change.at, verb, change.reason))
    count = _counts(verbs)
    return ChangeView(
        change.n, change.at, change.kind, change.reason, count["added"], count["changed"], count["removed"],
        len(change.counted), len(change.refused), change.evidence,
    )  # fmt: skip


def _counts(verbs: Mapping[str, str]) -> Mapping[str, int]:
    counts = Counter(verbs.values())
    return {verb: counts[verb] for verb in ("added", "changed", "removed")}


def compare_by_content(before: Playbook, after: Playbook) -> Difference:
    """Compare two playbooks of different files: bullets of equal words are the same, whatever their ids."""
    old = {bullet.content: bullet for bullet in before}
    new = {bullet.content: bullet for bullet in after}
    return Difference(
        tuple(bullet for text, bullet in new.items() if text not in old),
        tuple(bullet for text, bullet in old.items() if text not in new),
        tuple((old[text], bullet) for text, bullet in new.items() if text in old and _tags(old[text]) != _tags(bullet)),
        tuple(name for name in after.section_names if name not in before.section_names),
        tuple(name for name in before.section_names if name not in after.section_names),
    )


def _tags(bullet: Bullet) -> tuple[int, int, int]:
    return bullet.helpful, bullet.harmful, bullet.neutral
