"""The tables of several runs as one: what a row comes to over the runs, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from akinai.core.accounts import WORDS, Table
from akinai.core.canonical import Json
from akinai.core.scores import bounds
from akinai.core.statistics import Summary, summarise


@dataclass(frozen=True, slots=True)
class RowOver:
    """One row over runs."""

    keys: tuple[Json, ...]
    values: Mapping[str, Summary]
    """By column of numbers. A run that does not know a value is `failed` there."""


@dataclass(frozen=True, slots=True)
class TableOver:
    """A table over runs, its rows in the order of their keys."""

    name: str
    columns: Mapping[str, str]
    """Names and units, the keys first."""
    runs: int
    rows: tuple[RowOver, ...]

    def to_json(self) -> dict[str, Json]:
        return {"runs": self.runs, "rows": [self._row(row) for row in self.rows]}

    def _row(self, row: RowOver) -> dict[str, Json]:
        keys = dict(zip(self.columns, row.keys, strict=False))
        return {**keys, **{name: one.to_json() for name, one in row.values.items()}}


def over_runs(tables: Sequence[Table]) -> TableOver | None:
    """Tables of one name, one a run, told as one; None for lists, whose rows have no keys."""
    first = tables[0]
    if not first.keys:
        return None
    places = [place for place, unit in enumerate(first.columns.values()) if place >= first.keys and unit != WORDS]
    by_run = [{tuple(row[: first.keys]): row for row in one.rows} for one in tables]
    nothing = [None if unit == "place" else 0 for unit in first.columns.values()]
    names, units, summarised = list(first.columns), list(first.columns.values()), lru_cache(maxsize=100_000)(_summary)
    rows: list[RowOver] = []
    for key in sorted({key for rows in by_run for key in rows}, key=_order):
        values = {
            names[place]: summarised(tuple(_number(run.get(key, nothing)[place]) for run in by_run), units[place])
            for place in places
        }
        rows.append(RowOver(key, values))
    return TableOver(first.name, first.columns, len(tables), tuple(rows))


def _summary(values: tuple[float | None, ...], unit: str) -> Summary:
    return summarise(values, bounds=bounds(unit))


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) else None


def _order(key: tuple[Json, ...]) -> list[tuple[bool, float, str]]:
    """Numbers by size, texts by letters."""
    return [(False, one, "") if isinstance(one, int | float) else (True, 0, str(one)) for one in key]
