"""The commands that read a run: show and why."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from akinai.cli.options import (
    Json,
    Store,
    argument,
    fill_in_place,
    flag,
    option,
    store_address,
    whole_number,
    with_flags,
)
from akinai.cli.output import FAILED, command_line, print_json, print_next_steps, print_page, progress_line
from akinai.core.errors import UsageError
from akinai.runtime.options import WhyOptions

if TYPE_CHECKING:
    from akinai.runtime.why.explain import Progress

Day = Annotated[
    int | None,
    option("--day", metavar="D", help="Only this day, or part in a world without days.", parser=whole_number),
]
EntryNumber = Annotated[
    int | None,
    option("--entry", metavar="N", help="Only this entry, in full, and the place after it.", parser=whole_number),
]
Actor = Annotated[
    str | None, option("--actor", metavar="A", help="Only what this actor and its sub-agents did, such as owner.")
]
InDeal = Annotated[str | None, option("--deal", metavar="ID", help="Only the entries that belong to this deal.")]
Calls = Annotated[
    bool, flag("--calls", help="Add each model call: what was new in its prompt, its reply, tokens, time.")
]
Words = Annotated[str | None, option("--grep", metavar="TEXT", help="Only entries that hold this text, in any case.")]
Follow = Annotated[bool, flag("--follow", help="Go on as the run is played, by this process or another, to its end.")]


def show(
    name: Annotated[str, argument("RUN", "A run.")],
    day: Day = None,
    entry: EntryNumber = None,
    actor: Actor = None,
    deal: InDeal = None,
    calls: Calls = False,
    grep: Words = None,
    follow: Follow = False,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Read what an agent did, wrote and thought, day by day."""
    from akinai.api.show import show as read

    address = store_address(store)
    if follow:
        flags = {"--day": day is not None, "--entry": entry is not None, "--deal": deal is not None, "--json": as_json}
        if typed := [flag_name for flag_name, is_typed in flags.items() if is_typed]:
            raise UsageError(f"--follow shows a run to its end and takes no {typed[0]}; leave one of the two out")
        return _follow(name, actor, grep, address, command_line(store, "show", name), calls=calls)
    transcript = read(name, day=day, entry=entry, actor=actor, deal=deal, calls=calls, grep=grep, store=address)
    if as_json:
        return print_json(transcript.to_json())
    from akinai.cli.pager import print_paged
    from akinai.report.tables.transcript import transcript_parts

    return print_paged(transcript_parts(transcript, command=command_line(store, "show", transcript.run.id)))


def _follow(name: str, actor: str | None, grep: str | None, address: str, command: str, *, calls: bool) -> None:
    from akinai.api.show import follow
    from akinai.cli.pager import print_parts
    from akinai.report.tables.transcript import ending_line, transcript_parts

    last = None
    for last in follow(name, actor=actor, calls=calls, grep=grep, store=address):
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
