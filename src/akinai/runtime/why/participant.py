"""A participant's player in the shadow of a run of several: it can be made again as it was at any entry."""

from bisect import bisect_right
from collections.abc import Sequence
from copy import copy as shallow_copy
from dataclasses import dataclass
from typing import Any

from akinai.core.actions import Action
from akinai.core.agents import AgentFactory, Move, View
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.steps import Step
from akinai.core.worlds import World
from akinai.runtime.why.shadow import MOST_ANSWERS, Departures, Shadow, Watches, imagined_step

Call = tuple[View, Outcome | None] | tuple[Action, Outcome]
"""What an agent was asked, or what it watched."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What a player knew after an entry."""

    calls: Sequence[Call]
    """The list that goes on growing; the first `count` of it brought the player there."""
    count: int
    last: Outcome | None


class ParticipantShadow(Shadow):
    """The player of one of several actors. The same record leaves it in the same state."""

    def __init__(self, world: World[Any], factory: AgentFactory, actor: str, genesis: Genesis, opening: Any) -> None:
        super().__init__(world, factory, actor, genesis, opening)
        self._places: list[int] = []
        self._moments: list[Moment] = []

    def _begin(self) -> None:
        super()._begin()
        self._calls: list[Call] = []

    async def _move(self, view: View, last: Outcome | None) -> Move:
        self._calls.append((view, last))
        return await super()._move(view, last)

    async def follow_entry(self, made: Step[Any], place: int) -> Departures:
        """Go past an entry of its actor: what the player would have done there, and what it missed."""
        wanted, found = await self._decision(made), Departures()
        seen = self.world.facets.observation.observe(made.after, made.turn, made.outcome)
        if wanted is not None and _is_entry(wanted, made):
            self.answer(seen)
        else:
            found.parted, found.taken = True, [made.entry.seq]
            missed = None if wanted is None else self._instead(made, wanted)
            found.missed = [missed] if missed is not None and missed.outcome.ok else []
            self._watch(made.turn.action, seen)
        self._places.append(place)
        self._moments.append(Moment(self._calls, len(self._calls), self._last))
        return found

    async def _decision(self, made: Step[Any]) -> Action | None:
        """What it does in place of an entry, after the looks that the record lacks: they show it the state."""
        explaining, wanted = self.world.facets.explaining, await self.wanted(made.before)
        for _ in range(MOST_ANSWERS):
            if wanted is None or explaining.decides(wanted) or explaining.waits(wanted) or _is_entry(wanted, made):
                break
            looked = self._instead(made, wanted)
            self.answer(self.world.facets.observation.observe(looked.after, looked.turn, looked.outcome))
            wanted = await self.wanted(made.before)
        return wanted

    def _instead(self, made: Step[Any], wanted: Action) -> Step[Any]:
        """An action in the place of an entry, as a step that nobody made."""
        return imagined_step(self.world, made.before, Turn(0, made.turn.at, self.actor, wanted))

    def _watch(self, action: Action, seen: Outcome) -> None:
        if isinstance(self._agent, Watches):
            self._calls.append((action, seen))
            self._agent.watch(action, seen)
            self._wanted = None
        else:
            self._begin()

    async def at(self, place: int) -> "ParticipantShadow":
        """Another one that knows the record up to an entry, excluded, and nothing after it."""
        other = shallow_copy(self)
        other._begin()
        other._places, other._moments = [], []
        at = bisect_right(self._places, place - 1)
        if at:
            moment = self._moments[at - 1]
            for first, second in moment.calls[: moment.count]:
                if isinstance(first, View):
                    await other._agent.act(first, second)
                elif isinstance(other._agent, Watches) and second is not None:
                    other._agent.watch(first, second)
            other._last = moment.last
        return other


def _is_entry(wanted: Action, made: Step[Any]) -> bool:
    """Whether an action is the one that was taken."""
    entry = made.entry
    same = wanted == made.turn.action or wanted.model_dump(mode="json") == entry.parameters
    return type(wanted).__name__ == entry.name and same
