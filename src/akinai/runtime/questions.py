"""Questions from outside: files of JSON lines, CSV, TSV or Parquet, and data sets by name where `datasets` is there."""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from akinai.core.errors import UsageError
from akinai.worlds.qa.data import read_data
from akinai.worlds.qa.setup import Question

SAMPLE_TRAIN, SAMPLE_EVAL = "sample_train.jsonl", "sample_eval.jsonl"
"""The product's own questions: to learn from, and to be judged by."""


def questions_in(name: str, *, split: str = "train") -> tuple[Question, ...]:
    """The questions in a file, in one of the two samples, or in a data set by name ("owner/name", "owner/name:split").

    UsageError for what is not there or cannot be read, naming the record at fault; it says what to install where
    Parquet wants pyarrow and a name wants `datasets`.
    """
    path = Path(name).expanduser()
    if path.is_file():
        read = (path.name, _text(path))
    elif name in (SAMPLE_TRAIN, SAMPLE_EVAL):
        read = (name, files("akinai.worlds.qa").joinpath(name).read_text(encoding="utf-8"))
    elif "/" in name and not path.suffix:
        base, _, chosen = name.partition(":")
        read = ("data.jsonl", _lines(_by_name(base, chosen or split)))
    else:
        raise UsageError(
            f"no file of questions {name!r}; give a file that ends in .jsonl, .csv, .tsv or .parquet, "
            "or the name of a data set such as 'sbintuitions/JCommonsenseQA'"
        )
    try:
        found = read_data(dict([read]))
    except ValueError as error:
        raise UsageError(f"the questions in {name!r} cannot be read: {error}") from error
    return tuple(Question.model_validate(one) for one in cast("list[Any]", found))


def _text(path: Path) -> str:
    if path.suffix.lower() == ".parquet":
        return parquet_lines(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the questions in {str(path)!r} cannot be read: {error}; give a file in UTF-8") from error


def parquet_lines(path: Path) -> str:
    """The records of a Parquet file as JSON lines. UsageError without pyarrow, or for a file that it cannot read."""
    return _lines(_parquet(path))


def _lines(records: Iterator[Mapping[str, Any]]) -> str:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def _parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        table: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            f"{str(path)!r} is Parquet, and pyarrow is not installed; pip install pyarrow, or give JSON lines or CSV"
        ) from error
    try:
        yield from table.read_table(path).to_pylist()
    except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
        raise UsageError(f"{str(path)!r} cannot be read as Parquet: {error}; give another file") from error


def _by_name(name: str, split: str) -> Iterator[Mapping[str, Any]]:
    try:
        load: Any = import_module("datasets").load_dataset
    except ImportError as error:
        raise UsageError(
            f"no file {name!r}, and a data set by that name needs 'datasets', which is not installed; "
            "pip install datasets, or give the path of a file"
        ) from error
    try:
        yield from load(name, split=split)
    except Exception as error:  # whatever the hub, the network or the loader raises
        raise UsageError(f"the data set {name!r} has no split {split!r} to read here: {error}; give a file") from error
