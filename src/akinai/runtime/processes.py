"""Many runs side by side in processes, so that one that breaks takes no other along."""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from multiprocessing.synchronize import Event
from typing import Any

from akinai.core.errors import AkinaiError, StoreError, UsageError
from akinai.core.stores import RunHeader, Store
from akinai.runtime.cast import Cast, cast_of
from akinai.runtime.play import BY_NAME, Given, Progress, horizon, play_one
from akinai.runtime.runs import Run, read_what_can_be
from akinai.runtime.stage import Stage, open_stage
from akinai.stores import open_store

LOOK_S = 0.1
"""How often a parent looks at its processes' progress, and they at its wish to stop."""


async def play_all(
    store: Store,
    headers: Sequence[RunHeader],
    *,
    url: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    given: Given = BY_NAME,
    keep: bool = True,
) -> list[Run]:
    """Play every run to its end and score it, `jobs` processes at a time where other processes can open `url`.

    The headers must have been written. `keep` tells whether the runs hold their ledgers. Cancelled, it leaves the runs
    that were under way open, with all they played.
    """
    if progress:
        for header in headers:
            progress(header.run_id, 0, horizon(header))
    casts = [cast_of(header) for header in headers]
    if any(cast.thinks for cast in casts):
        return await _in_one_loop(store, headers, casts, jobs, progress, given, keep)
    if url is not None and jobs > 1 and len(headers) > 1 and "human" not in {cast.agent for cast in casts}:
        return await _side_by_side(store, headers, url, jobs, progress, keep)
    runs: list[Run] = []
    for header in headers:
        played = await play_one(store, header, progress, given)
        runs.append(await read_what_can_be(store, played, given.world, keep=keep))
        if progress:
            progress(header.run_id, -1, horizon(header))
    return runs


async def _in_one_loop(
    store: Store,
    headers: Sequence[RunHeader],
    casts: Sequence[Cast],
    jobs: int,
    progress: Progress | None,
    given: Given,
    keep: bool,
) -> list[Run]:
    """Runs that ask models, `jobs` at a time in this process: they wait for others, not for its processor."""
    at_once = asyncio.Semaphore(jobs)

    async def play(header: RunHeader, stage: Stage) -> Run:
        async with at_once:
            played = await play_one(store, header, progress, replace(given, stage=stage))
            run = await read_what_can_be(store, played, given.world, keep=keep)
        if progress:
            progress(header.run_id, -1, horizon(header))
        return run

    async with AsyncExitStack() as stack:
        stages = {cast: await stack.enter_async_context(open_stage(cast)) for cast in dict.fromkeys(casts)}
        tasks = [asyncio.ensure_future(play(one, stages[cast])) for one, cast in zip(headers, casts, strict=True)]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise


async def _side_by_side(
    store: Store, headers: Sequence[RunHeader], url: str, jobs: int, progress: Progress | None, keep: bool
) -> list[Run]:
    played = await _pool(headers, url, jobs, progress, keep)
    for header in headers:
        if header.run_id not in played:
            # A process that dies takes its whole pool along, so who was in one gets a process of its own.
            played |= await _pool([header], url, 1, progress, keep)
        if header.run_id not in played:
            died = "the process that played it died; it can be resumed"
            broken = replace(await store.header(header.run_id), status="failed", error=died)
            await store.update(broken)
            played[header.run_id] = await read_what_can_be(store, broken, keep=keep)
    return [played[header.run_id] for header in headers]


async def _pool(
    headers: Sequence[RunHeader], url: str, jobs: int, progress: Progress | None, keep: bool
) -> dict[str, Run]:
    """The runs that a pool of processes brought to an end: without those of a process that died, and of its pool."""
    context = multiprocessing.get_context("spawn")
    stop, days = context.Event(), context.RawArray("i", len(headers))
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(min(jobs, len(headers)), context, _join, (stop, days)) as pool:
        with spared_from_ctrl_c():
            tasks = [loop.run_in_executor(pool, _play_in_process, url, one, i, keep) for i, one in enumerate(headers)]
        try:
            await _look_on(headers, tasks, days, progress)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait(tasks)
            raise
    played: dict[str, Run] = {}
    for header, task in zip(headers, tasks, strict=True):
        if isinstance(task.exception(), BrokenProcessPool):
            continue
        result = task.result()
        if isinstance(result, AkinaiError):
            raise result
        played[header.run_id] = result
    return played


@contextmanager
def spared_from_ctrl_c() -> Iterator[None]:
    """Processes that are made in here inherit that Ctrl-C waits: it is for their parent, also while they begin."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def _look_on(
    headers: Sequence[RunHeader], tasks: Sequence["asyncio.Future[Any]"], days: Any, progress: Progress | None
) -> None:
    told, pending = [0] * len(headers), set(tasks)
    while pending:
        _, pending = await asyncio.wait(pending, timeout=LOOK_S)
        for i, header in enumerate(headers):
            now = -1 if tasks[i].done() else days[i]
            if progress and now != told[i]:
                told[i] = now
                progress(header.run_id, now, horizon(header))


_desk: "tuple[Event, Any] | None" = None
"""In a process of the pool: what it shares with its parent, the wish to stop and the days that each run has played."""


def _join(stop: Event, days: Any) -> None:
    """Begin a process of the pool: it knows what it shares, hears no Ctrl-C and does not outlive its parent."""
    global _desk  # noqa: PLW0603 - a pool hands things to its processes in no other way
    _desk = stop, days
    belong_to_parent()


def belong_to_parent() -> None:
    """Make this process hear no Ctrl-C, which is for its parent, and not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_the_parent, daemon=True).start()


def _die_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play_in_process(url: str, header: RunHeader, place: int, keep: bool) -> Run | AkinaiError:
    assert _desk is not None
    stop, days = _desk

    def progress(_: str, day: int, __: int) -> None:
        days[place] = day

    try:
        return asyncio.run(_played(url, header, stop, progress, keep))
    except (StoreError, UsageError) as error:
        # Its plain class: one that takes more than a message would not survive the way to the parent.
        return (StoreError if isinstance(error, StoreError) else UsageError)(str(error))


async def _played(url: str, header: RunHeader, stop: Event, progress: Progress, keep: bool) -> Run:
    async def stop_when_told() -> None:
        while not stop.is_set():
            await asyncio.sleep(LOOK_S)
        playing.cancel()

    store = await open_store(url, create=False)
    try:
        playing = asyncio.ensure_future(play_one(store, header, progress))
        watch = asyncio.ensure_future(stop_when_told())
        try:
            header = await playing
        except asyncio.CancelledError:
            header = await store.header(header.run_id)
        finally:
            watch.cancel()
        return await read_what_can_be(store, header, keep=keep)
    finally:
        await store.close()
