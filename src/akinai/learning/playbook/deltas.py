"""Deltas: the changes that a Curator asks for, and the function that applies them to a playbook. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from itertools import islice
from typing import Any, Literal, TypeAlias, assert_never

from akinai.core.canonical import Json, JsonRecord, bad_text, bad_text_in
from akinai.core.lessons import RECORD
from akinai.learning.playbook.bullets import (
    OPTIONAL_FIELDS,
    Bullet,
    Playbook,
    Processed,
    Verdict,
    bullet_id,
    match_name,
)
from akinai.learning.playbook.keywords import TermCounts

OperationType: TypeAlias = Literal["ADD", "UPDATE", "DELETE"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One change of one bullet."""

    type: OperationType
    section: str | None = None
    """The section of an ADD. UPDATE and DELETE may leave it out; if given, it must be the bullet's. Case and
    punctuation may differ."""
    bullet_id: str | None = None
    """The bullet of UPDATE and DELETE. An ADD gets a new id in any case, and is refused when this id is taken."""
    content: str | None = None
    """The whole new text; None in an UPDATE keeps the text."""
    keywords: tuple[str, ...] | None = None
    """None: the top TF-IDF terms of the content."""
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    """Optional fields to set: type, applicability_context, hierarchical_level."""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    """Ledger entries, "run#seq -> run#seq", which become sources of the bullet."""
    record: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The record of a lesson, for rule-based players; an UPDATE to another content without one removes it."""


@dataclass(frozen=True, slots=True)
class BulletTag:
    """A Reflector's verdict on a bullet in a task's context."""

    id: str
    tag: Verdict


@dataclass(frozen=True, slots=True)
class Refusal(JsonRecord):
    """A part of a delta that was not applied, and why. The rest of the delta was applied."""

    place: str
    """The part that was refused: "operations[2]", "taggings[0].tags[1]"."""
    code: str
    """Stable, for programs: unknown_section, no_content, bad_text, bad_field, unknown_bullet, wrong_section,
    id_taken, not_injected, already_counted."""
    text: str
    close: str = ""
    """The existing name nearest to an unknown one; empty where none is near."""


@dataclass(frozen=True, slots=True)
class Tagging:
    """The bullets in the context of one attempt, and the verdicts on them. ValueError for a task name with a NUL."""

    task: str
    """Names the attempt. A second epoch is another attempt, a second round of reflection is not."""
    injected: tuple[str, ...]
    """Ids of the bullets in the context; no others can be tagged."""
    tags: tuple[BulletTag | Refusal, ...]
    """An unreadable item is replaced by its refusal."""

    def __post_init__(self) -> None:
        _check_name("task", self.task)


@dataclass(frozen=True, slots=True)
class Delta:
    """The changes of one batch: tags are counted first, then operations are applied in order."""

    id: str = ""
    """A delta is applied once by its id. Empty: the delta is never repeated."""
    operations: tuple[Operation | Refusal, ...] = ()
    """An unreadable item is replaced by its refusal."""
    taggings: tuple[Tagging, ...] = ()
    reason: str = ""
    evidence: tuple[str, ...] = ()
    """Sources of the operations that have none of their own."""

    def __post_init__(self) -> None:
        _check_name("delta", self.id)

    def to_json(self) -> dict[str, Json]:
        """The delta as the journal holds it, without empty fields."""
        operations = [*map(_part_json, self.operations)]
        taggings = [
            {"task": tagging.task, "injected": [*tagging.injected], "tags": [*map(_part_json, tagging.tags)]}
            for tagging in self.taggings
        ]
        document: dict[str, Json] = {"operations": [*operations], "taggings": [*taggings]}
        return {name: items for name, items in document.items() if items}


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed playbook and the reason, for a change that no delta describes."""

    playbook: Playbook
    reason: str = ""
    evidence: Sequence[str] = ()


def apply_delta(playbook: Playbook, delta: Delta, *, at: str = "") -> tuple[Playbook, tuple[Refusal, ...]]:
    """The playbook after a delta, and the refused parts of the delta.

    Every operation and tag either takes effect as written, or is refused and changes nothing. A delta whose id was
    applied before changes nothing, and nothing of it is refused. `at` becomes `updated_at` when something changed.
    """
    if delta.id and delta.id in playbook.processed.deltas:
        return playbook, ()
    draft = _Draft(playbook)
    refusals = [*_tag_all(draft, delta), *_apply_operations(draft, delta)]
    return draft.finished(delta.id, at), tuple(refusals)


class _Draft:
    """A playbook while one delta is being applied."""

    def __init__(self, playbook: Playbook) -> None:
        self.playbook = playbook
        self.changed: dict[str, Bullet | None] = {}
        self.next_id = playbook.next_id
        self.tags = playbook.processed.tags
        self.sections = playbook.section_names
        self._terms: TermCounts | None = None

    def find(self, id: str) -> Bullet | None:
        return self.changed[id] if id in self.changed else self.playbook.by_id.get(id)

    def put(self, bullet: Bullet) -> None:
        if bullet != self.find(bullet.id):
            self.changed[bullet.id] = bullet

    def remove(self, id: str) -> None:
        if id in self.playbook.by_id:
            self.changed[id] = None
        else:
            del self.changed[id]

    def keywords(self, content: str) -> tuple[str, ...]:
        if self._terms is None:
            self._terms = TermCounts.of(self.playbook)
        return self._terms.top(content)

    def finished(self, delta_id: str, at: str) -> Playbook:
        before = self.playbook
        after = before.with_bullets(self.changed) if self.changed else before
        if self.changed or self.next_id != before.next_id:
            after = replace(after, updated_at=at or before.updated_at)
        applied = before.processed.deltas.set(delta_id, None) if delta_id else before.processed.deltas
        return replace(after, next_id=self.next_id, processed=Processed(applied, self.tags))


def _apply_operations(draft: _Draft, delta: Delta) -> Iterator[Refusal]:
    for number, operation in enumerate(delta.operations):
        if isinstance(operation, Refusal):
            yield operation
        elif problem := _check(operation, delta) or _apply(draft, operation, delta):
            yield replace(problem, place=f"operations[{number}]")


def _apply(draft: _Draft, operation: Operation, delta: Delta) -> Refusal | None:
    match operation.type:
        case "ADD":
            return _add(draft, operation, delta)
        case "UPDATE":
            return _update(draft, operation, delta)
        case "DELETE":
            bullet = _target(draft, operation)
            return bullet if isinstance(bullet, Refusal) else draft.remove(bullet.id)
        case _:
            assert_never(operation.type)


def _add(draft: _Draft, operation: Operation, delta: Delta) -> Refusal | None:
    name, content = operation.section or "", operation.content or ""
    if operation.bullet_id and draft.find(operation.bullet_id):
        return Refusal("", "id_taken", f"ADD of {operation.bullet_id!r}, which is there already; UPDATE changes it")
    section = match_name(name, draft.sections)
    if section is None:
        return _unknown("section", name, draft.sections)
    if not content.strip():
        return Refusal("", "no_content", "ADD without content; give the text of the bullet")
    keywords = draft.keywords(content) if operation.keywords is None else operation.keywords
    bullet = Bullet(bullet_id(section, draft.next_id), section, content, keywords, extra=_extra({}, operation))
    draft.next_id += 1
    draft.put(bullet.with_sources(operation.evidence or delta.evidence))
    return None


def _update(draft: _Draft, operation: Operation, delta: Delta) -> Refusal | None:
    bullet = _target(draft, operation)
    if isinstance(bullet, Refusal):
        return bullet
    if operation.content is None and operation.keywords is None and not (operation.details or operation.record):
        return Refusal("", "no_content", f"UPDATE of {bullet.id!r} that says nothing new; give its whole new text")
    content = bullet.content if operation.content is None else operation.content
    if not content.strip():
        return Refusal("", "no_content", f"UPDATE of {bullet.id!r} to an empty text; DELETE removes a bullet")
    keywords = operation.keywords
    if keywords is None:
        keywords = bullet.keywords if content == bullet.content else draft.keywords(content)
    kept = {name: value for name, value in bullet.extra.items() if name != RECORD or content == bullet.content}
    changed = replace(bullet, content=content, keywords=keywords, extra=_extra(kept, operation))
    draft.put(changed.with_sources(operation.evidence or delta.evidence))
    return None


def _extra(fields: Mapping[str, Json], operation: Operation) -> dict[str, Json]:
    return {**fields, **operation.details, **({RECORD: operation.record} if operation.record else {})}


def _target(draft: _Draft, operation: Operation) -> Bullet | Refusal:
    """The bullet of an UPDATE or a DELETE."""
    id = operation.bullet_id or ""
    bullet = draft.find(id)
    if bullet is None:
        return _unknown("bullet", id, draft.playbook.by_id)
    if operation.section and match_name(operation.section, draft.sections) != bullet.section:
        return Refusal(
            "",
            "wrong_section",
            f"{operation.type} of {bullet.id!r} in section {operation.section[:100]!r}; "
            f"it stands in {bullet.section!r}: name that one, or none",
        )
    return bullet


def _check(operation: Operation, delta: Delta) -> Refusal | None:
    """The problem of an operation with a text or a field that no playbook can hold, whatever it changes."""
    texts: Json = [
        *(operation.content, [*(operation.keywords or ())], {**operation.details}, operation.record),
        [*(operation.evidence or delta.evidence)],
    ]
    if why := bad_text_in(texts):
        return Refusal("", "bad_text", f"{operation.type} of a text that {why}; send it without")
    unknown = sorted(operation.details.keys() - set(OPTIONAL_FIELDS))
    if unknown:
        return Refusal(
            "", "bad_field", f"{operation.type} with the field {unknown[0][:100]!r}; {OPTIONAL_FIELDS} can be set"
        )
    return None


def _unknown(kind: str, name: str, names: Collection[str]) -> Refusal:
    if not name:
        return Refusal("", f"unknown_{kind}", f"no {kind} was named; name one of the playbook")
    # Among thousands of ids a search for close matches would cost more than applying the delta.
    first = sorted(islice(names, 500))
    close = get_close_matches(name[:100], first, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"there is {', '.join(first[:10]) or 'none yet'}"
    return Refusal("", f"unknown_{kind}", f"no {kind} {name[:100]!r} in the playbook; {hint}", "".join(close))


def _tag_all(draft: _Draft, delta: Delta) -> Iterator[Refusal]:
    for task, tagging in enumerate(delta.taggings):
        injected = frozenset(tagging.injected)
        for number, tag in enumerate(tagging.tags):
            if isinstance(tag, Refusal):
                yield tag
            elif problem := _tag(draft, tagging.task, tag, injected):
                yield replace(problem, place=f"taggings[{task}].tags[{number}]")


def _tag(draft: _Draft, task: str, tag: BulletTag, injected: frozenset[str]) -> Refusal | None:
    if tag.id not in injected:
        return Refusal(
            "", "not_injected", f"a tag for {tag.id[:100]!r}, which {task!r} was not given; tag what was injected"
        )
    bullet = draft.find(tag.id)
    if bullet is None:
        return Refusal("", "unknown_bullet", f"a tag for {tag.id[:100]!r}, which is no longer in the playbook")
    if (task, tag.id) in draft.tags:
        return Refusal(
            "", "already_counted", f"a second tag for {tag.id!r} by {task!r}; a task moves a bullet's counter once"
        )
    draft.tags = draft.tags.set((task, tag.id), None)
    draft.put(replace(bullet, **{tag.tag: getattr(bullet, tag.tag) + 1}))
    return None


def _check_name(kind: str, name: str) -> None:
    if why := bad_text(name):
        raise ValueError(f"the {kind} {name[:100]!r} {why}; name it without")


def _part_json(part: Operation | BulletTag | Refusal) -> dict[str, Json]:
    """The fields of an operation or a tag that are not empty; a refusal in its place says so."""
    if isinstance(part, Refusal):
        return {"refused": part.to_json()}
    names = {"reason": "reasoning", "record": RECORD}
    values = {names.get(own.name, own.name): getattr(part, own.name) for own in fields(part)}
    return {name: value for name, value in values.items() if value or (value is not None and name == "keywords")}
