"""Anthropic's own client plays three days: `ANTHROPIC_API_KEY=... python examples/session_anthropic.py MODEL`."""

import sys
from typing import Any

from anthropic import Anthropic

import akinai

with akinai.open("vending", days=3) as session:
    messages: list[Any] = [{"role": "user", "content": session.view().text}]
    while not session.done:
        reply = Anthropic().messages.create(
            model=sys.argv[1], max_tokens=4096, messages=messages, tools=session.tools_for("anthropic")
        )
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": session.call(block.name, block.input)}
            for block in reply.content
            if block.type == "tool_use"
        ]
        messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]
print(session.run())
