"""The actions of a session as the tools of other frameworks, and what their models read of an outcome."""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from threading import Lock
from typing import Any, Protocol

from akinai.agents.protocols import outcome_text
from akinai.core.agents import View, is_sub_agent, owner_of
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Outcome
from akinai.core.worlds import World

GROUP = "akinai.tools"
"""Entry points: a framework's name, and a function of a session that returns the framework's tools."""


class Playable(Protocol):
    """What tools need of a session, of either kind."""

    @property
    def world(self) -> World[Any]: ...
    @property
    def actors(self) -> Sequence[str]: ...
    @property
    def done(self) -> bool: ...
    @property
    def ending(self) -> str | None: ...
    def view(self, actor: str | None = None) -> View: ...
    def act(self, name: str, arguments: Mapping[str, Any] | None = None, /) -> Any: ...


class Narrator:
    """Turns outcomes into what a model reads: with them another actor's turn, news, and the end of the run."""

    def __init__(self, session: Playable, seat: str | None = None) -> None:
        """`seat`: the actor that is played, with its sub-agents; None for every actor that is held."""
        self._session, self._seat = session, seat
        self._actor = self.on_turn()
        self._news: str = ""

    def plays(self, actor: str) -> bool:
        """Whether an actor belongs to the seat."""
        return self._seat is None or owner_of(actor) == self._seat

    def on_turn(self) -> str | None:
        """The actor of the seat that may act now, or else that a call waits for; None where anybody may be next."""
        return next(filter(self.plays, self._session.actors), self._seat)

    def tell(self, outcome: Outcome) -> str:
        """An outcome, a refusal with its code, and what else has happened since the last."""
        return "\n\n".join([outcome_text(outcome), *self._changes()])

    def look(self) -> str:
        """What the actor on turn sees; after the end, why the run is over."""
        if self._session.done:
            return self.over()
        view = self._session.view(self.on_turn())
        return view.text if view.closed is None else f"{view.text}\n\n{view.closed}"

    def over(self) -> str:
        """Why the run is over."""
        return f"The run is over: {self._session.ending or 'it failed'}."

    def _changes(self) -> Sequence[str]:
        if self._session.done:
            return [self.over()]
        actor = self.on_turn()
        view = self._session.view(actor)
        news = [view.news] if view.news and view.news != self._news else []
        changed = actor != self._actor
        self._actor, self._news = actor, view.news
        if not changed or actor is None:
            return news
        return [f"You act for {actor} now.", *([view.text] if is_sub_agent(actor) or self._seat is None else news)]


def tools_for(session: Playable, framework: str) -> list[Any]:
    """All actions of a session's world as the tools of a framework; see `AsyncSession.tools_for`."""
    own: dict[str, Callable[[Playable], list[Any]]] = {
        "anthropic": _anthropic,
        "langchain": _langchain,
        "openai": _openai,
    }
    plugins = {entry.name: entry for entry in entry_points(group=GROUP)}
    if framework in own:
        return own[framework](session)
    if framework in plugins:
        return plugins[framework].load()(session)
    raise UnknownName("framework", framework, [*own, *plugins])


def inline_tools(session: Playable) -> list[dict[str, Any]]:
    """All actions of the world, those that are not offered now included: such loops take their tools once."""
    return [verb.tool(inline=True) for verb in session.world.verbs.classes]


def _openai(session: Playable) -> list[Any]:
    return [{"type": "function", "function": tool} for tool in inline_tools(session)]


def _anthropic(session: Playable) -> list[Any]:
    return [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
        for tool in inline_tools(session)
    ]


def _langchain(session: Playable) -> list[Any]:
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as error:
        raise UsageError(f"LangChain is not installed ({error}); pip install 'akinai[models]'") from error
    narrator, order = Narrator(session), Lock()

    def make(tool: Mapping[str, Any]) -> Any:
        name: str = tool["name"]

        def act(**arguments: Any) -> str:
            with order:  # the calls of a reply come from a thread each
                return narrator.tell(session.act(name, arguments))

        async def act_async(**arguments: Any) -> str:
            return narrator.tell(await session.act(name, arguments))

        call: dict[str, Any] = {"coroutine": act_async} if is_async(session) else {"func": act}
        return StructuredTool(name=name, description=tool["description"], args_schema=tool["parameters"], **call)

    return [make(tool) for tool in inline_tools(session)]


def is_async(session: Playable) -> bool:
    """Whether the session is for asyncio."""
    return hasattr(session, "__aenter__")


def parsed(arguments: str | Mapping[str, Any] | None) -> Any:
    """The arguments of a tool call that may be JSON text; text that is no JSON object is refused by `act`."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments
