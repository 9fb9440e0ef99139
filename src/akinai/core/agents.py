"""Agent and Session: who decides, and where a decision is handed in."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol

from akinai.core.actions import Action
from akinai.core.errors import EndRun
from akinai.core.ledger import Outcome

SAID_LIMIT = 2000
"""Characters of the text beside an action that the ledger keeps."""


@dataclass(frozen=True, slots=True)
class View:
    """What an actor sees when it is its turn."""

    text: str
    verbs: tuple[type[Action], ...] = ()
    """What it may do now."""
    closed: str | None = None
    """Why it may do nothing, when it may not."""
    news: str = ""
    """The part of the text that came to it otherwise than as an answer: a sub-agent's report, a new task. Who remembers
    the text of its first view needs to read only this later."""
    now: int | None = None
    """When, in the world's own microseconds since the epoch; the session fills it in. None where its clock rules."""


@dataclass(frozen=True, slots=True)
class Move:
    """What an agent decided: an action and the text it put beside it."""

    action: Action
    said: str = ""


class Agent(Protocol):
    """Turns what it sees into a move."""

    async def act(self, view: View, heard: Outcome | None) -> Move:
        """Decide. `heard` is the answer to its last move, None before the first.

        Raises EndRun to end the run cleanly and AgentError when it cannot go on.
        """
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """What a playbook says to a situation."""

    text: str
    """The bullets as they go into a context; empty for none."""
    ids: tuple[str, ...] = ()
    """Of the bullets in the text, best first."""
    tokens: int = 0
    """Of the text."""


Lookup = Callable[[str], Found]
"""A playbook that is asked with a situation. The same questions in the same order have the same answers."""


@dataclass(frozen=True, slots=True)
class Role:
    """What an agent's factory is told of the part it is to play."""

    actor: str
    verbs: tuple[type[Action], ...]
    """All verbs of the part, whether open at the start or not."""
    group: str = ""
    """The side that it plays on, as `World.group` names it."""
    bullets: tuple[str, ...] = ()
    """What a playbook tells it, best first."""
    lookup: Lookup | None = None
    """A playbook that it may ask as it goes, in place of bullets."""


AgentFactory = Callable[[Role], Agent]

Plan = Generator[Action, Outcome, None]
"""What a rule-based player does: it yields actions and is sent what it hears of them."""


class Routine:
    """A rule-based agent written as a plan, from top to bottom; when it returns, the run ends as `script_over`."""

    def __init__(self, plan: Callable[["Routine"], Plan]) -> None:
        self.view: View = View("")
        """What it sees at this moment."""
        self._plan = plan(self)
        self._begun = False

    async def act(self, view: View, heard: Outcome | None) -> Move:
        self.view = view
        try:
            if self._begun and heard is not None:
                return Move(self._plan.send(heard))
            self._begun = True
            return Move(next(self._plan))
        except StopIteration:
            raise EndRun("script_over") from None


def player(plan: Callable[[Routine], Plan]) -> AgentFactory:
    """The factory of players that follow a plan, for `World.players`; it reads well as a decorator of the plan."""

    def factory(_: Role) -> Agent:
        return Routine(plan)

    factory.__doc__ = plan.__doc__
    return factory


class Session(Protocol):
    """Where an actor sees a view, hands in an action and hears the outcome; in this process or over HTTP."""

    async def view(self, actor: str) -> View:
        """What the actor sees now; free, and not recorded."""
        ...

    async def act(self, actor: str, move: Move) -> Outcome:
        """Hand in a move. It is answered when the entry is kept as durably as the session promises."""
        ...
