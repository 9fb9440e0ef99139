"""When Python looks for garbage in cycles. What a run keeps are frozen records without cycles, so it seldom pays."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

OLD = 1_000
"""Collections of the middle generation before one of the old one; Python's own figure is 10."""

_runs: list[tuple[int, int, int]] = []
"""The thresholds found by each run under way: runs may overlap in an event loop, and the last to end puts the first
ones back."""


@contextmanager
def seldom_collecting() -> Generator[None]:
    """Look through old objects a hundred times less often, for runs by rules, whose states are all kept to be scored.
    Young garbage is collected as before.
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


@contextmanager
def never_collecting() -> Generator[None]:
    """Look through nothing, for the fold of a ledger: what it makes is kept, and looking takes a fifth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_less_for_good() -> None:
    """Spare a server pauses: objects that are there now are never looked through, later ones less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
