"""What a long market costs to read: peak memory of a server while it is made, of its restart, and of what reads it.

The market is killed while it is made, so that its snapshot is older than its end, and restarts with and without it.

python bench/long_market.py [entries ...]       by default 99,000 and 1,000,000, on SQLite

Only a run that is over has a leaderboard, so the market is over when the readers come. Each is a process of its own. A
restart may take 1.3 times the memory of the server that made the run; everything else 50 MiB beside its state, which is
that of a process that folds the run entry by entry. CPU is the process's own.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from akinai.core.ledger import Genesis
from akinai.core.stores import RunHeader
from akinai.core.worlds import read_turn, step
from akinai.runtime.config.settings import prepare
from akinai.runtime.garbage import collect_less_for_good
from akinai.runtime.runs.planning import run_card
from akinai.server.market import HostedMarket
from akinai.server.settings import OPEN_MARKET
from akinai.stores import open_store
from akinai.worlds.market import Market
from akinai.worlds.market.model import actions as a
from market import purchase

PAIRS, ACTIONS = 50, 9
RESTART_BUDGET, BESIDE_BUDGET_MB = 1.3, 50
READERS: tuple[tuple[str, ...], ...] = (
    ("verify", "verify", "long"),
    ("replay", "replay", "long"),
    ("analyze", "analyze", "long"),
    ("export jsonl", "export", "long", "--format", "jsonl", "-o", "long.jsonl"),
    ("export inspect", "export", "long", "--format", "inspect", "-o", "long.eval"),
    ("export magentic", "export", "long", "--format", "magentic", "-o", "long.db"),
    ("leaderboard", "leaderboard", "long", "--jobs", "1", "-o", "board"),
    ("leaderboard check", "leaderboard", "check", "board", "--jobs", "1"),
)


async def make(url: str, entries: str) -> None:
    """A server without HTTP that takes purchases of all pairs at once, up to a number of entries."""
    store, world = await open_store(url), Market()
    prepared = prepare(world, settings=OPEN_MARKET)
    genesis = Genesis(world.name, 1, prepared.setup)
    card = run_card(world.name, "bench", prepared.preset, prepared.preset_sha256)
    await store.create(RunHeader("long", genesis, {"agents": "bench"}, created_at=1, card=card))
    market = HostedMarket(await store.header("long"), store)
    await market.open()
    collect_less_for_good()

    async def act(actor: str, action: Any) -> None:
        outcome = await market.act(actor, action, lambda state, turn, outcome: outcome)
        assert outcome.ok, outcome

    async def pair(number: int) -> None:
        names = {"c": f"c{number}", "b": f"b{number}"}
        for side, kind in (("c", "customer"), ("b", "business")):
            own = {"name": names[side], "description": "", "rating": 3.0, "menu_features": {"Tea": 3.0}}
            await act(names[side], a.Register(profile={"id": names[side], "metadata": {"type": kind}, kind: own}))
        for turn in range((int(entries) // PAIRS - 2) // ACTIONS):
            for side, action in purchase(turn, market.committed.seq):
                if isinstance(action, a.SendMessage):
                    action = action.model_copy(update={"to_agent_id": names[action.to_agent_id]})
                await act(names[side], action)

    await asyncio.gather(*(pair(number) for number in range(PAIRS)))
    print(f"{market.committed.seq:,} entries", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


async def restart(url: str) -> None:
    """A server that opens the run again."""
    store = await open_store(url)
    market = HostedMarket(await store.header("long"), store)
    await market.open()
    print(f"{market.committed.seq:,} entries", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


async def end(url: str) -> None:
    """The run is over: its players have nothing more to do."""
    store = await open_store(url)
    last = None
    async for entry in store.read("long"):
        last = entry
    assert last is not None
    header = replace(await store.header("long"), status="done", ending="script_over")
    await store.update(replace(header, entries=last.seq, digest=last.digest))
    await store.close()


async def fold(url: str) -> None:
    """The state alone, entry by entry."""
    store, world = await open_store(url), Market()
    header = await store.header("long")
    state = world.begin(header.genesis)
    async for entry in store.read("long"):
        state, _ = step(world, state, read_turn(world, entry))
    await store.close()


def measured(words: Sequence[str], folder: str) -> float:
    """Print and return the peak memory of a process, in MiB."""
    child = subprocess.Popen([sys.executable, *words], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert child.stdout
    child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status not in (0, signal.SIGKILL):
        raise SystemExit(f"{' '.join(words)} failed")
    peak = usage.ru_maxrss / 1024
    print(f"{peak:7,.0f} MiB {usage.ru_utime + usage.ru_stime:7.1f} s CPU", end="")
    return peak


def measure(entries: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        url, me = str(Path(folder) / "akinai.db"), str(Path(__file__).absolute())
        print(f"{entries:,} entries, load {os.getloadavg()[0]:.1f}")
        print("  live             ", end="")
        live = measured([me, "make", url, str(entries)], folder)
        print()
        for words in ("with a snapshot", "without"):
            print(f"  {words:<17}", end="")
            print(f"  {measured([me, 'restart', url], folder) / live:.2f} of live, {RESTART_BUDGET} allowed")
            shutil.rmtree(f"{url}.snapshots", ignore_errors=True)
        print("  state            ", end="")
        state = measured([me, "fold", url], folder)
        print()
        asyncio.run(end(url))
        for name, *words in READERS:
            print(f"  {name:<17}", end="")
            beside = measured(["-m", "akinai", *words, "--store", url], folder) - state
            print(f"  {beside:+.0f} MiB beside the state, {BESIDE_BUDGET_MB} allowed")


def main() -> None:
    """Print the figures, or do one of the steps."""
    steps = {"make": make, "restart": restart, "fold": fold}
    if sys.argv[1:2] and sys.argv[1] in steps:
        asyncio.run(steps[sys.argv[1]](*sys.argv[2:]))
        return
    for entries in [int(word.replace(",", "")) for word in sys.argv[1:]] or [99_000, 1_000_000]:
        measure(entries)


if __name__ == "__main__":
    main()
