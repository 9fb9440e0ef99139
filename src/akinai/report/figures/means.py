"""Figures of means: several quantities of the same groups side by side, counts by place in an order, and columns of
a table with one numeric key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from akinai.core.presentation.charts import Chart, ColumnChart
from akinai.core.presentation.words import figure as number
from akinai.core.presentation.words import label, unit_word
from akinai.core.statistics import Summary
from akinai.report.figures.style import GREYS, Axes, Look, akinai_style, axis_label, legend_below, scale, sheet, short
from akinai.report.figures.svg import Drawing, svg_of

MAX_PLACES = 10
SPREAD = 0.5
"""The share of the room between two places that the marks of all groups take."""


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a quantity over the runs of a group; there is at least one value."""

    summary: Summary
    by_chance: float | None = None
    """The mean to expect by chance; None if it is not known."""

    @property
    def interval(self) -> tuple[float, float]:
        assert self.summary.mean is not None
        return self.summary.ci95 or (self.summary.mean, self.summary.mean)


Means = Mapping[str, Mapping[str, Mean]]
"""Means by quantity and group."""


def means(chart: Chart, by_quantity: Means, looks: Mapping[str, Look], chance_label: str = "") -> Drawing:
    """A panel for each quantity, a row for each group: the mean, its interval, and a tick for chance if it has a label.

    All panels have one scale.
    """
    groups = [group for group in looks if any(group in by_group for by_group in by_quantity.values())]
    with akinai_style():
        figure, panels = sheet(1.0 + 0.3 * max(2, len(groups)), 1, len(by_quantity), sharex=True, sharey=True)
        for axes, (name, by_group) in zip(panels, by_quantity.items(), strict=True):
            axes.set_title(short(label(name)))
            _rows(axes, groups, by_group, looks, chance_label)
            scale(axes.xaxis, chart.unit, 4)
            axes.set_xlabel(axis_label("", chart.unit).strip(" ()").capitalize())
            if chart.unit == "share":
                axes.set_xlim(-0.03, 1.03)
            else:
                axes.axvline(0, color=GREYS["soft"], linewidth=0.8)
        panels[0].set_yticks(range(len(groups)), [looks[group].name for group in groups])
        panels[0].set_ylim(len(groups) - 0.5, -0.5)
        panels[0].set_ylabel("Group")
        legend_below(figure, *panels)
        described = (_description(name, by_group, chart.unit) for name, by_group in by_quantity.items())
        description = f"{chart.label}: {'; '.join(described)}."
        svg = svg_of(figure, chart.title, description)
    heads = ("group", "quantity", "mean", "95 % from", "to", *([chance_label] if chance_label else []), "n")
    rows = [
        _row(group, name, by_group[group], chart.unit, with_chance=bool(chance_label))
        for name, by_group in by_quantity.items()
        for group in groups
        if group in by_group
    ]
    return Drawing(chart.name, chart.title, chart.note, description, heads, tuple(rows), svg, frozenset({0, 1}))


def _rows(
    axes: Axes, groups: Sequence[str], by_group: Mapping[str, Mean], looks: Mapping[str, Look], chance_label: str
) -> None:
    axes.grid(visible=False, axis="y")
    for row, group in enumerate(groups):
        if (mean := by_group.get(group)) is None:
            continue
        look = looks[group]
        axes.plot(mean.interval, [row, row], color=GREYS["ink"], linewidth=1.4)
        axes.plot([mean.summary.mean or 0], [row], color=look.colour, marker=look.marker, markeredgecolor=GREYS["ink"])
        if mean.by_chance is not None:
            tick: dict[str, Any] = {
                "marker": "|",
                "markersize": 13,
                "markeredgewidth": 1.6,
                "linestyle": "none",
                "zorder": 1.5,
            }
            axes.plot([mean.by_chance], [row], color=GREYS["soft"], label=chance_label, **tick)


def _description(name: str, by_group: Mapping[str, Mean], unit: str) -> str:
    return f"{label(name)} " + ", ".join(
        f"{number(mean.summary.mean, unit)} of {group}" for group, mean in by_group.items()
    )


def _row(group: str, name: str, mean: Mean, unit: str, *, with_chance: bool) -> tuple[str, ...]:
    low, high = mean.summary.ci95 or (None, None)
    values = [number(value, unit) for value in (mean.summary.mean, low, high)]
    chance = [number(mean.by_chance, unit)] if with_chance else []
    return (group, label(name), *values, *chance, str(mean.summary.n))


Places = Mapping[str, Mapping[int, Summary]]
"""By group, the count at each place from 1."""


def by_place(chart: Chart, by_order: Mapping[str, Places], looks: Mapping[str, Look]) -> Drawing:
    """A panel for each order, a line for each group over the places in it, with the intervals of the means."""
    last = min(MAX_PLACES, max(max(counts) for by_group in by_order.values() for counts in by_group.values()))
    with akinai_style():
        figure, panels = sheet(2.6, 1, len(by_order), sharey=True)
        for axes, (order, by_group) in zip(panels, by_order.items(), strict=True):
            axes.set_title(short(label(order)))
            for index, (group, counts) in enumerate(by_group.items()):
                _place_line(axes, counts, looks[group], group_offset(index, len(by_group)), last)
            scale(axes.xaxis, "days")
            axes.set_xlim(0.5, last + 0.5)
            axes.set_ylim(bottom=0)
            axes.set_xlabel("Place")
        scale(panels[0].yaxis, chart.unit)
        panels[0].set_ylabel(axis_label(chart.label, chart.unit))
        legend_below(figure, *panels)
        firsts = (
            f"{label(order)}: at the first place {number(counts[1].mean, '')} of {group}"
            for order, by_group in by_order.items()
            for group, counts in by_group.items()
            if 1 in counts
        )
        description = f"{axis_label(chart.label, chart.unit)} by place. {'; '.join(firsts)}."
        svg = svg_of(figure, chart.title, description)
    rows = [
        (
            label(order),
            str(rank),
            *(number(by_group[group][rank].mean, "") if rank in by_group.get(group, {}) else "-" for group in looks),
        )
        for order, by_group in by_order.items()
        for rank in range(1, last + 1)
    ]
    return Drawing(chart.name, chart.title, chart.note, description, ("order", "place", *looks), tuple(rows), svg)


def group_offset(index: int, groups: int) -> float:
    """The offset of a group's marks from their place, so that no group hides another."""
    return (index - (groups - 1) / 2) * SPREAD / max(1, groups)


def _place_line(axes: Axes, counts: Mapping[int, Summary], look: Look, offset: float, last: int) -> None:
    points = [
        (rank + offset, count, count.mean) for rank, count in counts.items() if rank <= last and count.mean is not None
    ]
    for x, count, mean in points:
        low, high = count.ci95 or (mean, mean)
        axes.plot([x, x], [max(0.0, low), high], color=look.colour, linewidth=1.2)
    style = {"color": look.colour, "marker": look.marker, "linestyle": look.dash, "linewidth": 0.7, "markersize": 5}
    axes.plot([x for x, _, _ in points], [mean for _, _, mean in points], label=look.name, **style)


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
                _key_line(axes, points, looks[group], group_offset(index, len(panel.groups)))
            scale(axes.xaxis, "days")
            axes.set_xlim(keys[0] - 0.5, keys[-1] + 0.5)
            axes.set_xlabel(chart.label[:1].upper() + chart.label[1:])
            scale(axes.yaxis, panel.unit, 7)
            unit = unit_word(panel.unit)
            axes.set_ylabel(unit[:1].upper() + unit[1:])
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
        (panel.name, str(key), *(_mean_text(panel.groups.get(group, {}), key, panel.unit) for group in groups))
        for panel in panels
        for key in keys
    ]
    heads = ("quantity", label(chart.label), *groups)
    return Drawing(chart.name, chart.title, chart.note, description, heads, tuple(rows), svg, frozenset({0}))


def _mean_text(points: Points, key: int, unit: str) -> str:
    return number(points[key].mean if key in points else None, unit)


def _key_line(axes: Axes, points: Points, look: Look, offset: float) -> None:
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
