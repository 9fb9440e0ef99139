"""The figures of a report: those that every world has, and those that a world's presentation asks for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from akinai.analysis.presentation import presentation_of
from akinai.analysis.records import Group
from akinai.core.facets import Presentation
from akinai.core.presentation.charts import Chart, ColumnChart, DayChart, ItemChart, MeanChart, PlaceChart, StackChart
from akinai.core.presentation.words import capitalized, label
from akinai.core.presentation.words import figure as number
from akinai.core.statistics import Summary
from akinai.report.figures.curves import TableColumn, Unfinished, by_column, by_place, over_days, panels, stacked
from akinai.report.figures.marks import Mark, Mean, Spread, means, spreads, timeline, tool_uses
from akinai.report.figures.series import Members, align_days, day_of
from akinai.report.figures.style import Look
from akinai.report.figures.svg import Drawing
from akinai.runtime.runs.records import Run, Series

MAX_UNFINISHED = 12
"""Lines of single unfinished runs at most; more would hide the means."""
MAX_LINES = 4
"""Groups up to which lines over places can be told apart."""
WEEKLY = "Means of the last seven days."

Looks = Mapping[str, Look]


def headline(groups: Sequence[Group]) -> tuple[str, str] | None:
    """The name and the unit of the world's first score; None if no run has a score."""
    return next(((score.name, score.unit) for group in groups for score in group.scores.values()), None)


def score_figure(groups: Sequence[Group], members: Members, looks: Looks) -> Iterator[Drawing]:
    """The headline score of each run, by group."""
    if (first := headline(groups)) is None:
        return
    name, unit = first
    by_group: dict[str, Spread] = {}
    for group in groups:
        score = group.scores.get(name)
        values = [value for run in members.runs[group.name] if (value := run.value(name)) is not None]
        if score and score.summary.mean is not None and values:
            by_group[group.name] = Spread(values, score.summary.mean, score.summary.ci95)
    if sum(len(spread.values) for spread in by_group.values()) > 1:
        note = "A dot is a run; above the dots the mean of the group and its 95 % interval."
        yield spreads(
            Chart("scores", f"{capitalized(label(name))} of every run", label(name), unit, note), by_group, looks
        )


def day_figures(
    groups: Sequence[Group], members: Members, presentation: Presentation[Any], looks: Looks
) -> Iterator[Drawing]:
    """The figures over days: the headline score, the world's own, actions and tools."""
    if first := headline(groups):
        yield from _score_over_days(first[0], members, looks)
    for chart in presentation.charts:
        match chart:
            case StackChart() if first:
                yield from _stacked(chart, first[0], members)
            case ItemChart():
                yield from _panels(chart, members, looks)
            case DayChart():
                if curves := members.fact(chart.fact, carried=chart.kind == "level"):
                    yield over_days(chart, curves, looks)
            case _:
                pass
    yield from _actions(members, looks)


def _score_over_days(score: str, members: Members, looks: Looks) -> Iterator[Drawing]:
    """The headline score over the days, in a world that has it as a fact of each day."""
    for fact, unit in ((f"{score}_cents", "cents"), (score, "")):
        if curves := members.fact(fact, carried=True):
            unfinished = [
                Unfinished(group, align_days(run.series.days, run.series.facts[fact], carried=True))
                for group, runs in members.runs.items()
                for run in runs
                if run.state != "done" and run.series and run.series.facts.get(fact)
            ]
            early = any(series.days[-1] < len(curves[group].mean) for group, _, series in _with_days(members))
            note = "A run that ended early goes on with its last value." if early else ""
            chart = Chart("over-days", f"{capitalized(label(score))} over the days", label(score), unit, note)
            yield over_days(chart, curves, looks, unfinished[:MAX_UNFINISHED])
            return


def _with_days(members: Members) -> Iterator[tuple[str, Run, Series]]:
    for group, runs in members.runs.items():
        yield from ((group, run, run.series) for run in runs if run.series and run.series.days)


def _stacked(chart: StackChart, score: str, members: Members) -> Iterator[Drawing]:
    """The parts of a whole in the representative run of the best group."""
    run = members.representative(score)
    if run is None or run.series is None:
        return
    days, facts = run.series.days, run.series.facts
    parts = {words: align_days(days, facts[fact], carried=True) for fact, words in chart.parts.items() if fact in facts}
    if len(parts) > 1:
        unit = next(record.unit for record in run.scores if record.name == score)
        value = f"{label(score)} {number(run.value(score), unit)}"
        note = f"Run {run.id}, the one with the median {label(score)} of the best group (n = 1; {value}). {chart.note}"
        yield stacked(replace(chart, note=note.rstrip()), parts)


def _panels(chart: ItemChart, members: Members, looks: Looks) -> Iterator[Drawing]:
    by_item = {item: members.item(chart, item) for item in members.items(chart.order or chart.table)}
    if by_item := {item: curves for item, curves in by_item.items() if curves}:
        yield panels(chart, by_item, looks)


def _actions(members: Members, looks: Looks) -> Iterator[Drawing]:
    if curves := members.actions():
        chart = Chart("actions", "Actions a day", "actions", "per day", f"{WEEKLY} Refused actions count.")
        yield over_days(chart, curves, looks)
    if used := members.tools():
        note = (
            "Means over all days of a group's runs, refusals and sub-agents' included; no mark where it was not used."
        )
        yield tool_uses(Chart("tools", "Tools used", "uses", "per day", note), used, looks)


def findings_figure(members: Members, looks: Looks) -> Iterator[Drawing]:
    """The findings on the days of their last entries."""
    marks = [
        Mark(
            group,
            finding.type,
            day_of(finding.entries[0], series),
            day_of(finding.entries[-1], series),
            finding.severity,
        )
        for group, run, series in _with_days(members)
        for finding in run.findings or ()
    ]
    if marks:
        lengths = [series.days[-1] for _, _, series in _with_days(members)]
        last, runs = max(lengths), len(lengths)
        note = (
            f"Of {runs} runs. A line goes from the first entry of a finding to a mark at the last; colour and form of "
            "the mark tell the group, its size the severity: minor, serious, grave."
        )
        yield timeline(Chart("findings", "Findings by day", "findings", "", note), marks, looks, last)


def account_figures(groups: Sequence[Group], looks: Looks) -> Iterator[Drawing]:
    """Yield the figures of the world's account beside the scores, as its presentation asks for them."""
    group_looks = {group.name: looks[group.name] for group in groups}
    for chart in presentation_of(groups[0].world).charts:
        match chart:
            case MeanChart():
                if len(by_quantity := _quantities(chart, groups)) >= max(1, chart.minimum):
                    yield means(chart, by_quantity, group_looks, chart.chance_label)
            case PlaceChart() if len(groups) <= MAX_LINES:
                if by_order := _places(chart, groups):
                    yield by_place(chart, by_order, group_looks)
            case ColumnChart() if len(groups) <= MAX_LINES:
                if columns := _columns(chart, groups):
                    yield by_column(chart, columns, group_looks)
            case _:
                pass


def _quantities(chart: MeanChart, groups: Sequence[Group]) -> dict[str, dict[str, Mean]]:
    """Means by quantity and group, without quantities that are 0 everywhere and not compared with chance."""
    by_quantity: dict[str, dict[str, Mean]] = {}
    for name, words in chart.figures.items():
        chance = chart.chance.get(name, "")
        by_group = {
            group.name: Mean(figure.summary, _mean(group, chance))
            for group in groups
            if (figure := group.figures.get(name)) and figure.summary.mean is not None
        }
        moved = any(mean.summary.min or mean.summary.max for mean in by_group.values())
        if moved or (by_group and chance):
            by_quantity[words] = by_group
    return by_quantity


def _mean(group: Group, name: str) -> float | None:
    figure = group.figures.get(name)
    return figure.summary.mean if figure else None


def _places(chart: PlaceChart, groups: Sequence[Group]) -> dict[str, dict[str, dict[int, Summary]]]:
    """Counts by order, group and place, of orders in which a group has more than one place."""
    by_order: dict[str, dict[str, dict[int, Summary]]] = {}
    for name, words in chart.tables.items():
        by_group = {
            group.name: {int(str(row.keys[0])): row.values[chart.column] for row in group.tables[name].rows}
            for group in groups
            if name in group.tables and group.tables[name].rows
        }
        if any(len(counts) > 1 for counts in by_group.values()):
            by_order[words] = by_group
    return by_order


def _columns(chart: ColumnChart, groups: Sequence[Group]) -> list[TableColumn]:
    """The columns in which some group has a value that is not 0."""
    tables = {group.name: group.tables[chart.table] for group in groups if chart.table in group.tables}
    tables = {name: table for name, table in tables.items() if table.rows}
    panels: list[TableColumn] = []
    for column, words in chart.columns.items():
        by_group = {
            name: {int(str(row.keys[0])): row.values[column] for row in table.rows} for name, table in tables.items()
        }
        if any(summary.mean for points in by_group.values() for summary in points.values()):
            panels.append(TableColumn(words, next(iter(tables.values())).columns[column], by_group))
    return panels
