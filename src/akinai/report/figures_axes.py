"""How every figure looks: type, lines, colours that the colour-blind and a black-and-white print can tell apart."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from akinai.report.columns import plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito 2008, "Color Universal Design", without yellow, which is lost on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (5, 1.5, 1.2, 1.5)), (0, (2.5, 1.5)), (0, (9, 2, 1.2, 2, 1.2, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREYS = {"ink": "#222222", "soft": "#666666", "line": "#cccccc"}
LONGEST_NAME = 32
"""Characters of a name in a figure; tables have it whole."""

STYLE: dict[str, Any] = {
    "svg.hashsalt": "akinai",
    "svg.image_inline": True,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "text.parse_math": False,  # a name may hold dollars
    "axes.unicode_minus": True,
    "axes.edgecolor": GREYS["soft"],
    "axes.labelcolor": GREYS["ink"],
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "text.color": GREYS["ink"],
    "xtick.color": GREYS["soft"],
    "ytick.color": GREYS["soft"],
    "xtick.labelcolor": GREYS["ink"],
    "ytick.labelcolor": GREYS["ink"],
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
}
WIDTH = 6.2
"""Inches: the width of a column of text."""
LEGEND_LINE = 0.17
"""Inches that a figure grows for each further line of its legend."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one player is drawn, in every figure alike."""

    name: str
    colour: str
    dash: Any
    marker: str


def looks(players: Sequence[str]) -> dict[str, Look]:
    """A look for each player, in their order; neighbours differ in colour, line and marker, and all in name."""
    made: dict[str, Look] = {}
    names: dict[str, int] = {}
    for place, (player, name) in enumerate(zip(players, _cut(_apart(players)), strict=True)):
        names[name] = names.get(name, 0) + 1
        name = f"{name} ({names[name]})" if names[name] > 1 else name
        colour, dash, marker = (one[place % len(one)] for one in (COLOURS, DASHES, MARKERS))
        made[player] = Look(name, colour, dash, marker)
    return made


def _apart(names: Sequence[str]) -> list[str]:
    """Names without the words with which all begin, and the path of a setting that all name, where one is too long."""
    if len(names) < 2 or max(map(len, names)) <= LONGEST_NAME:
        return list(names)
    words = [name.split(" ") for name in names]
    same = sum(
        1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*(one[:-1] for one in words), strict=False))
    )
    told = [" ".join(one[same:]) for one in words]
    path, dot, _ = told[0].partition("=")[0].rpartition(".")
    long = max(map(len, told)) > LONGEST_NAME and all(one.startswith(path + dot) for one in told)
    return [one.removeprefix(path + dot) for one in told] if long else told


def _cut(names: Sequence[str]) -> list[str]:
    """Names with room for them; those that would look alike keep their end as well."""
    cut = [short(name) for name in names]
    half = LONGEST_NAME // 2 - 2
    ends = [short(f"{name[:half]}...{name[-half:]}") if len(name) > LONGEST_NAME else name for name in names]
    return [end if cut.count(one) > 1 else one for one, end in zip(cut, ends, strict=True)]


def short(name: str) -> str:
    """A name with room for it in a figure; one that begins with "_", which a legend would leave out, gets a space."""
    told = writable(shortened(name, LONGEST_NAME))
    return f" {told}" if told.startswith("_") else told


def writable(text: str) -> str:
    """Text as XML can hold it."""
    return re.sub("[\ufffe\uffff\ud800-\udfff]", "\ufffd", plain(text))


@contextmanager
def styled() -> Iterator[None]:
    """Draw with our settings alone, whatever the reader's own matplotlibrc says."""
    from matplotlib import style

    with style.context(["default", STYLE]):
        yield


def sheet(height: float, rows: int = 1, columns: int = 1, **options: Any) -> "tuple[Figure, list[Axes]]":
    """An empty figure and its panels, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height))
    made = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, [axes for row in made for axes in row]


def dollars(cents: float) -> str:
    """Money on an axis: whole dollars where they tell ticks apart, "$1.50" else."""
    sign, amount = ("\u2212" if cents < 0 else ""), abs(cents) / 100
    return f"{sign}${amount:,.0f}" if math.isclose(amount, round(amount), abs_tol=1e-9) else f"{sign}${amount:,.2f}"


def plain_number(value: float) -> str:
    """A count or a share on an axis."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"


def scale(axis: Any, unit: str, bins: int = 6) -> None:
    """Ticks of an axis in a unit: dollars for cents, whole numbers for counts."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    steps = [1, 2, 2.5, 5, 10]
    if unit == "cents":
        axis.set_major_locator(MaxNLocator(bins, steps=steps))
        axis.set_major_formatter(FuncFormatter(lambda value, _: dollars(value)))
    else:
        axis.set_major_locator(MaxNLocator(bins, steps=steps, integer=unit == "days"))
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(round(value, 9))))


def in_unit(what: str, unit: str) -> str:
    """The label of an axis: what it shows, and its unit."""
    return f"{what[:1].upper()}{what[1:]} ({'dollars' if unit == 'cents' else unit})"


def days_axis(axes: "Axes", last: int, bins: int = 8) -> None:
    """The horizontal axis of days, from the first to the last."""
    axes.set_xlim(0.5 if last <= 1 else 1, max(last, 1.5))
    axes.set_xlabel("Day of the run")
    scale(axes.xaxis, "days", bins)


def legend_below(figure: "Figure", *panels: "Axes", columns: int = 4) -> None:
    """One legend under a figure, for all its panels."""
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if handles:
        fit = max(1, min(columns, 84 // (max(map(len, handles)) + 6), len(handles)))
        figure.set_figheight(figure.get_figheight() + LEGEND_LINE * (-(-len(handles) // fit) - 1))
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=fit)
