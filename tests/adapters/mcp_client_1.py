"""Plays a list of actions with the client of mcp 1.x, in an environment of its own: argv is a URL, or a command line."""

import asyncio
import json
import sys
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def main(words: list[str], actions: list[Any]) -> None:
    over_http = words[0].startswith("http")
    transport: Any = (
        streamablehttp_client(words[0])
        if over_http
        else stdio_client(StdioServerParameters(command=words[0], args=words[1:]))
    )
    async with transport as streams, ClientSession(streams[0], streams[1]) as session:
        begun = await session.initialize()
        tools = (await session.list_tools()).tools
        for name, arguments in actions:
            result = await session.call_tool(name, arguments)
        report = {"tools": len(tools), "last": result.structuredContent, "instructions": begun.instructions}
        sys.stdout.write(json.dumps(report))


asyncio.run(main(sys.argv[1:], json.load(sys.stdin)))
