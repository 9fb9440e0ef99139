"""Reads logs of Inspect AI (`.eval`, `.json`), of any task, without that package: the scores of each sample."""

import math
import stat
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from akinai.core.canonical import Json, canonical
from akinai.core.errors import MissingExtra, UsageError
from akinai.core.untrusted.documents import MOST_RECORD_BYTES, DocumentError, decode_text, parse_json, why_unfit
from akinai.files import open_named, read_named

WORDS = {"c": 1.0, "i": 0.0, "n": 0.0, "no": 0.0, "false": 0.0, "p": 0.5, "yes": 1.0, "true": 1.0}
"""Scores in words, in lower case, as Inspect's own metrics count them."""
ZSTANDARD = 93
"""The number of the compression in a zip."""
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")


@dataclass(frozen=True, slots=True)
class LogSample:
    """The epochs of a sample."""

    epochs: int = 0
    values: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """By score, a value for each epoch that has one."""
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class EvalLog:
    """The parts of a log that a comparison needs."""

    name: str
    task: str
    version: str
    arguments: Mapping[str, Json]
    settings: str | None
    """The digest of world and settings that Akinai writes; None in a log of another task."""
    model: str
    status: str
    cluster: str | None
    """The field of the samples' metadata by which the log's own standard errors are clustered; None without one."""
    samples: Mapping[str, LogSample]
    """By id."""
    scores: Sequence[str]
    lost: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rows that are in no figure, by the reason; of logs of Inspect AI the pairs count them."""


def read_eval_log(path: str | Path) -> EvalLog:
    """A log of any task. UsageError for a file that is none, MissingExtra for one that needs `zstandard`."""
    name = str(path)
    try:
        header, summaries = _documents(Path(path))
        return _log(name, header, summaries)
    except DocumentError as error:
        raise UsageError(f"{name!r} cannot be read: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, EOFError, zipfile.BadZipFile) as error:
        why = f"{type(error).__name__}: {error}"[:200]
        raise UsageError(f"{name!r} is no log of Inspect AI, or a damaged one ({why}); name a .eval file") from error


def _documents(path: Path) -> tuple[Any, Sequence[Any]]:
    """The header of a log and its samples, whole or as summaries."""
    if path.suffix == ".json":
        document = parse_json(read_named(path, most_bytes=MOST_RECORD_BYTES))
        return document, document.get("samples") or ()
    with open_named(path) as file, zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        unfinished = "header.json" not in names
        header = _member(archive, file, "_journal/start.json" if unfinished else "header.json")
        if "summaries.json" in names:
            return header, _member(archive, file, "summaries.json")
        parts = sorted(name for name in names if name.startswith("_journal/summaries/"))
        return header, [summary for part in parts for summary in _member(archive, file, part)]


def _member(archive: zipfile.ZipFile, file: BinaryIO, name: str) -> Any:
    info = archive.getinfo(name)
    if why := why_unfit(stat.S_IFREG, info.file_size, MOST_RECORD_BYTES):
        raise DocumentError(f"{name} in it: {why}")
    try:
        return parse_json(decode_text(archive.read(info)))
    except NotImplementedError:
        if info.compress_type != ZSTANDARD:
            raise ValueError(f"{name} is compressed by method {info.compress_type}") from None
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtra("reading logs that Inspect AI wrote", "zstandard", "logs") from error
    file.seek(info.header_offset)
    head = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(head[-2] + head[-1], 1)
    data = file.read(info.compress_size)
    try:
        return parse_json(decode_text(zstandard.ZstdDecompressor().stream_reader(data).read(info.file_size)))
    except zstandard.ZstdError as error:
        raise ValueError(f"{name}: {error}") from error


def _log(name: str, header: Any, summaries: Sequence[Any]) -> EvalLog:
    spec = header["eval"]
    samples: dict[str, LogSample] = {}
    scores: dict[str, None] = {}
    newest = {(str(summary["id"]), summary.get("epoch", 1)): summary for summary in summaries}
    for (id, _), summary in newest.items():
        sample = samples.get(id, LogSample())
        numbers = _values(cast("dict[str, Any]", summary.get("scores") or {}))
        scores |= dict.fromkeys(numbers)
        values = {key: [*sample.values.get(key, ()), *numbers.get(key, ())] for key in {**sample.values, **numbers}}
        samples[id] = LogSample(sample.epochs + 1, values, summary.get("metadata") or {})
    return EvalLog(
        name=Path(name).name,
        task=spec["task"],
        version=str(spec.get("task_version", 0)),
        arguments=spec.get("task_args") or {},
        settings=cast("dict[str, Any]", spec.get("metadata") or {}).get("settings_digest"),
        model=spec["model"],
        status=header.get("status", "started"),
        cluster=_cluster(header.get("results") or {}),
        samples=samples,
        scores=tuple(scores),
    )


def _values(scores: Mapping[str, Any]) -> dict[str, list[float]]:
    """The numbers in a sample's scores. A score of several numbers is several scores, named by its keys."""
    numbers: dict[str, list[float]] = {}
    for scorer, score in scores.items():
        value = score["value"]
        parts: Mapping[Any, Any]
        match value:
            case dict():
                parts = {
                    key if key not in numbers else f"{scorer}/{key}": part
                    for key, part in cast("dict[str, Any]", value).items()
                }
            case list():
                parts = {f"{scorer}/{index}": part for index, part in enumerate(cast("list[Any]", value))}
            case _:
                parts = {scorer: value}
        for key, part in parts.items():
            number = as_number(part)
            numbers[str(key)] = [] if number is None else [number]
    return numbers


def as_number(value: object) -> float | None:
    """A score as Inspect's metrics count it: "C" is 1, "P" 0.5, "I" and "N" are 0; None for one without a number."""
    if isinstance(value, str):
        text = value.strip().lower()
        if text in WORDS:
            return WORDS[text]
        try:
            value = float(text)
        except ValueError:
            return None
    if not isinstance(value, int | float) or not abs(value) <= 1e100:
        return None
    return None if math.isnan(value) else float(value)


def _cluster(results: Mapping[str, Any]) -> str | None:
    """The field that a metric of the log names as its cluster."""
    scores: Sequence[Any] = results.get("scores") or ()
    metrics = (metric for score in scores for metric in cast("dict[str, Any]", score.get("metrics") or {}).values())
    named = (cast("dict[str, Any]", metric.get("params") or {}).get("cluster") for metric in metrics)
    return next((cluster for cluster in named if isinstance(cluster, str)), None)


def expect_alike(a: EvalLog, b: EvalLog) -> None:
    """UsageError unless two logs are of one task with the same arguments; logs of Akinai may differ in their seeds."""
    if (a.task, a.version) != (b.task, b.version):
        raise UsageError(
            f"{a.name} is of the task {a.task!r}, version {a.version}, and {b.name} of {b.task!r}, version {b.version}"
            "; compare logs of one task"
        )
    if a.settings and b.settings:
        if a.settings != b.settings:
            raise UsageError(f"{a.name} and {b.name} are of {a.task!r} with other settings; compare logs of the same")
        return
    names = dict.fromkeys([*a.arguments, *b.arguments])
    differing = [name for name in names if canonical(a.arguments.get(name)) != canonical(b.arguments.get(name))]
    if differing:
        differences = ", ".join(
            f"{name}: {a.arguments.get(name)!r:.60} and {b.arguments.get(name)!r:.60}" for name in differing
        )
        raise UsageError(
            f"{a.name} and {b.name} are of {a.task!r} with other arguments ({differences}); compare logs of the same"
        )
