"""Groups compared with one another, seed by seed."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from akinai.core.statistics import Comparison
from akinai.core.unpaired import Apart
from akinai.report.page_contents import Block, Grid
from akinai.report.page_figures import headline, title
from akinai.report.tables import ABSENT
from akinai.report.tables import figure as number
from akinai.runtime.analysis import Analysis, Group
from akinai.runtime.analysis_pairs import Contrast, Measure, contrast

MOST_PAIRED = 5
"""Groups of which every two are compared; of more, each with the first."""
MOVED = ("treated_share",)
"""Figures beside the scores that are compared too."""
NOTE = (
    "The second of a pair less the first, on the seeds that both played; a seed that was played several times counts "
    "once, with its mean. p is of a paired t-test and not corrected for the number of pairs. The smallest visible gain "
    "is what so many pairs would have shown four times in five."
)
APART = "Where the column of pairs holds no number no seed is common: the means are compared."
HEADS = ("first", "second", "difference", "95 % from", "to", "pairs", "wins, losses, ties", "smallest visible", "p")


def contrasts(analysis: Analysis) -> list[Contrast]:
    """Every two groups of one world, the second against the first."""
    worlds = dict.fromkeys(group.world for group in analysis.groups)
    return [one for world in worlds for one in _contrasts(analysis, world)]


def _contrasts(analysis: Analysis, world: str) -> list[Contrast]:
    scored = [group for group in analysis.groups if group.world == world and group.scores]
    two = combinations(scored, 2) if len(scored) <= MOST_PAIRED else ((scored[0], other) for other in scored[1:])
    return [contrast(analysis, (a.name, b.name), (a.runs, b.runs), None) for a, b in two]


def pairs(compared: Sequence[Contrast], groups: Sequence[Group]) -> Iterator[Block]:
    """The first score of groups, two by two; and what a treatment was to move, where there is one."""
    here, first = {group.name for group in groups}, headline(groups)
    compared = [one for one in compared if one.a.group.name in here]
    if first is None or not compared:
        return
    rows = tuple(_row(one, one.scores[first[0]]) for one in compared)
    note = NOTE if all(one.paired for one in compared) else f"{NOTE} {APART}"
    yield Grid(HEADS, rows, title(f"{first[0]} of two groups"), note, frozenset({0, 1}))
    for name in MOVED:
        rows = tuple(_row(one, one.figures[name]) for one in compared if name in one.figures)
        if rows:
            yield Grid(HEADS, rows, title(f"{name} of two groups"), words=frozenset({0, 1}))


def _row(one: Contrast, measure: Measure) -> tuple[str, ...]:
    unit = measure.unit
    low, high = measure.ci95 or (None, None)
    told = [number(value, unit, sign=True) for value in (measure.difference, low, high)]
    sides = (one.a.name, one.b.name)
    return (
        *sides,
        *told,
        *_counts(measure.paired),
        number(measure.smallest_visible, unit),
        _p(measure.paired or measure.apart),
    )


def _counts(paired: Comparison | None) -> list[str]:
    if paired is None:
        return [ABSENT] * 2
    return [str(paired.pairs), f"{paired.wins}, {paired.losses}, {paired.ties}"]


def _p(one: Comparison | Apart | None) -> str:
    if one is None or one.p is None:
        return ABSENT
    return "<0.001" if one.p < 0.001 else f"{one.p:.3f}"
