"""The tools of a rollout. verifiers starts `python -m akinai.adapters.verifiers.tools`, a process for each."""

# verifiers is not installed where types are checked.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUntypedFunctionDecorator=false

from typing import Any

import mcp_types as types
import verifiers.v1 as vf

from akinai.api.opening import aopen
from akinai.api.seat import Seat
from akinai.api.session import AsyncSession


class WorldState(vf.State):
    """The run as it stands, which the task scores."""

    run: str = ""
    """Its name in the store."""
    gained: float = 0.0
    """The first score less the one that the run began with: the sum of the rewards."""
    done: bool = False
    ending: str | None = None
    digest: str = ""
    """The digest of the record, once the run is over."""
    scores: dict[str, float] = {}
    """Once the run is over."""


class WorldTools(vf.Toolset[vf.ToolsetConfig, WorldState]):
    """The actions of a run, all of them: what is not offered now is refused."""

    TOOL_PREFIX = None
    seat: Seat[AsyncSession]

    async def setup_task(self, task: Any) -> None:
        """Open the run of a task."""
        self.seat = Seat(await self._exit_stack.enter_async_context(await aopen(task.world, **task.options)))

    def register(self, mcp: Any) -> None:
        """Offer the actions as tools. Calls come as they are sent: the rules refuse what they cannot read."""
        mcp.list_tools = self._list_tools
        mcp.call_tool = self._with_state(self._call_tool)

    async def _list_tools(self) -> list[Any]:
        return [
            types.Tool(name=tool["name"], description=tool["description"], input_schema=tool["parameters"])
            for tool in self.seat.tools()
        ]

    async def _call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        answer = await self.seat.settle(self.seat.act(name, arguments))
        if answer.outcome is not None:
            await self._note()
        return types.CallToolResult(content=[types.TextContent(text=answer.text)], is_error=not answer.ok)

    async def _note(self) -> None:
        session, state = self.seat.session, self.state
        state.run, state.done, state.ending = session.id, session.done, session.ending
        state.gained += session.reward
        if session.done:
            run = await session.run()
            state.digest, state.scores = run.digest, {score.name: float(score.value) for score in run.scores}


if __name__ == "__main__":
    WorldTools.run()
