"""The command that reads a run: show."""

from typing import Annotated

import typer

from akinai.cli.options import Json, Store, argument, flag, option, store_address, whole_number
from akinai.cli.output import FAILED, command_line, print_json

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
        _expect_followable(day, entry, deal, as_json=as_json)
        return _follow(name, actor, grep, address, command_line(store, "show", name), calls=calls)
    found = read(name, day=day, entry=entry, actor=actor, deal=deal, calls=calls, grep=grep, store=address)
    if as_json:
        return print_json(found.to_json())
    from akinai.cli.pager import print_paged
    from akinai.report.tables.transcript import transcript_parts

    return print_paged(transcript_parts(found, command=command_line(store, "show", found.run.id)))


def _expect_followable(day: int | None, entry: int | None, deal: str | None, *, as_json: bool) -> None:
    from akinai.core.errors import UsageError

    given = {"--day": day is not None, "--entry": entry is not None, "--deal": deal is not None, "--json": as_json}
    if wrong := [name for name, there in given.items() if there]:
        raise UsageError(f"--follow shows a run to its end and takes no {wrong[0]}; leave one of the two out")


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
