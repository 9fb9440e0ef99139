"""A hosted run: one writer, the state in memory, commits in groups. docs/design/server.md gives the reasons.

A request is applied when it arrives and answered when its entry is durable. Requests that arrive during a commit share
the next one.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from immutables import Map

from akinai.core.actions import Action
from akinai.core.canonical import Json, canonical
from akinai.core.errors import LedgerError, SequenceConflict, StoreError
from akinai.core.ledger import Entry, Outcome, Turn
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import expect_outcome, expect_version, read_turn, step
from akinai.runtime.play.session import clock_us
from akinai.runtime.runs.kept_scores import scorer_version
from akinai.runtime.runs.reading import expect_whole
from akinai.server.event_log import log_event
from akinai.server.metrics import UNREAD, Metrics
from akinai.server.spoofing import skeleton
from akinai.stores.snapshots import SnapshotFile
from akinai.worlds.market import Market, State
from akinai.worlds.market.model.actions import Register, SendMessage
from akinai.worlds.market.rules.views import MAIL_CAME, WAITING
from akinai.worlds.market.snapshot import read_state, state_lines

MAX_WAITING = 20_000
"""Requests that are applied and not yet durable; further requests are refused."""
FOLLOW_PAUSE_S = 0.02
"""Pause between looks at what other servers wrote, so that a burst of entries is read at once."""
TOKEN_MARK = "token sha256:"
"""Precedes the digest of an agent's token in the `said` of its registration."""

SNAPSHOT_FORMAT = 1
"""Rises when the first line of a snapshot holds other facts."""
SNAPSHOT_FEWEST = 20_000
"""Entries that are folded in a second, more or less: for fewer no snapshot is made."""
SNAPSHOT_SHARE = 4
"""A snapshot is made when the run has grown by this part of its entries."""

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
    token_digests: Map[str, str]
    """The digest of each agent's token, by agent id."""
    skeletons: Map[str, str]
    """The known ids by what they look like."""

    @staticmethod
    def before(state: State, digest: str) -> "Head":
        """The head before the first entry."""
        return Head(state, 0, digest, 0, Map(), Map({skeleton(id): id for id in state.roll}))

    def after(self, entry: Entry, state: State) -> "Head":
        """The head after the next entry."""
        token_digests, skeletons = self.token_digests, self.skeletons
        if entry.name == Register.__name__ and entry.outcome.ok:
            if entry.said.startswith(TOKEN_MARK):
                token_digests = token_digests.set(entry.actor, entry.said.removeprefix(TOKEN_MARK))
            skeletons = skeletons.set(skeleton(entry.actor), entry.actor)
        return Head(state, entry.seq, entry.digest, entry.at, token_digests, skeletons)

    @property
    def facts(self) -> dict[str, Json]:
        """All that does not follow from the state, as JSON."""
        return {"seq": self.seq, "digest": self.digest, "at": self.at, "token_digests": dict(self.token_digests)}

    @staticmethod
    def of_facts(state: State, facts: Mapping[str, Any]) -> "Head":
        """The head of a state with the facts beside it."""
        ids = (*state.roll, *(state.joined[number] for number in range(len(state.joined))))
        skeletons = Map({skeleton(id): id for id in ids})
        return Head(state, facts["seq"], facts["digest"], facts["at"], Map(facts["token_digests"]), skeletons)

    def expect_distinct(self, id: str) -> None:
        """LookAlike for an id that is not known and looks like one that is."""
        if id not in self.state.members and (look_alike := self.skeletons.get(skeleton(id))) is not None:
            raise LookAlike(id, look_alike)


class Snapshots:
    """The snapshot of one run. What breaks here is logged, and costs time alone."""

    def __init__(self, store: Store, header: RunHeader, opening: State) -> None:
        self._file, self._opening = SnapshotFile.of(store, header), opening
        self._last = 0
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def read(self) -> Head | None:
        """The head of a whole snapshot by this code; None without one."""
        if self._file is None:
            return None
        try:
            lines = self._file.read()
            facts = json.loads(next(lines, "{}"))
            if not facts or (facts["format"], facts["version"]) != (SNAPSHOT_FORMAT, scorer_version(Market())):
                return None
            return Head.of_facts(read_state(self._opening, lines), facts)
        except Exception as error:  # whatever is wrong with it, the ledger has the same state
            log_event("snapshot_unread", logging.WARNING, error=f"{type(error).__name__}: {error}")
            return None

    def begun_at(self, seq: int) -> None:
        """The run was taken up from a snapshot after this entry."""
        self._last = seq

    def is_due(self, seq: int) -> bool:
        """Whether it is time for a snapshot after an entry; a stopping server makes one for less."""
        enough = SNAPSHOT_FEWEST if self._stopping else max(SNAPSHOT_FEWEST, self._last // SNAPSHOT_SHARE)
        return seq - self._last >= enough and self._task is None and self._file is not None

    def write(self, head: Head) -> None:
        """Begin with a snapshot of a durable head, in a thread."""
        if self._file is not None:
            self._last = head.seq
            work = asyncio.to_thread(self._write, self._file, head)
            self._task = asyncio.create_task(work)
            self._task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Wait for a snapshot that is under way, which now hurries."""
        self._stopping = True
        if self._task is not None:
            await self._task

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._task = None

    def _lines(self, head: Head) -> Iterator[str]:
        yield canonical({**head.facts, "format": SNAPSHOT_FORMAT, "version": scorer_version(Market())})
        yield from state_lines(head.state, self._opening)

    def _write(self, file: SnapshotFile, head: Head) -> None:
        try:
            file.write(self._lines(head), lambda: self._stopping)
            log_event("snapshot", entries=head.seq)
        except Exception as error:  # a full disk, a folder that is not ours: the ledger has it all
            log_event("snapshot_failed", logging.WARNING, entries=head.seq, error=f"{type(error).__name__}: {error}")


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
        self._head = self._opening = self.committed
        self._snapshots = Snapshots(store, header, state)
        self._store, self._clock, self._max_waiting, self._metrics = store, clock, max_waiting, metrics
        self._pending: list[_Pending[Any]] = []
        self._entries: list[Entry] = []
        self._refreshes: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None
        self._follower: asyncio.Task[None] | None = None
        self._mail_waiters: dict[str, set[asyncio.Future[None]]] = {}
        self.closing = False

    async def open(self) -> None:
        """Fold the ledger, or what came since a snapshot, and from now on follow the entries of other servers.

        LedgerError when the ledger is damaged or the rules no longer give its outcomes.
        """
        await self._begin_at_snapshot()
        try:
            await self._catch_up()
        except LedgerError:
            if not self.committed.seq:
                raise
            self.committed = self._opening  # so wrong a snapshot that entries after it do not follow
            self._snapshots.begun_at(0)
            await self._catch_up()
        expect_whole(self.header, self.committed.seq)
        self._snapshot()
        if hasattr(self._store, "changes"):
            self._follower = asyncio.create_task(self._follow())

    async def _begin_at_snapshot(self) -> None:
        """Go on from a snapshot whose last entry is in the store with the same digest, which covers all before it."""
        head = self._snapshots.read()
        if head is None:
            return
        async for entry in self._store.read(self.header.run_id, head.seq - 1):
            if (entry.seq, entry.digest) == (head.seq, head.digest):
                self.committed = head
                self._snapshots.begun_at(head.seq)
            return

    def _snapshot(self) -> None:
        """Begin with a snapshot of what is durable, if it is time for one."""
        if self._snapshots.is_due(self.committed.seq):
            self._snapshots.write(self.committed)

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
        await self._snapshots.stop()
        self._snapshot()
        await self._snapshots.stop()
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
        self._snapshot()

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
