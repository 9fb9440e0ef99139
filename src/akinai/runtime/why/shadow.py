"""A player in the shadow of a record: it decides what it would do, is shown what was done, and can play on anywhere."""

from collections.abc import Sequence
from copy import copy as shallow_copy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from akinai.core.actions import Action
from akinai.core.agents import Agent, AgentFactory, Move, View
from akinai.core.errors import EndRun
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.steps import Step
from akinai.core.worlds import World, dated_view, make_agent, step

MOST_ANSWERS = 100
"""Actions of a unit that a player may want and the record lacks; then it begins afresh with the next unit."""


@runtime_checkable
class Watches(Protocol):
    """An agent that takes note of what was done in its place."""

    def watch(self, action: Action, outcome: Outcome) -> None:
        """Take note of an action of its actor that it did not decide; `outcome` is what its actor saw of it."""
        ...


@runtime_checkable
class Copies(Protocol):
    """An agent that can be copied at some times."""

    def copied(self) -> Agent | None:
        """Another agent that knows and does the same from here on; None where that cannot be."""
        ...


@dataclass(slots=True)
class Departures:
    """Where a record and the player in its shadow part within a unit."""

    taken: list[int] = field(default_factory=list[int])
    """Entries that the player would not have made."""
    missed: list[Step[Any]] = field(default_factory=list[Step[Any]])
    """Decisions that the player would have taken instead, each as a step that nobody made."""
    parted: bool = False
    """Whether anything differs, looks included."""


class Shadow:
    """The player of one actor. The same record leaves it in the same state."""

    def __init__(self, world: World[Any], factory: AgentFactory, actor: str, genesis: Genesis, opening: Any) -> None:
        self.world, self.actor = world, actor
        self._make = lambda: make_agent(world, factory, actor, genesis, opening)
        self._begin()

    def _begin(self) -> None:
        self._agent, self._over = self._make(), False
        self._last: Outcome | None = None
        self._wanted: Action | None = None

    def copied(self) -> "Shadow | None":
        """Another one in the same state; None where the agent cannot be copied now."""
        agent = self._agent.copied() if isinstance(self._agent, Copies) and self._wanted is None else None
        if agent is None or self._over:
            return None
        copy = shallow_copy(self)
        copy._agent = agent
        return copy

    async def wanted(self, state: Any) -> Action | None:
        """What the player does next in a state; None when it ends its run."""
        if self._wanted is None and not self._over:
            last = self._last and self.world.facets.observation.observe_late(state, self.actor, self._last)
            try:
                move = await self._move(dated_view(self.world, state, self.actor), last)
            except EndRun:
                self._over = True
            else:
                self._wanted = self.world.verbs.settled(move.action)
        return self._wanted

    async def _move(self, view: View, last: Outcome | None) -> Move:
        return await self._agent.act(view, last)

    def answer(self, outcome: Outcome) -> None:
        """The outcome of what it wanted."""
        self._last, self._wanted = outcome, None

    async def follow(self, trail: "Trail", departures: Departures) -> None:
        """Go through a unit of the record: take its actions, and answer the player from them."""
        answers = 0
        while trail.left:
            wanted = await self.wanted(trail.state)
            place = None if wanted is None else trail.find(self.actor, wanted)
            if wanted is not None and place is None and answers < MOST_ANSWERS:
                departures.parted = True
                if (outcome := self._imagined(trail, wanted, departures)) is not None:
                    answers += 1
                    self.answer(outcome)
                    continue
            if answers >= MOST_ANSWERS:
                self._begin()
            self._take(trail, place, departures)

    def _take(self, trail: "Trail", place: int | None, departures: Departures) -> None:
        """Take the record's actions up to the one that was wanted, or all that are left."""
        taken = trail.take(trail.end if place is None else place + 1)
        matched = place is not None and trail.at == place + 1
        last: Outcome | None = None
        for number, made in enumerate(taken, 1):
            if made.turn.actor != self.actor:
                continue
            last = self.world.facets.observation.observe(made.after, made.turn, made.outcome)
            if matched and number == len(taken):
                break
            departures.parted = True
            departures.taken.append(made.entry.seq)
            if isinstance(self._agent, Watches):
                self._agent.watch(made.turn.action, last)
        if last is not None and self._wanted is not None:
            self.answer(last)

    def _imagined(self, trail: "Trail", wanted: Action, departures: Departures) -> Outcome | None:
        """The answer to an action that the record lacks: to a look what it would have shown, to a decision that it was
        not taken. None where it would end the unit, as the record then does."""
        state, world = trail.state, self.world
        turn = Turn(0, trail.now, self.actor, wanted)
        imagined = imagined_step(world, state, turn)
        decides, ends = world.facets.explaining.decides(wanted), trail.ends(imagined.after)
        if decides and imagined.outcome.ok and not (ends and trail.by_days):
            departures.missed.append(imagined)
        if ends:
            return None
        if not decides:
            return world.facets.observation.observe(imagined.after, turn, imagined.outcome)
        return world.facets.explaining.unmade(state, wanted)


class Trail:
    """A unit of a record, as it was, or with its actions taken again from another state."""

    def __init__(
        self,
        world: World[Any],
        state: Any,
        steps: Sequence[Step[Any]],
        unit_of: "UnitOf",
        *,
        again: bool = False,
        without: Sequence[int] = (),
    ) -> None:
        self.world, self.state, self.at = world, state, 0
        self._again, self._unit_of = again, unit_of
        self._unit = unit_of(state)
        self._steps = [step for step in steps if step.entry.seq not in without]
        self.made: list[Step[Any]] = []

    @property
    def end(self) -> int:
        return len(self._steps)

    @property
    def left(self) -> bool:
        """Whether actions are left that can be taken."""
        over = self._again and not self.world.actors(self.state)
        return self.at < self.end and not over

    @property
    def now(self) -> int:
        """The time of an action that would be taken now."""
        now = self.world.now(self.state)
        return self._steps[min(self.at, self.end - 1)].entry.at if now is None else now

    @property
    def by_days(self) -> bool:
        """Whether the unit is a day."""
        return self._unit is not None

    def ends(self, after: Any) -> bool:
        """Whether a state lies beyond the unit; without a clock every action does."""
        return self._unit is None or self._unit_of(after) != self._unit

    def find(self, actor: str, wanted: Action) -> int | None:
        """The place of an action among those that are left; None where it is not."""
        name = type(wanted).__name__
        document = None
        for place in range(self.at, self.end):
            entry = self._steps[place].entry
            if entry.name == name and entry.actor == actor:
                document = wanted.model_dump(mode="json") if document is None else document
                if entry.parameters == document:
                    return place
        return None

    def take(self, end: int) -> "list[Step[Any]]":
        """Take the actions up to a place, excluded."""
        taken: list[Step[Any]] = []
        while self.at < end and self.left:
            recorded = self._steps[self.at]
            made = self._made_again(recorded) if self._again else recorded
            taken.append(made)
            self.state, self.at = made.after, self.at + 1
        self.made += taken
        return taken

    def _made_again(self, recorded: Step[Any]) -> Step[Any]:
        now, turn = self.world.now(self.state), recorded.turn
        turn = turn if now is None else replace(turn, at=now)
        after, outcome = step(self.world, self.state, turn)
        return Step(self.state, replace(recorded.entry, outcome=outcome), turn, outcome, after)


class UnitOf(Protocol):
    """The number of the unit that a state lies in; None in a world without a clock."""

    def __call__(self, state: Any) -> int | None: ...


def imagined_step(world: World[Any], state: Any, turn: Turn) -> Step[Any]:
    """A step that no ledger holds: its entry has no digest."""
    after, outcome = step(world, state, turn)
    parameters = turn.action.model_dump(mode="json")
    entry = Entry(turn.seq, turn.at, turn.actor, type(turn.action).__name__, parameters, outcome, "", "", "")
    return Step(state, entry, turn, outcome, after)
