"""Sections about groups beside their scores: the world's account, and differences between two groups."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from akinai.analysis.analyse import Analysis
from akinai.analysis.comparison import Comparison, ScoreComparison, Side, compare_sides
from akinai.analysis.records import Group, TableSummary
from akinai.core.canonical import Json
from akinai.core.facets import Presentation
from akinai.core.presentation.words import ABSENT, label, p_value, unit_word
from akinai.core.presentation.words import figure as number
from akinai.core.scores import WORDS
from akinai.core.statistics import PairedComparison, holm
from akinai.report.page.charts import Looks, account_figures, headline, title
from akinai.report.page.document import Block, Grid, Prose, Section
from akinai.report.tables.accounts import best_sentence, cell, gather_lists, means, names_of, sort_rows
from akinai.runtime.runs.records import Run

MAX_ROWS = 60
ACCOUNT_HEADS = ("figure", "unit", "mean", "median", "min", "max", "95 % from", "to", "n")

MAX_ALL_PAIRS = 5
"""Groups up to which every two are compared; of more, each is compared with the first."""
PAIR_NOTE = (
    "The second of a pair less the first, on the seeds that both played; a seed that was played several times counts "
    "once, with its mean. p is of an exact test of the pairs, beside it corrected for the number of pairs in the table "
    "(Holm). "
    "The smallest visible gain is what so many pairs would have shown four times in five."
)
WELCH_NOTE = "Where the column of pairs holds no number no seed is common: the means are compared."
PAIR_HEADS = (
    "first", "second", "difference", "95 % from", "to", "pairs", "wins, losses, ties", "smallest visible", "p",
    "p (Holm)",
)  # fmt: skip


def accounts(
    groups: Sequence[Group],
    runs: Mapping[str, Sequence[Run]],
    presentation: Presentation[Any],
    looks: Looks,
) -> Iterator[Section]:
    """A section for all groups that have figures beside the scores, and one for each; `runs` are by group."""
    with_figures = [group for group in groups if group.figures]
    if not with_figures:
        return
    sentences = ((group, best_sentence(group, presentation)) for group in with_figures)
    prose = tuple(Prose(f"{group.name}: {sentence}") for group, sentence in sentences if sentence)
    yield Section("Beside the scores", (*prose, *account_figures(with_figures, presentation, looks)))
    for group in with_figures:
        yield Section(f"Beside the scores: {group.name}", tuple(_account(group, runs.get(group.name, ()))), 3)


def _account(group: Group, runs: Sequence[Run]) -> Iterator[Block]:
    yield _figures(group)
    for table in group.tables.values():
        if table.rows:
            yield _mean_table(table, names_of(runs))
    if any(table.keys and table.rows and table.name not in group.tables for run in runs for table in run.tables):
        yield Prose("Each run has agents of its own: results.json tells them run by run.")
    for name, (units, rows) in gather_lists(runs).items():
        if rows:
            yield _list(name, units, rows)


def _figures(group: Group) -> Grid:
    rows: list[tuple[str, ...]] = []
    for figure in group.figures.values():
        summary = figure.summary
        low, high = summary.ci95 or (None, None)
        values = (summary.mean, summary.median, summary.min, summary.max, low, high)
        texts = (number(value, figure.unit) for value in values)
        rows.append((label(figure.name), unit_word(figure.unit), *texts, str(summary.n)))
    note = "A run that cannot have a figure is not in its n."
    return Grid(ACCOUNT_HEADS, tuple(rows), note=note, words=frozenset({0, 1}))


def _mean_table(table: TableSummary, names: Mapping[str, str]) -> Grid:
    heads, rows = means(table, names)
    words = frozenset(index for index, is_words in enumerate(heads.values()) if is_words)
    runs = f": means over {table.runs:,} runs" if table.runs > 1 else ""
    name = f"{label(table.name).capitalize()}{runs}"
    return Grid(tuple(heads), tuple(rows[:MAX_ROWS]), name, _note(len(rows)), words)


def _list(name: str, units: Mapping[str, str], rows: Sequence[Sequence[Json]]) -> Grid:
    texts = [
        tuple(cell(value, unit) for value, unit in zip(row, units.values(), strict=True))
        for row in sort_rows(units, rows)
    ]
    words = frozenset(index for index, unit in enumerate(units.values()) if unit == WORDS)
    heads = tuple(label(head) for head in units)
    return Grid(heads, tuple(texts[:MAX_ROWS]), label(name).capitalize(), _note(len(rows)), words)


def _note(rows: int) -> str:
    return f"{MAX_ROWS} of {rows:,} rows; results.json holds all." if rows > MAX_ROWS else ""


def group_comparisons(analysis: Analysis) -> list[Comparison]:
    """Comparisons of every two groups of a world, the second against the first."""
    worlds = dict.fromkeys(group.world for group in analysis.groups)
    return [comparison for world in worlds for comparison in _comparisons(analysis, world)]


def _comparisons(analysis: Analysis, world: str) -> list[Comparison]:
    scored = [group for group in analysis.groups if group.world == world and group.scores]
    of_two = combinations(scored, 2) if len(scored) <= MAX_ALL_PAIRS else ((scored[0], later) for later in scored[1:])
    runs = {run.id: run for run in analysis.runs}
    members = {group.name: [runs[id] for id in group.runs] for group in scored}
    return [compare_sides((Side(a.name, a), Side(b.name, b)), members[a.name], members[b.name]) for a, b in of_two]


def pairs(compared: Sequence[Comparison], groups: Sequence[Group], presentation: Presentation[Any]) -> Iterator[Block]:
    """Tables of two groups each: the first score, and the figures in which the world has groups compared."""
    names, first = {group.name for group in groups}, headline(groups)
    compared = [comparison for comparison in compared if comparison.a.group.name in names]
    if first is None or not compared:
        return
    rows = _rows(compared, [comparison.scores[first[0]] for comparison in compared])
    note = PAIR_NOTE if all(comparison.paired for comparison in compared) else f"{PAIR_NOTE} {WELCH_NOTE}"
    yield Grid(PAIR_HEADS, rows, title(f"{first[0]} of two groups"), note, frozenset({0, 1}))
    for name in presentation.compared:
        having = [comparison for comparison in compared if name in comparison.figures]
        rows = _rows(having, [comparison.figures[name] for comparison in having])
        if rows:
            yield Grid(PAIR_HEADS, rows, title(f"{name} of two groups"), words=frozenset({0, 1}))


def _rows(compared: Sequence[Comparison], measures: Sequence[ScoreComparison]) -> tuple[tuple[str, ...], ...]:
    corrected = holm([measure.statistic.p for measure in measures])
    return tuple(map(_row, compared, measures, corrected))


def _row(comparison: Comparison, measure: ScoreComparison, p_holm: float | None) -> tuple[str, ...]:
    unit = measure.unit
    low, high = measure.ci95 or (None, None)
    return (
        comparison.a.name,
        comparison.b.name,
        *(number(value, unit, sign=True) for value in (measure.difference, low, high)),
        *_counts(measure.paired),
        number(measure.mde, unit),
        p_value(measure.statistic.p),
        p_value(p_holm),
    )


def _counts(paired: PairedComparison | None) -> list[str]:
    if paired is None:
        return [ABSENT] * 2
    return [
        str(paired.pairs),
        ", ".join(ABSENT if count is None else str(count) for count in (paired.wins, paired.losses, paired.ties)),
    ]
