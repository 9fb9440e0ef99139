"""Measures the time and memory that markets of many agents need to be generated, played and analysed.

Run: `python bench/populations.py [CUSTOMERSxBUSINESSES ...]`, by default 100x300 and 1000x3000, played by `careful` and
the businesses' rules. The budget, 60 s on 2 cores, is that of the first.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import akinai
from akinai import api
from akinai.runtime.export.generate import generate_files

SIZES = ("100x300", "1000x3000")
BUDGET_S = 60.0

T = TypeVar("T")


def main() -> None:
    for size in sys.argv[1:] or SIZES:
        customers, businesses = (int(number) for number in size.split("x"))
        with tempfile.TemporaryDirectory() as folder:
            took = measured(Path(folder), customers, businesses)
        if size == SIZES[0]:
            print(f"  {took:6.1f} s altogether  ({took / BUDGET_S:4.2f} of {BUDGET_S:g} s)")
        else:
            print(f"  {took:6.1f} s altogether")


def measured(folder: Path, customers: int, businesses: int) -> float:
    print(f"{customers:,} customers, {businesses:,} businesses")
    data, store = folder / "data", str(folder / "akinai.db")
    folder_content, wrote_s = timed(lambda: generate_files("market", data, customers=customers, businesses=businesses))
    print(f"  {wrote_s:6.1f} s to generate and write, baselines included")
    runs, played_s = timed(
        lambda: akinai.run("market", settings={"data": str(data)}, store=store, name="bench", ledgers=False)
    )
    (run,) = runs
    assert run.header.error is None, run.header.error
    print(f"  {played_s:6.1f} s to play {run.entries:,} entries into SQLite, {run.entries / played_s:,.0f} a second")
    analysis, analysed_s = timed(lambda: api.analyze("bench", store=store, scale=False))
    assert not analysis.troubled
    print(f"  {analysed_s:6.1f} s to analyse")
    best = folder_content.generated.values_cents["best possible"]
    print(f"  welfare {run.score('welfare') / 100:,.2f}, best possible {best / 100:,.2f}")
    print(f"  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:6,.0f} MB at most so far")
    return wrote_s + played_s + analysed_s


def timed(work: Callable[[], T]) -> tuple[T, float]:
    begun = time.perf_counter()
    return work(), time.perf_counter() - begun


if __name__ == "__main__":
    main()
