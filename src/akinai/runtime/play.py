"""The driver lets actors act until the game, an agent or a budget ends the run; `play_one` plays a run of a store."""

import asyncio
from collections.abc import AsyncIterable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from akinai import worlds
from akinai.core.actions import Action
from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.canonical import Json
from akinai.core.errors import AgentError, AkinaiError, EndRun, LedgerError, StoreError
from akinai.core.ledger import Entry, Outcome
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import World, read_turn
from akinai.runtime.at_once import Thinking, patience_s
from akinai.runtime.cast import Cast, cast_of
from akinai.runtime.casting import casting, with_bullets
from akinai.runtime.runs import DAY_US
from akinai.runtime.session import LocalSession
from akinai.runtime.stage import Stage

BATCH = 500
"""Entries that a rule-based run commits at once: what a crash loses is made again on resume, byte for byte."""
SINCE = "since"
"""In a run card: the last entry of a fork that another agent made; behind it the agent's own past begins."""
MOVES_A_TURN = 64
"""Moves after which the event loop gets a turn: a player that waits for nothing would let no Ctrl-C through."""


@runtime_checkable
class Remembers(Protocol):
    """An agent that can be told a past that another agent made, as on a fork with another model.

    One with `told_on_resume = True` is told its own past as well, where others live it again.
    """

    async def remember(self, view: View, heard: Outcome | None, move: Move) -> None:
        """One recorded move of its actor, with what it saw and had heard before it."""
        ...


@runtime_checkable
class Closes(Protocol):
    """An agent that holds something which must be let go, such as a program."""

    async def close(self) -> None:
        """Let go; called once, when the run is over or broke."""
        ...


class Driver:
    """Plays one session with the agents that a factory gives, one for each actor."""

    def __init__(self, session: LocalSession[Any], factory: AgentFactory, *, max_messages: int = 0) -> None:
        self.session, self._factory, self._cap = session, factory, max_messages
        self._agents: dict[str, Agent] = {}
        self._heard: dict[str, Outcome] = {}
        self._messages: dict[str, int] = {}
        self._task_cap = _whole(session.genesis.setup, "sub_agent_messages")
        self._task_messages: dict[str, int] = {}
        """By sub-agent, for the task that it has now."""
        self.on_entry: Callable[[], None] | None = None
        """Called after every entry, for progress."""

    def agent(self, actor: str) -> Agent:
        """The agent of an actor, made when it first acts."""
        if actor not in self._agents:
            world = self.session.world
            factory = world.own_player(self.session.state, actor) or self._factory
            group = world.group(self.session.state, actor)
            self._agents[actor] = factory(Role(actor, world.verbs.classes, group))
        return self._agents[actor]

    async def recall(self, entries: AsyncIterable[Entry], *, since: int = 0, forked_at: int = 0) -> None:
        """Bring session and agents to the end of a recorded past.

        Behind entry `since`, where its own past begins, an agent plays along and must do what is recorded: AgentError
        where it does not. What comes before, others did: an agent with `remember` is told, any other begins afresh. One
        with `remember` is told all up to entry `forked_at`, even its own past: its replies stand elsewhere. An actor
        that has its world's own player has it in every fork. ReplayMismatch where the rules no longer give what is
        recorded.
        """
        world = self.session.world
        async for entry in entries:
            actor = entry.actor
            agent, told = self.agent(actor), isinstance(self.agent(actor), Remembers)
            begins = max(since, forked_at) if told else since
            own = entry.seq > begins or world.own_player(self.session.state, actor) is not None
            knows = own or told
            if not self._dismissal(actor) and knows:
                await self._live_again(entry, own and not getattr(agent, "told_on_resume", False))
            heard = self.session.recall(entry)
            if knows:
                self._heard[actor] = heard
            self._count(actor)

    async def _live_again(self, entry: Entry, own: bool) -> None:
        agent, view = self.agent(entry.actor), await self.session.view(entry.actor)
        heard = self._hears(entry.actor)
        if not own:
            if isinstance(agent, Remembers):
                await agent.remember(view, heard, Move(read_turn(self.session.world, entry).action, entry.said))
            return
        try:
            move = await agent.act(view, heard)
        except EndRun as end:
            raise AgentError(
                f"at entry {entry.seq} the player now ends the run ({end.ending}) where {entry.name} is recorded: "
                "it is not the player of this run; fork the run instead"
            ) from end
        now = (type(move.action).__name__, move.action.model_dump(mode="json"))
        if now != (entry.name, entry.parameters):
            raise AgentError(
                f"at entry {entry.seq} the player now does {now[0]} {now[1]!r:.200} where {entry.name} "
                f"{entry.parameters!r:.200} is recorded: it is not the player of this run; fork the run instead"
            )

    def _count(self, actor: str) -> None:
        self._messages[actor] = self._messages.get(actor, 0) + 1
        if "/" in actor:
            going_on = actor in self.session.world.actors(self.session.state)
            self._task_messages[actor] = self._task_messages.get(actor, 0) + 1 if going_on else 0

    def _dismissal(self, actor: str) -> Action | None:
        """What is done for a sub-agent whose messages for its task are spent."""
        if not self._task_cap or self._task_messages.get(actor, 0) < self._task_cap:
            return None
        return self.session.world.dismissal(self.session.state, actor)

    async def close(self) -> None:
        """Let go of what agents hold."""
        for agent in self._agents.values():
            if isinstance(agent, Closes):
                await agent.close()

    async def play(self) -> str:
        """Play on to an ending and return it. AgentError when an agent breaks; nothing that was acted is lost."""
        world = self.session.world
        try:
            if world.now(self.session.state) is None:
                return await self._play_at_once()
            return await self._play_in_turn()
        except EndRun as end:
            return end.ending
        finally:
            await self.session.flush()

    async def _play_in_turn(self) -> str:
        world = self.session.world
        while actors := world.actors(self.session.state):
            for actor in actors:
                self._expect_messages(actor)
                await self._one_move(actor)
        return world.ending(self.session.state) or "stopped"

    async def _play_at_once(self) -> str:
        """The session's clock rules: all who may act decide at once; a move is judged on the state at its place."""
        world, session = self.session.world, self.session
        thinking = Thinking(self._asked)
        try:
            while True:
                alarms = world.alarms(session.state)
                actors = [*world.actors(session.state), *(one for one, at in alarms.items() if at <= session.now_us())]
                if not thinking and len(actors) == 1:
                    self._expect_messages(actors[0])
                    await self._one_move(actors[0])
                    continue
                for actor in actors:
                    if actor not in thinking:
                        self._expect_messages(actor)
                        thinking.begin(actor)
                if (ending := world.ending(session.state)) or not (thinking or alarms):
                    return ending or "stopped"
                if decided := await thinking.next(patience_s(alarms, session.now_us())):
                    await self._done(*decided)
        except Exception:
            await thinking.finish()
            raise
        finally:
            await thinking.stop()

    def _expect_messages(self, actor: str) -> None:
        if self._cap and self._messages.get(actor, 0) >= self._cap:
            raise EndRun("message_cap")

    async def _one_move(self, actor: str) -> None:
        await self._done(actor, await self._asked(actor))

    async def _done(self, actor: str, move: Move) -> None:
        self._heard[actor] = await self.session.act(actor, move)
        self._count(actor)
        if self.on_entry:
            self.on_entry()
        if self.session.seq % MOVES_A_TURN == 0:
            await asyncio.sleep(0)

    def _hears(self, actor: str) -> Outcome | None:
        """The outcome of an actor's last move, as it hears it now that it comes to act again."""
        told = self._heard.get(actor)
        return None if told is None else self.session.world.heard(self.session.state, actor, told)

    async def _asked(self, actor: str) -> Move:
        if dismissal := self._dismissal(actor):
            return Move(dismissal)
        view = await self.session.view(actor)
        try:
            return await self.agent(actor).act(view, self._hears(actor))
        except (AkinaiError, EndRun):
            raise
        except Exception as error:
            raise AgentError(f"the agent of {actor} broke: {type(error).__name__}: {error}") from error


Progress = Callable[[str, int, int], None]
"""Called with a run's id, the days it has played, or -1 when it is over, and the days of its horizon, 0 without one."""


@dataclass(frozen=True, slots=True)
class Given:
    """A world and an agent's factory as objects, where they are not to be found by name."""

    world: World[Any] | None = None
    factory: AgentFactory | None = None
    stage: Stage | None = None
    """Where the runs' models stand."""


BY_NAME = Given()


async def play_one(
    store: Store, header: RunHeader, progress: Progress | None = None, given: Given = BY_NAME
) -> RunHeader:
    """Play a run from where its ledger stands to an ending, and write how it ended.

    Whatever breaks in it makes the run failed, with the reason in its header; nothing that was played is lost. A run
    that was done and cannot go on is returned as failed and kept as it is. A cancelled run stays open. StoreError is
    the one thing that is raised: where it writes nothing is safe.
    """
    world = given.world or worlds.load(header.genesis.world)
    cast = cast_of(header)
    staged = given.stage.factory(world, header, store, given.factory) if given.stage else None
    factory = with_bullets(staged or given.factory or casting(world, cast.agent), cast.told)
    session = LocalSession(world, header.genesis, store, header.run_id, batch=BATCH if by_rules(world, cast) else 1)
    caps = (_whole(header.genesis.setup, "max_messages"), cast.budget.messages)
    driver = Driver(session, factory, max_messages=min(filter(None, caps), default=0))
    try:
        return await _played(store, header, driver, progress, given)
    finally:
        await driver.close()


def by_rules(world: World[Any], cast: Cast) -> bool:
    """Whether a run can be made again from its genesis alone, so that its entries may be committed many at a time."""
    return not cast.thinks and cast.agent in world.players


async def _played(
    store: Store, header: RunHeader, driver: Driver, progress: Progress | None, given: Given
) -> RunHeader:
    session = driver.session
    try:
        past = store.read(header.run_id)
        await driver.recall(past, since=_whole(header.card, SINCE), forked_at=_forked_at(header))
        _expect_whole_past(header, session)
    except StoreError:
        raise
    except Exception as broke:
        failed = replace(header, status="failed", ending=None, error=_reason(broke))
        if header.status != "done":
            await store.update(failed)
        return failed
    if progress:
        driver.on_entry = _days_told(header, session, progress)
    return await _to_the_end(store, header, driver, given.stage)


async def _to_the_end(store: Store, header: RunHeader, driver: Driver, stage: Stage | None) -> RunHeader:
    session = driver.session
    try:
        header = replace(header, status="done", ending=await driver.play(), error=None)
    except StoreError:
        raise
    except Exception as broke:
        header = replace(header, status="failed", ending=None, error=_reason(broke))
    except BaseException:
        header = replace(header, status="open", ending="stopped", error=None)
        await store.update(replace(header, entries=session.seq, digest=session.digest))
        raise
    calls = await stage.calls(session.world, header, store) if stage else {}
    header = replace(header, entries=session.seq, digest=session.digest, card={**header.card, **calls})
    await store.update(header)
    return header


def _forked_at(header: RunHeader) -> int:
    """The entry behind which a fork parts from its origin; 0 in a run that is none."""
    return int((header.parent or "#0").rpartition("#")[2])


def _expect_whole_past(header: RunHeader, session: LocalSession[Any]) -> None:
    if header.entries is not None and session.seq < header.entries:
        raise LedgerError(session.seq + 1, f"it is missing: the run had {header.entries} entries when it was closed")


def _reason(broke: Exception) -> str:
    if isinstance(broke, AkinaiError):
        return str(broke)
    trace = broke.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f", {trace.tb_frame.f_code.co_filename} line {trace.tb_lineno}" if trace else ""
    return f"{type(broke).__name__}: {broke} (a fault in the program{where})"


def _whole(table: Mapping[str, Json], name: str) -> int:
    value = table.get(name, 0)
    return value if isinstance(value, int) else 0


def _days_told(header: RunHeader, session: LocalSession[Any], progress: Progress) -> Callable[[], None]:
    world, told, wanted = session.world, 0, horizon(header)
    start = world.now(world.begin(header.genesis))

    def on_entry() -> None:
        nonlocal told
        now = world.now(session.state)
        if start is not None and now is not None and (days := now // DAY_US - start // DAY_US) > told:
            told = days
            progress(header.run_id, days, wanted)

    return on_entry


def horizon(header: RunHeader) -> int:
    """Days that a run is to play; 0 without an end in sight."""
    return _whole(header.genesis.setup, "days")
