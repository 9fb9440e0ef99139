"""A run that is being served: one writer, the state in memory, commits in groups. docs/design/server.md says why.

A request is applied when it arrives and answered when its entry is durable. What arrives during a commit is committed
together by the next one.
"""

from __future__ import annotations  # rpds classes take no parameters at run time

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from rpds import HashTrieMap

from akinai.core.actions import Action
from akinai.core.canonical import Json
from akinai.core.errors import SequenceConflict, StoreError
from akinai.core.ledger import Entry, Outcome, Turn
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import expect_outcome, expect_version, read_turn, step
from akinai.runtime.runs import expect_whole
from akinai.runtime.session import clock_us
from akinai.server.watching import NOBODY, Watching
from akinai.worlds.market import Market, State
from akinai.worlds.market.actions import Register, SendMessage
from akinai.worlds.market.views import WAITING

MOST_WAITING = 20_000
"""Requests that are applied and not yet durable; more are turned away."""
FOLLOWED_S = 0.02
"""What other servers, or this one, write within this time is noticed at once and not one by one."""
CLAIM = "token sha256:"
"""Beside a registration in the ledger: the digest of the token that was given for it."""

T = TypeVar("T")


class Overloaded(Exception):
    """More requests wait than the server takes; nothing was done."""


class NotTheHolder(Exception):
    """The id is registered, and the request does not bear its token; nothing was done."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands behind an entry."""

    state: State
    seq: int
    digest: str
    at: int
    holders: HashTrieMap[str, str]
    """By agent, the digest of its token."""

    def behind(self, entry: Entry, state: State) -> Place:
        """The place behind the next entry."""
        holders = self.holders
        if entry.said.startswith(CLAIM) and entry.name == Register.__name__ and entry.outcome.ok:
            holders = holders.insert(entry.actor, entry.said.removeprefix(CLAIM))
        return Place(state, entry.seq, entry.digest, entry.at, holders)


@dataclass(slots=True, eq=False)
class _Ask(Generic[T]):
    """A request that waits for its commit."""

    actor: str
    action: Action
    tell: Callable[[State, Turn, Outcome], T]
    proof: str
    claim: str
    answer: asyncio.Future[T]
    told: T | None = None


class HostedMarket:
    """Applies what agents do to one run, in the order of arrival, and keeps it.

    Several servers may write one run of a shared store: the one that comes second reads what it missed and applies what
    it had again, so that outcomes are always those of the ledger's order.
    """

    def __init__(
        self,
        header: RunHeader,
        store: Store,
        *,
        clock: Callable[[], int] = clock_us,
        most_waiting: int = MOST_WAITING,
        watching: Watching = NOBODY,
    ) -> None:
        self.world = Market()
        expect_version(self.world, header.genesis)
        self.header = header
        state = self.world.begin(header.genesis)
        self.committed = Place(state, 0, header.genesis.digest, 0, HashTrieMap())
        """What is durable: the place that reads show."""
        self._place = self.committed
        self._store, self._clock, self._most, self._watching = store, clock, most_waiting, watching
        self._asks: list[_Ask[Any]] = []
        self._entries: list[Entry] = []
        self._lookers: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None
        self._follower: asyncio.Task[None] | None = None
        self._sleepers: dict[str, set[asyncio.Future[None]]] = {}
        self.closing = False

    async def open(self) -> None:
        """Fold what the ledger holds, and from now on what other servers add to it.

        LedgerError when the record is damaged or the rules no longer give what it says.
        """
        await self._catch_up()
        expect_whole(self.header, self.committed.seq)
        if hasattr(self._store, "changes"):
            self._follower = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """Answer what was accepted, and let go of the run; the store stays open."""
        self.closing = True
        self.wake_all()
        while self._task is not None:
            await asyncio.wait([self._task])
        if self._follower is not None:
            self._follower.cancel()
            with suppress(asyncio.CancelledError):
                await self._follower
        place = self.committed
        with suppress(StoreError):
            await self._store.update(
                replace(self.header, status="open", ending="stopped", entries=place.seq, digest=place.digest)
            )

    @property
    def waiting(self) -> int:
        """Requests that are applied and not yet answered."""
        return len(self._asks)

    async def act(
        self,
        actor: str,
        action: Action,
        tell: Callable[[State, Turn, Outcome], T],
        *,
        proof: str = "",
        claim: str = "",
    ) -> T:
        """Do an action, and give what `tell` makes of its outcome when its entry is durable.

        With `claim`, the digest of a new token, a registration is bound to it; one that is bound already wants its own
        as `proof`, else NotTheHolder. Overloaded when too many wait. StoreError when it could not be kept: then
        nothing was done that anybody was told.
        """
        if self.closing or len(self._asks) >= self._most:
            raise Overloaded
        ask = _Ask(actor, action, tell, proof, claim, asyncio.get_running_loop().create_future())
        self._take(ask)
        self._go()
        return await ask.answer

    def _take(self, ask: _Ask[Any]) -> None:
        """Apply a request behind all that were taken before it."""
        place = self._place
        said = ""
        if ask.claim:
            holder = place.holders.get(ask.actor)
            if holder is not None and holder != ask.proof:
                raise NotTheHolder
            said = f"{CLAIM}{ask.claim}" if holder is None else ""
        turn = Turn(place.seq + 1, max(place.at, self._clock()), ask.actor, ask.action, said)
        state, outcome = step(self.world, place.state, turn)
        entry = Entry.of(place.digest, turn, outcome)
        ask.told = ask.tell(state, turn, outcome)
        self._place = place.behind(entry, state)
        self._entries.append(entry)
        self._asks.append(ask)

    def _go(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())

    async def _commit_all(self) -> None:
        try:
            while self._asks or self._lookers:
                if self._lookers:
                    await self._look_now()
                else:
                    await self._commit()
        finally:
            self._task = None

    async def _commit(self) -> None:
        """One commit of all that waits; each is answered, or waits again behind what other servers wrote."""
        asks, entries, end = self._asks, self._entries, self._place
        self._asks, self._entries = [], []
        started = asyncio.get_running_loop().time()
        try:
            await self._store.append(self.header.run_id, entries)
        except SequenceConflict:
            self._watching.conflict(len(asks))
            try:
                await self._catch_up(asks)
            except Exception as error:  # a record that cannot be followed: nobody may be told anything
                self._fail(asks, error)
            return
        except Exception as error:  # whatever broke: those who wait are told so, and the next ones try again
            self._fail(asks, error)
            return
        self.committed = end
        self._watching.committed(len(asks), asyncio.get_running_loop().time() - started)
        for ask in asks:
            if not ask.answer.done():
                ask.answer.set_result(ask.told)
        self._wake(entries)

    def _fail(self, asks: Sequence[_Ask[Any]], error: Exception) -> None:
        """Nothing of a commit that failed stays: those behind it are applied to the last state that is durable."""
        self._watching.failed(len(asks), error)
        later = self._asks
        self._start_again(later)
        told = error if isinstance(error, StoreError) else StoreError(f"{type(error).__name__}: {error}")
        for ask in asks:
            if not ask.answer.done():
                ask.answer.set_exception(told)

    async def _catch_up(self, asks: Sequence[_Ask[Any]] = ()) -> None:
        """Fold what others wrote, then apply what waits behind it, in the order of arrival."""
        place, entries = self.committed, list[Entry]()
        async for entry in self._store.read(self.header.run_id, place.seq):
            turn = read_turn(self.world, entry)
            state, outcome = step(self.world, place.state, turn)
            expect_outcome(entry, outcome)
            place = place.behind(entry, state)
            entries.append(entry)
        self.committed = place
        self._start_again([*asks, *self._asks])
        self._wake(entries)

    def _start_again(self, asks: Sequence[_Ask[Any]]) -> None:
        self._place, self._asks, self._entries = self.committed, [], []
        for ask in asks:
            try:
                self._take(ask)
            except Exception as refused:  # of this one alone; the others go on
                if not ask.answer.done():
                    ask.answer.set_exception(refused)

    async def look(self) -> None:
        """See what other servers wrote until now."""
        looker: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lookers.append(looker)
        self._go()
        await looker

    async def _look_now(self) -> None:
        lookers, self._lookers = self._lookers, []
        try:
            await self._catch_up()
        except Exception as error:
            self._watching.failed(0, error)
        for looker in lookers:
            if not looker.done():
                looker.set_result(None)

    async def _follow(self) -> None:
        """Look whenever the store tells that the run has grown by another's hand."""
        changes: Any = self._store
        while True:
            try:
                async for last in changes.changes(self.header.run_id, self.committed.seq):
                    if last > self._place.seq and not self._asks:
                        await self.look()
                    await asyncio.sleep(FOLLOWED_S)
            except StoreError as error:
                self._watching.failed(0, error)
                await asyncio.sleep(1)

    def view(self, actor: str) -> dict[str, Json]:
        """What an agent sees, from what is durable; whether there is mail, and what it hears of a wait that is over."""
        state = self.committed.state
        seen, member = self.world.view(state, actor), state.members.get(actor)
        return {
            "text": seen.text,
            "verbs": [verb.__name__ for verb in seen.verbs],
            "closed": seen.closed,
            "news": seen.news,
            "mail": member is not None and member.has_news,
            "wait": "" if member is None else self.world.heard(state, actor, WAITING).text,
        }

    async def news_for(self, actor: str, timeout_s: float) -> None:
        """Wait until there is mail for an agent that it has not fetched; at most so long, and not while closing."""
        member = self.committed.state.members.get(actor)
        if self.closing or member is None or member.has_news:
            return
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        sleepers = self._sleepers.setdefault(actor, set())
        sleepers.add(sleeper)
        try:
            async with asyncio.timeout(timeout_s):
                await sleeper
        except TimeoutError:
            pass
        finally:
            sleepers.discard(sleeper)
            if not sleepers:
                self._sleepers.pop(actor, None)

    def _wake(self, entries: Sequence[Entry]) -> None:
        if self._sleepers:
            for entry in entries:
                if entry.name == SendMessage.__name__ and entry.outcome.ok:
                    self._rouse(str(entry.parameters["to_agent_id"]))

    def wake_all(self) -> None:
        """Let nobody wait any longer for news."""
        for actor in list(self._sleepers):
            self._rouse(actor)

    def _rouse(self, actor: str) -> None:
        for sleeper in self._sleepers.get(actor, ()):
            if not sleeper.done():
                sleeper.set_result(None)
