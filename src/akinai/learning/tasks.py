"""Tasks: what is to be done, what a Generator sees of it, and when an answer counts as right. Pure.

A data set of one's own is a `DataSet`: a name, a function from split to tasks, and how answers are checked. It reaches
`akinai.learn` as an object, or by name through the entry point group `akinai.tasks` (a function that takes the table
`[learn.NAME]` of `akinai.toml` as keyword arguments and returns a `DataSet`).
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.retrieval import normalise

if TYPE_CHECKING:
    from akinai.learning.loop_records import Plan
    from akinai.learning.loop_shelf import Shelf
    from akinai.learning.playbook import Section
    from akinai.learning.roles import Roles

Split: TypeAlias = Literal["train", "held_out", "validation", "test"]
"""Learned from; asked by the gate and nobody else; judged once, at the end; judged when everything is settled."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a Generator sees of a task. It has no field for the truth."""

    id: str
    text: str
    """The task in words: the question and its choices, the situation."""
    query: str
    """What the playbook is asked for."""
    data: Json = None
    """The same for programs: {"question": ..., "choices": [...]}."""
    attempt: str = ""
    """In learning: which try of which epoch of which learning this is, the same again after a crash; for Generators
    that keep records by name. Empty where it is judged."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do, and what would have been right. Evaluator and Reflector see all of it, a Generator never."""

    id: str
    """Unlike that of any other task of its split."""
    text: str
    truth: str
    """The right answer, or what a world knows of how it should have gone."""
    query: str = ""
    """What the playbook is asked for; empty: the text."""
    data: Json = None
    """The task for programs; a Generator sees it, so the truth is not in it."""
    source: str = ""
    """Where it comes from, "run#seq" or "file#line": the bullets that it teaches name it; empty: the id."""

    @property
    def assignment(self) -> Assignment:
        """What the Generator gets."""
        return Assignment(self.id, self.text, self.query or self.text, self.data)

    @property
    def evidence(self) -> str:
        return self.source or self.id


Check: TypeAlias = Callable[[str, str], bool]
"""(truth, answer) -> whether the answer is right. Never asked of an empty answer, which is wrong."""

TaskLoader: TypeAlias = Callable[[Split], Sequence[Task]]
"""The tasks of a split in a fixed order; empty for one that the data set has not."""


@dataclass(frozen=True)
class DataSet:
    """Tasks that one playbook is learned from."""

    name: str
    """Names the playbook `data/playbooks/<name>.json` and the sections in `config/sections.yaml`."""
    load: TaskLoader
    check: Check = field(default_factory=lambda: exact)
    sections: tuple[Section, ...] = ()
    """None given: those of its name in `sections.yaml`, else those of "custom"."""
    rules: Roles | None = None
    """Generator, Reflector and Curator without a model; None where only a model can do the tasks."""
    language: str = "en"
    """Of the prompts: "en" or "ja"."""
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Those of the learner that suit its rules, by name; `[learn]` of `akinai.toml` and the caller go over them, and
    roles of another kind are not bound by them."""
    shelf: Callable[[Plan], Shelf] | None = None
    """How its tasks get their bullets; None: by one search, as the settings say."""


def exact(truth: str, answer: str) -> bool:
    """Equal after NFKC, lower case, single spaces and without a full stop at the end: "1" is not right for "10"."""
    return _settled(truth) == _settled(answer)


def number(truth: str, answer: str) -> bool:
    """The same number, to nine digits: "1,000.0" is right for "1000". Texts that are no numbers are compared whole."""
    a, b = _number(truth), _number(answer)
    return exact(truth, answer) if a is None or b is None else math.isclose(a, b, rel_tol=1e-9)


CHECKS: Mapping[str, Check] = {"exact": exact, "number": number}
"""By the names that `check` in `[learn]` takes."""

SPLITS: tuple[Split, ...] = get_args(Split)

_PLACE = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")
_ENDINGS = " .。"


def read_tasks(text: str, file: str, *, id: str, task: str, truth: str) -> list[Task]:
    """Tasks from JSON lines or CSV (by the name of the file). UsageError names the line at fault.

    `id`, `task` and `truth` are the field of each, or a text with fields in braces: "{question} A: {choice0}". A
    Generator is shown the other fields as `data`, those of the truth never.
    """
    hidden = frozenset(_fields(truth))
    rows = list(csv.DictReader(io.StringIO(text))) if file.endswith(".csv") else list(_json_lines(text, file))
    return [
        Task(
            _field(row, id, f"{file}, task {number}") if id else f"{file}#{number}",
            _field(row, task, f"{file}, task {number}"),
            _field(row, truth, f"{file}, task {number}"),
            data={name: value for name, value in row.items() if name not in hidden},
            source=f"{file}#{number}",
        )
        for number, row in enumerate(rows, 1)
    ]


def _json_lines(text: str, file: str) -> Iterator[Mapping[str, Json]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{file}, line {number} is not JSON ({error}); write one object a line") from error
        if not isinstance(row, dict):
            raise UsageError(f"{file}, line {number} is {line:.60}; write one object a line")
        yield cast("dict[str, Json]", row)


def _fields(wanted: str) -> list[str]:
    return _PLACE.findall(wanted) or [wanted]


def _field(row: Mapping[str, Json], wanted: str, place: str) -> str:
    def value(name: str) -> str:
        if name not in row:
            raise UnknownName("field", name, row, f"in {place}")
        told = row[name]
        return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)

    return _PLACE.sub(lambda found: value(found[1]), wanted) if _PLACE.search(wanted) else value(wanted)


def _settled(text: str) -> str:
    return " ".join(normalise(text).split()).rstrip(_ENDINGS)


def _number(text: str) -> float | None:
    told = _settled(text)
    return float(told.replace(",", "")) if _NUMBER.fullmatch(told) else None
