"""Records from outside: files of JSON lines, CSV, TSV or Parquet, and data sets by name where `datasets` is there."""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from akinai.core.errors import UsageError
from akinai.core.untrusted.documents import MOST_RECORD_BYTES
from akinai.files import open_named, read_named


def record_lines(name: str, *, split: str = "train") -> tuple[str, str]:
    """The file name and the text of a file of questions, or of a data set ("owner/name", "owner/name:split").

    Parquet files and data sets become JSON lines. UsageError for what is not there or cannot be read; it says what to
    install where Parquet needs pyarrow and a name needs `datasets`.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        raise UsageError(f"the questions {name!r} are a folder; name a file in it")
    if path.exists():
        return file_lines(path, f"the questions in {str(path)!r}")
    if "/" in name and not path.suffix:
        base, _, named_split = name.partition(":")
        return "data.jsonl", _json_lines(_load_hub_records(base, named_split or split))
    raise UsageError(
        f"no file of questions {name!r}; give a file that ends in .jsonl, .csv, .tsv or .parquet, "
        "or the name of a data set such as 'sbintuitions/JCommonsenseQA'"
    )


def file_lines(path: Path, what: str) -> tuple[str, str]:
    """The name and the text of a file of records; `what` is it called in errors. Parquet becomes JSON lines.

    UsageError as in `read_named`, and without pyarrow for a Parquet file.
    """
    if path.suffix.lower() == ".parquet":
        return f"{path.stem}.jsonl", _json_lines(_read_parquet(path, what))
    return path.name, read_named(path, what, most_bytes=MOST_RECORD_BYTES)


def _json_lines(records: Iterator[Mapping[str, Any]]) -> str:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def _read_parquet(path: Path, what: str) -> Iterator[Mapping[str, Any]]:
    try:
        table: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            f"{str(path)!r} is Parquet, and pyarrow is not installed; pip install pyarrow, or give JSON lines or CSV"
        ) from error
    with open_named(path, what) as file:
        try:
            yield from table.read_table(file).to_pylist()
        except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
            raise UsageError(f"{str(path)!r} cannot be read as Parquet: {error}; give another file") from error


def _load_hub_records(name: str, split: str) -> Iterator[Mapping[str, Any]]:
    try:
        load: Any = import_module("datasets").load_dataset
    except ImportError as error:
        raise UsageError(
            f"no file {name!r}, and a data set by that name needs 'datasets', which is not installed; "
            "pip install datasets, or give the path of a file"
        ) from error
    try:
        yield from load(name, split=split)
    except Exception as error:  # the hub, the network or the loader may raise anything
        raise UsageError(f"the data set {name!r} has no split {split!r} to read here: {error}; give a file") from error
