"""An analysis from a store: runs are read in processes, a few at a time, and only small records come back."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache

from akinai import worlds
from akinai.core.errors import AkinaiError, StoreError, UsageError
from akinai.core.stores import RunHeader
from akinai.core.trace import Books
from akinai.runtime.analysis import Analysis, RunRecord, Scale, Wanted
from akinai.runtime.analysis_groups import group_of, kinds_of, summary_of
from akinai.runtime.analysis_reading import read_record
from akinai.runtime.analysis_scale import HIGH, LOW, most_seeds, scale_of, wanted_of, why_no_scale
from akinai.runtime.play import Progress, horizon, play_one
from akinai.runtime.prices import Prices
from akinai.runtime.processes import belong_to_parent, spared_from_ctrl_c
from akinai.runtime.runs import agreed_card
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore

A_TIME = 8
"""Runs that a process reads before it hands their records back."""
FEW_ENTRIES = 8_000
"""Read here rather than in processes, which take half a second to begin."""
ENTRIES_UNKNOWN = 300
"""Reckoned for a run that was never closed."""

Told = Callable[[str], None]
"""Hears the name of every run that was read."""


def _nobody(_: str) -> None:
    """Hears nothing."""


@dataclass(frozen=True, slots=True)
class _Task:
    """Runs for one process: by name in the store, or to be played."""

    wanted: Wanted
    prices: Prices
    read: tuple[str, ...] = ()
    play: tuple[RunHeader, ...] = ()


class Readers:
    """Reads runs of one store, here or in processes."""

    def __init__(self, books: Books, url: str | None, jobs: int, prices: Prices) -> None:
        self._books, self._url, self._jobs, self._prices = books, url, jobs, prices
        self._load = cache(worlds.load)
        self._pool: ProcessPoolExecutor | None = None

    async def read(self, headers: Sequence[RunHeader], wanted: Wanted, told: Told = _nobody) -> list[RunRecord]:
        """The records of runs of the store, in their order."""
        if not self._worth_processes(headers):
            return [await self._read_here(header, wanted, told) for header in headers]
        ids = [tuple(header.run_id for header in some) for some in _in_chunks(headers)]
        return await self._in_pool([_Task(wanted, self._prices, read=some) for some in ids], told)

    async def play(self, headers: Sequence[RunHeader]) -> list[RunRecord]:
        """Play runs that are in no store, and read them."""
        tasks = [_Task(Wanted(), {}, play=tuple(some)) for some in _in_chunks(headers)]
        if self._pool is None and not self._worth_processes(headers):
            return [record for task in tasks for record in await _done(self._books, task)]
        return await self._in_pool(tasks, _nobody)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _worth_processes(self, headers: Sequence[RunHeader]) -> bool:
        if self._url is None or self._jobs < 2 or len(headers) < 2:
            return False
        return sum(header.entries or ENTRIES_UNKNOWN for header in headers) > FEW_ENTRIES

    async def _read_here(self, header: RunHeader, wanted: Wanted, told: Told) -> RunRecord:
        record = await read_record(self._books, header, wanted, self._prices, self._load)
        await asyncio.sleep(0)  # reading alone lets no Ctrl-C through
        told(record.id)
        return record

    async def _in_pool(self, tasks: Sequence[_Task], told: Told) -> list[RunRecord]:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._jobs, context, belong_to_parent)
        loop, url = asyncio.get_running_loop(), self._url or "memory:"
        with spared_from_ctrl_c():
            waiting = [loop.run_in_executor(self._pool, _in_process, url, task) for task in tasks]
        records: list[RunRecord] = []
        try:
            for one in waiting:
                some = await one
                if isinstance(some, str):
                    raise StoreError(some)
                records.extend(some)
                for record in some:
                    told(record.id)
        except BrokenProcessPool as error:
            raise AkinaiError("a process that read runs died, perhaps for want of memory; try --jobs 1") from error
        finally:
            for one in waiting:
                one.cancel()
        return records


@asynccontextmanager
async def readers(books: Books, url: str | None, jobs: int, prices: Prices) -> AsyncIterator[Readers]:
    """Readers whose processes end with it. UsageError unless `jobs` is a whole number of at least 1."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise UsageError(f"jobs is a whole number of at least 1, not {jobs!r:.60}")
    made = Readers(books, url, jobs, prices)
    try:
        yield made
    finally:
        made.close()


def _in_chunks(headers: Sequence[RunHeader]) -> Iterator[Sequence[RunHeader]]:
    return (headers[i : i + A_TIME] for i in range(0, len(headers), A_TIME))


def _in_process(url: str, task: _Task) -> list[RunRecord] | str:
    async def work() -> list[RunRecord]:
        books = await open_store(url, create=False)
        try:
            return await _done(books, task)
        finally:
            await books.close()

    try:
        return asyncio.run(work())
    except AkinaiError as error:
        # As text: an error that takes more than a message would not survive the way to the parent.
        return str(error)


async def _done(books: Books, task: _Task) -> list[RunRecord]:
    load = cache(worlds.load)
    headers = [await books.header(run_id) for run_id in task.read]
    records = [await read_record(books, header, task.wanted, task.prices, load) for header in headers]
    for header in task.play:
        memory = MemoryStore()
        await memory.create(header)
        records.append(await read_record(memory, await play_one(memory, header), task.wanted, task.prices, load))
    return records


async def analyse(
    made: Readers,
    known: Sequence[RunHeader],
    headers: Sequence[RunHeader],
    wanted: Wanted,
    *,
    scale: bool | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Runs and the groups they fall into. `known` are all runs of the store, `headers` those that are analysed.

    `scale` True places every seed between idle and reference, playing what the store does not have, False none;
    without it a bounded number of seeds is enough.
    """
    told = _telling(headers, progress) if progress else _nobody
    records = await made.read([header for header in headers if not header.damage], wanted, told)
    by_id = {record.id: record for record in records}
    records = [by_id.get(header.run_id) or _damaged(header) for header in headers]
    at_hand = {header.run_id: header for header in headers}
    kinds = _kinds(records)
    first = {kind: at_hand[next((one.id for one in some if one.world), some[0].id)] for kind, some in kinds.items()}
    scales = await _scales(made, known, kinds, first, scale)
    names = kinds_of(first)
    return Analysis(
        runs=tuple(records),
        groups=tuple(group_of(names[kind], some, scales[kind]) for kind, some in kinds.items()),
        summary=summary_of(records),
        card=agreed_card([record.card for record in records], {record.id: record.digest for record in records}),
    )


def _kinds(records: Sequence[RunRecord]) -> dict[str, list[RunRecord]]:
    """Runs by how they were played. One whose header is damaged is reckoned to the kind of its command's other runs."""
    of_command: dict[str | None, set[str]] = {}
    for record in records:
        if record.world:
            of_command.setdefault(record.group, set()).add(record.kind)
    kinds: dict[str, list[RunRecord]] = {}
    for record in records:
        alike = of_command.get(record.group, set()) if record.group and not record.world else set[str]()
        kinds.setdefault(next(iter(alike)) if len(alike) == 1 else record.kind, []).append(record)
    return kinds


def _telling(headers: Sequence[RunHeader], progress: Progress) -> Told:
    days = {header.run_id: horizon(header) for header in headers}
    for run_id, wanted in days.items():
        progress(run_id, 0, wanted)
    return lambda run_id: progress(run_id, -1, days[run_id])


def _damaged(header: RunHeader) -> RunRecord:
    return RunRecord(
        header.run_id, "", "unknown", 0, "failed", None, 0, "", 0, (), "", "", group=header.group, trouble=header.damage
    )


async def _scales(
    made: Readers,
    known: Sequence[RunHeader],
    kinds: Mapping[str, Sequence[RunRecord]],
    first: Mapping[str, RunHeader],
    scale: bool | None,
) -> dict[str, Scale]:
    """The scale of every kind; kinds of one ground share what is read and played."""
    if scale is False:
        return {kind: Scale(why_not="it was not asked for") for kind in kinds}
    grounds: dict[str, list[str]] = {}
    for kind, some in kinds.items():
        grounds.setdefault(next((one.ground for one in some if one.world), ""), []).append(kind)
    scales: dict[str, Scale] = {}
    for ground, alike in grounds.items():
        header, records = first[alike[0]], [record for kind in alike for record in kinds[kind]]
        if why := _why_not(header):
            scales |= dict.fromkeys(alike, Scale(why_not=why))
            continue
        baselines, played = await _baselines(made, known, ground, header, records, scale)
        for kind in alike:
            scales[kind] = scale_of(sorted({run.seed for run in kinds[kind]}), kinds[kind], baselines, played)
    return scales


def _why_not(header: RunHeader) -> str | None:
    return "its record cannot be read" if header.damage else why_no_scale(header)


async def _baselines(
    made: Readers,
    known: Sequence[RunHeader],
    ground: str,
    header: RunHeader,
    records: Sequence[RunRecord],
    scale: bool | None,
) -> tuple[dict[tuple[int, str], RunRecord], set[int]]:
    """Idle and reference by seed, and the seeds on which one of them had to be played."""
    found = {
        (run.seed, run.agent): run
        for run in records
        if run.agent in (LOW, HIGH) and run.state == "done" and not run.parent
    }
    seeds = sorted({run.seed for run in records if not run.trouble})
    spared = [seed for seed in seeds if (seed, LOW) in found and (seed, HIGH) in found]
    most = None if scale else max(0, most_seeds(header) - len(spared))
    left = [seed for seed in seeds if seed not in set(spared)]
    stored = {
        (one.genesis.seed, agent): one
        for one in known
        if (agent := next(iter(one.agents.values()), "")) in (LOW, HIGH)
        and one.status == "done"
        and not one.parent
        and one.genesis.world == header.genesis.world
        and one.genesis.setup == header.genesis.setup
    }
    wanted = [one for one in wanted_of(ground, header, left, stored, most) if (one.seed, one.agent) not in found]
    read = await made.read([one.header for one in wanted if one.stored], Wanted())
    to_play = [one for one in wanted if not one.stored]
    played = await made.play([one.header for one in to_play])
    found |= {(run.seed, run.agent): run for run in [*read, *played]}
    return found, {one.seed for one in to_play}
