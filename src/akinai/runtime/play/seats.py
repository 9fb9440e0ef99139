"""Seats: actors that are played from outside, each by an agent that waits for its move."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from akinai.core.actions import Action
from akinai.core.agents import Agent, Move, Role, View, owner_of
from akinai.core.errors import EndRun, UsageError
from akinai.core.ledger import Outcome
from akinai.core.worlds import participants, usable_verbs
from akinai.runtime.play.session import LocalSession


@dataclass(frozen=True, slots=True)
class SeatTurn:
    """An actor's turn to act."""

    view: View
    last: Outcome | None
    """The outcome of its previous action, as it reads now; None before the first."""
    move: asyncio.Future[Move] = field(compare=False)


class Seats:
    """The actors of a run that are played from outside. Use it in one event loop."""

    def __init__(self, holds: Callable[["Seats", str], bool]) -> None:
        """`holds` tells whether an actor is played from these seats."""
        self.turns: dict[str, SeatTurn] = {}
        """Actors that may act now, in the order in which their turns came."""
        self.over = False
        """Whether the run has ended or failed."""
        self._holds = holds
        self._session: LocalSession[Any] | None = None
        self._outcomes: dict[str, Outcome] = {}
        self._changed = asyncio.Event()
        self._ending: str | None = None

    @property
    def session(self) -> LocalSession[Any]:
        """The session of the run. UsageError before it begins."""
        if self._session is None:
            raise UsageError("the run has not begun")
        return self._session

    @session.setter
    def session(self, session: LocalSession[Any]) -> None:
        self._session = session

    def holds(self, actor: str) -> bool:
        """Whether an actor is played here; a sub-agent is if its owner is."""
        return self._holds(self, owner_of(actor))

    @property
    def held(self) -> Sequence[str]:
        """Every actor held here that takes part now, whether it may act or not; after the end, those that began."""
        world, state = self.session.world, self.session.state
        acting = world.actors(state)
        everybody = [*participants(world, state), *map(owner_of, acting), *acting]
        everybody = everybody or participants(world, world.begin(self.session.genesis))
        return tuple(name for name in dict.fromkeys(everybody) if self.holds(name))

    def verbs(self, actor: str | None) -> Sequence[type[Action]]:
        """Every action that an actor and its sub-agents can take in the course of the run; None: all held here."""
        world, state = self.session.world, self.session.state
        actors = self.held if actor is None else (actor,)
        usable = {verb for name in actors for verb in usable_verbs(world, state, owner_of(name))}
        return [verb for verb in world.verbs.classes if verb in usable]

    def agent(self, role: Role) -> Agent:
        """The agent factory of these seats."""
        return _HeldAgent(self, role.actor)

    def begin_turn(self, actor: str, turn: SeatTurn) -> None:
        """Offer an actor's turn."""
        self.turns[actor] = turn
        if self._ending is not None:
            turn.move.set_exception(EndRun(self._ending))
        self._notify()

    def hand_in(self, actor: str, move: Move) -> None:
        """Make the move of an actor that may act."""
        self._outcomes.pop(actor, None)
        turn = self.turns.pop(actor)
        if not turn.move.done():  # `end` came before
            turn.move.set_result(move)

    def answer(self, actor: str, outcome: Outcome) -> None:
        """Store the outcome of an actor's move, once its entry is durable."""
        if self.holds(actor):
            self._outcomes[actor] = outcome
            self._notify()

    def outcome(self, actor: str) -> Outcome | None:
        """The outcome of the last move handed in, as it read then; None until its entry is durable."""
        return self._outcomes.get(actor)

    def leave(self, actor: str, ending: str) -> None:
        """Make no move for an actor that may act: it leaves the game, or the run ends so."""
        turn = self.turns.pop(actor)
        if not turn.move.done():
            turn.move.set_exception(EndRun(ending))

    def end(self, ending: str) -> None:
        """End the run in the place of the next move, also of those that are waited for."""
        self._ending = ending
        for turn in self.turns.values():
            turn.move.set_exception(EndRun(ending))

    def finish(self) -> None:
        """Note that the run is over."""
        self.over = True
        self.turns.clear()
        self._notify()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds, or the run is over."""
        while not (condition() or self.over):
            self._changed.clear()
            await self._changed.wait()

    def _notify(self) -> None:
        self._changed.set()


class _HeldAgent:
    """An agent whose moves are handed in from outside."""

    remember_on_resume: ClassVar[bool] = True

    def __init__(self, seats: Seats, actor: str) -> None:
        self._seats, self._actor = seats, actor

    async def act(self, view: View, last: Outcome | None) -> Move:
        move: asyncio.Future[Move] = asyncio.get_running_loop().create_future()
        self._seats.begin_turn(self._actor, SeatTurn(view, last, move))
        try:
            return await move
        finally:
            self._seats.turns.pop(self._actor, None)

    async def remember(self, view: View, last: Outcome | None, move: Move) -> None:
        """Do nothing: the player outside has made the recorded move before."""
