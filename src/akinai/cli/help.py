"""The help: commands in groups on the first page, and every text in the chosen language."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from akinai.cli.output import break_lines_as_japanese
from akinai.report.language import chosen_language, translate
from akinai.report.language.lines import line_breaks

WIDEST = 100
"""Maximum columns of the first page."""
OTHER = "Other options"
"""The panel of options without one of their own, in a command whose first option has one: the panels come first."""
DEFAULT = "  \\[default: "
"""The text between a help and the default at its end."""
FRAME = {
    "ARGUMENTS_PANEL_TITLE": "Arguments",
    "OPTIONS_PANEL_TITLE": "Options",
    "COMMANDS_PANEL_TITLE": "Commands",
    "REQUIRED_LONG_STRING": "[required]",
    "DEFAULT_STRING": "[default: {}]",
}
"""The words that typer prints around a help, by its name for them."""
BOLD, CYAN, YELLOW, PLAIN = "\x1b[1m", "\x1b[1;36m", "\x1b[33m", "\x1b[0m"


def arrange_help(command: Any) -> None:
    """Bring the help of a command and of its commands into order, in place: panels before other options, paragraphs
    as wide as the terminal."""
    paragraphs = (command.help or "").split("\n\n")
    if chosen_language() == "en":  # the catalogue knows the sentences with their line ends
        command.help = "\n\n".join(" ".join(text.split()) for text in paragraphs)
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    panelled = bool(options and getattr(options[0], "rich_help_panel", None))
    for option in options if panelled else ():
        option.rich_help_panel = option.rich_help_panel or OTHER
    help_option = command.get_help_option

    def get_help_option(ctx: Any) -> Any:
        if option := help_option(ctx):
            option.metavar, option.rich_help_panel = "", OTHER if panelled else None
        return option

    command.get_help_option = get_help_option
    for child in getattr(command, "commands", {}).values():
        arrange_help(child)


def translate_help(command: Any) -> None:
    """Translate the help of a command, of its options and of its commands, in place."""
    if chosen_language() == "en":
        return
    command.help, help_option = translated(command.help or ""), command.get_help_option

    def get_help_option(ctx: Any) -> Any:
        if option := help_option(ctx):
            option.help = translate(option.help)
            option.rich_help_panel = translate(option.rich_help_panel or "") or None
        return option

    command.get_help_option = get_help_option
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = translated(parameter.help)
        if getattr(parameter, "rich_help_panel", None):
            parameter.rich_help_panel = translate(parameter.rich_help_panel)
    for child in getattr(command, "commands", {}).values():
        translate_help(child)


def translated(help: str) -> str:
    """A help in the chosen language, with the default at its end; a default that is a value stays as it is."""
    text, separator, default = help.partition(DEFAULT)
    if not separator:
        return translate(text)
    words = f"[default: {default}"
    translation = translate(words)
    if translation == words:
        translation = words.replace("default", translate("default"), 1)
    return f"{translate(text)}  \\{translation}"


def translate_frame() -> None:
    """Translate the words that typer prints around a help. Words without a translation stay as they are."""
    from typer import rich_utils

    break_lines_as_japanese()
    for name, words in FRAME.items():
        setattr(rich_utils, name, translate(words))


def help_texts(command: Any) -> Iterator[str]:
    """Every text of a command that `translate_help` looks up."""
    yield command.help or ""
    yield OTHER
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            text, _, default = (getattr(parameter, "help", None) or "").partition(DEFAULT)
            yield text
            yield f"[default: {default}" if " " in default else ""
            yield getattr(parameter, "rich_help_panel", None) or ""
    for child in getattr(command, "commands", {}).values():
        yield from help_texts(child)


def first_page(about: str, panels: Mapping[str, Sequence[tuple[str, str]]], options: Sequence[tuple[str, str]]) -> str:
    """The page of `akinai --help`: commands by group, each with its first sentence, then options."""
    width = min(WIDEST, shutil.get_terminal_size().columns)
    head, _, hint = about.partition("\n\n")
    rows = [*(name for commands in panels.values() for name, _ in commands), *(name for name, _ in options)]
    column = max(map(len, rows)) + 4
    lines = [f"{_styled('Usage:', YELLOW)} akinai COMMAND [OPTIONS]", ""]
    lines += [*_wrapped(" ".join(head.split()), width), "", hint]
    for title, commands in [*panels.items(), ("Options", options)]:
        lines += ["", _styled(translate(title), BOLD)]
        for name, text in commands:
            first, *further = _wrapped(text, width - column) or [""]
            lines.append(f"  {_styled(name, CYAN)}{' ' * (column - 2 - len(name))}{first}")
            lines += [" " * column + line for line in further]
    return "\n".join(lines)


def _styled(text: str, style: str) -> str:
    """Text in a style where stdout is a terminal that shows colours."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return f"{style}{text}{PLAIN}" if sys.stdout.isatty() and not plain else text


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns; Japanese may be broken between any two characters."""
    lines, start = list[str](), 0
    for end in [*line_breaks(text, width), len(text)]:
        lines.append(text[start:end].rstrip())
        start = end
    return lines
