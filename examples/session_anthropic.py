"""Anthropic's own client plays three days: `ANTHROPIC_API_KEY=... python examples/session_anthropic.py MODEL`."""

import sys

from anthropic import Anthropic

import akinai

with Anthropic() as client, akinai.open("vending", days=3) as session:
    request = {"messages": [{"role": "user", "content": session.view().text}], "tools": session.tools_for("anthropic")}
    while not session.done:
        reply = client.messages.create(model=sys.argv[1], max_tokens=4096, **request)
        request["messages"] += session.answer(reply)
print(session.run())
