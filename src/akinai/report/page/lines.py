"""Lines over days as SVG paths in per cent of the plot: they stretch with the page, and words stay words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Literal

LineKind = Literal["run", "other", "reference", "idle", "informed", "g1", "g2", "g3", "g4", "g5", "g6"]
STEPS = (1, 2, 5, 10)
CLEARANCE = 15.0
"""Per cent of the height between two labels."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A quantity day by day; the first value is that before day 1."""

    name: str
    kind: LineKind
    values: Sequence[float]
    band: Sequence[tuple[float, float]] = ()
    """The least and the most of each value, drawn behind the line."""


@dataclass(frozen=True, slots=True)
class Label:
    """The name and the last value of a line, beside its end."""

    name: str
    text: str
    kind: LineKind
    top: float
    """Per cent from the top."""


@dataclass(frozen=True, slots=True)
class Path:
    """A line in a view box of `days` by 100."""

    kind: LineKind
    path: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A label on an axis."""

    at: float
    """Per cent from the left or the bottom."""
    text: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over days with their axes."""

    title: str
    days: int
    paths: Sequence[Path]
    area: str
    labels: Sequence[Label]
    ticks: Sequence[Tick]
    dates: Sequence[Tick]
    bands: Sequence[Path] = ()


def nice_step(span: float, most: int = 4) -> float:
    """A step of 1, 2 or 5 times a power of ten, of which at most `most` fit into a span."""
    raw = span / most
    if raw <= 0:
        return 1
    power = 10.0 ** floor(log10(raw))
    return next(step * power for step in STEPS if step * power >= raw * (1 - 1e-9))


def plot(
    title: str,
    curves: Iterable[Curve],
    days: int,
    *,
    text: Callable[[float], str],
    day: Callable[[int], str],
    clearance: float = CLEARANCE,
) -> Plot:
    """A plot with 0 in sight. The area is under the first line of the kind "run"; `clearance` is between labels."""
    drawn = [curve for curve in curves if curve.values]
    values = [0.0, *(value for curve in drawn for value in curve.values)]
    values += [end for curve in drawn for ends in curve.band for end in ends]
    step = nice_step(max(values) - min(values))
    low, high = floor(min(values) / step) * step, max(ceil(max(values) / step), 1) * step
    days = max(days, *(len(curve.values) - 1 for curve in drawn), 1)

    def top(value: float) -> float:
        return round(100 - (value - low) / (high - low) * 100, 2)

    def path(curve: Curve) -> str:
        return "M" + "L".join(f"{index} {top(value):g}" for index, value in enumerate(curve.values))

    def around(band: Sequence[tuple[float, float]]) -> str:
        upper_edge = [f"{index} {top(high):g}" for index, (_, high) in enumerate(band)]
        lower_edge = [f"{index} {top(low):g}" for index, (low, _) in enumerate(band)]
        return f"M{'L'.join([*upper_edge, *reversed(lower_edge)])}Z"

    front = next((curve for curve in drawn if curve.kind == "run"), None)
    area = f"{path(front)}L{len(front.values) - 1} {top(0):g}L0 {top(0):g}Z" if front else ""
    labels = [Label(curve.name, text(curve.values[-1]), curve.kind, top(curve.values[-1])) for curve in drawn]
    return Plot(
        title,
        days,
        tuple(Path(curve.kind, path(curve)) for curve in sorted(drawn, key=lambda curve: curve.kind == "run")),
        area,
        _spread_labels(labels, clearance),
        tuple(
            Tick(100 - top(low + index * step), text(low + index * step))
            for index in range(round((high - low) / step) + 1)
        ),
        tuple(Tick(at / days * 100, day(at)) for at in _days_named(days)),
        tuple(Path(curve.kind, around(curve.band)) for curve in drawn if curve.band),
    )


def _days_named(days: int) -> range:
    step = max(1, int(nice_step(days, 9)))
    return range(step, days + 1, step)


def _spread_labels(labels: Sequence[Label], clearance: float) -> tuple[Label, ...]:
    """Move labels so that no two overlap and none leaves the plot."""
    ordered = sorted(labels, key=lambda label: label.top)
    tops: list[float] = []
    for label in ordered:
        tops.append(max(label.top, tops[-1] + clearance) if tops else label.top)
    spill = max(0.0, tops[-1] - 97) if tops else 0
    return tuple(
        Label(label.name, label.text, label.kind, round(top - spill, 2))
        for label, top in zip(ordered, tops, strict=True)
    )


def sparkline(
    values: Sequence[float], days: int, low: float, high: float, *, width: int = 120, height: int = 28
) -> str:
    """A path in a box of its own, where all rows of a table have the same scale."""
    if len(values) < 2:
        return ""
    step, span = width / max(1, days), (high - low) or 1
    points = (
        f"{index * step:.1f} {height - 1 - (value - low) / span * (height - 2):.1f}"
        for index, value in enumerate(values)
    )
    return "M" + "L".join(points)
