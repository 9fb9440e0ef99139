"""Branches of a run: its record up to a point, optionally another future, and one player for the rest."""

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
from akinai.runtime.why.shadow import Divergence, Shadow, Trail, imagined_step

MOST_ACTIONS = 20_000
"""Actions of a branch, where the setup has no cap."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a run. Units are its days, or its entries in a world without a clock, counted from 0."""

    record: int
    """How many units stay as they were recorded."""
    again: int = 0
    """The unit up to which recorded actions are taken again, whatever their outcomes."""
    redrawn: int = -1
    """The unit from which on chance is drawn anew; -1: the run's own future."""
    salt: int = 0
    """Which of the other futures; the same number is the same future in every branch."""
    without: tuple[int, ...] = ()
    """Entries that are not taken again."""

    def to_json(self) -> list[Json]:
        return [self.record, self.again, self.redrawn, self.salt, list(self.without)]

    @staticmethod
    def from_json(fields: Sequence[Any]) -> "Branch":
        record, again, redrawn, salt, without = fields
        return Branch(record, again, redrawn, salt, tuple(cast("Sequence[int]", without)))


def actors_of(world: World[Any], steps: Steps[Any]) -> list[str]:
    """Every participant except sub-agents."""
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
    """Plays branches of one run. It holds every state of the run, so no branch replays the past."""

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
        self._divergences: list[Divergence] = []
        self.afresh: set[int] = set()
        """Units at which the player begins afresh, since it cannot be given the run's different past."""
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
        units: list[Unit] = []
        for index, step in enumerate(self.steps):
            number = self.unit_of(step.before) or index + 1
            if units and units[-1].number == number:
                units[-1] = Unit(number, units[-1].begin, index + 1)
            else:
                units.append(Unit(number, index, index + 1))
        return tuple(units)

    def before(self, index: int) -> Any:
        """The state in which a unit begins; the final state if `index` is the number of units."""
        return self.steps[self.units[index].begin].before if index < len(self.units) else self.steps.final

    @property
    def ended(self) -> bool:
        """Whether the record reaches the end of the game."""
        return not self.world.actors(self.steps.final)

    @property
    def redraws(self) -> bool:
        """Whether the world has other futures."""
        state = self.steps.opening
        return self.world.facets.explaining.redraw(state, 1) is not state

    def differing_units(self) -> list[int]:
        """The units in which run and player differ; all others are worth exactly 0."""
        units = enumerate(self._divergences)
        return [index for index, divergence in units if divergence.parted or index in self.afresh]

    def takeover_index(self, index: int) -> int:
        """The unit at which a takeover has the same effect as at `index`; a unit's own index here."""
        return index

    def headline(self, steps: Steps[Any]) -> Score:
        """The first score of the first scorer."""
        return self.world.scorers[0](steps)[0]

    def _trail(self, unit: Unit, state: Any, *, again: bool = False, without: Sequence[int] = ()) -> Trail:
        steps = self.steps[unit.begin : unit.end]
        return Trail(self.world, state, steps, self.unit_of, again=again, without=without)

    def _shadow(self, actor: str | None = None) -> Shadow:
        """The player of an actor before its first action; by default of the actor that is explained."""
        return Shadow(self.world, self._factory, actor or self.actor, self.steps.genesis, self.steps.opening)

    async def divergences(self) -> list[Divergence]:
        """The differences between the run and the player, one for each unit."""
        if not self._divergences:
            shadow = self._shadow()
            for index in range(len(self.units) + 1):
                self._copies[index] = shadow.copied()
                if self._copies[index] is None and any(divergence.parted for divergence in self._divergences):
                    self.afresh.add(index)
                if index < len(self.units):
                    self._divergences.append(await self._follow(shadow, index))
            for index in self.afresh - {len(self.units)}:
                unit, divergence = self.units[index], self._divergences[index]
                own = [step.entry.seq for step in self.steps[unit.begin : unit.end] if step.turn.actor == self.actor]
                begun = await self._follow(self._shadow(), index) if self.by_days else divergence
                self._divergences[index] = Divergence(own, begun.missed, divergence.parted)
        return self._divergences

    async def _follow(self, shadow: Shadow, index: int) -> Divergence:
        divergence = Divergence()
        await shadow.follow(self._trail(self.units[index], self.before(index)), divergence)
        return divergence

    async def _player_at(self, index: int) -> Shadow:
        """The player that has followed the record up to a unit."""
        await self.divergences()
        original = self._copies.get(index)
        if (copy := original.copied() if original else None) is not None:
            return copy
        shadow = self._shadow()
        for earlier in range(0 if index in self.afresh else index):
            await self._follow(shadow, earlier)
        return shadow

    async def value(self, branch: Branch) -> float:
        """The headline at the end of a branch."""
        shadow, divergence = await self._player_at(branch.record), Divergence()
        state = self.before(branch.record)
        steps: list[Step[Any]] = []
        for index in range(branch.record, branch.again):
            if index == branch.redrawn:
                state = self.world.facets.explaining.redraw(state, branch.salt)
            trail = self._trail(self.units[index], state, again=True, without=branch.without)
            await shadow.follow(trail, divergence)
            steps += trail.taken
            state = trail.state
        if branch.again in self.afresh or (divergence.parted and shadow.copied() is None):
            shadow = self._shadow()
        past = self.steps[: self.units[branch.record].begin] if branch.record < len(self.units) else list(self.steps)
        steps += await self._play_on(shadow, state, branch, len(past) + len(steps))
        return self.headline(Steps(self.steps.genesis, self.steps.opening, [*past, *steps])).value

    async def _play_on(self, shadow: Shadow, state: Any, branch: Branch, count: int) -> list[Step[Any]]:
        """The steps by which the player and the sub-agents that it calls finish the run."""
        world, steps = self.world, list[Step[Any]]()
        cap = self._cap if isinstance(self._cap, int) and self._cap else MOST_ACTIONS
        start = max(branch.record, branch.again)
        waiting = branch.redrawn >= start
        day = self.units[branch.redrawn].number if waiting and branch.redrawn < len(self.units) else None
        sub_agents: dict[str, Shadow] = {}
        while count < cap and (actors := world.actors(state)):
            if waiting and (branch.redrawn == start or (day is not None and (self.unit_of(state) or 0) >= day)):
                state, waiting = world.facets.explaining.redraw(state, branch.salt), False
            actor = actors[0]
            player = shadow if actor == self.actor else sub_agents.setdefault(actor, self._shadow(actor))
            action = await player.next_action(state)
            if action is None:
                break
            turn = Turn(count + 1, world.now(state) or self.steps[-1].entry.at, actor, action)
            steps.append(imagined_step(world, state, turn))
            player.answer(self._observed(steps[-1]))
            state, count = steps[-1].after, count + 1
        return steps

    def _observed(self, step: Step[Any]) -> Outcome:
        return self.world.facets.observation.observe(step.after, step.turn, step.outcome)
