"""Ray as an executor: a local cluster, or one that runs already. The only module that knows Ray (extra `ray`)."""

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
"""How long runs are given to stop by themselves."""
NEWS_S = 1.0
"""Seconds between the reports of a run."""
RETRIES = 5
"""How often an item is begun again when its node dies: its runs go on from what was committed."""
OBJECT_STORE_BYTES = 100_000_000
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_DEDUP_LOGS": "1"}
LISTENS = (
    "Ray's daemons listen on every address of this machine, and whoever reaches them runs code here: "
    "use it behind a firewall alone"
)


class RayCluster:
    """An executor that has the nodes of a Ray cluster do the work, an item for each of their CPUs."""

    def __init__(self, address: str, jobs: int) -> None:
        """`address` is HOST:PORT of a cluster that this machine has joined; empty starts one here with `jobs` CPUs."""
        self._address, self._jobs = address, jobs
        self._ray: Any = None
        """The module, while the cluster is joined."""
        if find_spec("ray") is None:
            raise UsageError('--on ray needs Ray, which is not installed; pip install "akinai[ray]"')

    def check_store(self, url: str) -> None:
        """UsageError unless every machine can open it, by an address without a password: Ray logs what it is sent."""
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
            self._ray = self._joined()
        async for result in _work(self._ray, url, items, progress):
            yield result

    async def close(self) -> None:
        if self._ray is not None:
            await asyncio.to_thread(self._ray.shutdown)
            self._ray = None

    def _joined(self) -> Any:
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
    # Beside the driver: on another node it would die with that node.
    news = ray.remote(num_cpus=0, scheduling_strategy=here)(_News).remote()
    task = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(_do)
    places = {task.remote(url, item, news): place for place, item in enumerate(items)}
    pending, failure, shown = list(places), None, dict[str, int]()
    try:
        while pending:
            done, pending = await asyncio.to_thread(ray.wait, pending, timeout=NEWS_S)
            for run_id, day in (await _got(ray, news.days.remote())).items():
                if progress and shown.get(run_id) != day:
                    shown[run_id] = day
                    progress(run_id, day, 0)
            for ref in done:
                try:
                    yield places[ref], await _result(ray, ref)
                except AkinaiError as error:
                    failure = failure or error  # raised when the other runs are over
    except (asyncio.CancelledError, GeneratorExit):
        await asyncio.shield(_stop(ray, news, pending))
        raise
    if failure:
        raise failure


async def _stop(ray: Any, news: Any, pending: Sequence[Any]) -> None:
    """Ask the runs under way to stop, and cancel those that do not."""
    await _got(ray, news.stop.remote())
    _, left = await asyncio.to_thread(ray.wait, list(pending), num_returns=len(pending), timeout=GRACE_S)
    for ref in left:
        ray.cancel(ref, force=True)


async def _result(ray: Any, ref: Any) -> Any:
    try:
        result = await _got(ray, ref)
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError) as error:
        return Died(f"the process that played it died ({type(error).__name__}); it can be resumed")
    if isinstance(result, AkinaiError):
        raise result
    return result


async def _got(ray: Any, ref: Any) -> Any:
    return await asyncio.to_thread(ray.get, ref)


class _News:
    """An actor beside the driver: what the runs report, and whether they are to stop."""

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
    """In a worker."""
    try:
        return asyncio.run(do_work(url, item, _RemoteMonitor(news)))
    except (StoreError, UsageError) as error:
        return (StoreError if isinstance(error, StoreError) else UsageError)(str(error))
    except AkinaiError as error:
        return AkinaiError(str(error))
