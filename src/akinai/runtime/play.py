"""The driver: lets actors act until the game, an agent or a budget ends the run."""

from collections.abc import AsyncIterable, Callable
from typing import Any, Protocol, runtime_checkable

from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.errors import AgentError, AkinaiError, EndRun
from akinai.core.ledger import Entry, Outcome
from akinai.core.worlds import read_turn
from akinai.runtime.session import LocalSession


@runtime_checkable
class Remembers(Protocol):
    """An agent that is told a recorded past, where others must repeat it."""

    async def remember(self, view: View, heard: Outcome | None, move: Move) -> None:
        """One recorded move of its own, with what it saw and had heard before it."""
        ...


class Driver:
    """Plays one session with the agents that a factory gives, one for each actor."""

    def __init__(self, session: LocalSession[Any], factory: AgentFactory, *, max_messages: int = 0) -> None:
        self.session, self._factory, self._cap = session, factory, max_messages
        self._agents: dict[str, Agent] = {}
        self._heard: dict[str, Outcome] = {}
        self._messages: dict[str, int] = {}
        self.on_entry: Callable[[], None] | None = None
        """Called after every entry, for progress."""

    def agent(self, actor: str) -> Agent:
        """The agent of an actor, made when it first acts."""
        if actor not in self._agents:
            self._agents[actor] = self._factory(Role(actor, self.session.world.verbs.classes))
        return self._agents[actor]

    async def recall(self, entries: AsyncIterable[Entry], *, repeat: bool) -> None:
        """Bring session and agents to the end of a recorded past.

        With `repeat` a player without `remember` plays along and must do what is recorded: AgentError where it does
        not. Without it such a player begins afresh after the past.
        """
        async for entry in entries:
            actor = entry.actor
            if repeat or isinstance(self.agent(actor), Remembers):
                await self._live_again(entry)
            self._heard[actor] = self.session.recall(entry)
            self._count(actor)
        if not repeat:
            told = {actor: heard for actor, heard in self._heard.items() if isinstance(self.agent(actor), Remembers)}
            self._heard = told

    async def _live_again(self, entry: Entry) -> None:
        agent, view = self.agent(entry.actor), await self.session.view(entry.actor)
        heard = self._heard.get(entry.actor)
        if isinstance(agent, Remembers):
            return await agent.remember(view, heard, Move(read_turn(self.session.world, entry).action, entry.said))
        move = await agent.act(view, heard)
        now = (type(move.action).__name__, move.action.model_dump(mode="json"))
        if now != (entry.name, entry.parameters):
            raise AgentError(
                f"at entry {entry.seq} the player now does {now[0]} {now[1]!r:.200} where {entry.name} "
                f"{entry.parameters!r:.200} is recorded: it is not the player of this run; fork the run instead"
            )

    def _count(self, actor: str) -> None:
        self._messages[actor] = self._messages.get(actor, 0) + 1

    async def play(self) -> str:
        """Play on to an ending and return it. Raises AgentError when an agent breaks; nothing that was acted is lost."""
        world = self.session.world
        try:
            while actors := world.actors(self.session.state):
                for actor in actors:
                    if self._cap and self._messages.get(actor, 0) >= self._cap:
                        return "message_cap"
                    await self._one_move(actor)
            return world.ending(self.session.state) or "stopped"
        except EndRun as end:
            return end.ending
        finally:
            await self.session.flush()

    async def _one_move(self, actor: str) -> None:
        view = await self.session.view(actor)
        try:
            move = await self.agent(actor).act(view, self._heard.get(actor))
        except (AkinaiError, EndRun):
            raise
        except Exception as error:
            raise AgentError(f"the agent of {actor} broke: {type(error).__name__}: {error}") from error
        self._heard[actor] = await self.session.act(actor, move)
        self._count(actor)
        if self.on_entry:
            self.on_entry()
