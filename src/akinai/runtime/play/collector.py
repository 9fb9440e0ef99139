"""The collector of cycles, kept from looking through all that a run keeps again and again."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

OLD = 1_000
"""Collections of the middle generation before one of the old one; Python's own figure is 10."""

_runs: list[tuple[int, int, int]] = []
"""The thresholds found by each run under way: runs may overlap in an event loop, and the last to end puts the first
ones back."""


@contextmanager
def old_seldom_collected() -> Generator[None]:
    """Look through old objects a hundred times less often, for runs by rules: every state is kept to be scored, and
    none of them is in a cycle. Young garbage is collected as before.
    """
    _runs.append(_runs[0] if _runs else gc.get_threshold())
    young, middle, old = _runs[0]
    gc.set_threshold(young, middle, max(old, OLD))
    try:
        yield
    finally:
        before = _runs.pop()
        if not _runs:
            gc.set_threshold(*before)
