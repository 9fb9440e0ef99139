"""What the harness adds to a model's call, and how well runs that wait for models overlap.

An endpoint on loopback answers at once, in a process of its own; LangChain's own call is measured beside ours in the
same run. The provider packages must be installed: `pip install "akinai[models]"`.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import akinai
from akinai.core.models import Message, Request
from akinai.runtime.models import open_model
from akinai.worlds.vending import Vending

OVERHEAD_MS, GROWTH, OVERLAP = 3.0, 1.2, 1.5


def main() -> None:
    overhead()
    overlap()


def served(latency_s: float = 0.0) -> "tuple[subprocess.Popen[str], str]":
    """An endpoint in a process of its own, and its address."""
    command = [sys.executable, "-m", "akinai.testing.endpoint", "--port", "0", "--world", "vending", "--player", "idle"]
    child = subprocess.Popen([*command, "--latency", str(latency_s)], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    url = child.stdout.readline().split()[-1]
    return child, url.rstrip("/").removesuffix("/v1") + "/v1"


def overhead() -> None:
    child, url = served()
    try:
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "bench.db")
            settings = {"max_messages": 2100, "start_cents": 10_000_000}
            (run,) = akinai.run(
                "vending", model="openai:test", base_url=url, days=0, settings=settings, store=store, name="bench"
            )
            calls = asyncio.run(_calls(store, run.id))
        early, late = between(calls, 50, 150), between(calls, 1950, 2050)
        own = asyncio.run(langchains_own(url))
        print(f"a message at 100: {early:6.2f} ms from reply to reply; at 2,000: {late:6.2f} ms")
        print(f"LangChain's own call, 30 messages of prompt: {own:6.2f} ms")
        beyond = early - own
        print(f"beyond LangChain's call: {beyond:6.2f} ms  ({beyond / OVERHEAD_MS:5.2f} of {OVERHEAD_MS:g} ms)")
        print(f"message 2,000 over message 100: {late / early:5.2f}  ({late / early / GROWTH:5.2f} of {GROWTH:g})")
    finally:
        child.kill()
        child.wait()


async def _calls(store: str, run_id: str) -> list[int]:
    from akinai.stores import open_store

    books = await open_store(store)
    try:
        return [record.at async for record in books.read_trace(run_id)]
    finally:
        await books.close()


def between(calls: list[int], first: int, last: int) -> float:
    """Milliseconds from one recorded reply to the next, median of a stretch."""
    part = calls[first:last]
    return median([(b - a) / 1000 for a, b in pairwise(part)])


async def langchains_own(url: str) -> float:
    """A bare call of the same kind: tools bound, a prompt of some thirty messages."""
    world: Any = Vending()
    tools = tuple(verb.tool() for verb in world.verbs.classes)
    messages = (Message("system", "x" * 6000), *[Message("user", "y" * 300) for _ in range(30)])
    took: list[float] = []
    async with open_model("openai:test", base_url=url) as model:
        chat: Any = model._chat.bind_tools([{"type": "function", "function": tool} for tool in tools])
        told = [("system" if one.speaker == "system" else "user", one.text) for one in Request(messages).messages]
        for _ in range(60):
            start = time.perf_counter()
            await chat.ainvoke(told)
            took.append((time.perf_counter() - start) * 1000)
    return median(took)


def overlap() -> None:
    child, url = served(0.3)
    try:
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "bench.db")
            akinai.run("vending", model="openai:test", base_url=url, days=1, store=store, name="warm")
            one = timed(url, store, "1", "one")
            many = timed(url, store, "1-64", "many")
        print(f"1 run of 20 calls at 300 ms: {one:5.2f} s; 64 at once: {many:5.2f} s")
        print(f"64 over 1: {many / one:5.2f}  ({many / one / OVERLAP:5.2f} of {OVERLAP:g})")
    finally:
        child.kill()
        child.wait()


def timed(url: str, store: str, seeds: str, name: str) -> float:
    start = time.perf_counter()
    akinai.run("vending", model="openai:test", base_url=url, seeds=seeds, days=20, store=store, name=name, jobs=64)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
