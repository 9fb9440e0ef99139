"""The playbook: bullets in sections, as an immutable value. Pure: no file and no clock; times come as arguments."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

from immutables import Map

from akinai.core.canonical import Json, bad_text
from akinai.core.errors import UnknownName
from akinai.core.lessons import RECORD, with_record
from akinai.retrieval import normalise

Verdict: TypeAlias = Literal["helpful", "harmful", "neutral"]

UNUSED_CONFIDENCE = 0.5
"""The `confidence_score` of a bullet without helpful or harmful tags."""

OPTIONAL_FIELDS = ("type", "applicability_context", "hierarchical_level")
"""Optional fields of a bullet; like unknown fields they are kept in `Bullet.extra`."""

LONGEST_NAME = 200
"""Characters of a section's name or a bullet's id, at most."""

_NOTHING: Mapping[str, Json] = {}
_SMALL_WORDS = frozenset("a an and for from in of on or the to with".split())
_WORD = re.compile(r"[^\W_]+")
_ID = re.compile(r"[^\s\[\]]+")
_SOURCES = "; "


@dataclass(frozen=True, slots=True)
class Bullet:
    """One lesson, with the counts of tasks that it helped and misled."""

    id: str
    """Never reused: a prefix from the section's name and a number, such as "shr-00001"."""
    section: str
    content: str
    keywords: tuple[str, ...] = ()
    helpful: int = 0
    """Tasks that it helped."""
    harmful: int = 0
    """Tasks that it misled."""
    neutral: int = 0
    """Tasks that saw it to no effect."""
    source_trajectory: str = ""
    """The ledger entries it was learned from, "run#seq -> run#seq"; several sources are joined by "; "."""
    extra: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    """Optional fields, and unknown fields of the file, kept as they are."""

    @property
    def record(self) -> Mapping[str, Json]:
        """The record of its lesson, a kind and numbers, for rule-based players; empty for a bullet in words alone."""
        record = self.extra.get(RECORD)
        return record if isinstance(record, Mapping) else {}

    @property
    def for_players(self) -> str:
        """The bullet as a player is given it."""
        return with_record(self.content, self.record)

    @property
    def searchable_text(self) -> str:
        """The text that is indexed: the content and the keywords."""
        return " ".join((self.content, *self.keywords))

    @property
    def tags(self) -> tuple[int, int, int]:
        """Numbers of helpful, harmful and neutral tags."""
        return self.helpful, self.harmful, self.neutral

    @property
    def uses(self) -> int:
        """Number of helpful and harmful tags."""
        return self.helpful + self.harmful

    @property
    def confidence_score(self) -> float:
        """helpful / (helpful + harmful), 0 to 1; 0.5 without any tag."""
        return self.helpful / self.uses if self.uses else UNUSED_CONFIDENCE

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources in `source_trajectory`."""
        return tuple(part for part in self.source_trajectory.split(_SOURCES) if part)

    def with_sources(self, more: Iterable[str]) -> "Bullet":
        """The bullet with these sources added, each named once."""
        joined = _SOURCES.join(dict.fromkeys((*self.sources, *more)))
        return self if joined == self.source_trajectory else replace(self, source_trajectory=joined)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the playbook; its name and description are part of the Curator's prompt.

    ValueError for a bullet that names another section.
    """

    name: str
    description: str = ""
    bullets: tuple[Bullet, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    """Unknown fields of the file, kept as they are."""

    def __post_init__(self) -> None:
        if stray := next((bullet for bullet in self.bullets if bullet.section != self.name), None):
            raise ValueError(f"bullet {stray.id!r} of section {stray.section!r} in {self.name!r}; put it into its own")


@dataclass(frozen=True, slots=True)
class Processed:
    """Deltas and tags that cannot be applied again."""

    deltas: Map[str, None]
    """Ids of the deltas that were applied; a set."""
    tags: Map[tuple[str, str], None]
    """The (task, bullet id) pairs that were counted; a set."""


_BLANK = Processed(Map(), Map())


@dataclass(frozen=True)
class Playbook:
    """Sections of bullets. Every change returns a new playbook. Playbooks are equal when their files would be."""

    sections: tuple[Section, ...] = ()
    next_id: int = 1
    """The number of the next new bullet. It never decreases, so no id is reused."""
    created_at: str = ""
    """ISO 8601 in UTC, "2025-01-31T09:00:00Z"; empty when unknown."""
    updated_at: str = ""
    """Time of the last change, in the same form."""
    metadata: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    """Unknown fields of the file's metadata, kept as they are."""
    extra: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    """Unknown fields at the file's root, kept as they are."""
    around: Mapping[str, Json] | None = None
    """The fields beside the root key `playbook` in a file that has one; None without that key."""
    processed: Processed = field(default_factory=lambda: _BLANK, compare=False, repr=False)
    """Kept by the journal, not by the file."""

    def __len__(self) -> int:
        return sum(len(section.bullets) for section in self.sections)

    def __iter__(self) -> Iterator[Bullet]:
        return (bullet for section in self.sections for bullet in section.bullets)

    def __contains__(self, id: object) -> bool:
        return id in self.by_id

    def __getitem__(self, id: str) -> "Bullet":
        """The bullet of this id; UnknownName with close matches when there is none."""
        try:
            return self.by_id[id]
        except KeyError:
            raise UnknownName("bullet", id, self.by_id) from None

    @cached_property
    def by_id(self) -> Mapping[str, Bullet]:
        """The bullets by id, in the order of the file."""
        return {bullet.id: bullet for bullet in self}

    @property
    def for_players(self) -> tuple[str, ...]:
        """The bullets as players are given them, in the order of the file."""
        return tuple(bullet.for_players for bullet in self)

    @property
    def section_names(self) -> tuple[str, ...]:
        return tuple(section.name for section in self.sections)

    def section(self, name: str) -> Section:
        """The section of this name; UnknownName with close matches when there is none.

        A name that no section has exactly may differ from it in case and punctuation: "Hard rules:" is `hard_rules`.
        """
        match = match_name(name, self.section_names)
        if match is None:
            raise UnknownName("section", name, self.section_names)
        return next(section for section in self.sections if section.name == match)

    def with_sections(self, sections: Iterable[Section]) -> "Playbook":
        """The playbook with these sections: new ones are added empty at the end, missing descriptions are filled in.

        Existing bullets, names and descriptions stay; names may differ from theirs in case and punctuation. ValueError
        for a name that `name_problem` refuses.
        """
        names = self.section_names
        requested = {match_name(section.name, names) or section.name: section for section in sections}
        for name in requested:
            if why := name_problem(name):
                raise ValueError(f"a section named {name!r}: the name {why}")
        existing = tuple(
            replace(old, description=requested[old.name].description)
            if not old.description and old.name in requested and requested[old.name].description
            else old
            for old in self.sections
        )
        fresh = tuple(Section(name, new.description) for name, new in requested.items() if name not in names)
        return self if not fresh and existing == self.sections else replace(self, sections=existing + fresh)

    def with_bullets(self, changed: Mapping[str, Bullet | None]) -> "Playbook":
        """The playbook with these bullets replaced by id, or removed (None).

        Bullets with new ids, or of another section than before, are added at the end of their sections, in the order
        given; UnknownName for a section that is not there.
        """
        by_id = self.by_id
        touched = {bullet.section for id in changed if (bullet := by_id.get(id))}
        fresh: dict[str, list[Bullet]] = {}
        for id, bullet in changed.items():
            if bullet is not None and (id not in by_id or by_id[id].section != bullet.section):
                fresh.setdefault(bullet.section, []).append(bullet)
        sections = tuple(
            replace(section, bullets=(*_changed(section, changed), *fresh.pop(section.name, ())))
            if section.name in touched or section.name in fresh
            else section
            for section in self.sections
        )
        if fresh:
            raise UnknownName("section", next(iter(fresh)), self.section_names)
        return replace(self, sections=sections)


def _changed(section: Section, changed: Mapping[str, Bullet | None]) -> Iterator[Bullet]:
    for old in section.bullets:
        bullet = changed.get(old.id, old)
        if bullet is not None and bullet.section == section.name:
            yield bullet


def id_prefix(section: str) -> str:
    """The prefix of the ids in a section: the initials of its name without small words.

    strategies_and_hard_rules gives "shr". A name of one word gives its first three characters (商品知識: 商品知), a
    name without letters "b". Sections may share a prefix; the number alone makes an id unique.
    """
    words = _WORD.findall(normalise(section))
    significant = [word for word in words if word not in _SMALL_WORDS] or words
    if len(significant) == 1:
        return significant[0][:3]
    return "".join(word[0] for word in significant[:6]) or "b"


def bullet_id(section: str, number: int) -> str:
    """The id of the bullet with this number in this section: at least five digits."""
    return f"{id_prefix(section)}-{number:05}"


def id_number(id: str) -> int:
    """The number at the end of an id, 0 without one. `next_id` stays above it."""
    digits = id[len(id.rstrip("0123456789")) :]
    return int(digits) if 0 < len(digits) <= 18 else 0


def match_name(name: str, names: Collection[str]) -> str | None:
    """The name of `names` that `name` refers to: the name itself, or the only one with the same letters and digits in
    order, whatever their case and the characters between them. None where no name or several match."""
    if name in names:
        return name
    key = _letters(name)
    matches = [other for other in names if key and _letters(other) == key]
    return matches[0] if len(matches) == 1 else None


def _letters(name: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(normalise(name.replace("&", " and "))))


def name_problem(name: str) -> str | None:
    """The reason why a section cannot have this name; None when it can."""
    if not name.strip():
        return "is empty"
    if name != name.strip() or "\n" in name or "\r" in name:
        return "has space around it or more than one line"
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    return bad_text(name)


def id_problem(id: str) -> str | None:
    """The reason why a bullet cannot have this id; None when it can."""
    if not _ID.fullmatch(id):
        return "is empty or holds white space, '[' or ']'"
    if len(id) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    return bad_text(id)
