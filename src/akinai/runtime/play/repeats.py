"""Detects actors that go nowhere: that repeat an action without effect, or whose replies cannot be read."""

from typing import Any, NamedTuple

from akinai.core.actions import Action, Unreadable
from akinai.core.errors import EndRun
from akinai.core.ledger import Outcome
from akinai.core.worlds import World

STUCK = "stuck"
"""The ending of a run in which an actor repeated itself too often."""
UNREADABLE = "unreadable"
"""The ending of a run in which an actor wrote that many replies in a row without a readable action; or which a limit
ended when more than half of its entries were such replies."""


REFUSALS_A_REPEAT = 3
"""An actor that is refused so many times as often in a row as it may repeat itself is stuck too, whatever it tries."""


class _Repeated(NamedTuple):
    """The last action of an actor, its outcome's code, its number among all actions, and its repetitions."""

    action: Action
    code: str | None
    number: int
    times: int


class UnreadReplies(NamedTuple):
    """The replies of an actor in which no action could be read."""

    actor: str
    replies: int
    entries: int
    """All entries of the run, by all actors."""
    why: str
    """The refusal of the last one."""


class Repeats:
    """Counts how often in a row each actor repeats an action without effect.

    An action has no effect if it is refused, or if it leaves the state, or the world's facts about it, unchanged while
    nobody else acts. All unreadable replies are one action. Refusals of different actions in a row count as well.
    """

    def __init__(self, world: World[Any], cap: int) -> None:
        """`cap` is how often an actor may repeat an action; 0 for no limit."""
        self._facts, self._cap = world.facets.judging.facts, cap
        self._repeated: dict[str, _Repeated] = {}
        self._unread: dict[str, tuple[int, str]] = {}
        """By actor, its unreadable replies and why the last one was refused."""
        self._refused: dict[str, int] = {}
        """By actor, its refusals since its last accepted action."""
        self._count = 0

    @property
    def mostly_unread(self) -> bool:
        """Whether more than half of all entries are unreadable replies."""
        return 2 * sum(count for count, _ in self._unread.values()) > self._count

    @property
    def unread(self) -> UnreadReplies | None:
        """The actor with most unreadable replies; None where all could be read."""
        counts = ((count, actor, why) for actor, (count, why) in self._unread.items())
        count, actor, why = max(counts, default=(0, "", ""))
        return UnreadReplies(actor, count, self._count, why) if count else None

    def expect_progress(self, actor: str, action: Action, outcome: Outcome, before: Any, after: Any) -> None:
        """Count an action that took the world from one state to another.

        EndRun as `stuck`, or as `unreadable`, when the cap is reached.
        """
        self.add(actor, action, outcome, before, after)
        if self._cap and self._repeated[actor].times >= self._cap:
            raise EndRun(UNREADABLE if _is_unread(action) else STUCK)
        if self._cap and self._refused[actor] >= REFUSALS_A_REPEAT * self._cap:
            raise EndRun(STUCK)

    def add(self, actor: str, action: Action, outcome: Outcome, before: Any, after: Any) -> None:
        """Count an action."""
        self._count += 1
        self._refused[actor] = 0 if outcome.ok else self._refused.get(actor, 0) + 1
        last, times = self._repeated.get(actor), 1
        if isinstance(action, Unreadable) and _is_unread(action):
            self._unread[actor] = (self._unread.get(actor, (0, ""))[0] + 1, action.why)
            times = last.times + 1 if last and _is_unread(last.action) else 1
        elif last and outcome.code == last.code and type(action) is type(last.action) and action == last.action:
            alone = last.number == self._count - 1
            if not outcome.ok or (alone and self._same(before, after)):
                times = last.times + 1
        self._repeated[actor] = _Repeated(action, outcome.code, self._count, times)

    def _same(self, before: Any, after: Any) -> bool:
        if before is after:
            return True
        facts = self._facts(before)
        return bool(facts) and facts == self._facts(after)


def _is_unread(action: Action) -> bool:
    """Whether no action could be read in a reply; an action with bad parameters could."""
    return isinstance(action, Unreadable) and action.code == "no_action"
