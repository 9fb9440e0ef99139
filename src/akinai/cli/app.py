"""The app: its commands, and the sentence and exit code that each error becomes."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from akinai.cli import analyze, learn, play, playbook, records, seal, serve, show, start, studio, worlds
from akinai.cli.help import arrange_help, first_page, translate_frame, translate_help
from akinai.cli.output import FAILED, STOPPED, USAGE, logs_heard, print_error
from akinai.core.errors import AkinaiError, LedgerError, StoreError, UsageError
from akinai.core.untrusted.spelling import short_repr


class _Commands(TyperGroup):
    """The commands: their help in groups, and Ctrl-C reported, since some versions of typer exit in silence."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        panels = {panel: list[tuple[str, str]]() for panel in PANELS}
        for name, command in self.commands.items():
            text = " ".join((command.help or "").partition("\n\n")[0].split())
            panels[getattr(command, "rich_help_panel", "")].append((name, text))
        options = [
            (", ".join(sorted(option.opts, key=len)), str(getattr(option, "help", "")))
            for option in self.get_params(ctx)
            if not getattr(option, "hidden", False)
        ]
        formatter.write(first_page(self.help or "", panels, options) + "\n")

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print_error("stopped")
            raise typer.Exit(STOPPED) from None


app = typer.Typer(
    name="akinai",
    cls=_Commands,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)
PANELS = {
    "Play": (start.demo, worlds.worlds, play.run, studio.play, play.resume, play.fork),
    "Read runs": (
        records.runs, show.show, show.why, records.diff, records.replay, records.verify, records.merge, records.export,
        records.delete, records.restore,
    ),
    "Compare and publish": (
        play.arena, analyze.analyze, analyze.compare, analyze.plan, analyze.report, records.leaderboard, seal.app,
    ),
    "Learn": (learn.learn, playbook.app),
    "Serve and connect": (studio.app, serve.serve, serve.game, serve.mcp, serve.a2a),
    "This installation": (start.doctor, start.explain),
}  # fmt: skip
"""The commands in the groups in which the help lists them."""
for panel, commands in PANELS.items():
    for command in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, rich_help_panel=panel)
        else:
            app.command(rich_help_panel=panel)(command)
for world_app in worlds.world_apps():
    app.add_typer(world_app, rich_help_panel="Play")

# Some versions of typer bring their own click: this is the root of the usage errors of either.
_CliError: type[Exception] = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        print(f"akinai {version('akinai')}")
        raise typer.Exit


@app.callback()
def akinai(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """A lab in which agents do business, are scored by what really happened, and learn from their own record.

    Try: akinai run vending
    """


def answer(words: Sequence[str]) -> int:
    """Do what a command line asks and return its exit code. A user's mistake prints a sentence, never a traceback."""
    try:
        command = typer.main.get_command(app)
        arrange_help(command)
        translate_help(command)
        if (len(words) > 1 and {"--help", "-h"} & {*words}) or _is_group(command, words):
            translate_frame()
        with logs_heard():
            return command.main(list(words) or ["--help"], "akinai", standalone_mode=False, obj=tuple(words)) or 0
    except AkinaiError as error:
        advice = "; the record was changed or damaged: restore a copy, 'akinai verify RUN' checks it"
        print_error(f"{error}{advice if isinstance(error, LedgerError) and error.entry else ''}")
        return USAGE if isinstance(error, UsageError | StoreError) else FAILED
    except _CliError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # `akinai playbook` alone has printed its help
            return 0
        print_error(_usage_sentence(error, words))
        return USAGE
    except (typer.Abort, KeyboardInterrupt):  # before a command started
        print_error("stopped")
        return STOPPED


def _is_group(command: Any, words: Sequence[str]) -> bool:
    """Whether the words are the name of a group, which alone may print its help."""
    return len(words) == 1 and hasattr(command.commands.get(words[0]), "commands")


def _command_path(words: Sequence[str]) -> str:
    """The command that the words name, as far as there is one."""
    command: Any = typer.main.get_command(app)
    path = ["akinai"]
    for word in words:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        path.append(word)
    return " ".join(path)


def _usage_sentence(error: Exception, words: Sequence[str]) -> str:
    """An error in the command line itself, as a sentence that names the help to read."""
    text = str(getattr(error, "format_message", error.__str__)())
    where = getattr(getattr(error, "ctx", None), "command_path", None) or _command_path(words)
    faults: Any = getattr(error.__cause__, "errors", None)
    if faults is not None:  # some versions of typer have pydantic read numbers, and leave out what was given
        kind = "a whole number" if "integer" in text else "a number"
        text = re.sub(r"Input should be .*", f"{kind} is expected, not {short_repr(faults()[0]['input'])}", text)
    text = text.replace("Value error, ", "")
    text = re.sub(r" \(Possible options: (.+)\)$", r"; did you mean \1?", text).replace(". Did you", "; did you")
    hint = f" ('{where} --help' tells more)" if text.endswith("?") else f"; '{where} --help' tells more"
    return f"{text[:1].lower()}{text[1:].rstrip('.')}{hint}"
