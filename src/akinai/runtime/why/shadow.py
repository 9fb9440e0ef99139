"""A player that shadows a record: it decides at each point, observes the recorded action, and can play on anywhere."""

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
    """An agent that learns from actions taken in its place.

    Beside other actors it plans anew after each, unless it has `goes_on`: True where its plan goes on and its own
    action is answered as not taken, False where it cannot be told and another one begins.
    """

    def watch(self, action: Action, outcome: Outcome) -> None:
        """Take note of an action of its actor that it did not decide; `outcome` is what its actor saw of it."""
        ...


@runtime_checkable
class Copies(Protocol):
    """An agent that can be copied at some times."""

    def copied(self) -> Agent | None:
        """An independent agent in the same state; None where it cannot be copied."""
        ...


@dataclass(slots=True)
class Divergence:
    """The differences between a record and its shadow player within a unit."""

    taken: list[int] = field(default_factory=list[int])
    """Entries that the player would not have made."""
    missed: list[Step[Any]] = field(default_factory=list[Step[Any]])
    """Decisions that the player would have taken instead, as steps that are in no ledger."""
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
        self._pending: Action | None = None

    def copied(self) -> "Shadow | None":
        """A shadow in the same state; None where the agent cannot be copied now."""
        agent = self._agent.copied() if isinstance(self._agent, Copies) and self._pending is None else None
        if agent is None or self._over:
            return None
        copy = shallow_copy(self)
        copy._agent = agent
        return copy

    async def next_action(self, state: Any) -> Action | None:
        """The player's next action in a state; None when it ends its run."""
        if self._pending is None and not self._over:
            last = self._last and self.world.facets.observation.observe_late(state, self.actor, self._last)
            try:
                move = await self._move(dated_view(self.world, state, self.actor), last)
            except EndRun:
                self._over = True
            else:
                self._pending = self.world.verbs.settled(move.action)
        return self._pending

    async def _move(self, view: View, last: Outcome | None) -> Move:
        return await self._agent.act(view, last)

    def answer(self, outcome: Outcome) -> None:
        """Give the player the outcome of its pending action."""
        self._last, self._pending = outcome, None

    async def follow(self, trail: "Trail", divergence: Divergence) -> None:
        """Take the actions of a unit of the record and answer the player with their outcomes."""
        answers = 0
        while trail.left:
            action = await self.next_action(trail.state)
            index = None if action is None else trail.find(self.actor, action)
            if action is not None and index is None and answers < MOST_ANSWERS:
                divergence.parted = True
                if (outcome := self._imagined(trail, action, divergence)) is not None:
                    answers += 1
                    self.answer(outcome)
                    continue
            if answers >= MOST_ANSWERS:
                self._begin()
            self._take(trail, index, divergence)

    def _take(self, trail: "Trail", index: int | None, divergence: Divergence) -> None:
        """Take the record's actions through `index`; without one, all that are left."""
        taken = trail.take(trail.end if index is None else index + 1)
        matched = index is not None and trail.at == index + 1
        last: Outcome | None = None
        for number, taken_step in enumerate(taken, 1):
            if taken_step.turn.actor != self.actor:
                continue
            last = self.world.facets.observation.observe(taken_step.after, taken_step.turn, taken_step.outcome)
            if matched and number == len(taken):
                break
            divergence.parted = True
            divergence.taken.append(taken_step.entry.seq)
            if isinstance(self._agent, Watches):
                self._agent.watch(taken_step.turn.action, last)
        if last is not None and self._pending is not None:
            self.answer(last)

    def _imagined(self, trail: "Trail", action: Action, divergence: Divergence) -> Outcome | None:
        """The outcome of an action that the record lacks: a look shows the state, a decision counts as not taken.

        None where the action would end the unit, as the record then does.
        """
        state, world = trail.state, self.world
        turn = Turn(0, trail.now, self.actor, action)
        imagined = imagined_step(world, state, turn)
        decides, ends = world.facets.explaining.decides(action), trail.ends(imagined.after)
        if decides and imagined.outcome.ok and not (ends and trail.by_days):
            divergence.missed.append(imagined)
        if ends:
            return None
        if not decides:
            return world.facets.observation.observe(imagined.after, turn, imagined.outcome)
        return world.facets.explaining.unmade(state, action)


class Trail:
    """A unit of a record, as it was or with its actions taken again from another state."""

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
        self.taken: list[Step[Any]] = []

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

    def find(self, actor: str, action: Action) -> int | None:
        """The index of an action among those that are left; None if it is not among them."""
        name = type(action).__name__
        document = None
        for index in range(self.at, self.end):
            entry = self._steps[index].entry
            if entry.name == name and entry.actor == actor:
                document = action.model_dump(mode="json") if document is None else document
                if entry.parameters == document:
                    return index
        return None

    def take(self, end: int) -> "list[Step[Any]]":
        """Take the actions before the index `end`."""
        taken: list[Step[Any]] = []
        while self.at < end and self.left:
            recorded = self._steps[self.at]
            new = self._take_again(recorded) if self._again else recorded
            taken.append(new)
            self.state, self.at = new.after, self.at + 1
        self.taken += taken
        return taken

    def _take_again(self, recorded: Step[Any]) -> Step[Any]:
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
