"""Plays many runs at a time, in processes or in one event loop; one that breaks does not end the others."""

import asyncio
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from multiprocessing.synchronize import Event
from typing import Any

from akinai.core.errors import AgentError, AkinaiError, StoreError, UsageError
from akinai.core.steps import Step
from akinai.core.stores import Books, RunHeader
from akinai.runtime.play.agent_spec import AgentSpec, spec_of
from akinai.runtime.play.driver import BY_NAME, PlayContext, Progress, horizon, play_run
from akinai.runtime.play.model_pool import ModelPool, open_model_pool
from akinai.runtime.runs.reading import DAMAGE, Detail, loader, read_played, read_run
from akinai.runtime.runs.records import Run
from akinai.stores import open_store

POLL_S = 0.1
"""Seconds between looks: of a parent at its processes' progress, and of a process at the parent's wish to stop."""


async def play_all(
    store: Books,
    headers: Sequence[RunHeader],
    *,
    url: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    context: PlayContext = BY_NAME,
    detail: Detail = Detail(),  # noqa: B008 - a frozen record
) -> list[Run]:
    """Play every run to its end and score it, `jobs` processes at a time where other processes can open `url`.

    The headers must have been written. `detail` is what is read of each run. Cancelled, it leaves the runs
    that were under way open, with all they played.
    """
    if progress:
        for header in headers:
            progress(header.run_id, 0, horizon(header))
    specs = [spec_of(header) for header in headers]
    if any(spec.asks_model for spec in specs):
        return await _in_one_loop(store, headers, specs, jobs, progress, context, detail)
    if url is not None and jobs > 1 and len(headers) > 1 and "human" not in {spec.agent for spec in specs}:
        return await _side_by_side(store, headers, url, jobs, progress, detail, context.raise_errors)
    runs: list[Run] = []
    for header in headers:
        runs.append(await _play_and_score(store, header, progress, context, detail))
        if progress:
            progress(header.run_id, -1, horizon(header))
    return runs


async def _play_and_score(
    store: Books, header: RunHeader, progress: Progress | None, context: PlayContext, detail: Detail
) -> Run:
    """Play a run to its end and score the steps that were just made."""
    steps: list[Step[Any]] = []
    played = await play_run(store, header, progress, replace(context, steps=steps))
    return await read_played(store, played, steps, detail, load=loader(context.world))


async def _in_one_loop(
    store: Books,
    headers: Sequence[RunHeader],
    specs: Sequence[AgentSpec],
    jobs: int,
    progress: Progress | None,
    context: PlayContext,
    detail: Detail,
) -> list[Run]:
    """Runs that ask models, `jobs` at a time in this process: they wait for servers, not for the processor."""
    limit = asyncio.Semaphore(jobs)

    async def play(header: RunHeader, pool: ModelPool) -> Run:
        async with limit:
            run = await _play_and_score(store, header, progress, replace(context, pool=pool), detail)
        if progress:
            progress(header.run_id, -1, horizon(header))
        return run

    async with AsyncExitStack() as stack:
        pools = {spec: await stack.enter_async_context(open_model_pool(spec)) for spec in dict.fromkeys(specs)}
        tasks = [asyncio.ensure_future(play(header, pools[spec])) for header, spec in zip(headers, specs, strict=True)]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise


async def _side_by_side(
    store: Books,
    headers: Sequence[RunHeader],
    url: str,
    jobs: int,
    progress: Progress | None,
    detail: Detail,
    raise_errors: bool,
) -> list[Run]:
    played = await _pool(headers, url, jobs, progress, detail, raise_errors)
    for header in headers:
        if header.run_id not in played:
            # A process that dies breaks its whole pool, so the runs that are left get a process each.
            played |= await _pool([header], url, 1, progress, detail, raise_errors)
        if header.run_id not in played:
            died = "the process that played it died; it can be resumed"
            broken = replace(await store.header(header.run_id), status="failed", error=died)
            await store.update(broken)
            played[header.run_id] = await read_run(store, broken, detail, trouble=DAMAGE)
    return [played[header.run_id] for header in headers]


async def _pool(
    headers: Sequence[RunHeader], url: str, jobs: int, progress: Progress | None, detail: Detail, raise_errors: bool
) -> dict[str, Run]:
    """The runs that a pool of processes finished; those that were under way when a process died are missing."""
    context = multiprocessing.get_context("spawn")
    stop, days = context.Event(), context.RawArray("i", len(headers))
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(min(jobs, len(headers)), context, _start_process, (stop, days)) as pool:
        with block_ctrl_c():
            tasks = [
                loop.run_in_executor(pool, _play_in_process, url, header, i, detail, raise_errors)
                for i, header in enumerate(headers)
            ]
        try:
            await _watch(headers, tasks, days, progress)
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
def block_ctrl_c() -> Generator[None]:
    """Processes that start in this context do not receive Ctrl-C, which is for their parent, even while they start."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def _watch(
    headers: Sequence[RunHeader], tasks: Sequence["asyncio.Future[Any]"], days: Any, progress: Progress | None
) -> None:
    shown, pending = [0] * len(headers), set(tasks)
    while pending:
        _, pending = await asyncio.wait(pending, timeout=POLL_S)
        for i, header in enumerate(headers):
            now = -1 if tasks[i].done() else days[i]
            if progress and now != shown[i]:
                shown[i] = now
                progress(header.run_id, now, horizon(header))


_shared: "tuple[Event, Any] | None" = None
"""What a process of the pool shares with its parent: the wish to stop, and the days that each run has played."""


def _start_process(stop: Event, days: Any) -> None:
    """Initialise a process of the pool: set what it shares, ignore Ctrl-C, and end it with its parent."""
    global _shared  # noqa: PLW0603 - a pool hands things to its processes in no other way
    _shared = stop, days
    belong_to_parent()


def belong_to_parent() -> None:
    """Make this process ignore Ctrl-C, which is for its parent, and end with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play_in_process(url: str, header: RunHeader, place: int, detail: Detail, raise_errors: bool) -> Run | AkinaiError:
    assert _shared is not None
    stop, days = _shared

    def progress(_: str, day: int, __: int) -> None:
        days[place] = day

    try:
        return asyncio.run(_played(url, header, stop, progress, detail, PlayContext(raise_errors=raise_errors)))
    except (StoreError, UsageError) as error:
        # Its plain class: one that takes more than a message would not survive the way to the parent.
        return (StoreError if isinstance(error, StoreError) else UsageError)(str(error))
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise AgentError(f"{type(error).__name__}: {error}") from None
        raise


async def _played(
    url: str, header: RunHeader, stop: Event, progress: Progress, detail: Detail, context: PlayContext
) -> Run:
    async def cancel_on_stop() -> None:
        while not stop.is_set():
            await asyncio.sleep(POLL_S)
        playing.cancel()

    store = await open_store(url, create=False)
    try:
        steps: list[Step[Any]] = []
        playing = asyncio.ensure_future(play_run(store, header, progress, replace(context, steps=steps)))
        watch = asyncio.ensure_future(cancel_on_stop())
        try:
            header = await playing
        except asyncio.CancelledError:
            header = await store.header(header.run_id)
        finally:
            watch.cancel()
        return await read_played(store, header, steps, detail)
    finally:
        await store.close()
