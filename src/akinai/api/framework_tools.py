"""The actions of a session as the tools of other frameworks."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from akinai.api.seat import Playable, Seat
from akinai.core.errors import UnknownName, UsageError
from akinai.plugins import plugins

GROUP = "akinai.tools"
"""Entry points: a framework's name, and a function of a session that returns the framework's tools."""


def tools_for(session: Playable, framework: str) -> list[Any]:
    """All actions of a session's world as the tools of a framework; see `AsyncSession.tools_for`."""
    own: dict[str, Callable[[Playable], list[Any]]] = {
        "anthropic": _anthropic,
        "langchain": _langchain,
        "openai": _openai,
    }
    others = plugins(GROUP)
    if framework in own:
        return own[framework](session)
    if framework in others:
        return others[framework].load()(session)
    raise UnknownName("framework", framework, [*own, *others])


def _openai(session: Playable) -> list[Any]:
    return [{"type": "function", "function": tool} for tool in Seat(session).tools()]


def _anthropic(session: Playable) -> list[Any]:
    return [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
        for tool in Seat(session).tools()
    ]


def _langchain(session: Playable) -> list[Any]:
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as error:
        raise UsageError(f"LangChain is not installed ({error}); pip install 'akinai[models]'") from error
    seat, order = Seat(session), Lock()

    def make(tool: Mapping[str, Any]) -> Any:
        name: str = tool["name"]

        def act(**arguments: Any) -> str:
            with order:  # the calls of a reply come from a thread each
                return seat.answer(session.act(name, arguments)).text

        async def act_async(**arguments: Any) -> str:
            return seat.answer(await session.act(name, arguments)).text

        call: dict[str, Any] = {"coroutine": act_async} if is_async(session) else {"func": act}
        return StructuredTool(name=name, description=tool["description"], args_schema=tool["parameters"], **call)

    return [make(tool) for tool in seat.tools()]


def is_async(session: Playable) -> bool:
    """Whether the session is for asyncio."""
    return hasattr(session, "__aenter__")
