"""An actor that repeats itself without effect is stuck, and its run ends."""

from typing import Any, NamedTuple

from akinai.core.actions import Action
from akinai.core.errors import EndRun
from akinai.core.ledger import Outcome
from akinai.core.worlds import World

STUCK = "stuck"
"""The ending of a run in which an actor repeated itself too often."""


class _Repeated(NamedTuple):
    """The last action of an actor, the code of its outcome, its place among all actions, and how often it was done."""

    action: Action
    code: str | None
    place: int
    times: int


class Repeats:
    """Counts how often each actor does the same in a row to no effect.

    To no effect is what is refused, a reply without a readable action included; and what leaves the state, or the facts
    that the world gives of it, as they were, while nobody else acts.
    """

    def __init__(self, world: World[Any], cap: int) -> None:
        """`cap` is how often an actor may do the same; 0 is without end."""
        self._facts, self._cap = world.facets.judging.facts, cap
        self._repeated: dict[str, _Repeated] = {}
        self._place = 0

    def expect_progress(self, actor: str, action: Action, outcome: Outcome, before: Any, after: Any) -> None:
        """Count an action that took the world from one state to another. EndRun as `stuck` when the cap is reached."""
        self.add(actor, action, outcome, before, after)
        if self._cap and self._repeated[actor].times >= self._cap:
            raise EndRun(STUCK)

    def add(self, actor: str, action: Action, outcome: Outcome, before: Any, after: Any) -> None:
        """Count an action."""
        self._place += 1
        last, times = self._repeated.get(actor), 1
        if last and outcome.code == last.code and type(action) is type(last.action) and action == last.action:
            alone = last.place == self._place - 1
            if not outcome.ok or (alone and self._same(before, after)):
                times = last.times + 1
        self._repeated[actor] = _Repeated(action, outcome.code, self._place, times)

    def _same(self, before: Any, after: Any) -> bool:
        if before is after:
            return True
        facts = self._facts(before)
        return bool(facts) and facts == self._facts(after)
