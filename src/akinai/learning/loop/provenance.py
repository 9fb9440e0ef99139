"""What judged tasks have to do with those that were learned from. Pure.

A playbook holds hashes of the tasks that it was learned from in its metadata, which copies and later learnings keep;
text forms without metadata lose the record, and bullets that came from there are counted as unrecorded. Near copies
share most of their choices, or their words and their answer, with a training task.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, sqrt

from akinai.core.canonical import Json, canonical
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

FEWEST_CHOICES = 3
"""Choices of a question of which all but one make it the same question; two would be any yes or no."""
NEAR = 0.6
"""Cosine of the weighted bigrams of two tasks with equal answers from which they are near copies."""
NEAR_WITH_CHOICES = 0.35
"""The same for two questions that share a further choice too."""
RAREST = 16
"""Bigrams of a task, the rarest ones, by which tasks that may be like it are found."""


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


@dataclass(frozen=True, slots=True)
class _Words:
    """A task as its near copies are recognised: the bigrams of its text, its choices and its answer."""

    bigrams: frozenset[str]
    choices: frozenset[str]
    truth: str


def near_copies(train: Sequence[Task], judged: Sequence[Task]) -> frozenset[str]:
    """The ids of judged tasks that are near copies of training tasks, or equal to them.

    A question shares all but one of its choices, or most of them with an equal answer; or a task has an equal answer
    and is worded alike. Words that many
    tasks have count little, so tasks made from one template differ. Runs of a world are told apart by their seeds.
    """
    taught = [_words(task) for task in train if not task.identity]
    words = {task.id: _words(task) for task in judged if not task.identity}
    counts = Counter(bigram for task in (*taught, *words.values()) for bigram in task.bigrams)
    total = len(taught) + len(words)
    weights = {bigram: log((total + 1) / count) for bigram, count in counts.items()}
    by_bigram, by_choice = _postings(taught, "bigrams"), _postings(taught, "choices")
    return frozenset(
        id
        for id, task in words.items()
        if any(_is_near(task, taught[index], weights) for index in _candidates(task, by_bigram, by_choice, weights))
    )


def choices_in(task: Task) -> tuple[str, ...]:
    """The normalised choices of a question, each once; none for other tasks."""
    match task.data:
        case {"question": str(), "choices": [*choices]}:
            return tuple(dict.fromkeys(normalise(str(choice)) for choice in choices))
        case _:
            return ()


def share_choices(a: Iterable[str], b: Iterable[str]) -> bool:
    """Whether two sets of choices are of one size and differ in at most one."""
    first, second = frozenset(a), frozenset(b)
    return len(first) == len(second) >= FEWEST_CHOICES and len(first & second) >= len(first) - 1


def _words(task: Task) -> _Words:
    text = normalise(task.question)
    bigrams = frozenset(text[index : index + 2] for index in range(len(text) - 1)) or frozenset({text})
    return _Words(bigrams, frozenset(choices_in(task)), normalise(task.truth).strip())


def _postings(tasks: Sequence[_Words], name: str) -> Mapping[str, list[int]]:
    postings: dict[str, list[int]] = defaultdict(list)
    for index, task in enumerate(tasks):
        terms: frozenset[str] = getattr(task, name)
        for term in terms:
            postings[term].append(index)
    return postings


def _candidates(
    task: _Words,
    by_bigram: Mapping[str, list[int]],
    by_choice: Mapping[str, list[int]],
    weights: Mapping[str, float],
) -> Iterable[int]:
    """The training tasks that share a choice, or two of the task's rarest bigrams."""
    rarest = sorted(task.bigrams, key=lambda bigram: (-weights[bigram], bigram))[:RAREST]
    shared = Counter(index for bigram in rarest for index in by_bigram.get(bigram, ()))
    by_words = {index for index, count in shared.items() if count > 1 or len(task.bigrams) < len(rarest) // 4 + 2}
    return by_words | {index for choice in task.choices for index in by_choice.get(choice, ())}


def _is_near(a: _Words, b: _Words, weights: Mapping[str, float]) -> bool:
    if share_choices(a.choices, b.choices):
        return True
    if a.truth != b.truth or not a.truth:
        return False
    shared = len(a.choices & b.choices)
    if len(a.choices) >= FEWEST_CHOICES and 2 * shared > len(a.choices):
        return True
    return _cosine(a.bigrams, b.bigrams, weights) >= (NEAR_WITH_CHOICES if shared > 1 else NEAR)


def _cosine(a: frozenset[str], b: frozenset[str], weights: Mapping[str, float]) -> float:
    def squares(bigrams: frozenset[str]) -> float:
        return sum(weights[bigram] ** 2 for bigram in bigrams)

    lengths = squares(a) * squares(b)
    return squares(a & b) / sqrt(lengths) if lengths else 0.0
