"""An AutoGen assistant plays three days: `OPENAI_API_KEY=... python examples/session_autogen.py gpt-5-mini`."""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent

import akinai
from akinai.adapters.autogen import openai_client

with akinai.open("vending", days=3) as session:
    client = openai_client(sys.argv[1])
    agent = AssistantAgent("owner", client, tools=session.tools_for("autogen"), max_tool_iterations=1000)
    asyncio.run(agent.run(task=session.view().text))
print(session.run())
