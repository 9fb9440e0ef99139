"""What a world tells of runs beyond their scores, for people: figures, and tables of agents and conversations."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from akinai.core.accounts import WORDS, Table
from akinai.core.canonical import Json
from akinai.report.columns import Column, fitted, plain, shortened
from akinai.report.tables import ABSENT, figure, label, statistics_table
from akinai.runtime.analysis import Group, RunRecord, ScoreOver
from akinai.runtime.analysis_tables import RowOver, TableOver

MOST_ROWS = 20
"""Of a table that are shown; --json holds all."""
LONGEST = 40
"""Characters of a cell."""


def percent(share: float) -> str:
    """A share of 1 as people read it."""
    return f"{100 * share:,.0f} %"


def account_of(run: RunRecord, width: int) -> Iterator[RenderableType]:
    """One run's figures and tables."""
    if not run.figures:
        return
    best, whole = run.value("of_best"), run.value("best_possible")
    if best is not None and run.scores:
        yield Text(plain(of_best(run.scores[0].name, best, whole)), "bold")
    shown = [one for one in run.figures if one.name != "of_best" and one.value]
    names, values = [label(one.name) for one in shown], [figure(one.value, one.unit) for one in shown]
    if shown:
        yield fitted([Column("beside the scores", names, words=True), Column("value", values)], width)
    if zeros := _zeros([one.name for one in run.figures if not one.value], some=bool(shown)):
        yield Text(plain(zeros), "dim")
    for one in run.tables:
        yield from _table(one.name, one.columns, [list(row) for row in one.rows], width)


def account_over(group: Group, runs: Sequence[RunRecord], width: int) -> Iterator[RenderableType]:
    """The same over the runs of a group, each table with the interval of its first figure."""
    if not group.figures:
        return
    if told := of_best_over(group):
        yield Text(plain(told), "bold")
    moved = {name: one for name, one in group.figures.items() if not _nothing(one) and name != "of_best"}
    units = {name: one.unit for name, one in moved.items()}
    if moved:
        yield statistics_table({name: one.summary for name, one in moved.items()}, units, width, "Beside the scores")
    if zeros := _zeros([name for name, one in group.figures.items() if _nothing(one)], some=bool(moved)):
        yield Text(plain(zeros), "dim")
    yield from _listed(runs, width)
    for over in group.tables.values():
        yield from _over(over, width)
    if any(one.keys and one.rows and one.name not in group.tables for run in runs for one in run.tables):
        yield Text("Each run has agents of its own: analyze one run to see its tables.", "dim")


def of_best(score: str, share: float, best: float | None) -> str:
    """How near a score came to the best possible."""
    return f"{label(score).capitalize()} is {percent(share)} of the best possible, {figure(best, 'cents')}."


def of_best_over(group: Group) -> str:
    """The same for a group, with its interval; empty where it is not known."""
    one, best, first = group.figures.get("of_best"), group.figures.get("best_possible"), next(iter(group.scores), None)
    if one is None or best is None or first is None or one.summary.mean is None:
        return ""
    told = of_best(first, one.summary.mean, best.summary.mean)
    if one.summary.ci95 and one.summary.min != one.summary.max:
        low, high = map(percent, one.summary.ci95)
        told = f"{told[:-1]} (on average, between {low} and {high} at 95 %)."
    return told


def _nothing(one: ScoreOver) -> bool:
    return not one.summary.min and not one.summary.max


def _zeros(names: Sequence[str], *, some: bool) -> str:
    """What came to nothing: by name where something else came to something."""
    if not some:
        return "Beside the scores every figure is 0." * bool(names)
    return f"None at all: {', '.join(map(label, names))}." if names else ""


def _listed(runs: Sequence[RunRecord], width: int) -> Iterator[RenderableType]:
    """Lists that have rows of their own in every run."""
    by_name: dict[str, list[tuple[RunRecord, Table]]] = {}
    for run in runs:
        for one in run.tables:
            if not one.keys:
                by_name.setdefault(one.name, []).append((run, one))
    for name, found in by_name.items():
        rows: list[list[Json]] = [[run.id, *row] for run, one in found for row in one.rows]
        yield from _table(name, {"run": WORDS, **found[0][1].columns}, rows, width)


def _table(name: str, units: Mapping[str, str], rows: Sequence[Sequence[Json]], width: int) -> Iterator[RenderableType]:
    if not rows:
        return
    some = ordered(units, rows)[:MOST_ROWS]
    columns = [
        Column(label(head), [cell(row[place], unit) for row in some], words=unit == WORDS, drop=_drop(place, unit))
        for place, (head, unit) in enumerate(units.items())
    ]
    yield fitted(columns, width, label(name).capitalize())
    yield from _rest(len(rows))


def _over(over: TableOver, width: int) -> Iterator[RenderableType]:
    if not over.rows:
        return
    heads, rows = means(over)
    some = rows[:MOST_ROWS]
    columns = [
        Column(head, [row[place] for row in some], words=words, drop=max(0, place - 4))
        for place, (head, words) in enumerate(heads.items())
    ]
    runs = f", means over {over.runs:,} runs" if over.runs > 1 else ""
    yield fitted(columns, width, f"{label(over.name).capitalize()}{runs}")
    yield from _rest(len(rows))


def means(over: TableOver) -> tuple[Mapping[str, bool], list[tuple[str, ...]]]:
    """Heads, with whether they stand over words; and rows: keys, the first figure with its interval, other means."""
    keys = list(over.columns)[: len(over.rows[0].keys)]
    names = list(over.rows[0].values)
    first, *more = names
    heads = {label(one): over.columns[one] == WORDS for one in keys}
    heads |= dict.fromkeys([label(first), "95 % from", "to", *map(label, more)], False)
    rows: list[tuple[str, ...]] = []
    for row in _by_worth(over):
        low, high = row.values[first].ci95 or (None, None)
        told = [(row.values[first].mean, first), (low, first), (high, first)]
        told += [(row.values[name].mean, name) for name in more]
        rows.append((*map(str, row.keys), *(figure(value, over.columns[name]) for value, name in told)))
    return heads, rows


def _by_worth(over: TableOver) -> list[RowOver]:
    worth = next((name for name in over.rows[0].values if over.columns[name] == "cents"), None)
    return sorted(over.rows, key=lambda row: -(row.values[worth].mean or 0)) if worth else list(over.rows)


def ordered(units: Mapping[str, str], rows: Sequence[Sequence[Json]]) -> list[Sequence[Json]]:
    """Rows by their first amount of money, the largest first; where they have none as they are."""
    place = next((place for place, unit in enumerate(units.values()) if unit == "cents"), None)
    if place is None:
        return list(rows)
    return sorted(rows, key=lambda row: -_amount(row[place]))


def _amount(value: Json) -> float:
    return value if isinstance(value, int | float) else 0


def cell(value: Json, unit: str) -> str:
    """A value of a table as people read it."""
    if isinstance(value, int | float):
        return figure(value, unit)
    return ABSENT if value is None else shortened(str(value), LONGEST)


def _drop(place: int, unit: str) -> int:
    return 0 if place < 4 else place if unit != WORDS else place + 1


def _rest(rows: int) -> Iterator[RenderableType]:
    if rows > MOST_ROWS:
        yield Text(f"and {rows - MOST_ROWS:,} more; --json tells all {rows:,}", "dim")
