"""What a store costs an entry: microseconds to append in batches, one by one and side by side, and to read.

Run with `python bench/stores.py`. The budget is 15 microseconds an entry in batches of 500, with full sync.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from pathlib import Path
from statistics import median

from akinai.core.ledger import Entry
from akinai.core.trace import Books
from akinai.stores.memory import MemoryStore
from akinai.stores.sqlite import SqliteStore
from akinai.testing.runs import entries_of, run_of

BUDGET_US = 15.0
READ_BUDGET_US = 20.0
REPEATS = 7
TEXT = "one case of sparkling water, delivered on Tuesday, please. "

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


async def reading(store: Books, entries: Sequence[Entry]) -> tuple[float, int]:
    """A run of 20,000 entries, from the first to the last."""
    await store.create(run_of("quiet-otter"))
    await store.append("quiet-otter", entries)
    begun = time.perf_counter()
    seen = sum([1 async for _ in store.read("quiet-otter")])
    return time.perf_counter() - begun, seen


async def measure(kind: str, what: Measured, entries: Sequence[Entry], folder: Path, names: "count[int]") -> float:
    """Median microseconds an entry over fresh stores."""
    figures: list[float] = []
    for _ in range(REPEATS):
        url = str(folder / f"{next(names)}.db")
        store: Books = await MemoryStore.open() if kind == "memory" else await SqliteStore.open(url)
        spent, number = await what(store, entries)
        figures.append(spent / number * 1e6)
        await store.close()
    return median(figures)


def main() -> None:
    names = count()
    entries = entries_of(20_000, TEXT * 2)
    print(f"{len(entries[0].text)} bytes an entry, median of {REPEATS}, microseconds an entry (ratio to the budget)")
    with tempfile.TemporaryDirectory() as folder:
        for title, what, budget in (
            ("append, batches of 500", batches, BUDGET_US),
            ("append, one by one", one_by_one, None),
            ("append, 500 runs side by side", side_by_side, None),
            ("read", reading, READ_BUDGET_US),
        ):
            for kind in ("memory", "sqlite"):
                figure = asyncio.run(measure(kind, what, entries, Path(folder), names))
                ratio = f"  ({figure / budget:.2f} of {budget:.0f})" if budget else ""
                print(f"{title:32}{kind:8}{figure:9.2f}{ratio}")


if __name__ == "__main__":
    main()
