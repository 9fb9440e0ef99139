"""Controls Python's cyclic garbage collector. A run holds frozen records without cycles, so collecting does not pay."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def never_collecting() -> Generator[None]:
    """Disable the collector for runs by rules and replays: all their objects stay alive, and collecting takes up to a
    fifth of their time. Overlapping blocks leave the collector as the first one met it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_less_for_good() -> None:
    """Spare a server pauses: present objects are never collected, later ones less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
