"""Options about the agent that plays and the model it asks, and what a model's runs are expected to take."""

from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import process_count
from akinai.runtime.options import MODELS, RunOptions

if TYPE_CHECKING:
    from akinai.runtime.play.agent_spec import AgentSpec

PARALLEL_RUNS = 64
"""Runs that wait for models at the same time, unless --jobs says otherwise."""
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        metavar="",
        help="Print the messages, tokens, hours and dollars to expect; play nothing.",
        rich_help_panel=MODELS,
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


def print_estimate(world: str, options: RunOptions, *, as_json: bool) -> None:
    """Print what a model's runs are expected to take, before money is spent. UsageError for a sweep."""
    from akinai import api
    from akinai.cli.output import print_json, print_line
    from akinai.report.language import fill, translate, translate_sentence
    from akinai.report.tables.learned import aligned, estimate_rows
    from akinai.runtime.play.estimate import MESSAGES_PER_DAY, SECONDS_PER_CALL
    from akinai.runtime.runs.planning import seeds_in

    expected = api.estimate(world, **options)
    seeds = seeds_in(str(options["seeds"]))
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
        runs=translate_sentence("1 run" if len(seeds) == 1 else f"{len(seeds)} runs"),
        models=translate(" and ").join(side.model for side in expected.sides),
        pace=each or fill("{messages} messages a day", messages=MESSAGES_PER_DAY),
        seconds=f"{SECONDS_PER_CALL:g}",
    )  # fmt: skip
    usage = estimate_rows(expected.usage.input, expected.usage.output, expected.hours, expected.dollars)
    print_line(f"{title}\n{aligned({translate('messages'): f'{expected.messages:,}', **usage})}")
