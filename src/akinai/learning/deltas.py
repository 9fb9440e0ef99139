"""Deltas: what a Curator asks of a playbook, and the fold that does it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from typing import Literal, TypeAlias, assert_never

from akinai.core.canonical import Json, bad_text, bad_text_in
from akinai.learning.keywords import TermCounts
from akinai.learning.playbook import OPTIONAL_FIELDS, Bullet, Memory, Playbook, Verdict, bullet_id

OperationType: TypeAlias = Literal["ADD", "UPDATE", "DELETE"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One change of one bullet."""

    type: OperationType
    section: str | None = None
    """Where an ADD goes. For UPDATE and DELETE it may be left out, and must be right when it is given."""
    bullet_id: str | None = None
    """What UPDATE and DELETE mean. An ADD gets a fresh id whatever stands here, and is refused when that is taken."""
    content: str | None = None
    """The whole new text; None leaves that of an UPDATE as it is."""
    keywords: tuple[str, ...] | None = None
    """None: the top TF-IDF terms of the content."""
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    """Optional fields to set: type, applicability_context, hierarchical_level."""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    """Stretches of ledger, "run#seq -> run#seq"; the bullet keeps them as its sources."""


@dataclass(frozen=True, slots=True)
class BulletTag:
    """What a Reflector says of a bullet that a task was given."""

    id: str
    tag: Verdict


@dataclass(frozen=True, slots=True)
class Refusal:
    """A part of a delta that was not done, and why. The rest of the delta was."""

    place: str
    """Which part: "operations[2]", "taggings[0].tags[1]"."""
    code: str
    """Stable, for programs: unknown_section, no_content, bad_text, bad_field, unknown_bullet, wrong_section,
    id_taken, not_injected, already_counted."""
    text: str

    def to_json(self) -> dict[str, Json]:
        return {"place": self.place, "code": self.code, "text": self.text}


@dataclass(frozen=True, slots=True)
class Tagging:
    """One attempt at a task: the bullets it was given, and what they did for it. ValueError for a name with a NUL."""

    task: str
    """Names the attempt: a second epoch is a second attempt, a second round of reflection is not."""
    injected: tuple[str, ...]
    """The ids of the bullets that were in the context; no other can be tagged."""
    tags: tuple[BulletTag | Refusal, ...]
    """One that could not be read stands as its refusal."""

    def __post_init__(self) -> None:
        _check_name("task", self.task)


@dataclass(frozen=True, slots=True)
class Delta:
    """What one turn of the loop asks of the playbook: counters first, then operations in their order."""

    id: str = ""
    """The same id means the same delta, which is applied once. Empty: nobody will hand it in twice."""
    operations: tuple[Operation | Refusal, ...] = ()
    """One that could not be read stands as its refusal."""
    taggings: tuple[Tagging, ...] = ()
    reason: str = ""
    evidence: tuple[str, ...] = ()
    """Sources of the operations that bring none of their own."""

    def __post_init__(self) -> None:
        _check_name("delta", self.id)

    def to_json(self) -> dict[str, Json]:
        """What the journal keeps of it; fields that say nothing are left out."""
        told: dict[str, Json] = {}
        if self.operations:
            told["operations"] = [_operation_json(operation) for operation in self.operations]
        if self.taggings:
            told["taggings"] = [
                {
                    "task": tagging.task,
                    "injected": [*tagging.injected],
                    "tags": [_tag_json(tag) for tag in tagging.tags],
                }
                for tagging in self.taggings
            ]
        return told


@dataclass(frozen=True, slots=True)
class _No:
    code: str
    text: str


def apply_delta(playbook: Playbook, delta: Delta, *, at: str = "") -> tuple[Playbook, tuple[Refusal, ...]]:
    """Fold a delta into a playbook.

    Every operation and tag changes the playbook as written, or is named among the refusals and changes nothing.
    A delta whose id was applied before changes nothing, and nothing of it is refused. `at` becomes `updated_at` when
    something changed.
    """
    if delta.id and delta.id in playbook.memory.applied:
        return playbook, ()
    draft = _Draft(playbook)
    refusals = [*_tag_all(draft, delta), *_operate(draft, delta)]
    return draft.settled(delta.id, at), tuple(refusals)


class _Draft:
    """A playbook while one delta is being folded in."""

    def __init__(self, playbook: Playbook) -> None:
        self.playbook = playbook
        self.changed: dict[str, Bullet | None] = {}
        self.next_id = playbook.next_id
        self.counted = playbook.memory.counted
        self.sections = frozenset(playbook.section_names)
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

    def settled(self, delta_id: str, at: str) -> Playbook:
        before = self.playbook
        after = before.with_bullets(self.changed) if self.changed else before
        if self.changed or self.next_id != before.next_id:
            after = replace(after, updated_at=at or before.updated_at)
        applied = before.memory.applied.insert(delta_id) if delta_id else before.memory.applied
        return replace(after, next_id=self.next_id, memory=Memory(applied, self.counted))


def _operate(draft: _Draft, delta: Delta) -> Iterator[Refusal]:
    for number, operation in enumerate(delta.operations):
        if isinstance(operation, Refusal):
            yield operation
        elif no := _unfit(operation, delta) or _do(draft, operation, delta):
            yield Refusal(f"operations[{number}]", no.code, no.text)


def _do(draft: _Draft, operation: Operation, delta: Delta) -> _No | None:
    match operation.type:
        case "ADD":
            return _add(draft, operation, delta)
        case "UPDATE":
            return _update(draft, operation, delta)
        case "DELETE":
            return _delete(draft, operation)
        case _:
            assert_never(operation.type)


def _add(draft: _Draft, operation: Operation, delta: Delta) -> _No | None:
    section, content = operation.section or "", operation.content or ""
    if operation.bullet_id and draft.find(operation.bullet_id):
        return _No("id_taken", f"ADD of {operation.bullet_id!r}, which is there already; UPDATE changes it")
    if section not in draft.sections:
        return _unknown("section", section, draft.sections)
    if not content.strip():
        return _No("no_content", "ADD without content; give the text of the bullet")
    keywords = draft.keywords(content) if operation.keywords is None else operation.keywords
    bullet = Bullet(bullet_id(section, draft.next_id), section, content, keywords, extra={**operation.details})
    draft.next_id += 1
    draft.put(bullet.with_sources(operation.evidence or delta.evidence))
    return None


def _update(draft: _Draft, operation: Operation, delta: Delta) -> _No | None:
    bullet = _meant(draft, operation)
    if isinstance(bullet, _No):
        return bullet
    if operation.content is None and operation.keywords is None and not operation.details:
        return _No("no_content", f"UPDATE of {bullet.id!r} that says nothing new; give its whole new text")
    content = bullet.content if operation.content is None else operation.content
    if not content.strip():
        return _No("no_content", f"UPDATE of {bullet.id!r} to an empty text; DELETE removes a bullet")
    keywords = operation.keywords
    if keywords is None:
        keywords = bullet.keywords if content == bullet.content else draft.keywords(content)
    changed = replace(bullet, content=content, keywords=keywords, extra={**bullet.extra, **operation.details})
    draft.put(changed.with_sources(operation.evidence or delta.evidence))
    return None


def _delete(draft: _Draft, operation: Operation) -> _No | None:
    bullet = _meant(draft, operation)
    if isinstance(bullet, _No):
        return bullet
    draft.remove(bullet.id)
    return None


def _meant(draft: _Draft, operation: Operation) -> Bullet | _No:
    """The bullet that an UPDATE or a DELETE means."""
    asked = operation.bullet_id or ""
    bullet = draft.find(asked)
    if bullet is None:
        return _unknown("bullet", asked, draft.playbook.by_id)
    if operation.section and operation.section != bullet.section:
        return _No(
            "wrong_section",
            f"{operation.type} of {bullet.id!r} in section {operation.section[:100]!r}; "
            f"it stands in {bullet.section!r}: name that one, or none",
        )
    return bullet


def _unfit(operation: Operation, delta: Delta) -> _No | None:
    """Why an operation cannot be kept, whatever it asks."""
    texts: Json = [
        *(operation.content, [*(operation.keywords or ())], {**operation.details}),
        [*(operation.evidence or delta.evidence)],
    ]
    if why := bad_text_in(texts):
        return _No("bad_text", f"{operation.type} of a text that {why}; send it without")
    strange = sorted(operation.details.keys() - set(OPTIONAL_FIELDS))
    if strange:
        return _No("bad_field", f"{operation.type} with the field {strange[0][:100]!r}; {OPTIONAL_FIELDS} can be set")
    return None


def _unknown(kind: str, asked: str, known: Collection[str]) -> _No:
    if not asked:
        return _No(f"unknown_{kind}", f"no {kind} was named; name one of the playbook")
    # Close matches are looked for among a few: among thousands of ids they would cost more than the fold.
    some = sorted(islice(known, 500))
    close = get_close_matches(asked[:100], some, n=1, cutoff=0.5)
    there = f"did you mean {close[0]!r}?" if close else f"there is {', '.join(some[:10]) or 'none yet'}"
    return _No(f"unknown_{kind}", f"no {kind} {asked[:100]!r} in the playbook; {there}")


def _tag_all(draft: _Draft, delta: Delta) -> Iterator[Refusal]:
    for task, tagging in enumerate(delta.taggings):
        injected = frozenset(tagging.injected)
        for number, tag in enumerate(tagging.tags):
            if isinstance(tag, Refusal):
                yield tag
            elif no := _tag(draft, tagging.task, tag, injected):
                yield Refusal(f"taggings[{task}].tags[{number}]", no.code, no.text)


def _tag(draft: _Draft, task: str, tag: BulletTag, injected: frozenset[str]) -> _No | None:
    if tag.id not in injected:
        return _No("not_injected", f"a tag for {tag.id[:100]!r}, which {task!r} was not given; tag what was injected")
    bullet = draft.find(tag.id)
    if bullet is None:
        return _No("unknown_bullet", f"a tag for {tag.id[:100]!r}, which is no longer in the playbook")
    if (task, tag.id) in draft.counted:
        return _No("already_counted", f"a second tag for {tag.id!r} by {task!r}; a task moves a bullet's counter once")
    draft.counted = draft.counted.insert((task, tag.id))
    match tag.tag:
        case "helpful":
            draft.put(replace(bullet, helpful=bullet.helpful + 1))
        case "harmful":
            draft.put(replace(bullet, harmful=bullet.harmful + 1))
        case "neutral":
            draft.put(replace(bullet, neutral=bullet.neutral + 1))
        case _:
            assert_never(tag.tag)
    return None


def _check_name(kind: str, name: str) -> None:
    if why := bad_text(name):
        raise ValueError(f"the {kind} {name[:100]!r} {why}; name it without")


def _operation_json(operation: Operation | Refusal) -> dict[str, Json]:
    if isinstance(operation, Refusal):
        return {"refused": operation.to_json()}
    told: dict[str, Json] = {
        "type": operation.type,
        "section": operation.section,
        "bullet_id": operation.bullet_id,
        "content": operation.content,
        "keywords": None if operation.keywords is None else [*operation.keywords],
        "details": {**operation.details} or None,
        "reasoning": operation.reason or None,
        "evidence": [*operation.evidence] or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _tag_json(tag: BulletTag | Refusal) -> dict[str, Json]:
    return {"refused": tag.to_json()} if isinstance(tag, Refusal) else {"id": tag.id, "tag": tag.tag}
