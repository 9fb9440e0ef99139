"""Puts mistakes, or what only looks like them, into runs of the world's own players.

A run is played again under the real rules; at a given point moves are inserted, an action of the player is replaced,
or something is said beside it. Then the player goes on by itself with what it hears. Nothing before that point changes,
and the whole is a sound ledger.
"""

from dataclasses import dataclass, field

from akinai.core.agents import Agent, Move, Role
from akinai.core.ledger import Outcome
from akinai.worlds.vending.actions import AdvanceDay
from akinai.worlds.vending.delegation import OWNER
from akinai.worlds.vending.state import OPENING
from labelled.desk import WORLD, Desk, Setting
from labelled.moves import Act, Moves, flat

NOTHING = Outcome("Nothing was done.")
"""What a player hears of an action that was taken from it."""


@dataclass(frozen=True, slots=True)
class Insert:
    """Moves on the first morning from a day on, before the player acts."""

    day: int
    acts: tuple[Act, ...]


@dataclass(frozen=True, slots=True)
class Instead:
    """Moves in place of every action of a kind that the player does between two days, both included."""

    verb: str
    first: int
    last: int
    acts: tuple[Act, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """Something said beside the first action of a kind from a day on."""

    verb: str
    day: int
    said: str


Change = Insert | Instead | Beside


def insert(day: int, *moves: Moves) -> Insert:
    return Insert(day, flat(*moves))


def instead(verb: str, first: int, last: int, *moves: Moves) -> Instead:
    return Instead(verb, first, last, flat(*moves))


def beside(verb: str, day: int, said: str) -> Beside:
    return Beside(verb, day, said)


@dataclass
class Mutator:
    """Plays one run with changes."""

    player: str
    setting: Setting
    changes: tuple[Change, ...] = ()
    points: dict[int, int] = field(default_factory=dict[int, int])
    """The first entry that each change made, by the change's place."""

    def play(self) -> Desk:
        """The whole run. ValueError when a change never came to pass."""
        desk, agents, heard = Desk(self.setting), dict[str, Agent](), dict[str, Outcome]()
        while (actor := desk.actor) is not None:
            if acts := self._due(desk, actor):
                for act in acts:
                    outcome = desk.do(act)
                    if isinstance(act.action, AdvanceDay):
                        heard[OWNER] = outcome
                continue
            if actor not in agents:
                agents[actor] = WORLD.players[self.player](Role(actor, WORLD.verbs.classes))
            move = _decided(agents[actor], desk, actor, heard.get(actor))
            heard[actor] = self._done(desk, move)
        if missing := [change for at, change in enumerate(self.changes) if at not in self.points]:
            raise ValueError(f"the run ended after {len(desk.entries)} entries without {missing!r}")
        return desk

    def _due(self, desk: Desk, actor: str) -> tuple[Act, ...]:
        if actor != OWNER or desk.state.minute_of_day != OPENING:
            return ()
        for at, change in enumerate(self.changes):
            if isinstance(change, Insert) and at not in self.points and change.day <= desk.state.day:
                self.points[at] = len(desk.entries) + 1
                return change.acts
        return ()

    def _done(self, desk: Desk, move: Move) -> Outcome:
        """The player's move, or what stands in its place."""
        name, day, point = type(move.action).__name__, desk.state.day, len(desk.entries) + 1
        for at, change in enumerate(self.changes):
            match change:
                case Instead(verb, first, last, acts) if verb == name and first <= day <= last:
                    self.points.setdefault(at, point)
                    outcome = NOTHING
                    for act in acts:
                        outcome = desk.do(act)
                    return outcome
                case Beside(verb, first, said) if verb == name and first <= day and at not in self.points:
                    self.points[at] = point
                    return desk.do(Act(move.action, said, marked=True), checked=False)
                case _:
                    pass
        return desk.do(Act(move.action, move.said), checked=False)


def _decided(agent: Agent, desk: Desk, actor: str, heard: Outcome | None) -> Move:
    """A rule-based player waits for nothing, so its coroutine ends at the first step."""
    deciding = agent.act(WORLD.view(desk.state, actor), heard)
    try:
        deciding.send(None)
    except StopIteration as decided:
        return decided.value
    raise TypeError(f"{type(agent).__name__} waits for something; only rule-based players can be mutated")
