"""The first score over the days, a line a group with a band over its seeds: for the leaderboard and for reports."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from akinai import worlds
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.presentation.words import figure as number
from akinai.core.presentation.words import label
from akinai.report.language import translate_cell
from akinai.report.page.lines import Curve, LineKind, Plot, plot
from akinai.report.page.run_page import HIGH, LOW
from akinai.report.page.templating import Language, dollars, marked, translate

OWN: tuple[LineKind, ...] = ("g1", "g2", "g3", "g4", "g5", "g6")
"""Looks of lines of groups beside idle, reference and the informed player."""
CLEARANCE = 8.0


@dataclass(frozen=True, slots=True)
class Line:
    """Runs of a game that are drawn as one line."""

    name: str
    kind: LineKind
    days: Sequence[Sequence[float]]
    """The first score at the end of each day, of each run."""
    banded: bool = True
    """Whether a band from the worst to the best run is drawn."""


def line_kinds(genesis: Genesis, groups: Iterable[tuple[str, str]]) -> Mapping[str, LineKind]:
    """The look of each group by name; `groups` are names and agents, the best first. The players of the scale of a game
    look alike everywhere, and of the others as many are drawn as there are looks."""
    kinds_of_players = scale_kinds(genesis)
    kinds: dict[str, LineKind] = {}
    left = list(OWN)
    for name, agent in groups:
        if agent in kinds_of_players and kinds_of_players[agent] not in kinds.values():
            kinds[name] = kinds_of_players[agent]
        elif left:
            kinds[name] = left.pop(0)
    return kinds


def scale_kinds(genesis: Genesis) -> Mapping[str, LineKind]:
    """The looks of idle, reference and the yardstick of a game, by player."""
    try:
        informed = worlds.load(genesis.world).facets.judging.yardstick(genesis.setup)
    except UsageError:  # not installed here
        informed = None
    return {LOW: "idle", HIGH: "reference", **({informed: "informed"} if informed else {})}


def score_over_days(lines: Iterable[Line], genesis: Genesis, score: str, unit: str, language: Language) -> Plot | None:
    """The plot of a game; None where no run has days. A run that ended early goes on with its last value."""
    opening = _opening(genesis)
    curves = [_curve(line, opening) for line in lines if any(line.days)]
    if not curves:
        return None
    day = translate(marked("day %(n)s"), language)
    cents = unit == "cents"
    return plot(
        ", ".join(translate_cell(part, language) for part in (label(score).capitalize(), *["dollars"] * cents)),
        curves,
        max(len(curve.values) for curve in curves) - 1,
        text=lambda value: dollars(value) if cents else f"{value:g}",
        day=lambda at: day.replace("%(n)s", str(at)),
        clearance=CLEARANCE,
    )


def _opening(genesis: Genesis) -> float:
    try:
        world = worlds.load(genesis.world)
        return world.facets.judging.standing(world.begin(genesis)) or 0.0
    except (UsageError, ValueError):  # not installed here, or settings of another version
        return 0.0


def _curve(line: Line, opening: float) -> Curve:
    runs = [days for days in line.days if days]
    length = max(map(len, runs))
    by_day = [[days[min(at, len(days) - 1)] for days in runs] for at in range(length)]
    means = [opening, *(fmean(values) for values in by_day)]
    banded = line.banded and len(runs) > 1 and line.kind != "idle"
    band = [(opening, opening), *((min(values), max(values)) for values in by_day)] if banded else ()
    return Curve(line.name, line.kind, means, band)


def span_of(ends: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The ends of a scale that holds all intervals, and 0."""
    values = [end for two in ends for end in two]
    return (min(0.0, *values), max(0.0, *values)) if values else (0.0, 1.0)


def on_span(
    mean: float | None, ci95: tuple[float, float] | None, span: tuple[float, float]
) -> tuple[float, float, float]:
    """The begin, the width and the mean of an interval, in per cent of a scale."""
    low, width = span[0], (span[1] - span[0]) or 1
    left, right = ci95 or (mean or 0.0, mean or 0.0)
    return (left - low) / width * 100, (right - left) / width * 100, ((mean or 0.0) - low) / width * 100


def short_number(value: float | None, unit: str) -> str:
    """A score as a chart shows it: money in whole dollars."""
    return dollars(value) if unit == "cents" else number(value, unit)
