"""The app: its commands, and how an error becomes one sentence and an exit code."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from akinai.cli import analyze, learn, market, play, playbook, read, record, report, serve, worlds
from akinai.cli.shown import say
from akinai.core.errors import AkinaiError, StoreError, UsageError

USAGE, FAILED, STOPPED = 2, 1, 130


class _Commands(TyperGroup):
    """Says that it was stopped: some versions of typer end in silence."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("stopped")
            raise typer.Exit(STOPPED) from None


app = typer.Typer(
    name="akinai",
    cls=_Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)
for command in (
    worlds.worlds, play.run, play.resume, play.fork, record.replay, record.verify, read.runs, analyze.analyze,
    analyze.compare, read.diff, report.report, record.export, learn.learn, serve.serve,
):  # fmt: skip
    app.command()(command)
app.add_typer(playbook.app)
app.add_typer(market.app)

# Some versions of typer bring their own click: this is the root of the usage errors of whichever it is.
_BadWords: type[Exception] = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"akinai {version('akinai')}")
        raise typer.Exit


@app.callback()
def akinai(
    version: Annotated[
        bool,
        typer.Option("--version", metavar="", help="Print the version and exit.", is_eager=True, callback=_version),
    ] = False,
) -> None:
    """A lab in which agents do business, are scored by what really happened, and learn from their own record.

    Try: akinai run vending
    """


def answer(words: Sequence[str]) -> int:
    """The exit code of a command line. A person's mistake is a sentence on stderr, never a traceback."""
    try:
        return typer.main.get_command(app).main(list(words) or ["--help"], "akinai", standalone_mode=False) or 0
    except AkinaiError as error:
        say(str(error))
        return USAGE if isinstance(error, UsageError | StoreError) else FAILED
    except _BadWords as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # `akinai playbook` alone: its help, as of `akinai` alone
            return 0
        say(_told(error))
        return USAGE
    except (typer.Abort, KeyboardInterrupt):  # before a command began
        say("stopped")
        return STOPPED


def _told(error: Exception) -> str:
    """A complaint about the words themselves, with the help that lists the right ones."""
    text = str(getattr(error, "format_message", error.__str__)())
    where = getattr(getattr(error, "ctx", None), "command_path", "akinai")
    text = text.replace("Value error, ", "")
    text = re.sub(r" \(Possible options: (.+)\)$", r"; did you mean \1?", text).replace(". Did you", "; did you")
    hint = f" ('{where} --help' tells more)" if text.endswith("?") else f"; '{where} --help' tells more"
    return f"{text[:1].lower()}{text[1:].rstrip('.')}{hint}"
