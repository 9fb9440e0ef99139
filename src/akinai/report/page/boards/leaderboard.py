"""The leaderboard of a store: groups that played the same game, places with ties, and money over the days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from akinai.analysis.leaderboard import Board, Row, board_key, make_board
from akinai.analysis.verdicts import rank_text, ranking_sentences
from akinai.core.presentation.words import label
from akinai.report.language import translate_cell
from akinai.report.page.boards.plot import Line, line_kinds, on_span, score_over_days, short_number, span_of
from akinai.report.page.lines import LineKind, Plot
from akinai.report.page.run_list import ListedRun
from akinai.report.page.site import Site
from akinai.report.page.templating import render
from akinai.runtime.runs.marking import notes_of
from akinai.runtime.runs.records import Run


@dataclass(frozen=True, slots=True)
class BoardRow:
    """The row of a group in the leaderboard's table."""

    row: Row
    rank: str
    """The place of the group, with "=" where others share it."""
    mean: str
    interval: str
    seeds: int
    kind: LineKind | None
    """The look of its line; None where it is not drawn."""
    left: float
    width: float
    middle: float
    """Its interval and mean on the scale of the board, in per cent."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """Groups of one game."""

    board: Board
    headline: str
    sentence: str
    rows: Sequence[BoardRow]
    plot: Plot | None
    settings: str


def leaderboard_page(items: Sequence[ListedRun], site: Site) -> Markup:
    """The page of a store's runs that are over and can be scored, a board for each game that was played by several."""
    games: dict[tuple[str, str | None], list[Run]] = {}
    unread = 0
    for item in items:
        run = None if notes_of(item.header).deleted else item.run
        unread += item.run is None
        if run and not run.trouble and run.scores and run.status == "done" and not run.header.parent:
            games.setdefault(board_key(run.header), []).append(run)
    boards = sorted((_view(runs, site) for runs in games.values()), key=lambda view: -len(view.rows))
    return render("leaderboard.html", site.language, site=site, boards=boards, unread=unread)


def _view(runs: Sequence[Run], site: Site) -> BoardView:
    board = make_board(runs)
    by_id = {run.id: run for run in runs}
    places = [row.place for row in board.rows]
    kinds = line_kinds(runs[0].header.genesis, ((row.group, row.agent) for row in board.rows))
    span = span_of(row.ci95 or (row.mean, row.mean) for row in board.rows if row.mean is not None)
    rows = [
        BoardRow(
            row,
            rank_text(row.place, places),
            short_number(row.mean, board.unit),
            " – ".join(short_number(end, board.unit) for end in row.ci95) if row.ci95 else "",
            len({run.seed for run in row.runs}),
            kinds.get(row.group),
            *on_span(row.mean, row.ci95, span),
        )
        for row in board.rows
    ]
    settings = ", ".join(f"{name} {value}" for name, value in list(board.settings.items())[:4])
    sentence = ranking_sentences(board.standings) if board.standings else ""
    return BoardView(
        board,
        translate_cell(label(board.score).capitalize(), site.language),
        sentence,
        rows,
        _plot(board, by_id, kinds, site),
        settings,
    )


def _plot(board: Board, runs: Mapping[str, Run], kinds: Mapping[str, LineKind], site: Site) -> Plot | None:
    lines = [
        Line(row.group, kinds[row.group], [runs[run.run].headline_by_day for run in row.runs if runs[run.run].measured])
        for row in board.rows
        if row.group in kinds
    ]
    return score_over_days(lines, next(iter(runs.values())).header.genesis, board.score, board.unit, site.language)
