"""OpenAI's own client plays three days: `OPENAI_API_KEY=... python examples/session_openai.py gpt-5-mini`."""

import sys

from openai import OpenAI

import akinai

with OpenAI() as client, akinai.open("vending", days=3) as session:
    request = {"messages": [{"role": "user", "content": session.view().text}], "tools": session.tools_for("openai")}
    while not session.done:
        reply = client.chat.completions.create(model=sys.argv[1], **request)
        request["messages"] += session.answer(reply)
print(session.run())
