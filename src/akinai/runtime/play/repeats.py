"""Detects actors that repeat an action without effect: they are stuck, and their run ends."""

from typing import Any, NamedTuple

from akinai.core.actions import Action
from akinai.core.errors import EndRun
from akinai.core.ledger import Outcome
from akinai.core.worlds import World

STUCK = "stuck"
"""The ending of a run in which an actor repeated itself too often."""


class _Repeated(NamedTuple):
    """The last action of an actor, its outcome's code, its number among all actions, and its repetitions."""

    action: Action
    code: str | None
    number: int
    times: int


class Repeats:
    """Counts how often in a row each actor repeats an action without effect.

    An action has no effect if it is refused (an unreadable reply included), or if it leaves the state, or the world's
    facts about it, unchanged while nobody else acts.
    """

    def __init__(self, world: World[Any], cap: int) -> None:
        """`cap` is how often an actor may repeat an action; 0 for no limit."""
        self._facts, self._cap = world.facets.judging.facts, cap
        self._repeated: dict[str, _Repeated] = {}
        self._count = 0

    def expect_progress(self, actor: str, action: Action, outcome: Outcome, before: Any, after: Any) -> None:
        """Count an action that took the world from one state to another. EndRun as `stuck` when the cap is reached."""
        self.add(actor, action, outcome, before, after)
        if self._cap and self._repeated[actor].times >= self._cap:
            raise EndRun(STUCK)

    def add(self, actor: str, action: Action, outcome: Outcome, before: Any, after: Any) -> None:
        """Count an action."""
        self._count += 1
        last, times = self._repeated.get(actor), 1
        if last and outcome.code == last.code and type(action) is type(last.action) and action == last.action:
            alone = last.number == self._count - 1
            if not outcome.ok or (alone and self._same(before, after)):
                times = last.times + 1
        self._repeated[actor] = _Repeated(action, outcome.code, self._count, times)

    def _same(self, before: Any, after: Any) -> bool:
        if before is after:
            return True
        facts = self._facts(before)
        return bool(facts) and facts == self._facts(after)
