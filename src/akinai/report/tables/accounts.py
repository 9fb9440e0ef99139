"""Tables of a world's account beside the scores: its figures, and its tables of agents and conversations."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from akinai.analysis.records import Group, RowSummary, ScoreSummary, TableSummary
from akinai.core.canonical import Json
from akinai.core.facets import Presentation
from akinai.core.presentation.words import ABSENT, figure, label, percent
from akinai.core.scores import WORDS
from akinai.report.language import translate
from akinai.report.presentation import presentation_of
from akinai.report.tables.columns import Column, fit_table, shorten, translate_line
from akinai.report.tables.runs import statistics_table, with_name
from akinai.runtime.runs.records import Run

MAX_ROWS = 20
"""Rows of a table that are shown; --json holds all."""
MAX_CELL = 40
"""Characters of a cell."""


def account_of(run: Run, width: int) -> Iterator[RenderableType]:
    """Yield the figures and tables of a run."""
    if not run.figures:
        return
    best = presentation_of(run.world).best
    share = run.value(best.share) if best else None
    if best and share is not None and run.scores:
        yield Text(translate_line(_best_sentence(run.scores[0].name, share, run.value(best.amount))), "bold")
    nonzero = [score for score in run.figures if score.value and (best is None or score.name != best.share)]
    names = [translate(label(score.name)) for score in nonzero]
    values = [figure(score.value, score.unit) for score in nonzero]
    if nonzero:
        yield fit_table([Column("beside the scores", names, words=True), Column("value", values)], width)
    if zeros := _zeros([score.name for score in run.figures if not score.value], any_shown=bool(nonzero)):
        yield Text(translate_line(zeros), "dim")
    for table in run.tables:
        yield from _table(table.name, table.columns, [list(row) for row in table.rows], width, run.names)


def account_over(group: Group, runs: Sequence[Run], width: int) -> Iterator[RenderableType]:
    """Yield the figures and tables of a group's runs, each table with the interval of its first figure."""
    if not group.figures:
        return
    presentation = presentation_of(group.world)
    if sentence := best_sentence(group, presentation):
        yield Text(translate_line(sentence), "bold")
    share = presentation.best.share if presentation.best else ""
    moved = {name: score for name, score in group.figures.items() if not _is_zero(score) and name != share}
    units = {name: score.unit for name, score in moved.items()}
    if moved:
        summaries = {name: score.summary for name, score in moved.items()}
        yield statistics_table(summaries, units, width, "Beside the scores")
    if zeros := _zeros([name for name, score in group.figures.items() if _is_zero(score)], any_shown=bool(moved)):
        yield Text(translate_line(zeros), "dim")
    for name, (units, rows) in gather_lists(runs).items():
        yield from _table(name, units, rows, width)
    for table in group.tables.values():
        yield from _mean_table(table, width, names_of(runs))
    if any(table.keys and table.rows and table.name not in group.tables for run in runs for table in run.tables):
        yield Text(translate_line("Each run has agents of its own: analyze one run to see its tables."), "dim")


def best_sentence(group: Group, presentation: Presentation[Any]) -> str:
    """A sentence on how near a group's first score came to the best possible; empty if that is not known."""
    best, first = presentation.best, next(iter(group.scores), None)
    share = group.figures.get(best.share) if best else None
    amount = group.figures.get(best.amount) if best else None
    if share is None or amount is None or first is None or share.summary.mean is None:
        return ""
    sentence = _best_sentence(first, share.summary.mean, amount.summary.mean)
    if share.summary.ci95 and share.summary.min != share.summary.max:
        low, high = map(percent, share.summary.ci95)
        sentence = f"{sentence[:-1]} (on average, between {low} and {high} at 95 %)."
    return sentence


def _best_sentence(score: str, share: float, best: float | None) -> str:
    return f"{label(score).capitalize()} is {percent(share)} of the best possible, {figure(best, 'cents')}."


def _is_zero(score: ScoreSummary) -> bool:
    return not score.summary.min and not score.summary.max


def _zeros(names: Sequence[str], *, any_shown: bool) -> str:
    """A sentence about the figures that are 0: by name if others are not."""
    if not any_shown:
        return "Beside the scores every figure is 0." * bool(names)
    return f"None at all: {', '.join(map(label, names))}." if names else ""


def gather_lists(runs: Sequence[Run]) -> dict[str, tuple[Mapping[str, str], list[Sequence[Json]]]]:
    """Gather the tables without keys, which have no means: by name their units, and the rows of all runs.

    Each row begins with the id of its run; ids of agents have their names.
    """
    lists: dict[str, tuple[Mapping[str, str], list[Sequence[Json]]]] = {}
    for run in runs:
        for table in run.tables:
            if not table.keys:
                _, rows = lists.setdefault(table.name, ({"run": WORDS, **table.columns}, []))
                for row in table.rows:
                    cells = (with_name(value, run.names) if isinstance(value, str) else value for value in row)
                    rows.append([run.id, *cells])
    return lists


def names_of(runs: Sequence[Run]) -> Mapping[str, str]:
    """The names of the agents of runs by id; none for an id that has several."""
    names_by_id: dict[str, set[str]] = {}
    for run in runs:
        for id, name in run.names.items():
            names_by_id.setdefault(id, set()).add(name)
    return {id: names.pop() for id, names in names_by_id.items() if len(names) == 1}


def _table(
    name: str,
    units: Mapping[str, str],
    rows: Sequence[Sequence[Json]],
    width: int,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[RenderableType]:
    if not rows:
        return
    top = sort_rows(units, rows)[:MAX_ROWS]
    columns = [
        Column(label(head), [cell(row[at], unit, names) for row in top], words=unit == WORDS, drop=_drop(at, unit))
        for at, (head, unit) in enumerate(units.items())
    ]
    yield fit_table(columns, width, label(name).capitalize())
    yield from _more_rows(len(rows))


def _mean_table(table: TableSummary, width: int, names: Mapping[str, str]) -> Iterator[RenderableType]:
    if not table.rows:
        return
    heads, rows = means(table, names)
    top = rows[:MAX_ROWS]
    columns = [
        Column(head, [row[index] for row in top], words=words, drop=max(0, index - 4))
        for index, (head, words) in enumerate(heads.items())
    ]
    runs = f", means over {table.runs:,} runs" if table.runs > 1 else ""
    yield fit_table(columns, width, f"{label(table.name).capitalize()}{runs}")
    yield from _more_rows(len(rows))


def means(table: TableSummary, names: Mapping[str, str]) -> tuple[Mapping[str, bool], list[tuple[str, ...]]]:
    """A table as text: its heads, each True over words, and its rows.

    A row holds the keys, the first column with its interval, and the means of the other columns. `names` are those of
    agents by id.
    """
    keys = list(table.columns)[: len(table.rows[0].keys)]
    first, *more = table.rows[0].values
    heads = {label(key): table.columns[key] == WORDS for key in keys}
    heads |= dict.fromkeys([label(first), "95 % from", "to", *map(label, more)], False)
    rows: list[tuple[str, ...]] = []
    for row in _by_worth(table):
        low, high = row.values[first].ci95 or (None, None)
        values = [(row.values[first].mean, first), (low, first), (high, first)]
        values += [(row.values[name].mean, name) for name in more]
        texts = [with_name(str(key), names) for key in row.keys]
        rows.append((*texts, *(figure(value, table.columns[name]) for value, name in values)))
    return heads, rows


def _by_worth(table: TableSummary) -> list[RowSummary]:
    """Rows in the order of `sort_rows`, by their means."""
    if next(iter(table.columns.values())) == "place":
        return list(table.rows)
    worth = next((name for name in table.rows[0].values if table.columns[name] == "cents"), None)
    return sorted(table.rows, key=lambda row: -(row.values[worth].mean or 0)) if worth else list(table.rows)


def sort_rows(units: Mapping[str, str], rows: Sequence[Sequence[Json]]) -> list[Sequence[Json]]:
    """Sort rows by their first column of money, the largest first. They stay as they are if no column is money, or if
    the first is a place."""
    index = next((index for index, unit in enumerate(units.values()) if unit == "cents"), None)
    if index is None or next(iter(units.values())) == "place":
        return list(rows)
    return sorted(rows, key=lambda row: -_amount(row[index]))


def _amount(value: Json) -> float:
    return value if isinstance(value, int | float) else 0


def cell(value: Json, unit: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The text of a table's cell; an agent's id with its name."""
    if isinstance(value, int | float):
        return figure(value, unit)
    if isinstance(value, str) and value in names:
        return shorten(with_name(value, names), MAX_CELL)
    return ABSENT if value is None else shorten(str(value), MAX_CELL)


def _drop(index: int, unit: str) -> int:
    return 0 if index < 4 else index if unit != WORDS else index + 1


def _more_rows(rows: int) -> Iterator[RenderableType]:
    if rows > MAX_ROWS:
        yield Text(translate_line(f"and {rows - MAX_ROWS:,} more; --json tells all {rows:,}"), "dim")
