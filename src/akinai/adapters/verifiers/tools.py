"""The tools of a rollout. verifiers starts `python -m akinai.adapters.verifiers.tools`, a process for each."""

# verifiers is not installed where types are checked.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUntypedFunctionDecorator=false

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Annotated, Any

import verifiers.v1 as vf
from pydantic import WithJsonSchema

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
        """Offer the actions as tools."""
        for tool in self.seat.tools():
            mcp.add_tool(self._with_state(self._tool(tool)), name=tool["name"], description=tool["description"])

    def _tool(self, tool: Mapping[str, Any]) -> Callable[..., Any]:
        schema: Mapping[str, Any] = tool["parameters"]
        required = schema.get("required", ())

        async def act(**arguments: Any) -> str:
            sent = {name: value for name, value in arguments.items() if name in required or value is not None}
            answer = await self.seat.settle(self.seat.act(tool["name"], sent))
            if answer.outcome is not None:
                await self._note()
            return answer.text

        act.__name__ = tool["name"]
        act.__signature__ = Signature(  # pyright: ignore[reportFunctionMemberAccess] - read by inspect.signature
            [_parameter(name, inner, name in required) for name, inner in schema.get("properties", {}).items()],
            return_annotation=str,
        )
        return act

    async def _note(self) -> None:
        session, state = self.seat.session, self.state
        state.run, state.done, state.ending = session.id, session.done, session.ending
        state.gained += session.reward
        if session.done:
            run = await session.run()
            state.digest, state.scores = run.digest, {score.name: float(score.value) for score in run.scores}


def _parameter(name: str, schema: Mapping[str, Any], required: bool) -> Parameter:
    """A keyword argument of any value: the world reads it. Text stays text, even where it looks like JSON."""
    kind = str if schema.get("type") == "string" else Any
    default = Parameter.empty if required else None
    return Parameter(
        name, Parameter.KEYWORD_ONLY, annotation=Annotated[kind, WithJsonSchema(dict(schema))], default=default
    )


if __name__ == "__main__":
    WorldTools.run()
