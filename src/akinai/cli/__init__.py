"""The command `akinai`: parses options, calls `akinai.api`, and prints what `report` renders."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and exit: 0 done, 1 a run failed, 2 bad usage, 130 stopped."""
    # Set before NumPy is loaded: a search is one small product, which threads only slow down.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from akinai.cli.surroundings import answer_safely
    except KeyboardInterrupt:  # Ctrl-C during the imports
        sys.exit(130)
    sys.exit(answer_safely(list(sys.argv[1:] if words is None else words)))
