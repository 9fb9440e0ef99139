"""The figures made of marks: scores of single runs, tools, findings on a timeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from akinai.core.findings import SEVERITIES, Severity
from akinai.report.figures import Quantity
from akinai.report.figures_axes import GREYS, Look, days_axis, in_unit, legend_below, scale, sheet, short, styled
from akinai.report.figures_svg import Drawing, svg_of
from akinai.report.tables import figure as number
from akinai.report.tables import label

MOST_TOOLS = 16
SIZES: Mapping[Severity, float] = {"minor": 14, "serious": 40, "grave": 80}
"""Of a mark in the timeline, in square points."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One score of a group: each run's value, and what is known of the mean."""

    values: Sequence[float]
    mean: float
    ci95: tuple[float, float] | None


def spreads(what: Quantity, shown: Mapping[str, Spread], looks: Mapping[str, Look]) -> Drawing:
    """A row for each group: a dot for each run, the mean and its interval above them."""
    with styled():
        figure, (axes,) = sheet(0.8 + 0.42 * max(2, len(shown)))
        for row, (group, one) in enumerate(shown.items()):
            look = looks[group]
            heights = [row + _nudge(place, len(one.values)) for place in range(len(one.values))]
            axes.scatter(one.values, heights, s=14, color=look.colour, alpha=0.45, linewidths=0)
            low, high = one.ci95 or (one.mean, one.mean)
            axes.plot([low, high], [row - 0.28] * 2, color=GREYS["ink"], linewidth=1.4)
            axes.plot([one.mean], [row - 0.28], color=look.colour, marker=look.marker, markeredgecolor=GREYS["ink"])
        names = [f"{looks[group].name} (n = {len(one.values)})" for group, one in shown.items()]
        axes.set_yticks(range(len(shown)), names)
        axes.set_ylim(len(shown) - 0.5, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_ylabel("Group")
        scale(axes.xaxis, what.unit)
        axes.set_xlabel(in_unit(what.what, what.unit))
        told = "; ".join(f"{group}: mean {number(one.mean, what.unit)}" for group, one in shown.items())
        told = f"{in_unit(what.what, what.unit)} of each run by group. {told}."
        svg = svg_of(figure, what.title, told)
    rows = [
        (group, str(len(one.values)), number(one.mean, what.unit), _listed(one.values, what.unit))
        for group, one in shown.items()
    ]
    return Drawing(
        what.name, what.title, what.note, told, ("group", "n", "mean", "runs"), tuple(rows), svg, frozenset({0, 3})
    )


def _nudge(place: int, n: int) -> float:
    """Dots of a row a little apart, the same way each time."""
    return (place * 7 % 5 - 2) * 0.06 if n > 1 else 0.0


def _apart(place: int, groups: int) -> float:
    """How far a group's marks stand from the middle of their row, so that no group hides another."""
    return (place - (groups - 1) / 2) * min(0.2, 0.7 / groups)


def _listed(values: Sequence[float], unit: str, most: int = 12) -> str:
    told = ", ".join(number(value, unit) for value in values[:most])
    return told if len(values) <= most else f"{told} and {len(values) - most} more"


def by_tool(what: Quantity, used: Mapping[str, Mapping[str, float]], looks: Mapping[str, Look]) -> Drawing:
    """A row for each tool, a mark for each group at its uses a day."""
    totals: dict[str, float] = {}
    for tools in used.values():
        for tool, uses in tools.items():
            totals[tool] = totals.get(tool, 0) + uses
    ordered = sorted(totals, key=lambda tool: (-totals[tool], tool))
    names = ordered[:MOST_TOOLS]
    with styled():
        figure, (axes,) = sheet(1.1 + 0.26 * max(3, len(names)))
        for place, (group, tools) in enumerate(used.items()):
            look, lift = looks[group], _apart(place, len(used))
            marks = [(uses, row + lift) for row, name in enumerate(names) if (uses := tools.get(name, 0.0))]
            style = {"color": look.colour, "marker": look.marker, "linestyle": "none", "clip_on": False}
            axes.plot(*zip(*marks, strict=True), markersize=5, label=look.name, **style)
        axes.set_yticks(range(len(names)), [short(label(name)) for name in names])
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.margins(x=0.05)
        axes.set_ylabel("Tool")
        scale(axes.xaxis, what.unit)
        axes.set_xlabel(in_unit(what.what, what.unit))
        legend_below(figure, axes)
        told = f"Most used: {', '.join(map(label, names[:5]))}."
        svg = svg_of(figure, what.title, told)
    more = f" {len(ordered) - len(names)} tools used less are in results.json." if len(ordered) > len(names) else ""
    rows = [(label(name), *(number(tools.get(name, 0.0), what.unit) for tools in used.values())) for name in names]
    return Drawing(what.name, what.title, what.note + more, told, ("tool", *used), tuple(rows), svg)


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding on the timeline."""

    group: str
    type: str
    begin: float
    """The day of its first entry."""
    day: float
    """The day of its last."""
    severity: Severity


def timeline(what: Quantity, marks: Sequence[Mark], looks: Mapping[str, Look], last: int) -> Drawing:
    """A row for each type, a mark for each finding where it was plain, behind a line over the days that it took.

    Colour and form tell the group, size the severity.
    """
    types = sorted({mark.type for mark in marks}, key=lambda kind: (-sum(mark.type == kind for mark in marks), kind))
    groups = [group for group in looks if any(mark.group == group for mark in marks)]
    with styled():
        figure, (axes,) = sheet(1.2 + 0.32 * max(2, len(types)))
        for place, group in enumerate(groups):
            mine, look = [mark for mark in marks if mark.group == group], looks[group]
            heights = [types.index(mark.type) + _apart(place, len(groups)) for mark in mine]
            begins, days = [mark.begin for mark in mine], [mark.day for mark in mine]
            axes.hlines(heights, begins, days, color=look.colour, linewidth=1, alpha=0.5)
            sizes = [SIZES[mark.severity] for mark in mine]
            style = {"color": look.colour, "marker": look.marker, "alpha": 0.6, "linewidths": 0, "clip_on": False}
            axes.scatter(days, heights, s=sizes, label=f"{look.name} ({len(mine)})", **style)
        axes.set_yticks(range(len(types)), [short(label(kind)) for kind in types])
        axes.set_ylim(len(types) - 0.4, -0.6)
        axes.set_ylabel("Finding")
        days_axis(axes, last)
        legend_below(figure, axes)
        worst = ", ".join(f"{sum(mark.severity == one for mark in marks)} {one}" for one in reversed(SEVERITIES))
        told = f"{len(marks)} findings over {last} days: {worst}."
        svg = svg_of(figure, what.title, told)
    counts = {(kind, group): 0 for kind in types for group in groups}
    for mark in marks:
        counts[mark.type, mark.group] += 1
    rows = [(label(kind), *(str(counts[kind, group]) for group in groups)) for kind in types]
    return Drawing(what.name, what.title, what.note, told, ("findings", *groups), tuple(rows), svg)
