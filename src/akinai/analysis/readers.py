"""Reads the runs of a store through an executor. Whole ledgers stay in the process that read them."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from akinai import worlds
from akinai.core.errors import AkinaiError
from akinai.core.stores import Books, RunHeader, ScoreRecord
from akinai.runtime.models.budget import Prices
from akinai.runtime.play.driver import Progress, horizon
from akinai.runtime.runs.kept_scores import find_kept_runs, keep_scores
from akinai.runtime.runs.processes import LocalProcesses
from akinai.runtime.runs.reading import Detail, read_run, read_usage, trim_run
from akinai.runtime.runs.records import Run
from akinai.runtime.runs.work import (
    Died,
    Executor,
    Here,
    Monitor,
    ScratchWork,
    Work,
    check_jobs,
    open_executor,
    without_setup,
)
from akinai.runtime.why.book import read_conduct_gains

CHUNK = 8
"""Runs of one item of work: they are returned together."""
KEPT_AT_ONCE = 64
"""Runs whose kept scores are queried at once."""
FEW_ENTRIES = 8_000
"""Read here rather than in processes, which take half a second to start."""
ENTRIES_UNKNOWN = 300
"""Assumed for a run that was never closed."""
SCORES = Detail(ledger=False, evidence=False)

T = TypeVar("T")
OnRead = Callable[[str], None]
"""Called with the name of every run that was read."""


def _ignore(_: str) -> None:
    """Does nothing with the name."""


@dataclass(frozen=True, slots=True)
class ReadWork:
    """Runs of the store to read, by their ids."""

    ids: tuple[str, ...]
    detail: Detail
    prices: Prices

    @property
    def run_ids(self) -> tuple[str, ...]:
        return ()

    async def do(self, books: Books, monitor: Monitor) -> list[Run]:
        """Read the runs, until the monitor says stop."""
        load, runs, new_records = cache(worlds.load), list[Run](), list[ScoreRecord]()
        for id in self.ids:
            if await monitor.report({}):
                break
            header = await books.header(id)
            # Any error is the run's own trouble: a damaged setting, or a fault in somebody's scorer.
            run = await read_run(books, header, self.detail, load=load, trouble=(Exception,), new_records=new_records)
            if self.detail.judged and not run.trouble:
                run = await _with_trace(books, run, self.prices)
            runs.append(without_setup(run))
        await keep_scores(books, new_records)
        return runs


async def _with_trace(books: Books, run: Run, prices: Prices) -> Run:
    """A run with what its trace says of it: its model calls, and what its misconduct gained."""
    gains = await read_conduct_gains(books, run.id, run.digest) if run.conduct else None
    return replace(run, usage=await read_usage(books, run.header, prices), conduct_gains=gains)


class Readers:
    """Reads runs of one store, in this process or in several."""

    def __init__(
        self, books: Books, url: str | None, jobs: int, prices: Prices, executor: Executor | None = None
    ) -> None:
        self._books, self._url, self._jobs, self._prices = books, url, jobs, prices
        self._load = cache(worlds.load)
        self._engine = executor
        self._here, self._processes = Here(books), LocalProcesses(jobs)

    async def read(self, headers: Sequence[RunHeader], detail: Detail, on_read: OnRead = _ignore) -> list[Run]:
        """Read runs of the store, in their order. One that cannot be read or scored has its `trouble`.

        StoreError where the store itself does not work.
        """
        headers_by_id = {header.run_id: header for header in headers}
        kept_runs = await self._read_kept(headers, detail, on_read)
        sound = [header for header in headers if not header.damage and header.run_id not in kept_runs]
        items = [ReadWork(tuple(run.run_id for run in chunk), detail, self._prices) for chunk in _chunks(sound)]
        runs = await self._done(items, sound, on_read)
        by_id = kept_runs | {run.id: replace(run, header=headers_by_id[run.id]) for run in runs}
        return [Run(header, trouble=header.damage) if header.damage else by_id[header.run_id] for header in headers]

    async def _read_kept(self, headers: Sequence[RunHeader], detail: Detail, on_read: OnRead) -> dict[str, Run]:
        """Read runs whose scores are kept: their ledgers are not folded, which needs no process."""
        runs: dict[str, Run] = {}
        if not detail.keepable or detail.ledger:
            return runs
        for chunk in _chunks(headers, KEPT_AT_ONCE):
            for kept_run in await find_kept_runs(self._books, chunk, self._load):
                run = kept_run.run
                if not detail.within(run):
                    continue
                read = detail.judged and kept_run.traced
                runs[run.id] = trim_run(await _with_trace(self._books, run, self._prices) if read else run, detail)
                on_read(run.id)
        return runs

    async def play(self, headers: Sequence[RunHeader], detail: Detail = SCORES) -> list[Run]:
        """Play runs that are in no store, and read their scores, or more."""
        return await self._done([ScratchWork(tuple(chunk), detail) for chunk in _chunks(headers)], headers, _ignore)

    async def close(self) -> None:
        """End the processes, or the engine, that read."""
        await self._processes.close()
        if self._engine is not None:
            await self._engine.close()

    async def _done(self, items: Sequence[Work[list[Run]]], headers: Sequence[RunHeader], on_read: OnRead) -> list[Run]:
        return await self.work(items, headers, lambda run: on_read(run.id))

    async def work(
        self,
        items: Sequence[Work[list[T]]],
        headers: Sequence[RunHeader],
        on_done: Callable[[T], None] = lambda _: None,
    ) -> list[T]:
        """Do the items of work, and return all their results in the items' order; `on_done` is called with each."""
        results: dict[int, list[T]] = {}
        executor = self._engine or (self._processes if self._worth_processes(headers) else self._here)
        async for index, result in executor.work(self._url, items, None) if items else _nothing():
            if isinstance(result, Died):
                raise AkinaiError("a process that read runs died, perhaps for want of memory; try --jobs 1")
            results[index] = result
            for record in result:
                on_done(record)
        return [record for index in sorted(results) for record in results[index]]

    def _worth_processes(self, headers: Sequence[RunHeader]) -> bool:
        if self._url is None or self._jobs < 2 or len(headers) < 2:
            return False
        return sum(header.entries or ENTRIES_UNKNOWN for header in headers) > FEW_ENTRIES


@asynccontextmanager
async def open_readers(
    books: Books, url: str | None, jobs: int, prices: Prices, on: str | None = None
) -> AsyncGenerator[Readers]:
    """Readers whose processes, or whose engine `on`, end with the context.

    UsageError unless `jobs` is a whole number of at least 1, and for an engine that cannot open the store.
    """
    check_jobs(jobs)
    executor = None if on is None else open_executor(on, jobs)
    if executor is not None:
        executor.check_store(url or "memory:")
    opened = Readers(books, url, jobs, prices, executor)
    try:
        yield opened
    finally:
        await opened.close()


def progress_of(headers: Sequence[RunHeader], progress: Progress | None) -> OnRead:
    """Make a callback that reports every run that was read as played to its end."""
    if progress is None:
        return _ignore
    days = {header.run_id: horizon(header) for header in headers}
    for run_id, total in days.items():
        progress(run_id, 0, total)
    return lambda run_id: progress(run_id, -1, days[run_id])


def _chunks(headers: Sequence[RunHeader], size: int = CHUNK) -> Iterator[Sequence[RunHeader]]:
    return (headers[i : i + size] for i in range(0, len(headers), size))


async def _nothing() -> AsyncIterator[tuple[int, Any]]:
    """No results of no items: an engine is not started for them."""
    return
    yield
