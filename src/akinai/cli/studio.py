"""Commands of the browser: the studio, its pages as files, and a person who plays."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from akinai.cli.options import RunNames, Store, argument, flag, option, store_address, whole_number
from akinai.cli.output import command_line, print_line, print_next_steps, print_page, print_sentence
from akinai.cli.play import Days, Preset, Sets

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
        _, command, rest = super().resolve_command(ctx, args)
        return "" if args[0] == SHOW else BUNDLE, command, rest


app = typer.Typer(name="studio", cls=_StudioCommands, help="Look at runs in a browser.", add_completion=False)

Language = Annotated[
    str | None,
    option("--language", metavar="CODE", help="en or ja.", default="the environment's, else what the browser prefers"),
]


@app.command(SHOW, hidden=True)
def show(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Runs and groups; all runs of the store by default.")
    ] = None,
    store: Store = None,
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int,
        option("--port", metavar="PORT", help="Port to listen on.", default="a free one", parser=whole_number),
    ] = 0,
    allow_host: Annotated[
        list[str] | None,
        option(
            "--allow-host",
            metavar="NAME",
            help="A further name under which the studio may be reached; repeat it for more.",
            default="this machine's own names",
        ),
    ] = None,
    language: Language = None,
    no_browser: Annotated[bool, flag("--no-browser", help="Print the address and open nothing.")] = False,
    allow_programs: Annotated[
        bool,
        flag("--allow-programs", help="Let pages start any agent, programs included, not only players and models."),
    ] = False,
) -> None:
    """Look at runs in a browser, while they are played and after.

    Only this machine can reach the studio unless --host says otherwise, and only with the token in the address.
    'akinai studio bundle RUN -o DIR' writes the same pages as files, to send to somebody.
    """
    from akinai.core.errors import UsageError

    try:
        from akinai.studio.serving import studio
    except ImportError as error:
        if (error.name or "").startswith("akinai"):  # a fault of ours, which no extra mends
            raise
        raise UsageError(
            f'the studio needs more than is installed ({error}); pip install "akinai[studio]" brings it'
        ) from error

    def started(info: "StudioInfo") -> None:
        runs = f"{info.runs:,} run{'' if info.runs == 1 else 's'}"
        print_sentence(f"the studio shows {runs} on {info.url}")
        print_sentence("stop it with Ctrl-C")
        sys.stdout.flush()

    studio(
        *(names or ()), store=store_address(store), host=host, port=port, allow_host=allow_host or (),
        language=language, no_browser=no_browser, allow_programs=allow_programs, ready=started,
    )  # fmt: skip


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
    from akinai.core.errors import UsageError
    from akinai.report.language import fill

    try:
        from akinai.studio.files import bundle as write_bundle
    except ImportError as error:
        raise UsageError(f'a bundle needs Jinja2 ({error}); pip install "akinai[report]" brings it') from error
    written = write_bundle(*names, output=output, store=store_address(store), language=language)
    count = fill("{count} files" if len(written.files) != 1 else "{count} file", count=len(written.files))
    print_line(f"{written.page}  ({count}, {sum(path.stat().st_size for path in written.files) / 1000:,.0f} kB)")


def play(
    world: Annotated[str | None, argument("[WORLD]", "The world to play; 'akinai worlds' lists them.")] = None,
    preset: Preset = None,
    seed: Annotated[int, option("--seed", metavar="N", help="Seed of the run.", default="1", parser=whole_number)] = 1,
    days: Days = None,
    settings: Sets = None,
    hold: Annotated[
        str | None,
        option("--hold", metavar="ACTOR", help="Who you are.", default="the owner, or the first customer of a market"),
    ] = None,
    rest: Annotated[
        str | None, option("--rest", metavar="A", help="Who plays the others.", default="the world's first player")
    ] = None,
    name: Annotated[
        str | None, option("--name", metavar="NAME", help="The run is called NAME-SEED.", default="two random words")
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Go on with a run that a person began.")] = None,
    store: Store = None,
    terminal: Annotated[bool, flag("--terminal", help="Play here, not in the browser.")] = False,
    port: Annotated[
        int, option("--port", metavar="PORT", help="Port to listen on.", default="a free one", parser=whole_number)
    ] = 0,
    language: Language = None,
    no_browser: Annotated[bool, flag("--no-browser", help="Print the address and open nothing.")] = False,
) -> None:
    """Play a world yourself, in the browser: with the actions, the ledger and the scores of an agent.

    Whatever you did is kept; 'akinai play --resume RUN' goes on. Without the extra studio, or a display, you play
    here in the terminal.
    """
    from akinai.studio.person import play as play_world

    def started(info: "StudioInfo") -> None:
        print_sentence(f"play on {info.url}")
        print_sentence("stop it with Ctrl-C; what you did is kept")
        sys.stdout.flush()

    address = store_address(store)
    run = play_world(
        world, preset=preset, seed=seed, days=days, settings=settings, hold=hold, rest=rest, name=name, resume=resume,
        store=address, terminal=terminal, port=port, language=language, no_browser=no_browser, ready=started,
    )  # fmt: skip
    if run is None:
        return
    from akinai.report.tables.runs import runs_page
    from akinai.runtime.runs.lifecycle import can_resume
    from akinai.runtime.runs.records import Runs

    print_page(lambda width: runs_page(Runs([run]), width))
    if can_resume(run.header) and not address.startswith("memory:"):
        print_next_steps({command_line(store, "play", "--resume", run.id): "go on where you stopped"})
