"""Playing at once: agents of a world without time of its own think side by side, and act one after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from akinai.core.agents import Move

Ask = Callable[[str], Awaitable[Move]]


class Thinking:
    """The agents that are deciding now, each in a task of its own; their moves come in the order of their deciding."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._decided: asyncio.Queue[tuple[str, Move | BaseException]] = asyncio.Queue()

    def __contains__(self, actor: str) -> bool:
        return actor in self._tasks

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, actor: str) -> None:
        """Let an actor decide; it must not be deciding already."""
        self._tasks[actor] = asyncio.create_task(self._decide(actor))

    async def next(self, timeout_s: float | None = None) -> tuple[str, Move] | None:
        """The next actor that has decided, and its move; None when nobody has in time.

        Raises what an agent raised: that ends the run, whoever else is still deciding.
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
        """Let all decide, and forget their moves: what they asked a model was paid for, and is written down so."""
        await asyncio.gather(*self._tasks.values())
        self._tasks.clear()

    async def stop(self) -> None:
        """Interrupt those who are still deciding."""
        for task in self._tasks.values():
            task.cancel()
        for task in self._tasks.values():
            with suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()

    async def _decide(self, actor: str) -> None:
        try:
            move: Move | BaseException = await self._ask(actor)
        except asyncio.CancelledError:
            raise
        except BaseException as broke:
            move = broke
        self._decided.put_nowait((actor, move))


def patience_s(alarms: Mapping[str, int], now_us: int) -> float | None:
    """Seconds until the first of those who sleep until a time wakes; None when nobody does."""
    return max(min(alarms.values()) - now_us, 0) / 1e6 if alarms else None
