"""Commands of the browser: the studio, its pages as files, and a person who plays."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer
from typer.core import TyperGroup

from akinai.cli.options import RunNames, Store, argument, fill_in_place, option, store_address, with_flags
from akinai.cli.output import command_line, print_line, print_next_steps, print_page, print_sentence
from akinai.core.errors import UsageError
from akinai.core.presentation.words import counted
from akinai.runtime.options import PlayOptions, StudioOptions

if TYPE_CHECKING:
    from akinai.studio.serving import StudioInfo

BUNDLE = "bundle"
SHOW = "show"


class _StudioCommands(TyperGroup):
    """`akinai studio [RUN...]` opens the studio; only the word `bundle` is a command of it."""

    default = SHOW
    """The command that other words belong to."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in super().list_commands(ctx) if name != SHOW]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args[:1] == [BUNDLE] else [SHOW, *args])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        _, command, remaining = super().resolve_command(ctx, args)
        return "" if args[0] == SHOW else BUNDLE, command, remaining


app = typer.Typer(name="studio", cls=_StudioCommands, help="Look at runs in a browser.", add_completion=False)


@app.command(SHOW, hidden=True)
@with_flags(StudioOptions)
def show(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Runs and groups; all runs of the store by default.")
    ] = None,
    **options: Unpack[StudioOptions],
) -> None:
    """Look at runs in a browser, while they are played and after.

    Only this machine can reach the studio unless --host says otherwise, and only with the token in the address.
    'akinai studio bundle RUN -o DIR' writes the same pages as files, to send to somebody.
    """
    try:
        from akinai.studio.serving import studio
    except ImportError as error:
        if (error.name or "").startswith("akinai"):  # a fault of ours, which no extra mends
            raise
        raise UsageError(
            f'the studio needs more than is installed ({error}); pip install "akinai[studio]" brings it'
        ) from error

    def print_start(info: "StudioInfo") -> None:
        runs = counted(info.runs, "run")
        print_sentence(f"the studio shows {runs} on {info.url}")
        print_sentence("stop it with Ctrl-C")
        sys.stdout.flush()

    fill_in_place(options)
    studio(*(names or ()), **{**options, "ready": print_start})


@app.command(BUNDLE)
def bundle(
    names: RunNames,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="PLACE", help="A folder to write, or for one run a file *.html."),
    ],
    store: Store = None,
    language: Annotated[
        str | None, option("--language", metavar="CODE", help="en or ja.", default="the environment's")
    ] = None,
) -> None:
    """Write the studio's pages of runs as files that open from disk, to send to somebody."""
    from akinai.report.language import fill

    try:
        from akinai.studio.files import bundle as write_bundle
    except ImportError as error:
        raise UsageError(f'a bundle needs Jinja2 ({error}); pip install "akinai[report]" brings it') from error
    written = write_bundle(*names, output=output, store=store_address(store), language=language)
    count = fill("{count} files" if len(written.files) != 1 else "{count} file", count=len(written.files))
    print_line(f"{written.page}  ({count}, {sum(path.stat().st_size for path in written.files) / 1000:,.0f} kB)")


@with_flags(PlayOptions)
def play(
    world: Annotated[str | None, argument("[WORLD]", "The world to play; 'akinai worlds' lists them.")] = None,
    **options: Unpack[PlayOptions],
) -> None:
    """Play a world yourself, in the browser: with the actions, the ledger and the scores of an agent.

    Whatever you did is kept; 'akinai play --resume RUN' goes on. Without the extra studio, or a display, you play
    here in the terminal.
    """
    from akinai.studio.person import play as play_world

    def print_start(info: "StudioInfo") -> None:
        print_sentence(f"play on {info.url}")
        print_sentence("stop it with Ctrl-C; what you did is kept")
        sys.stdout.flush()

    store = fill_in_place(options)
    run = play_world(world, **{**options, "ready": print_start})
    if run is None:
        return
    from akinai.report.tables.runs import runs_page
    from akinai.runtime.runs.lifecycle import can_resume
    from akinai.runtime.runs.records import Runs

    print_page(lambda width: runs_page(Runs([run]), width))
    if can_resume(run.header) and not str(options["store"]).startswith("memory:"):
        print_next_steps({command_line(store, "play", "--resume", run.id): "go on where you stopped"})
