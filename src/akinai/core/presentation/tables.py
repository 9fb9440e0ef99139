"""A table of results: the same columns on a terminal, in a page, in Markdown, in `print`, as CSV and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from akinai.core.canonical import Json
from akinai.core.presentation.words import ABSENT, figure, unit_word
from akinai.core.statistics import Bounds
from akinai.core.untrusted.spelling import csv_line

PARTS = {"cents": 100, "percent": 0.01, "points": 0.01}
"""What is one of the units that a CSV has: a dollar in cents, a percent as a share."""

EXACT = {"percent": "share", "points": "share", "p": ""}
"""The units in which numbers stand that people read otherwise."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    head: str
    values: Sequence[float | str | None]
    """Numbers, texts as they are shown, or None for what is not known."""
    words: bool = False
    """Words are aligned left and may be wrapped; numbers are aligned right."""
    drop: int = 0
    """0: the column is always shown. Of the others, the one with the largest number is left out first."""
    unit: str | Sequence[str] = ""
    """The unit of its numbers, or of each."""
    ends: Sequence[Bounds | None] = ()
    """The 95 % interval of each number, in brackets behind it; programs read it as two columns of its own."""
    sign: bool = False
    """Whether positive numbers have a sign, as differences do."""
    names: bool = False
    """Whether its words are names that somebody gave, which are the same in every language."""
    prose: bool = False
    """Whether a terminal gives its words the width that is left, in as many lines as they need."""

    @property
    def units(self) -> Sequence[str]:
        """The unit of each value."""
        return [self.unit] * len(self.values) if isinstance(self.unit, str) else self.unit

    @property
    def cells(self) -> list[str]:
        return [
            value if isinstance(value, str) else figure(value, unit, sign=self.sign) + _in_brackets(ends, unit)
            for value, unit, ends in zip(self.values, self.units, self.ends or [None] * len(self.values), strict=True)
        ]

    @property
    def plain(self) -> "Iterator[Column]":
        """Yield the columns that programs read: one of values, without what is not known, and one for each end of its
        intervals."""
        yield replace(self, values=[None if value == ABSENT else value for value in self.values], ends=())
        for end, name in enumerate(("from", "to") if self.ends else ()):
            yield replace(
                self, head=f"{self.head}, 95 % {name}", values=[ends and ends[end] for ends in self.ends], ends=()
            )

    @property
    def in_dollars(self) -> list[float | str | None]:
        """The values with amounts in dollars and shares in percent."""
        return [
            value / PARTS[unit] if isinstance(value, int | float) and unit in PARTS else value
            for value, unit in zip(self.values, self.units, strict=True)
        ]


def _in_brackets(ends: Bounds | None, unit: str) -> str:
    """ " (1 to 2 %)"; empty without an interval."""
    if ends is None:
        return ""
    low, high = (figure(end, unit) for end in ends)
    return f" ({low.removesuffix(' %')} to {high})"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with its title and a note below it."""

    columns: Sequence[Column]
    title: str = ""
    note: str = ""

    @staticmethod
    def of_rows(
        heads: Sequence[str],
        rows: Sequence[Sequence[float | str | None]],
        title: str = "",
        note: str = "",
        words: frozenset[int] = frozenset({0}),
    ) -> "Grid":
        """A table of rows; `words` are the indices of the columns that hold words."""
        columns = zip(*rows, strict=True) if rows else [()] * len(heads)
        return Grid(
            [
                Column(head, list(values), at in words)
                for at, (head, values) in enumerate(zip(heads, columns, strict=True))
            ],
            title,
            note,
        )

    @property
    def heads(self) -> list[str]:
        return [column.head for column in self.columns]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return list(zip(*(column.cells for column in self.columns), strict=True))

    @property
    def always(self) -> "Grid":
        """The columns that are never left out."""
        return Grid([column for column in self.columns if not column.drop], self.title, self.note)

    def in_order(self, order: Sequence[int]) -> "Grid":
        """The rows of these indices, in this order."""
        columns = [
            replace(
                column,
                values=[column.values[index] for index in order],
                unit=column.unit if isinstance(column.unit, str) else [column.units[index] for index in order],
                ends=[column.ends[index] for index in order] if column.ends else (),
            )
            for column in self.columns
        ]
        return replace(self, columns=columns)

    @property
    def csv(self) -> str:
        """Its heads, with the unit of their numbers, and its rows as lines of a CSV; a column has the units where they
        differ from row to row."""
        plain = [part for column in self.columns for part in column.plain]
        units = [list(dict.fromkeys(map(unit_word, column.units))) for column in plain]
        heads = [
            f"{column.head} ({unit[0]})" if len(unit) == 1 and unit[0] not in ("", column.head) else column.head
            for column, unit in zip(plain, units, strict=True)
        ]
        columns = [[head, *column.in_dollars] for head, column in zip(heads, plain, strict=True)]
        if mixed := next((column for column, unit in zip(plain, units, strict=True) if len(unit) > 1), None):
            columns.insert(1, ["unit", *map(unit_word, mixed.units)])
        return "\n".join(map(csv_line, zip(*columns, strict=True)))

    def to_json(self) -> dict[str, Json]:
        """Its heads, the unit of each column or of each of its rows, and its rows: every number as the records hold it,
        amounts in cents and shares of 1."""
        columns = [part for column in self.columns for part in column.plain]
        units = [[EXACT.get(unit, unit) for unit in column.units] for column in columns]
        return {
            "heads": [column.head for column in columns],
            "units": [unit[0] if len({*unit}) == 1 else [*unit] for unit in units],
            "rows": [[*row] for row in zip(*(column.values for column in columns), strict=True)],
        }

    def __str__(self) -> str:
        """Its rows below its heads, in lines."""
        lines = [self.heads, *self.rows]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if column.words else cell.rjust(width)
                for cell, width, column in zip(line, widths, self.columns, strict=True)
            ).rstrip()
            for line in lines
        )
