"""The scores of forecasts: how often the balance fell within the bounds, best four times in five, and how wide they
were. They are no part of the balance."""

from collections.abc import Sequence
from typing import NamedTuple

from akinai.core.scores import Score
from akinai.core.steps import Steps
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.rules.trade import bank_balance_cents
from akinai.worlds.vending.sprint.verbs import Bounds, CloseWeek, Forecast, Week


class _Resolved(NamedTuple):
    """A forecast and what came."""

    seq: int
    bounds: Bounds
    cents: int


def forecast_scores(steps: Steps[State]) -> Sequence[Score]:
    """Calibration and sharpness of the forecasts of the next week and of the end, as far as they have come.

    The last forecast of a Monday counts. A run that is not over has no scores of its end.
    """
    weeks, ends = list[_Resolved](), list[_Resolved]()
    latest: tuple[int, Forecast] | None = None
    for step in steps:
        action = step.turn.action
        if isinstance(action, Forecast) and step.outcome.ok:
            latest = step.entry.seq, action
        elif isinstance(action, CloseWeek | Week) and step.outcome.ok and latest:
            seq, forecast = latest
            weeks.append(_Resolved(seq, forecast.next_week, step.after.cash_cents))
            ends.append(_Resolved(seq, forecast.year_end, bank_balance_cents(steps.final)))
            latest = None
    over = steps.final.ending is not None
    return [*_scores("next_week", weeks), *(_scores("year_end", ends) if over else ())]


def _scores(name: str, resolved: Sequence[_Resolved]) -> list[Score]:
    if not resolved:
        return []
    seqs, count = tuple(row.seq for row in resolved), len(resolved)
    within = sum(row.bounds.low_cents <= row.cents <= row.bounds.high_cents for row in resolved)
    width = sum(row.bounds.high_cents - row.bounds.low_cents for row in resolved) // count
    return [
        Score(f"{name}_calibration", within / count, "share", seqs),
        Score(f"{name}_sharpness", width, "cents", seqs, better="lower"),
    ]
