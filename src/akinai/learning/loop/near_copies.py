"""Near copies: judged tasks that share most of their choices, or their words and their answer, with a training task.
Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

from akinai.learning.roles.tasks import Task
from akinai.retrieval import normalise

FEWEST_CHOICES = 3
"""Choices of a question of which all but one make it the same question; two would be any yes or no."""
NEAR = 0.6
"""Cosine of the weighted bigrams of two tasks with equal answers from which they are near copies."""
NEAR_WITH_CHOICES = 0.35
"""The same for two questions that share a further choice too."""
RAREST = 16
"""Bigrams of a task, the rarest ones, by which tasks that may be like it are found."""


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
