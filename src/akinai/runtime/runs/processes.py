"""Worker processes on this machine. They are spawned, ignore Ctrl-C and exit with their parent."""

import ast
import asyncio
import inspect
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from akinai.core.errors import AgentError, AkinaiError, StoreError, UsageError
from akinai.runtime.play.driver import Progress
from akinai.runtime.runs.work import Died, R, Work, do_work

POLL_S = 0.1
"""Seconds between polls: the parent polls its processes' progress, and a process polls whether to stop."""


class LocalProcesses:
    """An executor that works in up to `jobs` processes on this machine. They stay alive until `close`."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._processes: _Processes | None = None

    def check_store(self, url: str) -> None:
        if url.startswith("memory:"):
            raise UsageError("a store in memory belongs to one process; give a store such as 'akinai.db', or one job")

    async def work(
        self, url: str | None, items: Sequence[Work[R]], progress: Progress | None
    ) -> AsyncIterator[tuple[int, R | Died]]:
        broken: list[int] = []
        async for index, result in self._do_items(url, items, range(len(items)), progress):
            if isinstance(result, Died):
                broken.append(index)
            else:
                yield index, result
        # A process that dies breaks its whole pool, so the remaining items get a pool each.
        for index in broken:
            async for result in self._do_items(url, items, [index], progress):
                yield result

    async def close(self) -> None:
        if self._processes is not None:
            self._processes.pool.shutdown(wait=True, cancel_futures=True)
            self._processes = None

    async def _do_items(
        self, url: str | None, items: Sequence[Work[R]], indices: Sequence[int], progress: Progress | None
    ) -> AsyncIterator[tuple[int, R | Died]]:
        """Do items in processes; the result of items under way when a process died is Died."""
        run_ids = [run_id for index in indices for run_id in items[index].run_ids]
        slots = {run_id: i for i, run_id in enumerate(run_ids)}
        processes = await self._ensure_processes(len(run_ids))
        loop = asyncio.get_running_loop()
        with block_ctrl_c():
            tasks = {
                loop.run_in_executor(
                    processes.pool, _in_process, url, items[index], {id: slots[id] for id in items[index].run_ids}
                ): index
                for index in indices
            }
        reported, failure = [0] * len(run_ids), None
        pending: set[asyncio.Future[Any]] = set(tasks)
        try:
            while pending:
                if run_ids:
                    done, pending = await asyncio.wait(pending, timeout=POLL_S)
                else:
                    done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                _report(run_ids, reported, processes.days, progress)
                for task in sorted(done, key=tasks.__getitem__):
                    try:
                        result = _result(task)
                    except Exception as error:
                        failure = failure or error  # raised when the other items are done
                        continue
                    if isinstance(result, Died) and self._processes is processes:
                        await self.close()
                    yield tasks[task], result
        except (asyncio.CancelledError, GeneratorExit):
            processes.stop.set()
            if self._processes is processes:
                self._processes = None
            await asyncio.wait(tasks)
            processes.pool.shutdown(wait=False)
            raise
        if failure:
            raise failure

    async def _ensure_processes(self, runs: int) -> "_Processes":
        """The processes, started if needed, with room to report the days of `runs` runs."""
        if self._processes is not None and runs > len(self._processes.days):
            await self.close()
        if self._processes is None:
            context = multiprocessing.get_context("spawn")
            stop, days = context.Event(), context.RawArray("i", max(runs, 1))
            pool = ProcessPoolExecutor(self._jobs, context, _start_process, (stop, days))
            self._processes = _Processes(pool, stop, days)
        return self._processes


@dataclass(frozen=True, slots=True)
class _Processes:
    """A pool, and the memory that its processes share with this one."""

    pool: ProcessPoolExecutor
    stop: "Event"
    days: Any
    """The days played by each run of the work."""


def expect_guard() -> None:
    """UsageError in a script that would begin again in each of its processes, for they read it anew."""
    main = sys.modules["__main__"]
    file, spec = getattr(main, "__file__", None), main.__spec__
    if file is None or (spec is not None and spec.name.endswith("__main__")):
        return  # which no process reads
    frame = inspect.currentframe()
    while frame is not None and not (frame.f_globals is main.__dict__ and frame.f_code.co_name == "<module>"):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename != file:
        return
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    guards = [node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)]
    if not any(guard.lineno <= frame.f_lineno <= (guard.end_lineno or 0) for guard in guards):
        raise UsageError(
            f"{Path(file).name!r} would begin again in each process of several jobs; "
            "put what it does under 'if __name__ == \"__main__\":', or leave jobs out"
        )


def available_cpus() -> int:
    """Processors that this process may use, at least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _report(run_ids: Sequence[str], reported: list[int], days: Any, progress: Progress | None) -> None:
    for i, run_id in enumerate(run_ids):
        if progress and days[i] != reported[i]:
            reported[i] = days[i]
            progress(run_id, days[i], 0)


def _result(task: "asyncio.Future[Any]") -> Any:
    if isinstance(task.exception(), BrokenProcessPool):
        return Died("the process that played it died; it can be resumed")
    result = task.result()
    if isinstance(result, AkinaiError):
        raise result
    return result


@contextmanager
def block_ctrl_c() -> Generator[None]:
    """Keep Ctrl-C, which is for the parent, from processes started in this context, even while they start."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_shared: "tuple[Event, Any] | None" = None
"""Memory that a process of the pool shares with its parent: the stop event, and the days played by each run."""


def _start_process(stop: Event, days: Any) -> None:
    """Initialise a process of the pool: set what it shares, ignore Ctrl-C, and end it with its parent."""
    global _shared  # noqa: PLW0603 - a pool has no other way to pass this to its processes
    _shared = stop, days
    # Set before NumPy is loaded: with a process per core, its threads would wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    belong_to_parent()


def belong_to_parent() -> None:
    """Make this process ignore Ctrl-C, which is for its parent, and exit with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _SharedMonitor:
    every_s = POLL_S

    def __init__(self, stop: Event, days: Any, slots: Mapping[str, int]) -> None:
        self._stop, self._days, self._slots = stop, days, slots

    async def report(self, days: Mapping[str, int]) -> bool:
        for run_id, day in days.items():
            self._days[self._slots[run_id]] = day
        return self._stop.is_set()


def _in_process(url: str | None, item: Work[Any], slots: Mapping[str, int]) -> Any:
    """The item's result, or its AkinaiError. None for an item that starts after the stop event."""
    assert _shared is not None
    if _shared[0].is_set() and not item.run_ids:
        return None
    try:
        return asyncio.run(do_work(url, item, _SharedMonitor(*_shared, slots)))
    except (StoreError, UsageError) as error:
        # The plain class: a subclass that takes more than a message would not survive pickling.
        return (StoreError if isinstance(error, StoreError) else UsageError)(str(error))
    except Exception as error:  # of a third party's agent or world: it goes to the parent if it can be pickled
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise AgentError(f"{type(error).__name__}: {error}") from None
        raise
