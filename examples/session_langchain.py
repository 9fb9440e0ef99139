"""A LangGraph agent plays three days: `OPENAI_API_KEY=... python examples/session_langchain.py openai:gpt-5-mini`."""

import sys

from langchain.agents import create_agent

import akinai

with akinai.open("vending", days=3) as session:
    agent = create_agent(sys.argv[1], session.tools_for("langchain"), system_prompt=session.view().text)
    agent.invoke({"messages": [("user", "Run the business to its end.")]}, {"recursion_limit": 1000})
print(session.run())
