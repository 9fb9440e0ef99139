"""Options about the agent that plays and the model it asks, and what a model's runs are expected to take."""

from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import embedder, option, process_count

if TYPE_CHECKING:
    from akinai.runtime.play.agent_spec import AgentSpec

WINDOW = 30_000
TIMEOUT_S = 180.0
PARALLEL_RUNS = 64
"""Runs that wait for models at the same time, unless --jobs says otherwise."""
PANEL = "Models"
LIMITS = "Limits"
"""Panels of the help."""


def _option(*names: str, metavar: str, help: str, default: str = "") -> typer.models.OptionInfo:
    declared: typer.models.OptionInfo = option(*names, metavar=metavar, help=help, default=default)
    declared.rich_help_panel = PANEL
    return declared


def _limit(*names: str, help: str) -> typer.models.OptionInfo:
    return typer.Option(*names, metavar="N", help=f"{help}; 0 is no limit.", rich_help_panel=LIMITS, show_default=False)


def _model(default: str) -> typer.models.OptionInfo:
    text = "The model to ask: openai:NAME, anthropic:NAME, ollama:NAME or another provider of LangChain's."
    return _option("--model", metavar="M", help=text, default=default)


def role_model(role: str, task: str) -> typer.models.OptionInfo:
    """The option for the model of one role of a learning."""
    help = f"The model that {task}; its sampling: --set roles.{role}.temperature=T."
    return _option(f"--{role}-model", metavar="M", help=help, default="--model")


def role_base_url(role: str) -> typer.models.OptionInfo:
    """The option for the address of a role's model."""
    help = f"Address of the {role}'s server."
    return _option(f"--{role}-base-url", metavar="URL", help=help, default="--base-url, for the same provider")


ModelName = Annotated[str | None, _model("none: by rules")]
ForkModelName = Annotated[str | None, _model("the run's model")]
BaseUrl = Annotated[
    str | None,
    _option("--base-url", metavar="URL", help="Address of the model's server.", default="the provider's own"),
]
Temperature = Annotated[
    float | None, _option("--temperature", metavar="T", help="Sampling temperature.", default="the provider's")
]
ReplyTokens = Annotated[
    int | None,
    _option("--reply-tokens", metavar="N", help="Maximum tokens of a reply.", default="the provider's"),
]
ModelSeed = Annotated[
    int | None, _option("--model-seed", metavar="N", help="Sampling seed, for providers that take one.", default="none")
]
SubModel = Annotated[
    str | None,
    _option("--sub-model", metavar="M", help="Model of the sub-agents; 'rules' for none.", default="the same model"),
]
MemoryKind = Annotated[
    str,
    _option(
        "--memory",
        metavar="KIND",
        help="What happens to the oldest part of a conversation that no longer fits the window: trim drops it, summary "
        "has the model summarise it.",
        default="trim",
    ),
]
Window = Annotated[
    int,
    _option("--window", metavar="N", help="Tokens of the conversation that the model sees.", default=f"{WINDOW:,}"),
]
MaxActions = Annotated[int, _limit("--max-actions", help="End a run after N actions of one actor")]
MaxMessages = Annotated[int, typer.Option("--max-messages", hidden=True)]
"""The old spelling of --max-actions."""
MaxTokens = Annotated[int, _limit("--max-tokens", help="End a run after N tokens of model input and output")]
MaxMinutes = Annotated[float, _limit("--max-minutes", help="End a run after N minutes of this command")]
MaxDollars = Annotated[float, _limit("--max-dollars", help="End a run after N dollars, at the prices in akinai.toml")]
ForkMaxDollars = Annotated[
    float | None,
    _option(
        "--max-dollars", metavar="N", default="the run's limit",
        help="End the fork after N dollars, at the prices in akinai.toml; 0: no limit.",
    ),
]  # fmt: skip
MaxRepeats = Annotated[
    int,
    _option(
        "--max-repeats", metavar="N", default="20; 0: no limit",
        help="End a run as stuck when an actor repeats an action N times to no effect.",
    ),
]  # fmt: skip
Cache = Annotated[
    str | None,
    _option("--cache", metavar="FILE", help="Keep model replies in this file and reuse them.", default="no cache"),
]
Timeout = Annotated[
    float, _option("--timeout", metavar="S", help="Seconds to wait for a reply per try.", default=f"{TIMEOUT_S:g}")
]
PlaybookTokens = Annotated[
    int | None,
    _option(
        "--playbook-tokens",
        metavar="N",
        help="Most tokens of the playbook in a model's prompt, searched anew each week; 0 is the whole playbook.",
        default="2,000",
    ),
]
PlaybookEmbedder = Annotated[str | None, embedder(PANEL)]
CallsPerMinute = Annotated[int, _limit("--calls-per-minute", help="Model calls per minute, all runs together")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        metavar="",
        help="Print the messages, tokens, hours and dollars to expect; play nothing.",
        rich_help_panel=PANEL,
    ),
]


def run_count(spec: "AgentSpec", jobs: int | None, store: str) -> int:
    """How many runs are played in parallel: many if they wait for models, else one per process."""
    if jobs is None and spec.asks_model:
        return PARALLEL_RUNS if not store.startswith("memory:") else 1
    return process_count(jobs, store)


def warn_if_ignored(world: str, spec: "AgentSpec") -> None:
    """Say so if a player by rules was given a playbook that it cannot follow."""
    from akinai import worlds

    if not spec.bullets:
        return
    agent = spec.agent
    loaded = worlds.load(world)
    learner = loaded.facets.teaching.learner
    if agent in loaded.players and agent != learner:
        follows = f"; {learner} does" if learner else ""
        from akinai.cli.output import print_error

        print_error(f"{agent} takes no notice of a playbook{follows}")


def print_estimate(
    world: str,
    spec: "AgentSpec",
    *,
    preset: str | None,
    days: int | None,
    sets: list[str] | None,
    sweeps: list[str] | None,
    seeds: str,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Print what a model's runs are expected to take, before money is spent. UsageError for a sweep."""
    from akinai import worlds
    from akinai.cli.output import print_json, print_line
    from akinai.core.errors import UsageError
    from akinai.report.language import fill, translate, translate_sentence
    from akinai.report.tables.learned import aligned, estimate_rows
    from akinai.runtime.play.estimate import MESSAGES_PER_DAY, SECONDS_PER_CALL, estimate_runs
    from akinai.runtime.runs.planning import seeds_in

    if sweeps:
        raise UsageError("--dry-run tells of one value at a time; give it with --set in the place of --sweep")
    chosen = seeds_in(seeds)
    expected = estimate_runs(worlds.load(world), spec, chosen, preset=preset, days=days, settings=sets or [], jobs=jobs)
    if as_json:
        print_json(expected.to_json())
        return
    each = translate(", ").join(
        fill("{messages} messages of each of {actors} actors", messages=side.messages, actors=side.actors)
        for side in expected.sides
        if side.messages
    )
    title = fill(
        "{runs} of {models}, at {pace} and {seconds} seconds a call:",
        runs=translate_sentence("1 run" if len(chosen) == 1 else f"{len(chosen)} runs"),
        models=translate(" and ").join(side.model for side in expected.sides),
        pace=each or fill("{messages} messages a day", messages=MESSAGES_PER_DAY),
        seconds=f"{SECONDS_PER_CALL:g}",
    )  # fmt: skip
    usage = estimate_rows(expected.usage.input, expected.usage.output, expected.hours, expected.dollars)
    print_line(f"{title}\n{aligned({translate('messages'): f'{expected.messages:,}', **usage})}")
