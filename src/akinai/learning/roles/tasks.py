"""Tasks, the part of them that a Generator sees, and the checks of answers. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.retrieval import normalise

Split: TypeAlias = Literal["train", "held_out", "validation", "test"]
"""Tasks to learn from; tasks for the gate; tasks that judge once, at the end; tasks for a final judgement."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The part of a task that a Generator sees. It has no field for the truth."""

    id: str
    text: str
    """The task in words: the question and its choices, the situation."""
    query: str
    """The query to the playbook."""
    data: Json = None
    """The task for programs: {"question": ..., "choices": [...]}."""
    attempt: str = ""
    """The name of the attempt in a learning ("learning/epoch/number"), for Generators that keep records by name. It is
    the same after a crash. Empty where the task judges."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The position of a task in a training, each number from 1."""

    epoch: int
    epochs: int
    number: int
    tasks: int


@dataclass(frozen=True, slots=True)
class Task:
    """A task and its right answer. Evaluator and Reflector see all of it, a Generator only its assignment."""

    id: str
    """Unique in its split."""
    text: str
    truth: str
    """The right answer, or a world's facts about how the run should have gone."""
    query: str = ""
    """The query to the playbook; empty: the text."""
    data: Json = None
    """The task for programs. A Generator sees it, so it does not hold the truth."""
    source: str = ""
    """The origin of the task, "run#seq" or "file#line", which bullets name as their source; empty: the id."""
    progress: Progress | None = None
    """Its position in the training; the loop fills it in for the Reflector."""
    identity: str = ""
    """Equal for tasks that are the same, whatever their ids and texts; empty: tasks of equal text are the same."""

    @property
    def assignment(self) -> Assignment:
        return Assignment(self.id, self.text, self.query or self.text, self.data)

    @property
    def question(self) -> str:
        """The question alone where the task has choices beside it; else its text."""
        match self.data:
            case {"question": str(question)}:
                return question
            case _:
                return self.text

    @property
    def evidence(self) -> str:
        return self.source or self.id


@dataclass(frozen=True, slots=True)
class Grade:
    """The result of a graded check. UsageError for a score out of range."""

    score: float
    """0 to 1; 1 is right."""
    report: str = ""
    """The output of the check, for the Reflector. It does not hold the right answer."""

    def __post_init__(self) -> None:
        if not 0 <= self.score <= 1:
            raise UsageError(f"a check gave the score {self.score!r}; give one from 0 to 1")


Check: TypeAlias = Callable[[str, str], "bool | float | Grade"]
"""(truth, answer) -> whether the answer is right, or its score. Never called for an empty answer, which is wrong."""


def grade(check: Check, truth: str, answer: str) -> Grade:
    """The grade of an answer; an empty one gets 0. UsageError for a score out of range."""
    verdict = check(truth, answer) if answer.strip() else 0.0
    return verdict if isinstance(verdict, Grade) else Grade(float(verdict))


_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")
_ENDINGS = " .。"


def exact(truth: str, answer: str) -> bool:
    """Whether both are equal after NFKC, in lower case, with single spaces and without a final full stop: "1" is not
    right for "10"."""
    return _folded(truth) == _folded(answer)


def number(truth: str, answer: str) -> bool:
    """Whether both are the same number to nine digits: "1,000.0" is right for "1000". Other texts must be `exact`."""
    return _close(truth, answer, 1e-9)


def number_within(tolerance: float) -> Check:
    """A check that counts numbers within a relative tolerance as equal."""
    return lambda truth, answer: _close(truth, answer, tolerance)


def contains(truth: str, answer: str) -> bool:
    """Whether the answer holds the truth as whole words: "the answer is 10" is right for "10", and "100" is not."""
    return re.search(_whole_words(_folded(truth)), _folded(answer)) is not None


def parts(truth: str, answer: str) -> Grade:
    """The share of the truth's parts that the answer holds as whole words. Parts are divided by ";" or lines."""
    required = _parts(truth)
    if not required:
        raise UsageError(f"the truth {truth!r:.60} has no parts; divide them by ';'")
    hits = sum(re.search(_whole_words(part), _folded(answer)) is not None for part in required)
    return Grade(hits / len(required), f"{hits} of {len(required)} parts")


def _parts(truth: str) -> list[str]:
    return list(dict.fromkeys(filter(None, (_folded(part) for part in re.split(r"[;；\n]", truth)))))


def regex(truth: str, answer: str) -> bool:
    """Whether the truth, a regular expression, matches the whole answer. Spaces around the answer are ignored."""
    try:
        return re.fullmatch(truth, answer.strip()) is not None
    except re.error as error:
        raise UsageError(f"the truth {truth!r:.60} is no regular expression: {error}; mend it") from error


def with_options(check: Check, truth: str, answer: str, options: Iterable[str]) -> Grade:
    """The grade of an answer to a task with options, where a check looks for the truth inside the answer: an answer
    that names several options is worth as much as one of them drawn by lot, so naming all of them does not pay."""
    graded = grade(check, truth, answer)
    required = frozenset(_parts(truth) if check is parts else (_folded(truth),))
    text = _folded(answer)
    for part in sorted(required, key=len, reverse=True):  # an option inside the truth is not named by it
        text = re.sub(_whole_words(part), " ", text)
    others = {folded for option in options if (folded := _folded(option)) and folded not in required}
    named = sum(re.search(_whole_words(other), text) is not None for other in others)
    if not named or not graded.score:
        return graded
    hits = round(graded.score * len(required))
    report = "; ".join(filter(None, (graded.report, f"{hits + named} options named")))
    return Grade(graded.score * hits / (hits + named), report)


CHECKS: Mapping[str, Check] = {
    "exact": exact,
    "number": number,
    "contains": contains,
    "parts": parts,
    "regex": regex,
}
"""The names that the setting `check` accepts."""


SEARCHING: tuple[Check, ...] = (contains, parts)
"""The checks that look for the truth inside the answer."""

MOST_LABELS, LABEL_TASKS = 20, 3
"""Right answers are labels, of which an answer may name one, where there are at most so many of them, each the answer
of at least so many tasks on average."""


def labels(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The right answers of tasks that all choose from a few; none where answers are free, or are numbers."""
    truths = tuple(dict.fromkeys(_folded(task.truth) for task in tasks))
    closed = 1 < len(truths) <= MOST_LABELS and len(tasks) >= LABEL_TASKS * len(truths)
    return truths if closed and not any(_number(truth) is not None for truth in truths) else ()


def _close(truth: str, answer: str, tolerance: float) -> bool:
    a, b = _number(truth), _number(answer)
    return exact(truth, answer) if a is None or b is None else math.isclose(a, b, rel_tol=tolerance)


def _whole_words(text: str) -> str:
    """A pattern that matches a text as whole words. Japanese has no word ends, so its texts match anywhere."""
    before = r"(?<![a-z0-9])" if text[:1].isascii() and text[:1].isalnum() else ""
    after = r"(?![a-z0-9]|[.,]\d)" if text[-1:].isascii() and text[-1:].isalnum() else ""
    return before + re.escape(text) + after


def _folded(text: str) -> str:
    return " ".join(normalise(text).split()).rstrip(_ENDINGS)


def _number(text: str) -> float | None:
    folded = _folded(text)
    return float(folded.replace(",", "")) if _NUMBER.fullmatch(folded) else None
