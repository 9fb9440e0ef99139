"""Measures what a day and an entry of the vending world cost, each figure with the ratio to its budget."""

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import akinai
from akinai.core.actions import Action
from akinai.core.agents import Move
from akinai.core.ledger import Genesis, Turn
from akinai.runtime.config.settings import prepare
from akinai.runtime.play.session import LocalSession
from akinai.stores import open_store
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model.actions import AdvanceDay, GetMoneyBalance
from akinai.worlds.vending.model.state import Lot, Slot, State
from akinai.worlds.vending.rules.customers import open_site

WORLD = Vending()
YEARS = 12


def main() -> None:
    tell("ADVANCE_DAY, 12 products, 2 lots a slot", advance_day_us(), 60, "microseconds, median of 12 years")
    tell("ADVANCE_DAY in year, 12 products, a site of 4", street_day_us(4), 100, "microseconds, median of a year")
    tell("a year of the reference player, scored", year_s(), 2.5, "seconds of CPU, median of 3 seeds")
    tell("entry in batches of 500, SQLite", entry_us(batch=500, entries=5000), 60, "microseconds, median of 5")
    tell("entry one by one, full sync", entry_us(batch=1, entries=200), None, "microseconds, median of 5")
    growth = growth_over_a_year()
    for verb, ratio in growth.items():
        tell(f"last 30 days over first 30, {verb}", ratio, 1.2, "of 365 days, medians")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tell("memory of this process, with years in it", peak, None, "MB at its peak")
    tell("akinai --help", help_s(), 0.3, "seconds, median of 7")


def tell(measure: str, value: float, budget: float | None, unit: str) -> None:
    ratio = "" if budget is None else f"  {value / budget:5.2f} of its budget of {budget:g}"
    print(f"{measure:44} {value:9.2f} {unit:36}{ratio}")


def full_machine(seed: int = 1) -> State:
    """Twelve distinct products at their reference prices, two lots in every slot."""
    setup = prepare(
        WORLD, preset="classic", days=0, settings=["small_capacity=1000", "large_capacity=1000", "max_messages=0"]
    ).setup
    state = WORLD.begin(Genesis(WORLD.name, seed, setup))
    products = [p for p in state.setup.catalog.products if p.size == "small"][:6]
    products += [p for p in state.setup.catalog.products if p.size == "large"][:6]
    slots = tuple(
        Slot(p.id, (Lot(500, p.wholesale_cents, 10**6), Lot(500, p.wholesale_cents, 10**6 + 1))) for p in products
    )
    return replace(state, slots=slots, prices={p.id: p.reference_cents for p in products})


def advance_day_us() -> float:
    begin = state = full_machine()
    took: list[float] = []
    for seq in range(1, YEARS * 365 + 1):
        turn = Turn(seq, 0, "owner", AdvanceDay())
        start = time.perf_counter()
        state, _ = WORLD.apply(state, turn)
        took.append(time.perf_counter() - start)
        state = replace(state, slots=begin.slots, sites=begin.sites, cash_cents=50_000)
    return median(took) * 1e6


def street_day_us(sites: int) -> float:
    """A night with its blocks of customers, by site; every slot full at a fair price, rents paid."""
    setup = prepare(WORLD, preset="year", settings=["max_messages=0"]).setup
    begin = WORLD.begin(Genesis(WORLD.name, 1, setup))
    for site in range(1, sites):
        begin = open_site(begin, site)
    goods = begin.setup.catalog.products
    stocked = [p for p in goods if p.size == "small"][:6] + [p for p in goods if p.size == "large"][:6]
    slots = tuple(
        Slot(p.id, (Lot(500, p.wholesale_cents, 10**6), Lot(500, p.wholesale_cents, 10**6 + 1))) for p in stocked
    )
    begin = replace(begin, slots=slots * sites, prices={p.id: p.reference_cents for p in goods})
    state, took = begin, list[float]()
    for seq in range(1, 366):
        start = time.perf_counter()
        state, _ = WORLD.apply(state, Turn(seq, 0, "owner", AdvanceDay()))
        took.append(time.perf_counter() - start)
        paid = tuple(s._replace(due_day=state.day + 20, sealed=False, lost=False, box_cents=0) for s in state.sites)
        state = replace(
            state, slots=begin.slots, ending=None, cash_cents=50_000, sites=paid, complaints=(), mail=begin.mail
        )
    return median(took) * 1e6 / sites


def year_s() -> float:
    took: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(4):  # the first run also pays for what is loaded once
            start = time.process_time()
            akinai.run(
                "vending", agent="reference", preset="year", seeds=[seed + 1], store=str(Path(folder) / "year.db")
            )
            took.append(time.process_time() - start)
    return median(took[1:])


async def _play(path: str, name: str, entries: int, batch: int, action: Callable[[int], Action]) -> list[float]:
    store = await open_store(path)
    setup = prepare(WORLD, preset="classic", days=0, settings=["max_messages=0"]).setup
    genesis = Genesis(WORLD.name, 1, setup)
    from akinai.core.stores import RunHeader

    await store.create(RunHeader(name, genesis, {"owner": "bench"}, 0))
    session: LocalSession[Any] = LocalSession(WORLD, genesis, store, name, batch=batch)
    took: list[float] = []
    for i in range(entries):
        start = time.perf_counter()
        await session.act("owner", Move(action(i)))
        took.append(time.perf_counter() - start)
    await session.flush()
    await store.close()
    return took


def entry_us(batch: int, entries: int) -> float:
    """Microseconds of an entry whose action costs next to nothing: session, digest and store."""
    entry_s: list[float] = []
    for repeat in range(5):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            asyncio.run(
                _play(str(Path(folder) / "bench.db"), f"run-{repeat}", entries, batch, lambda _: GetMoneyBalance())
            )
            entry_s.append((time.perf_counter() - start) / entries)
    return median(entry_s) * 1e6


def growth_over_a_year() -> dict[str, float]:
    """Median cost of a verb on the last 30 days over the first 30, letters and all, with the reference player."""
    from akinai.core.agents import Role
    from akinai.runtime.play.agent_registry import agent_factory

    setup = prepare(WORLD, preset="classic", days=365, settings=["max_messages=0"]).setup
    state = WORLD.begin(Genesis(WORLD.name, 1, setup))
    agent = agent_factory(WORLD, "reference")(Role("owner", WORLD.verbs.classes))
    costs: dict[str, list[tuple[int, float]]] = {}

    async def year() -> None:
        nonlocal state
        last, seq = None, 0
        while not state.ending:
            seq += 1
            move = await agent.act(WORLD.view(state, "owner"), last)
            day = state.day
            start = time.perf_counter()
            state, last = WORLD.apply(state, Turn(seq, 0, "owner", move.action))
            costs.setdefault(type(move.action).__name__, []).append((day, time.perf_counter() - start))

    asyncio.run(year())
    ratios: dict[str, float] = {}
    for verb, timings in costs.items():
        first, last = [c for d, c in timings if 5 < d <= 35], [c for d, c in timings if d > 335]
        if len(first) >= 10 and len(last) >= 10:
            ratios[verb] = median(last) / median(first)
    return ratios


def help_s() -> float:
    took: list[float] = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "akinai", "--help"], capture_output=True, check=True)
        took.append(time.perf_counter() - start)
    return median(took)


if __name__ == "__main__":
    main()
