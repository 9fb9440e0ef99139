"""Figures of a table with one numeric key: a panel for each column, each with a scale of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

from akinai.core.presentation.charts import ColumnChart
from akinai.core.statistics import Summary
from akinai.report.figures.means import group_offset
from akinai.report.figures.style import GREYS, Axes, Look, akinai_style, legend_below, scale, sheet, short
from akinai.report.figures.svg import Drawing, svg_of
from akinai.report.tables.runs import figure as number
from akinai.report.tables.runs import label

Points = Mapping[int, Summary]
"""Means by key."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One column of the table."""

    name: str
    """In words."""
    unit: str
    groups: Mapping[str, Points]


def by_column(chart: ColumnChart, panels: list[Panel], looks: Mapping[str, Look]) -> Drawing:
    """A panel for each column, with a line for each group; bars are the 95 % intervals of the means."""
    keys = sorted({key for panel in panels for points in panel.groups.values() for key in points})
    with akinai_style():
        figure, sheets = sheet(2.6, 1, len(panels))
        for axes, panel in zip(sheets, panels, strict=True):
            axes.set_title(short(panel.name))
            for index, (group, points) in enumerate(panel.groups.items()):
                _line(axes, points, looks[group], group_offset(index, len(panel.groups)))
            scale(axes.xaxis, "days")
            axes.set_xlim(keys[0] - 0.5, keys[-1] + 0.5)
            axes.set_xlabel(chart.label[:1].upper() + chart.label[1:])
            scale(axes.yaxis, panel.unit, 7)
            axes.set_ylabel("Dollars" if panel.unit == "cents" else panel.unit[:1].upper() + panel.unit[1:])
            if min(axes.get_ylim()) < 0:
                axes.axhline(0, color=GREYS["soft"], linewidth=0.8)
            else:
                axes.set_ylim(bottom=0)
        legend_below(figure, *sheets)
        described = (
            f"{panel.name} of {group} {number(points[key].mean, panel.unit)} at {key}"
            for panel in panels
            for group, points in panel.groups.items()
            for key in [max(points, key=lambda key: points[key].mean or 0)]
        )
        description = f"By {chart.label}, where each is largest: {'; '.join(described)}."
        svg = svg_of(figure, chart.title, description)
    groups = list(dict.fromkeys(group for panel in panels for group in panel.groups))
    rows = [
        (panel.name, str(key), *(_mean(panel.groups.get(group, {}), key, panel.unit) for group in groups))
        for panel in panels
        for key in keys
    ]
    heads = ("quantity", label(chart.label), *groups)
    return Drawing(chart.name, chart.title, chart.note, description, heads, tuple(rows), svg, frozenset({0}))


def _mean(points: Points, key: int, unit: str) -> str:
    return number(points[key].mean if key in points else None, unit)


def _line(axes: Axes, points: Points, look: Look, offset: float) -> None:
    """The means with their intervals, which go below 0 only where a value does; broken where there is no value."""
    nothing = float("nan")
    keys = sorted(points)
    xs, means = [key + offset for key in keys], [points[key].mean for key in keys]
    axes.plot(
        xs, [nothing if mean is None else mean for mean in means], color=look.colour, linestyle=look.dash,
        marker=look.marker, markersize=4, linewidth=0.9, label=look.name,
    )  # fmt: skip
    for key, x in zip(keys, xs, strict=True):
        if interval := points[key].ci95:
            low, high = interval
            least = points[key].min or 0
            axes.plot([x, x], [low if least < 0 else max(low, 0), high], color=look.colour, linewidth=1.0, alpha=0.6)
