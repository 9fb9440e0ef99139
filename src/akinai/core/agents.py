"""Agent and Session: the code that decides for an actor, and where its moves go."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from akinai.core.actions import Action, Unreadable
from akinai.core.canonical import keepable
from akinai.core.errors import EndRun
from akinai.core.ledger import Genesis, Outcome
from akinai.core.models import END_THINK, THINK, marked_thinking
from akinai.core.presentation.voice import Voice

SAID_LIMIT = 2000
"""Characters of the text beside an action that the ledger keeps, its thoughts included."""
THOUGHTS_LIMIT = 1000
"""Characters of a model's thoughts that the ledger keeps, the last ones: what they come to. The trace has all."""


def owner_of(actor: str) -> str:
    """The actor whose seat an actor plays in: "owner" for its sub-agent "owner/email-1", others for themselves."""
    return actor.partition("/")[0]


def is_sub_agent(actor: str) -> bool:
    """Whether an actor was opened by another one, such as "owner/email-1"."""
    return "/" in actor


@dataclass(frozen=True, slots=True)
class View:
    """The text and the verbs that an actor gets before its move."""

    text: str
    verbs: tuple[type[Action], ...] = ()
    """The verbs that it may use now."""
    closed: str | None = None
    """Why it may not act; None when it may."""
    news: str = ""
    """The part of the text that did not come as an answer: a sub-agent's report, a new task. An agent that
    remembers the text of its first view needs to read only this later."""
    now: int | None = None
    """The world's time in microseconds since the epoch, set by the session. None where the session's clock rules."""


@dataclass(frozen=True, slots=True)
class Move:
    """An agent's decision: an action and the text beside it."""

    action: Action
    said: str = ""
    thoughts: str = ""
    """What a model thought before it, which decides nothing: from its reply, or from a field of its server. The ledger
    keeps it marked in the text beside the action."""


class Said(NamedTuple):
    """The text beside a recorded action, and the thoughts before it."""

    text: str
    thoughts: str


def said_beside(move: Move) -> str:
    """The text beside an action as the ledger stores it: thoughts between marks, then the text, both capped.

    Characters that no store can hold are replaced. Thoughts in an unreadable reply stand in the reply alone.
    """
    if not (move.said or move.thoughts):
        return ""
    again = isinstance(move.action, Unreadable) and move.thoughts in move.action.text
    thoughts = "" if again else marked_thinking(move.thoughts, THOUGHTS_LIMIT)
    return keepable("\n".join(filter(None, (thoughts, move.said)))[:SAID_LIMIT])


def split_said(said: str) -> Said:
    """The two parts of what the ledger keeps beside an action."""
    thoughts, end, text = said.partition(END_THINK)
    if not said.startswith(THINK) or not end:
        return Said(said, "")
    return Said(text.removeprefix("\n"), thoughts.removeprefix(THINK))


class Agent(Protocol):
    """Turns what it sees into a move."""

    async def act(self, view: View, last: Outcome | None) -> Move:
        """Decide. `last` is the outcome of its previous move, None before the first.

        Raises EndRun to end the run cleanly and AgentError when it cannot go on.
        """
        ...


@dataclass(frozen=True, slots=True)
class RetrievedBullets:
    """The bullets of a playbook that a search returns."""

    text: str
    """The bullets as they go into a context; empty for none."""
    ids: tuple[str, ...] = ()
    """Ids of the bullets in the text, best first."""
    tokens: int = 0
    """Tokens of the text."""


Lookup = Callable[[str], RetrievedBullets]
"""Searches a playbook for a situation. The same searches in the same order have the same results."""


@dataclass(frozen=True, slots=True)
class Role:
    """The part that an agent is to play, as its factory gets it."""

    actor: str
    verbs: tuple[type[Action], ...]
    """All verbs of the part, also those that it may not use at the start."""
    group: str = ""
    """The side that it plays on, as `Seating.group` names it."""
    bullets: tuple[str, ...] = ()
    """Bullets of a playbook, best first: each a sentence, or a sentence with the record of its lesson
    (`core.lessons.split_record`)."""
    lookup: Lookup | None = None
    """A playbook that it may search as it plays, in place of bullets."""
    genesis: Genesis | None = None
    """All that decides the run, for yardsticks: factories with `yardstick = True`. None for other players."""
    voice: Voice | None = None
    """The words for a person: factories with `person = True`. None for other players."""


AgentFactory = Callable[[Role], Agent]

Plan = Generator[Action, Outcome, None]
"""The course of a rule-based player: it yields actions and is sent their outcomes."""


class Routine:
    """A rule-based agent that follows a plan; when the plan returns, the run ends as `script_over`."""

    def __init__(self, plan: Callable[["Routine"], Plan]) -> None:
        self.view: View = View("")
        """Its present view."""
        self._make_plan = plan
        self.restart()

    def restart(self) -> None:
        """Follow the plan from its beginning, with the next view."""
        self._plan = self._make_plan(self)
        self._begun = False

    async def act(self, view: View, last: Outcome | None) -> Move:
        self.view = view
        try:
            if self._begun and last is not None:
                return Move(self._plan.send(last))
            self._begun = True
            return Move(next(self._plan))
        except StopIteration:
            raise EndRun("script_over") from None


def player(plan: Callable[[Routine], Plan]) -> AgentFactory:
    """A decorator that turns a plan into the factory of its players, for `World.players`."""

    def factory(_: Role) -> Agent:
        return Routine(plan)

    factory.__doc__ = plan.__doc__
    return factory


class Session(Protocol):
    """Where an actor sees a view, hands in an action and gets the outcome; in this process or over HTTP."""

    async def view(self, actor: str) -> View:
        """The present view of an actor. Free; not recorded."""
        ...

    async def act(self, actor: str, move: Move) -> Outcome:
        """Hand in a move. Returns its outcome once the entry is as durable as the session promises."""
        ...
