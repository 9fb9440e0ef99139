"""Seat: the place of an actor in a run, as every adapter plays it. docs/design/seats.md gives the reasons."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from akinai.agents.protocols import outcome_text
from akinai.core.actions import Action
from akinai.core.agents import Move, View, is_sub_agent, owner_of
from akinai.core.canonical import Json
from akinai.core.errors import AkinaiError, EndRun
from akinai.core.ledger import Entry, Outcome
from akinai.core.replies.moves import read_move
from akinai.core.worlds import World
from akinai.runtime.runs.records import Run

LOOK = "look"
"""The request for the view, which takes no time and is not recorded."""
OVER = "over"
"""The code of an action after the end of the run."""
FAILED = "failed"
"""The code of an action that the session could not take."""
REWARD = "akinai/reward"
"""The key of an answer's metadata that holds what the action changed of the first score, in its unit."""

Wait = bool | Literal["own"]


class Playable(Protocol):
    """A session as a seat needs it, of either kind."""

    @property
    def world(self) -> World[Any]: ...
    @property
    def held(self) -> Sequence[str]: ...
    @property
    def actors(self) -> Sequence[str]: ...
    @property
    def reward(self) -> float: ...
    @property
    def done(self) -> bool: ...
    @property
    def ending(self) -> str | None: ...
    def view(self, actor: str | None = None) -> View: ...
    def verbs(self, actor: str | None = None) -> Sequence[type[Action]]: ...
    def prompt(self, actor: str | None = None) -> str: ...
    def act(self, name: str, arguments: Mapping[str, Any] | None = None, /) -> Any: ...


class AsyncPlayable(Playable, Protocol):
    """A session for asyncio."""

    async def act(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        text: str = "",
        actor: str | None = None,
        wait: Wait = True,
    ) -> Outcome: ...
    async def take(self, move: Move, actor: str | None = None, wait: Wait = True) -> Outcome: ...
    async def run(self) -> Run: ...


P_co = TypeVar("P_co", bound=Playable, covariant=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to an action: text for a model, data for a program."""

    text: str
    ok: bool
    done: bool
    """Whether the run is over."""
    code: str | None = None
    """Why it was refused."""
    outcome: Outcome | None = None
    """The outcome of the action; None where none was taken."""
    reward: float | None = None
    """What the action changed of the first score, in its unit; None where none was taken."""

    @property
    def document(self) -> dict[str, Json]:
        """The answer as JSON, without its text."""
        document: dict[str, Json] = {"ok": self.ok}
        if self.outcome is not None:
            document |= {"code": self.code, "data": self.outcome.data}
        elif not self.ok:
            document["code"] = self.code
        return {**document, "done": self.done}

    @property
    def metadata(self) -> dict[str, Any] | None:
        """The facts that models are not shown; None where no action was taken."""
        return None if self.reward is None else {REWARD: self.reward}


class Seat(Generic[P_co]):
    """An actor of a session with its sub-agents, or every actor that is held, each when its turn comes.

    Outcomes become answers here: with them a model reads another actor's turn, news, and the end of the run.
    """

    def __init__(self, session: P_co, actor: str | None = None) -> None:
        """`actor` None is every actor that is held."""
        self.session, self.actor = session, actor
        self._last_actor = self.on_turn()
        self._last_news = ""

    @property
    def wait(self) -> Wait:
        """The turn that an action waits for: one of this seat, or of anybody held."""
        return "own" if self.actor else True

    def plays(self, actor: str) -> bool:
        """Whether an actor belongs to the seat."""
        return self.actor is None or owner_of(actor) == self.actor

    def on_turn(self) -> str | None:
        """The actor of the seat that may act now, or else that an action waits for; None where anybody may be next."""
        return next(filter(self.plays, self.session.actors), self.actor)

    def prompt(self) -> str:
        """The system prompt with which a conversation begins: how one acts, and what the actor sees."""
        return self.session.prompt(self.actor)

    def tools(self) -> list[dict[str, Any]]:
        """All actions of the seat, those that are not offered now included: most clients take their tools once."""
        return [verb.tool(inline=True) for verb in self.session.verbs(self.actor)]

    def offered(self) -> list[str]:
        """Names of the tools that may be used now."""
        verbs = () if self.session.done else self.session.view().verbs or self.session.world.verbs.classes
        return [verb.tool_name() for verb in verbs]

    def look(self) -> Answer:
        """The view of the actor on turn; after the end, why the run is over."""
        if self.session.done:
            return Answer(self._ending(), ok=True, done=True)
        view = self.session.view(self.on_turn())
        return Answer(view.text if view.closed is None else f"{view.text}\n\n{view.closed}", ok=True, done=False)

    def over(self) -> Answer:
        """The answer to an action after the end of the run."""
        return Answer(self._ending(), ok=False, done=True, code=OVER)

    def answer(self, outcome: Outcome) -> Answer:
        """An outcome, a refusal with its code, and what else has happened since the last answer."""
        text = "\n\n".join([outcome_text(outcome), *self._changes()])
        return Answer(text, outcome.ok, self.session.done, outcome.code, outcome, self.session.reward)

    async def act(
        self: "Seat[AsyncPlayable]", name: str, arguments: Mapping[str, Any] | None = None, /, *, text: str = ""
    ) -> Answer:
        """Take an action for the actor on turn; raises as `AsyncSession.act` does."""
        outcome = await self.session.act(name, arguments, text=text, actor=self.on_turn(), wait=self.wait)
        return self.answer(outcome)

    async def take(self: "Seat[AsyncPlayable]", move: Move) -> Answer:
        """Hand in a move for the actor on turn; raises as `AsyncSession.act` does."""
        return self.answer(await self.session.take(move, self.on_turn(), self.wait))

    async def settle(self, acting: Awaitable[Answer], *, errors: bool = False) -> Answer:
        """The answer of `act` or `take`; after the end of the run the answer says so. `errors`: so for its errors."""
        try:
            return await acting
        except EndRun:
            return self.over()
        except AkinaiError as error:
            if not errors:
                raise
            return Answer(str(error), ok=False, done=self.session.done, code=FAILED)

    def read(self, text: str) -> Move:
        """The move in a text that holds a JSON object; one that the rules refuse where it holds none."""
        return read_move(self.session.world.verbs, text)

    async def entries(self: "Seat[AsyncPlayable]") -> list[Entry]:
        """The entries of this seat in the ledger as it stands."""
        return [entry for entry in (await self.session.run()).ledger.entries if self.plays(entry.actor)]

    def _ending(self) -> str:
        return f"The run is over: {self.session.ending or 'it failed'}."

    def _changes(self) -> Sequence[str]:
        if self.session.done:
            return [self._ending()]
        actor = self.on_turn()
        view = self.session.view(actor)
        news = [view.news] if view.news and view.news != self._last_news else []
        changed = actor != self._last_actor
        self._last_actor, self._last_news = actor, view.news
        if not changed or actor is None:
            return news
        return [f"You act for {actor} now.", *([view.text] if is_sub_agent(actor) or self.actor is None else news)]


def own_actors(session: Playable) -> list[str]:
    """The actors with a seat of their own; sub-agents play in that of their owner."""
    return [actor for actor in session.held if not is_sub_agent(actor)]
