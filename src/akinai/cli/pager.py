"""Long pages: through a pager where stdout is a terminal, as they are where it is a file or a pipe."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from io import StringIO
from typing import TYPE_CHECKING

from akinai.cli.output import PIPED_WIDTH, print_part

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_WIDTH = 110
"""Maximum columns of a transcript: longer lines are hard to read."""
LESS = "FRX"
"""Options for `less` unless LESS is set: leave when a screen holds all, let colours through, keep the screen."""


def print_paged(parts: "Iterable[RenderableType]") -> None:
    """Print the parts of a page one by one, as they are made. Control characters are spelled out."""
    command = _pager() if sys.stdout.isatty() and os.environ.get("TERM") != "dumb" else None
    if command is None:
        print_parts(parts)
        return
    environment = {**os.environ, "LESS": os.environ.get("LESS", LESS)}
    with _leave_ctrl_c_to_pager():
        pager = subprocess.Popen(
            command, stdin=subprocess.PIPE, env=environment, encoding="utf-8", errors="backslashreplace"
        )
        assert pager.stdin is not None
        with suppress(BrokenPipeError):  # the reader has left
            for part in parts:
                pager.stdin.write(_rendered(part))
        with suppress(BrokenPipeError):
            pager.stdin.close()
        pager.wait()


def print_parts(parts: "Iterable[RenderableType]") -> None:
    """Print the parts of a page on stdout, each at once."""
    from rich.console import Console

    fixed = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else PIPED_WIDTH
    console = Console(width=fixed, highlight=False, markup=False, emoji=False)
    console.width = min(console.width, MOST_WIDTH)
    try:
        for part in parts:
            print_part(console, part)
        sys.stdout.flush()
    except BrokenPipeError:  # `akinai show RUN | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _rendered(part: "RenderableType") -> str:
    from rich.console import Console

    file = StringIO()
    screen = Console(highlight=False, markup=False, emoji=False)
    console = Console(
        file=file, width=min(screen.width, MOST_WIDTH), force_terminal=True, no_color=screen.no_color,
        highlight=False, markup=False, emoji=False,
    )  # fmt: skip
    print_part(console, part)
    return file.getvalue()


def _pager() -> list[str] | None:
    """The command of AKINAI_PAGER or PAGER, otherwise `less`; None where there is none, or an empty one was set."""
    words = shlex.split(os.environ.get("AKINAI_PAGER", os.environ.get("PAGER", "less")))
    return words if words and shutil.which(words[0]) else None


@contextmanager
def _leave_ctrl_c_to_pager() -> Generator[None]:
    """Leave Ctrl-C to the pager while it has the terminal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
