"""The driver lets actors act until the world, an agent or a budget ends the run; `play_run` plays a stored run."""

import asyncio
import traceback
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from akinai import worlds
from akinai.core.actions import Action
from akinai.core.agents import Agent, AgentFactory, Move, View, is_sub_agent, split_said
from akinai.core.canonical import Json
from akinai.core.errors import AgentCrash, AgentError, AkinaiError, EndRun, LedgerError, ModelError, StoreError
from akinai.core.ledger import Entry, Outcome, midnights
from akinai.core.steps import Step
from akinai.core.stores import Books, RunHeader
from akinai.core.untrusted.spelling import short_repr
from akinai.core.worlds import World, make_agent, participants, read_turn
from akinai.runtime.garbage import never_collecting
from akinai.runtime.play.agent_registry import agent_factory, seat_factories, with_bullets
from akinai.runtime.play.agent_spec import AgentSpec, spec_of
from akinai.runtime.play.concurrent import PendingDecisions, seconds_to_alarm
from akinai.runtime.play.model_pool import ModelPool, open_model_pool
from akinai.runtime.play.repeats import UNREADABLE, Repeats, UnreadReplies
from akinai.runtime.play.seats import Seats
from akinai.runtime.play.session import LocalSession
from akinai.runtime.runs.records import ALL_WAIT, ENDED_BY_AGENT, INTERRUPTED, RESUMABLE, TRACEBACK

BATCH = 500
"""Entries that a reproducible run commits together: after a crash, a resume repeats lost ones byte for byte."""
SINCE = "since"
"""The key of a fork's run card for the last entry that another agent made."""
LONGEST_TRACEBACK = 20_000
"""Characters of a traceback that a run card holds, the last ones."""
MOVES_A_TURN = 64
"""Moves after which the event loop runs, so that Ctrl-C reaches a player that never awaits."""


@runtime_checkable
class Remembers(Protocol):
    """An agent that can take over moves which another agent made, as in a fork with another model.

    On a resume an agent normally decides its own moves again. With `remember_on_resume = True` it takes them over too.
    """

    async def remember(self, view: View, last: Outcome | None, move: Move) -> None:
        """Take over a recorded move of its actor; `view` and `last` are the arguments that `act` would have got."""
        ...


@runtime_checkable
class Closes(Protocol):
    """An agent that holds something to release, such as a program."""

    async def close(self) -> None:
        """Release it; called once, when the run has ended or failed."""
        ...


class Driver:
    """Plays one session with the agents of a factory, one for each actor."""

    def __init__(
        self,
        session: LocalSession[Any],
        factory: AgentFactory,
        *,
        max_actions: int = 0,
        max_repeats: int = 0,
        seats: Seats | None = None,
        seated: Mapping[str, AgentFactory] = {},
        actions: dict[str, int] | None = None,
        at_once: bool = False,
    ) -> None:
        """`max_actions` caps the actions of each actor, `max_repeats` its repetitions (`Repeats`); 0 for no cap.

        Actors that `seats` holds are played there, even those with the world's own player. `seated` are factories of
        their own by group. `actions` counts entries. `at_once`: agents may wait, as for a model, so those who decide by
        the same state are asked together; otherwise, and with `seats`, one by one, with the same moves.
        """
        self.session, self._factory, self._cap, self._seats = session, factory, max_actions, seats
        self._seated, self._at_once = seated, at_once
        self._spent: dict[str, EndRun] = {}
        """Why an actor that is to act next may not go on."""
        self._latest = ""
        """Who acted last."""
        self._repeats = Repeats(session.world, max_repeats)
        self._agents: dict[str, Agent] = {}
        self._last: dict[str, Outcome] = {}
        self._actions = {} if actions is None else actions
        self._task_cap = _int_at(session.genesis.setup, "sub_agent_messages")
        self._task_actions: dict[str, int] = {}
        """Actions of each sub-agent in its present task."""
        self.ended_by_agent = False
        """Whether the run was ended by an agent or a cap, not by its world."""
        self.on_entry: Callable[[], None] | None = None
        """Called after every entry, for progress."""

    def agent(self, actor: str) -> Agent:
        """The agent of an actor, created when it first acts."""
        if actor not in self._agents:
            session, factory = self.session, self._own_player(actor) or self._factory
            self._agents[actor] = make_agent(session.world, factory, actor, session.genesis, session.state)
        return self._agents[actor]

    def _own_player(self, actor: str) -> AgentFactory | None:
        if self._seats is not None and self._seats.holds(actor):
            return self._seats.agent
        seating, state = self.session.world.facets.seating, self.session.state
        seated = self._seated.get(seating.group(state, actor)) if self._seated else None
        return seated or seating.own_player(state, actor)

    async def recall(self, entries: AsyncIterable[Entry], *, since: int = 0, forked_at: int = 0) -> None:
        """Bring session and agents to the end of a recorded past.

        After entry `since` an agent decides its own moves again: AgentError if they differ from the record. The moves
        up to `since` were another agent's: an agent with `remember` takes them over, any other begins afresh.
        With `remember` it takes over all moves up to entry `forked_at`, even its own, since the replies of its model
        are in the trace of another run. An actor with the world's own player keeps that player in every fork.
        ReplayMismatch if the rules no longer give the recorded outcome.
        """
        async for entry in entries:
            actor = entry.actor
            with _AgentCode(actor):
                agent = self.agent(actor)
            remembers = isinstance(agent, Remembers)
            begin = max(since, forked_at) if remembers else since
            own = entry.seq > begin or self._own_player(actor) is not None
            if not self._closing_action(actor) and not self._has_left(entry) and (own or remembers):
                if own and not getattr(agent, "remember_on_resume", False):
                    await self._decide_again(entry)
                elif isinstance(agent, Remembers):
                    await self._remember(agent, entry)
            before, self._latest = self.session.state, actor
            last = self.session.recall(entry)
            if own or remembers:
                self._last[actor] = last
            self._count(actor)
            self._repeats.add(actor, read_turn(self.session.world, entry).action, last, before, self.session.state)

    async def _remember(self, agent: Remembers, entry: Entry) -> None:
        view, last = await self.session.view(entry.actor), self._last_outcome(entry.actor)
        move = Move(read_turn(self.session.world, entry).action, *split_said(entry.said))
        with _AgentCode(entry.actor):
            await agent.remember(view, last, move)

    async def _decide_again(self, entry: Entry) -> None:
        try:
            move = await self._agent_move(entry.actor)
        except EndRun as end:
            raise AgentError(
                f"at entry {entry.seq} the player now ends the run ({end.ending}) where {entry.name} is recorded: "
                "it is not the player of this run; fork the run instead"
            ) from end
        now = (type(move.action).__name__, move.action.dumped())
        if now != (entry.name, entry.parameters):
            raise AgentError(
                f"at entry {entry.seq} the player now does {now[0]} {short_repr(now[1], 200)} where "
                f"{entry.name} {short_repr(entry.parameters, 200)} is recorded: it is not the player of "
                "this run; fork the run instead"
            )

    def _count(self, actor: str) -> None:
        self._actions[actor] = self._actions.get(actor, 0) + 1
        if is_sub_agent(actor):
            active = actor in self.session.world.actors(self.session.state)
            self._task_actions[actor] = self._task_actions.get(actor, 0) + 1 if active else 0

    def _closing_action(self, actor: str) -> Action | None:
        """The action that closes a sub-agent's task once its cap is reached; None before that."""
        if not self._task_cap or self._task_actions.get(actor, 0) < self._task_cap:
            return None
        return self.session.world.facets.seating.closing_action(self.session.state, actor)

    async def aclose(self) -> None:
        """Close the agents."""
        for agent in self._agents.values():
            if isinstance(agent, Closes):
                await agent.close()

    @property
    def unread(self) -> UnreadReplies | None:
        """The actor with most replies in which no action could be read; None where all could be read."""
        return self._repeats.unread

    async def play(self) -> str:
        """Play to an ending and return it. AgentError if an agent fails; all entries so far are kept."""
        world = self.session.world
        try:
            if world.now(self.session.state) is None:
                return await self._play_concurrently()
            return await self._play_in_turn()
        except EndRun as end:
            self.ended_by_agent = True
            return UNREADABLE if end.ending in RESUMABLE and self._repeats.mostly_unread else end.ending
        finally:
            await self.session.flush()

    async def _play_in_turn(self) -> str:
        world = self.session.world
        while actors := world.actors(self.session.state):
            several = len(actors) > 1 and world.facets.seating.decide_at_once(self.session.state)
            actors = self._in_turn(actors) if several else actors
            at_once = several and self._at_once and self._seats is None
            decided = await asyncio.gather(*map(self._move_or_end, actors)) if at_once else ()
            for index, actor in enumerate(actors):
                move = decided[index] if at_once else await self._move_or_end(actor)
                try:
                    await self._act(actor, move if isinstance(move, Move) else self._leaving_move(actor, move))
                except EndRun as end:
                    if self._leaving_action(actor, end) is None:
                        raise
                    self._spent[actor] = end
        return world.ending(self.session.state) or ALL_WAIT

    def _in_turn(self, actors: Sequence[str]) -> Sequence[str]:
        """Actors who decide at once, in the order of the participants after the one who acted last, so that a resumed
        run goes on with the same one."""
        everybody = [*participants(self.session.world, self.session.state)]
        after = everybody.index(self._latest) + 1 if self._latest in everybody else 0
        return sorted(actors, key=lambda actor: (everybody.index(actor) - after) % len(everybody))

    async def _move_or_end(self, actor: str) -> Move | AgentError | EndRun:
        """An actor's move, or why it makes none."""
        try:
            if spent := self._spent.pop(actor, None):
                return spent
            self._check_cap(actor)
            return await self._decide(actor)
        except (AgentError, EndRun) as error:
            return error

    def _leaving_move(self, actor: str, error: AgentError | EndRun) -> Move:
        """The move by which an actor leaves. Raises the error where the game ends with it."""
        if (leaving := self._leaving_action(actor, error)) is None:
            raise error
        return Move(leaving)

    def _leaving_action(self, actor: str, error: AgentError | EndRun) -> Action | None:
        """The action by which an actor leaves the game; None where the run ends, or fails and can be resumed.

        That is so where the budget of the run is spent, a person stops it, or a model cannot be asked.
        """
        if isinstance(error, ModelError) or (isinstance(error, EndRun) and error.ending in INTERRUPTED):
            return None
        why = error.ending if isinstance(error, EndRun) else str(error)
        return self.session.world.facets.seating.leaving_action(self.session.state, actor, why)

    def _has_left(self, entry: Entry) -> bool:
        """Whether an entry is the move by which its actor left, which no agent decided."""
        leaving = self.session.world.facets.seating.leaving_action(self.session.state, entry.actor, "")
        return leaving is not None and entry.name == type(leaving).__name__

    async def _play_concurrently(self) -> str:
        """Let all actors that may act decide at the same time; each move applies to the state at its arrival."""
        world, session = self.session.world, self.session
        pending = PendingDecisions(self._decide)
        try:
            while True:
                alarms = world.facets.seating.wake_times(session.state)
                woken = (actor for actor, at in alarms.items() if at <= session.now_us())
                actors = [*world.actors(session.state), *woken]
                if not pending and len(actors) == 1 and alarms.keys() <= {*actors}:
                    self._check_cap(actors[0])
                    await self._act(actors[0], await self._decide(actors[0]))
                    continue
                for actor in actors:
                    if actor not in pending:
                        self._check_cap(actor)
                        pending.begin(actor)
                if (ending := world.ending(session.state)) or not (pending or alarms):
                    return ending or ALL_WAIT
                if not pending:  # nobody decides, and nobody can before the first alarm
                    session.pass_to(min(alarms.values()))
                    continue
                asleep = {actor: at for actor, at in alarms.items() if actor not in pending}
                if decided := await pending.next(seconds_to_alarm(asleep, session.now_us())):
                    await self._act(*decided)
        except Exception:  # of an agent, a world or a store: the calls of the others are still recorded
            await pending.finish()
            raise
        finally:
            await pending.stop()

    def _check_cap(self, actor: str) -> None:
        if self._cap and self._actions.get(actor, 0) >= self._cap:
            raise EndRun("message_cap")

    async def _act(self, actor: str, move: Move) -> None:
        before, self._latest = self.session.state, actor
        self._last[actor] = outcome = await self.session.act(actor, move)
        self._count(actor)
        if self._seats is not None:
            self._seats.answer(actor, outcome)
        if self.on_entry:
            self.on_entry()
        self._repeats.expect_progress(actor, move.action, outcome, before, self.session.state)
        if self.session.seq % MOVES_A_TURN == 0:
            await asyncio.sleep(0)

    def _last_outcome(self, actor: str) -> Outcome | None:
        """The outcome of an actor's last move, as it reads now that the actor acts again."""
        last, session = self._last.get(actor), self.session
        return None if last is None else session.world.facets.observation.observe_late(session.state, actor, last)

    async def _decide(self, actor: str) -> Move:
        closing = self._closing_action(actor)
        return Move(closing) if closing else await self._agent_move(actor)

    async def _agent_move(self, actor: str) -> Move:
        view = await self.session.view(actor)
        last = self._last_outcome(actor)
        with _AgentCode(actor):
            return await self.agent(actor).act(view, last)


class _AgentCode:
    """A context for the code of an actor's agent: its exceptions become AgentCrash, except Akinai's own."""

    def __init__(self, actor: str) -> None:
        self._actor = actor

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, frames: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, AkinaiError | EndRun):
            raise AgentCrash(f"the agent of {self._actor} broke: {type(error).__name__}: {error}") from error


Progress = Callable[[str, int, int], None]
"""Called with a run's id, the days played so far (-1 when the run is over) and the days of its horizon (0 for none)."""


@dataclass(frozen=True, slots=True)
class PlayContext:
    """Everything that a run is played with besides its header: objects without a name, and shared models."""

    world: World[Any] | None = None
    factory: AgentFactory | None = None
    pool: ModelPool | None = None
    """The opened models of the run's agent spec; without them and a factory, a run opens those of its own."""
    seats: Seats | None = None
    """The actors that are played from outside."""
    raise_errors: bool = False
    """Whether the error that fails a run is raised after it is written to the run's header."""
    steps: list[Step[Any]] | None = None
    """Filled with the steps of the run, recalled ones included, so that scoring needs no replay."""


BY_NAME = PlayContext()
"""A context that finds world and agent by name and asks no model."""


async def play_run(
    store: Books, header: RunHeader, progress: Progress | None = None, context: PlayContext = BY_NAME
) -> RunHeader:
    """Play a run from the end of its ledger to an ending, and return the header that says how it ended.

    An error makes the run failed, with the reason in its header; all entries so far are kept. A run that was done and
    cannot be recalled is returned as failed and stays done in the store. A cancelled run stays open. Raises StoreError,
    since nothing can be written then, and with `raise_errors` the error of the run, an agent's exception unwrapped.
    """
    world = context.world or worlds.load(header.genesis.world)
    spec, actions = spec_of(header), dict[str, int]()
    async with AsyncExitStack() as stack:
        if context.pool is None and context.factory is None and spec.asks_model:
            context = replace(context, pool=await stack.enter_async_context(open_model_pool(spec)))
        if context.pool:
            factory = context.pool.agent_factory(world, header, store, context.factory, actions)
        else:
            factory = context.factory or agent_factory(world, spec.agent, spec.timeout_s, spec.agent_user)
        batch = BATCH if is_reproducible(world, spec) else 1
        session = LocalSession(world, header.genesis, store, header.run_id, batch=batch, steps=context.steps)
        driver = make_driver(session, spec, factory, seats=context.seats, actions=actions)
        stack.push_async_callback(driver.aclose)
        with never_collecting() if batch > 1 else nullcontext():
            return await _recall_and_play(store, header, driver, progress, context)


def make_driver(
    session: LocalSession[Any],
    spec: AgentSpec,
    factory: AgentFactory,
    *,
    seats: Seats | None = None,
    actions: dict[str, int] | None = None,
) -> Driver:
    """The driver of a session under the limits of its setup and its agent. `seats`, `actions` as for `Driver`."""
    if seats is not None:
        seats.session = session
    caps = (_int_at(session.genesis.setup, "max_messages"), spec.budget.actions)
    return Driver(
        session, with_bullets(factory, spec.all_bullets), max_actions=min(filter(None, caps), default=0),
        max_repeats=spec.budget.repeats, seats=seats, seated=seat_factories(session.world, spec), actions=actions,
        at_once=not is_reproducible(session.world, spec),
    )  # fmt: skip


def is_reproducible(world: World[Any], spec: AgentSpec) -> bool:
    """Whether a run follows from its genesis alone, so that many entries may be committed together."""
    return not spec.asks_model and {*spec.agents} <= world.players.keys()


async def _recall_and_play(
    store: Books, header: RunHeader, driver: Driver, progress: Progress | None, context: PlayContext
) -> RunHeader:
    session = driver.session
    try:
        past = store.read(header.run_id)
        await driver.recall(past, since=_int_at(header.card, SINCE), forked_at=_fork_point(header))
        _expect_whole_past(header, session)
    except StoreError:
        raise
    except Exception as error:  # of a third party's agent or world: it fails this run alone
        failed = _failed_header(header, error)
        if header.status != "done" and not isinstance(error, LedgerError):  # a damaged record is not touched
            await store.update(failed)
        if context.raise_errors:
            raise _original_error(error) from None
        return failed
    if progress:
        driver.on_entry = _day_reporter(header, session, progress)
    return await _play_to_the_end(store, header, driver, context)


async def _play_to_the_end(store: Books, header: RunHeader, driver: Driver, context: PlayContext) -> RunHeader:
    session, failure = driver.session, None
    card = {name: value for name, value in header.card.items() if name not in (TRACEBACK, ENDED_BY_AGENT, UNREADABLE)}
    try:
        if header.status == "done":  # so that a crash leaves no entry after the end
            header = replace(header, status="open", ending=None)
            await store.update(header)
        ending = await driver.play()
        if driver.ended_by_agent and ending not in RESUMABLE:
            card[ENDED_BY_AGENT] = True
        if ending == UNREADABLE and driver.unread:
            card[UNREADABLE] = driver.unread._asdict()
        header = replace(header, status="done", ending=ending, error=None, card=card)
    except StoreError:
        raise
    except Exception as error:  # of a third party's agent or world: it fails this run alone
        failure, header = error, _failed_header(header, error)
    except BaseException:  # cancelled, or Ctrl-C
        header = replace(header, status="open", ending="stopped", error=None, card=card)
        if not await _has_grown(store, header.run_id, session.seq):
            await store.update(replace(header, entries=session.seq, digest=session.digest))
        raise
    calls: Mapping[str, Json] = await context.pool.calls(session.world, header, store) if context.pool else {}
    header = replace(header, entries=session.seq, digest=session.digest, card={**header.card, **calls})
    await store.update(header)
    if failure and context.raise_errors:
        raise _original_error(failure)
    return header


async def _has_grown(store: Books, run_id: str, last: int) -> bool:
    """Whether another process has gone on with a run, whose header then is that one's."""
    async for _ in store.read(run_id, last):
        return True
    return False


def _failed_header(header: RunHeader, error: Exception) -> RunHeader:
    """The header of a run that an error ended: the reason, and the traceback unless the error is Akinai's own."""
    card = {name: value for name, value in header.card.items() if name != TRACEBACK}
    original = _original_error(error)
    if not isinstance(original, AkinaiError):
        card[TRACEBACK] = "".join(traceback.format_exception(original))[-LONGEST_TRACEBACK:]
    return replace(header, status="failed", ending=None, error=_reason(error), card=card)


def _original_error(error: Exception) -> Exception:
    """The exception of an agent's own code, without the driver's frames; any other error as it is."""
    cause = error.__cause__
    if not isinstance(error, AgentCrash) or not isinstance(cause, Exception):
        return error
    frames = cause.__traceback__
    while frames and frames.tb_next and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    return cause.with_traceback(frames)


def _reason(error: Exception) -> str:
    if isinstance(error, AkinaiError):
        return str(error)
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    where = f", {frames.tb_frame.f_code.co_filename} line {frames.tb_lineno}" if frames else ""
    return f"{type(error).__name__}: {error} (a fault in the program{where})"


def _fork_point(header: RunHeader) -> int:
    """The last entry that a fork shares with its parent; 0 for a run that is no fork."""
    return int((header.parent or "#0").rpartition("#")[2])


def _expect_whole_past(header: RunHeader, session: LocalSession[Any]) -> None:
    if header.entries is not None and session.seq < header.entries:
        raise LedgerError(session.seq + 1, f"it is missing: the run had {header.entries} entries when it was closed")


def _int_at(table: Mapping[str, Json], name: str) -> int:
    return value if isinstance(value := table.get(name, 0), int) else 0


def _day_reporter(header: RunHeader, session: LocalSession[Any], progress: Progress) -> Callable[[], None]:
    world, reported, all_days = session.world, 0, horizon(header)
    start = world.now(world.begin(header.genesis))

    def on_entry() -> None:
        nonlocal reported
        now = world.now(session.state)
        if start is not None and now is not None and (days := midnights(start, now)) > reported:
            reported = days
            progress(header.run_id, days, all_days)

    return on_entry


def horizon(header: RunHeader) -> int:
    """The number of days that a run will play; 0 without a horizon."""
    return _int_at(header.genesis.setup, "days")
