"""Experiments: one world, one agent, many seeds, side by side in processes; a run that breaks takes no other along."""

import asyncio
import multiprocessing
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import Any

from akinai import worlds
from akinai.core.errors import AkinaiError, UsageError
from akinai.core.ledger import Genesis
from akinai.core.stores import RunHeader, Store
from akinai.runtime.casting import casting
from akinai.runtime.config import Prepared
from akinai.runtime.play import Driver
from akinai.runtime.runs import run_card
from akinai.runtime.session import LocalSession, clock_us
from akinai.stores import open_store

BATCH = 500
"""Entries that a rule-based run commits at once: what a crash loses is made again on resume, byte for byte."""

_FIRST = "amber brisk calm clever copper early fair gentle golden honest keen lively lucky merry mild neat plain proud quiet ready sharp silver steady sunny swift tidy warm wise".split()  # noqa: E501 - a list of words
_SECOND = "anchor apron barrel basket bell bottle broom candle cart coin counter crate drawer fennel ginger jar kettle lantern ledger market melon mint orchard parcel pepper plum purse quince scale shelf stall teapot till wagon".split()  # noqa: E501 - a list of words

Progress = Callable[[str, int], None]
"""Called with a run's id and the days it has played; -1 when the run is over."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One run that is to be played; it can be sent to another process."""

    header: RunHeader
    store: str


def plan(
    world: str, prepared: Prepared, agent: str, seeds: Sequence[int], *, store: str, name: str | None = None
) -> list[Plan]:
    """The runs of one command: NAME-SEED for every seed, NAME standing for them all."""
    group = name or f"{secrets.choice(_FIRST)}-{secrets.choice(_SECOND)}"
    loaded = worlds.load(world)
    card = run_card(loaded.name, agent, prepared.preset, prepared.preset_sha256)
    role = next(iter(loaded.actors(loaded.begin(Genesis(loaded.name, seeds[0], prepared.setup)))), "player")
    return [
        Plan(
            RunHeader(
                run_id=f"{group}-{seed}",
                genesis=Genesis(loaded.name, seed, prepared.setup),
                agents={role: agent},
                created_at=clock_us() + i,
                group=group,
                card=card,
            ),
            store,
        )
        for i, seed in enumerate(seeds)
    ]


async def begin_all(store: Store, plans: Sequence[Plan]) -> None:
    """Write the headers of all runs, or none: UsageError when a name is taken."""
    taken = {run.run_id for run in await store.runs()} & {one.header.run_id for one in plans}
    if taken:
        first = min(taken)
        raise UsageError(f"there is a run {first!r} already; choose another --name, or 'akinai resume {first}'")
    for one in plans:
        await store.create(one.header)


def play_all(store: Store, plans: Sequence[Plan], *, jobs: int = 1, progress: Progress | None = None) -> None:
    """Play every planned run to its end, `jobs` processes at a time; headers must have been written.

    KeyboardInterrupt leaves the runs that were under way open, with all they had played.
    """
    if jobs <= 1 or len(plans) == 1:
        for one in plans:
            wait(play_one(store, one.header, progress))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(plans)), mp_context=context) as pool:
        try:
            under_way = {pool.submit(_play_in_process, one): one for one in plans}
            for done in as_completed(under_way):
                if isinstance(done.exception(), BrokenProcessPool):
                    wait(_mark_broken(store, under_way[done].header.run_id))
                if progress:
                    progress(under_way[done].header.run_id, -1)
        except KeyboardInterrupt:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def wait(coroutine: Any) -> Any:
    """The result of a coroutine, from plain code; inside a running loop, as in a notebook, on a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def _play_in_process(one: Plan) -> None:
    async def play() -> None:
        store = open_store(one.store)
        try:
            await play_one(store, one.header)
        finally:
            await store.close()

    asyncio.run(play())


async def _mark_broken(store: Store, run_id: str) -> None:
    header = await store.header(run_id)
    if header.status == "open":
        await store.update(replace(header, status="failed", error="the process that played it died; it can be resumed"))


async def play_one(
    store: Store, header: RunHeader, progress: Progress | None = None, *, repeat: bool = True
) -> RunHeader:
    """Play a run from where its ledger stands to an ending, and write how it ended.

    An agent that breaks makes the run failed, with the reason in its header; nothing that was played is lost.
    """
    world = worlds.load(header.genesis.world)
    factory = casting(world, next(iter(header.agents.values())))
    session = LocalSession(world, header.genesis, store, header.run_id, batch=BATCH)
    driver = Driver(session, factory, max_messages=_cap(header.genesis))
    if progress:
        driver.on_entry = _days_told(header, session, progress)
    status, ending, error = "open", "stopped", None
    try:
        await driver.recall(store.read(header.run_id), repeat=repeat)
        ending = await driver.play()
        status = "done"
    except AkinaiError as broke:
        status, ending, error = "failed", None, str(broke)
    finally:
        header = replace(header, status=status, ending=ending, error=error, entries=session.seq, digest=session.digest)
        await store.update(header)
        if progress:
            progress(header.run_id, -1)
    return header


def _cap(genesis: Genesis) -> int:
    cap = genesis.setup.get("max_messages", 0)
    return cap if isinstance(cap, int) else 0


def _days_told(header: RunHeader, session: LocalSession[Any], progress: Progress) -> Callable[[], None]:
    world, begin = session.world, session.world.begin(header.genesis)
    start, told = world.now(begin), 0

    def on_entry() -> None:
        nonlocal told
        now = world.now(session.state)
        if start is not None and now is not None and (days := (now - start) // 86_400_000_000) > told:
            told = days
            progress(header.run_id, days)

    return on_entry


def seeds_in(text: str) -> list[int]:
    """Seeds as people write them: "7", "1-5", "1,3,10-12". UsageError says what is wrong."""
    return list(_seeds(text))


def _seeds(text: str) -> Iterator[int]:
    seen: set[int] = set()
    for piece in text.split(","):
        low, dash, high = piece.strip().partition("-")
        try:
            first, last = int(low), int(high) if dash else int(low)
        except ValueError:
            raise UsageError(f"seeds are like 7, 1-5 or 1,3,10-12, not {text!r}") from None
        if last < first or first < 0:
            raise UsageError(f"the seeds {piece.strip()!r} run backwards; write {last}-{first}")
        if last - first >= 100_000:
            raise UsageError(f"{last - first + 1} seeds are more than one command plays; the most are 100,000")
        for seed in range(first, last + 1):
            if seed in seen:
                raise UsageError(f"seed {seed} stands twice in {text!r}")
            seen.add(seed)
            yield seed

