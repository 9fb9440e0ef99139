"""Differences between the groups of a report, two by two."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from akinai.analysis.analyse import Analysis
from akinai.analysis.comparison import Comparison, ScoreComparison, Side, compare_sides
from akinai.analysis.presentation import presentation_of
from akinai.analysis.records import Group
from akinai.analysis.tables import difference_columns
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import capitalized, label
from akinai.core.statistics import holm
from akinai.report.page.charts import headline
from akinai.report.page.document import Block

MAX_ALL_PAIRS = 5
"""Groups up to which every two are compared; of more, each is compared with the first."""
PAIR_NOTE = (
    "The second of a pair less the first, on the seeds that both played; a seed that was played several times counts "
    "once, with its mean. p is of an exact test of the pairs, beside it corrected for the number of pairs in the table "
    "(Holm). "
    "The smallest visible gain is what so many pairs would have shown four times in five."
)
WELCH_NOTE = "Where the column of pairs holds no number no seed is common: the means are compared."


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


def pairs(compared: Sequence[Comparison], groups: Sequence[Group]) -> Iterator[Block]:
    """Tables of two groups each: the first score, and the figures in which the world has groups compared."""
    names, first = {group.name for group in groups}, headline(groups)
    compared = [comparison for comparison in compared if comparison.a.group.name in names]
    if first is None or not compared:
        return
    note = PAIR_NOTE if all(comparison.paired for comparison in compared) else f"{PAIR_NOTE} {WELCH_NOTE}"
    yield _table(first[0], [(comparison, comparison.scores[first[0]]) for comparison in compared], note)
    for name in presentation_of(groups[0].world).compared:
        if rows := [(comparison, comparison.figures[name]) for comparison in compared if name in comparison.figures]:
            yield _table(name, rows)


def _table(name: str, rows: Sequence[tuple[Comparison, ScoreComparison]], note: str = "") -> Grid:
    statistics = [score.statistic for _, score in rows]
    columns = [
        Column("first", [comparison.a.name for comparison, _ in rows], words=True, names=True),
        Column("second", [comparison.b.name for comparison, _ in rows], words=True, names=True),
        *difference_columns(statistics, [score.unit for _, score in rows], holm([row.p for row in statistics])),
    ]
    return Grid(columns, f"{capitalized(label(name))} of two groups", note)
