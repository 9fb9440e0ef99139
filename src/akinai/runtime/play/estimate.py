"""Estimates of the calls, tokens, time and money of a run, made before it is played."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from akinai.agents.chat import estimated_tokens, instructions
from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.models import Message, Usage
from akinai.core.worlds import World, participants
from akinai.runtime.config.settings import prepare
from akinai.runtime.models.budget import Price, known_prices
from akinai.runtime.play.agent_spec import CHARACTERS_A_TOKEN, AgentSpec

WINDOW_TOKENS = 30_000
"""The context window, as in arXiv 2502.15840."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Known and assumed properties of the planned runs."""

    max_messages: int = 0
    """The cap on an actor's actions; 0 where days end the run."""
    messages: int = 0
    """Expected actions of an actor; 0 where days decide."""
    days: int = 0
    """0 where the cap on actions ends the run."""
    messages_a_day: float = 0
    window_tokens: int = WINDOW_TOKENS
    tokens_at_first: int = 0
    """Tokens of the first request: system prompt, tools, first view."""
    tokens_a_message: int = 300
    """Growth of the conversation with each action: the reply and its outcome."""
    tokens_a_reply: int = 100
    seconds_a_call: float = 5.0
    runs: int = 1
    """Conversations: one for each run, or for each actor of each run."""
    at_once: int = 1
    """Number of simultaneous conversations."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Expected totals of all runs. Every action counts as one call, so the estimate is rather high."""

    messages: int
    usage: Usage
    hours: float
    dollars: float | None
    """None if the price is not known. No token counts as cached."""
    sides: tuple["Side", ...] = ()
    """The actors that models play."""
    uncounted: tuple[str, ...] = ()
    """Groups whose models are asked as the game goes, such as suppliers as letters come; nothing tells how often."""

    def to_json(self) -> dict[str, Json]:
        tokens: Json = {"input": self.usage.input, "output": self.usage.output}
        return {"messages": self.messages, "hours": self.hours, "dollars": self.dollars, "tokens": tokens}


def estimate(load: Workload, price: Price | None = None) -> Estimate:
    """The estimate of a workload.

    messages: the least of the cap, days x messages a day, and the expected number. UsageError where none is given.
    input tokens: the n-th call reads min(window, first + (n - 1) x growth), summed over all messages.
    output tokens: messages x tokens a reply. hours: messages x seconds a call, x runs / runs at once, rounded up.
    """
    messages = _messages(load)
    usage_a_run = Usage(_input_tokens(messages, load), messages * load.tokens_a_reply)
    usage = Usage(usage_a_run.input * load.runs, usage_a_run.output * load.runs)
    rounds = math.ceil(load.runs / max(1, load.at_once))
    return Estimate(
        messages=messages * load.runs,
        usage=usage,
        hours=messages * load.seconds_a_call * rounds / 3600,
        dollars=None if price is None else price.dollars(usage),
    )


SECONDS_PER_CALL = 5.0
MESSAGES_PER_DAY = 10
PARALLEL_RUNS = 64
"""Default number of runs that wait for models at the same time."""


def estimate_runs(
    world: World[Any],
    spec: AgentSpec,
    seeds: Sequence[int],
    *,
    preset: str | None = None,
    days: int | None = None,
    settings: Mapping[str, Any] | Sequence[str] = (),
    jobs: int | None = None,
    messages_a_day: int = MESSAGES_PER_DAY,
) -> Estimate:
    """Estimate the runs of an agent on these seeds. UsageError if no model plays."""
    setup = prepare(world, preset=preset, days=days, settings=settings, thinks=spec.asks_model).setup
    spec = spec.with_group_models(world, setup)
    genesis = Genesis(world.name, seeds[0], setup)
    model_sides, uncounted = tuple(sides(world, genesis, spec)), _uncounted(world, genesis, spec)
    if not model_sides and uncounted:
        raise UsageError(f"--dry-run cannot tell how often the model of {' and '.join(uncounted)} will be asked")
    if not model_sides:
        raise UsageError("--dry-run tells what a model's runs will take; name one with --model")
    cap, horizon = spec.budget.actions or setup.get("max_messages", 0), setup.get("days", 0)
    prices = known_prices()
    parts = [
        estimate(
            _in_own_text(
                Workload(
                    max_messages=cap if isinstance(cap, int) else 0,
                    messages=side.messages,
                    days=horizon if isinstance(horizon, int) else 0,
                    messages_a_day=messages_a_day,
                    window_tokens=spec.window_tokens,
                    tokens_at_first=side.tokens_at_first,
                    seconds_a_call=SECONDS_PER_CALL,
                    runs=side.actors * len(seeds),
                    at_once=min(max(PARALLEL_RUNS, jobs or 0), side.actors * min(jobs or PARALLEL_RUNS, len(seeds))),
                ),
                setup.get("window_tokens"),
            ),
            prices.get(side.model),
        )
        for side in model_sides
    ]
    return replace(together(parts), sides=model_sides, uncounted=uncounted)


def _uncounted(world: World[Any], genesis: Genesis, spec: AgentSpec) -> tuple[str, ...]:
    """The groups with a model of which nobody takes part from the beginning."""
    state, seating = world.begin(genesis), world.facets.seating
    present = {seating.group(state, actor) for actor in participants(world, state)}
    return tuple(group for group, _ in spec.group_models if group not in present)


def _in_own_text(load: Workload, window: Json) -> Workload:
    """The workload of a game with a window of its own: long outcomes, and more tokens for as many characters.

    A full window is cut to three quarters of what is not fixed, so that it is seven eighths full on average.
    """
    if not isinstance(window, int) or not window:
        return load
    first, window = int(load.tokens_at_first * 4 / CHARACTERS_A_TOKEN), min(window, load.window_tokens)
    usual = window - max(0, window - first) // 8
    return replace(load, tokens_at_first=first, window_tokens=usual, tokens_a_message=1500, tokens_a_reply=250)


def together(parts: Sequence[Estimate]) -> Estimate:
    """The estimate of several sides that play at the same time: sums of everything but hours, of which the longest."""
    return replace(summed(parts), hours=max((part.hours for part in parts), default=0.0))


def summed(parts: Sequence[Estimate]) -> Estimate:
    """The estimate of several parts, one after the other."""
    dollars = [part.dollars for part in parts if part.dollars is not None]
    return Estimate(
        messages=sum(part.messages for part in parts),
        usage=sum((part.usage for part in parts), Usage()),
        hours=sum(part.hours for part in parts),
        dollars=sum(dollars) if len(dollars) == len(parts) else None,
    )


@dataclass(frozen=True, slots=True)
class Side:
    """The actors of one run that the same model plays."""

    model: str
    actors: int
    messages: int
    """Expected actions of each actor, rounded up; 0 where days decide."""
    tokens_at_first: int
    """Tokens of the longest of their first requests."""


def sides(world: World[Any], genesis: Genesis, spec: AgentSpec) -> Sequence[Side]:
    """The sides of a run that models play."""
    state, by_model = world.begin(genesis), dict[str, list[str]]()
    for actor in participants(world, state):
        choice = spec.model_of(world.facets.seating.group(state, actor))
        if choice and world.facets.seating.own_player(state, actor) is None:
            by_model.setdefault(choice.name, []).append(actor)
    text = spec.prompt or instructions(spec.chat_options.protocol)
    return [_side(world, state, model, actors, text) for model, actors in by_model.items()]


def _side(world: World[Any], state: object, model: str, actors: Sequence[str], text: str) -> Side:
    views = [world.view(state, actor) for actor in actors]
    longest = max(views, key=lambda view: len(view.text))
    first = text + longest.text + "".join(str(verb.tool()) for verb in longest.verbs or world.verbs.classes)
    messages = math.ceil(sum(world.facets.sides.expected_actions(state, actor) for actor in actors) / len(actors))
    return Side(model, len(actors), messages, estimated_tokens(Message("system", first)))


def _messages(load: Workload) -> int:
    by_days = math.ceil(load.days * load.messages_a_day)
    limits = [limit for limit in (load.max_messages, by_days, load.messages) if limit]
    if not limits:
        raise UsageError("nothing says how long the run is; give --max-actions, or days and messages a day")
    return min(limits)


def _input_tokens(messages: int, load: Workload) -> int:
    """The sum over n of min(window, first + (n - 1) x growth), in closed form."""
    room = max(0, load.window_tokens - load.tokens_at_first)
    growing = messages if not load.tokens_a_message else min(messages, room // load.tokens_a_message + 1)
    growing = growing if room else 0
    growing_tokens = growing * load.tokens_at_first + load.tokens_a_message * growing * (growing - 1) // 2
    return growing_tokens + (messages - growing) * load.window_tokens
