"""Writes runs as SQLite databases, in formats that their worlds define."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from akinai import worlds
from akinai.core.errors import UsageError
from akinai.core.facets import DatabaseTable
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import refold
from akinai.runtime.config.files import staged_file
from akinai.runtime.play.trace_codec import decode_calls, is_call
from akinai.runtime.runs.reading import RecordScan, StoredEntries


def database_formats() -> dict[str, str]:
    """The formats of all installed worlds, each with the name and version of its world."""
    loaded = [worlds.load(name) for name in worlds.names()]
    return {format: world.name for world in loaded for format in world.facets.files.exporters}


async def write_database(books: Books, header: RunHeader, format: str, path: Path) -> None:
    """Write a run into a database that does not exist yet.

    UsageError for a run of another world than the format's, a file that exists, and one that cannot be written.
    """
    world_name = database_formats()[format]
    if header.genesis.world != world_name:
        raise UsageError(
            f"the format {format!r} is for runs of {world_name}, and {header.run_id!r} is one of "
            f"{header.genesis.world}; export it as jsonl or csv"
        )
    if path.exists():
        raise UsageError(f"{str(path)!r} is there already, and a database is not written over; name another with -o")
    world = worlds.load(world_name)
    with staged_file(path) as part:
        scan = RecordScan.of(header)
        await scan.read(books, header.run_id, hold=False)
        calls = decode_calls([record async for record in books.read_trace(header.run_id) if is_call(record)])
        entries = StoredEntries(books, header.run_id, scan.count)
        steps = refold(world, header.genesis, entries)
        await entries.use(lambda: _save(part, world.facets.files.exporters[format](steps, list(calls))))


def _save(path: Path, tables: Sequence[DatabaseTable]) -> None:
    try:
        with closing(sqlite3.connect(path)) as database, database:
            _write(database, tables)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _write(database: sqlite3.Connection, tables: Sequence[DatabaseTable]) -> None:
    for table in tables:
        columns = ", ".join(f"{name} {kind}" for name, kind in table.columns.items())
        database.execute(f"CREATE TABLE {table.name} ({columns})")
        for name in table.indexes:
            database.execute(f"CREATE INDEX {table.name}_{name}_idx ON {table.name} ({name})")
        places = ", ".join("?" * len(table.columns))
        rows = ([row.get(name) for name in table.columns] for row in table.rows)
        database.executemany(f"INSERT INTO {table.name} VALUES ({places})", rows)
