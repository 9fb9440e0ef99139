"""Branches of a run: its record up to a point, another future if asked for, and the rest played by one player."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from akinai.core.agents import AgentFactory, is_sub_agent
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import DAY_US, Outcome, Turn
from akinai.core.scores import Score
from akinai.core.steps import Step, Steps
from akinai.core.worlds import World, participants
from akinai.runtime.why.shadow import Departures, Shadow, Trail, imagined_step

MOST_ACTIONS = 20_000
"""Actions of a branch, where the setup has no cap."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a run. Units are its days, or its entries in a world without a clock, counted from 0."""

    record: int
    """Units that stand as they were recorded."""
    again: int = 0
    """The unit up to which recorded actions are taken again, whatever comes of them."""
    redrawn: int = -1
    """The unit from which on chance is drawn anew; -1: the run's own future."""
    salt: int = 0
    """Which of the other futures; the same number is the same future in every branch."""
    without: tuple[int, ...] = ()
    """Entries that are left out of what is taken again."""

    def to_json(self) -> list[Json]:
        return [self.record, self.again, self.redrawn, self.salt, list(self.without)]

    @staticmethod
    def from_json(fields: Sequence[Any]) -> "Branch":
        record, again, redrawn, salt, without = fields
        return Branch(record, again, redrawn, salt, tuple(cast("Sequence[int]", without)))


def actors_of(world: World[Any], steps: Steps[Any]) -> list[str]:
    """Everybody who takes part, but for sub-agents."""
    return [actor for actor in participants(world, steps.opening) if not is_sub_agent(actor)]


@dataclass(frozen=True, slots=True)
class Unit:
    """A day with its entries, or one entry."""

    number: int
    """The day from 1, or the number of the entry."""
    begin: int
    """Its first step, from 0."""
    end: int
    """The step after its last."""


class Branches:
    """Plays branches of one run. It holds every state of the run, so that no branch plays the past again."""

    several: ClassVar[bool] = False
    """Whether several actors play, so that units are entries."""
    followed: str | None = None
    """The actor among several whose decisions count; None for all."""

    def __init__(self, world: World[Any], steps: Steps[Any], player: str) -> None:
        """UsageError for a run that cannot be explained, UnknownName for a player that the world lacks."""
        if player not in world.players:
            raise UnknownName("player", player, world.players)
        if not steps:
            raise UsageError("the run has no entries yet: there is no decision to explain")
        self.world, self.steps, self.player, self.actor = world, steps, player, next(iter(actors_of(world, steps)), "")
        self._factory: AgentFactory = world.players[player]
        self._cap = steps.genesis.setup.get("max_messages")
        begin = None if self.several else world.now(steps.opening)
        self._first_day = None if begin is None else begin // DAY_US
        self.units = self._units()
        self._departures: list[Departures] = []
        self.afresh: set[int] = set()
        """Units at which the player begins afresh: the run did something else before, which it cannot be told."""
        self._copies: dict[int, Shadow | None] = {}
        """The player at the beginning of units, where it can be copied."""

    @property
    def by_days(self) -> bool:
        """Whether units are days."""
        return self._first_day is not None

    def unit_of(self, state: Any) -> int | None:
        """The day of a state, from 1; None in a world without a clock."""
        now = self.world.now(state)
        return None if now is None or self._first_day is None else now // DAY_US - self._first_day + 1

    def _units(self) -> tuple[Unit, ...]:
        found: list[Unit] = []
        for at, made in enumerate(self.steps):
            number = self.unit_of(made.before) or at + 1
            if found and found[-1].number == number:
                found[-1] = Unit(number, found[-1].begin, at + 1)
            else:
                found.append(Unit(number, at, at + 1))
        return tuple(found)

    def before(self, unit: int) -> Any:
        """The state in which a unit begins; that at the end of the record for the number of units."""
        return self.steps[self.units[unit].begin].before if unit < len(self.units) else self.steps.final

    @property
    def ended(self) -> bool:
        """Whether the record reaches the end of the game."""
        return not self.world.actors(self.steps.final)

    @property
    def redraws(self) -> bool:
        """Whether the world has other futures."""
        state = self.steps.opening
        return self.world.facets.explaining.redraw(state, 1) is not state

    def rows(self) -> list[int]:
        """The units that may be worth something, by the departures."""
        return [place for place, found in enumerate(self._departures) if found.parted or place in self.afresh]

    def takes_over(self, place: int) -> int:
        """The unit at which the player takes over to the same effect as at another one."""
        return place

    def headline(self, steps: Steps[Any]) -> Score:
        """The first score of the first scorer."""
        return self.world.scorers[0](steps)[0]

    def _trail(self, unit: Unit, state: Any, *, again: bool = False, without: Sequence[int] = ()) -> Trail:
        steps = self.steps[unit.begin : unit.end]
        return Trail(self.world, state, steps, self.unit_of, again=again, without=without)

    def _shadow(self, actor: str | None = None) -> Shadow:
        """The player of an actor at its beginning; without a name, of the actor that is explained."""
        return Shadow(self.world, self._factory, actor or self.actor, self.steps.genesis, self.steps.opening)

    async def departures(self) -> list[Departures]:
        """Where the run and the player part, unit by unit."""
        if not self._departures:
            shadow = self._shadow()
            for place in range(len(self.units) + 1):
                self._copies[place] = shadow.copied()
                if self._copies[place] is None and any(found.parted for found in self._departures):
                    self.afresh.add(place)
                if place < len(self.units):
                    self._departures.append(await self._follow(shadow, place))
            for place in self.afresh - {len(self.units)}:
                unit, found = self.units[place], self._departures[place]
                own = [made.entry.seq for made in self.steps[unit.begin : unit.end] if made.turn.actor == self.actor]
                self._departures[place] = Departures(own, [] if self.by_days else found.missed, found.parted)
        return self._departures

    async def _follow(self, shadow: Shadow, place: int) -> Departures:
        departures = Departures()
        await shadow.follow(self._trail(self.units[place], self.before(place)), departures)
        return departures

    async def _player_at(self, place: int) -> Shadow:
        """The player as it knows the record up to a unit."""
        await self.departures()
        kept = self._copies.get(place)
        if (known := kept.copied() if kept else None) is not None:
            return known
        shadow = self._shadow()
        for earlier in range(0 if place in self.afresh else place):
            await self._follow(shadow, earlier)
        return shadow

    async def value(self, branch: Branch) -> float:
        """The headline at the end of a branch."""
        shadow, ignored = await self._player_at(branch.record), Departures()
        state = self.before(branch.record)
        made: list[Step[Any]] = []
        for place in range(branch.record, branch.again):
            state = self._redrawn(state, branch, place)
            trail = self._trail(self.units[place], state, again=True, without=branch.without)
            await shadow.follow(trail, ignored)
            made += trail.made
            state = trail.state
        if branch.again in self.afresh or (ignored.parted and shadow.copied() is None):
            shadow = self._shadow()
        past = self.steps[: self.units[branch.record].begin] if branch.record < len(self.units) else list(self.steps)
        made += await self._play_on(shadow, state, branch, len(past) + len(made))
        return self.headline(Steps(self.steps.genesis, self.steps.opening, [*past, *made])).value

    def _redrawn(self, state: Any, branch: Branch, place: int) -> Any:
        return self.world.facets.explaining.redraw(state, branch.salt) if place == branch.redrawn else state

    async def _play_on(self, shadow: Shadow, state: Any, branch: Branch, count: int) -> list[Step[Any]]:
        """The actions with which the player, and sub-agents that it calls, bring the run to its end."""
        world, made = self.world, list[Step[Any]]()
        cap = self._cap if isinstance(self._cap, int) and self._cap else MOST_ACTIONS
        start = max(branch.record, branch.again)
        waiting = branch.redrawn >= start
        day = self.units[branch.redrawn].number if waiting and branch.redrawn < len(self.units) else None
        others: dict[str, Shadow] = {}
        while count < cap and (actors := world.actors(state)):
            if waiting and (branch.redrawn == start or (day is not None and (self.unit_of(state) or 0) >= day)):
                state, waiting = world.facets.explaining.redraw(state, branch.salt), False
            actor = actors[0]
            player = shadow if actor == self.actor else others.setdefault(actor, self._shadow(actor))
            action = await player.wanted(state)
            if action is None:
                break
            turn = Turn(count + 1, world.now(state) or self.steps[-1].entry.at, actor, action)
            made.append(imagined_step(world, state, turn))
            player.answer(self._observed(made[-1]))
            state, count = made[-1].after, count + 1
        return made

    def _observed(self, made: Step[Any]) -> Outcome:
        return self.world.facets.observation.observe(made.after, made.turn, made.outcome)
