"""Tasks: what is to be done, what a Generator sees of it, and when an answer counts as right. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from akinai.core.canonical import Json
from akinai.retrieval import normalise

Split: TypeAlias = Literal["train", "held_out", "validation", "test"]
"""Tasks to learn from; tasks for the gate alone; tasks that judge once, at the end; tasks for a final judgement."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a Generator sees of a task. It has no field for the truth."""

    id: str
    text: str
    """The task in words: the question and its choices, the situation."""
    query: str
    """The query to the playbook."""
    data: Json = None
    """The same for programs: {"question": ..., "choices": [...]}."""
    attempt: str = ""
    """Names the attempt while learning ("learning/epoch/number"), the same again after a crash, for Generators that
    keep records by name. Empty where the task is judged."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do, and its right answer. Evaluator and Reflector see all of it, a Generator its assignment."""

    id: str
    """Unique in its split."""
    text: str
    truth: str
    """The right answer, or what a world knows of how the run should have gone."""
    query: str = ""
    """The query to the playbook; empty: the text."""
    data: Json = None
    """The task for programs. A Generator sees it, so it does not hold the truth."""
    source: str = ""
    """Where the task comes from, "run#seq" or "file#line": bullets name it as their source; empty: the id."""
    identity: str = ""
    """Equal for tasks that are the same, whatever their ids and texts; empty: tasks of equal text are the same."""

    @property
    def assignment(self) -> Assignment:
        return Assignment(self.id, self.text, self.query or self.text, self.data)

    @property
    def evidence(self) -> str:
        return self.source or self.id


Check: TypeAlias = Callable[[str, str], bool]
"""(truth, answer) -> whether the answer is right. Never called for an empty answer, which is wrong."""

_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")
_ENDINGS = " .。"


def exact(truth: str, answer: str) -> bool:
    """Equal after NFKC, lower case, single spaces and without a full stop at the end: "1" is not right for "10"."""
    return _folded(truth) == _folded(answer)


def number(truth: str, answer: str) -> bool:
    """The same number to nine digits: "1,000.0" is right for "1000". Texts that are not numbers are compared whole."""
    a, b = _number(truth), _number(answer)
    return exact(truth, answer) if a is None or b is None else math.isclose(a, b, rel_tol=1e-9)


CHECKS: Mapping[str, Check] = {"exact": exact, "number": number}
"""The names that the setting `check` accepts."""


def _folded(text: str) -> str:
    return " ".join(normalise(text).split()).rstrip(_ENDINGS)


def _number(text: str) -> float | None:
    folded = _folded(text)
    return float(folded.replace(",", "")) if _NUMBER.fullmatch(folded) else None
