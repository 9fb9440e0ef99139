"""Concurrent decisions, in worlds without a time of their own: agents decide at the same time and act one by one."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from akinai.core.agents import Move

Decide = Callable[[str], Awaitable[Move]]


class PendingDecisions:
    """The actors whose agents are deciding now, each in its own task; their moves come in the order of completion."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._decided: asyncio.Queue[tuple[str, Move | BaseException]] = asyncio.Queue()

    def __contains__(self, actor: str) -> bool:
        return actor in self._tasks

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, actor: str) -> None:
        """Let an actor decide; it must not be deciding already."""
        self._tasks[actor] = asyncio.create_task(self._run(actor))

    async def next(self, timeout_s: float | None = None) -> tuple[str, Move] | None:
        """The next actor that has decided, and its move; None after `timeout_s`.

        Raises an agent's exception, which ends the run even while others are deciding.
        """
        try:
            async with asyncio.timeout(timeout_s):
                actor, move = await self._decided.get()
        except TimeoutError:
            return None
        del self._tasks[actor]
        if isinstance(move, BaseException):
            raise move
        return actor, move

    async def finish(self) -> None:
        """Wait for all decisions and drop the moves: their model calls are paid for and get recorded."""
        await asyncio.gather(*self._tasks.values())
        self._tasks.clear()

    async def stop(self) -> None:
        """Cancel the decisions under way."""
        for task in self._tasks.values():
            task.cancel()
        for task in self._tasks.values():
            with suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()

    async def _run(self, actor: str) -> None:
        try:
            move: Move | BaseException = await self._decide(actor)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # `next` raises it
            move = error
        self._decided.put_nowait((actor, move))


def seconds_to_alarm(alarms: Mapping[str, int], now_us: int) -> float | None:
    """Seconds until the first alarm, at least 0; None without an alarm. Alarms are microseconds since the epoch."""
    return max(min(alarms.values()) - now_us, 0) / 1e6 if alarms else None
