"""The command `akinai`. Thin: the runtime does, `report` turns data into text, and here words become calls."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Do what the words of a command line ask and exit: 0 done, 1 a run failed, 2 bad usage, 130 stopped."""
    # Before NumPy is loaded: a search is one small product, and threads that wait for each other make it slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from akinai.cli.app import answer
    except KeyboardInterrupt:  # Ctrl-C before anything was begun
        sys.exit(130)
    sys.exit(answer(list(sys.argv[1:] if words is None else words)))
