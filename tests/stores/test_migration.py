"""A store of the first schema is led to today's, and stays as it was beside it. PostgreSQL: test_postgres_opening.py."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from akinai.core.errors import StoreError
from akinai.core.stores import ScoreRecord
from akinai.stores import open_store
from akinai.stores.sqlite.file import APPLICATION_ID, SCHEMA_VERSION
from akinai.stores.sqlite.store import SqliteStore
from akinai.testing.laws.sample_runs import read_entries, sample_entries, sample_header

FIRST_SCHEMA = f"""
CREATE TABLE runs (
    run_id TEXT NOT NULL UNIQUE, genesis TEXT NOT NULL, agents TEXT NOT NULL, status TEXT NOT NULL,
    created_at INTEGER NOT NULL, parent TEXT, group_name TEXT, ending TEXT, entries INTEGER, digest TEXT,
    error TEXT, card TEXT NOT NULL);
CREATE TABLE actions (
    run_id TEXT NOT NULL, seq INTEGER NOT NULL,
    agent_id TEXT GENERATED ALWAYS AS (json_extract(data, '$.agent_id')) VIRTUAL,
    created_at INTEGER NOT NULL, data TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run_id, seq));
CREATE INDEX idx_actions_to_agent
    ON actions (run_id, json_extract(data, '$.request.parameters.to_agent_id'), seq)
    WHERE json_extract(data, '$.request.parameters.to_agent_id') IS NOT NULL;
CREATE INDEX idx_actions_from_agent
    ON actions (run_id, json_extract(data, '$.request.parameters.from_agent_id'), seq)
    WHERE json_extract(data, '$.request.parameters.from_agent_id') IS NOT NULL;
CREATE INDEX idx_actions_name ON actions (run_id, json_extract(data, '$.request.name'), seq);
CREATE TABLE trace (
    run_id TEXT NOT NULL, actor TEXT NOT NULL, call INTEGER NOT NULL, created_at INTEGER NOT NULL,
    data TEXT NOT NULL, PRIMARY KEY (run_id, actor, call));
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = 1;
"""
ENTRIES = sample_entries(20, "hello")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store as the first Akinai wrote it: its tables, with a run of 20 entries."""
    path, source = tmp_path / "akinai.db", tmp_path / "source.db"

    async def write() -> None:
        store = await open_store(str(source))
        await store.create(sample_header("r"))
        await store.append("r", ENTRIES)
        await store.close()

    asyncio.run(write())
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FIRST_SCHEMA)
        connection.execute("ATTACH ? AS source", (str(source),))
        connection.execute("INSERT INTO runs SELECT * FROM source.runs")
        columns = "run_id, seq, created_at, data, digest"
        connection.execute(f"INSERT INTO actions ({columns}) SELECT {columns} FROM source.actions")
        connection.commit()
    source.unlink()
    return path


def sql(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def copies(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir() if ".bak-" in file.name)


async def test_older_file_is_migrated_with_a_copy_kept(path: Path) -> None:
    """Its ledger is the same in both; only the migrated one keeps scores; opened again, nothing more happens."""
    before = sql(path, "SELECT * FROM actions")
    for _ in range(2):
        store = await open_store(str(path), create=False)
        assert await read_entries(store, "r") == ENTRIES
        await store.keep_scores([ScoreRecord("r", "a", "v1", "{}")])
        await store.close()
    backup = path.with_name("akinai.db.bak-1")
    assert copies(path) == [backup.name]
    assert sql(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert sql(backup, "PRAGMA user_version") == [(1,)]
    assert sql(path, "SELECT * FROM actions") == sql(backup, "SELECT * FROM actions") == before
    assert sql(backup, "SELECT name FROM sqlite_master WHERE name = 'run_scores'") == []


async def test_file_that_is_opened_twice_at_once_is_migrated_once(path: Path) -> None:
    """Whoever comes second waits, and finds nothing left to do."""
    stores = await asyncio.gather(*(asyncio.to_thread(_open, path) for _ in range(4)))
    assert copies(path) == ["akinai.db.bak-1"]
    assert [await read_entries(store, "r") for store in stores] == [ENTRIES] * 4
    for store in stores:
        await store.close()


def _open(path: Path) -> SqliteStore:
    return asyncio.run(SqliteStore.open(str(path)))


async def test_earlier_copy_is_left_alone(path: Path) -> None:
    """A further migration of a file of this name keeps its copy under the next name."""
    path.with_name("akinai.db.bak-1").write_text("mine")
    await (await open_store(str(path))).close()
    assert copies(path) == ["akinai.db.bak-1", "akinai.db.bak-1-2"]
    assert path.with_name("akinai.db.bak-1").read_text() == "mine"


async def test_without_a_copy_nothing_is_migrated(path: Path) -> None:
    """A place where no copy can be made: the store stays as it was, is refused for writing, and can be read."""
    path.with_name("akinai.db.bak-1.part").mkdir()
    with pytest.raises(StoreError, match="name another with --store if you may not write there"):
        await open_store(str(path))
    store = await open_store(str(path), create=False)
    assert await read_entries(store, "r") == ENTRIES
    assert await store.kept_scores("r") is None
    await store.close()
    assert sql(path, "PRAGMA user_version") == [(1,)]
