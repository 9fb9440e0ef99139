"""The decisive moments of a run, from what `akinai why` kept beside it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from akinai.runtime.why.explanation import Credit, Explanation
from akinai.views.model import DayView, MomentView

MOST = 3
"""Moments of either kind: the first rows of an explanation, which are those shown to matter and then the largest."""


def moments_of(
    explanation: Explanation, days: Sequence[DayView], day_of: Callable[[int], int]
) -> tuple[MomentView, ...]:
    """The decisive moments by entry. A moment on a day without any entry is at the last entry before it."""
    moments = [_moment(row, explanation, days, day_of) for row in explanation.cost[:MOST] if row.made < 0]
    moments += [_moment(row, explanation, days, day_of) for row in explanation.made[:MOST] if row.made > 0]
    in_order = sorted((moment for moment in moments if moment is not None), key=lambda moment: moment.entry)
    return tuple(replace(moment, number=number) for number, moment in enumerate(in_order, 1))


def _moment(
    row: Credit, explanation: Explanation, days: Sequence[DayView], day_of: Callable[[int], int]
) -> MomentView | None:
    entry = row.decisions[0].entry if row.decisions else row.first if not explanation.by_days else _entry(row, days)
    if not entry:
        return None
    first, last = (row.first, row.last) if explanation.by_days else (day_of(row.first), day_of(row.last))
    kind = "made" if row.made > 0 else "cost"
    return MomentView(
        0, kind, entry, day_of(entry), first, last, row.words, row.instead, row.made, explanation.player, row.shown
    )


def _entry(row: Credit, days: Sequence[DayView]) -> int:
    """The first entry of its days, else the last one before them; 0 where nothing was done by then."""
    inside = [day.first for day in days[row.first - 1 : row.last] if day.first]
    return inside[0] if inside else max((day.last for day in days[: row.first]), default=0)
