"""The figures made of means: several quantities of the same groups side by side, and counts by place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from akinai.core.statistics import Summary
from akinai.report.figures import Quantity
from akinai.report.figures_axes import GREYS, Look, in_unit, legend_below, scale, sheet, short, styled
from akinai.report.figures_svg import Drawing, svg_of
from akinai.report.tables import figure as number
from akinai.report.tables import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PLACES = 10
SPREAD = 0.5
"""How much of the room between two places the marks of all groups take."""


@dataclass(frozen=True, slots=True)
class Mean:
    """One quantity of a group."""

    summary: Summary
    beside: float | None = None
    """What it would be by chance; None where nobody can say."""

    @property
    def ends(self) -> tuple[float, float]:
        assert self.summary.mean is not None
        return self.summary.ci95 or (self.summary.mean, self.summary.mean)


Means = Mapping[str, Mapping[str, Mean]]
"""By quantity and group; means are there."""


def means(what: Quantity, shown: Means, looks: Mapping[str, Look], beside: str = "") -> Drawing:
    """A panel for each quantity, a row for each group: the mean, its interval, and a tick for what is `beside` it.

    All panels have one scale.
    """
    groups = [group for group in looks if any(group in told for told in shown.values())]
    with styled():
        figure, panels = sheet(1.0 + 0.3 * max(2, len(groups)), 1, len(shown), sharex=True, sharey=True)
        for axes, (name, told) in zip(panels, shown.items(), strict=True):
            axes.set_title(short(label(name)))
            _rows(axes, groups, told, looks, beside)
            scale(axes.xaxis, what.unit, 4)
            axes.set_xlabel(in_unit("", what.unit).strip(" ()").capitalize())
            if what.unit == "share":
                axes.set_xlim(-0.03, 1.03)
            else:
                axes.axvline(0, color=GREYS["soft"], linewidth=0.8)
        panels[0].set_yticks(range(len(groups)), [looks[group].name for group in groups])
        panels[0].set_ylim(len(groups) - 0.5, -0.5)
        panels[0].set_ylabel("Group")
        legend_below(figure, *panels)
        told = f"{what.what}: {'; '.join(_told(name, one, what.unit) for name, one in shown.items())}."
        svg = svg_of(figure, what.title, told)
    heads = ("group", "quantity", "mean", "95 % from", "to", *([beside] if beside else []), "n")
    rows = [
        _row(group, name, told[group], what.unit, with_beside=bool(beside))
        for name, told in shown.items()
        for group in groups
        if group in told
    ]
    return Drawing(what.name, what.title, what.note, told, heads, tuple(rows), svg, frozenset({0, 1}))


def _rows(
    axes: "Axes", groups: Sequence[str], told: Mapping[str, Mean], looks: Mapping[str, Look], beside: str
) -> None:
    axes.grid(visible=False, axis="y")
    for row, group in enumerate(groups):
        if (one := told.get(group)) is None:
            continue
        look = looks[group]
        axes.plot(one.ends, [row, row], color=GREYS["ink"], linewidth=1.4)
        axes.plot([one.summary.mean or 0], [row], color=look.colour, marker=look.marker, markeredgecolor=GREYS["ink"])
        if one.beside is not None:
            tick: dict[str, Any] = {
                "marker": "|",
                "markersize": 13,
                "markeredgewidth": 1.6,
                "linestyle": "none",
                "zorder": 1.5,
            }
            axes.plot([one.beside], [row], color=GREYS["soft"], label=beside, **tick)


def _told(name: str, told: Mapping[str, Mean], unit: str) -> str:
    return f"{label(name)} " + ", ".join(f"{number(one.summary.mean, unit)} of {group}" for group, one in told.items())


def _row(group: str, name: str, one: Mean, unit: str, *, with_beside: bool) -> tuple[str, ...]:
    low, high = one.summary.ci95 or (None, None)
    values = [number(value, unit) for value in (one.summary.mean, low, high)]
    more = [number(one.beside, unit)] if with_beside else []
    return (group, label(name), *values, *more, str(one.summary.n))


Places = Mapping[str, Mapping[int, Summary]]
"""By group, what was counted at each place from 1."""


def by_place(what: Quantity, shown: Mapping[str, Places], looks: Mapping[str, Look]) -> Drawing:
    """A panel for each order, a line for each group over the places in it, with the intervals of the means."""
    last = min(MOST_PLACES, max(max(places) for told in shown.values() for places in told.values()))
    with styled():
        figure, panels = sheet(2.6, 1, len(shown), sharey=True)
        for axes, (order, told) in zip(panels, shown.items(), strict=True):
            axes.set_title(short(label(order)))
            for place, (group, counts) in enumerate(told.items()):
                _places(axes, counts, looks[group], _aside(place, len(told)), last)
            scale(axes.xaxis, "days")
            axes.set_xlim(0.5, last + 0.5)
            axes.set_ylim(bottom=0)
            axes.set_xlabel("Place")
        scale(panels[0].yaxis, what.unit)
        panels[0].set_ylabel(in_unit(what.what, what.unit))
        legend_below(figure, *panels)
        firsts = (
            f"{label(order)}: at the first place {number(places[1].mean, '')} of {group}"
            for order, told in shown.items()
            for group, places in told.items()
            if 1 in places
        )
        told = f"{in_unit(what.what, what.unit)} by place. {'; '.join(firsts)}."
        svg = svg_of(figure, what.title, told)
    rows = [
        (
            label(order),
            str(place),
            *(number(told[group][place].mean, "") if place in told.get(group, {}) else "-" for group in looks),
        )
        for order, told in shown.items()
        for place in range(1, last + 1)
    ]
    return Drawing(what.name, what.title, what.note, told, ("order", "place", *looks), tuple(rows), svg)


def _aside(place: int, groups: int) -> float:
    """How far a group's marks stand beside the place, so that no group hides another."""
    return (place - (groups - 1) / 2) * SPREAD / max(1, groups)


def _places(axes: "Axes", counts: Mapping[int, Summary], look: Look, aside: float, last: int) -> None:
    known = [(place + aside, one, one.mean) for place, one in counts.items() if place <= last and one.mean is not None]
    for x, one, mean in known:
        low, high = one.ci95 or (mean, mean)
        axes.plot([x, x], [max(0.0, low), high], color=look.colour, linewidth=1.2)
    style = {"color": look.colour, "marker": look.marker, "linestyle": look.dash, "linewidth": 0.7, "markersize": 5}
    axes.plot([x for x, _, _ in known], [mean for _, _, mean in known], label=look.name, **style)
