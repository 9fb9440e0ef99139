"""PostgresStore written by several processes and killed ones; whole runs on it beside the other stores."""

import asyncio
import json
import random
import sys
from pathlib import Path

import pytest

import akinai
import forked
from akinai import api
from akinai.core.ledger import check_chain
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore
from akinai.testing.laws.sample_runs import read_entries, sample_entries, sample_genesis, sample_header
from real_postgres import sql

WRITER = """
import asyncio, sys
from akinai.stores import open_store
from akinai.testing.laws.sample_runs import sample_entries, sample_header

async def write(url, count):
    store = await open_store(url)
    await store.create(sample_header("r"))
    kept = sample_entries(count)
    for start in range(0, count, 7):
        new = kept[start : start + 1 + start % 7]
        await asyncio.gather(store.append("r", new), *(store.append("r", [entry]) for entry in kept[start + len(new) : start + 7]))
        print(start + 7, flush=True)

asyncio.run(write(sys.argv[1], int(sys.argv[2])))
"""

RIVAL = """
import asyncio, sys
from akinai.core.errors import SequenceConflict
from akinai.stores import open_store
from akinai.testing.laws.sample_runs import sample_entries

async def write(url, name, count):
    store, known = await open_store(url), []
    while sum(entry.parameters["text"] == name for entry in known) < count:
        try:
            new = sample_entries(2, name, known)
            await store.append("r", new)
            known += new
        except SequenceConflict:
            known += [entry async for entry in store.read("r", len(known))]
    await store.close()

asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def process(script: str, *words: str) -> "forked.Popen":
    return forked.Popen([sys.executable, "-c", script, *words], stdout=-1, text=True)


async def killed_writer(url: str, acknowledged: int) -> None:
    """Kill a writer after so many acknowledged appends, and check what it left."""
    with process(WRITER, url, "7000") as writer:
        assert writer.stdout is not None
        acknowledgements = [int(writer.stdout.readline()) for _ in range(acknowledged)]
        writer.kill()
        acknowledgements += [int(line) for line in writer.stdout if line.endswith("\n")]
    store = await open_store(url, create=False)
    # The server may still be busy with what the writer sent last.
    async with asyncio.timeout(30):
        while sql(url, "SELECT 1 FROM pg_locks WHERE relation = 'actions'::regclass AND mode = 'RowExclusiveLock'"):
            await asyncio.sleep(0.01)
    read = await read_entries(store, "r")
    assert acknowledgements[-1] <= len(read) < 7000
    assert read == sample_entries(len(read))
    check_chain(sample_genesis(), read)
    await store.append("r", sample_entries(1, before=read))
    await store.close()


@pytest.mark.parametrize("acknowledged", [1, 40])
async def test_killed_writer_loses_nothing_acknowledged(postgres: str, acknowledged: int) -> None:
    """A writer killed with kill -9 in mid-stream leaves a prefix that verifies and holds every acknowledged entry."""
    await killed_writer(postgres, acknowledged)


@pytest.mark.slow
@pytest.mark.parametrize("acknowledged", random.Random(11).sample(range(1, 300), 8))
async def test_killed_writer_loses_nothing_acknowledged_anywhere(postgres: str, acknowledged: int) -> None:
    """The same at eight moments."""
    await killed_writer(postgres, acknowledged)


async def test_two_processes_write_one_run(postgres: str) -> None:
    """Two processes that append to one run, and read what they missed after a conflict, write every number once."""
    store = await open_store(postgres)
    await store.create(sample_header("r"))
    rivals = [process(RIVAL, postgres, name, "60") for name in ("one", "two")]
    for rival in rivals:
        rival.communicate(timeout=120)
        assert rival.returncode == 0
    read = await read_entries(store, "r")
    check_chain(sample_genesis(), read)
    texts = [entry.parameters["text"] for entry in read]
    assert (len(read), texts.count("one"), texts.count("two")) == (120, 60, 60)
    await store.close()


def exported(store: "str | MemoryStore", name: str, format: str) -> str:
    written: list[str] = []
    written.extend(api.export(name, format=format, store=store))
    return "\n".join(written)


def test_one_run_is_the_same_on_every_store(postgres: str, tmp_path: Path) -> None:
    """A run played on memory, SQLite and PostgreSQL has one digest, and its exports are equal to the byte."""
    addresses: list[str | MemoryStore] = [MemoryStore(), str(tmp_path / "akinai.db"), postgres]
    ledgers = [
        akinai.run("vending", agent="naive", seeds=3, days=12, store=address, name="one", preset="classic")[0]
        for address in addresses
    ]
    assert len({run.ledger.digest for run in ledgers}) == 1
    for format in ("jsonl", "csv"):
        texts = {exported(address, "one", format) for address in addresses[1:]}
        assert len(texts) == 1, f"the {format} exports differ"
    first, *further = (
        [json.loads(line) for line in exported(address, "one", "jsonl").split("\n")] for address in addresses
    )
    assert all(other == first for other in further)


@pytest.mark.slow
def test_runs_live_on_a_server(postgres: str) -> None:
    """Run in two processes, stop, resume, fork, replay, verify, analyse: all of it on PostgreSQL."""
    whole = akinai.run("vending", seeds="1-2", days=6, store=postgres, name="p", jobs=2, preset="classic")
    assert [run.header.status for run in whole] == ["done", "done"]
    last = len(whole[0].ledger.entries)
    # As after a crash: the tail is gone, and nobody closed the run.
    sql(postgres, f"DELETE FROM actions WHERE run_id = 'p-1' AND seq > {last // 2}")
    sql(postgres, "UPDATE runs SET status = 'open', ending = NULL, entries = NULL, digest = NULL WHERE run_id = 'p-1'")
    resumed = api.resume("p-1", store=postgres)
    assert resumed[0].ledger.digest == whole[0].ledger.digest
    fork = api.fork("p-2", at_day=3, agent="naive", name="f", store=postgres)
    assert fork[0].header.parent is not None
    assert fork[0].header.parent.startswith("p-2#")
    assert [run.ledger.digest for run in api.replay("p", store=postgres)] == [run.ledger.digest for run in whole]
    assert all(verdict.ok for verdict in api.verify("p", "f", store=postgres).values())
    assert len(api.runs(store=postgres)) == 3
