"""Ray as an executor, with a local or a running cluster. The only module that uses Ray (extra `ray`)."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from akinai.core.errors import AkinaiError, StoreError, UsageError
from akinai.runtime.play.driver import Progress
from akinai.runtime.runs.work import Died, R, Work, do_work

GRACE_S = 8.0
"""Seconds that runs have to stop by themselves."""
NEWS_S = 1.0
"""Seconds between the reports of a run."""
RETRIES = 5
"""Restarts of an item whose node dies: its runs continue from what was committed."""
OBJECT_STORE_BYTES = 100_000_000
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_DEDUP_LOGS": "1"}
LISTENS = (
    "Ray's daemons listen on every address of this machine, and whoever reaches them runs code here: "
    "use it behind a firewall alone"
)


class RayCluster:
    """An executor that works on the nodes of a Ray cluster, one item per CPU."""

    def __init__(self, address: str, jobs: int) -> None:
        """`address` is HOST:PORT of a cluster that this machine has joined; empty starts one here with `jobs` CPUs."""
        self._address, self._jobs = address, jobs
        self._ray: Any = None
        """The module, while the cluster is joined."""
        if find_spec("ray") is None:
            raise UsageError('--on ray needs Ray, which is not installed; pip install "akinai[ray]"')

    def check_store(self, url: str) -> None:
        """Raise UsageError unless every machine can open it. Ray logs its arguments, so passwords are refused."""
        if not url.lower().startswith("postgres"):
            raise UsageError(f"other machines cannot open the store {url!r:.200}; --on wants postgresql://...")
        parts = urlsplit(url)
        if parts.password or "password" in parse_qs(parts.query):
            raise UsageError(
                "the address of the store holds a password, which would travel through Ray; leave it out, and set "
                "PGPASSWORD or ~/.pgpass on every machine"
            )

    async def work(
        self, url: str | None, items: Sequence[Work[R]], progress: Progress | None
    ) -> AsyncIterator[tuple[int, R | Died]]:
        if url is not None:
            self.check_store(url)
        if self._ray is None:
            self._ray = self._join()
        async for result in _work(self._ray, url, items, progress):
            yield result

    async def close(self) -> None:
        if self._ray is not None:
            await asyncio.to_thread(self._ray.shutdown)
            self._ray = None

    def _join(self) -> Any:
        for name, value in _QUIET.items():
            os.environ.setdefault(name, value)
        ray: Any = import_module("ray")
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "include_dashboard": None}
        if self._address:
            del quiet["include_dashboard"]
            try:
                ray.init(address=self._address, **quiet)
            except (ConnectionError, ValueError, RuntimeError) as error:
                first = str(error).strip().partition("\n")[0]
                raise UsageError(
                    f"no Ray cluster at {self._address!r} that this machine has joined ({first:.200}); join it with "
                    f"'ray start --address={self._address}'"
                ) from error
            return ray
        sys.stderr.write(f"akinai: {LISTENS}\n")
        quiet["include_dashboard"] = False
        ray.init(
            address="local",
            _node_ip_address="127.0.0.1",
            num_cpus=self._jobs,
            object_store_memory=OBJECT_STORE_BYTES,
            **quiet,
        )
        return ray


async def _work(
    ray: Any, url: str | None, items: Sequence[Work[R]], progress: Progress | None
) -> AsyncIterator[tuple[int, R | Died]]:
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(), soft=False
    )
    # On the driver's node: elsewhere it would die with that node.
    news = ray.remote(num_cpus=0, scheduling_strategy=here)(_News).remote()
    task = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(_do)
    indices = {task.remote(url, item, news): index for index, item in enumerate(items)}
    pending, failure, reported = list(indices), None, dict[str, int]()
    try:
        while pending:
            done, pending = await asyncio.to_thread(ray.wait, pending, timeout=NEWS_S)
            for run_id, day in (await _get(ray, news.days.remote())).items():
                if progress and reported.get(run_id) != day:
                    reported[run_id] = day
                    progress(run_id, day, 0)
            for ref in done:
                try:
                    yield indices[ref], await _result(ray, ref)
                except AkinaiError as error:
                    failure = failure or error  # raised when the other runs are over
    except (asyncio.CancelledError, GeneratorExit):
        await asyncio.shield(_stop(ray, news, pending))
        raise
    if failure:
        raise failure


async def _stop(ray: Any, news: Any, pending: Sequence[Any]) -> None:
    """Ask unfinished runs to stop, and cancel those that do not within `GRACE_S`."""
    await _get(ray, news.stop.remote())
    _, left = await asyncio.to_thread(ray.wait, list(pending), num_returns=len(pending), timeout=GRACE_S)
    for ref in left:
        ray.cancel(ref, force=True)


async def _result(ray: Any, ref: Any) -> Any:
    try:
        result = await _get(ray, ref)
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError) as error:
        return Died(f"the process that played it died ({type(error).__name__}); it can be resumed")
    if isinstance(result, AkinaiError):
        raise result
    return result


async def _get(ray: Any, ref: Any) -> Any:
    return await asyncio.to_thread(ray.get, ref)


class _News:
    """A Ray actor on the driver's node that holds the days runs report, and whether they should stop."""

    def __init__(self) -> None:
        self._days: dict[str, int] = {}
        self._stop = False

    def report(self, days: Mapping[str, int]) -> bool:
        self._days |= days
        return self._stop

    def days(self) -> Mapping[str, int]:
        return self._days

    def stop(self) -> None:
        self._stop = True


class _RemoteMonitor:
    every_s = NEWS_S

    def __init__(self, news: Any) -> None:
        self._news = news

    async def report(self, days: Mapping[str, int]) -> bool:
        try:
            return cast("bool", await self._news.report.remote(dict(days)))
        except Exception:  # the driver has gone, and its actor with it
            return True


def _do(url: str | None, item: Work[Any], news: Any) -> Any:
    """Do an item in a worker; library errors are returned."""
    try:
        return asyncio.run(do_work(url, item, _RemoteMonitor(news)))
    except (StoreError, UsageError) as error:
        return (StoreError if isinstance(error, StoreError) else UsageError)(str(error))
    except AkinaiError as error:
        return AkinaiError(str(error))
