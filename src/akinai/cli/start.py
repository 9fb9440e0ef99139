"""Commands to start with: the demonstration, and a look at the installation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack, cast

import typer

from akinai.cli.options import Json, argument, option, whole_number, with_flags
from akinai.cli.output import FAILED, print_json, print_line, print_next_steps, print_page, progress_bar
from akinai.core.presentation.words import counted
from akinai.runtime.options import DoctorOptions

if TYPE_CHECKING:
    from akinai.runtime.runs.records import Run


def demo(
    world: Annotated[
        str | None, argument("WORLD", "The world to play: one with the players idle, naive and reference.")
    ] = None,
    seeds: Annotated[str, typer.Option(metavar="SEEDS", help="Seeds to play, one run each.")] = "1-7",
    days: Annotated[int, option("--days", metavar="N", help="Days to play.", default="90", parser=whole_number)] = 90,
    output: Annotated[
        Path, option("-o", "--output", metavar="DIR", help="Folder of the report.", default="akinai-report")
    ] = Path("akinai-report"),
) -> None:
    """Watch three players run a business, and get a report on them: half a minute, no key, no network."""
    from rich.console import Group
    from rich.text import Text

    from akinai.api.demo import demo as play_demo
    from akinai.report.language import translate_sentence
    from akinai.report.tables.columns import page_of, translate_result
    from akinai.report.tables.transcript import diary

    def print_first_run(run: "Run") -> None:
        print_line(
            translate_sentence(f"{counted(run.days, 'day')} of the player {run.agent} on seed {run.seed}:") + "\n"
        )
        print_page(lambda _: Group(*diary(run.ledger)))
        print_line("\n" + translate_sentence(f"Three players, seeds {seeds}, {days} days each:") + "\n")

    with progress_bar(quiet=False) as progress:
        demonstration = play_demo(
            world, seeds=seeds, days=days, output=output, progress=progress, watched=print_first_run
        )
    analysis = demonstration.analysis
    sentences = Text(translate_result(demonstration.comparison.sentences), "bold")
    print_page(lambda width: page_of([sentences, analysis.table], width))
    page = demonstration.page.as_uri() if demonstration.page else 'pip install "akinai[report]" draws it'
    print_line("\n" + translate_sentence(f"The report with figures: {page}"))
    name = analysis.groups[0].world.partition("@")[0]
    print_next_steps(
        {
            f"akinai run {name} --agent reference --seeds 1-6 --name first": "play, and keep the runs",
            f"akinai run {name} --agent human": "play it yourself",
            f"akinai worlds {name}": "what there is to play with",
        }
    )


def explain(
    term: Annotated[str | None, argument("TERM", "A word, such as 'smallest visible'; all without one.")] = None,
    as_json: Json = False,
) -> None:
    """Say what a word of tables and reports means."""
    from akinai.report.language import chosen_language, translate_cell
    from akinai.report.terms import explain as meanings

    terms = meanings(term)
    if as_json:
        return print_json(terms)
    for name, meaning in terms.items():
        print_line(f"{name}\n    {translate_cell(meaning, chosen_language())}")
    return None


@with_flags(DoctorOptions, store=None)
def doctor(as_json: Json = False, **options: Unpack[DoctorOptions]) -> None:
    """Look at this installation: versions, extras, the store, models that answer, a browser; or at one model."""
    from akinai.api.doctor import NEXT
    from akinai.api.doctor import doctor as run_checks
    from akinai.report.tables.catalogue import checks_table

    checks = run_checks(**options)
    if as_json:
        print_json({"checks": [check.to_json() for check in checks]})
    else:
        print_page(lambda width: checks_table([check for check in checks if check.name != NEXT], width))
        commands = [
            str(command) for check in checks if check.name == NEXT for command in cast("list[Json]", check.value)
        ]
        if commands:
            print_next_steps(dict(zip(commands, ("play three days", "read what it did and thought"), strict=False)))
    if any(check.state == "broken" for check in checks):
        raise typer.Exit(FAILED)
