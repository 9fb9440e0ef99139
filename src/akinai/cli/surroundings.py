"""What a command line needs of where it runs: a working folder, and output that takes any text."""

import errno
import io
import os
import sys
from collections.abc import Sequence

FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
"""Errors of a disk or a quota without space."""


def prepare_output() -> None:
    """Have output in another encoding than UTF-8 spell what it cannot show, and replace output that is closed."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - closed before the start
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the whole process
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] - as above
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def missing_folder() -> str:
    """Why nothing can be done in the working folder, in a sentence; empty where something can."""
    try:
        os.getcwd()
    except OSError:
        return "the working folder is gone; change to a folder that is there"
    return ""


def answer_safely(words: Sequence[str]) -> int:
    """The exit code of a command line; a working folder that is gone, or full output, is one sentence."""
    from akinai.cli.app import answer
    from akinai.cli.output import FAILED, USAGE, print_error

    prepare_output()
    if why := missing_folder():
        print_error(why)
        return USAGE
    try:
        code = answer(words)
        sys.stdout.flush()
        return code
    except OSError as error:
        if error.errno not in (*FULL, errno.EPIPE):
            raise
        if error.errno != errno.EPIPE:  # a reader that has left wants no more
            print_error(f"the output cannot be written: {os.strerror(error.errno or 0).lower()}; free some space")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the exit does not try again
        return FAILED
