"""The style of every figure: type, axes, and looks that colour-blind readers and black-and-white prints tell apart."""

import math
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from akinai.core.presentation.words import unit_word
from akinai.core.untrusted.spelling import plain, shorten

Figure = Any
"""A matplotlib figure. It is untyped: matplotlib leaves keyword arguments unknown, which strict checks refuse."""
Axes = Any
"""A panel of a matplotlib figure."""

# Okabe and Ito 2008, "Color Universal Design", without yellow, which is lost on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (5, 1.5, 1.2, 1.5)), (0, (2.5, 1.5)), (0, (9, 2, 1.2, 2, 1.2, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SCALE_LOOKS: dict[str, tuple[str, Any, str]] = {
    "idle": ("#8a8a8a", (0, (1, 2)), "o"),
    "reference": ("#5a5a5a", (0, (6, 3)), "s"),
    "informed": ("#3f6b4e", (0, (5, 1.5, 1.2, 1.5)), "^"),
}
"""Colour, line and mark of the players of the scale."""
GREYS = {"ink": "#222222", "soft": "#666666", "line": "#cccccc"}
LONGEST_NAME = 32
"""Characters of a name in a figure; tables show it in full."""

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
"""Inches, the width of a column of text."""
LEGEND_LINE = 0.17
"""Inches that each further line of a legend adds to a figure."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a group is drawn, in every figure alike."""

    name: str
    colour: str
    dash: Any
    marker: str


def looks(groups: Sequence[str], kinds: Mapping[str, str] = MappingProxyType({})) -> dict[str, Look]:
    """A look for each group, in their order; neighbours differ in colour, line and marker, and all in name.

    `kinds` are the lines of the page by group: "g1" has the first colour, "idle" and "reference" are grey, and groups
    without one follow in their order.
    """
    looks_by_group: dict[str, Look] = {}
    names: dict[str, int] = {}
    for index, (group, name) in enumerate(zip(groups, _cut(_without_common(groups)), strict=True)):
        names[name] = names.get(name, 0) + 1
        name = f"{name} ({names[name]})" if names[name] > 1 else name
        kind = kinds.get(group, "")
        if kind in SCALE_LOOKS:
            looks_by_group[group] = Look(name, *SCALE_LOOKS[kind])
            continue
        own = int(kind.removeprefix("g")) - 1 if kind else index
        looks_by_group[group] = Look(name, *(cycle[own % len(cycle)] for cycle in (COLOURS, DASHES, MARKERS)))
    return looks_by_group


def _without_common(names: Sequence[str]) -> list[str]:
    """The names; if one is too long, without the words and the path of a setting with which all begin."""
    if len(names) < 2 or max(map(len, names)) <= LONGEST_NAME:
        return list(names)
    words = [name.split(" ") for name in names]
    columns = zip(*(parts[:-1] for parts in words), strict=False)
    same = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    ends = [" ".join(parts[same:]) for parts in words]
    path, dot, _ = ends[0].partition("=")[0].rpartition(".")
    long = max(map(len, ends)) > LONGEST_NAME and all(end.startswith(path + dot) for end in ends)
    return [end.removeprefix(path + dot) for end in ends] if long else ends


def _cut(names: Sequence[str]) -> list[str]:
    """Names cut to fit; those that would look alike keep their end as well."""
    cut = [short(name) for name in names]
    half = LONGEST_NAME // 2 - 2
    ends = [short(f"{name[:half]}...{name[-half:]}") if len(name) > LONGEST_NAME else name for name in names]
    return [end if cut.count(name) > 1 else name for name, end in zip(cut, ends, strict=True)]


def short(name: str) -> str:
    """A name cut to fit a figure. A space is put before a leading "_": a legend would leave the name out."""
    text = writable(shorten(name, LONGEST_NAME))
    return f" {text}" if text.startswith("_") else text


def writable(text: str) -> str:
    """Text without characters that XML cannot hold."""
    return re.sub("[\ufffe\uffff\ud800-\udfff]", "\ufffd", plain(text))


@contextmanager
def akinai_style() -> Generator[None, None, None]:
    """Draw with the settings of `STYLE` alone, whatever the user's matplotlibrc says."""
    from matplotlib import style

    with style.context(["default", STYLE]):
        yield


def sheet(height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    """An empty figure, `height` inches high, and its panels, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height))
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, [axes for row in grid for axes in row]


def dollars(cents: float) -> str:
    """Money on an axis: "$2" for whole dollars, else "$1.50"."""
    sign, amount = ("\u2212" if cents < 0 else ""), abs(cents) / 100
    return f"{sign}${amount:,.0f}" if math.isclose(amount, round(amount), abs_tol=1e-9) else f"{sign}${amount:,.2f}"


def plain_number(value: float) -> str:
    """A count or a share on an axis."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"


def scale(axis: Any, unit: str, bins: int = 6) -> None:
    """Set the ticks of an axis: dollars for "cents", whole numbers for "days"."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    steps = [1, 2, 2.5, 5, 10]
    if unit == "cents":
        axis.set_major_locator(MaxNLocator(bins, steps=steps))
        axis.set_major_formatter(FuncFormatter(_dollar_tick))
    else:
        axis.set_major_locator(MaxNLocator(bins, steps=steps, integer=unit == "days"))
        axis.set_major_formatter(FuncFormatter(_number_tick))


def _dollar_tick(value: float, _: int | None) -> str:
    return dollars(value)


def _number_tick(value: float, _: int | None) -> str:
    return plain_number(round(value, 9))


def axis_label(label: str, unit: str) -> str:
    """The label of an axis: its quantity, and the unit in brackets."""
    return f"{label[:1].upper()}{label[1:]} ({unit_word(unit)})"


def days_axis(axes: Axes, last: int, bins: int = 8) -> None:
    """Set the horizontal axis to days, from the first to the last."""
    axes.set_xlim(0.5 if last <= 1 else 1, max(last, 1.5))
    axes.set_xlabel("Day of the run")
    scale(axes.xaxis, "days", bins)


def legend_below(figure: Figure, *panels: Axes, columns: int = 4) -> None:
    """Draw one legend under a figure, for all its panels."""
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if handles:
        fit = max(1, min(columns, 84 // (max(map(len, handles)) + 6), len(handles)))
        figure.set_figheight(figure.get_figheight() + LEGEND_LINE * (-(-len(handles) // fit) - 1))
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=fit)
