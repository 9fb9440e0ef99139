"""The progress bar on stderr, where somebody sits at a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akinai.runtime.play import Progress


@contextmanager
def bar(*, quiet: bool) -> "Iterator[Progress | None]":
    """A bar over the days of all runs, or over the runs where there is no horizon; None when nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    runs: dict[str, tuple[int, int]] = {}
    over: set[str] = set()
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as shown:
        task = shown.add_task("begin", total=None)

        def progress(run: str, days: int, horizon: int) -> None:
            if days < 0:
                over.add(run)
                days = horizon or runs.get(run, (0, 0))[0]
            runs[run] = days, horizon
            played, wanted = (sum(counts) for counts in zip(*runs.values(), strict=True))
            told = f"day {played:,}" if len(runs) == 1 else f"{len(over):,} of {len(runs):,} runs, {played:,} days"
            done, total = (played, wanted) if wanted else (len(over), len(runs) if len(runs) > 1 else None)
            shown.update(task, description=told, completed=done, total=total)

        yield progress
