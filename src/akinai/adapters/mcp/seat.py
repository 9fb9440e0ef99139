"""A seat at a run as an MCP server: tools are the actions and `look`, resources ledger, scores and a playbook."""

import json
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from akinai.api.seat import LOOK, Answer, Seat
from akinai.api.session import AsyncSession
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.formats import to_json

TEXT = "akinai/text"
"""The key of a call's `_meta` that holds the text beside an action."""


PLAY = "play"
"""The prompt of MCP with which a conversation begins."""


class SeatServer:
    """An actor of a session with its sub-agents, or all actors that it holds, played by MCP clients.

    Several clients of a seat share its turns.
    """

    def __init__(self, seat: Seat[AsyncSession], *, playbook: Playbook | None = None) -> None:
        self._seat, self._playbook = seat, playbook

    def server(self) -> Server[Any]:
        """The server, whose instructions are the system prompt of the seat; it is a prompt of MCP as well."""
        learned = f" {self._uri('playbook')} holds what earlier runs taught." if self._playbook is not None else ""
        return Server(
            "akinai",
            title=f"Akinai: {self._seat.session.world.name}",
            instructions=f"{self._seat.prompt()}\n\nThe tool {LOOK} shows what you see.{learned}",
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        """All actions of the seat, since clients keep the list; what is not offered now is refused."""
        look = types.Tool(name=LOOK, description="See where you are. Takes no time.", input_schema={"type": "object"})
        return types.ListToolsResult(
            tools=[look]
            + [
                types.Tool(name=tool["name"], description=tool["description"], input_schema=tool["parameters"])
                for tool in self._seat.tools()
            ]
        )

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name == LOOK:
            return _result(self._seat.look())
        text: Any = (params.meta or {}).get(TEXT, "")
        acting = self._seat.act(params.name, params.arguments, text=text if isinstance(text, str) else "")
        return _result(await self._seat.settle(acting, errors=True))

    async def _list_prompts(self, context: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name=PLAY, description="How to play, and what you see.")])

    async def _get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PLAY:
            raise ValueError(f"no prompt {params.name!r:.200}; there is {PLAY}")
        text = types.TextContent(text=self._seat.prompt())
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    async def _list_resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        learned = types.Resource(
            uri=self._uri("playbook"),
            name="playbook",
            description="What earlier runs taught: sections of bullets.",
            mime_type="application/json",
        )
        return types.ListResourcesResult(
            resources=[
                *([learned] if self._playbook is not None else []),
                types.Resource(
                    uri=self._uri("ledger"),
                    name="ledger",
                    description="What you did and what came of it, an entry a line.",
                    mime_type="application/jsonl",
                ),
                types.Resource(
                    uri=self._uri("scores"),
                    name="scores",
                    description="The scores, once the run is over.",
                    mime_type="application/json",
                ),
            ]
        )

    async def _read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri == self._uri("ledger"):
            lines = ({"seq": entry.seq, "at": entry.at, **entry.data} for entry in await self._seat.entries())
            text, mime = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "application/jsonl"
        elif uri == self._uri("scores"):
            scores = await self._seat.session.scores() if self._seat.session.done else ()
            document = {score.name: score.to_json() for score in scores}
            text, mime = json.dumps({"done": self._seat.session.done, "scores": document}), "application/json"
        elif uri == self._uri("playbook") and self._playbook is not None:
            text, mime = json.dumps(to_json(self._playbook), ensure_ascii=False), "application/json"
        else:
            raise ValueError(f"no resource {uri!r:.200}; there is {self._uri('ledger')} and {self._uri('scores')}")
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=mime, text=text)])

    def _uri(self, name: str) -> str:
        return f"akinai://{self._seat.session.id}/{name}"


def _result(answer: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        _meta=answer.metadata,
        content=[types.TextContent(text=answer.text)],
        structured_content=answer.document,
        is_error=not answer.ok,
    )
