"""The table of a sweep: a row for each swept value, with the mean of every score over its runs."""

from rich.console import RenderableType

from akinai.core.statistics import summarise
from akinai.report.tables.columns import Column, fit_table, plain
from akinai.report.tables.runs import figure, label
from akinai.runtime.runs.records import Run, Runs
from akinai.runtime.runs.sweep import sweep_of, swept_values


def swept_runs(runs: Runs, width: int) -> RenderableType | None:
    """Make the table of means by swept value; None where the runs are no sweep."""
    if not runs or not all(sweep_of(run.header.card) for run in runs):
        return None
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.header.group or run.id, []).append(run)
    names = list(dict.fromkeys(name for run in runs for name in swept_values(run.header.card)))
    settings = [swept_values(members[0].header.card) for members in groups.values()]
    columns = [Column(name, [_word(values.get(name)) for values in settings], words=True) for name in names]
    columns.append(Column("runs", [f"{len(members):,}" for members in groups.values()]))
    for score in runs.score_names():
        unit = next(run_score.unit for run in runs for run_score in run.scores if run_score.name == score)
        means = [summarise([run.value(score) for run in members]).mean for members in groups.values()]
        columns.append(Column(label(score), [figure(mean, unit) for mean in means], drop=len(columns)))
    return fit_table(columns, width, f"{sweep_of(runs[0].header.card)}: means over the runs of each value")


def _word(value: object) -> str:
    return plain(value if isinstance(value, str) else str(value))
