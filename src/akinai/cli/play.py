"""Commands that play: run, resume, fork."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from akinai.cli import models as m
from akinai.cli.options import Jobs, Json, Name, Store, argument, jobs_for, option, place_of, whole
from akinai.cli.progress import bar
from akinai.cli.shown import command, document, line, next_steps, page, say

if TYPE_CHECKING:
    from akinai.runtime.cast import Cast
    from akinai.runtime.play import Progress
    from akinai.runtime.runs import Run, Runs

FAILED, STOPPED = 1, 130
MOST_TOLD = 5
"""Failed runs of which the reason is told."""
OTHERS_OWN = frozenset({"agent", "model", "seeds", "sweeps", "name", "store", "jobs", "as_json", "dry_run"})
"""Flags of a run that do not stand in the command for another player, or stand there with another value."""

Preset = Annotated[
    str | None,
    option("--preset", metavar="P", help="A preset of the world, or a path ending in .toml.", default="default"),
]
AgentName = Annotated[
    str | None,
    option(
        "--agent",
        metavar="A",
        help="A player of the world, script:FILE, stdio:COMMAND, human, chat or structured.",
        default="the world's first",
    ),
]
Seeds = Annotated[str, typer.Option(metavar="SEEDS", help="Such as 7, 1-5 or 1,3,10-12.")]
Days = Annotated[int | None, option("--days", metavar="N", help="Days to play; 0 is no horizon.", parser=whole)]
Sets = Annotated[
    list[str] | None,
    option("--set", metavar="NAME=VALUE", help="A setting, such as demand.footfall=40; as often as needed."),
]
Sweeps = Annotated[
    list[str] | None,
    option(
        "--sweep",
        metavar="NAME=V,V,...",
        help="All seeds under each value of a setting, such as search.limit=3,10; several --sweep: under all pairs.",
    ),
]
GroupName = Annotated[
    str | None, option("--name", metavar="NAME", help="The runs are called NAME-SEED.", default="two words")
]

PlaybookPath = Annotated[
    Path | None, option("--playbook", metavar="F", help="What was learned: its bullets are told to every agent.")
]
PlaybookTokens = Annotated[
    int | None,
    typer.Option(
        "--playbook-tokens",
        metavar="N",
        help="Of the playbook in a model's sight, looked up anew each week; 0 is all of it.  \\[default: 2,000]",
        rich_help_panel=m.PANEL,
        show_default=False,
    ),
]


def run(
    words: typer.Context,
    world: Annotated[str, argument("WORLD", "A world, as 'akinai worlds' lists them.")],
    preset: Preset = None,
    agent: AgentName = None,
    seeds: Seeds = "1",
    days: Days = None,
    playbook: PlaybookPath = None,
    playbook_tokens: PlaybookTokens = None,
    sets: Sets = None,
    sweeps: Sweeps = None,
    store: Store = None,
    name: GroupName = None,
    jobs: Jobs = None,
    as_json: Json = False,
    model: m.ModelName = None,
    base_url: m.BaseUrl = None,
    temperature: m.Temperature = None,
    reply_tokens: m.ReplyTokens = None,
    model_seed: m.ModelSeed = None,
    sub_model: m.SubModel = None,
    memory: m.MemoryKind = "trim",
    window: m.Window = m.WINDOW,
    max_messages: m.MaxMessages = 0,
    max_tokens: m.MaxTokens = 0,
    max_minutes: m.MaxMinutes = 0,
    max_dollars: m.MaxDollars = 0,
    cache: m.Cache = None,
    timeout: m.Timeout = m.TIMEOUT_S,
    calls_per_minute: m.CallsPerMinute = 0,
    dry_run: m.DryRun = False,
) -> None:
    """Play a world with one agent, once for each seed, and score it."""
    from akinai.core.errors import UsageError
    from akinai.runtime import api

    place = place_of(store)
    how = m.Asked(model, base_url, temperature, reply_tokens, model_seed, sub_model, memory, window)
    budget = m.limits(max_messages, max_tokens, max_minutes, max_dollars)
    cast = m.cast_of(world, agent, how, budget, m.Pace(cache, timeout, calls_per_minute))
    cast = _told(cast, sets or [], playbook, playbook_tokens)
    if cast.bullets:
        _tell_deaf(world, cast.agent)
    if dry_run and sweeps:
        raise UsageError("--dry-run tells of one value at a time; give it with --set in the place of --sweep")
    if dry_run:
        m.tell_estimate(world, cast, preset=preset, days=days, sets=sets, seeds=seeds, jobs=jobs, as_json=as_json)
        return
    what = partial(api.run, world, agent=cast, preset=preset, days=days, settings=sets, seeds=seeds, sweep=sweeps)
    play = partial(what, store=place, name=name, jobs=m.jobs_of(cast, jobs, place), ledgers=False)
    runs = _shown(lambda progress: play(progress=progress), place, as_json)
    if not as_json and not place.startswith("memory:"):
        next_steps(_sweep_steps(runs, store) if sweeps else _steps(runs, seeds, _given(words, runs[0]), store))


def _told(cast: "Cast", sets: list[str], playbook: Path | None, tokens: int | None) -> "Cast":
    """The cast with what it is told of a playbook: all of it by rules, what is looked up where a model plays."""
    from dataclasses import replace

    from akinai.core.errors import UsageError
    from akinai.runtime.cast import PLAYBOOK_TOKENS
    from akinai.runtime.learn_world import bullets_in, text_in

    thinks = cast.thinks or any(one.partition("=")[0].strip().endswith(".model") for one in sets)
    if playbook is None and tokens is not None:
        raise UsageError("--playbook-tokens tells how much of a playbook is in sight; name one with --playbook")
    if playbook is None:
        return cast
    if thinks:
        budget = PLAYBOOK_TOKENS if tokens is None else tokens
        return replace(cast, playbook=text_in(playbook), playbook_tokens=budget)
    if tokens is not None:
        raise UsageError(
            f"{cast.agent} is told all of a playbook, as every player by rules; leave --playbook-tokens out"
        )
    return replace(cast, bullets=bullets_in(playbook))


def _tell_deaf(world: str, agent: str) -> None:
    """A line where a player by rules was given a playbook that it cannot follow."""
    from akinai import worlds

    loaded = worlds.load(world)
    if agent in loaded.players and agent != loaded.learner:
        follows = f"; {loaded.learner} does" if loaded.learner else ""
        say(f"{agent} takes no notice of a playbook{follows}")


def _given(words: typer.Context, run: "Run") -> list[str]:
    """The flags of a command as they were given, as far as another player of the same game needs them.

    Those about models stay where the settings name models for groups of actors; the cap on messages is of every player.
    """
    cast: Any = run.card.get("cast") or {}
    given: list[str] = []
    for flag in words.command.params:
        source = words.get_parameter_source(flag.name or "")
        about_models = getattr(flag, "rich_help_panel", None) == m.PANEL and flag.name != "max_messages"
        if source is None or source.name != "COMMANDLINE" or flag.param_type_name != "option":
            continue
        if flag.name not in OTHERS_OWN and (cast.get("groups") or not about_models):
            value = words.params[flag.name or ""]
            given += [str(word) for one in (value if flag.multiple else [value]) for word in (flag.opts[0], one)]
    return given


def resume(name: Name, store: Store = None, jobs: Jobs = None, as_json: Json = False) -> None:
    """Go on with a run, or a group, from its last entry."""
    from akinai.runtime import api
    from akinai.runtime.life import can_go_on
    from akinai.runtime.sweep import names_of

    place = place_of(store)
    over = [run for run in api.headers(place) if name in names_of(run) and not can_go_on(run)]

    def play(progress: "Progress | None") -> "Runs":
        return api.resume(name, store=place, jobs=jobs_for(jobs, place), progress=progress, ledgers=False)

    runs = _shown(play, place, as_json)
    if over and not as_json:
        which = "it" if len(runs) == 1 else f"{len(over)} of {len(runs)}"
        line(f"\n{which} had ended before: nothing was left to play there")


def fork(
    name: Name,
    at_day: Annotated[
        int | None, option("--at-day", metavar="D", help="Share the past up to the morning of day D.", parser=whole)
    ] = None,
    after: Annotated[
        int | None, option("--after", metavar="SEQ", help="Share the past up to entry SEQ.", parser=whole)
    ] = None,
    agent: Annotated[
        str | None, option("--agent", metavar="A", help="Who plays on.", default="the agent of the run")
    ] = None,
    model: m.ModelName = None,
    base_url: m.BaseUrl = None,
    new_name: Annotated[
        str | None, option("--name", metavar="NAME", help="What the fork is called.", default="RUN-fork-1, counting up")
    ] = None,
    store: Store = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Begin anew from a point in a run's past and play on from there."""
    from akinai.runtime import api

    place = place_of(store)

    def play(progress: "Progress | None") -> "Runs":
        return api.fork(
            name,
            at_day=at_day,
            after=after,
            agent=agent,
            model=model,
            base_url=base_url,
            new_name=new_name,
            store=place,
            jobs=jobs_for(jobs, place),
            progress=progress,
            ledgers=False,
        )

    runs = _shown(play, place, as_json)
    if not as_json and len(runs) == 1:
        origin = (runs[0].header.parent or "").partition("#")[0]
        next_steps({command(store, "diff", origin, runs[0].id): "where the two part, and what became of it"})
    elif not as_json and runs:
        next_steps({command(store, "compare", name, runs[0].header.group or ""): "paired by seed"})


def _shown(play: "Callable[[Progress | None], Runs]", place: str, as_json: bool) -> "Runs":
    """The runs that were played, printed; exits when one failed or all were stopped."""
    from akinai.runtime.api import Stopped

    with bar(quiet=as_json) as progress:
        try:
            runs, stopped = play(progress), False
        except Stopped as stop:
            runs, stopped = stop.runs, True
    if as_json:
        document(runs.to_json())
    else:
        from akinai.report.sweeps import swept_runs
        from akinai.report.tables import played

        page(lambda width: swept_runs(runs, width) or played(runs, width))
    kept = not place.startswith("memory:")
    failed = [run for run in runs if run.status == "failed"]
    for run in failed[:MOST_TOLD]:
        say(f"run {run.id} failed: {run.error}")
    if len(failed) > MOST_TOLD:
        say(f"and {len(failed) - MOST_TOLD} more runs failed")
    if stopped or failed:
        happened = "stopped; all that was played is kept" if stopped else "what was played is kept"
        say(f"{happened}: go on with 'akinai resume {_name_of(runs)}'" if kept and runs else "nothing is kept")
        raise typer.Exit(STOPPED if stopped else FAILED)
    return runs


def _name_of(runs: "Runs") -> str:
    """What stands for runs in one word: their group, or the first of them that is not done."""
    from akinai.runtime.sweep import sweep_of

    groups = {sweep_of(run.header.card) or run.header.group for run in runs}
    group = groups.pop() if len(groups) == 1 else None
    return group if group and len(runs) > 1 else next((run.id for run in runs if run.status != "done"), runs[0].id)


def _steps(runs: "Runs", seeds: str, flags: list[str], store: str | None) -> dict[str, str]:
    """What to try after a run: look closer, or have somebody else play the same."""
    first, name = runs[0], _name_of(runs)
    if first.agent == "human" and first.ending == "stopped":
        return {command(store, "resume", name): "go on where you stopped"}
    steps = {command(store, "replay", name): "do it all again from the record, and check every outcome"}
    other = _other_player(first)
    if other is None:
        return steps
    if len(runs) == 1:
        if first.days > 1:
            day = str(first.days // 2 + 1)
            steps[command(store, "fork", name, "--at-day", day, "--agent", other)] = f"hand over on day {day}"
        return steps
    world, second = first.world.partition("@")[0], f"{name}-{other}"
    again = command(store, "run", world, "--agent", other, "--seeds", seeds, *flags, "--name", second)
    steps[again] = "the same seeds with another player"
    steps[command(store, "compare", name, second)] = "then: who is better, and how sure that is"
    return steps


def _sweep_steps(runs: "Runs", store: str | None) -> dict[str, str]:
    """What to try after a sweep: a row a value with intervals, and two values against each other."""
    groups = list(dict.fromkeys(run.header.group for run in runs if run.header.group))
    steps = {command(store, "analyze", _name_of(runs)): "a row a value, with intervals"}
    if len(groups) > 1:
        steps[command(store, "compare", groups[0], groups[-1])] = "the first value and the last, paired by seed"
    return steps


def _other_player(run: "Run") -> str | None:
    from akinai import worlds

    return next((name for name in worlds.load(run.world).players if name != run.agent), None)
