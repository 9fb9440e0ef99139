"""The demonstration: three players of a world on the same seeds, and a report on them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from akinai import worlds
from akinai.analysis.analyse import Analysis, analyze, compare
from akinai.analysis.comparison import Comparison
from akinai.analysis.scale import HIGH, LOW
from akinai.api.play import Seeds, run
from akinai.core.errors import UsageError
from akinai.runtime.config.files import expect_writable, new_path
from akinai.runtime.play.driver import Progress
from akinai.runtime.runs.records import Run
from akinai.stores.memory import MemoryStore

PLAYERS = (LOW, "naive", HIGH)
"""From the bottom of the scale to the top."""
WATCHED_DAYS = 7


@dataclass(frozen=True, slots=True)
class Demo:
    """The runs of the demonstration, their comparison and the report."""

    analysis: Analysis
    """The runs of all players, a group each."""
    comparison: Comparison
    """The best player against the middle one, paired by seed."""
    page: Path | None
    """The page of the report; None where Jinja2 (extra `report`) is not installed."""


def demo(
    world: str | None = None,
    *,
    seeds: Seeds = "1-7",
    days: int = 90,
    output: str | Path = "akinai-report",
    progress: Progress | None = None,
    watched: Callable[[Run], None] | None = None,
) -> Demo:
    """Play a world with three of its own players and write a report on them into the folder `output`.

    Without a world it is the first that has the players idle, naive and reference. `watched` is called with a first
    short run of the reference player as soon as it is played. Nothing is kept but the report. UsageError for a world
    without these players, and if the folder cannot be written.
    """
    name, folder = _playable(world), new_path(output)
    if _draws():
        expect_writable(folder, "the report")
    first = run(name, agent=HIGH, seeds=1, days=min(days, WATCHED_DAYS) or WATCHED_DAYS)
    if watched is not None:
        watched(first[0])
    store = MemoryStore()
    for player in PLAYERS:
        run(name, agent=player, seeds=seeds, days=days, name=player, store=store, progress=progress)
    analysis = analyze(store=store, by_day=True)
    return Demo(analysis, compare(*PLAYERS[1:], store=store), _report(analysis, folder))


def _playable(name: str | None) -> str:
    """The name of the world to play. UsageError for one that lacks a player."""
    if name is not None:
        missing = [player for player in PLAYERS if player not in worlds.load(name).players]
        if missing:
            can = ", ".join(_worlds())
            raise UsageError(f"the demo needs the player {missing[0]!r}, which {name!r} lacks; it can play {can}")
        return name
    return next(_worlds())


def _worlds() -> Iterator[str]:
    """The names of the worlds that have all three players."""
    return (name for name in worlds.names() if {*PLAYERS} <= worlds.load(name).players.keys())


def _draws() -> bool:
    """Whether what draws a report is installed."""
    return find_spec("jinja2") is not None


def _report(analysis: Analysis, folder: Path) -> Path | None:
    """The page of a report; None where what draws it is not installed."""
    if not _draws():
        return None
    from akinai.report.page.files import write

    return write(analysis, folder).page.resolve()
