"""How often and how many at once: the limits that all calls to one model share, and the clock that they wait on."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Clock:
    """What waiting needs; a test hands in its own."""

    now: Callable[[], float] = time.monotonic
    """Seconds that never fall, from any origin."""
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    """A number from 0 to 1 that spreads the waits of many runs."""


REAL = Clock()


class Pace:
    """At most `at_once` calls under way and at most `per_minute` begun in any 60 seconds; 0 is no limit.

    Shared by all runs that use a model. Places are given in the order in which they were asked for.
    """

    def __init__(self, *, at_once: int = 0, per_minute: int = 0, clock: Clock = REAL) -> None:
        self._places = asyncio.Semaphore(at_once) if at_once else None
        self._begun: deque[float] | None = deque(maxlen=per_minute) if per_minute else None
        self._clock = clock

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A place for one call, from the moment when it may begin."""
        async with AsyncExitStack() as held:
            # The place first: calls that waited for one after their minute had come would all begin together.
            if self._places is not None:
                await held.enter_async_context(self._places)
            await self._until_the_minute_allows()
            yield

    async def _until_the_minute_allows(self) -> None:
        if self._begun is None:
            return
        now = self._clock.now()
        full = len(self._begun) == self._begun.maxlen
        begin = max(now, self._begun[0] + MINUTE_S) if full else now
        # Taken before it is waited for, so that whoever comes next counts this call.
        self._begun.append(begin)
        if begin > now:
            await self._clock.sleep(begin - now)
