"""Work on a store, and executors that do it in this process, in others, or on other machines."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from akinai.core.errors import SequenceConflict, UnknownName, UsageError
from akinai.core.steps import Step
from akinai.core.stores import Books, RunHeader
from akinai.plugins import plugins
from akinai.runtime.play.agent_spec import spec_of
from akinai.runtime.play.driver import BY_NAME, PlayContext, Progress, play_run
from akinai.runtime.play.model_pool import ModelPool, open_model_pool
from akinai.runtime.runs.reading import Detail, loader, read_played
from akinai.runtime.runs.records import RESUMABLE, Run
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore
from akinai.together import gather_or_cancel

R = TypeVar("R", covariant=True)

QUIET_S = 5.0
"""Seconds without a new entry after which another process is taken to have left a run."""


class Monitor(Protocol):
    """Receives the progress of work on behalf of its caller."""

    every_s: float
    """Seconds between reports."""

    async def report(self, days: Mapping[str, int]) -> bool:
        """Receive the days that runs have played so far. Returns True to ask the work to stop."""
        ...


class Work(Protocol[R]):
    """An item of work on a store. It is pickled for other processes, which open the store by its address."""

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs whose days it reports; empty if it reports none."""
        ...

    async def do(self, books: Books, monitor: Monitor) -> R:
        """Do the work. If it takes longer than a few seconds, it asks the monitor at times whether to stop."""
        ...


@dataclass(frozen=True, slots=True)
class Died:
    """The result of an item whose process died and that no other process could do."""

    why: str


class Executor(Protocol):
    """Does work. Other engines come from the entry points `akinai.executors`."""

    def check_store(self, url: str) -> None:
        """Raise UsageError for a store that the workers cannot open."""
        ...

    def work(
        self, url: str | None, items: Sequence[Work[R]], progress: Progress | None
    ) -> AsyncIterator[tuple[int, R | Died]]:
        """Yield the index and result of each item, in the order of completion.

        Work without a store has no `url`, and gets an empty store in memory. Cancellation stops the items under way
        within ten seconds; what was committed stays. Raises an item's error when the others are done, and StoreError.
        """
        ...

    async def close(self) -> None:
        """Release processes and connections. `work` may be called again afterwards."""
        ...


class Unwatched:
    """A monitor that ignores reports and never asks to stop: cancelling the work stops it."""

    every_s = 3600.0

    async def report(self, days: Mapping[str, int]) -> bool:
        return False


class Here:
    """An executor that works in this process, on an open store."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def check_store(self, url: str) -> None:
        pass

    async def work(
        self, url: str | None, items: Sequence[Work[R]], progress: Progress | None
    ) -> AsyncIterator[tuple[int, R | Died]]:
        for index, item in enumerate(items):
            yield index, await item.do(self._books, Unwatched())
            await asyncio.sleep(0)  # work without a wait lets no Ctrl-C through

    async def close(self) -> None:
        pass


async def do_work(url: str | None, item: Work[R], monitor: Monitor) -> R:
    """Open the store and do an item; called by every engine's workers."""
    books = await open_store(url or "memory:", create=False)
    try:
        return await item.do(books, monitor)
    finally:
        await books.close()


@dataclass(frozen=True, slots=True)
class PlayWork:
    """Work that plays runs by id; their headers are in the store."""

    run_ids: tuple[str, ...]
    detail: Detail
    at_once: int = 1
    """Most runs that wait for models at the same time."""
    raise_errors: bool = False

    async def do(self, books: Books, monitor: Monitor) -> list[Run]:
        """Play the runs to their ends, or until the monitor asks to stop.

        If another process plays a run at the same time, the faster one goes on.
        """
        headers = [await books.header(run_id) for run_id in self.run_ids]
        days = dict.fromkeys(self.run_ids, 0)
        steps: dict[str, list[Step[Any]]] = {run_id: [] for run_id in self.run_ids}
        playing = asyncio.ensure_future(_play(books, headers, self, days, steps))
        watching = asyncio.ensure_future(_watch(playing, days, monitor))
        try:
            await playing
        except asyncio.CancelledError:
            pass  # it was stopped: the runs are read as far as they came
        finally:
            watching.cancel()
        return [
            without_setup(await read_played(books, await books.header(run_id), steps[run_id], self.detail))
            for run_id in self.run_ids
        ]


async def _watch(playing: "asyncio.Future[Any]", days: Mapping[str, int], monitor: Monitor) -> None:
    while not await monitor.report(dict(days)):
        await asyncio.sleep(monitor.every_s)
    playing.cancel()


async def _play(
    books: Books,
    headers: Sequence[RunHeader],
    item: PlayWork,
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
        await gather_or_cancel(play(header, pools.get(spec_of(header))) for header in headers)


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
        seq = last
        async for entry in books.read(run_id, max(last, 0)):
            seq = entry.seq
        quiet_s = 0.0 if seq != last else quiet_s + 1
        last = seq
        await asyncio.sleep(1)
    return await books.header(run_id)


@dataclass(frozen=True, slots=True)
class ScratchWork:
    """Work that plays and scores runs that are in no store."""

    headers: tuple[RunHeader, ...]
    detail: Detail

    @property
    def run_ids(self) -> tuple[str, ...]:
        return ()

    async def do(self, books: Books, monitor: Monitor) -> list[Run]:
        """The runs, as far as the monitor lets it come."""
        runs: list[Run] = []
        for header in self.headers:
            if await monitor.report({}):
                break
            runs.append(await play_scratch(header, self.detail))
        return runs


async def play_scratch(header: RunHeader, detail: Detail, context: PlayContext = BY_NAME) -> Run:
    """Play and score a run without storing it."""
    memory, steps = MemoryStore(), list[Step[Any]]()
    await memory.create(header)
    played = await play_run(memory, header, None, replace(context, steps=steps))
    return await read_played(memory, played, steps, detail, load=loader(context.world))


def without_setup(run: Run) -> Run:
    """The run without its settings, which are most of a header, for a caller that has them already."""
    genesis = run.header.genesis
    return replace(run, header=replace(run.header, genesis=replace(genesis, setup={})))


def check_jobs(jobs: object) -> None:
    """Raise UsageError unless `jobs` is a whole number of at least 1."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise UsageError(f"jobs is a whole number of at least 1, not {jobs!r:.60}")


def open_executor(on: str, jobs: int) -> Executor:
    """Open the executor that `--on` names, such as "ray" or "ray://HOST:PORT". UsageError if it is not there."""
    name, _, address = on.partition("://")
    executors = plugins("akinai.executors")
    if name not in executors:
        raise UnknownName("executor", name, executors, "--on is NAME or NAME://HOST:PORT")
    return executors[name].load()(address, jobs)
