"""Faults between a client and a model: their kinds, the choice of the requests that they hit, and faulty replies."""

import json
import pprint
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

from akinai.core.canonical import Json
from akinai.core.chance import Chance
from akinai.core.models import Reply, ToolCall

HttpFault = Literal[
    "rate_limit",  # 429
    "rate_limit_wait",  # 429 with Retry-After
    "server_error",  # 500
    "overloaded",  # 529
    "hang",  # no answer until the client gives up
    "cut",  # the connection is cut before the headers
    "cut_in_body",  # the connection is cut in the middle of the body
    "malformed",  # 200 with a body that is not JSON
]
"""The client gets no reply; when it sends the request again, it gets the right one."""
ReplyFault = Literal[
    "unknown_tool",  # a call of a tool that was not offered
    "prose",  # text without a call
    "empty",  # neither text nor calls
    "huge",  # 1 MB of text without a call
    "bad_arguments",  # a call of an offered tool with arguments that are not JSON
    "several_calls",  # a call of an unknown tool, then the calls of the right reply
]
"""The client gets a wrong reply in place of the responder's, or in addition to it."""
FaultKind = HttpFault | ReplyFault | Literal["slow", "untidy"]
"""A slow request gets its right answer `slow_s` later; an untidy answer is the right one in one of 20 shapes in which
models write objects, of which three cannot be read."""

HTTP_FAULTS: tuple[HttpFault, ...] = get_args(HttpFault)
REPLY_FAULTS: tuple[ReplyFault, ...] = get_args(ReplyFault)
KINDS: tuple[FaultKind, ...] = (*HTTP_FAULTS, *REPLY_FAULTS, "slow")
"""The kinds that are drawn by default."""
EVERY_KIND: tuple[FaultKind, ...] = (*KINDS, "untidy")

STATUS: Mapping[FaultKind, int] = {"rate_limit": 429, "rate_limit_wait": 429, "server_error": 500, "overloaded": 529}
HUGE_BYTES = 1_000_000
UNKNOWN_TOOL = "consult_oracle"
BROKEN_JSON = '{"quantity": twelve, row 2}'
PROSE = "Let me think about what the business needs before I do anything else."


@dataclass(frozen=True)
class Faults:
    """The choice of faults for requests.

    It depends only on the seed, the conversation and the request's number in it, so that 50 concurrent runs see the
    same faults as 50 runs in sequence.
    """

    rate: float = 0.0
    """Share of the requests that go wrong, in [0, 1]."""
    kinds: Sequence[FaultKind] = KINDS
    """The kinds that are drawn, with equal probability."""
    seed: int = 0
    schedule: Mapping[int, FaultKind] = field(default_factory=dict[int, FaultKind])
    """Faults by the 1-based number of the request in its conversation. They happen whatever the rate."""
    retry_after_s: float = 1.0
    slow_s: float = 2.0

    def kind_for(self, key: str, nth: int) -> FaultKind | None:
        """The fault of the n-th request of a conversation; None when it is answered correctly."""
        if nth in self.schedule:
            return self.schedule[nth]
        if not self.rate or not self.kinds:
            return None
        chance = Chance.of(self.seed)("fault", key, nth)
        if chance("whether").uniform() >= self.rate:
            return None
        return self.kinds[chance("kind").below(len(self.kinds))]


def replaces_reply(kind: FaultKind | None) -> bool:
    """Whether nothing of the responder's reply reaches the client."""
    return kind in REPLY_FAULTS and kind != "several_calls"


def apply_fault(kind: FaultKind | None, reply: Reply, tools: Sequence[Mapping[str, Json]], nth: int) -> Reply:
    """The reply with a fault: tool calls, or JSON text where no tools are offered. Unchanged for other faults."""
    unknown = ToolCall(f"fault_{nth}", UNKNOWN_TOOL, {"question": "what next?"})
    match kind:
        case "unknown_tool":
            return (
                Reply("", (unknown,)) if tools else Reply(f'{{"action": "{UNKNOWN_TOOL}", "question": "what next?"}}')
            )
        case "prose":
            return Reply(PROSE)
        case "empty":
            return Reply("")
        case "huge":
            return Reply("word " * (HUGE_BYTES // 5))
        case "bad_arguments":
            if not tools:
                return Reply(f'{{"action": "{UNKNOWN_TOOL}", {BROKEN_JSON[1:]}')
            return Reply("", (replace(unknown, name=str(tools[0]["name"]), arguments=BROKEN_JSON),))
        case "several_calls":
            return replace(reply, calls=(unknown, *reply.calls)) if tools else reply
        case _:
            return reply


Shape = Callable[[dict[str, Any]], str]

_NEAR_NAMES = {"answer": "final_answer", "key_insight": "insight", "operations": "ops", "bullet_ids": "bulletIds"}


def _text(value: Mapping[str, Any] | list[dict[str, Any]]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _draft(fields: dict[str, Any]) -> dict[str, Any]:
    """A draft of the object, with other values and missing fields."""
    return {name: "not sure yet" if isinstance(value, str) else [] for name, value in list(fields.items())[-1:]}


def _example(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: "..." if isinstance(value, str) else ["..."] for name, value in fields.items()}


def _with_commas(fields: dict[str, Any]) -> str:
    """Trailing commas, one field a line."""
    inside = "".join(f"  {json.dumps(name)}: {_text(value)},\n" for name, value in fields.items())
    return f"{{\n{inside}}}"


UNTIDY_SHAPES: Mapping[str, Shape] = {
    "fenced": lambda o: f"```json\n{json.dumps(o, indent=2, ensure_ascii=False)}\n```",
    "fenced_plainly": lambda o: f"```\n{_text(o)}\n```",
    "prose_before": lambda o: f"Let me look at the bullets first. None of [1, 2] applies.\n\n{_text(o)}",
    "prose_after": lambda o: f"{_text(o)}\n\nLet me know if {{anything}} is unclear!",
    "prose_around": lambda o: f"Sure! Here it is:\n\n```json\n{_text(o)}\n```\n\nI hope this helps.",
    "draft_before": lambda o: f"First thought: {_text(_draft(o))}\nOn reflection:\n{_text(o)}",
    "example_after": lambda o: f"{_text(o)}\n\n(The form was {_text(_example(o))}.)",
    "trailing_commas": _with_commas,
    "python": lambda o: pprint.pformat(o, width=100, sort_dicts=False),
    "list_of_one": lambda o: _text([o]),
    "near_names": lambda o: _text({_NEAR_NAMES.get(name, name): value for name, value in o.items()}),
    "thoughts": lambda o: f"<think>\nPerhaps {_text(_draft(o))}? No.\n</think>\n\n{_text(o)}",
    "thoughts_unopened": lambda o: f"Perhaps {_text(_example(o))}? No.\n</think>\n{_text(o)}",
    "wrapped": lambda o: _text({"response": o}),
    "commented": lambda o: _with_commas(o).replace(",\n", ",  // as asked\n"),
    "text_of_json": lambda o: json.dumps(_text(o), ensure_ascii=False),
    "twice": lambda o: f"{_text(o)}\n\nAgain, the same:\n\n{_text(o)}",
    "truncated": lambda o: _text(o)[:-3],
    "two_answers": lambda o: f"{_text(o)}\nor\n{_text(dict.fromkeys(o, 'another'))}",
    "refusal": lambda o: "I'm sorry, but I can't answer that.",
}
"""By name: a function from the right object to a model's reply. The last three replies cannot be read."""


def untidy(reply: Reply, digest: str) -> Reply:
    """The reply in a shape that the digest of its request chooses. One that is no JSON object is left alone."""
    try:
        value: object = json.loads(reply.text)
    except ValueError:
        return reply
    if reply.calls or not isinstance(value, dict):
        return reply
    fields = cast("dict[str, Any]", value)
    name = [*UNTIDY_SHAPES][int(digest[:8], 16) % len(UNTIDY_SHAPES)]
    return replace(reply, text=UNTIDY_SHAPES[name](fields), finish="length" if name == "truncated" else reply.finish)
