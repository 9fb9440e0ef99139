"""Commands that play: run, resume, fork."""

import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Unpack, cast

import typer

from akinai.cli.options import (
    Csv,
    Json,
    RunName,
    argument,
    fill_in_place,
    option,
    process_count,
    store_address,
    with_flags,
)
from akinai.cli.output import (
    FAILED,
    STOPPED,
    command_line,
    print_error,
    print_json,
    print_line,
    print_next_steps,
    print_other_rules,
    print_page,
    print_sentence,
    print_traceback,
    progress_bar,
)
from akinai.core.options import part_of
from akinai.core.presentation.words import counted
from akinai.runtime.options import LIMITS, MODELS, AgentOptions, ArenaOptions, ForkOptions, ResumeOptions, RunOptions

if TYPE_CHECKING:
    from akinai.core.worlds import World
    from akinai.runtime.play.agent_spec import AgentSpec
    from akinai.runtime.play.driver import Progress
    from akinai.runtime.play.estimate import Estimate
    from akinai.runtime.runs.planning import Part
    from akinai.runtime.runs.records import Run, Runs

HUMAN = "human"
"""The agent that is a person at the terminal, where no bar may be drawn over what is typed."""
MAX_REASONS = 5
"""Failed runs whose reason is printed."""
NOT_REPEATED = frozenset(
    {"agent", "model", "seeds", "sweep", "name", "label", "store", "jobs", "shard", "on", "as_json", "dry_run"}
)
"""Parameters of `run` that the command suggested for another player leaves out or sets itself."""
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
WritePrompt = Annotated[
    Path | None,
    option(
        "--write-prompt",
        metavar="FILE",
        help="Write a model's instructions to this file; play nothing.",
        panel=MODELS,
    ),
]


@with_flags(RunOptions, store=None, jobs=None)
def run(
    context: typer.Context,
    world: Annotated[str, argument("WORLD", "The world to play; 'akinai worlds' lists them.")],
    max_messages: Annotated[int, typer.Option("--max-messages", hidden=True)] = 0,
    dry_run: DryRun = False,
    write_prompt: WritePrompt = None,
    as_json: Json = False,
    **options: Unpack[RunOptions],
) -> None:
    """Play a world with one agent, once per seed, and score the runs."""
    from akinai import api, worlds
    from akinai.api.agent_options import resolve_options
    from akinai.api.play import expect_use, parts_of
    from akinai.runtime.config.calls import given_of

    if write_prompt is not None:
        return _write_prompt(world, options["agent"], write_prompt)
    store = cast("str | None", options["store"])
    options["store"] = address = store_address(store)
    options["max_actions"] = options["max_actions"] or max_messages  # the old spelling
    agent, settings = options["agent"], options["settings"]
    spec, _ = resolve_options(worlds.load(world), agent, options, settings, open_models=not dry_run)
    parts = parts_of(worlds.load(world), spec, options, open_models=False)
    expect_use(parts, given_of(RunOptions, options))
    _warn_if_ignored(world, spec)
    _warn_if_unread(worlds.load(world), parts)
    if not as_json:
        _print_what_is_read(world, spec, options)
    options.update(part_of(AgentOptions, {}))  # the spec holds them
    options["agent"] = spec
    if dry_run:
        return _print_estimate(world, options, as_json=as_json)
    options["jobs"] = _jobs(
        cast("int | None", options["jobs"]), address, asks_model=any(part.spec.asks_model for part in parts)
    )

    def play(progress: "Progress | None") -> "Runs":
        return api.run(world, **{**options, "ledgers": False, "progress": progress})

    runs = _play_and_print(play, address, as_json, person=any(HUMAN in part.spec.agents for part in parts))
    return None if as_json else _print_what_next(context, runs, str(options["seeds"]), store, address)


def _write_prompt(world: str, agent: object, file: Path) -> None:
    """Write a prompt to start from, and say how it is played with."""
    from akinai.api.agent_options import write_prompt

    name = agent if isinstance(agent, str) else None
    write_prompt(file, name)
    print_sentence(f"the prompt is written to {file}")
    words = ["akinai", "run", world, *(["--agent", name] if name else []), "--model", "M", "--prompt", str(file)]
    print_next_steps({shlex.join(words): "play with it, once you have changed it"})


def _jobs(jobs: int | None, address: str, *, asks_model: bool) -> int:
    """How many runs are played at the same time: as was asked, many that wait for models, or one for each processor."""
    waits = jobs is None and asks_model and not address.startswith("memory:")
    return PARALLEL_RUNS if waits else process_count(jobs, address)


def _warn_if_ignored(world: str, spec: "AgentSpec") -> None:
    """Say so if a player by rules was given a playbook that it cannot follow."""
    from akinai import worlds

    if not spec.bullets:
        return
    loaded = worlds.load(world)
    learner = loaded.facets.teaching.learner
    if spec.agent in loaded.players and spec.agent != learner:
        follows = f"; {learner} does" if learner else ""
        print_error(f"{spec.agent} takes no notice of a playbook{follows}")


def _warn_if_unread(world: "World[Any]", parts: "Sequence[Part]") -> None:
    """Say so of a setting whose texts are added to the tasks of players by rules alone, in every part that has them."""
    readers: dict[str, bool] = {}
    for part in parts:
        for added in world.facets.sides.added_texts(part.prepared.setup):
            reads = any(part.spec.reads_task(world, group) for group in added.groups)
            readers[added.setting] = readers.get(added.setting, False) or reads
    for setting, reads in readers.items():
        if not reads:
            print_error(f"nobody here reads the setting {setting}: players by rules and scripts read no task")


def _print_estimate(world: str, options: RunOptions, *, as_json: bool) -> None:
    """Print the tokens, hours and dollars that a model's runs are expected to take. UsageError for a sweep."""
    from akinai import api
    from akinai.runtime.runs.planning import seeds_in

    expected = api.estimate(world, **options)
    _print_expected(expected, len(seeds_in(str(options["seeds"]))), "run", as_json=as_json)


def _print_round_cost(expected: "Estimate", rounds: int, cap: float, *, as_json: bool) -> None:
    """Print the estimate of an arena, what of it a round costs, and whether that is more than a round may spend."""
    from akinai.report.language import translate

    a_round = None if expected.dollars is None else expected.dollars / rounds
    if as_json:
        print_json({**expected.to_json(), "dollars_a_round": a_round})
        return
    more = {} if a_round is None or rounds < 2 else {translate("dollars a round"): f"${a_round:,.2f}"}
    _print_expected(expected, rounds, "round", as_json=False, more=more)
    if a_round is not None and 0 < cap < a_round:
        print_sentence(
            f"a round is expected to cost ${a_round:,.2f}, more than its --round-dollars of ${cap:,.2f}: games would "
            "end before they are over, and go on with more"
        )


def _print_expected(
    expected: "Estimate", count: int, noun: str, *, as_json: bool, more: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Print an estimate of so many runs, or of other things of that noun, and `more` lines of it by name."""
    from akinai.report.language import fill, translate, translate_sentence
    from akinai.report.tables.learned import align_rows, estimate_rows
    from akinai.runtime.play.estimate import MESSAGES_PER_DAY, SECONDS_PER_CALL

    if as_json:
        print_json(expected.to_json())
        return
    sides = dict.fromkeys((side.messages, side.actors) for side in expected.sides if side.messages)
    by_side = translate(", ").join(
        fill("{messages} messages of each of {actors} actors", messages=messages, actors=actors)
        if actors > 1
        else fill("{messages} messages of one actor", messages=messages)
        for messages, actors in sides
    )
    title = fill(
        "{runs} of {models}, at {pace} and {seconds} seconds a call:",
        runs=translate_sentence(counted(count, noun)),
        models=translate(" and ").join(dict.fromkeys(side.model for side in expected.sides)),
        pace=by_side or fill("{messages} messages a day", messages=MESSAGES_PER_DAY),
        seconds=f"{SECONDS_PER_CALL:g}",
    )  # fmt: skip
    usage = estimate_rows(expected.usage.input, expected.usage.output, expected.hours, expected.dollars)
    print_line(f"{title}\n{align_rows({translate('messages'): f'{expected.messages:,}', **usage, **more})}")
    if expected.uncounted:
        print_sentence(f"how often the model of {' and '.join(expected.uncounted)} will be asked is not counted")


def _print_what_is_read(world: str, spec: "AgentSpec", options: RunOptions) -> None:
    """Say how much was read from each file that is named. UsageError as `run` has it."""
    from akinai import worlds
    from akinai.learning.playbook.formats import loads
    from akinai.runtime.config.settings import prepare
    from akinai.runtime.models.budget import known_prices
    from akinai.runtime.play.agent_registry import SCRIPT, read_script
    from akinai.runtime.runs.sweep import sweep_points

    loaded, counts = worlds.load(world), list[str]()
    if options["playbook"] is not None:
        bullets = len(spec.bullets) or len(loads(spec.playbook))
        counts.append(f"{counted(bullets, 'bullet')} from {options['playbook']}")
    if spec.agent.startswith(SCRIPT):
        script = spec.agent.removeprefix(SCRIPT)
        counts.append(f"{len(read_script(script)):,} replies from {script}")
    prices = known_prices()
    if prices and spec.asks_model:
        counts.append(f"{len(prices):,} prices from akinai.toml")
    for point in sweep_points(options["sweep"], options["settings"], loaded.setup):
        counts += prepare(
            loaded, preset=options["preset"], days=options["days"], settings=point.settings, thinks=spec.asks_model
        ).read
    for count in dict.fromkeys(counts):
        print_sentence(count)


def _print_what_next(context: typer.Context, runs: "Runs", seeds: str, store: str | None, address: str) -> None:
    if not address.startswith("memory:"):
        flags = _repeated_flags(context, runs[0])
        swept = context.params["sweep"]
        print_next_steps(_after_sweep(runs, store) if swept else _after_run(runs, seeds, flags, store))


def _repeated_flags(context: typer.Context, run: "Run") -> list[str]:
    """The flags given on this command line that another player of the same game needs too.

    Flags about models are kept only where the settings name models for groups of actors; the cap on actions always is.
    """
    from akinai.report.language import translate

    card: Any = run.card.get("agent_spec") or {}
    repeated: list[str] = []
    for flag in context.command.params:
        source = context.get_parameter_source(flag.name or "")
        limits_actions = flag.name in ("max_actions", "max_repeats")
        about_models = getattr(flag, "rich_help_panel", None) in (translate(MODELS), translate(LIMITS))
        if source is None or source.name != "COMMANDLINE" or flag.param_type_name != "option":
            continue
        if flag.name not in NOT_REPEATED and (card.get("group_models") or limits_actions or not about_models):
            value = context.params[flag.name or ""]
            values = value if flag.multiple else [value]
            repeated += [str(word) for value in values for word in (flag.opts[0], value)]
    return repeated


@with_flags(ResumeOptions, jobs=None)
def resume(name: RunName, as_json: Json = False, **options: Unpack[ResumeOptions]) -> None:
    """Continue a run, or the runs of a group, from the last entry."""
    from akinai import api
    from akinai.runtime.runs.lifecycle import can_resume
    from akinai.runtime.runs.sweep import names_of

    store = fill_in_place(options)
    named = [run for run in api.headers(options["store"]) if name in names_of(run)]
    over = [run for run in named if not can_resume(run)]
    person = any(HUMAN in run.agents.values() for run in named)

    def play(progress: "Progress | None") -> "Runs":
        return api.resume(name, **{**options, "progress": progress, "ledgers": False})

    runs = _play_and_print(play, str(options["store"]), as_json, person=person)
    if not as_json and _was_left(runs[0]):
        print_next_steps(_after_leaving(store, runs))
    if over and not as_json:
        subject = "it" if len(runs) == 1 else f"{len(over)} of {len(runs)}"
        print_line()
        print_sentence(f"{subject} had ended before: nothing was left to play there")


@with_flags(ArenaOptions, store=None, jobs=None)
def arena(
    players: Annotated[
        list[str], argument("PLAYER", "Who meets: players, script:FILE, stdio:COMMAND, models such as openai:NAME.")
    ],
    dry_run: DryRun = False,
    as_json: Json = False,
    as_csv: Csv = False,
    **options: Unpack[ArenaOptions],
) -> None:
    """Let players meet on one street, round by round with seats that rotate, and put them in order."""
    from akinai.api import Stopped
    from akinai.api.arena import arena, estimate_arena, programme
    from akinai.api.person import translate_terminal
    from akinai.core.errors import RunFailedWarning
    from akinai.report.tables.columns import page_of
    from akinai.runtime.models.budget import BUDGET

    store, jobs = cast("str | None", options["store"]), cast("int | None", options["jobs"])
    options["store"] = address = store_address(store)
    if dry_run:
        expected = estimate_arena(players, **options)
        return _print_round_cost(expected, options["rounds"], options["round_dollars"], as_json=as_json)
    games = programme(players, options, open_models=False)
    _warn_if_unread(games.world, games.parts)
    options["jobs"] = _jobs(jobs, address, asks_model=games.asks_model)
    quiet, person = as_json or as_csv, HUMAN in games.agents
    if person:
        translate_terminal()
    with progress_bar(quiet=quiet or person) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", RunFailedWarning)  # what failed is printed below
        try:
            result = arena(players, **{**options, "progress": progress})
        except Stopped:
            print_error("stopped; all that was played is kept: the same command goes on")
            raise typer.Exit(STOPPED) from None
    if as_json:
        print_json(result.to_json())
    elif as_csv:
        print_line(result.table.csv)
    else:
        print_page(lambda width: page_of([result.answer, *([result.table] if result.rows else [])], width))
    stored = not address.startswith("memory:")
    _print_reasons([f"{leaving.player} left the game {leaving.run}: {leaving.why}" for leaving in result.leavings])
    _print_reasons([_why_unfinished(run) for run in result.unfinished])
    if result.unfinished:
        spent = any(run.ending == BUDGET for run in result.unfinished)
        goes_on = f"the same command{' with a larger --round-dollars' if spent else ''} goes on"
        print_error(f"what was played is kept: {goes_on}" if stored else "nothing is kept")
    if any(run.status == "failed" for run in result.unfinished):
        raise typer.Exit(FAILED)
    if not quiet and stored:
        print_next_steps({command_line(store, "show", result.runs[0].id): "read a game, entry by entry"})


def _print_reasons(reasons: Sequence[str]) -> None:
    """Print the first of these sentences on stderr, and how many there are more."""
    for reason in reasons[:MAX_REASONS]:
        print_error(reason)
    if len(reasons) > MAX_REASONS:
        print_error(f"and {len(reasons) - MAX_REASONS} more")


def _why_unfinished(run: "Run") -> str:
    """Why a game of an arena is not over."""
    from akinai.runtime.models.budget import BUDGET

    if run.status == "failed":
        return f"run {run.id} failed: {run.reason}"
    if run.ending == BUDGET:
        return f"run {run.id} is not over: its part of --round-dollars is spent"
    return f"run {run.id} is not over: it was stopped"


@with_flags(ForkOptions, jobs=None)
def fork(run: RunName, as_json: Json = False, **options: Unpack[ForkOptions]) -> None:
    """Make a new run that shares a run's past up to a point, and play on from there."""
    from akinai import api

    store = fill_in_place(options)

    def play(progress: "Progress | None") -> "Runs":
        return api.fork(run, **{**options, "progress": progress, "ledgers": False})

    runs = _play_and_print(play, str(options["store"]), as_json, person=options["agent"] == HUMAN)
    if not as_json and _was_left(runs[0]):
        print_next_steps(_after_leaving(store, runs))
    elif not as_json and len(runs) == 1:
        origin = (runs[0].header.parent or "").partition("#")[0]
        print_next_steps({command_line(store, "diff", origin, runs[0].id): "where the two part, and what became of it"})
    elif not as_json and runs:
        print_next_steps({command_line(store, "compare", run, runs[0].header.group or ""): "paired by seed"})


def _play_and_print(play: "Callable[[Progress | None], Runs]", address: str, as_json: bool, *, person: bool) -> "Runs":
    """Play runs and print them, without a bar where a `person` plays.

    Exits with FAILED if a run failed, with STOPPED on Ctrl-C.
    """
    from akinai.api import Stopped
    from akinai.api.person import translate_terminal
    from akinai.core.errors import RunFailedWarning

    if person:
        translate_terminal()
    with progress_bar(quiet=as_json or person) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", RunFailedWarning)  # what failed is printed below
        try:
            runs, stopped = play(progress), False
        except Stopped as stop:
            runs, stopped = stop.runs, True
    if as_json:
        print_json(runs.to_json())
    else:
        from akinai.report.tables.runs import runs_page, swept_runs

        print_page(lambda width: swept_runs(runs, width) or runs_page(runs, width))
    stored = not address.startswith("memory:")
    failed = [run for run in runs if run.status == "failed" and not run.other_rules]
    print_other_rules(runs)
    for run in failed[:MAX_REASONS]:
        print_error(f"run {run.id} failed: {run.reason}")
        if run.traceback:
            if stored:
                print_error(f"its traceback: 'akinai replay {run.id} --json'")
            else:
                print_traceback(run.traceback)
    if len(failed) > MAX_REASONS:
        print_error(f"and {len(failed) - MAX_REASONS} more runs failed")
    if stopped or failed:
        happened = "stopped; all that was played is kept" if stopped else "what was played is kept"
        damaged = [run for run in failed if (run.reason or "").startswith("entry ")]
        if damaged:
            print_error(f"its record was changed or damaged: restore a copy; 'akinai verify {damaged[0].id}' checks it")
        elif stored and runs:
            print_error(f"{happened}: go on with 'akinai resume {_name_of(runs)}'")
        else:
            print_error("nothing is kept")
        raise typer.Exit(STOPPED if stopped else FAILED)
    return runs


def _name_of(runs: "Runs") -> str:
    """One name for several runs: their group's, or that of the first run that is not done."""
    from akinai.runtime.runs.sweep import sweep_of

    groups = {sweep_of(run.header.card) or run.header.group for run in runs}
    group = groups.pop() if len(groups) == 1 else None
    return group if group and len(runs) > 1 else next((run.id for run in runs if run.status != "done"), runs[0].id)


def _after_run(runs: "Runs", seeds: str, flags: list[str], store: str | None) -> dict[str, str]:
    """The commands to try after a run: read it, or let another player play the same."""
    first, name = runs[0], _name_of(runs)
    if _was_left(first):
        return _after_leaving(store, runs)
    steps = {command_line(store, "show", first.id): "read what was done, entry by entry"}
    other = _other_player(first)
    if other is None:
        return steps
    if len(runs) == 1:
        if first.days > 1:
            day = str(first.days // 2 + 1)
            steps[command_line(store, "fork", name, "--at-day", day, "--agent", other)] = f"hand over on day {day}"
        return steps
    world, second = first.world.partition("@")[0], f"{name}-{other}"
    again = command_line(store, "run", world, "--agent", other, "--seeds", seeds, *flags, "--name", second)
    steps[again] = "the same seeds with another player"
    steps[command_line(store, "compare", name, second)] = "then: who is better, and how sure that is"
    return steps


def _was_left(run: "Run") -> bool:
    """Whether a person who played has left before the end."""
    return run.agent == HUMAN and run.ending == "stopped"


def _after_leaving(store: str | None, runs: "Runs") -> dict[str, str]:
    return {command_line(store, "resume", _name_of(runs)): "go on where you stopped"}


def _after_sweep(runs: "Runs", store: str | None) -> dict[str, str]:
    """The commands to try after a sweep: a table of the values, and two values compared."""
    groups = list(dict.fromkeys(run.header.group for run in runs if run.header.group))
    steps = {command_line(store, "analyze", _name_of(runs)): "a row a value, with intervals"}
    if len(groups) > 1:
        steps[command_line(store, "compare", groups[0], groups[-1])] = "the first value and the last, paired by seed"
    return steps


def _other_player(run: "Run") -> str | None:
    """Another player of the world; None where the settings or the world say who plays everybody."""
    from akinai import worlds
    from akinai.runtime.play.agent_registry import seats_of

    world, genesis = worlds.load(run.world), run.header.genesis
    if seats_of(world, genesis.setup).leaves_nobody(world, world.begin(genesis)):
        return None
    return next((name for name in world.players if name != run.agent), None)
