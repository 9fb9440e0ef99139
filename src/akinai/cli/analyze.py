"""Commands that say what runs amount to: analyze, compare."""

from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import Json, Names, Store, argument, flag, jobs_for, option, place_of, whole
from akinai.cli.progress import bar
from akinai.cli.shown import command, document, next_steps, page, say

if TYPE_CHECKING:
    from akinai.core.accounts import About
    from akinai.runtime.analysis import Analysis

FAILED = 1
MOST_TOLD = 5
"""Unreadable runs of which the reason is told."""

First = Annotated[str, argument("A", "A run or a group.")]
Second = Annotated[str, argument("B", "Another.")]
Gain = Annotated[
    str | None,
    option("--gain", metavar="X", help="Tell how many seeds would show a gain of X, in dollars for money."),
]
OnScale = Annotated[
    bool | None,
    typer.Option(
        "--scale/--no-scale",
        metavar="",
        help="Place every seed between the players idle and reference, or none; those that the store does not have "
        "are played in memory.  \\[default: at most 20 seeds]",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None, option("--jobs", metavar="N", help="Processes that read at a time.", default="one a CPU", parser=whole)
]
Fuzzy = Annotated[
    int,
    option(
        "--fuzzy-match-distance",
        metavar="N",
        help="Items that a seller wrote within N edits of its menu's count as the menu's; they stay listed as errors.",
        default="0",
        parser=whole,
    ),
]
ByAgent = Annotated[bool, flag("--by-agent", help="Tables of every agent, where the world has such.")]
ByConversation = Annotated[
    bool, flag("--by-conversation", help="Tables of every two agents that talked, and of every purchase.")
]
ByDay = Annotated[bool, flag("--by-day", help="With --json: every day of every run.")]


def analyze(
    names: Names,
    scale: OnScale = None,
    fuzzy: Fuzzy = 0,
    by_agent: ByAgent = False,
    by_conversation: ByConversation = False,
    by_day: ByDay = False,
    jobs: Jobs = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Scores, endings, findings and cost of runs, in groups of runs that were played alike."""
    from akinai.runtime import api
    from akinai.runtime.analysis import Wanted

    place = place_of(store)
    asked: dict[About, bool] = {"run": True, "agent": by_agent, "conversation": by_conversation}
    about: tuple[About, ...] = tuple(one for one, kept in asked.items() if kept)
    wanted = Wanted(because=as_json, findings=True, series=by_day and as_json, about=about, fuzzy=_edits(fuzzy))
    with bar(quiet=as_json) as progress:
        told = api.analyze(
            *names, store=place, jobs=jobs_for(jobs, place), scale=scale, wanted=wanted, progress=progress
        )
    if as_json:
        document(told.to_json())
    else:
        from akinai.report.analyses import analysis

        page(lambda width: analysis(told, width))
        next_steps(_steps(names, store))
    if fuzzy and not any(run.figures for run in told.runs):
        say("--fuzzy-match-distance changes nothing: no run here is of a world that goes by names")
    _tell_troubled(told)


def _edits(fuzzy: int) -> int:
    from akinai.core.errors import UsageError

    if fuzzy < 0:
        raise UsageError(f"--fuzzy-match-distance wants a number of edits from 0, not {fuzzy}")
    return fuzzy


def _steps(names: list[str], store: str | None) -> dict[str, str]:
    if len(names) != 2:
        return {}
    return {command(store, "compare", *names): "is the second better, seed by seed, and how sure is that"}


def _tell_troubled(told: "Analysis") -> None:
    """One sentence a run that cannot be read; exit code 1 where there is one."""
    for run in told.troubled[:MOST_TOLD]:
        say(f"run {run.id} cannot be scored: {run.trouble}")
    more = len(told.troubled) - MOST_TOLD
    if more > 0:
        say(f"and {more:,} more; --json tells why of each")
    if told.troubled:
        raise typer.Exit(FAILED)


def compare(
    a: First,
    b: Second,
    gain: Gain = None,
    jobs: Jobs = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Compare B with A, paired by seed: how much, and how sure."""
    from akinai.runtime import api

    place, wanted = place_of(store), _amount(gain)
    with bar(quiet=as_json) as progress:
        told = api.contrast(a, b, store=place, jobs=jobs_for(jobs, place), gain=wanted, progress=progress)
    if as_json:
        return document(told.to_json())
    from akinai.report.contrasts import contrast

    return page(lambda width: contrast(told, gain or "", width))


def _amount(gain: str | None) -> float | None:
    from akinai.core.errors import UsageError

    if gain is None:
        return None
    try:
        wanted = float(gain.replace("$", "").replace(",", ""))
    except ValueError:
        wanted = 0.0
    if not 0 < wanted < 1e12:
        raise UsageError(f"--gain wants an amount above 0, such as 50 or 12.5, not {gain!r}")
    return wanted
