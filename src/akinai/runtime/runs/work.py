"""Work: runs of a store that are played by this process or another, on this machine or another; and who has it done."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from typing import Any, Protocol

from akinai.core.errors import SequenceConflict, UnknownName
from akinai.core.ledger import Genesis
from akinai.core.steps import Step
from akinai.core.stores import Books, RunHeader
from akinai.runtime.play.agent_spec import spec_of
from akinai.runtime.play.driver import PlayContext, Progress, play_run
from akinai.runtime.play.model_pool import ModelPool, open_model_pool
from akinai.runtime.runs.reading import Detail, read_played
from akinai.runtime.runs.records import RESUMABLE, Run
from akinai.stores import open_store

QUIET_S = 5.0
"""How long after its last entry another process is taken to have left a run."""


@dataclass(frozen=True, slots=True)
class WorkItem:
    """Runs to play, by their ids: whoever plays them reads their headers, and knows the store's address."""

    run_ids: tuple[str, ...]
    detail: Detail
    at_once: int = 1
    """Runs that wait for models at the same time."""
    raise_errors: bool = False


@dataclass(frozen=True, slots=True)
class Died:
    """The process that did an item died, and nobody else could do it."""

    why: str


class Monitor(Protocol):
    """Stands beside whoever waits for the work."""

    every_s: float
    """Seconds between reports."""

    async def report(self, days: Mapping[str, int]) -> bool:
        """Take the days that runs have played so far. True asks the work to stop."""
        ...


class Executor(Protocol):
    """Has work done elsewhere. Other engines come from the entry points `akinai.executors`."""

    def check_store(self, url: str) -> None:
        """UsageError for a store that those who do the work cannot open."""
        ...

    def work(
        self, url: str, items: Sequence[WorkItem], progress: Progress | None
    ) -> AsyncIterator[tuple[int, Sequence[Run] | Died]]:
        """What became of each item, by its place, in the order in which they are done.

        Cancelled, it stops the items under way within ten seconds and keeps what was committed. Raises the error of a
        run that asks for that, and StoreError.
        """
        ...


async def do_work(url: str, item: WorkItem, monitor: Monitor) -> list[Run]:
    """Play the runs of an item to their ends, or until the monitor asks to stop; knows no engine.

    A run that another process plays at the same time is left to whichever is first.
    """
    books = await open_store(url, create=False)
    try:
        headers = [await books.header(run_id) for run_id in item.run_ids]
        days = dict.fromkeys(item.run_ids, 0)
        steps: dict[str, list[Step[Any]]] = {run_id: [] for run_id in item.run_ids}
        playing = asyncio.ensure_future(_play(books, headers, item, days, steps))
        watching = asyncio.ensure_future(_watch(playing, days, monitor))
        try:
            await playing
        except asyncio.CancelledError:
            pass  # it was stopped: what there is of its runs is read
        finally:
            watching.cancel()
        return [
            _small(await read_played(books, await books.header(run_id), steps[run_id], item.detail))
            for run_id in item.run_ids
        ]
    finally:
        await books.close()


async def _watch(playing: "asyncio.Future[Any]", days: Mapping[str, int], monitor: Monitor) -> None:
    while not await monitor.report(dict(days)):
        await asyncio.sleep(monitor.every_s)
    playing.cancel()


async def _play(
    books: Books,
    headers: Sequence[RunHeader],
    item: WorkItem,
    days: dict[str, int],
    steps: Mapping[str, list[Step[Any]]],
) -> None:
    limit = asyncio.Semaphore(item.at_once)

    def progress(run_id: str, day: int, _: int) -> None:
        days[run_id] = day

    async def play(header: RunHeader, pool: ModelPool | None) -> None:
        async with limit:
            context = PlayContext(pool=pool, raise_errors=item.raise_errors, steps=steps[header.run_id])
            await play_shared(books, header, progress, context)

    async with AsyncExitStack() as stack:
        pools: dict[Any, ModelPool] = {}
        for spec in dict.fromkeys(spec_of(header) for header in headers):
            if spec.asks_model:
                pools[spec] = await stack.enter_async_context(open_model_pool(spec, at_once=item.at_once))
        tasks = [asyncio.create_task(play(header, pools.get(spec_of(header)))) for header in headers]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                if not task.cancelling():  # once: a second time would break off what it does at its end
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise


async def play_shared(books: Books, header: RunHeader, progress: Progress | None, context: PlayContext) -> RunHeader:
    """Play a run that another process may be playing too: the slower waits until the other ends it or leaves it."""
    while header.status != "done" or header.ending in RESUMABLE:
        try:
            return await play_run(books, header, progress, context)
        except SequenceConflict:
            header = await _when_quiet(books, header.run_id)
            if context.steps is not None:
                context.steps.clear()
            if header.status == "done":
                break
    return header


async def _when_quiet(books: Books, run_id: str) -> RunHeader:
    """The header of a run once it is over, or has not grown for a while."""
    last, quiet_s = -1, 0.0
    while quiet_s < QUIET_S:
        header = await books.header(run_id)
        if header.status != "open" or header.ending is not None:
            return header
        seen = last
        async for entry in books.read(run_id, max(last, 0)):
            seen = entry.seq
        quiet_s = 0.0 if seen != last else quiet_s + 1
        last = seen
        await asyncio.sleep(1)
    return await books.header(run_id)


def _small(run: Run) -> Run:
    """The run without its settings, most of a header, which whoever asked has already."""
    genesis = run.header.genesis
    return replace(run, header=replace(run.header, genesis=Genesis(genesis.world, genesis.seed, {})))


def open_executor(on: str, jobs: int) -> Executor:
    """The executor that `--on` names, such as "ray" or "ray://HOST:PORT". UsageError for none, or without its extra."""
    name, _, address = on.partition("://")
    known = {point.name: point for point in entry_points(group="akinai.executors")}
    if name not in known:
        raise UnknownName("executor", name, known, "--on is NAME or NAME://HOST:PORT")
    return known[name].load()(address, jobs)
