"""A LangGraph store in a playbook: a namespace is a section, an item a bullet, and each change is in the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.learning.playbook.bullets import Bullet, Playbook, Section, bullet_id
from akinai.learning.playbook.deltas import Edit
from akinai.learning.playbook.keywords import TermCounts
from akinai.learning.playbook.opening import open_playbook
from akinai.learning.search.index import SearchQuery
from akinai.learning.search.saved_index import FileIndex

ITEM = "store_item"
"""The bullet field that holds the key and the further fields of an item."""
SEPARATOR = "/"
"""Joins the parts of a namespace into a section's name."""
TEXTS = ("content", "text", "memory", "data")
"""The fields of a value that may hold its text; the first that is there does."""


class PlaybookStore(BaseStore):
    """Keeps items as bullets of a playbook, which `akinai playbook` shows, searches and rolls back.

    The playbook is created where it is missing. Bullets that were learned are items too, with their ids as keys. A
    value holds its text in `content`, `text`, `memory` or `data`; UsageError for one without a text, and for a part of
    a namespace with "/".
    """

    def __init__(self, playbook: str | Path) -> None:
        self._file = open_playbook(playbook, new=True)
        if not self._file.exists():
            self._file.begin((), reason="begun by a store", fresh=False)
        self._index = FileIndex(self._file)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, [*ops])

    def _do(self, op: Op) -> Result:
        match op:
            case GetOp(namespace, key):
                bullet = _bullet_of(self._file.load(), namespace, key)
                return self._item(bullet) if bullet else None
            case SearchOp():
                return cast("Result", self._search(op))
            case PutOp(namespace, key, value):
                self._file.change("edit", lambda playbook: Edit(_put(playbook, namespace, key, value), "by a store"))
                return None
            case ListNamespacesOp():
                return self._namespaces(op)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        playbook = self._file.load()
        prefix = op.namespace_prefix
        inside = [name for name in playbook.section_names if _parts(name)[: len(prefix)] == prefix]
        if op.query:
            results = self._index.search(SearchQuery(op.query, max(1, len(playbook)), inside, 0.0)) if inside else []
            items = [self._item(result.bullet, result.combined_score) for result in results]
        else:
            items = [self._item(bullet) for bullet in playbook if bullet.section in inside]
        matching = [item for item in items if _fits(item.value, op.filter or {})]
        return matching[op.offset : op.offset + op.limit]

    def _item(self, bullet: Bullet, score: float | None = None) -> SearchItem:
        kept = cast("Mapping[str, Any]", bullet.extra.get(ITEM) or {})
        text = str(kept.get("text", "content"))
        value = {**kept.get("value", {}), text: bullet.content}
        playbook = self._file.load()
        times = (_time(playbook.created_at), _time(playbook.updated_at))
        return SearchItem(_parts(bullet.section), str(kept.get("key", bullet.id)), value, *times, score)

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        names = [_parts(section.name) for section in self._file.load().sections if section.bullets]
        for condition in op.match_conditions or ():
            path = tuple(condition.path)
            names = [name for name in names if _matches(name, path, suffix=condition.match_type == "suffix")]
        cut = dict.fromkeys(name[: op.max_depth] for name in names)
        return sorted(cut)[op.offset : op.offset + op.limit]


def _put(playbook: Playbook, namespace: tuple[str, ...], key: str, value: Mapping[str, Any] | None) -> Playbook:
    old = _bullet_of(playbook, namespace, key)
    if value is None:
        return playbook.with_bullets({old.id: None}) if old else playbook
    text = next((name for name in TEXTS if isinstance(value.get(name), str) and value[name].strip()), None)
    if text is None:
        raise UsageError(f"{value!r:.80} holds no text; put one into 'content', beside any further fields")
    if part := next((part for part in namespace if SEPARATOR in part), None):
        raise UsageError(f"the namespace part {part!r} holds {SEPARATOR!r}; leave it out")
    further = {name: field for name, field in value.items() if name != text}
    kept: dict[str, Json] = {"key": key, "text": text, "value": further}
    content, section = str(value[text]), SEPARATOR.join(namespace)
    keywords = TermCounts.of(playbook).top(content)
    if old is not None:
        changed = replace(old, content=content, keywords=keywords, extra={**old.extra, ITEM: kept})
        return playbook.with_bullets({old.id: changed})
    try:
        playbook = playbook.with_sections([Section(section)])
    except ValueError as error:
        raise UsageError(f"the namespace {namespace!r} cannot be a section: {error}") from error
    bullet = Bullet(bullet_id(section, playbook.next_id), section, content, keywords, extra={ITEM: kept})
    return replace(playbook.with_bullets({bullet.id: bullet}), next_id=playbook.next_id + 1)


def _bullet_of(playbook: Playbook, namespace: tuple[str, ...], key: str) -> Bullet | None:
    section = SEPARATOR.join(namespace)
    for bullet in playbook:
        kept = bullet.extra.get(ITEM)
        own = kept.get("key") if isinstance(kept, Mapping) else bullet.id
        if bullet.section == section and own == key:
            return bullet
    return None


def _parts(section: str) -> tuple[str, ...]:
    return tuple(section.split(SEPARATOR))


def _matches(name: tuple[str, ...], path: tuple[str, ...], *, suffix: bool) -> bool:
    part = name[-len(path) :] if suffix else name[: len(path)]
    return len(part) == len(path) and all(b in ("*", a) for a, b in zip(part, path, strict=True))


def _fits(value: Mapping[str, Any], wish: Mapping[str, Any]) -> bool:
    """Whether the fields of a value are those of a filter. UsageError for an operator other than `$eq` and `$ne`."""
    for name, wished in wish.items():
        terms = cast("Mapping[str, Any]", wished) if isinstance(wished, Mapping) else {"$eq": wished}
        for operator, operand in terms.items():
            if operator not in ("$eq", "$ne"):
                raise UsageError(f"the filter operator {operator!r} is not known here; there are $eq and $ne")
            if (value.get(name) == operand) != (operator == "$eq"):
                return False
    return True


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text) if text else datetime.fromtimestamp(0, UTC)
