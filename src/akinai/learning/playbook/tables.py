"""Playbooks of other programs as JSON: bullets in a table by their ids, or in one list, beside their sections. Pure.

Kayba's skillbook is such a document: `{"skills": {ID: {...}}, "sections": {NAME: [ID, ...]}}`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from akinai.core.canonical import Json
from akinai.learning.playbook.bullets import Bullet, Playbook
from akinai.learning.playbook.errors import CorruptPlaybook

_LISTS = ("skills", "bullets")
"""The fields that hold bullets."""
_OWN = frozenset({"skills", "bullets", "sections", "next_id", "schema", "metadata"})
UNNAMED = "general"
"""The section of bullets that name none."""


ITEM = "list_item"
"""The field of a bullet that holds its item of the flat list that it was read from, and the metadata's mark of one."""
_CONTENTS = ("content", "text", "insight", "lesson", "rule", "strategy", "memory", "description", "value")
"""The fields of an item that may hold its text; the first that is there does."""
_SECTIONS = ("section", "category", "topic")
_KEPT = ("id", "keywords", "helpful", "harmful", "neutral")


def document_of_list(items: Sequence[Json], file: str) -> dict[str, Json]:
    """A flat list of texts, or of objects with a text, as a document with a table of bullets.

    CorruptPlaybook names an item without a text.
    """
    bullets: list[Json] = []
    for number, item in enumerate(items):
        if isinstance(item, str) and item.strip():
            bullets.append({"content": item, ITEM: item})
            continue
        name = content_field(item) if isinstance(item, Mapping) else None
        if name is None or not isinstance(item, Mapping):
            why = f"{item!r:.80} where a bullet belongs: a text, or an object with a text in 'content'"
            raise CorruptPlaybook(file, f"[{number}]", why)
        section = next((item[key] for key in _SECTIONS if isinstance(item.get(key), str)), UNNAMED)
        fields = {key: value for key, value in item.items() if key in _KEPT}
        bullets.append({**fields, "content": item[name], "section": section, ITEM: dict(item)})
    return {"metadata": {ITEM: True}, "bullets": bullets, "sections": []}


def content_field(item: Mapping[str, Json]) -> str | None:
    """The field of an item that holds its text; None without one."""
    return next((key for key in _CONTENTS if isinstance(item.get(key), str) and str(item[key]).strip()), None)


def list_of(playbook: Playbook) -> list[Json] | None:
    """The bullets as the flat list that they were read from, with their texts and counters of now; None for a playbook
    of another form. New bullets are items like the last one."""
    if not playbook.metadata.get(ITEM):
        return None
    items: list[Json] = []
    last: Json = ""
    for bullet in playbook:
        last = bullet.extra.get(ITEM, last)
        items.append(_item_of(bullet, last) if isinstance(last, Mapping) else bullet.content)
    return items


def _item_of(bullet: Bullet, like: Mapping[str, Json]) -> dict[str, Json]:
    """The item of a bullet; `like` is its own as it was read, or that of the bullet before it."""
    own = dict(like)
    if ITEM not in bullet.extra:
        own = {key: bullet.id if key == "id" else bullet.section for key in like if key in ("id", *_SECTIONS)}
    counts = {"helpful": bullet.helpful, "harmful": bullet.harmful, "neutral": bullet.neutral}
    return {
        **own,
        content_field(like) or "content": bullet.content,
        **{name: count for name, count in counts.items() if name in like},
    }


def sections_of_tables(document: Mapping[str, Json]) -> dict[str, Json] | None:
    """The document in the form of our own files; None where it is in it already.

    A bullet is placed in the section that lists its id, otherwise in the one that it names. Texts that are no ids are
    bullets too, and bullets without ids get free ones.
    """
    sections = document.get("sections")
    listed = isinstance(sections, Sequence) and not isinstance(sections, str)
    tables = [name for name in _LISTS if document.get(name) and isinstance(document[name], Mapping | list)]
    inner = listed and any(
        isinstance(section, Mapping) and ("skills" in section or isinstance(section.get("bullets"), Mapping))
        for section in cast("Sequence[Json]", sections)
    )
    if not tables and not (sections and isinstance(sections, Mapping)) and not inner:
        return None
    bullets = _Bullets(by_reference=bool(tables))
    for name in tables:
        bullets.add_all(document[name], "")
    if isinstance(sections, Mapping):
        for name, items in sections.items():
            bullets.begin(name)
            bullets.add_all(items, name)
    heads: dict[str, dict[str, Json]] = {}
    if listed:
        for number, section in enumerate(cast("Sequence[Json]", sections)):
            usual = f"section_{number + 1}"
            fields = section if isinstance(section, Mapping) else {"name": usual, "bullets": [section]}
            name = str(fields.get("name") or usual)
            heads[name] = {key: value for key, value in fields.items() if key not in _LISTS}
            bullets.begin(name)
            for key in _LISTS:
                bullets.add_all(fields.get(key, []), name)
    made = [{**heads.get(name, {}), "name": name, "bullets": items} for name, items in bullets.in_sections()]
    extra = {name: value for name, value in document.items() if name not in _OWN}
    metadata = document.get("metadata")
    whole: dict[str, Json] = {"metadata": metadata if isinstance(metadata, Mapping) else {}, "sections": made, **extra}
    return {"schema": document["schema"], **whole} if "schema" in document else whole


class _Bullets:
    """Bullets while they are being collected, by id, with the section that each is placed in."""

    def __init__(self, *, by_reference: bool) -> None:
        """`by_reference`: sections list ids, so that one word is the id of a bullet that is gone."""
        self.by_reference = by_reference
        self.by_id: dict[str, dict[str, Json]] = {}
        self.sections: dict[str, None] = {}
        self.without_id: list[dict[str, Json]] = []

    def begin(self, section: str) -> None:
        self.sections.setdefault(section)

    def add_all(self, items: Json, section: str) -> None:
        """Add the bullets of a table by ids or of a list; an id that is there already is placed in the section."""
        for id, item in _pairs(items):
            is_text = isinstance(item, str)
            if is_text and item in self.by_id:
                self.by_id[item]["section"] = section
            elif item is not None and not (is_text and section and self.by_reference and len(item.split()) < 2):
                # what is neither a text nor an object is refused as no text, by its place
                self.add(id, item if isinstance(item, Mapping) else {"content": item}, section)

    def add(self, id: str, item: Mapping[str, Json], section: str) -> None:
        named = item.get("section")
        section = section or (named if isinstance(named, str) and named.strip() else UNNAMED)
        fields: dict[str, Json] = {**item, "section": section}
        own = item.get("id", id)
        own = str(own) if isinstance(own, int) and not isinstance(own, bool) else own
        if not own or not isinstance(own, str):
            self.without_id.append(fields)
        elif own in self.by_id and self.by_id[own].get("content") != item.get("content"):
            self.without_id.append({**fields, "id": ""})
        else:
            self.by_id[own] = {**fields, "id": own}

    def in_sections(self) -> Iterator[tuple[str, list[Json]]]:
        """The sections in order with their bullets; ids are given to those that have none."""
        number = len(self.by_id)
        for fields in self.without_id:
            number += 1
            while (id := f"b-{number:05}") in self.by_id:
                number += 1
            self.by_id[id] = {**fields, "id": id}
        grouped: dict[str, list[Json]] = {name: [] for name in self.sections}
        for fields in self.by_id.values():
            grouped.setdefault(str(fields["section"]), []).append(fields)
        yield from grouped.items()


def _pairs(items: Json) -> Iterable[tuple[str, Json]]:
    if isinstance(items, Mapping):
        return items.items()
    listed = items if isinstance(items, Sequence) and not isinstance(items, str) else [items]
    return [("", item) for item in listed]
