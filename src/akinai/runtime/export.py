"""Runs as files that other programs read."""

import csv
import io
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from akinai.core.canonical import Json
from akinai.core.errors import UnknownName
from akinai.core.ledger import Entry
from akinai.core.stores import RunHeader, Store

Format = Literal["jsonl", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def export_format(name: str) -> Format:
    """A format by its name. UnknownName for another."""
    for one in FORMATS:
        if one == name:
            return one
    raise UnknownName("format", name, FORMATS)


def entry_json(run_id: str, entry: Entry) -> dict[str, Json]:
    """An entry in the ledger's shape, with its time in ISO 8601."""
    return {
        "run_id": run_id,
        "seq": entry.seq,
        "agent_id": entry.actor,
        "created_at": (EPOCH + timedelta(microseconds=entry.at)).isoformat(),
        "data": json.loads(entry.text),
        "digest": entry.digest,
    }


def csv_head() -> str:
    """The first line of a CSV export."""
    return _csv_line(["run_id", "seq", "agent_id", "created_at", "action", "parameters", "is_error", "code", "content"])


async def export_lines(store: Store, header: RunHeader, format: Format) -> AsyncIterator[str]:
    """A run as lines of text: "jsonl" one entry a line in the ledger's shape, "csv" with the parameters as JSON."""
    async for entry in store.read(header.run_id):
        told = entry_json(header.run_id, entry)
        if format == "jsonl":
            yield json.dumps(told, ensure_ascii=False)
            continue
        parameters, outcome = json.dumps(entry.parameters, ensure_ascii=False), entry.outcome
        row: list[Any] = [header.run_id, entry.seq, entry.actor, told["created_at"], entry.name, parameters]
        yield _csv_line([*row, not outcome.ok, outcome.code or "", outcome.text])


def _csv_line(row: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(row)
    return text.getvalue()
