"""The figures over the days of runs: curves in, drawings with their captions and tables out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akinai.report.figures_axes import GREYS, Look, days_axis, in_unit, legend_below, scale, sheet, short, styled
from akinai.report.figures_svg import Drawing, svg_of, thinned
from akinai.report.series import Curve, Curves
from akinai.report.tables import figure as number
from akinai.report.tables import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TOLD = 3
"""Groups of which the words beside a figure tell the values."""
MOST_PANELS, PANEL_COLUMNS = 12, 3
FILLS = ("#0072B2", "#56B4E9", "#E69F00", "#E3E3E3")
"""Of the parts of a whole, from dark to light."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a figure shows: its words and its unit."""

    name: str
    """Of its file."""
    title: str
    what: str
    """On the axis."""
    unit: str
    note: str = ""
    """How it is counted, of which runs."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that failed or is not over, up to where it stands."""

    group: str
    values: Sequence[float | None]


def over_days(
    what: Quantity, curves: Curves, looks: Mapping[str, Look], unfinished: Sequence[Unfinished] = ()
) -> Drawing:
    """A line for each group over the days, with the interval of its mean as a band."""
    with styled():
        figure, (axes,) = sheet(3.1)
        for group, one in curves.items():
            _line(axes, one, looks[group])
        for one in unfinished:
            days, colour = range(1, len(one.values) + 1), looks[one.group].colour
            axes.plot(days, _drawn(one.values), color=colour, linewidth=0.9, linestyle=":")
            axes.plot(days[-1:], _drawn(one.values[-1:]), color=colour, marker="x", linestyle="none")
        days_axis(axes, max(len(one.mean) for one in curves.values()))
        scale(axes.yaxis, what.unit)
        axes.set_ylabel(in_unit(what.what, what.unit))
        legend_below(figure, axes)
        told = _told(what, curves)
        svg = svg_of(figure, what.title, told)
    caption = " ".join(filter(None, (_lines_told(curves), what.note, _unfinished_told(unfinished))))
    return Drawing(what.name, what.title, caption, told, *_day_table(curves, what.unit), svg)


def _line(axes: "Axes", one: Curve, look: Look) -> None:
    days = range(1, len(one.mean) + 1)
    marker = look.marker if len(days) == 1 else ""
    axes.plot(days, _drawn(one.mean), color=look.colour, linestyle=look.dash, marker=marker, label=_named(look, one))
    if one.n > 1:
        axes.fill_between(days, _drawn(one.low), _drawn(one.high), color=look.colour, alpha=0.16, linewidth=0)


def _drawn(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _named(look: Look, one: Curve) -> str:
    return f"{look.name} (n = {one.n})"


def _lines_told(curves: Curves) -> str:
    if all(one.n == 1 for one in curves.values()):
        return "A line is one run (n = 1)."
    return "Lines are means over n runs, bands the 95 % intervals of the means (Student's t)."


def _unfinished_told(unfinished: Sequence[Unfinished]) -> str:
    if not unfinished:
        return ""
    runs = "1 run that failed or is not over is" if len(unfinished) == 1 else f"{len(unfinished)} unfinished runs are"
    return f"{runs} dotted up to a cross; the mean goes on with where they stand."


def _told(what: Quantity, curves: Curves) -> str:
    ends = [
        f"{group} from {number(one.mean[0], what.unit)} on day 1 to {number(one.mean[-1], what.unit)} on the last"
        for group, one in list(curves.items())[:MOST_TOLD]
    ]
    more = len(curves) - MOST_TOLD
    return f"{in_unit(what.what, what.unit)} by day: {'; '.join(ends)}{f'; and {more} more' if more > 0 else ''}."


def _day_table(curves: Curves, unit: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    last = max((len(one.mean) for one in curves.values()), default=0)
    rows = [
        (str(day + 1), *(number(one.mean[day] if day < len(one.mean) else None, unit) for one in curves.values()))
        for day in range(last)
    ]
    return ("day", *(f"{group} (n = {one.n})" for group, one in curves.items())), thinned(rows)


def stacked(what: Quantity, parts: Mapping[str, Sequence[float | None]]) -> Drawing:
    """Parts of a whole over the days of one run, on top of one another."""
    last = max(map(len, parts.values()))
    days = list(range(1, last + 1))
    with styled():
        figure, (axes,) = sheet(2.9)
        heights = [[value or 0 for value in values] for values in parts.values()]
        # A single day is drawn with some width.
        places = days if last > 1 else [0.75, 1.25]
        heights = heights if last > 1 else [values * 2 for values in heights]
        names = [label(part) for part in parts]
        axes.stackplot(places, *heights, labels=names, colors=FILLS, edgecolor=GREYS["ink"], linewidth=0.4)
        days_axis(axes, last)
        axes.set_ylim(bottom=0)
        scale(axes.yaxis, what.unit)
        axes.set_ylabel(in_unit(what.what, what.unit))
        legend_below(figure, axes)
        ends = ", ".join(f"{label(part)} {number(values[-1], what.unit)}" for part, values in parts.items())
        told = f"On day {last}: {ends}."
        svg = svg_of(figure, what.title, told)
    rows = [(str(day), *(number(values[day - 1], what.unit) for values in parts.values())) for day in days]
    return Drawing(what.name, what.title, what.note, told, ("day", *names), thinned(rows), svg)


def panels(what: Quantity, shown: Mapping[str, Curves], looks: Mapping[str, Look]) -> Drawing:
    """A small panel for each item, with a line for each group; all panels share their scales."""
    names = list(shown)[:MOST_PANELS]
    columns = min(PANEL_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    last = max(len(one.mean) for name in names for one in shown[name].values())
    with styled():
        figure, everywhere = sheet(0.9 + 1.35 * rows, rows, columns, sharex=True, sharey=True)
        used = everywhere[: len(names)]
        for axes, name in zip(used, names, strict=True):
            axes.set_title(short(label(name)))
            for group, one in shown[name].items():
                days, look = range(1, len(one.mean) + 1), looks[group]
                axes.plot(
                    days, _drawn(one.mean), color=look.colour, linestyle=look.dash, linewidth=1.2,
                    marker="." if last == 1 else "", label=_named(look, one),
                )  # fmt: skip
        for axes in everywhere[len(names) :]:
            axes.set_visible(False)
        _panel_axes(used, columns, what, last)
        legend_below(figure, *used)
        told = f"{in_unit(what.what, what.unit)} by day, a panel each for {', '.join(map(label, names))}."
        svg = svg_of(figure, what.title, told)
    left_out = len(shown) - len(names)
    more = f"{left_out} more are in results.json." if left_out else ""
    caption = " ".join(filter(None, (what.note, more)))
    return Drawing(what.name, what.title, caption, told, *_panel_table(shown, what.unit), svg)


def _panel_axes(used: Sequence["Axes"], columns: int, what: Quantity, last: int) -> None:
    """Labels on the outer panels; one above an empty place has its own days."""
    unit = "dollars" if what.unit == "cents" else what.unit
    for place, axes in enumerate(used):
        axes.set_ylim(bottom=0)
        scale(axes.yaxis, what.unit, 4)
        if place % columns == 0:
            axes.set_ylabel(unit[:1].upper() + unit[1:])
        if place + columns >= len(used):
            days_axis(axes, last, 4)
            axes.xaxis.set_tick_params(labelbottom=True)


def _panel_table(shown: Mapping[str, Curves], unit: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    groups = list(dict.fromkeys(group for curves in shown.values() for group in curves))
    rows = [(label(name), *(_mean_told(curves.get(group), unit) for group in groups)) for name, curves in shown.items()]
    return ("mean over the days", *groups), tuple(rows)


def _mean_told(one: Curve | None, unit: str) -> str:
    return number(None if one is None else sum(one.known) / len(one.known), unit)
