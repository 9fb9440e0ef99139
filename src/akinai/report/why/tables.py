"""An explanation for people: the decisions that made and cost most, and what can be said of them."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from akinai.report.tables.columns import Column, fitted, plain, shortened
from akinai.report.tables.runs import ABSENT, figure, label
from akinai.runtime.why.explanation import Credit, Explanation

LONGEST = 160
"""Characters of a decision, where nothing else bounds them."""
NARROWEST = 50
FIGURES_WIDTH = 64
"""Columns of a terminal that are left to everything beside the decisions, which take two lines."""
IN_SHORT = 3
"""Rows of either kind beside a transcript."""
HEADS = {"cost": "Cost most", "made": "Made most"}


def why_page(explanation: Explanation, width: int) -> RenderableType:
    """Both tables, and how to read them."""
    longest = min(LONGEST, max(NARROWEST, 2 * (width - FIGURES_WIDTH)))
    parts: list[RenderableType] = [Text(plain(sentence)) for sentence in summary_sentences(explanation)]
    for name, title in HEADS.items():
        rows: Sequence[Credit] = getattr(explanation, name)
        if rows:
            parts += [Text(""), fitted(columns(explanation, rows, longest), width, title)]
    return Group(*parts, Text(""), *(Text(plain(sentence), "dim") for sentence in reading_sentences(explanation)))


def why_lines(explanation: Explanation) -> Iterator[RenderableType]:
    """The first rows, for the head of a transcript."""
    for name, title in HEADS.items():
        for row in getattr(explanation, name)[:IN_SHORT]:
            worth = figure(abs(row.made), explanation.unit)
            words = f"{title.lower()}: {when(explanation, row)}, {worth}{'' if row.shown else ' (not shown)'}: "
            yield Text(plain(shortened(words + what(row), 200)))


def columns(explanation: Explanation, rows: Sequence[Credit], longest: int = LONGEST) -> list[Column]:
    """A row for each day or span; `longest` is the most characters of its decisions."""
    unit = explanation.unit

    def ends(place: int) -> list[str]:
        return [figure(row.ci95[place], unit) if row.ci95 else ABSENT for row in rows]

    return [
        Column("day" if explanation.by_days else "entry", [days(row) for row in rows]),
        Column("worth", [figure(row.made, unit) for row in rows]),
        *([Column("95 % from", ends(0)), Column("to", ends(1))] if explanation.futures else []),
        Column("in this future", [figure(row.own, unit) for row in rows], drop=1),
        Column("shown", ["yes" if row.shown else "no" for row in rows], words=True),
        Column("what was done", [shortened(what(row), longest) for row in rows], words=True),
    ]


def days(row: Credit) -> str:
    """ "34", or "34-40"."""
    return str(row.first) if row.first == row.last else f"{row.first}-{row.last}"


def when(explanation: Explanation, row: Credit) -> str:
    """ "day 34", "days 34 to 40", "entry 12"."""
    name = "day" if explanation.by_days else "entry"
    if row.first == row.last:
        return f"{name} {row.first}"
    return f"{'days' if explanation.by_days else 'entries'} {row.first} to {row.last}"


def what(row: Credit) -> str:
    """What was done, and what was left out that the player would have done."""
    left_out = f"left out: {row.instead}" if row.instead else ""
    return "; ".join(filter(None, (row.words, left_out))) or "no decision"


def summary_sentences(explanation: Explanation) -> Iterator[str]:
    """The score, that of the player, and how far the two part."""
    unit, name, player = explanation.unit, label(explanation.headline), explanation.player
    sentence = f"{explanation.run}: {name} {figure(explanation.value, unit)}"
    if explanation.player_value is not None:
        sentence += f"; {player} in its place: {figure(explanation.player_value, unit)}"
    yield f"{sentence}."
    units = "days" if explanation.by_days else "entries"
    if not explanation.parted:
        yield f"On each of its {explanation.days} {units} the run does what {player} would have done: no row to show."
        return
    yield f"On {explanation.parted} of {explanation.days} {units} it does something else than {player} would have done."
    if explanation.asked_model:
        yield (
            f"A model played this run; the rest of each branch is played by {player}, a rule-based player, and not by "
            "that model: a decision is worth what it is worth to such a successor."
        )


def reading_sentences(explanation: Explanation) -> Iterator[str]:
    """How the tables are to be read."""
    if explanation.parted:
        yield (
            f"Worth: the score with what was done, less the score with what {explanation.player} would have done; "
            f"{explanation.player} plays the rest of both with the same chance. Rows overlap and do not add up."
        )
    if explanation.tried:
        rows = "this row" if explanation.tried == 1 else f"all {explanation.tried} rows tried together (Holm)"
        yield (
            f"The mean of {explanation.futures} redrawn futures, with its interval for the row by itself. "
            f"Shown: at 5 % for {rows}."
        )
    if explanation.left:
        yield f"The budget left out {explanation.left} branches; the same command goes on from here."
