"""Rate limits that all calls of a model share, and the clock that waiting uses."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

MINUTE_S = 60.0
MAX_CONCURRENCY = 64
"""Default number of simultaneous calls of a model."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, sleep and jitter; tests pass their own."""

    now: Callable[[], float] = time.monotonic
    """Seconds that never fall, from any origin."""
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    """Returns a number from 0 to 1 that spreads the waits of many runs."""


REAL = Clock()


class RateLimit:
    """At most `max_concurrency` calls at a time, and at most `per_minute` begun in any 60 seconds; 0 is no limit.

    All runs of a model share it; calls begin in the order in which they arrived.
    """

    def __init__(self, *, max_concurrency: int = 0, per_minute: int = 0, clock: Clock = REAL) -> None:
        self._slots = asyncio.Semaphore(max_concurrency) if max_concurrency else None
        self._begun: deque[float] | None = deque(maxlen=per_minute) if per_minute else None
        self._clock = clock

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Hold a slot for one call, from the moment when it may begin."""
        async with AsyncExitStack() as held:
            # The slot first: calls that waited for a slot after their minute had come would all begin together.
            if self._slots is not None:
                await held.enter_async_context(self._slots)
            await self._wait_for_minute()
            yield

    async def _wait_for_minute(self) -> None:
        if self._begun is None:
            return
        now = self._clock.now()
        full = len(self._begun) == self._begun.maxlen
        begin = max(now, self._begun[0] + MINUTE_S) if full else now
        # Added before the wait, so that the next call counts this one.
        self._begun.append(begin)
        if begin > now:
            await self._clock.sleep(begin - now)
