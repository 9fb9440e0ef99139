"""What a sweep came to: a row for each value, with the mean of every score over its runs."""

from rich.console import RenderableType

from akinai.core.statistics import summarise
from akinai.report.columns import Column, fitted, plain
from akinai.report.tables import figure, label
from akinai.runtime.runs import Run, Runs
from akinai.runtime.sweep import sweep_of, swept


def swept_runs(runs: Runs, width: int) -> RenderableType | None:
    """The means by swept value; None where the runs are no sweep."""
    if not runs or not all(sweep_of(run.header.card) for run in runs):
        return None
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.header.group or run.id, []).append(run)
    names = list(dict.fromkeys(name for run in runs for name in swept(run.header.card)))
    told = [swept(mine[0].header.card) for mine in groups.values()]
    columns = [Column(name, [_word(one.get(name)) for one in told], words=True) for name in names]
    columns.append(Column("runs", [f"{len(mine):,}" for mine in groups.values()]))
    for score in runs.score_names():
        unit = next(one.unit for run in runs for one in run.scores if one.name == score)
        values = [
            summarise([next((one.value for one in run.scores if one.name == score), None) for run in mine]).mean
            for mine in groups.values()
        ]
        columns.append(Column(label(score), [figure(value, unit) for value in values], drop=len(columns)))
    return fitted(columns, width, f"{sweep_of(runs[0].header.card)}: means over the runs of each value")


def _word(value: object) -> str:
    return plain(value if isinstance(value, str) else str(value))
