"""What a run of a model will take, before money is spent."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from akinai.agents.memory import estimated_tokens
from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.models import Message, Usage
from akinai.core.worlds import World
from akinai.runtime.cast import Cast
from akinai.runtime.prices import Price

WINDOW_TOKENS = 30_000
"""What a model sees of its past at most, as in arXiv 2502.15840."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What is known or assumed of the runs that are to be played."""

    max_messages: int = 0
    """0 where days end the run."""
    messages: int = 0
    """What an actor is expected to make of them; 0 where days tell it."""
    days: int = 0
    """0 where the cap on messages ends it."""
    messages_a_day: float = 0
    window_tokens: int = WINDOW_TOKENS
    tokens_at_first: int = 0
    """Of the first request: system prompt, tools, first view."""
    tokens_a_message: int = 300
    """By which the conversation grows with a message: the reply and what is heard of it."""
    tokens_a_reply: int = 100
    seconds_a_call: float = 5.0
    runs: int = 1
    """Conversations: one for each run, or for each actor of each run."""
    at_once: int = 1
    """Those that are held side by side."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What to expect of all runs together; one call is reckoned for every message, so it errs on the high side."""

    messages: int
    usage: Usage
    hours: float
    dollars: float | None
    """None where the price is not known. No token is reckoned as cached."""

    def to_json(self) -> dict[str, Json]:
        told = asdict(self)
        usage = told.pop("usage")
        return {**told, "tokens": {"input": usage["input"], "output": usage["output"]}}


def estimate(load: Workload, price: Price | None = None) -> Estimate:
    """What the runs of a workload will take.

    messages: the cap, days x messages a day, or what is expected, whichever is least. UsageError where none is given.
    input tokens: the n-th call reads min(window, first + (n - 1) x growth), summed over all messages.
    output tokens: messages x tokens a reply. hours: messages x seconds a call, x runs / runs at once, rounded up.
    """
    messages = _messages(load)
    each = Usage(_input_tokens(messages, load), messages * load.tokens_a_reply)
    usage = Usage(each.input * load.runs, each.output * load.runs)
    rounds = math.ceil(load.runs / max(1, load.at_once))
    return Estimate(
        messages=messages * load.runs,
        usage=usage,
        hours=messages * load.seconds_a_call * rounds / 3600,
        dollars=None if price is None else price.dollars(usage),
    )


def together(parts: Sequence[Estimate]) -> Estimate:
    """What several sides take that think at the same time: their sums, and the longest of their hours."""
    dollars = [part.dollars for part in parts if part.dollars is not None]
    return Estimate(
        messages=sum(part.messages for part in parts),
        usage=sum((part.usage for part in parts), Usage()),
        hours=max((part.hours for part in parts), default=0.0),
        dollars=sum(dollars) if len(dollars) == len(parts) else None,
    )


@dataclass(frozen=True, slots=True)
class Side:
    """Actors of one run that a model plays."""

    model: str
    actors: int
    messages: int
    """Expected of each, rounded up; 0 where days tell it."""
    tokens_at_first: int
    """Of the longest of their first requests."""


def sides(world: World[Any], genesis: Genesis, cast: Cast) -> Sequence[Side]:
    """Who thinks in a run."""
    state, found = world.begin(genesis), dict[str, list[str]]()
    for actor in world.everybody(state):
        choice = cast.choice(world.group(state, actor))
        if choice and world.own_player(state, actor) is None:
            found.setdefault(choice.name, []).append(actor)
    return [_side(world, state, model, actors) for model, actors in found.items()]


def _side(world: World[Any], state: object, model: str, actors: Sequence[str]) -> Side:
    views = [world.view(state, actor) for actor in actors]
    longest = max(views, key=lambda view: len(view.text))
    first = longest.text + "".join(str(verb.tool()) for verb in longest.verbs or world.verbs.classes)
    messages = math.ceil(sum(world.expected_messages(state, actor) for actor in actors) / len(actors))
    return Side(model, len(actors), messages, estimated_tokens(Message("system", first)))


def _messages(load: Workload) -> int:
    by_days = math.ceil(load.days * load.messages_a_day)
    limits = [limit for limit in (load.max_messages, by_days, load.messages) if limit]
    if not limits:
        raise UsageError("nothing says how long the run is; give --max-messages, or days and messages a day")
    return min(limits)


def _input_tokens(messages: int, load: Workload) -> int:
    """The sum over n of min(window, first + (n - 1) x growth), without the loop."""
    room = max(0, load.window_tokens - load.tokens_at_first)
    growing = messages if not load.tokens_a_message else min(messages, room // load.tokens_a_message + 1)
    growing = growing if room else 0
    grown = growing * load.tokens_at_first + load.tokens_a_message * growing * (growing - 1) // 2
    return grown + (messages - growing) * load.window_tokens
