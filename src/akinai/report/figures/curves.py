"""Figures over the days of runs: curves in, drawings with their captions and tables out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from akinai.core.presentation.charts import Chart
from akinai.core.presentation.words import figure as number
from akinai.core.presentation.words import label, unit_word
from akinai.report.figures.series import Curve, Curves
from akinai.report.figures.style import (
    GREYS,
    Axes,
    Look,
    akinai_style,
    axis_label,
    days_axis,
    legend_below,
    scale,
    sheet,
    short,
)
from akinai.report.figures.svg import Drawing, svg_of, thin_rows

MAX_DESCRIBED = 3
"""Groups whose values the description of a figure gives."""
MAX_PANELS, PANEL_COLUMNS = 12, 3
FILLS = ("#0072B2", "#56B4E9", "#E69F00", "#E3E3E3")
"""Colours of the parts of a whole, from dark to light."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The days so far of a run that failed or is not over."""

    group: str
    values: Sequence[float | None]


def over_days(
    chart: Chart, curves: Curves, looks: Mapping[str, Look], unfinished: Sequence[Unfinished] = ()
) -> Drawing:
    """A line for each group over the days, with the interval of its mean as a band."""
    with akinai_style():
        figure, (axes,) = sheet(3.1)
        for group, curve in curves.items():
            _line(axes, curve, looks[group])
        for run in unfinished:
            days, colour = range(1, len(run.values) + 1), looks[run.group].colour
            axes.plot(days, _with_gaps(run.values), color=colour, linewidth=0.9, linestyle=":")
            axes.plot(days[-1:], _with_gaps(run.values[-1:]), color=colour, marker="x", linestyle="none")
        days_axis(axes, max(len(curve.mean) for curve in curves.values()))
        scale(axes.yaxis, chart.unit)
        axes.set_ylabel(axis_label(chart.label, chart.unit))
        legend_below(figure, axes)
        description = _description(chart, curves)
        svg = svg_of(figure, chart.title, description)
    caption = " ".join(filter(None, (_lines_caption(curves), chart.note, _unfinished_caption(unfinished))))
    return Drawing(chart.name, chart.title, caption, description, *_day_table(curves, chart.unit), svg)


def _line(axes: Axes, curve: Curve, look: Look) -> None:
    days = range(1, len(curve.mean) + 1)
    marker = look.marker if len(days) == 1 else ""
    style = {"color": look.colour, "linestyle": look.dash, "marker": marker, "label": _with_n(look, curve)}
    axes.plot(days, _with_gaps(curve.mean), **style)
    if curve.n > 1:
        low, high = _with_gaps(curve.low), _with_gaps(curve.high)
        axes.fill_between(days, low, high, color=look.colour, alpha=0.16, linewidth=0)


def _with_gaps(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


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


def _day_table(curves: Curves, unit: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    last = max((len(curve.mean) for curve in curves.values()), default=0)
    rows = [
        (
            str(day + 1),
            *(number(curve.mean[day] if day < len(curve.mean) else None, unit) for curve in curves.values()),
        )
        for day in range(last)
    ]
    return ("day", *(f"{group} (n = {curve.n})" for group, curve in curves.items())), thin_rows(rows)


def stacked(chart: Chart, parts: Mapping[str, Sequence[float | None]]) -> Drawing:
    """Parts of a whole over the days of one run, on top of one another."""
    last = max(map(len, parts.values()))
    days = list(range(1, last + 1))
    with akinai_style():
        figure, (axes,) = sheet(2.9)
        heights = [[value or 0 for value in values] for values in parts.values()]
        # A single day is drawn with some width.
        positions = days if last > 1 else [0.75, 1.25]
        heights = heights if last > 1 else [values * 2 for values in heights]
        names = [label(part) for part in parts]
        axes.stackplot(positions, *heights, labels=names, colors=FILLS, edgecolor=GREYS["ink"], linewidth=0.4)
        days_axis(axes, last)
        axes.set_ylim(bottom=0)
        scale(axes.yaxis, chart.unit)
        axes.set_ylabel(axis_label(chart.label, chart.unit))
        legend_below(figure, axes)
        ends = ", ".join(f"{label(part)} {number(values[-1], chart.unit)}" for part, values in parts.items())
        description = f"On day {last}: {ends}."
        svg = svg_of(figure, chart.title, description)
    rows = [(str(day), *(number(values[day - 1], chart.unit) for values in parts.values())) for day in days]
    return Drawing(chart.name, chart.title, chart.note, description, ("day", *names), thin_rows(rows), svg)


def panels(chart: Chart, curves_by_item: Mapping[str, Curves], looks: Mapping[str, Look]) -> Drawing:
    """A small panel for each item, with a line for each group; all panels share their scales."""
    names = list(curves_by_item)[:MAX_PANELS]
    columns = min(PANEL_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    last = max(len(curve.mean) for name in names for curve in curves_by_item[name].values())
    drawn = {group: [curves_by_item[name][group] for name in names if group in curves_by_item[name]] for group in looks}
    with akinai_style():
        figure, grid = sheet(0.9 + 1.35 * rows, rows, columns, sharex=True, sharey=True)
        used = grid[: len(names)]
        for axes, name in zip(used, names, strict=True):
            axes.set_title(short(label(name)))
            for group, curve in curves_by_item[name].items():
                days, look = range(1, len(curve.mean) + 1), looks[group]
                axes.plot(
                    days, _with_gaps(curve.mean), color=look.colour, linestyle=look.dash, linewidth=1.2,
                    marker="." if last == 1 else "", label=_with_n(look, *drawn[group]),
                )  # fmt: skip
        for axes in grid[len(names) :]:
            axes.set_visible(False)
        _panel_axes(used, columns, chart, last)
        legend_below(figure, *used)
        description = f"{axis_label(chart.label, chart.unit)} by day, a panel each for {', '.join(map(label, names))}."
        svg = svg_of(figure, chart.title, description)
    left_out = len(curves_by_item) - len(names)
    more = f"{left_out} more are in results.json." if left_out else ""
    caption = " ".join(filter(None, (chart.note, more)))
    return Drawing(chart.name, chart.title, caption, description, *_panel_table(curves_by_item, chart.unit), svg)


def _panel_axes(used: Sequence[Axes], columns: int, chart: Chart, last: int) -> None:
    """Label the outer panels; a panel with none below it has its own axis of days."""
    unit = unit_word(chart.unit)
    for index, axes in enumerate(used):
        axes.set_ylim(bottom=0)
        scale(axes.yaxis, chart.unit, 4)
        if index % columns == 0:
            axes.set_ylabel(unit[:1].upper() + unit[1:])
        if index + columns >= len(used):
            days_axis(axes, last, 4)
            axes.xaxis.set_tick_params(labelbottom=True)


def _panel_table(
    curves_by_item: Mapping[str, Curves], unit: str
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    groups = list(dict.fromkeys(group for curves in curves_by_item.values() for group in curves))
    rows = [
        (label(name), *(_overall_mean(curves.get(group), unit) for group in groups))
        for name, curves in curves_by_item.items()
    ]
    return ("mean over the days", *groups), tuple(rows)


def _overall_mean(curve: Curve | None, unit: str) -> str:
    return number(None if curve is None else sum(curve.values) / len(curve.values), unit)
