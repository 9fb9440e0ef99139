"""OpenAI's own client plays three days: `OPENAI_API_KEY=... python examples/session_openai.py gpt-5-mini`."""

import sys
from typing import Any

from openai import OpenAI

import akinai

with akinai.open("vending", days=3) as session:
    messages: list[Any] = [{"role": "user", "content": session.view().text}]
    while not session.done:
        reply = OpenAI().chat.completions.create(
            model=sys.argv[1], messages=messages, tools=session.tools_for("openai"), tool_choice="required"
        )
        messages.append(reply.choices[0].message)
        for call in reply.choices[0].message.tool_calls or ():
            text = session.call(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
print(session.run())
