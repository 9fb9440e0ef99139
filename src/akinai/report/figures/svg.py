"""Drawings as SVG: panels of lines, areas and marks with their axes, the same bytes for the same data.

A file has the colours of paper, and those of the dark in a style; a page gives its own to the same classes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isclose, log10
from typing import Literal
from xml.sax.saxutils import escape

from rich.cells import cell_len

from akinai.core.presentation.charts import Chart
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import capitalized, unit_word
from akinai.report.figures.style import DARK, HUES, INK, LINE, SOFT, Look, writable

SVG = "http://www.w3.org/2000/svg"
WIDTH, GAP, LETTER, ROW = 640.0, 14.0, 6.2, 16.0
"""The width of a figure, the space between panels, the mean width of a letter and the height of a line of text."""
MARKS = {
    "o": "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0 -2 0z", "s": "M-.9 -.9h1.8v1.8h-1.8z", "^": "M0 -1.2l1.1 2h-2.2z",
    "v": "M0 1.2l1.1 -2h-2.2z", "D": "M0 -1.25l1.25 1.25l-1.25 1.25l-1.25 -1.25z", "|": "M-.2 -1.6h.4v3.2h-.4z",
    "P": "M-.4 -1.1h.8v.7h.7v.8h-.7v.7h-.8v-.7h-.7v-.8h.7z",
    "X": "M0 -.5l.7 -.7l.5 .5l-.7 .7l.7 .7l-.5 .5l-.7 -.7l-.7 .7l-.5 -.5l.7 -.7l-.7 -.7l.5 -.5z",
}  # fmt: skip
STYLE = "".join(f".s.{hue}{{stroke:{colour}}}.f.{hue}{{fill:{colour}}}" for hue, colour in DARK.items())

Points = Sequence[tuple[float, float | None]]


@dataclass(frozen=True, slots=True)
class Shape:
    """A line, broken where it has no value, the area within a line, or marks, in the units of the axes."""

    kind: Literal["line", "area", "marks"]
    look: Look
    points: Points
    label: str = ""
    """Its words in the legend; empty for none."""
    size: float = 1.6
    """The width of a line, or half that of a mark."""
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its words and its unit, or rows by name from the top."""

    label: str
    unit: str = ""
    names: Sequence[str] = ()
    low: float | None = 0.0
    """A value that it reaches down to at least; None for the values alone."""
    high: float | None = None
    exact: bool = False
    """Whether it ends there, and not at a round number."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes."""

    shapes: Sequence[Shape]
    x: Axis
    y: Axis
    title: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure of a report."""

    name: str
    """The name of its file without the ending; unique in a report."""
    title: str
    caption: str
    """The text below the figure: its content, the number of runs, and how to read it."""
    description: str
    """The content in words, for readers who do not see the figure."""
    values: Grid
    """The values as a table; a long one is thinned out."""
    svg: str
    """The text of the file."""

    @property
    def inline(self) -> str:
        """The drawing as an element of an HTML page, which gives it its colours."""
        bare = re.sub(r"<style>.*?</style>|<rect class=\"paper\"[^>]*/>", "", self.svg, count=2)
        return re.sub(r' (?:xmlns|width|height)="[^"]*"', "", bare, count=3)


def axis_of(chart: Chart, low: float | None = 0.0) -> Axis:
    """The axis of a chart's values: the quantity, and the unit in brackets."""
    return Axis(axis_label(chart.label, chart.unit), chart.unit, low=low)


def axis_label(label: str, unit: str) -> str:
    """The label of an axis: its quantity, and the unit in brackets."""
    return f"{capitalized(label)} ({unit_word(unit)})" if label else capitalized(unit_word(unit))


def days_axis(last: int) -> Axis:
    """The axis of days, from the first to the last."""
    return Axis("Day of the run", "days", low=1 if last > 1 else 0.5, high=max(last, 1.5), exact=True)


def draw(
    title: str, description: str, panels: Sequence[Panel], height: float, columns: int = 0, *, shared: bool = True
) -> str:
    """The SVG file of panels, each `height` high, in a grid of `columns`, by default all side by side. `shared` panels
    have one vertical axis."""
    columns = columns or len(panels)
    rows = -(-len(panels) // columns)
    xs = scale([panel.x for panel in panels], [x for panel in panels for x in _values(panel, 0)], WIDTH / columns / 60)
    of_all = [[panel] for panel in panels] if not shared else [panels] * len(panels)
    ys = [
        scale([panel.y for panel in of], [y for panel in of for y in _values(panel, 1)], height / 26) for of in of_all
    ]
    margins = [
        _margin(panel.y, y) if not shared or at % columns == 0 else 0.0
        for at, (panel, y) in enumerate(zip(panels, ys, strict=True))
    ]
    lefts = [max(margins[column::columns]) for column in range(columns)]
    room = (WIDTH - sum(lefts) - GAP * (columns + 0.6)) / columns
    head, foot = (ROW + 4 if any(panel.title for panel in panels) else 8), 2 * ROW + 6
    body: list[str] = []
    for at, (panel, y) in enumerate(zip(panels, ys, strict=True)):
        column, row = at % columns, at // columns
        left = sum(lefts[: column + 1]) + (room + GAP) * column
        below = at + columns >= len(panels)
        top = row * (head + height + GAP) + head
        body += _panel(panel, (left, top, room, height), xs, y, named=not shared or column == 0, below=below)
    bottom = rows * (head + height + GAP) - GAP + foot
    legend, bottom = _legend([shape for panel in panels for shape in panel.shapes], bottom)
    words = [writable(text) for text in (title, description)]
    return (
        f'<svg xmlns="{SVG}" width="{WIDTH:g}" height="{bottom:g}" viewBox="0 0 {WIDTH:g} {bottom:g}" role="img" '
        f'aria-label="{escape(f"{words[0]}. {words[1]}", QUOTE)}" font-family="system-ui, sans-serif" font-size="11">'
        f"<title>{escape(words[0])}</title><desc>{escape(words[1])}</desc>"
        f"<style>@media (prefers-color-scheme:dark){{.paper{{fill:#171614}}{STYLE}}}</style>"
        f'<rect class="paper" width="100%" height="100%" fill="#fff"/>{"".join([*body, *legend])}</svg>\n'
    )


QUOTE = {'"': "&quot;"}


@dataclass(frozen=True, slots=True)
class Frame:
    """The shapes of a panel in a box of `BOX` by `BOX`, which a page stretches, and the scales for the words beside
    it."""

    shapes: str
    x: "Scale"
    y: "Scale"


BOX = 1000
DAYS_NAMED, TICKS = 9, 4
"""Words on the axes of a page at most."""


def stretch(panel: Panel) -> Frame:
    """The lines and areas of a panel for a page, which writes the words itself so that they stay as they are."""
    x, y = scale([panel.x], _values(panel, 0), DAYS_NAMED), scale([panel.y], _values(panel, 1), TICKS)
    return Frame("".join(_shapes(panel, x, y, (0, 0, BOX, BOX))), x, y)


@dataclass(frozen=True, slots=True)
class Scale:
    """The ends of an axis and its ticks."""

    low: float
    high: float
    ticks: Sequence[float]

    def at(self, value: float, start: float, length: float) -> float:
        return start + (value - self.low) / (self.high - self.low) * length


def _values(panel: Panel, of: int) -> Iterator[float]:
    return (value for shape in panel.shapes for point in shape.points if (value := point[of]) is not None)


def nice_step(span: float, most: int = TICKS) -> float:
    """A step of 1, 2 or 5 times a power of ten, of which at most `most` fit into a span."""
    raw = (span or 1) / most
    power = 10.0 ** floor(log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw * (1 - 1e-9))


def scale(axes: Sequence[Axis], values: Iterable[float], most: float) -> Scale:
    """The scale that axes share, with at most so many steps."""
    axis = axes[0]
    if axis.names:
        return Scale(len(axis.names) - 0.4, -0.6, range(len(axis.names)))
    numbers = [*values, *(end for one in axes for end in (one.low, one.high) if end is not None)]
    low, high = min(numbers), max(numbers)
    step = nice_step(high - low, max(2, int(most)))
    step = max(1.0, step) if axis.unit == "days" else step
    if not axis.exact:
        low, high = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
        high = high if high > low else low + step
    ticks = [step * at for at in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
    return Scale(low, high, ticks)


def _margin(axis: Axis, scale: Scale) -> float:
    texts = axis.names or [tick_text(tick, axis.unit) for tick in scale.ticks]
    return max((cell_len(text) for text in texts), default=0) * LETTER + 12 + (ROW if axis.label else 0)


def _panel(
    panel: Panel, box: tuple[float, float, float, float], x: Scale, y: Scale, *, named: bool, below: bool
) -> Iterator[str]:
    left, top, width, height = box
    bottom, right = top + height, left + width
    if panel.title:
        yield _text(left, top - 6, panel.title, INK, bold=True)
    for tick in x.ticks:
        place = x.at(tick, left, width)
        yield _line([(place, top), (place, bottom)], LINE, 0.7)
        if below:
            yield _text(place, bottom + 14, tick_text(tick, panel.x.unit), SOFT, "middle")
    for tick in y.ticks:
        place = y.at(tick, bottom, -height)
        name = panel.y.names[int(tick)] if panel.y.names else tick_text(tick, panel.y.unit)
        yield "" if panel.y.names else _line([(left, place), (right, place)], LINE, 0.7)
        yield _text(left - 6, place + 4, name, INK if panel.y.names else SOFT, "end") if named else ""
    for scale, ends in ((x, ((left, top), (0, height))), (y, ((left, bottom), (width, 0)))):
        if scale.low < 0 < scale.high and not (scale is y and panel.y.names):
            (a, b), (right_by, down_by) = ends
            a, b = (x.at(0, left, width), top) if scale is x else (left, y.at(0, bottom, -height))
            yield _line([(a, b), (a + right_by, b + down_by)], SOFT, 0.9)
    yield _line([(left, top), (left, bottom), (right, bottom)], SOFT, 0.9)
    if below:
        yield _text(left + width / 2, bottom + 14 + ROW, panel.x.label, INK, "middle")
    if named and panel.y.label:
        yield _text(
            0,
            0,
            panel.y.label,
            INK,
            "middle",
            f"translate({left - _margin(panel.y, y) + 11:.1f} {top + height / 2:.1f}) rotate(-90)",
        )
    yield from _shapes(panel, x, y, box)


def _shapes(panel: Panel, x: Scale, y: Scale, box: tuple[float, float, float, float]) -> Iterator[str]:
    left, top, width, height = box
    for shape in panel.shapes:
        points = [
            (x.at(a, left, width), None if b is None else y.at(b, top + height, -height)) for a, b in shape.points
        ]
        yield from _shape(shape, points)


def _shape(shape: Shape, points: Points) -> Iterator[str]:
    match shape.kind:
        case "line":
            yield _line(points, shape.look, shape.size, shape.opacity)
        case "area":
            yield f'<path {_hue("f", shape.look)} opacity="{shape.opacity:g}" d="{path_of(points)}z"/>'
        case "marks":
            for a, b in points:
                if b is not None:
                    yield (
                        f'<path {_hue("f", shape.look)} opacity="{shape.opacity:g}" '
                        f'transform="translate({a:.1f} {b:.1f}) scale({shape.size:g})" d="{MARKS[shape.look.marker]}"/>'
                    )


def _hue(kind: Literal["s", "f"], look: Look) -> str:
    """The class of a stroke or a fill, and its colour on paper."""
    return f'class="{kind} {look.hue}" {"stroke" if kind == "s" else "fill"}="{HUES[look.hue]}"'


def _line(points: Points, look: Look, width: float, opacity: float = 1.0) -> str:
    dash = f' stroke-dasharray="{look.dash}"' if look.dash else ""
    faint = f' opacity="{opacity:g}"' if opacity < 1 else ""
    return f'<path fill="none" {_hue("s", look)} stroke-width="{width:g}"{dash}{faint} d="{path_of(points)}"/>'


def path_of(points: Points) -> str:
    """The path through points; it begins anew behind a gap."""
    text, pen = "", "M"
    for a, b in points:
        if b is None:
            pen = "M"
        else:
            text += f"{pen}{a:.1f} {b:.1f}"
            pen = "L"
    return text


def _text(
    x: float, y: float, text: str, look: Look, anchor: str = "start", turned: str = "", *, bold: bool = False
) -> str:
    place = f'transform="{turned}"' if turned else f'x="{x:.1f}" y="{y:.1f}"'
    weight = ' font-weight="600"' if bold else ""
    return f'<text {place} {_hue("f", look)} text-anchor="{anchor}"{weight}>{escape(writable(text))}</text>'


def _legend(shapes: Sequence[Shape], top: float) -> tuple[list[str], float]:
    """The words of the shapes that have any, each once, in lines; and where it ends."""
    parts: list[str] = []
    left = 8.0
    by_label: dict[str, list[Shape]] = {}
    for shape in shapes:
        if shape.label:
            by_label.setdefault(shape.label, []).append(shape)
    for label, alike in by_label.items():
        width = 34 + cell_len(label) * LETTER
        if left > 8 and left + width > WIDTH:
            left, top = 8.0, top + ROW
        for shape in {shape.kind: shape for shape in alike}.values():
            ends = [(left, top + 4), (left + 22, top + 4)]
            box = [(left, top), (left + 22, top), (left + 22, top + 9), (left, top + 9)]
            points = {"line": ends, "marks": [(left + 11, top + 4)], "area": box}[shape.kind]
            parts += _shape(shape, points)
        parts.append(_text(left + 28, top + 8, label, INK))
        left += width
    return parts, top + (ROW if by_label else 0)


def tick_text(value: float, unit: str) -> str:
    """A number on an axis: "$2" for whole dollars, else "$1.50"; counts and shares as they are."""
    value = round(value, 9) + 0.0
    if unit != "cents":
        return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"
    sign, amount = ("\N{MINUS SIGN}" if value < 0 else ""), abs(value) / 100
    return f"{sign}${amount:,.0f}" if isclose(amount, round(amount), abs_tol=1e-9) else f"{sign}${amount:,.2f}"


def over_days_table(values: Mapping[str, Sequence[float | None]], unit: str, limit: int = 14) -> Grid:
    """Values by day from 1, of at most `limit` days: the first, the last, and even steps between."""
    last = max(map(len, values.values()), default=0)
    steps = {round(step * (last - 1) / (limit - 1)) for step in range(limit)} if last > limit else range(last)
    days = sorted(steps)
    return Grid(
        [
            Column("day", [day + 1 for day in days], words=True),
            *(
                Column(name, [of[day] if day < len(of) else None for day in days], unit=unit)
                for name, of in values.items()
            ),
        ]
    )
