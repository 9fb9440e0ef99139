"""The first score over the days on a page: a line for a run or a group, beside idle, reference and informed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from akinai import worlds
from akinai.analysis.scale import HIGH, LOW
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.presentation.words import figure as number
from akinai.core.presentation.words import label
from akinai.report.figures.style import SCALE_LOOKS, Look
from akinai.report.figures.svg import Axis, Panel, Shape, stretch, tick_text
from akinai.report.language import translate_report
from akinai.report.page.templating import Language, dollars, marked, translate

OWN = ("g1", "g2", "g3", "g4", "g5", "g6")
"""The hues of groups beside idle, reference and the informed player."""
CLEARANCE = 15.0
"""Per cent of the height between the names of two lines."""


@dataclass(frozen=True, slots=True)
class Line:
    """A quantity day by day; the first value is that of day `first`, by default that before day 1."""

    look: Look
    values: Sequence[float]
    band: Sequence[tuple[float, float]] = ()
    """The least and the most of each value, drawn behind the line."""
    front: bool = False
    """Whether it stands before the others, with the area under it filled."""
    first: int = 0


@dataclass(frozen=True, slots=True)
class Tick:
    """A label on an axis."""

    at: float
    """Per cent from the left or the bottom."""
    text: str


@dataclass(frozen=True, slots=True)
class LineEnd:
    """The name and the last value of a line, beside its end."""

    look: Look
    text: str
    top: float
    """Per cent from the top."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over days, which stretch with the page, and the words beside them."""

    title: str
    days: int
    shapes: str
    ends: Sequence[LineEnd]
    ticks: Sequence[Tick]
    dates: Sequence[Tick]


def plot(
    headline: tuple[str, str], lines: Iterable[Line], days: int, language: Language, clearance: float = CLEARANCE
) -> Plot | None:
    """A plot of a score, by its name and unit, with 0 in sight; None without a line. `clearance` is between names."""
    lines = sorted((line for line in lines if line.values), key=lambda line: line.front)
    if not lines:
        return None
    name, unit = headline
    days = max(days, *(line.first + len(line.values) - 1 for line in lines), 1)
    shapes = [shape for part in (_areas, _strokes) for line in lines for shape in part(line)]
    frame = stretch(Panel(shapes, Axis("", "days", high=days, exact=True), Axis("", unit)))
    day = translate(marked("day %(n)s"), language)
    ends = [
        LineEnd(line.look, short_number(line.values[-1], unit), 100 - frame.y.at(line.values[-1], 0, 100))
        for line in lines
    ]
    title = (label(name).capitalize(), *["dollars"] * (unit == "cents"))
    return Plot(
        ", ".join(translate_report(part, language) for part in title),
        days,
        frame.shapes,
        _spread(ends, clearance),
        [Tick(frame.y.at(value, 0, 100), tick_text(value, unit)) for value in frame.y.ticks],
        [Tick(frame.x.at(at, 0, 100), day.replace("%(n)s", f"{at:g}")) for at in frame.x.ticks if at],
    )


def _areas(line: Line) -> list[Shape]:
    """The area under the line in front, or the band of a line."""
    under = [*_points(line.values), (len(line.values) - 1.0, 0.0), (0.0, 0.0)] if line.front else ()
    lows, highs = (_points([ends[at] for ends in line.band]) for at in (0, 1))
    around = [*highs, *reversed(lows)]
    return [
        Shape("area", line.look, points, opacity=opacity)
        for points, opacity in ((under, 0.07), (around, 0.12))
        if points
    ]


def _strokes(line: Line) -> list[Shape]:
    size = 2.25 if line.front else 1.5 if line.look.hue in SCALE_LOOKS else 2.0
    return [Shape("line", line.look, _points(line.values, line.first), size=size)]


def _points(values: Sequence[float], first: int = 0) -> list[tuple[float, float]]:
    return [(float(day), value) for day, value in enumerate(values, first)]


def _spread(ends: Sequence[LineEnd], clearance: float) -> list[LineEnd]:
    """Move names so that no two overlap and none leaves the plot."""
    ordered = sorted(ends, key=lambda end: end.top)
    tops: list[float] = []
    for end in ordered:
        tops.append(max(end.top, tops[-1] + clearance) if tops else end.top)
    spill = max(0.0, tops[-1] - 97)
    return [replace(end, top=round(top - spill, 2)) for end, top in zip(ordered, tops, strict=True)]


def run_looks(*runs: str) -> list[Look]:
    """The looks of single runs on a page, and those of idle and reference behind them."""
    return [
        Look(run, run, *SCALE_LOOKS[run]) if run in (LOW, HIGH) else Look(run, OWN[min(at, 1)])
        for at, run in enumerate(runs)
    ]


def group_hues(genesis: Genesis, groups: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The hue of each group by name; `groups` are names and agents, the best first. The players of the scale of a game
    look alike everywhere, and of the others as many are drawn as there are hues."""
    of_players = scale_hues(genesis)
    hues: dict[str, str] = {}
    left = list(OWN)
    for name, agent in groups:
        if agent in of_players and of_players[agent] not in hues.values():
            hues[name] = of_players[agent]
        elif left:
            hues[name] = left.pop(0)
    return hues


def scale_hues(genesis: Genesis) -> Mapping[str, str]:
    """The hues of idle, reference and the yardstick of a game, by player."""
    try:
        informed = worlds.load(genesis.world).facets.judging.yardstick(genesis.setup)
    except UsageError:  # not installed here
        informed = None
    return {LOW: "idle", HIGH: "reference", **({informed: "informed"} if informed else {})}


def group_line(look: Look, runs: Sequence[Sequence[float]], genesis: Genesis, *, banded: bool = True) -> Line:
    """The mean over runs of the first score at the end of each day, with a band from the worst to the best run.

    A run that ended early goes on with its last value. A line without days has no values.
    """
    runs = [days for days in runs if days]
    length, opening = max(map(len, runs), default=0), _opening(genesis)
    by_day = [[days[min(at, len(days) - 1)] for days in runs] for at in range(length)]
    if not by_day:
        return Line(look, ())
    banded = banded and len(runs) > 1 and look.hue != "idle"
    band = [(opening, opening), *((min(values), max(values)) for values in by_day)] if banded else ()
    return Line(look, [opening, *map(fmean, by_day)], band)


def _opening(genesis: Genesis) -> float:
    try:
        world = worlds.load(genesis.world)
        return world.facets.judging.standing(world.begin(genesis)) or 0.0
    except (UsageError, ValueError):  # not installed here, or settings of another version
        return 0.0


def span_of(ends: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The ends of a scale that holds all intervals, and 0."""
    values = [0.0, *(end for two in ends for end in two)]
    return (min(values), max(values))


def on_span(
    mean: float | None, ci95: tuple[float, float] | None, span: tuple[float, float]
) -> tuple[float, float, float]:
    """The begin, the width and the mean of an interval, in per cent of a scale."""
    low, width = span[0], (span[1] - span[0]) or 1
    left, right = ci95 or (mean or 0.0, mean or 0.0)
    return (left - low) / width * 100, (right - left) / width * 100, ((mean or 0.0) - low) / width * 100


def short_number(value: float | None, unit: str, *, sign: bool = False) -> str:
    """A score as a chart shows it: money in whole dollars."""
    return dollars(value, sign=sign) if unit == "cents" else number(value, unit, sign=sign)
