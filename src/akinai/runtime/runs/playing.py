"""Plays the runs of a command in this process or by an executor. A run that fails does not end the others."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace
from typing import Any

from akinai import worlds
from akinai.core.steps import Step
from akinai.core.stores import Books, RunHeader
from akinai.runtime.garbage import never_collecting
from akinai.runtime.play.agent_spec import AgentSpec, spec_of
from akinai.runtime.play.driver import BY_NAME, PlayContext, Progress, horizon, is_reproducible, play_run
from akinai.runtime.play.model_pool import ModelPool, open_model_pool
from akinai.runtime.runs.processes import LocalProcesses, available_cpus
from akinai.runtime.runs.reading import DAMAGE, Detail, loader, read_played, read_run
from akinai.runtime.runs.records import Run
from akinai.runtime.runs.work import Died, Executor, PlayWork
from akinai.together import gather_or_cancel

WAITING_A_PROCESS = 200
"""Runs waiting for models per process: at 10 ms of CPU a call, a process handles about 100 calls a second."""


async def play_all(
    store: Books,
    headers: Sequence[RunHeader],
    *,
    url: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    context: PlayContext = BY_NAME,
    detail: Detail = Detail(),  # noqa: B008 - a frozen record
    executor: Executor | None = None,
) -> list[Run]:
    """Play every run to its end and score it.

    The executor plays them if there is one; else `jobs` at a time are played here: in processes if these can open
    `url`, and runs that ask models in one event loop per process. The headers must have been written. `detail` says
    what is read of each run. Cancellation leaves unfinished runs open, with all their entries.
    """
    if progress:
        for header in headers:
            progress(header.run_id, 0, horizon(header))
    specs = [spec_of(header) for header in headers]
    local = url is None or len(headers) < 2 or any("human" in spec.agents for spec in specs)
    if executor is not None and url is not None:
        items = _work_items(headers, specs, detail, context, processes=len(headers), jobs=1)
        return await _play_by_executor(store, headers, executor, url, items, progress, detail)
    if any(spec.asks_model for spec in specs):
        processes = _processes_of(specs, jobs)
        if local or processes < 2:
            return await _play_in_one_loop(store, headers, specs, jobs, progress, context, detail)
    else:
        processes = 0 if jobs < 2 or local else len(headers)
    if processes and url is not None:
        items = _work_items(headers, specs, detail, context, processes=processes, jobs=jobs)
        return await _play_by_executor(store, headers, LocalProcesses(jobs), url, items, progress, detail)
    runs: list[Run] = []
    for header, spec in zip(headers, specs, strict=True):
        world = context.world or worlds.load(header.genesis.world)
        # Disabled until the steps are freed: the collector would traverse all of them when it starts again.
        with never_collecting() if is_reproducible(world, spec) else nullcontext():
            runs.append(await _play_and_score(store, header, progress, context, detail))
        if progress:
            progress(header.run_id, -1, horizon(header))
    return runs


def _processes_of(specs: Sequence[AgentSpec], jobs: int) -> int:
    """The number of processes for runs that ask models: one per `WAITING_A_PROCESS` waiting runs.

    A limit of calls a minute is counted per process, so its runs share one.
    """
    if any(spec.calls_per_minute for spec in specs):
        return 1
    return min(available_cpus(), -(-min(jobs, len(specs)) // WAITING_A_PROCESS))


def _work_items(
    headers: Sequence[RunHeader],
    specs: Sequence[AgentSpec],
    detail: Detail,
    context: PlayContext,
    *,
    processes: int,
    jobs: int,
) -> list[PlayWork]:
    """Work items: one per run played by rules, one per process for runs that ask models."""
    at_once = max(1, -(-jobs // processes)) if any(spec.asks_model for spec in specs) else 1
    ids = [header.run_id for header in headers]
    shares = [tuple(ids[start::processes]) for start in range(min(processes, len(ids)))]
    return [PlayWork(share, detail, at_once, context.raise_errors) for share in shares]


async def _play_by_executor(
    store: Books,
    headers: Sequence[RunHeader],
    executor: Executor,
    url: str,
    items: Sequence[PlayWork],
    progress: Progress | None,
    detail: Detail,
) -> list[Run]:
    by_id = {header.run_id: header for header in headers}

    def show(run_id: str, day: int, _: int) -> None:
        if progress:
            progress(run_id, day, horizon(by_id[run_id]))

    played: dict[str, Run] = {}
    try:
        async for index, result in executor.work(url, items, show):
            runs = await _read_broken(store, items[index], result, detail) if isinstance(result, Died) else result
            for run in runs:
                # The executor returns runs without their settings.
                genesis = by_id[run.id].genesis
                played[run.id] = replace(run, header=replace(run.header, genesis=genesis))
                show(run.id, -1, 0)
    finally:
        await executor.close()
    return [played[header.run_id] for header in headers]


async def _read_broken(store: Books, item: PlayWork, died: Died, detail: Detail) -> list[Run]:
    """Mark the open runs of a process that died as failed, and read all of its runs."""
    runs: list[Run] = []
    for run_id in item.run_ids:
        header = await store.header(run_id)
        if header.status == "open":
            header = replace(header, status="failed", error=died.why)
            await store.update(header)
        runs.append(await read_run(store, header, detail, trouble=DAMAGE))
    return runs


async def _play_and_score(
    store: Books, header: RunHeader, progress: Progress | None, context: PlayContext, detail: Detail
) -> Run:
    """Play a run to its end and score its steps."""
    steps: list[Step[Any]] = []
    played = await play_run(store, header, progress, replace(context, steps=steps))
    return await read_played(store, played, steps, detail, load=loader(context.world))


async def _play_in_one_loop(
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
        pools = {
            spec: await stack.enter_async_context(open_model_pool(spec, at_once=jobs)) for spec in dict.fromkeys(specs)
        }
        return await gather_or_cancel(play(header, pools[spec]) for header, spec in zip(headers, specs, strict=True))
