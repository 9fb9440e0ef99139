"""Leaderboards as terminal text: who leads, and a row a group."""

from collections.abc import Sequence

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.text import Text

from akinai.analysis.leaderboard import Board, Row
from akinai.core.presentation.words import ABSENT, figure, label, ranges
from akinai.report.tables.columns import Column, fit_table, translate_result


def boards_page(boards: Sequence[Board], width: int) -> RenderableType:
    """The page of boards: of each the result in a sentence, then its rows by place."""
    parts: list[RenderableType] = []
    for board in boards:
        parts += [Text(""), Text(translate_result(board.sentences), "bold"), Text("")]
        parts.append(fit_table(board_columns(board), width, f"{board.world}, preset {board.preset}"))
    return Parts(*parts[1:])


def board_columns(board: Board) -> list[Column]:
    """A row for each group, by place."""
    rows, unit = board.rows, board.unit

    def ends(end: int) -> list[str]:
        return [figure(row.ci95[end] if row.ci95 else None, unit) for row in rows]

    def tokens(name: str) -> list[str]:
        counts: list[float | None] = [getattr(row, name) for row in rows]
        return [figure(None if count is None else round(count), "") for count in counts]

    return [
        Column("place", [str(row.place or ABSENT) for row in rows]),
        Column("group", [row.group for row in rows], words=True),
        Column("model", [_player(row) for row in rows], words=True, drop=2),
        Column(f"mean {label(board.score)}", [figure(row.mean, unit) for row in rows]),
        Column("95 % from", ends(0)),
        Column("to", ends(1)),
        Column("smallest visible", [figure(row.mde, unit) for row in rows], drop=4),
        Column("runs", [figure(len(row.runs), "") for row in rows]),
        *(
            [Column("unreadable", [figure(row.unreadable, "") for row in rows])]
            if any(row.unreadable for row in rows)
            else []
        ),
        Column("seeds", [ranges(sorted({run.seed for run in row.runs})) for row in rows], words=True, drop=1),
        Column("tokens read", tokens("input_tokens"), drop=5),
        Column("tokens written", tokens("output_tokens"), drop=6),
        Column("dollars", [ABSENT if row.dollars is None else f"${row.dollars:,.4g}" for row in rows], drop=3),
    ]


def _player(row: Row) -> str:
    return row.model or ("rules" if row.rules else ABSENT)
