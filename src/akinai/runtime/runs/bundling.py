"""A bundler that hands the simultaneous requests of several callers to one executor."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from akinai.core.errors import AkinaiError
from akinai.runtime.runs.work import Died, Executor, Here, R, Work
from akinai.stores.memory import MemoryStore

_Request = tuple[Work[Any], "asyncio.Future[Any]"]


class Bundler:
    """Lets independent callers share an executor: requests made while it works form the next bundle."""

    def __init__(
        self,
        executor: Executor,
        url: str | None,
        gather_s: float = 0.0,
        is_small: Callable[[Sequence[Any]], bool] = lambda _: False,
    ) -> None:
        """`url` is the store of the work, None for work without one. A bundle is complete after `gather_s` seconds
        without a new request. A small one, of work without a store, is done in this process."""
        self._executor, self._url, self._gather_s, self._is_small = executor, url, gather_s, is_small
        self._here = Here(MemoryStore())
        self._requests: list[_Request] = []
        self._working: asyncio.Task[None] | None = None

    async def do(self, item: Work[R]) -> R:
        """Do an item and return its result. Raises the executor's errors, and AkinaiError if the process died.

        Cancellation stops the whole bundle as it stops the executor.
        """
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._requests.append((item, done))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work_off())
        working = self._working
        try:
            return await done
        except asyncio.CancelledError:
            if not working.done() and not working.cancelling():
                working.cancel()
            await asyncio.wait([working])
            raise

    async def close(self) -> None:
        """Close the executor."""
        await self._executor.close()

    async def _work_off(self) -> None:
        """Do bundle after bundle until no request is left."""
        bundle: list[_Request] = []
        try:
            while bundle := await self._next_bundle():
                items = [item for item, _ in bundle]
                executor = self._here if self._is_small(items) else self._executor
                async for index, result in executor.work(self._url, items, None):
                    if isinstance(result, Died):
                        raise AkinaiError("a process that played runs died, perhaps for want of memory; try --jobs 1")
                    if not bundle[index][1].done():
                        bundle[index][1].set_result(result)
        except asyncio.CancelledError:
            for _, done in (*bundle, *self._requests):
                done.cancel()
            raise
        except Exception as error:  # every caller is told, whatever broke
            for _, done in (*bundle, *self._requests):
                if not done.done():
                    done.set_exception(error)
                    done.exception()  # a caller that was cancelled does not look
        finally:
            self._requests = []

    async def _next_bundle(self) -> list[_Request]:
        """The requests so far, once no more arrive."""
        count = -1
        while count != len(self._requests):
            count = len(self._requests)
            await asyncio.sleep(self._gather_s)
        bundle, self._requests = self._requests, []
        return bundle
