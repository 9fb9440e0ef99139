"""The tasks that a playbook was learned from, as hashes in its metadata, which copies and later learnings keep. Pure.

Text forms without metadata lose the record; bullets that came from there are counted as unrecorded.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from akinai.core.canonical import Json, canonical
from akinai.learning.loop.near_copies import FEWEST_CHOICES, choices_in, share_choices
from akinai.learning.loop.state import Beginning
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.roles.tasks import Task
from akinai.retrieval import normalise

FIELD = "learned_from"
"""The field of the playbook's metadata: {"tasks": [hash, ...], "choices": [a hash of each choice, joined, ...],
"unrecorded": number of bullets}."""

_HEX = 12
"""Hexadecimal digits of a hash: of 10,000 tasks less than one in a million is taken for one of 10,000 others."""


_CHOICE_HEX = 6
"""Hexadecimal digits of the hash of a choice: all but one choice of a question are compared at once."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The tasks that a playbook's bullets were learned from."""

    tasks: frozenset[str]
    """Hashes of the tasks' identities."""
    choices: Mapping[str, Sequence[frozenset[str]]]
    """The hashed choices of each question, by the hash of a choice among them."""
    unrecorded: int
    """Bullets whose tasks are not known: written by hand, or imported without a record."""

    def has_text(self, task: Task) -> bool:
        """Whether a task of the same text was learned from, or the same run."""
        return _hashes(task)[0] in self.tasks

    def __contains__(self, task: Task) -> bool:
        """Whether a task of the same text, or with the same choices but for one, was learned from."""
        if not self.tasks.isdisjoint((*_hashes(task), *_set_hashes(task))):
            return True
        own = frozenset(_choice_hashes(task))
        earlier = (choices for choice in own for choices in self.choices.get(choice, ()))
        return any(share_choices(own, choices) for choices in earlier)


def provenance(playbook: Playbook) -> Provenance:
    """The record in a playbook of the tasks that it was learned from."""
    record = playbook.metadata.get(FIELD)
    if not isinstance(record, Mapping):
        return Provenance(frozenset(), {}, len(playbook))
    by_hand, unrecorded = sum(not bullet.source_trajectory for bullet in playbook), record.get("unrecorded")
    by_choice: dict[str, list[frozenset[str]]] = defaultdict(list)
    for joined in _texts(record.get("choices")):
        choices = frozenset(joined[start : start + _CHOICE_HEX] for start in range(0, len(joined), _CHOICE_HEX))
        for choice in choices:
            by_choice[choice].append(choices)
    hashes = frozenset(_texts(record.get("tasks")))
    return Provenance(hashes, by_choice, max(by_hand, unrecorded if isinstance(unrecorded, int) else 0))


def remember(playbook: Playbook, tasks: Iterable[Task]) -> Playbook:
    """The playbook with a record of tasks that are about to be learned from. The order of earlier tasks is kept."""
    before = provenance(playbook)
    record = playbook.metadata.get(FIELD)
    old: Mapping[str, Json] = record if isinstance(record, Mapping) else {}
    old_hashes, old_choices = _texts(old.get("tasks")), _texts(old.get("choices"))
    tasks = tuple(tasks)
    hashes = dict.fromkeys((*old_hashes, *(text for task in tasks for text in _hashes(task))))
    choices = dict.fromkeys((*old_choices, *filter(None, ("".join(_choice_hashes(task)) for task in tasks))))
    if len(hashes) == len(old_hashes) and len(choices) == len(old_choices) and record is not None:
        return playbook
    fields: dict[str, Json] = {"tasks": [*hashes], **({"choices": [*choices]} if choices else {})}
    if before.unrecorded:
        fields["unrecorded"] = before.unrecorded
    return replace(playbook, metadata={**playbook.metadata, FIELD: fields})


def beginning(playbook: Playbook, train: Iterable[Task]) -> Beginning:
    """The playbook that a learning begins with."""
    learned_from = provenance(playbook)
    sources = Counter(source.partition("#")[0] for bullet in playbook for source in bullet.sources or ("",))
    return Beginning(
        len(playbook),
        dict(sorted(sources.items())),
        learned_from.unrecorded,
        tuple(t.id for t in train if t in learned_from),
    )


def _texts(value: Json) -> list[str]:
    return [str(text) for text in value] if isinstance(value, list | tuple) else []


def _hash(key: Sequence[str], digits: int) -> str:
    return hashlib.blake2b(canonical([*key]).encode(), digest_size=digits // 2).hexdigest()


def _hashes(task: Task) -> list[str]:
    """The hashes that identify a task: of its own identity if it has one, else of its text, and of its choices in any
    order where they are too few to be compared one by one."""
    if task.identity:
        return [_hash(["identity", task.identity], _HEX)]
    few = _set_hashes(task) if not _choice_hashes(task) else []
    return [_hash(["text", normalise(task.question)], _HEX), *few]


def _set_hashes(task: Task) -> list[str]:
    """The hash of a question's choices together, which records hold that were written before single choices were."""
    match task.data:
        case {"question": str(), "choices": [*choices]} if not task.identity:
            return [_hash(["choices", *sorted(normalise(str(choice)) for choice in choices)], _HEX)]
        case _:
            return []


def _choice_hashes(task: Task) -> list[str]:
    choices = choices_in(task)
    if len(choices) < FEWEST_CHOICES or task.identity:
        return []
    return sorted(_hash(["choice", choice], _CHOICE_HEX) for choice in choices)
