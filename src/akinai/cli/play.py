"""Commands that play: run, resume, fork."""

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import Jobs, Json, Name, Store, jobs_for, place_of
from akinai.cli.progress import bar
from akinai.cli.shown import document, line, next_steps, page, say

if TYPE_CHECKING:
    from akinai.runtime.play import Progress
    from akinai.runtime.runs import Run, Runs

FAILED, STOPPED = 1, 130
MOST_TOLD = 5
"""Failed runs of which the reason is told."""


def run(
    world: Annotated[
        str, typer.Argument(metavar="WORLD", help="A world, as 'akinai worlds' lists them.", show_default=False)
    ],
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="A preset of the world, or a path ending in .toml.  \\[default: default]",
            show_default=False,
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="A",
            help="A player of the world, or script:FILE.  \\[default: the world's first]",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[str, typer.Option(metavar="SEEDS", help="Such as 7, 1-5 or 1,3,10-12.")] = "1",
    days: Annotated[
        int | None, typer.Option(metavar="N", help="Days to play; 0 is no horizon.", show_default=False)
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="One setting, such as demand.footfall=40; as often as needed.",
            show_default=False,
        ),
    ] = None,
    store: Store = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The runs are called NAME-SEED.  \\[default: two words]", show_default=False),
    ] = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Play a world to its end with one agent, once for each seed, and score the runs."""
    from akinai.runtime import api

    place = place_of(store)

    def play(progress: "Progress | None") -> "Runs":
        return api.run(
            world,
            preset=preset,
            agent=agent,
            seeds=seeds,
            days=days,
            settings=sets,
            store=place,
            name=name,
            jobs=jobs_for(jobs, place),
            progress=progress,
        )

    runs = _shown(play, place, as_json)
    if not as_json:
        flags = {"--preset": [preset], "--days": [days], "--set": sets or [], "--store": [store]}
        again = [
            word
            for flag, values in flags.items()
            for value in values
            if value is not None
            for word in (flag, str(value))
        ]
        _after_run(runs, seeds, again, store)


def resume(name: Name, store: Store = None, jobs: Jobs = None, as_json: Json = False) -> None:
    """Go on with a run, or a group, from the last entry, whatever ended it early."""
    from akinai.runtime import api
    from akinai.runtime.life import can_go_on

    place = place_of(store)
    over = [run for run in api.headers(place) if name in (run.run_id, run.group) and not can_go_on(run)]

    def play(progress: "Progress | None") -> "Runs":
        return api.resume(name, store=place, jobs=jobs_for(jobs, place), progress=progress)

    runs = _shown(play, place, as_json)
    if over and not as_json:
        line(
            f"\n{'it' if len(runs) == 1 else f'{len(over)} of {len(runs)}'} had ended before: nothing is left to play there"
        )


def fork(
    name: Name,
    at_day: Annotated[
        int | None, typer.Option(metavar="D", help="Share the past up to the morning of day D.", show_default=False)
    ] = None,
    after: Annotated[
        int | None, typer.Option(metavar="SEQ", help="Share the past up to entry SEQ.", show_default=False)
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="A", help="Who plays on.  \\[default: the agent of the run]", show_default=False),
    ] = None,
    new_name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="The name of the fork.  \\[default: RUN-fork-1, counting up]",
            show_default=False,
        ),
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
            new_name=new_name,
            store=place,
            jobs=jobs_for(jobs, place),
            progress=progress,
        )

    runs = _shown(play, place, as_json)
    if not as_json and len(runs) == 1:
        origin = (runs[0].header.parent or "").partition("#")[0]
        next_steps({_command("diff", origin, runs[0].id, store): "where the two part, and what became of it"})
    elif not as_json and runs:
        next_steps({_command("compare", name, runs[0].header.group or "", store): "paired by seed"})


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
        from akinai.report.tables import played

        page(lambda width: played(runs, width))
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
    groups = {run.header.group for run in runs}
    group = groups.pop() if len(groups) == 1 else None
    return group if group and len(runs) > 1 else next((run.id for run in runs if run.status != "done"), runs[0].id)


def _command(*words: str | None) -> str:
    """A command as a shell takes it; the last word is the store, None for the usual one."""
    *words, store = words
    return shlex.join(["akinai", *(word for word in words if word), *(["--store", store] if store else [])])


def _after_run(runs: "Runs", seeds: str, again: list[str], store: str | None) -> None:
    """What to try after a run: look closer, or play the same with somebody else."""
    if (store or "").startswith("memory:"):
        return
    first, several = runs[0], len(runs) > 1
    name = _name_of(runs)
    steps = {_command("replay", name, store): "do it all again from the record, and check every outcome"}
    if other := _other_player(first):
        world = first.world.partition("@")[0]
        words = ["akinai", "run", world, "--agent", other, *(["--seeds", seeds] if seeds != "1" else []), *again]
        steps[shlex.join(words)] = (
            f"the same {'seeds' if several else 'seed'} with another player; then 'akinai compare'"
        )
        if not several and first.days > 1:
            day = str(first.days // 2 + 1)
            steps[_command("fork", name, "--at-day", day, "--agent", other, store)] = f"hand over on day {day}"
    next_steps(steps)


def _other_player(run: "Run") -> str | None:
    from akinai import worlds

    return next((name for name in worlds.load(run.world).players if name != run.agent), None)
