"""Data sets by name: files that `akinai.toml` describes, and those that packages bring through entry points.

[learn.tasks.capitals]
train = "capitals.jsonl"
task = "What is the capital of {country}?"
truth = "capital"
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint
from importlib.resources import files
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from akinai import worlds
from akinai.core.errors import UnknownName, UsageError
from akinai.learning.choices import ChoiceTasks, choice_data_set, choice_task
from akinai.learning.data_sets import DataSet, read_tasks
from akinai.learning.extras import extra_installed
from akinai.learning.playbook.sections import sections_for
from akinai.learning.roles.tasks import Split, Task
from akinai.plugins import plugins
from akinai.runtime.config.records import file_lines, record_lines
from akinai.runtime.config.settings import SETTINGS_FILE
from akinai.runtime.learn.checks import find_check
from akinai.runtime.learn.plugins import find_plugin
from akinai.runtime.learn.settings import LearnSettings, learn_settings, validated

GROUP = "akinai.tasks"
"""Entry points by name: a function that takes the table `[learn.tasks.NAME]` and returns a `DataSet`, or
`ChoiceTasks`."""


class TaskFiles(BaseModel):
    """A data set in files, described by configuration alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    train: Annotated[str, Field(min_length=1)]
    """A file of JSON lines, CSV, TSV or Parquet."""
    held_out: str = ""
    validation: str = ""
    test: str = ""
    id: str = ""
    """The field with the id of a task; empty: the file and the number of the task."""
    task: str = "task"
    """A field, or a text with fields in braces."""
    truth: str = "answer"
    check: str = "exact"
    """A name of `CHECKS`, "number:TOLERANCE", "command:PROGRAM ...", or "module:function" of (truth, answer)."""
    language: Literal["en", "ja"] = "en"


def find_data_set(
    name: str, options: Mapping[str, Any] | None = None, settings: LearnSettings | None = None
) -> DataSet:
    """The data set of this name, described by `[learn.tasks.NAME]` or brought by a package.

    `options` override the table. UnknownName with close matches for a name that is not there.
    """
    tables = (settings or learn_settings({})).tasks
    table = {**tables.get(name, {}), **(options or {})}
    if name in entry_data_sets():
        return _entry_data_set(name, table)
    if name not in tables and not (table.keys() & TaskFiles.model_fields):
        names = {*entry_data_sets(), *tables, *worlds.names()}
        hint = f"describe a data set in [learn.tasks.NAME] of {SETTINGS_FILE}"
        raise UnknownName("data set or world", name, names, hint)
    return _file_data_set(name, validated(TaskFiles, table, f"the data set {name!r}"))


def entry_data_sets() -> Mapping[str, EntryPoint]:
    """The data sets that installed packages bring, by name; ours are among them."""
    return plugins(GROUP)


def questions(
    tasks: ChoiceTasks[Any], data: str = "", eval: str = "", test: str = "", extra: bool | None = None
) -> DataSet:
    """Multiple-choice questions as a data set: questions to learn from, and questions to be judged by.

    `data`, `eval` and `test` are files, names of data sets ("owner/name", "owner/name:split"), or samples of the
    package; without any, the samples. `extra` says whether bullets are found by SudachiPy's words and fitted vectors;
    None: where the extra `learn`, which they need, is installed.
    """
    if extra not in (None, True, False):
        raise UsageError(f"extra is {extra!r:.40}; say true or false, or leave it out")
    sample, eval_sample = tasks.samples
    data = data or sample
    names: dict[Split, str] = {
        "train": data,
        "validation": eval or (eval_sample if data == sample else ""),
        "test": test,
    }

    def load(split: Split) -> Sequence[Task]:
        name = names.get(split)
        return _read_questions(tasks, name, split) if name else []

    with_extra = extra_installed() if extra is None else extra
    return choice_data_set(tasks, load, sections_for(tasks.sections), extra=with_extra)


def _read_questions(tasks: ChoiceTasks[Any], name: str, split: Split) -> list[Task]:
    if not Path(name).expanduser().is_file() and name in tasks.samples:
        file, text = name, files(tasks.package).joinpath(name).read_text(encoding="utf-8")
    else:
        file, text = record_lines(name, split=split)
    try:
        questions = tasks.read(file, text)
    except ValueError as error:
        raise UsageError(f"the questions in {name!r} cannot be read: {error}") from error
    return [choice_task(tasks, question, name.rpartition("/")[2]) for question in questions]


def _entry_data_set(entry: str, table: Mapping[str, Any]) -> DataSet:
    loaded: object = find_plugin(GROUP, "data set", entry)
    of_choices = isinstance(loaded, ChoiceTasks)
    make = (
        partial(questions, cast("ChoiceTasks[Any]", loaded)) if of_choices else cast("Callable[..., DataSet]", loaded)
    )
    parameters = signature(make).parameters
    if not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        for name in table:
            if name not in parameters:
                raise UnknownName("setting", name, parameters, f"of the data set {entry!r}")
    return make(**table)


def _file_data_set(name: str, described: TaskFiles) -> DataSet:
    def load(split: Split) -> list[Task]:
        if not (file := str(getattr(described, split))):
            return []
        short, text = file_lines(Path(file).expanduser(), f"the tasks in {file!r}")
        return read_tasks(text, short, id=described.id, task=described.task, truth=described.truth)

    return DataSet(name, load, find_check(described.check), language=described.language)
