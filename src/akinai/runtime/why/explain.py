"""Explains a run of a store, `jobs` branches at a time, and goes on from what was played before."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from akinai import worlds
from akinai.core.ledger import Ledger
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import replay
from akinai.runtime.play.agent_registry import default_agent
from akinai.runtime.play.agent_spec import spec_of
from akinai.runtime.runs.processes import belong_to_parent, block_ctrl_c
from akinai.runtime.runs.reading import expect_whole, read_ledger
from akinai.runtime.why.book import WhyBook
from akinai.runtime.why.branches import Branch, Branches
from akinai.runtime.why.explanation import Explanation
from akinai.runtime.why.study import Study

BATCH = 32
"""Values that are kept together: a process that dies loses no more, and Ctrl-C none."""
Progress = Callable[[int, int], None]
"""Called with the branches that were played of those that are wanted so far."""


@dataclass(frozen=True, slots=True)
class WhyOptions:
    """How much is played, and by whom."""

    player: str | None = None
    """Who plays the rest of every branch; None for the world's default player."""
    futures: int = 8
    budget: int = 600
    """Branches that are played at most; 0 for no limit."""
    jobs: int = 1


async def explain(
    books: Books, header: RunHeader, options: WhyOptions = WhyOptions(), progress: Progress | None = None
) -> Explanation:
    """Which decisions of a run made and cost most. Values go into its second book as they are played.

    UsageError for a run that cannot be explained, ReplayMismatch where its record is not what the rules give.
    """
    ledger = await read_ledger(books, header)
    expect_whole(header, len(ledger.entries))
    world = worlds.load(header.genesis.world)
    task = Task(ledger, options.player or default_agent(world))
    branches = task.branches()
    book = WhyBook(books, header.run_id, f"{ledger.digest} {task.player}")
    await book.load()
    left, done, total = options.budget or 10**9, 0, 0

    async def play(wanted: Sequence[Branch]) -> dict[Branch, float]:
        nonlocal left, done, total
        new = [branch for branch in wanted if branch not in book.values][:left]
        left, total, batch = left - len(new), total + len(new), dict[Branch, float]()
        try:
            async for branch, value in pool.play(new):
                batch[branch] = value
                done += 1
                if len(batch) == BATCH:
                    await book.add(batch)
                    batch = {}
                if progress:
                    progress(done, total)
        finally:
            await book.add(batch)
        return book.values

    with Pool(task, branches, options.jobs) as pool:
        study = Study(branches, await branches.departures(), options.futures)
        await study.run(play)
    found = study.explanation(header, ledger.digest, asked_model=spec_of(header).asks_model)
    await book.conclude(found)
    return found


@dataclass(frozen=True, slots=True)
class Task:
    """All that a process needs to play branches of a run."""

    ledger: Ledger
    player: str

    def branches(self) -> Branches:
        world = worlds.load(self.ledger.genesis.world)
        return Branches(world, replay(world, self.ledger, check=True), self.player)


class Pool:
    """Plays branches here, or in processes when several are asked for; they start with the first branches."""

    def __init__(self, task: Task, here: Branches, jobs: int) -> None:
        self._task, self._here, self._jobs = task, here, jobs
        self._processes: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        if self._processes is not None:
            self._processes.shutdown(wait=True, cancel_futures=True)

    async def play(self, branches: Sequence[Branch]) -> AsyncIterator[tuple[Branch, float]]:
        """The values of branches, as they are known."""
        if self._jobs == 1 or len(branches) < 2:
            for branch in branches:
                yield branch, await self._here.value(branch)
                await asyncio.sleep(0)
            return
        if self._processes is None:
            context = multiprocessing.get_context("spawn")
            self._processes = ProcessPoolExecutor(self._jobs, context, _start_process, (self._task,))
        loop = asyncio.get_running_loop()
        with block_ctrl_c():
            tasks = [loop.run_in_executor(self._processes, _value_in_process, branch) for branch in branches]
        for task in asyncio.as_completed(tasks):
            yield await task


_branches: Branches | None = None
"""The run of a process of the pool."""


def _start_process(task: Task) -> None:
    global _branches  # noqa: PLW0603 - a pool hands things to its processes in no other way
    belong_to_parent()
    _branches = task.branches()


def _value_in_process(branch: Branch) -> tuple[Branch, float]:
    assert _branches is not None
    return branch, asyncio.run(_branches.value(branch))
