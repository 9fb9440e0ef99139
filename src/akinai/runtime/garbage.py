"""When Python looks for garbage in cycles. What a run keeps are frozen records without cycles, so it does not pay."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def never_collecting() -> Generator[None]:
    """Look through nothing, for runs by rules and the fold of a ledger: all that they make is kept, and looking takes
    up to a fifth of their time. Those who overlap leave the collector as the first found it."""
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
