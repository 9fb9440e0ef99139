"""Reads the scores in other people's files: results of tau2, samples of lm-eval, results of verifiers, and tables.

The shapes are the documented ones; none of these packages is needed.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from akinai.analysis.eval_logs import EvalLog, LogSample, as_number
from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.untrusted.documents import (
    MOST_RECORD_BYTES,
    TABLES,
    DocumentError,
    delimiter_of,
    parse_json,
    parse_lines,
    parse_rows,
)
from akinai.files import open_named, read_named

Format = Literal["inspect", "tau2", "lm-eval", "verifiers", "table"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS = (".json", ".jsonl", *TABLES)

SAMPLE = ("sample", "sample_id", "id", "task_id", "doc_id", "example_id", "question_id", "item")
EPOCH = ("epoch", "trial", "repeat", "rollout", "attempt")
SCORE = ("score", "scores", "reward", "correct", "success", "passed", "acc", "accuracy", "value")
TASK = ("task", "benchmark", "dataset", "domain")
"""Names of columns, the first that a table has, in any case and with spaces or hyphens; a sample by another name, or
another score, is named by the caller."""
VERDICTS = {"pass": 1.0, "passed": 1.0, "correct": 1.0, "fail": 0.0, "failed": 0.0, "incorrect": 0.0, "wrong": 0.0}
"""Scores of a table in words, beside those of Inspect."""
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
STATUS = ("status", "state")
FAILED = {"cancelled", "canceled", "crashed", "error", "errored", "failed", "failure", "timeout"}
"""Values of a table's column of status that say that a row broke, and was not judged."""
NOT_JUDGED = {"infrastructure_error", "context_window_exceeded"}
"""Terminations of tau2 that its own metrics leave out, since no rollout was judged."""
LM_EVAL_METRICS = {"acc", "acc_norm", "exact_match", "f1", "em", "mc1", "mc2", "bleu", "rouge1", "pass@1"}
"""Metrics of older samples of lm-eval, which do not name theirs."""
NO_SCORES = {"example_id", "id", "generation_ms", "scoring_ms", "total_ms", "total_tokens"}
"""Numbers of a row of verifiers that are no scores."""


@dataclass(frozen=True, slots=True)
class Row:
    """One epoch of one sample."""

    sample: str
    epoch: str | None
    """None where the file does not count them: then every row is an epoch of its own."""
    scores: Mapping[str, float | None]
    task: str = ""
    failed: bool = False
    """Whether it broke, so that it has no score even where a number stands."""
    model: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])


def is_log(name: str) -> bool:
    """Whether a name is that of a file of scores, not of a run."""
    return name.endswith(".eval") or (name.endswith(ENDINGS) and Path(name).exists())


def is_inspect(name: str) -> bool:
    """Whether a file is a log of Inspect AI, by its ending or, of JSON, by what it begins with."""
    if not name.endswith(".json") or not Path(name).is_file():
        return name.endswith(".eval")
    with open_named(name) as file:
        return b'"eval"' in file.read(4096)


def columns_of(text: str | None) -> dict[str, str]:
    """Columns by their part from a text like "sample=question,score=grade". UsageError for any other text."""
    parts = [part.partition("=") for part in (text or "").split(",") if part]
    columns = {part.strip(): name.strip() for part, _, name in parts}
    if not all(columns.values()) or columns.keys() - {"sample", "epoch", "score", "task"}:
        raise UsageError(f"--columns wants sample=NAME,epoch=NAME,score=NAME,task=NAME, or some of them, not {text!r}")
    return columns


def read_score_files(
    a: str | Path, b: str | Path, file_format: Format | None, columns: Mapping[str, str]
) -> tuple[EvalLog, EvalLog]:
    """Two files of one format as logs of the tasks that both have. Rows of other tasks, failed rows and rows without a
    score are counted in `EvalLog.lost`. UsageError for files without a task in common."""
    first, second = (_read(str(path), file_format, columns) for path in (a, b))
    common = {row.task for row in first} & {row.task for row in second}
    if not common:
        sides = ((a, first), (b, second))
        tasks = " and ".join(f"{Path(path).name} of {_names({row.task for row in rows})}" for path, rows in sides)
        raise UsageError(f"{tasks}; compare files of one task")
    return _log(Path(a), first, common), _log(Path(b), second, common)


def _names(tasks: Iterable[str]) -> str:
    return ", ".join(repr(task) for task in sorted(tasks)[:3]) or "no task"


def _log(path: Path, rows: Sequence[Row], tasks: set[str]) -> EvalLog:
    lost, samples, scores = Counter[str](), dict[str, LogSample](), dict[str, None]()
    newest: dict[tuple[str, str], Row] = {}
    for index, row in enumerate(rows):
        if row.task not in tasks:
            lost["of another task"] += 1
            continue
        id = row.sample if len(tasks) == 1 else f"{row.task}/{row.sample}"
        key = (id, f"{index}" if row.epoch is None else f"epoch {row.epoch}")
        lost["repeated"] += key in newest
        newest[key] = row
    for (id, _), row in newest.items():
        numbers = {} if row.failed else {name: value for name, value in row.scores.items() if value is not None}
        lost["failed" if row.failed else "unscored"] += not numbers
        sample = samples.get(id, LogSample())
        values = {name: list(values) for name, values in sample.values.items()}
        for name, value in numbers.items():
            values.setdefault(name, []).append(value)
        scores |= dict.fromkeys(row.scores)
        samples[id] = LogSample(sample.epochs + 1, values, row.metadata or sample.metadata)
    models = dict.fromkeys(row.model for row in newest.values() if row.model)
    return EvalLog(
        name=path.name,
        task=", ".join(sorted(tasks)),
        version="",
        arguments={},
        settings=None,
        model=", ".join(models) or path.stem,
        status="success",
        cluster=None,
        samples=samples,
        scores=tuple(scores),
        lost={reason: count for reason, count in lost.items() if count},
    )


def _read(name: str, file_format: Format | None, columns: Mapping[str, str]) -> list[Row]:
    """The rows of a file, whose format is found by its content unless it is named."""
    try:
        document = _document(name)
        actual = file_format or _format_of(document, columns)
        rows = list(READERS[actual](name, document, columns))
    except DocumentError as error:
        raise UsageError(f"{name!r} cannot be read: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"[:200]
        raise UsageError(
            f"{name!r} is no file of scores of the format {file_format or 'that its content has'} ({why}); "
            f"--format names one of {', '.join(FORMATS)}"
        ) from error
    if not rows:
        raise UsageError(f"{name!r} has no row; name a file of scores")
    return rows


def _document(name: str) -> Any:
    """The rows of a table or of lines of JSON, or the document of a JSON file."""
    text = read_named(name, most_bytes=MOST_RECORD_BYTES)
    ending = Path(name).suffix
    if ending in TABLES:
        rows = [row for _, row in parse_rows(text, TABLES[ending])]
        if delimiter_of(text, TABLES[ending]) != ";":
            return rows
        return [
            {head: cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for head, cell in row.items()}
            for row in rows
        ]
    lines = [line for line in text.splitlines() if line.strip()]
    if ending == ".jsonl" or (len(lines) > 1 and all(line.startswith("{") for line in lines[:2])):
        return [value for _, value in parse_lines(text)]
    return parse_json(text)


def _format_of(document: Any, columns: Mapping[str, str]) -> Format:
    if isinstance(document, dict):
        keys = cast("dict[str, Any]", document).keys()
        return "tau2" if "simulations" in keys or "simulation_index" in keys else "table"
    first = cast("dict[str, Any]", document[0] if document else {})
    if columns:
        return "table"
    if {"doc_id", "target"} <= first.keys():
        return "lm-eval"
    return "verifiers" if {"reward", "completion"} <= first.keys() else "table"


def _tau2(name: str, document: Any, columns: Mapping[str, str]) -> Iterator[Row]:
    """Yield the simulations; `info` tells domain and model."""
    info = _object(document.get("info"))
    domain = str(_object(info.get("environment_info")).get("domain_name") or "")
    model = str(_object(info.get("agent_info")).get("llm") or "")
    whole = bool(document.get("simulations"))  # else an index of simulations in files of their own, with their rewards
    for run in _objects(document.get("simulations") or document.get("simulation_index")):
        reward = as_number((_object(run.get("reward_info")) if whole else run).get("reward"))
        failed = run.get("termination_reason") in NOT_JUDGED
        trial = run.get("trial")
        yield Row(str(run["task_id"]), None if trial is None else str(trial), {"reward": reward}, domain, failed, model)


def _lm_eval(name: str, document: Any, columns: Mapping[str, str]) -> Iterator[Row]:
    """Yield the samples; a filter other than "none" is part of a score's name, as in lm-eval's own tables."""
    stem = Path(name).stem
    task = stem.removeprefix("samples_").rpartition("_")[0] if stem.startswith("samples_") else ""
    by_doc: dict[str, dict[str, float | None]] = {}
    for row in _objects(document):
        filtered = row.get("filter") or "none"
        suffix = "" if filtered == "none" else f",{filtered}"
        metrics = row.get("metrics") or [key for key in row if key in LM_EVAL_METRICS]
        scores = by_doc.setdefault(str(row["doc_id"]), {})
        scores |= {f"{metric}{suffix}": as_number(row.get(metric)) for metric in metrics}
    for doc, scores in by_doc.items():
        yield Row(doc, "1", scores, task)


def _verifiers(name: str, document: Any, columns: Mapping[str, str]) -> Iterator[Row]:
    """Yield the rollouts; environment and model are in metadata.json beside the file."""
    beside = Path(name).with_name("metadata.json")
    try:
        metadata = cast("dict[str, Any]", json.loads(beside.read_text(encoding="utf-8"))) if beside.is_file() else {}
    except ValueError as error:
        raise DocumentError(f"{beside.name} beside it is no JSON ({error})") from error
    for row in _objects(document):
        numbers = {key: value for key, value in row.items() if isinstance(value, int | float) and key not in NO_SCORES}
        scores = {"reward": row.get("reward"), **numbers, **_object(row.get("metrics"))}
        yield Row(
            str(row["example_id"] if "example_id" in row else row["id"]),
            None,
            {key: as_number(value) for key, value in scores.items()},
            str(metadata.get("env_id") or metadata.get("env") or row.get("task") or ""),
            bool(row.get("error")),
            str(metadata.get("model") or ""),
        )


def _table(name: str, document: Any, columns: Mapping[str, str]) -> Iterator[Row]:
    """Yield the rows of a table by the names of its columns; those of an object within a row are "result.score"."""
    rows = [_flat(row) for row in _objects(_only_list(document))]
    if not rows:
        return
    heads = list(dict.fromkeys(key for row in rows for key in row))
    sample, score = _column("sample", SAMPLE, heads, columns), _column("score", SCORE, heads, columns)
    epoch, task = (_column(part, names, heads, columns) for part, names in (("epoch", EPOCH), ("task", TASK)))
    if sample is None or score is None:
        missing = "sample" if sample is None else "score"
        raise DocumentError(f"it has no column for {missing} ({', '.join(heads[:8])}); --columns {missing}=NAME does")
    status, measured = _column("status", STATUS, heads, {}), [_scores(score, row.get(score)) for row in rows]
    if all(value is None for scores in measured for value in scores.values()):
        example = next((row[score] for row in rows if row.get(score)), "")
        raise DocumentError(
            f"no row has a number as its {score!r}, the first is {example!r:.60}; --columns score=NAME names another"
        )
    for row, scores in zip(rows, measured, strict=True):
        number = row.get(epoch) if epoch else None
        yield Row(
            str(row[sample]),
            None if number in (None, "") else str(number),
            scores,
            str(row.get(task) or "") if task else "",
            bool(row.get("error")) or (status is not None and str(row.get(status)).strip().lower() in FAILED),
            str(row.get("model") or ""),
            row,
        )


def _only_list(document: Any) -> Any:
    """The rows of a document: itself, or the one list of objects that an object holds, such as its "results"."""
    if not isinstance(document, dict):
        return document
    parts = cast("dict[str, Any]", document)
    lists = [cast("list[Any]", part) for part in parts.values() if isinstance(part, list)]
    lists = [rows for rows in lists if rows and isinstance(rows[0], dict)]
    return lists[0] if len(lists) == 1 else parts


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row, and beside its objects their own parts."""
    flat = dict(row)
    for name, value in row.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{part}": inner for part, inner in _flat(cast("dict[str, Any]", value)).items()}
    return flat


def _scores(name: str, value: Any) -> dict[str, float | None]:
    """The scores of a cell: one by the column's name, or, of an object without a "value", each of its numbers."""
    if not isinstance(value, dict):
        return {name: _number(value)}
    parts = cast("dict[str, Any]", value)
    if "value" in parts:
        return _scores(name, parts["value"])
    scores = {part: number for part, inner in parts.items() for number in _scores(part, inner).values()}
    return {part: number for part, number in scores.items() if number is not None} or {name: None}


def _number(value: object) -> float | None:
    """The number of a cell, which may be a verdict in a word or a percentage."""
    text = value.strip().lower() if isinstance(value, str) else ""
    if text in VERDICTS:
        return VERDICTS[text]
    share = as_number(text[:-1]) if text.endswith("%") else None
    return as_number(value) if share is None else share / 100


def _object(value: object) -> dict[str, Any]:
    """A part of a document that is an object; an empty one where there is none."""
    return cast("dict[str, Any]", value or {})


def _objects(value: object) -> list[dict[str, Any]]:
    """A part of a document that is a list of objects."""
    rows = cast("list[Any]", value or [])
    if isinstance(value, dict) or not all(isinstance(row, dict) for row in rows):
        raise DocumentError("its rows are no objects")
    return rows


def _column(part: str, names: Sequence[str], heads: Sequence[str], columns: Mapping[str, str]) -> str | None:
    if part in columns:
        if columns[part] not in heads:
            raise DocumentError(f"it has no column {columns[part]!r}; its columns are {', '.join(heads[:8])}")
        return columns[part]
    plain = {re.sub(r"[\s-]+", "_", head.strip().lower()): head for head in reversed(heads)}
    return next((plain[name] for name in names if name in plain), None)


READERS: Mapping[Format, Callable[[str, Any, Mapping[str, str]], Iterator[Row]]] = {
    "tau2": _tau2, "lm-eval": _lm_eval, "verifiers": _verifiers, "table": _table,
}  # fmt: skip
