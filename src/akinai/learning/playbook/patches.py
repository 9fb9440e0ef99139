"""Changes between two playbooks: a patch for the journal, and a difference for people. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from akinai.core.canonical import Json
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.playbook.errors import CorruptPlaybook
from akinai.learning.playbook.formats import bullet_json, read_bullet, section_head

_ROOT = ("next_id", "created_at", "updated_at", "metadata", "extra", "around")


@dataclass(frozen=True, slots=True)
class Difference:
    """The bullets and sections in which two playbooks differ."""

    added: tuple[Bullet, ...]
    removed: tuple[Bullet, ...]
    changed: tuple[tuple[Bullet, Bullet], ...]
    """Before and after."""
    sections_added: tuple[str, ...]
    sections_removed: tuple[str, ...]

    @property
    def empty(self) -> bool:
        return not (self.added or self.removed or self.changed or self.sections_added or self.sections_removed)


def difference(before: Playbook, after: Playbook, *, by_content: bool = False) -> Difference:
    """The bullets and sections that differ, each group in the order of its file. `by_content`, as between playbooks of
    different files: bullets of equal words are the same, whatever their ids, and differ by their tags."""
    old, new = (({b.content: b for b in book} if by_content else book.by_id) for book in (before, after))

    def differ(a: Bullet, b: Bullet) -> bool:
        return a.tags != b.tags if by_content else a is not b and a != b

    return Difference(
        tuple(bullet for key, bullet in new.items() if key not in old),
        tuple(bullet for key, bullet in old.items() if key not in new),
        tuple((old[key], bullet) for key, bullet in new.items() if key in old and differ(old[key], bullet)),
        tuple(name for name in after.section_names if name not in before.section_names),
        tuple(name for name in before.section_names if name not in after.section_names),
    )


def make_patch(before: Playbook, after: Playbook) -> dict[str, Json]:
    """The JSON-native patch from `before` to `after`, for `apply_patch`."""
    patch: dict[str, Json] = {}
    root = {name: getattr(after, name) for name in _ROOT if getattr(after, name) != getattr(before, name)}
    if root:
        patch["root"] = root
    heads = [_head_json(section) for section in after.sections]
    if heads != [_head_json(section) for section in before.sections]:
        patch["sections"] = cast("Json", heads)
    different = difference(before, after)
    if different.removed:
        patch["removed"] = [bullet.id for bullet in different.removed]
    put = [*different.added, *(bullet for _, bullet in different.changed)]
    if put:
        patch["put"] = [bullet_json(bullet) for bullet in put]
    usual = _ids(apply_patch(before, patch))
    if moved := {name: ids for name, ids in _ids(after).items() if ids != usual[name]}:
        patch["order"] = cast("Json", moved)
    return patch


def _ids(playbook: Playbook) -> dict[str, list[str]]:
    return {section.name: [bullet.id for bullet in section.bullets] for section in playbook.sections}


def apply_patch(before: Playbook, patch: Mapping[str, Json], file: str = "the journal") -> Playbook:
    """The playbook after a patch. CorruptPlaybook for an invalid patch, or one that does not fit `before`."""
    removed = cast("Sequence[str]", patch.get("removed", ()))
    if gone := next((id for id in removed if id not in before), None):
        raise CorruptPlaybook(file, "removed", f"no bullet {gone!r} before it")
    sections = before.sections
    if "sections" in patch:
        bullets = {section.name: section.bullets for section in sections}
        heads = [_head(cast("Mapping[str, Json]", head)) for head in cast("Sequence[Json]", patch["sections"])]
        sections = tuple(replace(head, bullets=bullets.get(head.name, ())) for head in heads)
    root = cast("Mapping[str, Json]", patch.get("root", {}))
    after = replace(before, sections=sections, **{name: root[name] for name in _ROOT if name in root})  # pyright: ignore[reportArgumentType] - the journal holds what `make_patch` wrote
    put = {bullet.id: bullet for bullet in bullets_put(patch, file)}
    after = after.with_bullets({**dict.fromkeys(removed), **put})
    order = cast("Mapping[str, Sequence[str]]", patch.get("order", {}))
    moved = {name: tuple(after.by_id[id] for id in ids) for name, ids in order.items()}
    sections = tuple(replace(section, bullets=moved.get(section.name, section.bullets)) for section in after.sections)
    return replace(after, sections=sections) if moved else after


def bullets_put(patch: Mapping[str, Json], file: str = "the journal") -> tuple[Bullet, ...]:
    """The bullets that a patch adds or changes."""
    items = cast("Sequence[Mapping[str, Json]]", patch.get("put", ()))
    return tuple(read_bullet(item, file, f"put[{number}].", str(item["section"])) for number, item in enumerate(items))


def _head_json(section: Section) -> dict[str, Json]:
    return {**section_head(section), "extra": section.extra} if section.extra else section_head(section)


def _head(fields: Mapping[str, Json]) -> Section:
    extra = cast("Mapping[str, Json]", fields.get("extra", {}))
    return Section(str(fields["name"]), str(fields.get("description", "")), (), extra)
