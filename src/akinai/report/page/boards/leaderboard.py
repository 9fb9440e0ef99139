"""The leaderboard of a store: groups that played the same game, places with ties, and money over the days."""

from collections.abc import Sequence

from markupsafe import Markup

from akinai.analysis.analyse import Analysis
from akinai.analysis.leaderboard import Board, board_key, make_board
from akinai.analysis.verdicts import ranking_sentences
from akinai.report.page.boards.groups import Game, games
from akinai.report.page.run_list import ListedRun
from akinai.report.page.site import Site
from akinai.report.page.templating import render
from akinai.runtime.runs.marking import notes_of
from akinai.runtime.runs.records import Run, Runs


def leaderboard_page(items: Sequence[ListedRun], site: Site) -> Markup:
    """The page of a store's runs that are over and can be scored, a board for each game that was played by several."""
    by_game: dict[tuple[str, str | None], list[Run]] = {}
    unread = 0
    for item in items:
        run = None if notes_of(item.header).deleted else item.run
        unread += item.run is None
        if run and not run.trouble and run.scores and run.status == "done" and not run.header.parent:
            by_game.setdefault(board_key(run.header), []).append(run)
    boards = sorted((_board(runs, site) for runs in by_game.values()), key=lambda board: -len(board[1].cards))
    return render("leaderboard.html", site.language, site=site, boards=boards, unread=unread)


def _board(runs: Sequence[Run], site: Site) -> tuple[Board, Game, str, str]:
    """The board of a game, its cards and lines, its settings, and every two groups compared."""
    board = make_board(runs)
    analysis = Analysis(Runs(runs), board.groups, (board.standings,) if board.standings else ())
    (game,) = games(analysis, {}, (), site.language)
    settings = ", ".join(f"{name} {value}" for name, value in list(board.settings.items())[:4])
    return board, game, settings, ranking_sentences(board.standings) if board.standings else ""
