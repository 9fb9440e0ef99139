"""SqliteStore written by several processes, by killed processes, and by a process that never closes it."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import forked
from akinai.core.ledger import check_chain
from akinai.stores import open_store
from akinai.testing.laws.sample_runs import read_entries, sample_entries, sample_genesis, sample_header

WRITER = """
import asyncio, sys
from akinai.stores import open_store
from akinai.testing.laws.sample_runs import sample_entries, sample_header

async def write(path, run_id, count):
    store = await open_store(path)
    await store.create(sample_header(run_id))
    for entry in sample_entries(count):
        await store.append(run_id, [entry])
        print(entry.seq, flush=True)
    await store.close()

asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def writer(path: Path, run_id: str, count: int) -> "forked.Popen":
    """Another process that appends entry by entry and prints each number after its append returned."""
    return forked.Popen([sys.executable, "-c", WRITER, str(path), run_id, str(count)], stdout=-1, text=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "akinai.db"


def test_processes_write_one_file(path: Path) -> None:
    """Three processes that start on a file that does not exist yet all make their runs in it, whole."""
    writers = [writer(path, f"r{number}", 200) for number in range(3)]
    for process in writers:
        output, _ = process.communicate(timeout=120)
        assert (process.returncode, output.split()[-1]) == (0, "200")

    async def check() -> None:
        store = await open_store(str(path), create=False)
        for number in range(3):
            read = await read_entries(store, f"r{number}")
            assert read == sample_entries(200)
        await store.close()

    asyncio.run(check())


def test_openings_at_once_make_one_store(tmp_path: Path) -> None:
    """Openings that race to make the tables all succeed, on the same tables."""

    async def race(path: str) -> None:
        stores = await asyncio.gather(*(open_store(path) for _ in range(6)))
        for number, store in enumerate(stores):
            await store.create(sample_header(f"r{number}"))
        for store in stores:
            assert len(await store.runs()) == 6
        await asyncio.gather(*(store.close() for store in stores))

    for number in range(10):
        asyncio.run(race(str(tmp_path / f"{number}.db")))


@pytest.mark.parametrize("acknowledged", [1, 37, 150])
def test_killed_writer_loses_nothing_acknowledged(path: Path, acknowledged: int) -> None:
    """A writer killed in mid-stream leaves a prefix that verifies and holds every acknowledged entry."""
    with writer(path, "r", 5_000) as process:
        assert process.stdout is not None
        acknowledgements = [int(process.stdout.readline()) for _ in range(acknowledged)]
        process.kill()
        acknowledgements += [int(line) for line in process.stdout if line.endswith("\n")]

    async def check() -> None:
        store = await open_store(str(path), create=False)
        read = await read_entries(store, "r")
        assert acknowledgements[-1] <= len(read) < 5_000
        assert read == sample_entries(len(read))
        check_chain(sample_genesis(), read)
        await store.append("r", sample_entries(1, before=read))
        await store.close()

    asyncio.run(check())


def unclosed(path: Path, then: str) -> "subprocess.CompletedProcess[str]":
    script = WRITER.replace("    await store.close()\n", then)
    command = [sys.executable, "-W", "error", "-c", script, str(path), "r", "3"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_forgotten_close_ends_and_keeps(path: Path) -> None:
    """A process that forgets to close its store ends, and queued appends are in the file."""
    gone = unclosed(
        path, "    asyncio.ensure_future(store.append(run_id, sample_entries(5)[3:])); await asyncio.sleep(0)\n"
    )
    assert gone.returncode == 0, gone.stderr

    async def check() -> None:
        store = await open_store(str(path), create=False)
        assert await read_entries(store, "r") == sample_entries(5)
        await store.close()

    asyncio.run(check())


@pytest.mark.parametrize("further", [5, 0])
def test_a_store_whose_first_runs_are_deleted_elsewhere_is_the_same_store(path: Path, further: int) -> None:
    """An open store goes on after another connection deleted its first runs for good, or all of them and made others."""

    async def check() -> None:
        store, other = await open_store(str(path)), await open_store(str(path))
        for number in range(20 + further):
            await store.create(sample_header(f"r{number}"))
        await other.forget([f"r{number}" for number in range(20)])
        await other.create(sample_header("new"))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint")
        await store.create(sample_header("after"))
        assert {"new", "after"} <= {run.run_id for run in await store.runs()}
        await store.close()
        await other.close()

    asyncio.run(check())
