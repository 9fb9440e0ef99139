"""A hosted run: one writer, the state in memory, commits in groups. docs/design/server.md gives the reasons.

A request is applied when it arrives and answered when its entry is durable. Requests that arrive during a commit share
the next one.
"""

from __future__ import annotations  # rpds classes take no parameters at run time

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rpds import HashTrieMap

from akinai.core.actions import Action
from akinai.core.canonical import Json
from akinai.core.errors import SequenceConflict, StoreError
from akinai.core.ledger import Entry, Outcome, Turn
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import expect_outcome, expect_version, read_turn, step
from akinai.runtime.play.session import clock_us
from akinai.runtime.runs.reading import expect_whole
from akinai.server.metrics import UNREAD, Metrics
from akinai.server.spoofing import skeleton
from akinai.worlds.market import Market, State
from akinai.worlds.market.model.actions import Register, SendMessage
from akinai.worlds.market.rules.views import MAIL_CAME, WAITING

MAX_WAITING = 20_000
"""Requests that are applied and not yet durable; further requests are refused."""
FOLLOW_PAUSE_S = 0.02
"""Pause between looks at what other servers wrote, so that a burst of entries is read at once."""
TOKEN_MARK = "token sha256:"
"""Precedes the digest of an agent's token in the `said` of its registration."""

T = TypeVar("T")
R = TypeVar("R", contravariant=True)


class Overloaded(Exception):
    """Too many requests wait; nothing was done."""


class WrongToken(Exception):
    """The id is registered, and the request does not carry its token; nothing was done."""


class LookAlike(Exception):
    """A new id that looks like a known one; nothing was done."""

    def __init__(self, id: str, known_id: str) -> None:
        super().__init__(f"The id {id!r:.100} looks like {known_id!r:.100}, which is another agent; choose another")


class Head(NamedTuple):
    """A run after its last entry."""

    state: State
    seq: int
    digest: str
    at: int
    token_digests: HashTrieMap[str, str]
    """The digest of each agent's token, by agent id."""
    skeletons: HashTrieMap[str, str]
    """The known ids by what they look like."""

    @staticmethod
    def before(state: State, digest: str) -> Head:
        """The head before the first entry."""
        return Head(state, 0, digest, 0, HashTrieMap(), HashTrieMap({skeleton(id): id for id in state.roll}))

    def after(self, entry: Entry, state: State) -> Head:
        """The head after the next entry."""
        token_digests, skeletons = self.token_digests, self.skeletons
        if entry.name == Register.__name__ and entry.outcome.ok:
            if entry.said.startswith(TOKEN_MARK):
                token_digests = token_digests.insert(entry.actor, entry.said.removeprefix(TOKEN_MARK))
            skeletons = skeletons.insert(skeleton(entry.actor), entry.actor)
        return Head(state, entry.seq, entry.digest, entry.at, token_digests, skeletons)

    def expect_distinct(self, id: str) -> None:
        """LookAlike for an id that is not known and looks like one that is."""
        if id not in self.state.members and (look_alike := self.skeletons.get(skeleton(id))) is not None:
            raise LookAlike(id, look_alike)


class Waiter(Protocol[R]):
    """What a future does for whoever waits for a result."""

    def done(self) -> bool: ...

    def set_result(self, result: R, /) -> None: ...

    def set_exception(self, exception: Exception, /) -> None: ...


@dataclass(slots=True, eq=False)
class _Pending(Generic[T]):
    """A request that waits for its commit."""

    actor: str
    action: Action
    respond: Callable[[State, Turn, Outcome], T]
    token_digest: str
    new_token_digest: str
    waiter: Waiter[T]
    response: T | None = None


class HostedMarket:
    """Applies actions of agents to one run, in the order of arrival, and stores them.

    Several servers may write one run of a shared store. The slower one reads the entries it missed and applies its own
    requests again, so that outcomes always follow the ledger's order.
    """

    def __init__(
        self,
        header: RunHeader,
        store: Store,
        *,
        clock: Callable[[], int] = clock_us,
        max_waiting: int = MAX_WAITING,
        metrics: Metrics = UNREAD,
    ) -> None:
        self.world = Market()
        expect_version(self.world, header.genesis)
        self.header = header
        state = self.world.begin(header.genesis)
        self.committed = Head.before(state, header.genesis.digest)
        """The durable head, which reads show."""
        self._head = self.committed
        self._store, self._clock, self._max_waiting, self._metrics = store, clock, max_waiting, metrics
        self._pending: list[_Pending[Any]] = []
        self._entries: list[Entry] = []
        self._refreshes: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None
        self._follower: asyncio.Task[None] | None = None
        self._mail_waiters: dict[str, set[asyncio.Future[None]]] = {}
        self.closing = False

    async def open(self) -> None:
        """Fold the ledger, and from now on follow the entries of other servers.

        LedgerError when the ledger is damaged or the rules no longer give its outcomes.
        """
        await self._catch_up()
        expect_whole(self.header, self.committed.seq)
        if hasattr(self._store, "changes"):
            self._follower = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """Answer the accepted requests and close the run; the store stays open.

        StoreError, after all is closed, when the store does not keep the run's ending.
        """
        self.closing = True
        self.wake_all()
        while self._task is not None:
            await asyncio.wait([self._task])
        if self._follower is not None:
            self._follower.cancel()
            with suppress(asyncio.CancelledError):
                await self._follower
        head = self.committed
        closed = replace(self.header, status="open", ending="stopped", entries=head.seq, digest=head.digest)
        await self._store.update(closed)

    @property
    def waiting(self) -> int:
        """Requests that are applied and not yet answered."""
        return len(self._pending)

    async def act(
        self,
        actor: str,
        action: Action,
        respond: Callable[[State, Turn, Outcome], T],
        *,
        token_digest: str = "",
        new_token_digest: str = "",
    ) -> T:
        """Do an action. Returns what `respond` makes of its outcome, once its entry is durable.

        `new_token_digest` binds a new registration to a token. A registration that is bound already needs its own
        `token_digest`, else WrongToken. A new id that looks like a known one raises LookAlike. Overloaded when too many
        requests wait. StoreError when the entry could not be stored: then nothing was done.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.submit(actor, action, respond, future, token_digest, new_token_digest)
        return await future

    def submit(
        self,
        actor: str,
        action: Action,
        respond: Callable[[State, Turn, Outcome], T],
        waiter: Waiter[T],
        token_digest: str = "",
        new_token_digest: str = "",
    ) -> None:
        """As `act`, for a waiter that gets the result, or the StoreError, instead of being awaited."""
        if self.closing or len(self._pending) >= self._max_waiting:
            raise Overloaded
        self._apply(_Pending(actor, action, respond, token_digest, new_token_digest, waiter))
        self._start_committing()

    def _apply(self, request: _Pending[Any]) -> None:
        """Apply a request after all earlier ones."""
        head = self._head
        token_note = ""
        if isinstance(request.action, Register):
            head.expect_distinct(request.actor)
        if request.new_token_digest:
            bound = head.token_digests.get(request.actor)
            if bound is not None and bound != request.token_digest:
                raise WrongToken
            token_note = f"{TOKEN_MARK}{request.new_token_digest}" if bound is None else ""
        turn = Turn(head.seq + 1, max(head.at, self._clock()), request.actor, request.action, token_note)
        state, outcome = step(self.world, head.state, turn)
        entry = Entry.of(head.digest, turn, outcome)
        request.response = request.respond(state, turn, outcome)
        self._head = head.after(entry, state)
        self._entries.append(entry)
        self._pending.append(request)

    def _start_committing(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())

    async def _commit_all(self) -> None:
        try:
            while self._pending or self._refreshes:
                if self._refreshes:
                    await self._refresh_now()
                else:
                    await self._commit()
        finally:
            self._task = None

    async def _commit(self) -> None:
        """Commit all pending requests. Each is answered, or waits again after the entries of other servers."""
        requests, entries, end = self._pending, self._entries, self._head
        self._pending, self._entries = [], []
        started = asyncio.get_running_loop().time()
        try:
            await self._store.append(self.header.run_id, entries)
        except SequenceConflict:
            self._metrics.conflict(len(requests))
            try:
                await self._catch_up(requests)
            except Exception as error:  # the ledger cannot be followed, so no outcome may be answered
                self._fail(requests, error)
            return
        except Exception as error:  # whatever broke, these requests fail and the next commit tries again
            self._fail(requests, error)
            return
        self.committed = end
        self._metrics.committed(len(requests), asyncio.get_running_loop().time() - started)
        for request in requests:
            if not request.waiter.done():
                request.waiter.set_result(request.response)
        if self._mail_waiters:
            self._wake(_recipients(entries))

    def _fail(self, requests: Sequence[_Pending[Any]], error: Exception) -> None:
        """Drop a failed commit. Later requests are applied again, to the last durable state."""
        self._reapply(self._pending)
        failure = error if isinstance(error, StoreError) else StoreError(f"{type(error).__name__}: {error}")
        for request in requests:
            if not request.waiter.done():
                request.waiter.set_exception(failure)
        self._metrics.failed(len(requests), error)

    async def _catch_up(self, requests: Sequence[_Pending[Any]] = ()) -> None:
        """Fold the entries of other servers, then apply the pending requests again, in the order of arrival."""
        head, recipients = self.committed, set[str]()
        async for entry in self._store.read(self.header.run_id, head.seq):
            turn = read_turn(self.world, entry)
            state, outcome = step(self.world, head.state, turn)
            expect_outcome(entry, outcome)
            head = head.after(entry, state)
            recipients.update(_recipients([entry]))
        self.committed = head
        self._reapply([*requests, *self._pending])
        self._wake(recipients)

    def _reapply(self, requests: Sequence[_Pending[Any]]) -> None:
        self._head, self._pending, self._entries = self.committed, [], []
        for request in requests:
            try:
                self._apply(request)
            except Exception as error:  # this request alone fails
                if not request.waiter.done():
                    request.waiter.set_exception(error)

    async def refresh(self) -> None:
        """Read the entries that other servers have written."""
        refreshed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._refreshes.append(refreshed)
        self._start_committing()
        await refreshed

    async def _refresh_now(self) -> None:
        refreshes, self._refreshes = self._refreshes, []
        try:
            await self._catch_up()
        except Exception as error:  # reads go on with what is known, and the next refresh tries again
            self._metrics.failed(0, error)
        finally:
            for refreshed in refreshes:
                if not refreshed.done():
                    refreshed.set_result(None)

    async def _follow(self) -> None:
        """Refresh whenever another server has written to the run."""
        changes: Any = self._store
        while True:
            try:
                async for last in changes.changes(self.header.run_id, self.committed.seq):
                    if last > self._head.seq and not self._pending:
                        await self.refresh()
                    await asyncio.sleep(FOLLOW_PAUSE_S)
            except StoreError as error:
                self._metrics.failed(0, error)
                await asyncio.sleep(1)

    def view(self, actor: str, read: int | None = None) -> dict[str, Json]:
        """The durable view of an agent, whether it has mail, and the text of a wait that ends now.

        `read` is the largest index that has reached the agent; None where it does not say, and all it fetched counts.
        """
        state = self.committed.state
        view, mail = self.world.view(state, actor), self._has_mail(actor, read)
        late = self.world.facets.observation.observe_late
        wait = late(state, actor, WAITING).text if actor in state.members else ""
        return {
            "text": view.text,
            "verbs": [verb.__name__ for verb in view.verbs],
            "closed": view.closed,
            "news": view.news,
            "mail": mail,
            "wait": MAIL_CAME.text if mail else wait,
        }

    def _has_mail(self, actor: str, read: int | None) -> bool:
        member = self.committed.state.members.get(actor)
        return member is not None and member.last_mail > (member.seen if read is None else read)

    async def wait_for_mail(self, actor: str, timeout_s: float, read: int | None = None) -> None:
        """Wait until an agent has mail after `read`, at most `timeout_s`; not at all while the market is closing."""
        if self.closing or actor not in self.committed.state.members or self._has_mail(actor, read):
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiters = self._mail_waiters.setdefault(actor, set())
        waiters.add(waiter)
        try:
            async with asyncio.timeout(timeout_s):
                await waiter
        except TimeoutError:
            pass
        finally:
            waiters.discard(waiter)
            if not waiters:
                self._mail_waiters.pop(actor, None)

    def wake_all(self) -> None:
        """End every wait for mail."""
        self._wake([*self._mail_waiters])

    def _wake(self, actors: Iterable[str]) -> None:
        """End the waits of agents for mail."""
        for actor in actors:
            for waiter in self._mail_waiters.get(actor, ()):
                if not waiter.done():
                    waiter.set_result(None)


def _recipients(entries: Iterable[Entry]) -> Iterator[str]:
    """The recipients of the messages among entries."""
    for entry in entries:
        if entry.name == SendMessage.__name__ and entry.outcome.ok:
            yield str(entry.parameters["to_agent_id"])
