"""What a world tells of runs beyond their scores, as sections of a report."""

from collections.abc import Iterator, Mapping, Sequence

from akinai.core.accounts import WORDS, Table
from akinai.core.canonical import Json
from akinai.report.accounts import cell, means, of_best_over, ordered
from akinai.report.figures_axes import Look
from akinai.report.page_contents import Block, Grid, Prose, Section
from akinai.report.page_means import mean_figures
from akinai.report.tables import figure as number
from akinai.report.tables import label
from akinai.runtime.analysis import Group, RunRecord
from akinai.runtime.analysis_tables import TableOver

MOST_ROWS = 60
HEADS = ("figure", "unit", "mean", "median", "min", "max", "95 % from", "to", "n")


def accounts(
    groups: Sequence[Group], runs: Mapping[str, Sequence[RunRecord]], looks: Mapping[str, Look]
) -> Iterator[Section]:
    """A section for all groups that have something to tell, and one for each; `runs` by the group's name."""
    told = [group for group in groups if group.figures]
    if not told:
        return
    sentences = tuple(Prose(f"{group.name}: {one}") for group in told if (one := of_best_over(group)))
    yield Section("Beside the scores", (*sentences, *mean_figures(told, looks)))
    for group in told:
        yield Section(f"Beside the scores: {group.name}", tuple(_blocks(group, runs.get(group.name, ()))), 3)


def _blocks(group: Group, runs: Sequence[RunRecord]) -> Iterator[Block]:
    yield _figures(group)
    for over in group.tables.values():
        if over.rows:
            yield _over(over)
    if any(one.keys and one.rows and one.name not in group.tables for run in runs for one in run.tables):
        yield Prose("Each run has agents of its own: results.json tells them run by run.")
    for name, (units, rows) in _lists(runs).items():
        if rows:
            yield _list(name, units, rows)


def _figures(group: Group) -> Grid:
    rows: list[tuple[str, ...]] = []
    for one in group.figures.values():
        told = one.summary
        low, high = told.ci95 or (None, None)
        values = (number(value, one.unit) for value in (told.mean, told.median, told.min, told.max, low, high))
        rows.append((label(one.name), "dollars" if one.unit == "cents" else one.unit, *values, str(told.n)))
    return Grid(HEADS, tuple(rows), note="A run that cannot have a figure is not in its n.", words=frozenset({0, 1}))


def _over(over: TableOver) -> Grid:
    heads, rows = means(over)
    words = frozenset(place for place, is_words in enumerate(heads.values()) if is_words)
    runs = f": means over {over.runs:,} runs" if over.runs > 1 else ""
    title = f"{label(over.name).capitalize()}{runs}"
    return Grid(tuple(heads), tuple(rows[:MOST_ROWS]), title, _note(len(rows)), words)


def _lists(runs: Sequence[RunRecord]) -> dict[str, tuple[Mapping[str, str], list[Sequence[Json]]]]:
    """Tables that cannot be told over runs, with the run of each row."""
    found: dict[str, tuple[Mapping[str, str], list[Sequence[Json]]]] = {}
    for run in runs:
        for one in run.tables:
            if not one.keys:
                _, rows = found.setdefault(one.name, ({"run": WORDS, **one.columns}, []))
                rows += _named(run.id, one)
    return found


def _named(run: str, table: Table) -> list[Sequence[Json]]:
    return [[run, *row] for row in table.rows]


def _list(name: str, units: Mapping[str, str], rows: Sequence[Sequence[Json]]) -> Grid:
    told = [
        tuple(cell(value, unit) for value, unit in zip(row, units.values(), strict=True))
        for row in ordered(units, rows)
    ]
    words = frozenset(place for place, unit in enumerate(units.values()) if unit == WORDS)
    heads = tuple(label(head) for head in units)
    return Grid(heads, tuple(told[:MOST_ROWS]), label(name).capitalize(), _note(len(rows)), words)


def _note(rows: int) -> str:
    return f"{MOST_ROWS} of {rows:,} rows; results.json holds all." if rows > MOST_ROWS else ""
