"""Figures of marks: the scores of single runs, the uses of tools, findings on a timeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from akinai.core.findings import SEVERITIES, Severity
from akinai.core.presentation.charts import Chart
from akinai.core.presentation.words import figure as number
from akinai.core.presentation.words import label
from akinai.report.figures.style import (
    GREYS,
    Look,
    akinai_style,
    axis_label,
    days_axis,
    legend_below,
    scale,
    sheet,
    short,
)
from akinai.report.figures.svg import Drawing, svg_of

MAX_TOOLS = 16
SIZES: Mapping[Severity, float] = {"minor": 14, "serious": 40, "grave": 80}
"""Sizes of marks in the timeline, in square points."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One score of a group: the value of each run, the mean and its interval."""

    values: Sequence[float]
    mean: float
    ci95: tuple[float, float] | None


def spreads(chart: Chart, by_group: Mapping[str, Spread], looks: Mapping[str, Look]) -> Drawing:
    """A row for each group: a dot for each run, the mean and its interval above them."""
    with akinai_style():
        figure, (axes,) = sheet(0.8 + 0.42 * max(2, len(by_group)))
        for row, (group, spread) in enumerate(by_group.items()):
            look = looks[group]
            heights = [row + _jitter(index, len(spread.values)) for index in range(len(spread.values))]
            axes.scatter(spread.values, heights, s=14, color=look.colour, alpha=0.45, linewidths=0)
            low, high = spread.ci95 or (spread.mean, spread.mean)
            axes.plot([low, high], [row - 0.28] * 2, color=GREYS["ink"], linewidth=1.4)
            axes.plot([spread.mean], [row - 0.28], color=look.colour, marker=look.marker, markeredgecolor=GREYS["ink"])
        names = [f"{looks[group].name} (n = {len(spread.values)})" for group, spread in by_group.items()]
        axes.set_yticks(range(len(by_group)), names)
        axes.set_ylim(len(by_group) - 0.5, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_ylabel("Group")
        scale(axes.xaxis, chart.unit)
        axes.set_xlabel(axis_label(chart.label, chart.unit))
        means = "; ".join(f"{group}: mean {number(spread.mean, chart.unit)}" for group, spread in by_group.items())
        description = f"{axis_label(chart.label, chart.unit)} of each run by group. {means}."
        svg = svg_of(figure, chart.title, description)
    rows = [
        (group, str(len(spread.values)), number(spread.mean, chart.unit), _listed(spread.values, chart.unit))
        for group, spread in by_group.items()
    ]
    heads = ("group", "n", "mean", "runs")
    return Drawing(chart.name, chart.title, chart.note, description, heads, tuple(rows), svg, frozenset({0, 3}))


def _jitter(index: int, n: int) -> float:
    """An offset that sets the dots of a row apart, the same each time."""
    return (index * 7 % 5 - 2) * 0.06 if n > 1 else 0.0


def _offset(index: int, groups: int) -> float:
    """The offset of a group's marks from the middle of their row, so that no group hides another."""
    return (index - (groups - 1) / 2) * min(0.2, 0.7 / groups)


def _listed(values: Sequence[float], unit: str, limit: int = 12) -> str:
    text = ", ".join(number(value, unit) for value in values[:limit])
    return text if len(values) <= limit else f"{text} and {len(values) - limit} more"


def tool_uses(chart: Chart, used: Mapping[str, Mapping[str, float]], looks: Mapping[str, Look]) -> Drawing:
    """A row for each tool, a mark for each group at its uses per day; `used` is by group and tool."""
    totals: dict[str, float] = {}
    for tools in used.values():
        for tool, uses in tools.items():
            totals[tool] = totals.get(tool, 0) + uses
    tools_by_use = sorted(totals, key=lambda tool: (-totals[tool], tool))
    names = tools_by_use[:MAX_TOOLS]
    with akinai_style():
        figure, (axes,) = sheet(1.1 + 0.26 * max(3, len(names)))
        for index, (group, tools) in enumerate(used.items()):
            look, offset = looks[group], _offset(index, len(used))
            marks = [(uses, row + offset) for row, name in enumerate(names) if (uses := tools.get(name, 0.0))]
            style = {"color": look.colour, "marker": look.marker, "linestyle": "none", "clip_on": False}
            axes.plot(*zip(*marks, strict=True), markersize=5, label=look.name, **style)
        axes.set_yticks(range(len(names)), [short(label(name)) for name in names])
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.margins(x=0.05)
        axes.set_ylabel("Tool")
        scale(axes.xaxis, chart.unit)
        axes.set_xlabel(axis_label(chart.label, chart.unit))
        legend_below(figure, axes)
        description = f"Most used: {', '.join(map(label, names[:5]))}."
        svg = svg_of(figure, chart.title, description)
    left_out = len(tools_by_use) - len(names)
    more = f" {left_out} tools used less are in results.json." if left_out else ""
    rows = [(label(name), *(number(tools.get(name, 0.0), chart.unit) for tools in used.values())) for name in names]
    return Drawing(chart.name, chart.title, chart.note + more, description, ("tool", *used), tuple(rows), svg)


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding on the timeline."""

    group: str
    type: str
    begin: float
    """The day of its first entry."""
    day: float
    """The day of its last entry."""
    severity: Severity


def timeline(chart: Chart, marks: Sequence[Mark], looks: Mapping[str, Look], last: int) -> Drawing:
    """A row for each type; a mark for each finding at its last entry, with a line from its first.

    Colour and form of the mark show the group, its size the severity. `last` is the last day.
    """
    types = sorted({mark.type for mark in marks}, key=lambda kind: (-sum(mark.type == kind for mark in marks), kind))
    groups = [group for group in looks if any(mark.group == group for mark in marks)]
    with akinai_style():
        figure, (axes,) = sheet(1.2 + 0.32 * max(2, len(types)))
        for index, group in enumerate(groups):
            own, look = [mark for mark in marks if mark.group == group], looks[group]
            heights = [types.index(mark.type) + _offset(index, len(groups)) for mark in own]
            begins, days = [mark.begin for mark in own], [mark.day for mark in own]
            axes.hlines(heights, begins, days, color=look.colour, linewidth=1, alpha=0.5)
            sizes = [SIZES[mark.severity] for mark in own]
            style = {"color": look.colour, "marker": look.marker, "alpha": 0.6, "linewidths": 0, "clip_on": False}
            axes.scatter(days, heights, s=sizes, label=f"{look.name} ({len(own)})", **style)
        axes.set_yticks(range(len(types)), [short(label(kind)) for kind in types])
        axes.set_ylim(len(types) - 0.4, -0.6)
        axes.set_ylabel("Finding")
        days_axis(axes, last)
        legend_below(figure, axes)
        counted = (f"{sum(mark.severity == level for mark in marks)} {level}" for level in reversed(SEVERITIES))
        description = f"{len(marks)} findings over {last} days: {', '.join(counted)}."
        svg = svg_of(figure, chart.title, description)
    counts = {(kind, group): 0 for kind in types for group in groups}
    for mark in marks:
        counts[mark.type, mark.group] += 1
    rows = [(label(kind), *(str(counts[kind, group]) for group in groups)) for kind in types]
    return Drawing(chart.name, chart.title, chart.note, description, ("findings", *groups), tuple(rows), svg)
