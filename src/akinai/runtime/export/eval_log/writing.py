"""Writes a `.eval` file: a deflate zip of JSON documents with a sample for each run. Equal runs give equal bytes."""

import json
import math
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from akinai import worlds
from akinai.core.canonical import Json, canonical
from akinai.core.errors import UsageError
from akinai.core.models import Usage
from akinai.core.statistics import summarise
from akinai.core.steps import Steps
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import refold
from akinai.runtime.config.files import staged_file
from akinai.runtime.export.eval_log.model_calls import model_name, usage_json
from akinai.runtime.export.eval_log.sample import FINDINGS, SCORER, Sample, make_sample, sample_id
from akinai.runtime.export.lines import iso
from akinai.runtime.play.trace_codec import decode_calls, is_call
from akinai.runtime.runs.reading import HELD_ENTRIES, Detail, StoredEntries, read_run

FORMAT = "inspect"
"""The format's name in `akinai export --format`."""
SUFFIX = ".eval"
LOG_VERSION = 2
"""The version of Inspect's log format."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of every file in the zip, so that its bytes do not depend on the time of writing."""

LONG = 100_000
"""Entries whose document may exceed two GiB, the most that a file in a zip holds without its later fields."""


async def write_eval_log(books: Books, headers: Sequence[RunHeader], path: Path) -> None:
    """Write runs that were played alike as one log, with a sample for each seed; an older file is replaced.

    UsageError for runs that differ in more than their seeds, and for a file that cannot be written.
    """
    first = headers[0]
    _expect_alike(headers)
    with staged_file(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as log:
        await _write_log(log, books, headers, first)


async def _write_log(log: zipfile.ZipFile, books: Books, headers: Sequence[RunHeader], first: RunHeader) -> None:
    epochs, samples = Counter[int](), list[Sample]()
    spec = _spec(headers, first)
    _add(log, "_journal/start.json", {"version": LOG_VERSION, "eval": spec, "plan": _plan(first)})
    for header in headers:
        seed = header.seed
        epochs[seed] += 1
        samples.append(replace(await _add_sample(log, books, header, epochs[seed]), document={}))
    _add(log, "summaries.json", [sample.summary for sample in samples])
    failed = next((header for header in headers if header.status == "failed"), None)
    _add(
        log,
        "header.json",
        {
            "version": LOG_VERSION,
            "status": "error" if failed else "success",
            "eval": spec,
            "plan": _plan(first),
            "results": _results(samples),
            "stats": _stats(headers, samples),
            **({"error": _error(failed)} if failed else {}),
        },
    )


async def _add_sample(log: zipfile.ZipFile, books: Books, header: RunHeader, epoch: int) -> Sample:
    """Add the sample of a run, of which only a short one is held."""
    world = worlds.load(header.genesis.world)
    run = await read_run(books, header, Detail(ledger=False, judged=True, findings=True))
    calls = list(decode_calls([record async for record in books.read_trace(header.run_id) if is_call(record)]))
    entries = StoredEntries(books, header.run_id, run.entries)

    def write() -> Sample:
        steps = refold(world, header.genesis, entries)
        if run.entries <= HELD_ENTRIES:
            steps = Steps(header.genesis, steps.opening, steps)
        sample = make_sample(world, run, steps, epoch, calls)
        info = _info(f"samples/{sample.id}_epoch_{epoch}.json")
        with log.open(info, "w", force_zip64=run.entries > LONG) as file:
            for text in _json_parts(sample.document):
                file.write(text.encode())
        return sample

    return await entries.use(write)


def _json_parts(document: Mapping[str, Any]) -> Iterator[str]:
    """The JSON of a document in parts: an iterator is written item by item, a function called when its turn comes."""
    for number, (name, value) in enumerate(document.items()):
        yield f"{', ' if number else '{'}{json.dumps(name)}: "
        if isinstance(value, Iterator):
            items = cast("Iterator[Any]", value)
            yield "["
            yield from (f"{', ' if index else ''}{_json(item)}" for index, item in enumerate(items))
            yield "]"
        else:
            yield _json(value() if callable(value) else value)
    yield "}"


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _expect_alike(headers: Sequence[RunHeader]) -> None:
    kinds: dict[str, RunHeader] = {}
    for header in headers:
        kinds.setdefault(_kind(header), header)
    if len(kinds) > 1:
        a, b = [header.run_id for header in kinds.values()][:2]
        raise UsageError(
            f"a log is of runs that differ in their seeds alone, and {a!r} and {b!r} were played otherwise; "
            "export each kind to a log of its own"
        )


def _kind(header: RunHeader) -> str:
    card = {name: header.card.get(name) for name in ("model", "playbook", "sampling")}
    return canonical([header.genesis.settings_digest, dict(header.agents), card])


def _spec(headers: Sequence[RunHeader], first: RunHeader) -> dict[str, Json]:
    """The evaluation's description: the world is the task, its preset and days are the arguments."""
    base, _, rules = first.genesis.world.partition("@")
    seeds = sorted({header.seed for header in headers})
    name = first.group or first.run_id
    model, agent = first.model, first.agent
    digest = first.genesis.settings_digest
    arguments: dict[str, Json] = {"preset": first.card.get("preset"), "days": first.genesis.setup.get("days")}
    return {
        "eval_id": digest[:22],
        "run_id": name,
        "created": iso(min(header.created_at for header in headers)),
        "task": f"akinai/{base}",
        "task_id": name,
        "task_version": rules,
        "task_registry_name": f"akinai/{base}",
        "task_args": arguments,
        "task_args_passed": arguments,
        "solver": agent,
        "dataset": {
            "name": base,
            "samples": len(seeds),
            "sample_ids": [sample_id(seed) for seed in seeds],
            "shuffled": False,
        },
        "model": model_name(model) if model else f"akinai/{agent}",
        "config": {"epochs": max(Counter(header.seed for header in headers).values())},
        "packages": {"akinai": version("akinai")},
        "metadata": {"settings_digest": digest, "card": dict(first.card)},
    }


def _plan(first: RunHeader) -> dict[str, Json]:
    solvers = [{"solver": agent, "params": {"plays": role}} for role, agent in first.agents.items()]
    return {"name": "plan", "steps": solvers, "config": {}}


def _results(samples: Sequence[Sample]) -> dict[str, Json]:
    names = dict.fromkeys(name for sample in samples for name in sample.scores)
    return {
        "total_samples": len(samples),
        "completed_samples": len(samples),
        "scores": [_metrics(name, [sample.scores.get(name) for sample in samples]) for name in names],
    }


def _metrics(name: str, values: Sequence[float | None]) -> dict[str, Json]:
    summary = summarise(values)
    scored = sum(value is not None for value in values)
    stderr = 0.0 if summary.sd is None else summary.sd / math.sqrt(summary.n)
    return {
        "name": name,
        "scorer": FINDINGS if name == FINDINGS else SCORER,
        "scored_samples": scored,
        "unscored_samples": len(values) - scored,
        "metrics": {
            "mean": {"name": "mean", "value": summary.mean or 0.0},
            "stderr": {"name": "stderr", "value": stderr},
        },
    }


def _stats(headers: Sequence[RunHeader], samples: Iterable[Sample]) -> dict[str, Json]:
    usage: dict[str, Usage] = {}
    completed: list[str] = []
    for sample in samples:
        completed.append(str(sample.summary["completed_at"]))
        for model, tokens in sample.usage.items():
            usage[model] = usage.get(model, Usage()) + tokens
    return {
        "started_at": iso(min(header.created_at for header in headers)),
        "completed_at": max(completed),
        "model_usage": {model: usage_json(tokens) for model, tokens in usage.items()},
    }


def _error(failed: RunHeader) -> dict[str, Json]:
    return {"message": failed.error or "the run failed", "traceback": "", "traceback_ansi": ""}


def _add(log: zipfile.ZipFile, name: str, document: Mapping[str, Any] | Sequence[Any]) -> None:
    log.writestr(_info(name), _json(document))


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info
