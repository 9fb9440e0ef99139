"""Branches of a run of several actors: its record up to an entry, then everybody's player plays the rest."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy as shallow_copy
from dataclasses import dataclass
from typing import Any

from akinai.core.actions import Action
from akinai.core.agents import AgentFactory, Move, View
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.scores import Score
from akinai.core.steps import Step, Steps
from akinai.core.worlds import World, participants
from akinai.runtime.play.agent_registry import seats_of
from akinai.runtime.why.branches import MOST_ACTIONS, Branch, Branches, actors_of
from akinai.runtime.why.shadow import MOST_ANSWERS, Divergence, Shadow, Watches, imagined_step

PACE_US = 1_000_000
"""Duration of an action in a branch of a world without a clock of its own."""
Call = tuple[View, Outcome | None] | tuple[Action, Outcome]
"""A call of an agent's `act` or `watch`: its two arguments."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a player after an entry."""

    calls: Sequence[Call]
    """A list that keeps growing; its first `count` calls bring a new player to this state."""
    count: int
    last: Outcome | None
    pending: Action | None
    """Its action that is not answered yet."""


class ParticipantShadow(Shadow):
    """The player of one of several actors. The same record leaves it in the same state."""

    def __init__(self, world: World[Any], factory: AgentFactory, actor: str, genesis: Genesis, opening: Any) -> None:
        super().__init__(world, factory, actor, genesis, opening)
        self._indices: list[int] = []
        self._moments: list[Moment] = []

    def _begin(self) -> None:
        super()._begin()
        self._calls: list[Call] = []

    async def _move(self, view: View, last: Outcome | None) -> Move:
        self._calls.append((view, last))
        return await super()._move(view, last)

    async def follow_entry(self, step: Step[Any], index: int) -> Divergence:
        """Go past an entry of its actor; returns how the player would have acted differently there."""
        action, divergence = await self._decision(step), Divergence()
        outcome = self.world.facets.observation.observe(step.after, step.turn, step.outcome)
        if action is not None and _is_entry(action, step):
            self.answer(outcome)
        else:
            divergence.parted, divergence.taken = True, [step.entry.seq]
            missed = None if action is None else self._imagine(step, action)
            divergence.missed = [missed] if missed is not None and missed.outcome.ok else []
            self._watch(step, outcome)
        self._indices.append(index)
        self._moments.append(Moment(self._calls, len(self._calls), self._last, self._pending))
        return divergence

    async def _decision(self, step: Step[Any]) -> Action | None:
        """The player's action in place of an entry; looks that the record lacks are answered from the state first."""
        explaining, action = self.world.facets.explaining, await self.next_action(step.before)
        for _ in range(MOST_ANSWERS):
            if action is None or explaining.decides(action) or explaining.waits(action) or _is_entry(action, step):
                break
            look = self._imagine(step, action)
            self.answer(self.world.facets.observation.observe(look.after, look.turn, look.outcome))
            action = await self.next_action(step.before)
        return action

    def _imagine(self, step: Step[Any], action: Action) -> Step[Any]:
        """The step of another action in place of an entry; no ledger holds it."""
        return imagined_step(self.world, step.before, Turn(0, step.turn.at, self.actor, action))

    def _watch(self, step: Step[Any], outcome: Outcome) -> None:
        goes_on, explaining = getattr(self._agent, "goes_on", None), self.world.facets.explaining
        if not isinstance(self._agent, Watches) or goes_on is False:
            self._begin()
            return
        self._calls.append((step.turn.action, outcome))
        self._agent.watch(step.turn.action, outcome)
        if not goes_on:
            self._pending = None
        elif self._pending is not None and not explaining.waits(self._pending):
            self.answer(explaining.unmade(step.before, self._pending))

    async def copy_before(self, index: int) -> "ParticipantShadow":
        """A shadow that knows the record before an entry and nothing after it."""
        copy = shallow_copy(self)
        copy._begin()
        copy._indices, copy._moments = [], []
        count = bisect_right(self._indices, index - 1)
        if count:
            moment = self._moments[count - 1]
            for first, second in moment.calls[: moment.count]:
                if isinstance(first, View):
                    await copy._agent.act(first, second)
                elif isinstance(copy._agent, Watches) and second is not None:
                    copy._agent.watch(first, second)
            copy._last, copy._pending = moment.last, moment.pending
        return copy


def _is_entry(action: Action, step: Step[Any]) -> bool:
    """Whether an action equals that of an entry."""
    entry = step.entry
    same = action == step.turn.action or action.model_dump(mode="json") == entry.parameters
    return type(action).__name__ == entry.name and same


class JointBranches(Branches):
    """Plays branches of a run of several actors, entry by entry.

    The player plays everybody except the actors that the world plays itself, and those for whom the settings name
    another player of the world. With an actor, which the player plays in any case, only its decisions count, and the
    headline is what it gained.
    """

    several = True

    def __init__(self, world: World[Any], steps: Steps[Any], player: str, actor: str | None = None) -> None:
        """UsageError for a run that cannot be explained, UnknownName for a player or an actor that is not there."""
        super().__init__(world, steps, player)
        self.followed = actor
        self._seats = dict(named_players(world, steps.genesis.setup))
        gain = world.facets.explaining.gain
        actors = [name for name in participants(world, steps.final) if gain(steps.final, name) is not None]
        if actor is not None and actor not in actors:
            raise UnknownName("actor", actor, actors)
        self._shadows: dict[str, ParticipantShadow] = {}
        self._differing: list[int] = []
        self._next_parting: list[int] = []

    def headline(self, steps: Steps[Any]) -> Score:
        """The first score, or the gain of the actor that is followed."""
        gain = self.world.facets.explaining.gain(steps.final, self.followed) if self.followed else None
        return super().headline(steps) if gain is None else gain

    async def divergences(self) -> list[Divergence]:
        if not self._divergences:
            for index, step in enumerate(self.steps):
                self._divergences.append(await self._shadow_of(step.turn.actor).follow_entry(step, index))
            self._next_parting = _next_parting(self._divergences)
            last = {step.turn.actor: index for index, step in enumerate(self.steps)}
            self._differing = [index for index in range(len(self.steps)) if self._matters(index, last)]
        return self._divergences

    def _matters(self, index: int, last: dict[str, int]) -> bool:
        """Whether somebody decided at an entry what its player would not have done, or let a decision pass."""
        step, divergence, explaining = self.steps[index], self._divergences[index], self.world.facets.explaining
        actor, action = step.turn.actor, step.turn.action
        if not divergence.taken or self.followed not in (None, actor):
            return False
        missed = any(explaining.decides(missed.turn.action) for missed in divergence.missed)
        passed = explaining.waits(action) or last[actor] == index
        return (step.outcome.ok and explaining.decides(action)) or (missed and passed)

    def differing_units(self) -> list[int]:
        return self._differing

    def takeover_index(self, index: int) -> int:
        """The first entry from here on at which a player parts from the record: before it both do the same."""
        return self._next_parting[index]

    def _shadow_of(self, actor: str) -> ParticipantShadow:
        if actor not in self._shadows:
            self._shadows[actor] = self._new_shadow(actor)
        return self._shadows[actor]

    def _new_shadow(self, actor: str) -> ParticipantShadow:
        final, seating = self.steps.final, self.world.facets.seating
        named = None if actor == self.followed else self._seats.get(seating.group(final, actor))
        factory: AgentFactory = (
            self.world.players[named] if named else seating.own_player(final, actor) or self._factory
        )
        return ParticipantShadow(self.world, factory, actor, self.steps.genesis, final)

    async def value(self, branch: Branch) -> float:
        played = await self.play_on(branch.record)
        past = self.steps[: branch.record]
        return self.headline(Steps(self.steps.genesis, self.steps.opening, [*past, *played])).value

    async def play_on(self, index: int) -> list[Step[Any]]:
        """The steps by which everybody's player finishes the run from an entry."""
        await self.divergences()
        world, state, steps = self.world, self.before(index), list[Step[Any]]()
        counts = Counter(recorded.turn.actor for recorded in self.steps[:index])
        cap = self._cap if isinstance(self._cap, int) and self._cap else MOST_ACTIONS
        queue, players = Queue(world, self.steps[index - 1].entry.at if index else 0), dict[str, ParticipantShadow]()
        while len(steps) < MOST_ACTIONS and (turn_of := queue.next(state)) is not None:
            actor, at = turn_of
            if actor not in players:
                players[actor] = await self._shadow_of(actor).copy_before(index)
            action = await players[actor].next_action(state) if counts[actor] < cap else None
            if action is None:
                break
            turn = Turn(index + len(steps) + 1, at, actor, action)
            steps.append(imagined_step(world, state, turn))
            players[actor].answer(self._observed(steps[-1]))
            counts[actor] += 1
            state = steps[-1].after
        return steps


def named_players(world: World[Any], setup: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """The players of the world that the settings name for single participants: (group, player)."""
    return [(group, agent) for group, agent in seats_of(world, setup).seat_agents if agent in world.players]


def open_branches(world: World[Any], steps: Steps[Any], player: str, actor: str | None = None) -> Branches:
    """The branches of a run, by days where it has one actor. Raises what their constructors raise."""
    if len(actors_of(world, steps)) != 1:
        return JointBranches(world, steps, player, actor)
    branches = Branches(world, steps, player)
    if actor not in (None, branches.actor):
        raise UnknownName("actor", actor, [branches.actor])
    return branches


def _next_parting(divergences: Sequence[Divergence]) -> list[int]:
    """For each entry, and the end of the record, the index of the first entry from there on that differs."""
    indices = [len(divergences)]
    for index in reversed(range(len(divergences))):
        indices.append(index if divergences[index].parted else indices[-1])
    return indices[::-1]


class Queue:
    """The order of turns. In a world without a clock of its own, every action takes equally long."""

    def __init__(self, world: World[Any], at: int) -> None:
        self.world, self._at = world, at
        self._due: dict[str, int] = {}

    def next(self, state: Any) -> tuple[str, int] | None:
        """The next actor and its time in microseconds; None when nobody will act."""
        actors, now = self.world.actors(state), self.world.now(state)
        if now is not None:
            return (actors[0], now) if actors else None
        alarms = self.world.facets.seating.wake_times(state)
        due = {actor: max(at, self._at) for actor, at in alarms.items()}
        due |= {actor: self._due.get(actor, self._at + PACE_US) for actor in actors}
        if not due:
            return None
        self._due = due
        actor = min(due, key=due.__getitem__)
        self._at = self._due.pop(actor)
        return actor, self._at
