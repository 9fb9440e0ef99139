"""Data sets: tasks by split, how answers are checked, and the rules that learn them. Pure; texts come as arguments.

A data set reaches `akinai.learn` as an object, or by name through the entry point group `akinai.tasks`: a function that
takes the table `[learn.tasks.NAME]` of `akinai.toml` as keyword arguments and returns a `DataSet`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.untrusted.documents import TABLES, DocumentError, parse_lines, parse_rows
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.loop.state import LoopConfig
from akinai.learning.playbook.bullets import Section
from akinai.learning.roles.protocols import Roles
from akinai.learning.roles.tasks import Check, Split, Task, exact

TaskLoader: TypeAlias = Callable[[Split], Sequence[Task]]
"""The tasks of a split in a fixed order; empty for a split that the data set does not have."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class DataSet:
    """Tasks that one playbook is learned from."""

    name: str
    """Names the playbook `data/playbooks/<name>.json` and the sections in `config/sections.yaml`."""
    load: TaskLoader
    check: Check = exact
    sections: tuple[Section, ...] = ()
    """Empty: the sections of its name in `sections.yaml`, else those of "custom"."""
    rules: Roles | None = None
    """Generator, Reflector and Curator without a model; None where only a model can do the tasks."""
    language: str = "en"
    """The language of the prompts: "en" or "ja"."""
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Learner settings that suit the rules, by name. `[learn]` of `akinai.toml` and the caller override them; they do
    not apply to roles that ask a model."""
    retriever: Callable[[LoopConfig], PlaybookRetriever] | None = None
    """Makes the retriever of its tasks; None: a `PlaybookRetriever` by the settings."""


def read_tasks(text: str, file: str, *, id: str, task: str, truth: str) -> list[Task]:
    """Tasks from a table where the file's name ends in ".csv" or ".tsv", else from JSON lines.

    UsageError names the line at fault; a file without any is at fault too.

    `id`, `task` and `truth` are each the name of a field, or a text with fields in braces: "{question} A: {choice0}".
    The fields of the truth are hidden from Generators; they see the others as `data`.
    """
    hidden = frozenset(_PLACEHOLDER.findall(truth) or [truth])
    rows = list(_rows(text, file))
    if not rows:
        raise UsageError(f"{file} holds no task; give one a line")
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


def _rows(text: str, file: str) -> Iterator[Mapping[str, Json]]:
    delimiter = TABLES.get(file[-4:].lower())
    try:
        for number, row in parse_rows(text, delimiter) if delimiter else parse_lines(text):
            if not isinstance(row, dict):
                raise UsageError(f"{file}, line {number} is {row!r:.60}; write one object a line")
            yield cast("dict[str, Json]", row)
    except DocumentError as error:
        raise UsageError(f"{file} cannot be read: {error}") from error


def _field(row: Mapping[str, Json], template: str, location: str) -> str:
    def value(name: str) -> str:
        if name not in row:
            raise UnknownName("field", name, row, f"in {location}")
        field = row[name]
        return field if isinstance(field, str) else json.dumps(field, ensure_ascii=False)

    return (
        _PLACEHOLDER.sub(lambda match: value(match[1]), template) if _PLACEHOLDER.search(template) else value(template)
    )
