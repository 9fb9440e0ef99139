"""The tasks that a playbook was learned from, as hashes in its metadata, which copies and later learnings keep. Pure.

Text forms without metadata lose the record; bullets that came from there are counted as unrecorded.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from akinai.core.canonical import Json, canonical
from akinai.learning.loop.state import Beginning
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.roles.tasks import Task
from akinai.retrieval import normalise

FIELD = "learned_from"
"""The field of the playbook's metadata: {"tasks": [hash, ...], "unrecorded": number of bullets}."""

_HEX = 12
"""Hexadecimal digits of a hash: of 10,000 tasks less than one in a million is taken for one of 10,000 others."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The tasks that a playbook's bullets were learned from."""

    tasks: frozenset[str]
    """Hashes of the tasks' identities."""
    unrecorded: int
    """Bullets whose tasks are not known: written by hand, or imported without a record."""

    def __contains__(self, task: Task) -> bool:
        """Whether a task of the same text, or with the same set of choices, was learned from."""
        return not self.tasks.isdisjoint(_hashes(task))


def provenance(playbook: Playbook) -> Provenance:
    """The record in a playbook of the tasks that it was learned from."""
    record = playbook.metadata.get(FIELD)
    if not isinstance(record, Mapping):
        return Provenance(frozenset(), len(playbook))
    tasks, unrecorded = record.get("tasks"), record.get("unrecorded")
    hashes = frozenset(map(str, cast("Sequence[Json]", tasks))) if isinstance(tasks, list | tuple) else frozenset[str]()
    by_hand = sum(not bullet.source_trajectory for bullet in playbook)
    return Provenance(hashes, max(by_hand, unrecorded if isinstance(unrecorded, int) else 0))


def remember(playbook: Playbook, tasks: Iterable[Task]) -> Playbook:
    """The playbook with a record of tasks that are about to be learned from. The order of earlier tasks is kept."""
    before = provenance(playbook)
    record = playbook.metadata.get(FIELD)
    old = cast("Sequence[str]", record["tasks"]) if isinstance(record, Mapping) and before.tasks else ()
    hashes = dict.fromkeys((*old, *(text for task in tasks for text in _hashes(task))))
    if len(hashes) == len(old) and record is not None:
        return playbook
    fields: dict[str, Json] = {"tasks": [*hashes]}
    if before.unrecorded:
        fields["unrecorded"] = before.unrecorded
    return replace(playbook, metadata={**playbook.metadata, FIELD: fields})


def beginning(playbook: Playbook, train: Iterable[Task]) -> Beginning:
    """The playbook that a learning begins with."""
    learned_from = provenance(playbook)
    sources = Counter(source.partition("#")[0] for bullet in playbook for source in bullet.sources or ("",))
    return Beginning(
        len(playbook),
        tuple(sorted(sources.items())),
        learned_from.unrecorded,
        tuple(t.id for t in train if t in learned_from),
    )


def _hashes(task: Task) -> list[str]:
    return [hashlib.blake2b(canonical(key).encode(), digest_size=_HEX // 2).hexdigest() for key in _keys(task)]


def _keys(task: Task) -> list[list[str]]:
    """The keys that identify a task: its own identity if it has one, else its text, and its choices in any order."""
    if task.identity:
        return [["identity", task.identity]]
    match task.data:
        case {"question": str(question), "choices": [*choices]}:
            return [["text", normalise(question)], ["choices", *sorted(normalise(str(choice)) for choice in choices)]]
        case _:
            return [["text", normalise(task.text)]]
