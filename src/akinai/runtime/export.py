"""Runs as files that other programs read, a line at a time; export_magentic writes them as a database."""

import csv
import io
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Entry, Outcome
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import World, expect_version, read_turn, step

Format = Literal["jsonl", "csv", "magentic"]
FORMATS: tuple[Format, ...] = get_args(Format)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def export_format(name: str) -> Format:
    """A format by its name. UnknownName for another."""
    for one in FORMATS:
        if one == name:
            return one
    raise UnknownName("format", name, FORMATS)


def iso(at: int) -> str:
    """Microseconds since the epoch in ISO 8601, UTC."""
    return (EPOCH + timedelta(microseconds=at)).isoformat()


def entry_json(run_id: str, entry: Entry, told: Outcome | None = None) -> dict[str, Json]:
    """An entry in the ledger's shape, with its time in ISO 8601.

    Where the actor heard more than the ledger keeps, such as the messages of a fetch, `told` holds it.
    """
    written: dict[str, Json] = {
        "run_id": run_id,
        "seq": entry.seq,
        "agent_id": entry.actor,
        "created_at": iso(entry.at),
        "data": json.loads(entry.text),
        "digest": entry.digest,
    }
    return (
        written
        if told is None or told == entry.outcome
        else {**written, "told": {"content": told.text, "data": told.data}}
    )


def csv_head() -> str:
    """The first line of a CSV export."""
    return _csv_line(["run_id", "seq", "agent_id", "created_at", "action", "parameters", "is_error", "code", "content"])


async def export_lines(store: Store, header: RunHeader, format: Format) -> AsyncIterator[str]:
    """A run as lines of text: "jsonl" one entry a line in the ledger's shape, "csv" with the parameters as JSON and, as
    content, what the actor heard.
    """
    async for entry, told in _heard(store, header):
        if format == "jsonl":
            yield json.dumps(entry_json(header.run_id, entry, told), ensure_ascii=False)
            continue
        parameters, outcome = json.dumps(entry.parameters, ensure_ascii=False), entry.outcome
        row: list[Any] = [header.run_id, entry.seq, entry.actor, iso(entry.at), entry.name, parameters]
        yield _csv_line([*row, not outcome.ok, outcome.code or "", told.text])


async def _heard(store: Store, header: RunHeader) -> AsyncIterator[tuple[Entry, Outcome]]:
    """The entries of a run, and what was heard of each."""
    world = _that_tells_more(header)
    state: Any = world.begin(header.genesis) if world else None
    async for entry in store.read(header.run_id):
        if world is None:
            yield entry, entry.outcome
            continue
        turn = read_turn(world, entry)
        state, outcome = step(world, state, turn)
        yield entry, world.told(state, turn, outcome)


def _that_tells_more(header: RunHeader) -> World[Any] | None:
    """The world of a run if its ledger keeps less than actors heard; other ledgers need no world to be written out."""
    try:
        world = worlds.load(header.genesis.world)
        expect_version(world, header.genesis)
    except UsageError:
        return None
    return world if type(world).told is not World.told else None


def _csv_line(row: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(row)
    return text.getvalue()
