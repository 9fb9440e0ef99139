"""The leaderboard of a store: groups that played the same game, places with ties, and money over the days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from markupsafe import Markup

from akinai import worlds
from akinai.analysis.groups import settings_key
from akinai.analysis.leaderboard import Board, Row, make_board
from akinai.report.page.lines import Curve, LineKind, Plot, plot
from akinai.report.page.run_list import Item, daily
from akinai.report.page.run_page import HIGH, LOW
from akinai.report.page.site import Site
from akinai.report.page.templating import dollars, marked, number, render, translate
from akinai.report.tables.runs import label
from akinai.report.tables.verdicts import standing_sentences
from akinai.runtime.runs.marking import notes_of
from akinai.runtime.runs.records import Run

OWN: tuple[LineKind, ...] = ("g1", "g2", "g3", "g4", "g5", "g6")
"""Looks of lines of groups beside idle, reference and the informed player."""
CLEARANCE = 8.0


@dataclass(frozen=True, slots=True)
class RowView:
    """A group as the table shows it."""

    row: Row
    place: str
    """With "=" where others share it."""
    mean: str
    interval: str
    seeds: int
    kind: LineKind | None
    """The look of its line; None where it is not drawn."""
    left: float
    width: float
    middle: float
    """Where its interval and mean are on the scale of the board, in per cent."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """Groups of one game."""

    board: Board
    headline: str
    sentence: str
    rows: Sequence[RowView]
    plot: Plot | None
    settings: str


def leaderboard_page(items: Sequence[Item], site: Site) -> Markup:
    """The page of a store's runs that are over and can be scored, a board for each game that was played by several."""
    games: dict[str, list[Run]] = {}
    unread = 0
    for item in items:
        run = None if notes_of(item.header).deleted else item.run
        unread += item.run is None
        if run and not run.trouble and run.scores and run.status == "done" and not run.header.parent:
            games.setdefault(settings_key(run.header.genesis), []).append(run)
    boards = [_view(runs, site) for runs in games.values()]
    shown = sorted(boards, key=lambda view: -len(view.rows))
    return render("leaderboard.html", site.language, site=site, boards=shown, unread=unread)


def _view(runs: Sequence[Run], site: Site) -> BoardView:
    board = make_board(runs)
    by_id = {run.id: run for run in runs}
    places = [row.place for row in board.rows]
    kinds = _kinds(board)
    low, high = _range(board.rows)
    rows = [
        RowView(
            row,
            "" if row.place is None else f"{row.place}{'=' if places.count(row.place) > 1 else ''}",
            _text(row.mean, board.unit),
            " – ".join(_text(end, board.unit) for end in row.ci95) if row.ci95 else "",
            len({run.seed for run in row.runs}),
            kinds.get(row.group),
            *_ends(row, low, high),
        )
        for row in board.rows
    ]
    settings = ", ".join(f"{name} {value}" for name, value in list(board.settings.items())[:4])
    sentence = standing_sentences(board.standings) if board.standings else ""
    return BoardView(board, label(board.score).capitalize(), sentence, rows, _plot(board, by_id, kinds, site), settings)


def _kinds(board: Board) -> Mapping[str, LineKind]:
    """The look of each group's line: those of the scale, and as many others as there are looks, the best first."""
    world = worlds.load(board.world)
    setup_free = world.facets.judging.yardstick({})
    known: Mapping[str, LineKind] = {LOW: "idle", HIGH: "reference", **({setup_free: "informed"} if setup_free else {})}
    found: dict[str, LineKind] = {}
    left = list(OWN)
    for row in board.rows:
        if row.agent in known and known[row.agent] not in found.values():
            found[row.group] = known[row.agent]
        elif left:
            found[row.group] = left.pop(0)
    return found


def _plot(board: Board, runs: Mapping[str, Run], kinds: Mapping[str, LineKind], site: Site) -> Plot | None:
    curves: list[Curve] = []
    world = worlds.load(board.world)
    opening = world.facets.judging.standing(world.begin(next(iter(runs.values())).header.genesis)) or 0.0
    for row in board.rows:
        series = [days for run in row.runs if (days := daily(runs[run.run]))]
        if not series or row.group not in kinds:
            continue
        length = min(map(len, series))
        by_day = [[days[at] for days in series] for at in range(length)]
        band = [(min(values), max(values)) for values in by_day] if len(series) > 1 else []
        kind = kinds[row.group]
        means = [opening, *(fmean(values) for values in by_day)]
        curves.append(Curve(row.group, kind, means, () if kind == "idle" or not band else [(opening, opening), *band]))
    if not curves:
        return None
    day = translate(marked("day %(n)s"), site.language)
    cents = board.unit == "cents"
    return plot(
        f"{label(board.score).capitalize()}{', dollars' if cents else ''}",
        curves,
        max(len(curve.values) for curve in curves) - 1,
        text=lambda value: dollars(value) if cents else f"{value:g}",
        day=lambda at: day.replace("%(n)s", str(at)),
        clearance=CLEARANCE,
    )


def _range(rows: Sequence[Row]) -> tuple[float, float]:
    ends = [end for row in rows for end in (row.ci95 or (row.mean, row.mean)) if end is not None]
    return (min(0.0, *ends), max(0.0, *ends)) if ends else (0.0, 1.0)


def _ends(row: Row, low: float, high: float) -> tuple[float, float, float]:
    span = (high - low) or 1
    left, right = row.ci95 or (row.mean or 0.0, row.mean or 0.0)
    return (left - low) / span * 100, (right - left) / span * 100, ((row.mean or 0.0) - low) / span * 100


def _text(value: float | None, unit: str) -> str:
    return dollars(value) if unit == "cents" else number(value, unit)
