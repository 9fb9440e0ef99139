"""Branches of a run of several actors: its record up to an entry, and the rest played by everybody's player."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from akinai.core.agents import AgentFactory
from akinai.core.errors import UnknownName
from akinai.core.ledger import Turn
from akinai.core.scores import Score
from akinai.core.steps import Step, Steps
from akinai.core.worlds import World, participants
from akinai.runtime.why.branches import MOST_ACTIONS, Branch, Branches, actors_of
from akinai.runtime.why.participant import ParticipantShadow
from akinai.runtime.why.shadow import Departures, imagined_step

PACE_US = 1_000_000
"""How long an action takes in a branch of a world without a clock of its own: the same for everybody."""


class JointBranches(Branches):
    """Plays branches of a run of several actors, entry by entry.

    Everybody is played by the player, but for actors whom the world plays itself. With an actor, its decisions are
    those that count, and the headline is what it gained.
    """

    several = True

    def __init__(self, world: World[Any], steps: Steps[Any], player: str, actor: str | None = None) -> None:
        """UsageError for a run that cannot be explained, UnknownName for a player or an actor that is not there."""
        super().__init__(world, steps, player)
        self.followed = actor
        gain = world.facets.explaining.gain
        known = [name for name in participants(world, steps.final) if gain(steps.final, name) is not None]
        if actor is not None and actor not in known:
            raise UnknownName("actor", actor, known)
        self._shadows: dict[str, ParticipantShadow] = {}
        self._rows: list[int] = []
        self._next_parting: list[int] = []

    def headline(self, steps: Steps[Any]) -> Score:
        """The first score, or that of the actor that is followed."""
        gain = self.world.facets.explaining.gain(steps.final, self.followed) if self.followed else None
        return super().headline(steps) if gain is None else gain

    async def departures(self) -> list[Departures]:
        if not self._departures:
            for place, made in enumerate(self.steps):
                self._departures.append(await self._shadow_of(made.turn.actor).follow_entry(made, place))
            self._next_parting = _next_parting(self._departures)
            last = {made.turn.actor: place for place, made in enumerate(self.steps)}
            self._rows = [place for place in range(len(self.steps)) if self._matters(place, last)]
        return self._departures

    def _matters(self, place: int, last: dict[str, int]) -> bool:
        """Whether somebody decided at an entry what its player would not have done, or let a decision pass."""
        made, found, explaining = self.steps[place], self._departures[place], self.world.facets.explaining
        actor, action = made.turn.actor, made.turn.action
        if not found.taken or self.followed not in (None, actor):
            return False
        missed = any(explaining.decides(missed.turn.action) for missed in found.missed)
        passed = explaining.waits(action) or last[actor] == place
        return (made.outcome.ok and explaining.decides(action)) or (missed and passed)

    def rows(self) -> list[int]:
        return self._rows

    def takes_over(self, place: int) -> int:
        """The first entry from here on at which a player parts from the record: before it both do the same."""
        return self._next_parting[place]

    def _shadow_of(self, actor: str) -> ParticipantShadow:
        if actor not in self._shadows:
            self._shadows[actor] = self._new_shadow(actor)
        return self._shadows[actor]

    def _new_shadow(self, actor: str) -> ParticipantShadow:
        final = self.steps.final
        factory: AgentFactory = self.world.facets.sides.own_player(final, actor) or self._factory
        return ParticipantShadow(self.world, factory, actor, self.steps.genesis, final)

    async def value(self, branch: Branch) -> float:
        made = await self.play_on(branch.record)
        past = self.steps[: branch.record]
        return self.headline(Steps(self.steps.genesis, self.steps.opening, [*past, *made])).value

    async def play_on(self, place: int) -> list[Step[Any]]:
        """The actions with which all bring the run from an entry to its end."""
        await self.departures()
        world, state, made = self.world, self.before(place), list[Step[Any]]()
        counts = Counter(recorded.turn.actor for recorded in self.steps[:place])
        cap = self._cap if isinstance(self._cap, int) and self._cap else MOST_ACTIONS
        queue, players = Queue(world, self.steps[place - 1].entry.at if place else 0), dict[str, ParticipantShadow]()
        while len(made) < MOST_ACTIONS and (turn_of := queue.next(state)) is not None:
            actor, at = turn_of
            if actor not in players:
                players[actor] = await self._shadow_of(actor).at(place)
            action = await players[actor].wanted(state) if counts[actor] < cap else None
            if action is None:
                break
            turn = Turn(place + len(made) + 1, at, actor, action)
            made.append(imagined_step(world, state, turn))
            players[actor].answer(self._observed(made[-1]))
            counts[actor] += 1
            state = made[-1].after
        return made


def open_branches(world: World[Any], steps: Steps[Any], player: str, actor: str | None = None) -> Branches:
    """The branches of a run, by days where it has one actor. Raises as they do."""
    if len(actors_of(world, steps)) != 1:
        return JointBranches(world, steps, player, actor)
    branches = Branches(world, steps, player)
    if actor not in (None, branches.actor):
        raise UnknownName("actor", actor, [branches.actor])
    return branches


def _next_parting(departures: Sequence[Departures]) -> list[int]:
    """By entry, and for the end of the record, the first one from there on at which something differs."""
    found = [len(departures)]
    for place in reversed(range(len(departures))):
        found.append(place if departures[place].parted else found[-1])
    return found[::-1]


class Queue:
    """Whose turn it is, and when. Where the session's clock rules, everybody takes equally long for an action."""

    def __init__(self, world: World[Any], at: int) -> None:
        self.world, self._at = world, at
        self._due: dict[str, int] = {}

    def next(self, state: Any) -> tuple[str, int] | None:
        """The next actor and its time; None when nobody will act."""
        actors, now = self.world.actors(state), self.world.now(state)
        if now is not None:
            return (actors[0], now) if actors else None
        alarms = self.world.facets.sides.wake_times(state)
        due = {actor: max(at, self._at) for actor, at in alarms.items()}
        due |= {actor: self._due.get(actor, self._at + PACE_US) for actor in actors}
        if not due:
            return None
        self._due = due
        actor = min(due, key=due.__getitem__)
        self._at = self._due.pop(actor)
        return actor, self._at
