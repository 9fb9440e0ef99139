"""The output of commands: tables for people, one JSON document for programs, errors and progress on stderr."""

import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from akinai.core.untrusted.spelling import printable, printable_json, without_password

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from akinai.learning.loop.job import Watch
    from akinai.runtime.play.driver import Progress
    from akinai.runtime.runs.records import Run

FAILED, USAGE, STOPPED = 1, 2, 130
"""Exit codes: a run failed, bad usage, Ctrl-C."""
LONGEST_SENTENCE = 2000
"""Characters of an error."""
PIPED_WIDTH = 120
"""Columns of a table written to a file or a pipe, unless COLUMNS says otherwise."""


def print_other_rules(runs: "Iterable[Run]") -> None:
    """Print a sentence on stderr for each version of a world that is not here: how many runs are of it, and which
    release plays them."""
    for trouble, count in Counter(run.trouble for run in runs if run.other_rules).items():
        print_error(f"{'1 run is' if count == 1 else f'{count:,} runs are'} of other rules: {trouble}")


def print_error(sentence: str) -> None:
    """Print one sentence on stderr, cut where it would fill the screen."""
    from akinai.report.language import translate_sentence

    text = printable(translate_sentence(" ".join(sentence[: 4 * LONGEST_SENTENCE].split())))
    print(f"akinai: {text if len(text) <= LONGEST_SENTENCE else f'{text[:LONGEST_SENTENCE]} ...'}", file=sys.stderr)


@contextmanager
def logs_heard() -> "Generator[None]":
    """Print on stderr, in the chosen language, what is logged of agents and stores, such as that others could read
    one."""
    import logging

    logger, handler = logging.getLogger("akinai"), logging.Handler()
    handler.emit = lambda record: print_error(record.getMessage().removeprefix("akinai: "))
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def print_traceback(text: str) -> None:
    """Print the traceback of an agent's or a world's code on stderr."""
    print(printable(text.rstrip()), file=sys.stderr)


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(printable_json(json.dumps(document, ensure_ascii=not utf8, allow_nan=False)))


def print_page(render: "Callable[[int], RenderableType]") -> None:
    """Print a page on stdout; `render` makes it for a width in columns. Control characters are spelled out."""
    from rich.console import Console

    fixed = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else PIPED_WIDTH
    console = Console(width=fixed, highlight=False, markup=False, emoji=False)
    print_part(console, render(console.width))


def print_part(console: "Console", part: "RenderableType") -> None:
    """Print a part of a page on a console. Control characters are spelled out."""
    from rich.segment import Segment, Segments

    break_lines_as_japanese()
    parts = console.render(part)
    console.print(Segments([part if part.control else Segment(printable(part.text), part.style) for part in parts]))


def break_lines_as_japanese() -> None:
    """Have `rich` break lines between wide characters where Japanese is chosen: it cuts off text without spaces."""
    from rich import text

    from akinai.report.language import chosen_language
    from akinai.report.language.lines import line_breaks

    if chosen_language() == "ja":
        text.divide_line = line_breaks  # pyright: ignore[reportPrivateImportUsage] - where it breaks all lines


def print_line(text: str = "") -> None:
    """Print one or several lines on stdout. Control characters are spelled out."""
    print(printable(text))


def print_sentence(text: str) -> None:
    """Print a sentence on stdout in the language of the reader."""
    from akinai.report.language import translate_sentence

    print_line(translate_sentence(text))


def command_line(store: str | None, *words: str) -> str:
    """A command quoted for a shell. It names the store unless that is the default; a password in its URL is removed."""
    return shlex.join(["akinai", *words, *(["--store", without_password(store)] if store else [])])


def print_next_steps(steps: Mapping[str, str]) -> None:
    """Print commands to try next, each with what it does below it."""
    from akinai.report.language import translate, translate_sentence

    if steps:
        print_line(f"\n{translate('Next:')}")
        for command, purpose in steps.items():
            print_line(f"  {command}\n      {translate_sentence(purpose)}")


@contextmanager
def progress_line(*, quiet: bool) -> "Generator[Callable[..., None] | None]":
    """A line on stderr with a bar, which the function updates (`description`, `completed`, `total`); None without a
    terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield partial(progress.update, progress.add_task("", total=None))


@contextmanager
def progress_bar(*, quiet: bool) -> "Generator[Progress | None]":
    """A bar over the days of all runs, or over the runs if they have no horizon; None without a terminal."""
    from akinai.report.language import fill

    runs: dict[str, tuple[int, int]] = {}
    over: set[str] = set()
    with progress_line(quiet=quiet) as update:

        def progress(run: str, days: int, horizon: int) -> None:
            if days < 0:
                over.add(run)
                days = horizon or runs.get(run, (0, 0))[0]
            runs[run] = days, horizon
            played, planned = (sum(counts) for counts in zip(*runs.values(), strict=True))
            several = fill("{count} of {all} runs, {days} days", count=len(over), all=len(runs), days=f"{played:,}")
            text = fill("day {day}", day=f"{played:,}") if len(runs) == 1 else several
            done, total = (played, planned) if planned else (len(over), len(runs) if len(runs) > 1 else None)
            assert update is not None
            update(description=text, completed=done, total=total)

        yield progress if update else None


@contextmanager
def learning_bar(*, quiet: bool) -> "Generator[Watch | None]":
    """A line on the epoch and the tasks that were learned from; None without a terminal."""
    from akinai.report.language import fill, translate

    with progress_line(quiet=quiet) as update:

        def watch(step: str, state: Any) -> None:
            learning = fill("epoch {epoch}: {count} tasks learned", epoch=state.epoch, count=f"{state.done:,}")
            assert update is not None
            update(description=translate("judging") if state.over else f"{learning}, {step}")

        yield watch if update else None
