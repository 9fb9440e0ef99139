"""The commands that read a run: show and why."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from akinai.cli.options import Json, argument, fill_in_place, flag, with_flags
from akinai.cli.output import FAILED, command_line, print_json, print_next_steps, print_page, progress_line
from akinai.core.errors import UsageError
from akinai.runtime.options import FollowOptions, ShowOptions, WhyOptions

if TYPE_CHECKING:
    from akinai.runtime.why.explain import Progress

Follow = Annotated[bool, flag("--follow", help="Go on as the run is played, by this process or another, to its end.")]


@with_flags(ShowOptions)
def show(
    name: Annotated[str, argument("RUN", "A run.")],
    follow: Follow = False,
    as_json: Json = False,
    **options: Unpack[ShowOptions],
) -> None:
    """Read what an agent did, wrote and thought, day by day."""
    from akinai import api
    from akinai.cli.pager import print_paged
    from akinai.report.tables.transcript import transcript_parts

    store = fill_in_place(options)
    if follow:
        flags = {f"--{unfit}": options.pop(unfit) is not None for unfit in ("day", "entry", "deal")}
        if typed := [flag_name for flag_name, is_typed in {**flags, "--json": as_json}.items() if is_typed]:
            raise UsageError(f"--follow shows a run to its end and takes no {typed[0]}; leave one of the two out")
        return _follow(name, command_line(store, "show", name), **options)
    transcript = api.show(name, **options)
    if as_json:
        return print_json(transcript.to_json())
    return print_paged(transcript_parts(transcript, command=command_line(store, "show", transcript.run.id)))


def _follow(name: str, command: str, **options: Unpack[FollowOptions]) -> None:
    from akinai import api
    from akinai.cli.pager import print_parts
    from akinai.report.tables.transcript import ending_line, transcript_parts

    last = None
    for last in api.follow(name, **options):
        print_parts(transcript_parts(last, command=command))
    if last is not None:
        print_parts([ending_line(last.run)])
        if last.run.status == "failed":
            raise typer.Exit(FAILED)


@with_flags(WhyOptions, jobs=None)
def why(name: Annotated[str, argument("RUN", "A run.")], as_json: Json = False, **options: Unpack[WhyOptions]) -> None:
    """Show which decisions of a run made and cost most, by forks of its record.

    Each day, and spans of days, are replaced by what a rule-based player would have done; it plays the rest of both
    branches with the same chance. In a market what each participant did is replaced, entry by entry. What was played is
    kept beside the run, never in its ledger.
    """
    from akinai import api

    store = fill_in_place(options)
    with _branch_bar(quiet=as_json) as progress:
        explanation = api.why(name, **{**options, "progress": progress})
    if as_json:
        return print_json(explanation.to_json())
    from akinai.report.why.tables import why_page

    print_page(lambda width: why_page(explanation, width))
    rows = [*explanation.cost, *explanation.made]
    if not rows:
        return None
    by_days = explanation.by_days
    words = ("show", explanation.run, "--day" if by_days else "--entry", str(rows[0].first))
    step = "read what was done that day" if by_days else "read what was done there"
    return print_next_steps({command_line(store, *words): step})


@contextmanager
def _branch_bar(*, quiet: bool) -> "Generator[Progress | None]":
    """A bar over the branches; None without a terminal."""
    from akinai.report.language import fill

    with progress_line(quiet=quiet) as update:

        def progress(done: int, total: int) -> None:
            assert update is not None
            update(description=fill("{count} branches", count=done), completed=done, total=total)

        yield progress if update else None
