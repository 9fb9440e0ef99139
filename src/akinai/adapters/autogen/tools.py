"""A session's actions as AutoGen's tools, for `session.tools_for("autogen")`."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from akinai.adapters.autogen.framework import BaseTool, CancellationToken
from akinai.api.framework_tools import is_async
from akinai.api.seat import Playable, Seat
from akinai.core.errors import EndRun

Take = Callable[[str, Mapping[str, Any], CancellationToken], Awaitable[str]]


class Arguments(BaseModel):
    """The arguments of any action; the world reads them."""

    model_config = ConfigDict(extra="allow")


class ActionTool(BaseTool[Arguments, str]):
    """An action of a session. Its result is what a model reads of the outcome."""

    def __init__(self, tool: Mapping[str, Any], take: Take) -> None:
        super().__init__(Arguments, str, tool["name"], tool["description"])
        self._parameters, self._take = tool["parameters"], take

    @property
    def schema(self) -> Any:
        """The action's own schema."""
        return {"name": self.name, "description": self.description, "parameters": self._parameters, "strict": False}

    async def run(self, args: Arguments, cancellation_token: CancellationToken) -> str:
        """Take the action."""
        return await self._take(self.name, args.model_dump(), cancellation_token)

    async def run_json(
        self, args: Mapping[str, Any], cancellation_token: CancellationToken, call_id: str | None = None
    ) -> str:
        """Take the action with the arguments as the model wrote them."""
        return await self._take(self.name, args, cancellation_token)


def tools(session: Playable) -> list[Any]:
    """All actions of a session as tools that act by themselves. Calls that a reply makes at once are taken in order.

    A call after the end of the run cancels the assistant's loop, once the last call of its reply is answered: AutoGen
    makes a result of an exception, and waits for ever for a tool that is cancelled.
    """
    seat, order, waiting = Seat(session), asyncio.Lock(), Counter[str]()

    async def take(name: str, arguments: Mapping[str, Any], loop: CancellationToken) -> str:
        waiting["calls"] += 1
        try:
            async with order:
                if is_async(session):
                    return seat.answer(await session.act(name, arguments)).text
                return seat.answer(await asyncio.to_thread(session.act, name, arguments)).text
        except EndRun:
            if waiting["calls"] == 1:
                asyncio.get_running_loop().call_soon(loop.cancel)
            return seat.over().text
        finally:
            waiting["calls"] -= 1

    return [ActionTool(tool, take) for tool in seat.tools()]
