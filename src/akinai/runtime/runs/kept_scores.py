"""Scores stored beside a run, under the digest of its record and the version of the code that computed them.

They save replaying a ledger and decide nothing: checking a record computes them again.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from akinai.core.errors import StoreError, UnknownName, UsageError
from akinai.core.findings import Finding
from akinai.core.ledger import Ledger, chain_end
from akinai.core.scores import Score, Table
from akinai.core.stores import KeepsScores, RunHeader, ScoreRecord, Store
from akinai.core.worlds import World
from akinai.runtime.runs.records import Run, Series, counts_of

FORMAT = 2
"""Rises when other fields of a run are stored."""
KEPT_TABLES = ("run",)
"""Subjects (`Table.about`) of the tables that are stored; others can be as long as the ledger."""

_SOURCES = ("*.py", "*.json", "*.toml", "*.yaml", "*.csv")


def scorer_version(world: World[Any]) -> str | None:
    """A digest of the code that scores and judges a world's runs: its package, `akinai.core` and `akinai.retrieval`.

    None for a world outside a package, whose changes cannot be noticed.
    """
    kind = type(world)
    return _version_of(kind.__module__, f"{world.name} {kind.__qualname__}")


@cache
def _version_of(module: str, name: str) -> str | None:
    package = getattr(sys.modules.get(module), "__package__", None)
    if not package or module == "__main__":
        return None
    digest = hashlib.sha256(f"{FORMAT} {name}".encode())
    for room in ("akinai.core", "akinai.retrieval", package):
        for folder in sorted(import_module(room).__path__):
            files = {path for pattern in _SOURCES for path in Path(folder).rglob(pattern)}
            for path in sorted(files):
                digest.update(f"\n{path.relative_to(folder)}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


async def find_scores(
    store: Store,
    header: RunHeader,
    world: World[Any],
    digest: str | None,
    entries: int,
    *,
    of_any_version: bool = False,
) -> Run | None:
    """The run as stored, without its ledger; None unless scores of this record and this code are stored, or those
    `of_any_version`. `digest` is the one that the texts of its entries give, and `entries` their number.
    """
    if not isinstance(store, KeepsScores):
        return None
    record = await store.kept_scores(header.run_id)
    if record is None or record.digest != digest:
        return None
    if record.version != scorer_version(world) and not of_any_version:
        return None
    try:
        return _parse_run(record, header, entries)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # written by other software; new scores replace it


def record_digest(ledger: Ledger) -> str | None:
    """The digest of a record, computed from its texts; None where its chain is broken."""
    rows = ((entry.seq, entry.at, entry.text, entry.digest) for entry in ledger.entries)
    return chain_end(ledger.genesis.digest, rows)


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run as it was stored."""

    run: Run
    traced: bool
    """Whether its trace holds anything."""


async def find_kept_runs(
    store: Store, headers: Sequence[RunHeader], load: Callable[[str], World[Any]]
) -> list[KeptRun]:
    """The runs whose stored scores fit their records and this code. Parses no entry."""
    if not isinstance(store, KeepsScores):
        return []
    by_id = {header.run_id: header for header in headers if not header.damage}
    runs: list[KeptRun] = []
    for covering in await store.covering_scores({id: header.genesis.digest for id, header in by_id.items()}):
        header = by_id[covering.record.run_id]
        with suppress(UsageError, ValueError, KeyError, TypeError, AttributeError):
            whole = header.entries is None or covering.entries >= header.entries
            if whole and covering.record.version == scorer_version(load(header.genesis.world)):
                runs.append(KeptRun(_parse_run(covering.record, header, covering.entries), covering.traced))
    return runs


def score_record(run: Run, world: World[Any]) -> ScoreRecord | None:
    """The scores of a run as a record to store; None for a run that is not closed."""
    version = scorer_version(world)
    if version is None or run.trouble or run.header.entries != run.entries:
        return None
    return ScoreRecord(run.id, run.digest, version, _run_text(run))


async def keep_scores(store: Store, records: Sequence[ScoreRecord]) -> None:
    """Store scores; does nothing if the store cannot be written."""
    if records and isinstance(store, KeepsScores):
        with suppress(StoreError, UnknownName):
            await store.keep_scores(records)


def same_scores(stored: Run, scored: Run) -> bool:
    """Whether stored scores equal those computed now."""
    return json.loads(_run_text(stored)) == json.loads(_run_text(scored))


def _score_fields(score: Score) -> dict[str, Any]:
    """The fields of a score. `asdict` copies its thousands of numbers of entries one by one."""
    return {field.name: getattr(score, field.name) for field in fields(score)}


def _run_text(run: Run) -> str:
    document: dict[str, Any] = {
        "days": run.days, "began": run.began, "scores": [_score_fields(score) for score in run.scores],
    }  # fmt: skip
    if run.judged:
        document |= {
            "findings": [finding.to_json() for finding in run.findings or ()],
            "replaced": [_score_fields(score) for score in run.replaced],
            "coherence": [_score_fields(score) for score in run.coherence],
            "figures": [_score_fields(score) for score in run.figures],
            "tables": [asdict(table) for table in run.tables if table.about in KEPT_TABLES],
            "roster": run.roster,
            "names": dict(run.names),
        }
    if run.series is not None:
        document["series"] = run.series.to_json()
    return json.dumps(document, separators=(",", ":"))


def _parse_run(record: ScoreRecord, header: RunHeader, entries: int) -> Run:
    document: Mapping[str, Any] = json.loads(record.text)
    run = Run(
        header,
        entries=entries,
        digest=record.digest,
        days=document["days"],
        began=document["began"],
        scores=_scores(document["scores"]),
        series=_series(document["series"]) if "series" in document else None,
    )
    if "findings" not in document:
        return run
    findings = tuple(Finding(**dict(row, entries=tuple(row["entries"]))) for row in document["findings"])
    return replace(
        run,
        judged=True,
        **counts_of(findings),
        findings=findings,
        replaced=_scores(document["replaced"]),
        coherence=_scores(document["coherence"]),
        figures=_scores(document["figures"]),
        tables=tuple(Table(**table) for table in document["tables"]),
        roster=document["roster"],
        names=document["names"],
    )


def _series(document: Mapping[str, Any]) -> Series:
    return Series(
        tuple(document["days"]),
        _columns(document["facts"]),
        {name: _columns(table) for name, table in document["tables"].items()},
        _columns(document["tools"]),
        tuple(document["refused"]),
    )


def _columns(document: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(values) for name, values in document.items()}


def _scores(documents: Sequence[Mapping[str, Any]]) -> tuple[Score, ...]:
    # The names are those of every other run of the world: thousands of runs share them.
    return tuple(
        Score(
            **dict(
                document,
                name=sys.intern(document["name"]),
                unit=sys.intern(document["unit"]),
                because=tuple(document["because"]),
            )
        )
        for document in documents
    )
