"""Measures what the first look at a run costs: a year with about 10,000 entries, opened, and then each of its views.

Run: `python bench/views.py`. Prints the processor's seconds of each step, and the ratio of opening to its budget.
"""

import asyncio
import json
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from akinai import api
from akinai.runtime.runs.reading import find_runs
from akinai.stores import open_store
from akinai.views.reading import read_views
from akinai.views.run import RunViews

DAYS = 365
BUDGET_S = 1.5
LOOKS = ("GET_MONEY_BALANCE", "CHECK_DELIVERIES", "LIST_STORAGE", "GET_MACHINE_INVENTORY", "READ_EMAIL", "NOTEPAD_READ")


def moves() -> str:
    """A script of a year: every day many looks, a letter, a search, and the night."""
    day = [*({"action": look} for look in LOOKS * 4), {"action": "SEARCH_WEB", "query": "cola"}]
    letter = {"action": "SEND_EMAIL", "to": "orders@northbay-wholesale.com", "body": "Your prices, please."}
    return "\n".join(json.dumps(move) for _ in range(DAYS) for move in (*day, letter, {"action": "ADVANCE_DAY"}))


async def opened(store: str) -> RunViews:
    books = await open_store(store, create=False)
    try:
        (header,) = await find_runs(books, ["year"])
        return await read_views(books, header)
    finally:
        await books.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        script, store = Path(folder) / "year.jsonl", str(Path(folder) / "year.db")
        script.write_text(moves())
        settings = ("max_messages=0", "fee_cents=0")
        api.run(
            "vending",
            agent=f"script:{script}",
            days=DAYS,
            settings=settings,
            name="year",
            store=store,
            preset="classic",
        )
        asyncio.run(opened(store))  # modules and patterns are loaded once
        marks = [time.process_time()]
        views = asyncio.run(opened(store))
        marks.append(time.process_time())
        view = views.run
        marks.append(time.process_time())
        views.day(DAYS // 2)
        marks.append(time.process_time())
        place_history = views.place_history
        marks.append(time.process_time())
    read, run, day, history_s = (after - before for before, after in pairwise(marks))
    size = len(json.dumps(place_history.to_json())) / 1e3
    print(f"{view.entries:,} entries, {len(view.days)} days, {size:,.0f} kB of tracks in {history_s:.2f} s")
    print(f"read and fold {read:.2f} s, scores, findings and days {run:.2f} s, a day {day * 1e3:.1f} ms")
    print(f"first opening {read + run:.2f} s: {(read + run) / BUDGET_S:.2f} of the budget of {BUDGET_S} s")


if __name__ == "__main__":
    main()
