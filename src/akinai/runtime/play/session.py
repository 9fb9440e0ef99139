"""A session in this process: it gives views and writes an entry for every move."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from akinai.core.agents import Move, View, said_beside
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.steps import Step
from akinai.core.stores import Store
from akinai.core.worlds import World, dated_view, expect_outcome, expect_version, read_turn, step

S = TypeVar("S")


def clock_us() -> int:
    """This machine's time in microseconds since the epoch."""
    return time.time_ns() // 1000


class LocalSession(Generic[S]):
    """Plays one run: applies moves in order, chains their entries and appends them to the store.

    With `batch` 1 a move is answered when its entry is durable. A larger batch commits that many entries together: a
    crash then loses at most one batch, which a rule-based player repeats byte for byte. Recalled and played steps are
    appended to `steps`, so that scoring needs no replay. Without a store no entry is made of a move.
    """

    def __init__(
        self,
        world: World[S],
        genesis: Genesis,
        store: Store | None,
        run_id: str,
        *,
        batch: int = 1,
        clock: Callable[[], int] = clock_us,
        steps: list[Step[S]] | None = None,
    ) -> None:
        expect_version(world, genesis)
        self.world, self.genesis, self.run_id = world, genesis, run_id
        self.state = world.begin(genesis)
        self.seq, self.digest = 0, genesis.digest
        self._at = self._ahead_us = 0
        self._store, self._batch, self._clock = store, batch, clock
        self._pending: list[Entry] = []
        self._steps = steps

    def recall(self, entry: Entry) -> Outcome:
        """Apply a recorded entry without storing it again, as on a resume; return the outcome as its actor sees it.

        ReplayMismatch when the rules no longer give the recorded outcome.
        """
        turn = read_turn(self.world, entry)
        state, outcome = step(self.world, self.state, turn)
        expect_outcome(entry, outcome)
        self._keep(entry, turn, outcome, state)
        self.state = state
        self.seq, self.digest, self._at = entry.seq, entry.digest, entry.at
        return self.world.facets.observation.observe(state, turn, outcome)

    async def view(self, actor: str) -> View:
        """The actor's view of the present state. It costs nothing and is not recorded."""
        return dated_view(self.world, self.state, actor)

    async def act(self, actor: str, move: Move) -> Outcome:
        """Apply and record a move. Returns the outcome as its actor sees it, once the entry is durable."""
        now = self.world.now(self.state)
        at = self.now_us() if now is None else max(self._at, now)
        turn = Turn(self.seq + 1, at, actor, self.world.verbs.settled(move.action), said_beside(move))
        state, outcome = step(self.world, self.state, turn)
        if self._store is not None:
            entry = Entry.of(self.digest, turn, outcome)
            self._pending.append(entry)
            self._keep(entry, turn, outcome, state)
            self.digest = entry.digest
        self.state, self.seq, self._at = state, turn.seq, at
        if len(self._pending) >= self._batch:
            await self.flush()
        return self.world.facets.observation.observe(state, turn, outcome)

    def _keep(self, entry: Entry, turn: Turn, outcome: Outcome, after: S) -> None:
        if self._steps is not None:
            self._steps.append(Step(self.state, entry, turn, outcome, after))

    def now_us(self) -> int:
        """The session's clock in microseconds since the epoch, never falling; used where the world has no time.

        It goes on from the last entry, and from the moment to which time was passed.
        """
        clock = self._clock()
        self._ahead_us = max(self._ahead_us, self._at - clock)
        self._at = clock + self._ahead_us
        return self._at

    def pass_to(self, at_us: int) -> None:
        """Let the clock be at a moment, where nobody acts before it."""
        self._at = max(self._at, at_us)

    async def flush(self) -> None:
        """Commit the pending entries."""
        if self._pending and self._store is not None:
            entries, self._pending = self._pending, []
            await self._store.append(self.run_id, entries)
