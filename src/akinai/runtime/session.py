"""The session in this process: view, act, and an entry for every act."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Generic, TypeVar

from akinai.core.agents import SAID_LIMIT, Move, View
from akinai.core.canonical import keepable
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.stores import Store
from akinai.core.worlds import World, expect_outcome, expect_version, read_turn, step

S = TypeVar("S")


def clock_us() -> int:
    """Microseconds since the epoch on the clock of this machine."""
    return time.time_ns() // 1000


class LocalSession(Generic[S]):
    """Plays one run: applies moves in order, chains their entries and hands them to the store.

    With `batch` 1 an act is answered when its entry is durable. A larger batch commits that many at once: a crash then
    loses at most the last batch, which a rule-based player makes again, byte for byte.
    """

    def __init__(
        self,
        world: World[S],
        genesis: Genesis,
        store: Store,
        run_id: str,
        *,
        batch: int = 1,
        clock: Callable[[], int] = clock_us,
    ) -> None:
        expect_version(world, genesis)
        self.world, self.genesis, self.run_id = world, genesis, run_id
        self.state = world.begin(genesis)
        self.seq, self.digest = 0, genesis.digest
        self._at = 0
        self._store, self._batch, self._clock = store, batch, clock
        self._pending: list[Entry] = []

    def recall(self, entry: Entry) -> Outcome:
        """Take a recorded entry as played, without storing it again: how a run is resumed and a fork begun.

        Gives what the actor hears. Raises ReplayMismatch when the rules no longer give what is recorded.
        """
        turn = read_turn(self.world, entry)
        state, outcome = step(self.world, self.state, turn)
        expect_outcome(entry, outcome)
        self.state = state
        self.seq, self.digest, self._at = entry.seq, entry.digest, entry.at
        return self.world.told(state, turn, outcome)

    async def view(self, actor: str) -> View:
        """What the actor sees now; free, and not recorded."""
        view, now = self.world.view(self.state, actor), self.world.now(self.state)
        return view if now is None else replace(view, now=now)

    async def act(self, actor: str, move: Move) -> Outcome:
        """Apply a move, record it, and give what the actor hears, when the entry is as durable as `batch` promises."""
        now = self.world.now(self.state)
        at = max(self._at, self._clock() if now is None else now)
        turn = Turn(self.seq + 1, at, actor, self.world.verbs.settled(move.action), _kept(move.said))
        state, outcome = step(self.world, self.state, turn)
        entry = Entry.of(self.digest, turn, outcome)
        self._pending.append(entry)
        self.state, self.seq, self.digest, self._at = state, turn.seq, entry.digest, at
        if len(self._pending) >= self._batch:
            await self.flush()
        return self.world.told(state, turn, outcome)

    def now_us(self) -> int:
        """The session's clock, microseconds since the epoch, never falling; it rules where the world has no time."""
        self._at = max(self._at, self._clock())
        return self._at

    async def flush(self) -> None:
        """Commit what is pending."""
        if self._pending:
            entries, self._pending = self._pending, []
            await self._store.append(self.run_id, entries)


def _kept(said: str) -> str:
    """Text beside an action as the ledger can keep it: capped, without characters that no store takes."""
    return keepable(said[:SAID_LIMIT])
