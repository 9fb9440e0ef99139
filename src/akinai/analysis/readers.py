"""Reads the runs of a store in processes, a few at a time; whole ledgers stay in the process that read them."""

import asyncio
import multiprocessing
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache

from akinai import worlds
from akinai.core.errors import AkinaiError, StoreError, UsageError
from akinai.core.ledger import Genesis
from akinai.core.stores import Books, RunHeader, ScoreRecord
from akinai.runtime.models.budget import Prices
from akinai.runtime.play.driver import Progress, horizon, play_run
from akinai.runtime.runs.kept_scores import find_kept_runs, keep_scores
from akinai.runtime.runs.processes import belong_to_parent, block_ctrl_c
from akinai.runtime.runs.reading import Detail, Load, read_run, read_usage, trimmed
from akinai.runtime.runs.records import Run
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore

CHUNK = 8
"""Runs that a process reads before it hands them back."""
KEPT_AT_ONCE = 64
"""Scores that are kept in one transaction."""
FEW_ENTRIES = 8_000
"""Read here rather than in processes, which take half a second to start."""
ENTRIES_UNKNOWN = 300
"""Assumed for a run that was never closed."""
SCORES = Detail(ledger=False, evidence=False)

OnRead = Callable[[str], None]
"""Called with the name of every run that was read."""


def _ignore(_: str) -> None:
    """Does nothing with the name."""


@dataclass(frozen=True, slots=True)
class _Task:
    """Runs for one process: by name in the store, or to be played."""

    detail: Detail
    prices: Prices
    read: tuple[str, ...] = ()
    play: tuple[RunHeader, ...] = ()


class Readers:
    """Reads runs of one store, in this process or in several."""

    def __init__(self, books: Books, url: str | None, jobs: int, prices: Prices) -> None:
        self._books, self._url, self._jobs, self._prices = books, url, jobs, prices
        self._load = cache(worlds.load)
        self._pool: ProcessPoolExecutor | None = None

    async def read(self, headers: Sequence[RunHeader], detail: Detail, on_read: OnRead = _ignore) -> list[Run]:
        """Runs of the store, in their order. One that cannot be read or scored has its `trouble`.

        StoreError where the store itself does not work.
        """
        known = {header.run_id: header for header in headers}
        kept = await self._read_kept(headers, detail, on_read)
        sound = [header for header in headers if not header.damage and header.run_id not in kept]
        if self._worth_processes(sound):
            chunks = [tuple(header.run_id for header in chunk) for chunk in _chunks(sound)]
            runs = await self._in_pool([_Task(detail, self._prices, read=chunk) for chunk in chunks], on_read)
        else:
            runs = await self._read_here(sound, detail, on_read)
        by_id = kept | {run.id: replace(run, header=known[run.id]) for run in runs}
        return [Run(header, trouble=header.damage) if header.damage else by_id[header.run_id] for header in headers]

    async def _read_kept(self, headers: Sequence[RunHeader], detail: Detail, on_read: OnRead) -> dict[str, Run]:
        """Runs whose scores are kept: nothing of them is folded, or worth a process."""
        found: dict[str, Run] = {}
        if not detail.keepable or detail.ledger:
            return found
        for chunk in _chunks(headers, KEPT_AT_ONCE):
            for kept in await find_kept_runs(self._books, chunk, self._load):
                run = kept.run
                if not detail.within(run):
                    continue
                usage = await read_usage(self._books, run.header, self._prices) if kept.traced else None
                found[run.id] = trimmed(replace(run, usage=usage) if detail.judged else run, detail)
                on_read(run.id)
        return found

    async def play(self, headers: Sequence[RunHeader], detail: Detail = SCORES) -> list[Run]:
        """Play runs that are in no store, and read their scores, or more."""
        tasks = [_Task(detail, {}, play=tuple(chunk)) for chunk in _chunks(headers)]
        if self._pool is None and not self._worth_processes(headers):
            return [run for task in tasks for run in await _done(self._books, task)]
        return await self._in_pool(tasks, _ignore)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _worth_processes(self, headers: Sequence[RunHeader]) -> bool:
        if self._url is None or self._jobs < 2 or len(headers) < 2:
            return False
        return sum(header.entries or ENTRIES_UNKNOWN for header in headers) > FEW_ENTRIES

    async def _read_here(self, headers: Sequence[RunHeader], detail: Detail, on_read: OnRead) -> list[Run]:
        runs, made = list[Run](), list[ScoreRecord]()
        for header in headers:
            runs.append(await _read(self._books, header, detail, self._prices, self._load, made))
            if len(made) == KEPT_AT_ONCE:
                await keep_scores(self._books, made)
                made.clear()
            await asyncio.sleep(0)  # reading alone lets no Ctrl-C through
            on_read(header.run_id)
        await keep_scores(self._books, made)
        return runs

    async def _in_pool(self, tasks: Sequence[_Task], on_read: OnRead) -> list[Run]:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._jobs, context, belong_to_parent)
        loop, url = asyncio.get_running_loop(), self._url or "memory:"
        with block_ctrl_c():
            waiting = [loop.run_in_executor(self._pool, _in_process, url, task) for task in tasks]
        runs: list[Run] = []
        try:
            for future in waiting:
                result = await future
                if isinstance(result, str):
                    raise StoreError(result)
                runs.extend(result)
                for run in result:
                    on_read(run.id)
        except BrokenProcessPool as error:
            raise AkinaiError("a process that read runs died, perhaps for want of memory; try --jobs 1") from error
        finally:
            for future in waiting:
                future.cancel()
        return runs


@asynccontextmanager
async def open_readers(books: Books, url: str | None, jobs: int, prices: Prices) -> AsyncGenerator[Readers]:
    """Readers whose processes end with the context. UsageError unless `jobs` is a whole number of at least 1."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - a caller's mistake is answered with a sentence
        raise UsageError(f"jobs is a whole number of at least 1, not {jobs!r:.60}")
    opened = Readers(books, url, jobs, prices)
    try:
        yield opened
    finally:
        opened.close()


def progress_of(headers: Sequence[RunHeader], progress: Progress | None) -> OnRead:
    """A callback that reports every run that was read as played to its end."""
    if progress is None:
        return _ignore
    days = {header.run_id: horizon(header) for header in headers}
    for run_id, total in days.items():
        progress(run_id, 0, total)
    return lambda run_id: progress(run_id, -1, days[run_id])


def _chunks(headers: Sequence[RunHeader], size: int = CHUNK) -> Iterator[Sequence[RunHeader]]:
    return (headers[i : i + size] for i in range(0, len(headers), size))


def _in_process(url: str, task: _Task) -> list[Run] | str:
    async def work() -> list[Run]:
        books = await open_store(url, create=False)
        try:
            return [_small(run) for run in await _done(books, task)]
        finally:
            await books.close()

    try:
        return asyncio.run(work())
    except AkinaiError as error:
        # As text: an error that takes more than a message would not survive the way to the parent.
        return str(error)


def _small(run: Run) -> Run:
    """The run without its settings, most of a header, which the parent process has already."""
    genesis = run.header.genesis
    return replace(run, header=replace(run.header, genesis=Genesis(genesis.world, genesis.seed, {})))


async def _done(books: Books, task: _Task) -> list[Run]:
    load = cache(worlds.load)
    headers = [await books.header(run_id) for run_id in task.read]
    made: list[ScoreRecord] = []
    runs = [await _read(books, header, task.detail, task.prices, load, made) for header in headers]
    await keep_scores(books, made)
    for header in task.play:
        memory = MemoryStore()
        await memory.create(header)
        runs.append(await _read(memory, await play_run(memory, header), task.detail, task.prices, load, []))
    return runs


async def _read(
    books: Books, header: RunHeader, detail: Detail, prices: Prices, load: Load, made: list[ScoreRecord]
) -> Run:
    # Any error is the run's own trouble: a damaged setting, or a fault in somebody's scorer.
    run = await read_run(books, header, detail, load=load, trouble=(Exception,), made=made)
    return run if run.trouble or not detail.judged else replace(run, usage=await read_usage(books, header, prices))
