"""Options about models: which one is asked, how, and within which limits."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import jobs_for, option

if TYPE_CHECKING:
    from akinai.runtime.budget import Budget
    from akinai.runtime.cast import Cast

WINDOW = 30_000
TIMEOUT_S = 180.0
AT_ONCE = 64
"""Runs that wait for models at the same time, unless --jobs says otherwise."""
SECONDS_A_CALL = 5.0
MESSAGES_A_DAY = 10
PANEL = "Models"


def _option(*names: str, metavar: str, help: str, default: str = "") -> typer.models.OptionInfo:
    found = option(*names, metavar=metavar, help=help, default=default)
    found.rich_help_panel = PANEL
    return found


def _number(*names: str, help: str) -> typer.models.OptionInfo:
    return typer.Option(*names, metavar="N", help=f"{help}; 0 is no limit.", rich_help_panel=PANEL, show_default=False)


ModelName = Annotated[
    str | None,
    _option("--model", metavar="M", help="Whom agents or roles ask: openai:NAME, anthropic:NAME, ollama:NAME ..."),
]
BaseUrl = Annotated[str | None, _option("--base-url", metavar="URL", help="The address of the model's server.")]
Temperature = Annotated[float | None, _option("--temperature", metavar="T", help="Of sampling.")]
ReplyTokens = Annotated[int | None, _option("--reply-tokens", metavar="N", help="Most tokens of one reply.")]
ModelSeed = Annotated[int | None, _option("--model-seed", metavar="N", help="The provider's seed, where it has one.")]
SubModel = Annotated[
    str | None, _option("--sub-model", metavar="M", help="Of the sub-agents; 'rules' for none.", default="the same")
]
MemoryKind = Annotated[
    str, _option("--memory", metavar="KIND", help="trim, or summary: the model sums up what falls out.", default="trim")
]
Window = Annotated[int, _option("--window", metavar="N", help="Tokens that the model sees.", default=f"{WINDOW:,}")]
MaxMessages = Annotated[int, _number("--max-messages", help="End after so many messages of a run")]
MaxTokens = Annotated[int, _number("--max-tokens", help="End after so many tokens, in and out")]
MaxMinutes = Annotated[float, _number("--max-minutes", help="End after so many minutes")]
MaxDollars = Annotated[float, _number("--max-dollars", help="End after so many dollars, by akinai.toml's prices")]
Cache = Annotated[str | None, _option("--cache", metavar="FILE", help="Keep replies and use them again.")]
Timeout = Annotated[float, _option("--timeout", metavar="S", help="Seconds for one try.", default=f"{TIMEOUT_S:g}")]
CallsPerMinute = Annotated[int, _number("--calls-per-minute", help="Of all runs together")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        metavar="",
        help="Tell messages, tokens and hours to expect, and play nothing.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class Asked:
    """What was said about the model."""

    model: str | None
    base_url: str | None
    temperature: float | None
    reply_tokens: int | None
    model_seed: int | None
    sub_model: str | None
    memory: str
    window: int


@dataclass(frozen=True, slots=True)
class Pace:
    """How its server is asked."""

    cache: str | None
    timeout_s: float
    calls_per_minute: int


def limits(messages: int, tokens: int, minutes: float, dollars: float) -> "Budget":
    """The budget of each run. UsageError for what is none."""
    from akinai.runtime.budget import Budget

    return Budget(messages=messages, tokens=tokens, minutes=minutes, dollars=dollars)


def cast_of(world: str, agent: str | None, asked: Asked, budget: "Budget", pace: Pace) -> "Cast":
    """Who plays. UsageError for a cast that cannot play."""
    from akinai import worlds
    from akinai.core.errors import UnknownName
    from akinai.runtime.cast import CHAT, Cast, ModelChoice
    from akinai.runtime.casting import default_agent
    from akinai.runtime.config import setting

    loaded = worlds.load(world)
    name = setting("model", asked.model, "") or None
    if asked.memory not in ("trim", "summary"):
        raise UnknownName("memory", asked.memory, ("trim", "summary"))
    choice = ModelChoice(name or "", asked.base_url, asked.temperature, asked.reply_tokens, asked.model_seed)
    by_rules = name is None or (asked.model is None and agent is not None and agent not in (CHAT, "structured"))
    return Cast(
        setting("agent", agent, default_agent(loaded)) if by_rules else agent or CHAT,
        None if by_rules else choice,
        like=replace(choice, name="") if loaded.groups else None,
        sub_agents=asked.sub_model,
        memory="summary" if asked.memory == "summary" else "trim",
        window_tokens=asked.window,
        budget=budget,
        cache=pace.cache,
        timeout_s=pace.timeout_s,
        calls_per_minute=pace.calls_per_minute,
    )


def jobs_of(cast: "Cast", flag: int | None, place: str) -> int:
    """How many runs are played at a time: runs that ask models wait for others, so many of them fit."""
    if flag is None and cast.thinks:
        return AT_ONCE if not place.startswith("memory:") else 1
    return jobs_for(flag, place)


def tell_estimate(
    world: str,
    cast: "Cast",
    *,
    preset: str | None,
    days: int | None,
    sets: list[str] | None,
    seeds: str,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Print what the runs of a model will take, before money is spent."""
    from akinai import worlds
    from akinai.cli.shown import document, line
    from akinai.core.errors import UsageError
    from akinai.core.ledger import Genesis
    from akinai.runtime.config import prepare
    from akinai.runtime.estimate import Workload, estimate, sides, together
    from akinai.runtime.experiment import seeds_in
    from akinai.runtime.stage import known_prices

    loaded, chosen = worlds.load(world), seeds_in(seeds)
    setup = prepare(loaded, preset=preset, days=days, settings=sets or [], thinks=cast.thinks).setup
    cast = cast.seated(loaded, setup)
    thinking = sides(loaded, Genesis(loaded.name, chosen[0], setup), cast)
    if not thinking:
        raise UsageError("--dry-run tells what a model's runs will take; name one with --model")
    cap, horizon = cast.budget.messages or setup.get("max_messages", 0), setup.get("days", 0)
    parts = [
        estimate(
            Workload(
                max_messages=cap if isinstance(cap, int) else 0,
                messages=side.messages,
                days=horizon if isinstance(horizon, int) else 0,
                messages_a_day=MESSAGES_A_DAY,
                window_tokens=cast.window_tokens,
                tokens_at_first=side.tokens_at_first,
                seconds_a_call=SECONDS_A_CALL,
                runs=side.actors * len(chosen),
                at_once=min(AT_ONCE, side.actors * min(jobs or AT_ONCE, len(chosen))),
            ),
            known_prices().get(side.model),
        )
        for side in thinking
    ]
    expected = together(parts)
    if as_json:
        document(expected.to_json())
        return
    dollars = "no price known: put one into akinai.toml" if expected.dollars is None else f"${expected.dollars:,.2f}"
    each = ", ".join(f"{side.messages} messages of each of {side.actors} actors" for side in thinking if side.messages)
    runs = "1 run" if len(chosen) == 1 else f"{len(chosen)} runs"
    line(
        f"{runs} of {' and '.join(side.model for side in thinking)}, at "
        f"{each or f'{MESSAGES_A_DAY} messages a day'} and {SECONDS_A_CALL:g} seconds a call:\n"
        f"  messages  {expected.messages:,}\n"
        f"  tokens    {expected.usage.input:,} in, {expected.usage.output:,} out\n"
        f"  hours     {expected.hours:,.{1 if expected.hours >= 1 else 2}f}\n"
        f"  dollars   {dollars}"
    )
