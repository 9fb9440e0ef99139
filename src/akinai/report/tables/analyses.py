"""Analyses as terminal text: a table of the groups, the figures of each group, and their seeds and runs."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from akinai.analysis.analyse import Analysis
from akinai.analysis.comparison import ALL_FINDINGS
from akinai.analysis.leaderboard import Board, board_table
from akinai.analysis.records import Group, ScoreSummary
from akinai.analysis.tables import (
    Part,
    account_of,
    best_sentence,
    conduct_table,
    findings_table,
    group_notes,
    pass_table,
    scores_table,
    without_same,
)
from akinai.analysis.verdicts import opening_sentences, ranking_sentences
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import counted, label
from akinai.report.tables.columns import note_lines, page_of, translate_result
from akinai.report.tables.findings import listed_findings, timeline
from akinai.report.tables.runs import run_page, runs_table
from akinai.report.why.tables import conduct_gains_table
from akinai.runtime.runs.records import Run

MOST_RUNS = 20
"""Runs that a table lists singly."""
MOST_ROWS = 20
"""Rows of a world's table; --json holds all."""


def analysis_page(analysis: Analysis, width: int) -> RenderableType:
    """The page of an analysis: the result in a sentence and a row a group, then the runs, where they are few, and what
    was measured beside it in every group.
    """
    if not analysis.runs:
        return Text("no runs")
    parts: list[Part | RenderableType] = [
        Text(translate_result(opening_sentences(analysis.groups, analysis.standings)), "bold")
    ]
    runs = {run.id: run for run in analysis.runs}
    if len(runs) == 1:
        (group,) = analysis.groups
        return page_of([*parts * bool(group.scores), *_single_run(group, analysis.runs[0], width)], width)
    parts += [analysis.table, *map(ranking_sentences, analysis.standings)]
    if len(runs) <= MOST_RUNS:
        parts.append(runs_table(analysis.runs))
    for group in analysis.groups:
        parts += _group(group, [runs[id] for id in group.runs])
        if rates := analysis.pass_rates.get(group.name):
            parts.append(pass_table(rates, f"{group.name}: passing a threshold"))
    return page_of(parts, width)


def _single_run(group: Group, run: Run, width: int) -> Iterator[Part | RenderableType]:
    yield run_page(run, [*without_same(group.scores)])
    if usage := run.usage:
        price = f", ${usage.dollars:,.2f}" if usage.dollars is not None else ""
        yield (
            f"{counted(usage.calls, 'call')} of {', '.join(usage.models)}: {usage.tokens.input:,} tokens read, "
            f"{usage.tokens.output:,} written, {usage.minutes:,.1f} minutes{price}."
        )
    if run.coherence:
        names, units = ([getattr(score, name) for score in run.coherence] for name in ("name", "unit"))
        values = Column("value", [score.value for score in run.coherence], unit=units)
        yield Grid([Column("how the thread was kept", [*map(label, names)], words=True), values])
    if run.findings and run.began is not None:
        yield timeline(run.findings, run.days, width, start=run.began)
        opening = f"akinai show {run.id}"
        yield listed_findings(run.findings, width, start=run.began, names=run.names, command=opening)
    if run.conduct_gains:
        yield conduct_gains_table(run.conduct_gains)
    elif run.conduct and run.conduct_gains is None:
        yield f"What its misconduct gained was not asked: akinai why {run.id} --conduct."
    yield from _account(group, [run])
    yield from note_lines(group_notes(group))


def _account(group: Group, runs: Sequence[Run]) -> Iterator[Part]:
    if sentence := best_sentence(group):
        yield sentence
    yield from account_of(group, runs, MOST_ROWS, "--json")


def _group(group: Group, runs: Sequence[Run]) -> Iterator[Part | RenderableType]:
    """What was measured of a group beside the first score, its findings, and sentences without which they mislead."""
    seeds = "" if group.seeds == len(group.runs) else f" on {counted(group.seeds, 'seed')}"
    title = f"{group.name}: {counted(len(group.runs), 'run')}{seeds}"
    if group.left_out == len(group.runs) or not group.scores:
        yield f"{title}: no {'scores' if group.left_out < len(group.runs) else 'figures'}"
    elif also := _also_measured(group):
        yield scores_table(also, f"{title}, also measured")
    if group.findings:
        yield findings_table([group])
    if group.conduct:
        yield conduct_table([group])
    yield from note_lines(group_notes(group))
    yield from _account(group, runs)


def _also_measured(group: Group) -> dict[str, ScoreSummary]:
    """The scores but the first, and the figures of coherence; none that is the same number as another."""
    scores = without_same(group.scores) | dict(group.coherence)
    return {name: scores[name] for name in [*scores][1:] if name != ALL_FINDINGS}


def boards_page(boards: Sequence[Board], width: int) -> RenderableType:
    """The page of leaderboards: of each the result in a sentence, then its rows by place."""
    parts = ((Text(translate_result(board.sentences), "bold"), board_table(board)) for board in boards)
    return page_of((part for two in parts for part in two), width)
