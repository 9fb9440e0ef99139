"""Runs as lines of text that other programs read: JSON Lines or CSV."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.facets import Observation
from akinai.core.ledger import Entry, Outcome
from akinai.core.stores import RunHeader, Store
from akinai.core.untrusted.spelling import csv_line, printable_json
from akinai.core.worlds import World, expect_version, read_turn, step
from akinai.runtime.export.database import database_formats

LineFormat = Literal["jsonl", "csv"]
LINE_FORMATS: tuple[LineFormat, ...] = get_args(LineFormat)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def line_format(name: str) -> LineFormat:
    """A format of lines by its name. UsageError for a format of databases, UnknownName for any other name."""
    for format in LINE_FORMATS:
        if format == name:
            return format
    if name in (databases := database_formats()):
        raise UsageError(f"the format {name!r} is a database, not lines; use export_database with a path")
    raise UnknownName("format", name, (*LINE_FORMATS, "inspect", *databases))


def iso(at: int) -> str:
    """Microseconds since the epoch in ISO 8601, UTC."""
    return (EPOCH + timedelta(microseconds=at)).isoformat()


def entry_json(run_id: str, entry: Entry, observed: Outcome | None = None) -> dict[str, Json]:
    """An entry in the ledger's shape, with its time in ISO 8601.

    If the actor saw more than the ledger holds, such as fetched messages, `observed` is added.
    """
    document: dict[str, Json] = {
        "run_id": run_id,
        "seq": entry.seq,
        "agent_id": entry.actor,
        "created_at": iso(entry.at),
        "data": json.loads(entry.text),
        "digest": entry.digest,
    }
    if observed is None or observed == entry.outcome:
        return document
    return {**document, "observed": {"content": observed.text, "data": observed.data}}


def csv_head() -> str:
    """The first line of a CSV export."""
    return csv_line(["run_id", "seq", "agent_id", "created_at", "action", "parameters", "is_error", "code", "content"])


async def export_lines(store: Store, header: RunHeader, format: LineFormat) -> AsyncIterator[str]:
    """A run as lines of text, one entry a line: "jsonl" in the ledger's shape, "csv" with the parameters as JSON and
    the text that the actor saw as content.
    """
    async for entry, observed in _observations(store, header):
        if format == "jsonl":
            yield printable_json(json.dumps(entry_json(header.run_id, entry, observed), ensure_ascii=False))
            continue
        parameters, outcome = json.dumps(entry.parameters, ensure_ascii=False), entry.outcome
        row: list[Any] = [header.run_id, entry.seq, entry.actor, iso(entry.at), entry.name, parameters]
        yield csv_line([*row, not outcome.ok, outcome.code or "", observed.text])


async def _observations(store: Store, header: RunHeader) -> AsyncIterator[tuple[Entry, Outcome]]:
    """The entries of a run, each with the outcome as its actor saw it."""
    world = _world_that_adds(header)
    state: Any = world.begin(header.genesis) if world else None
    async for entry in store.read(header.run_id):
        if world is None:
            yield entry, entry.outcome
            continue
        turn = read_turn(world, entry)
        state, outcome = step(world, state, turn)
        yield entry, world.facets.observation.observe(state, turn, outcome)


def _world_that_adds(header: RunHeader) -> World[Any] | None:
    """The world of a run if its actors see more than the ledger holds; None for other runs, which need no world."""
    try:
        world = worlds.load(header.genesis.world)
        expect_version(world, header.genesis)
    except UsageError:
        return None
    return world if type(world.facets.observation) is not Observation else None
