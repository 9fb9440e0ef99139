"""Work that several callers ask for at the same time, given to an executor together."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from akinai.core.errors import AkinaiError
from akinai.runtime.runs.work import Died, Executor, Here, R, Work
from akinai.stores.memory import MemoryStore

_Asked = tuple[Work[Any], "asyncio.Future[Any]"]


class Bundler:
    """Lets callers that know nothing of each other share an executor: what they ask for meanwhile goes together."""

    def __init__(
        self,
        executor: Executor,
        url: str | None,
        gather_s: float = 0.0,
        is_small: Callable[[Sequence[Any]], bool] = lambda _: False,
    ) -> None:
        """`url` is the store of the work, None for work without one. A bundle is complete when nothing more was asked
        for in `gather_s`. A small one, of work without a store, is done in this process."""
        self._executor, self._url, self._gather_s, self._is_small = executor, url, gather_s, is_small
        self._here = Here(MemoryStore())
        self._asked: list[_Asked] = []
        self._working: asyncio.Task[None] | None = None

    async def do(self, item: Work[R]) -> R:
        """What becomes of the item. Raises the executor's errors, and AkinaiError where the process that did it died.

        Cancelled, it stops the whole bundle as the executor does.
        """
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._asked.append((item, done))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        working = self._working
        try:
            return await done
        except asyncio.CancelledError:
            if not working.done() and not working.cancelling():
                working.cancel()
            await asyncio.wait([working])
            raise

    async def close(self) -> None:
        """End what the executor started."""
        await self._executor.close()

    async def _work(self) -> None:
        """Bundle after bundle, until nothing is asked for."""
        bundle: list[_Asked] = []
        try:
            while bundle := await self._bundle():
                items = [item for item, _ in bundle]
                executor = self._here if self._is_small(items) else self._executor
                async for place, result in executor.work(self._url, items, None):
                    if isinstance(result, Died):
                        raise AkinaiError("a process that played runs died, perhaps for want of memory; try --jobs 1")
                    if not bundle[place][1].done():
                        bundle[place][1].set_result(result)
        except asyncio.CancelledError:
            for _, done in (*bundle, *self._asked):
                done.cancel()
            raise
        except Exception as error:  # every caller is told, whatever broke
            for _, done in (*bundle, *self._asked):
                if not done.done():
                    done.set_exception(error)
                    done.exception()  # a caller that was cancelled does not look
        finally:
            self._asked = []

    async def _bundle(self) -> list[_Asked]:
        """What was asked for by now, once nothing more comes."""
        count = -1
        while count != len(self._asked):
            count = len(self._asked)
            await asyncio.sleep(self._gather_s)
        bundle, self._asked = self._asked, []
        return bundle
