"""Measures what the harness adds to a model's call, and how well runs that wait for models overlap.

An endpoint on loopback answers at once, in a process of its own. LangChain's own call is the latency that our record
gives of each. The provider packages must be installed: `pip install "akinai[models]"`.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import akinai
from akinai.runtime.play.recording import read_calls
from akinai.runtime.play.trace_codec import Call

OVERHEAD_MS, GROWTH, OVERLAP = 3.0, 1.2, 1.5
CALLS_A_SECOND = 90
"""The budget with 256 runs at once, each reply after two seconds."""
MESSAGES = 2000


def main() -> None:
    overhead()
    overlap()
    crowd()


def served(latency_s: float = 0.0) -> "tuple[subprocess.Popen[str], str]":
    """An endpoint in a process of its own, and its address."""
    command = [
        sys.executable,
        "-m",
        "akinai.testing.endpoint",
        "--port",
        "0",
        "--world",
        "vending",
        "--player",
        "idle",
    ]
    child = subprocess.Popen([*command, "--latency", str(latency_s)], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    url = child.stdout.readline().split()[-1]
    return child, url.rstrip("/").removesuffix("/v1") + "/v1"


def overhead() -> None:
    child, url = served()
    try:
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "bench.db")
            settings = {"max_messages": MESSAGES + 100, "start_cents": 10_000_000}
            (run,) = akinai.run(
                "vending",
                model="openai:test",
                base_url=url,
                days=0,
                settings=settings,
                store=store,
                name="bench",
                preset="classic",
            )
            calls = asyncio.run(_calls(store, run.id))
        early, late = beyond(calls, 100), beyond(calls, MESSAGES)
        print(f"message 2,000 over message 100: {late / early:5.2f}  ({late / early / GROWTH:5.2f} of {GROWTH:g})")
    finally:
        child.kill()
        child.wait()


async def _calls(store: str, run_id: str) -> list[Call]:
    from akinai.stores import open_store

    books: Any = await open_store(store)
    try:
        return await read_calls(books, run_id)
    finally:
        await books.close()


def beyond(calls: Sequence[Call], number: int) -> float:
    """Milliseconds from one recorded reply to the next that are not spent in LangChain's call, median of a stretch."""
    stretch = list(pairwise(calls[number - 50 : number + 50]))
    between = median([(later.at - call.at) / 1000 for call, later in stretch])
    ours = median([(later.at - call.at) / 1000 - later.reply.latency_s * 1000 for call, later in stretch])
    prompt = f"{len(calls[number].request.messages)} messages of prompt"
    print(f"message {number:5,}: {between:6.2f} ms from reply to reply ({prompt})")
    print(f"    beyond LangChain's own call: {ours:5.2f} ms  ({ours / OVERHEAD_MS:5.2f} of {OVERHEAD_MS:g} ms)")
    return ours


def overlap() -> None:
    child, url = served(0.3)
    try:
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "bench.db")
            akinai.run("vending", model="openai:test", base_url=url, days=1, store=store, name="warm", preset="classic")
            single = timed(url, store, "1", "one", 20, 64)
            many = timed(url, store, "1-64", "many", 20, 64)
        print(f"1 run of 20 calls at 300 ms: {single:5.2f} s; 64 at once: {many:5.2f} s")
        print(f"64 over 1: {many / single:5.2f}  ({many / single / OVERLAP:5.2f} of {OVERLAP:g})")
    finally:
        child.kill()
        child.wait()


def crowd() -> None:
    """Calls a second of 64 and of 256 runs at once whose replies take two seconds, from the command to the scores."""
    days = 20
    child, url = served(2.0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "bench.db")
            for jobs in (64, 256):
                rate = jobs * days / timed(url, store, f"1-{jobs}", f"crowd-{jobs}", days, jobs)
                budget = f"  ({rate / CALLS_A_SECOND:5.2f} of {CALLS_A_SECOND})" if jobs == 256 else ""
                print(f"--jobs {jobs}, replies after 2 s: {rate:5.1f} calls/s of {jobs / 2:g} possible{budget}")
    finally:
        child.kill()
        child.wait()


def timed(url: str, store: str, seeds: str, name: str, days: int, jobs: int) -> float:
    start = time.perf_counter()
    akinai.run(
        "vending",
        model="openai:test",
        base_url=url,
        seeds=seeds,
        days=days,
        store=store,
        name=name,
        jobs=jobs,
        preset="classic",
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
