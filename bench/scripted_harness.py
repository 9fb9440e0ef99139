"""A harness of verifiers that plays given actions: a rollout without a model."""

import json
from typing import Any, ClassVar

import verifiers.v1 as vf
from mcp import Client

__all__ = ["ScriptedHarness"]


class ScriptedHarness(vf.Harness[vf.HarnessConfig]):
    """Calls the tools of a rollout with the actions in its variable ACTIONS.

    In the trace's `info` are what was offered, `tools` and `prompt`, and the answers, `texts`.
    """

    SUPPORTS_MCP: ClassVar[bool] = True
    EXECUTES_CODE: ClassVar[bool] = False
    NEEDS_CONTAINER: ClassVar[bool] = False
    APPENDS_SYSTEM_PROMPT: ClassVar[bool] = True

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
        tool_interception_url: str | None = None,
    ) -> vf.ProgramResult:
        texts: list[str] = []
        trace.info["prompt"] = data.system_prompt
        async with Client(next(iter(mcp_urls.values()))) as client:
            listed = await client.list_tools()
            trace.info["tools"] = [tool.model_dump(by_alias=True) for tool in listed.tools]
            for name, arguments in json.loads(self.config.env["ACTIONS"]):
                result = await client.call_tool(name, arguments)
                texts.append(f"{result.is_error} {result.content[0].text}")
        trace.info["texts"] = texts
        return vf.ProgramResult(0, "", "")
