"""A model endpoint for tests: a real HTTP server on loopback that speaks OpenAI's and Anthropic's wires.

    with Endpoint(ScriptResponder([tool_call("advance_day"), "That was a good day."])) as endpoint:
        model = ChatOpenAI(model="test", base_url=endpoint.openai_url, api_key="none")

A `Responder` answers: a script, or a rule-based player that plays from the HTTP messages alone (the module `player`
explains what a client must send for that). `Faults` makes requests fail; the log records requests and answers. It
listens through Akinai's front, which needs `uvicorn` and `httptools` (the extra `server`), and can also run in a
process of its own, which prints its URL on the first line:
`python -m akinai.testing.endpoint --world vending --player reference --log FILE`.
"""

from akinai.testing.endpoint.faults import FaultKind, Faults
from akinai.testing.endpoint.log import Exchange, read_log
from akinai.testing.endpoint.player import PlayerResponder
from akinai.testing.endpoint.responders import ByModel, ScriptResponder, tool_call, world_responder
from akinai.testing.endpoint.server import Endpoint
from akinai.testing.endpoint.wires import ModelCall, Refused, Responder

__all__ = [
    "ByModel",
    "Endpoint",
    "Exchange",
    "FaultKind",
    "Faults",
    "ModelCall",
    "PlayerResponder",
    "Refused",
    "Responder",
    "ScriptResponder",
    "read_log",
    "tool_call",
    "world_responder",
]
