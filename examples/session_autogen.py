"""An AutoGen assistant plays three days: `OPENAI_API_KEY=... python examples/session_autogen.py gpt-5-mini`."""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent

import akinai
from akinai.adapters.autogen import openai_client


async def main() -> None:
    async with await akinai.aopen("vending", days=3) as session:
        parts = {"tools": session.tools_for("autogen"), "system_message": session.view().text}
        agent = AssistantAgent("owner", openai_client(sys.argv[1]), max_tool_iterations=1000, **parts)
        await agent.run(task="Run the business to its end.")
    print(await session.run())


asyncio.run(main())
