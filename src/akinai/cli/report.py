"""The command that writes a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import Jobs, Json, Names, Store, flag, jobs_for, option, place_of
from akinai.cli.shown import command, document, line, next_steps, say

if TYPE_CHECKING:
    from akinai.report.page_files import Written
    from akinai.runtime.analysis import Analysis

FAILED = 1
FOLDER = Path("akinai-report")


def report(
    names: Names,
    output: Annotated[
        Path, option("-o", "--output", metavar="DIR", help="The folder that is to hold it.", default=str(FOLDER))
    ] = FOLDER,
    with_paper: Annotated[
        bool, flag("--with-paper", help="Add the results of the Vending-Bench paper: another world's numbers.")
    ] = False,
    store: Store = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Write a report on runs and groups: a page with figures and tables, Markdown, and all numbers as JSON."""
    _expect_extra()
    from akinai.report.page_files import write
    from akinai.runtime import api
    from akinai.runtime.analysis import Wanted

    place = place_of(store)
    everything = Wanted(because=True, findings=True, series=True, about=("run", "agent"))
    analysis = api.analyze(*names, store=place, jobs=jobs_for(jobs, place), wanted=everything)
    written = write(analysis, output, with_paper=with_paper)
    if as_json:
        document(_told(written, analysis))
    else:
        _tell(written, names, store)
    for run in analysis.troubled:
        say(f"run {run.id} cannot be scored: {run.trouble}")
    if analysis.troubled:
        raise typer.Exit(FAILED)


def _expect_extra() -> None:
    from importlib.util import find_spec

    from akinai.core.errors import UsageError

    if find_spec("matplotlib") is None:
        raise UsageError('a report needs matplotlib, which is not installed; pip install "akinai[report]"')


def _told(written: "Written", analysis: "Analysis") -> dict[str, object]:
    return {
        "folder": str(written.folder),
        "files": list(written.files),
        "runs": [run.id for run in analysis.runs],
        "groups": {group.name: list(group.runs) for group in analysis.groups},
        "card": dict(analysis.card),
    }


def _tell(written: "Written", names: list[str], store: str | None) -> None:
    figures = sum(name.endswith(".svg") for name in written.files)
    told = "1 figure" if figures == 1 else f"{figures or 'no'} figures"
    line(f"wrote {written.page}")
    line(f"      with report.md, results.json and {told} beside it")
    line(f"open  {written.page.resolve().as_uri()}")
    next_steps({command(store, "verify", *names): "check that nobody edited the records that it stands on"})
