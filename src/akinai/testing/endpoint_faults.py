"""What can go wrong between a client and a model, by kind, and when it does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

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
    "cut_in_body",  # the connection is cut after the headers, amid the body
    "malformed",  # 200 with a body that is not JSON
]
"""The client gets no reply; sent again, the request gets the one it would have got."""
ReplyFault = Literal[
    "unknown_tool",  # a call of a tool that was not offered
    "prose",  # text without a call
    "empty",  # neither text nor calls
    "huge",  # 1 MB of text without a call
    "bad_arguments",  # a call of an offered tool with arguments that are not JSON
    "several_calls",  # two calls: one of an unknown tool, then the first of the brain's own
]
"""The client gets another reply than the brain's, or more than it."""
FaultKind = HttpFault | ReplyFault | Literal["slow"]
"""A slow request gets its right answer, `slow_s` later."""

HTTP_FAULTS: tuple[HttpFault, ...] = get_args(HttpFault)
REPLY_FAULTS: tuple[ReplyFault, ...] = get_args(ReplyFault)
KINDS: tuple[FaultKind, ...] = (*HTTP_FAULTS, *REPLY_FAULTS, "slow")

STATUS: Mapping[FaultKind, int] = {"rate_limit": 429, "rate_limit_wait": 429, "server_error": 500, "overloaded": 529}
HUGE_BYTES = 1_000_000
UNKNOWN_TOOL = "consult_oracle"
BROKEN_JSON = '{"quantity": twelve, row 2}'
PROSE = "Let me think about what the business needs before I do anything else."


@dataclass(frozen=True)
class Faults:
    """Which requests go wrong, and how. Decided by the seed, the conversation and the request's number in it alone.

    So 50 runs at once see the same faults as the 50 one after another.
    """

    rate: float = 0.0
    """Of all requests, the share that goes wrong, in [0, 1]."""
    kinds: Sequence[FaultKind] = KINDS
    """What is drawn from, each alike."""
    seed: int = 0
    schedule: Mapping[int, FaultKind] = field(default_factory=dict[int, FaultKind])
    """By number of the request in its conversation, from 1: these go wrong whatever the rate says."""
    retry_after_s: float = 1.0
    slow_s: float = 2.0

    def of(self, key: str, nth: int) -> FaultKind | None:
        """What goes wrong with the n-th request of a conversation, None when nothing does."""
        if nth in self.schedule:
            return self.schedule[nth]
        if not self.rate or not self.kinds:
            return None
        chance = Chance.of(self.seed)("fault", key, nth)
        if chance("whether").uniform() >= self.rate:
            return None
        return self.kinds[chance("kind").below(len(self.kinds))]


def replacing(kind: FaultKind | None) -> bool:
    """Whether the client gets a reply in which nothing is left of the brain's."""
    return kind in REPLY_FAULTS and kind != "several_calls"


def faulty(kind: FaultKind | None, reply: Reply, tools: Sequence[Mapping[str, Json]], nth: int) -> Reply:
    """The reply that the client gets in place of the brain's: as calls, or as JSON text where no tools are offered."""
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
