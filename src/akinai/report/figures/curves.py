"""Figures of lines: over the days of runs, over places in an order, and over the keys of a table."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from akinai.core.presentation.charts import Chart, ColumnChart
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import ABSENT, capitalized, label, unit_word
from akinai.core.presentation.words import figure as number
from akinai.core.statistics import Summary
from akinai.report.figures.series import Curve, Curves
from akinai.report.figures.style import Look, short
from akinai.report.figures.svg import (
    Axis,
    Drawing,
    Panel,
    Points,
    Shape,
    axis_label,
    axis_of,
    days_axis,
    draw,
    over_days_table,
)

MAX_DESCRIBED = 3
"""Groups whose values the description of a figure gives."""
MAX_PANELS, PANEL_COLUMNS = 12, 3
MAX_PLACES = 10
SPREAD = 0.5
"""The share of the room between two places that the marks of all groups take."""
LINES: tuple[Literal["line"], float] = ("line", 1.3)
MARKS: tuple[Literal["marks"], float] = ("marks", 2.0)
"""How the panels of items are drawn: over a single day there is no line."""
FILLS = [Look("", hue) for hue in ("g1", "g7", "g2", "line")]
"""The parts of a whole."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The days so far of a run that failed or is not over."""

    group: str
    values: Sequence[float | None]


def over_days(
    chart: Chart, curves: Curves, looks: Mapping[str, Look], unfinished: Sequence[Unfinished] = ()
) -> Drawing:
    """A line for each group over the days, with the interval of its mean as a band."""
    shapes: list[Shape] = []
    for group, curve in curves.items():
        shapes += _line(curve, looks[group])
    for run in unfinished:
        look = replace(looks[run.group], dash="1 3", marker="X")
        points = _by_day(run.values)
        shapes += [Shape("line", look, points, size=1), Shape("marks", look, points[-1:], size=3.4)]
    last = max(len(curve.mean) for curve in curves.values())
    description = _description(chart, curves)
    svg = draw(chart.title, description, [Panel(shapes, days_axis(last), axis_of(chart))], 210)
    caption = " ".join(filter(None, (_lines_caption(curves), chart.note, _unfinished_caption(unfinished))))
    values = {f"{group} (n = {curve.n})": curve.mean for group, curve in curves.items()}
    return Drawing(chart.name, chart.title, caption, description, over_days_table(values, chart.unit), svg)


def _line(curve: Curve, look: Look) -> list[Shape]:
    points, words = _by_day(curve.mean), _with_n(look, curve)
    if len(points) == 1:
        return [Shape("marks", look, points, words, 4)]
    return [*(_bands(curve, look) if curve.n > 1 else ()), Shape("line", look, points, words)]


def _bands(curve: Curve, look: Look) -> Iterable[Shape]:
    """The intervals of the means, an area for each stretch of days that have one."""
    stretch: list[tuple[float, float, float]] = []
    for day, (low, high) in enumerate(zip(curve.low, curve.high, strict=True), 1):
        if low is not None and high is not None:
            stretch.append((day, low, high))
        if stretch and (low is None or day == len(curve.low)):
            upper = [(day, high) for day, _, high in stretch]
            yield Shape("area", look, [*upper, *((day, low) for day, low, _ in reversed(stretch))], opacity=0.16)
            stretch = []


def _by_day(values: Sequence[float | None]) -> list[tuple[float, float | None]]:
    return [(float(day), value) for day, value in enumerate(values, 1)]


def _with_n(look: Look, *curves: Curve) -> str:
    least, most = min(curve.n for curve in curves), max(curve.n for curve in curves)
    return f"{look.name} (n = {least})" if least == most else f"{look.name} (n = {least} to {most})"


def _lines_caption(curves: Curves) -> str:
    if all(curve.n == 1 for curve in curves.values()):
        return "A line is one run (n = 1)."
    return "Lines are means over n runs, bands the 95 % intervals of the means (Student's t)."


def _unfinished_caption(unfinished: Sequence[Unfinished]) -> str:
    if not unfinished:
        return ""
    runs = "1 run that failed or is not over is" if len(unfinished) == 1 else f"{len(unfinished)} unfinished runs are"
    return f"{runs} dotted up to a cross; the mean goes on with where they stand."


def _description(chart: Chart, curves: Curves) -> str:
    ends = [
        f"{group} from {number(curve.mean[0], chart.unit)} on day 1 to {number(curve.mean[-1], chart.unit)} on the last"
        for group, curve in list(curves.items())[:MAX_DESCRIBED]
    ]
    more = len(curves) - MAX_DESCRIBED
    further = f"; and {more} more" if more > 0 else ""
    return f"{axis_label(chart.label, chart.unit)} by day: {'; '.join(ends)}{further}."


def stacked(chart: Chart, parts: Mapping[str, Sequence[float | None]]) -> Drawing:
    """Parts of a whole over the days of one run, on top of one another."""
    last = max(map(len, parts.values()))
    days = [float(day) for day in range(1, last + 1)] if last > 1 else [0.75, 1.25]  # a day is drawn with some width
    below, shapes, names = [0.0] * len(days), list[Shape](), [label(part) for part in parts]
    for name, values, look in zip(names, parts.values(), FILLS, strict=False):
        heights = [value or 0.0 for value in values]
        heights = heights if last > 1 else heights * 2
        above = [base + height for base, height in zip(below, heights, strict=True)]
        edge = [*zip(days, above, strict=True)]
        shapes.append(Shape("area", look, [*edge, *reversed([*zip(days, below, strict=True)])], name, opacity=0.85))
        below = above
    ends = ", ".join(f"{label(part)} {number(values[-1], chart.unit)}" for part, values in parts.items())
    description = f"On day {last}: {ends}."
    svg = draw(chart.title, description, [Panel(shapes, days_axis(last), axis_of(chart))], 190)
    values = over_days_table(dict(zip(names, parts.values(), strict=True)), chart.unit)
    return Drawing(chart.name, chart.title, chart.note, description, values, svg)


def panels(chart: Chart, curves_by_item: Mapping[str, Curves], looks: Mapping[str, Look]) -> Drawing:
    """A small panel for each item, with a line for each group; all panels share their scales."""
    names = list(curves_by_item)[:MAX_PANELS]
    last = max(len(curve.mean) for name in names for curve in curves_by_item[name].values())
    words = {
        group: _with_n(look, *drawn)
        for group, look in looks.items()
        if (drawn := [curves_by_item[name][group] for name in names if group in curves_by_item[name]])
    }
    y, (kind, size) = Axis(capitalized(unit_word(chart.unit)), chart.unit), LINES if last > 1 else MARKS
    items = [
        Panel(
            [
                Shape(kind, looks[group], _by_day(curve.mean), words[group], size)
                for group, curve in curves_by_item[name].items()
            ],
            days_axis(last), y, short(label(name)),
        )
        for name in names
    ]  # fmt: skip
    description = f"{axis_label(chart.label, chart.unit)} by day, a panel each for {', '.join(map(label, names))}."
    svg = draw(chart.title, description, items, 80, min(PANEL_COLUMNS, len(names)))
    left_out = len(curves_by_item) - len(names)
    more = f"{left_out} more are in results.json." if left_out else ""
    caption = " ".join(filter(None, (chart.note, more)))
    return Drawing(chart.name, chart.title, caption, description, _panel_table(curves_by_item, chart.unit), svg)


def _panel_table(curves_by_item: Mapping[str, Curves], unit: str) -> Grid:
    groups = list(dict.fromkeys(group for curves in curves_by_item.values() for group in curves))
    curves = {group: [curves.get(group) for curves in curves_by_item.values()] for group in groups}
    means = {group: [curve and fmean(curve.values) for curve in of] for group, of in curves.items()}
    items = Column("mean over the days", [*map(label, curves_by_item)], words=True)
    return Grid([items, *(Column(group, values, unit=unit) for group, values in means.items())])


Places = Mapping[str, Mapping[int, Summary]]
"""By group, the mean at each place from 1, or under each key."""


def by_place(chart: Chart, by_order: Mapping[str, Places], looks: Mapping[str, Look]) -> Drawing:
    """A panel for each order, a line for each group over the places in it, with the intervals of the means."""
    last = min(MAX_PLACES, max(max(counts) for by_group in by_order.values() for counts in by_group.values()))
    x = Axis("Place", "days", low=0.5, high=last + 0.5, exact=True)
    items = [
        Panel(_key_lines(by_group, looks, last), x, axis_of(chart), short(label(order)))
        for order, by_group in by_order.items()
    ]
    firsts = (
        f"{label(order)}: at the first place {number(counts[1].mean, '')} of {group}"
        for order, by_group in by_order.items()
        for group, counts in by_group.items()
        if 1 in counts
    )
    description = f"{axis_label(chart.label, chart.unit)} by place. {'; '.join(firsts)}."
    svg = draw(chart.title, description, items, 170)
    rows = [
        (label(order), str(rank), *(_mean_text(by_group.get(group, {}), rank, "") for group in looks))
        for order, by_group in by_order.items()
        for rank in range(1, last + 1)
    ]
    values = Grid.of_rows(("order", "place", *looks), rows)
    return Drawing(chart.name, chart.title, chart.note, description, values, svg)


def _key_lines(by_group: Places, looks: Mapping[str, Look], last: int = sys.maxsize) -> list[Shape]:
    """The means of each group with their intervals, which go below 0 only where a value does; a line is broken where
    there is no value."""
    shapes: list[Shape] = []
    for index, (group, points) in enumerate(by_group.items()):
        look = looks[group]
        offset = (index - (len(by_group) - 1) / 2) * SPREAD / max(1, len(by_group))
        keys = [key for key in sorted(points) if key <= last]
        for key in keys:
            if (summary := points[key]).ci95:
                low, high = summary.ci95
                ends: Points = [(key + offset, low if (summary.min or 0) < 0 else max(low, 0.0)), (key + offset, high)]
                shapes.append(Shape("line", replace(look, dash=""), ends, size=1.1, opacity=0.7))
        means = [(key + offset, points[key].mean) for key in keys]
        shapes += [Shape("line", look, means, look.name, 0.9), Shape("marks", look, means, look.name, 3.0)]
    return shapes


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table."""

    name: str
    """In words."""
    unit: str
    groups: Places


def by_column(chart: ColumnChart, columns: Sequence[TableColumn], looks: Mapping[str, Look]) -> Drawing:
    """A panel for each column, with a line for each group; bars are the 95 % intervals of the means."""
    keys = sorted({key for column in columns for points in column.groups.values() for key in points})
    x = Axis(capitalized(chart.label), "days", low=keys[0] - 0.5, high=keys[-1] + 0.5, exact=True)
    items = [
        Panel(_key_lines(of.groups, looks), x, Axis(capitalized(unit_word(of.unit)), of.unit), short(of.name))
        for of in columns
    ]
    described = (
        f"{column.name} of {group} {number(points[key].mean, column.unit)} at {key}"
        for column in columns
        for group, points in column.groups.items()
        for key in [max(points, key=lambda key: points[key].mean or 0)]
    )
    description = f"By {chart.label}, where each is largest: {'; '.join(described)}."
    svg = draw(chart.title, description, items, 170, shared=False)
    groups = list(dict.fromkeys(group for column in columns for group in column.groups))
    rows = [
        (column.name, str(key), *(_mean_text(column.groups.get(group, {}), key, column.unit) for group in groups))
        for column in columns
        for key in keys
    ]
    values = Grid.of_rows(("quantity", label(chart.label), *groups), rows)
    return Drawing(chart.name, chart.title, chart.note, description, values, svg)


def _mean_text(points: Mapping[int, Summary], key: int, unit: str) -> str:
    return number(points[key].mean, unit) if key in points else ABSENT
