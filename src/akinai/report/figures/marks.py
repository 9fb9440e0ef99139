"""Figures of rows: the scores of single runs, the uses of tools, findings on a timeline, means beside chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from akinai.core.findings import SEVERITIES, Severity
from akinai.core.presentation.charts import Chart
from akinai.core.presentation.tables import Grid
from akinai.core.presentation.words import figure as number
from akinai.core.presentation.words import label
from akinai.core.statistics import Summary
from akinai.report.figures.style import INK, SOFT, Look, short
from akinai.report.figures.svg import Axis, Drawing, Panel, Shape, axis_label, axis_of, days_axis, draw

MAX_TOOLS = 16
SIZES: Mapping[Severity, float] = {"minor": 2.6, "serious": 4.2, "grave": 6.0}
"""Half the width of the marks in the timeline."""
CHANCE = replace(SOFT, marker="|")


@dataclass(frozen=True, slots=True)
class Spread:
    """One score of a group: the value of each run, the mean and its interval."""

    values: Sequence[float]
    mean: float
    ci95: tuple[float, float] | None


def interval(ends: tuple[float, float], row: float, look: Look = INK) -> Shape:
    """The interval of a mean, in a row."""
    return Shape("line", replace(look, dash=""), [(end, row) for end in ends])


def spreads(chart: Chart, by_group: Mapping[str, Spread], looks: Mapping[str, Look]) -> Drawing:
    """A row for each group: a dot for each run, the mean and its interval above them."""
    shapes: list[Shape] = []
    for row, (group, spread) in enumerate(by_group.items()):
        look, n = looks[group], len(spread.values)
        dots = [(value, row + _jitter(index, n)) for index, value in enumerate(spread.values)]
        shapes.append(Shape("marks", replace(look, marker="o"), dots, size=2.6, opacity=0.45))
        shapes.append(interval(spread.ci95 or (spread.mean, spread.mean), row - 0.28))
        shapes.append(Shape("marks", look, [(spread.mean, row - 0.28)], size=4))
    names = [f"{looks[group].name} (n = {len(spread.values)})" for group, spread in by_group.items()]
    axis = axis_of(chart, low=None)
    means = "; ".join(f"{group}: mean {number(spread.mean, chart.unit)}" for group, spread in by_group.items())
    description = f"{axis.label} of each run by group. {means}."
    svg = draw(chart.title, description, [Panel(shapes, axis, Axis("Group", names=names))], 40 * max(2, len(by_group)))
    rows = [
        (group, str(len(spread.values)), number(spread.mean, chart.unit), _listed(spread.values, chart.unit))
        for group, spread in by_group.items()
    ]
    values = Grid.of_rows(("group", "n", "mean", "runs"), rows, words=frozenset({0, 3}))
    return Drawing(chart.name, chart.title, chart.note, description, values, svg)


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
    shapes = [
        Shape(
            "marks", looks[group],
            [(uses, row + _offset(at, len(used))) for row, name in enumerate(names) if (uses := tools.get(name, 0.0))],
            looks[group].name, 3.4,
        )
        for at, (group, tools) in enumerate(used.items())
    ]  # fmt: skip
    description = f"Most used: {', '.join(map(label, names[:5]))}."
    panel = Panel(shapes, axis_of(chart), Axis("Tool", names=[short(label(name)) for name in names]))
    svg = draw(chart.title, description, [panel], 24 * max(3, len(names)))
    left_out = len(tools_by_use) - len(names)
    more = f" {left_out} tools used less are in results.json." if left_out else ""
    rows = [(label(name), *(tools.get(name, 0.0) for tools in used.values())) for name in names]
    values = Grid.of_rows(("tool", *used), rows)
    return Drawing(chart.name, chart.title, chart.note + more, description, values, svg)


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
    shapes: list[Shape] = []
    for at, group in enumerate(groups):
        own, look = [mark for mark in marks if mark.group == group], looks[group]
        for mark in own:
            row = types.index(mark.type) + _offset(at, len(groups))
            line = Shape("line", replace(look, dash=""), [(mark.begin, row), (mark.day, row)], size=1, opacity=0.5)
            words = f"{look.name} ({len(own)})"
            shapes += [line, Shape("marks", look, [(mark.day, row)], words, SIZES[mark.severity], 0.6)]
    counted = (f"{sum(mark.severity == level for mark in marks)} {level}" for level in reversed(SEVERITIES))
    description = f"{len(marks)} findings over {last} days: {', '.join(counted)}."
    panel = Panel(shapes, days_axis(last), Axis("Finding", names=[short(label(kind)) for kind in types]))
    svg = draw(chart.title, description, [panel], 30 * max(2, len(types)))
    rows = [
        (label(kind), *(str(sum(mark.type == kind and mark.group == group for mark in marks)) for group in groups))
        for kind in types
    ]
    values = Grid.of_rows(("findings", *groups), rows)
    return Drawing(chart.name, chart.title, chart.note, description, values, svg)


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a quantity over the runs of a group; there is at least one value."""

    summary: Summary
    by_chance: float | None = None
    """The mean to expect by chance; None if it is not known."""


Means = Mapping[str, Mapping[str, Mean]]
"""Means by quantity and group."""


def means(chart: Chart, by_quantity: Means, looks: Mapping[str, Look], chance_label: str = "") -> Drawing:
    """A panel for each quantity, a row for each group: the mean, its interval, and a tick for chance if it has a label.

    All panels have one scale.
    """
    groups = [group for group in looks if any(group in by_group for by_group in by_quantity.values())]
    share = chart.unit == "share"
    x = Axis(
        axis_label("", chart.unit), chart.unit, low=-0.03 if share else 0.0, high=1.03 if share else None, exact=share
    )
    y = Axis("Group", names=[looks[group].name for group in groups])
    panels = [
        Panel(_mean_rows(groups, by_group, looks, chance_label), x, y, short(label(name)))
        for name, by_group in by_quantity.items()
    ]
    described = (
        f"{label(name)} " + ", ".join(f"{number(m.summary.mean, chart.unit)} of {group}" for group, m in of.items())
        for name, of in by_quantity.items()
    )
    description = f"{chart.label}: {'; '.join(described)}."
    svg = draw(chart.title, description, panels, 28 * max(2, len(groups)))
    heads = ("group", "quantity", "mean", "95 % from", "to", *([chance_label] if chance_label else []), "n")
    rows = [
        _mean_row(group, name, by_group[group], chart.unit, with_chance=bool(chance_label))
        for name, by_group in by_quantity.items()
        for group in groups
        if group in by_group
    ]
    values = Grid.of_rows(heads, rows, words=frozenset({0, 1}))
    return Drawing(chart.name, chart.title, chart.note, description, values, svg)


def _mean_rows(
    groups: Sequence[str], by_group: Mapping[str, Mean], looks: Mapping[str, Look], chance_label: str
) -> list[Shape]:
    shapes: list[Shape] = []
    for row, group in enumerate(groups):
        if (mean := by_group.get(group)) and (value := mean.summary.mean) is not None:
            if mean.by_chance is not None:
                shapes.append(Shape("marks", CHANCE, [(mean.by_chance, row)], chance_label, 5))
            shapes.append(interval(mean.summary.ci95 or (value, value), row))
            shapes.append(Shape("marks", looks[group], [(value, row)], size=4))
    return shapes


def _mean_row(group: str, name: str, mean: Mean, unit: str, *, with_chance: bool) -> tuple[str, ...]:
    low, high = mean.summary.ci95 or (None, None)
    values = [number(value, unit) for value in (mean.summary.mean, low, high)]
    chance = [number(mean.by_chance, unit)] if with_chance else []
    return (group, label(name), *values, *chance, str(mean.summary.n))
