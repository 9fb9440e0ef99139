"""Charts: the figures that a world asks a report to draw of its runs. They are data; `report` draws them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["level", "flow"]
"""How a quantity goes on after a run's last day: a level keeps its last value, as money does; a flow is 0, as sales
are."""


@dataclass(frozen=True, slots=True)
class Chart:
    """The words and the unit of a figure."""

    name: str
    """The name of its file, in lower case with hyphens; unique in a report."""
    title: str
    label: str
    """The label of its axis, without the unit."""
    unit: str
    """"cents" is drawn in dollars."""
    note: str = ""
    """How the values are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayChart(Chart):
    """A fact of each day over the days: a line for each group, with the interval of its mean."""

    fact: str
    """A name that the world's `facts` or `day_facts` give."""
    kind: Kind = "level"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackChart(Chart):
    """Parts of a whole over the days of one run, on top of one another."""

    parts: Mapping[str, str]
    """Facts of each day, with their names in words, from the bottom to the top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChart(Chart):
    """A table of each day over the days: a small panel for each item, with a line for each group."""

    table: str
    """A name under which `day_facts` gives numbers by item."""
    kind: Kind = "flow"
    """A flow is drawn as the mean of the last seven days. A level of 0 is one that is not set: it is not drawn."""
    order: str = ""
    """The table whose sums choose and order the items, the largest first; empty is the table itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanChart(Chart):
    """Figures of a world's account: a panel for each, with the mean and interval of each group."""

    figures: Mapping[str, str]
    """Names of figures, with their names in words. Figures that are 0 everywhere are left out, unless they stand beside
    chance."""
    chance: Mapping[str, str] = field(default_factory=dict[str, str])
    """For some of them, the figure with the value by chance; it is drawn as a tick."""
    chance_label: str = ""
    minimum: int = 1
    """The fewest panels with which the figure is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceChart(Chart):
    """Counts by place from 1: a panel for each table of a world's account, with a line for each group."""

    tables: Mapping[str, str]
    """Tables with one key, the place, with their names in words."""
    column: str
    """The column that is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChart(Chart):
    """Columns of a table of a world's account whose one key is a number: a panel for each, with a line for each group.

    `label` is the key in words; the panels have the columns' own units, and `unit` is not drawn.
    """

    table: str
    columns: Mapping[str, str]
    """Names of columns, with their names in words."""


@dataclass(frozen=True, slots=True)
class Best:
    """How near the first score came to the best possible, as two figures of a world's account."""

    share: str
    """The name of the figure that holds the share, from 0 to 1."""
    amount: str
    """The name of the figure that holds the best possible, in cents."""


@dataclass(frozen=True, slots=True)
class Published:
    """Results that others published and that a report shows when asked."""

    title: str
    text: str
    """A description, which says how far they can be compared."""
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """Where they were published."""
