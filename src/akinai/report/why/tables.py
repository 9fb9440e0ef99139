"""An explanation as terminal text: the decisions that made and cost most, and sentences on how to read them."""

from collections.abc import Callable, Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from akinai.analysis.tables import Part
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import figure, label
from akinai.core.untrusted.spelling import plain, shorten
from akinai.report.language import fill, translate, translate_record
from akinai.report.tables.columns import note_lines, page_of
from akinai.runtime.why.explanation import ConductCredit, Credit, Explanation

LONGEST = 160
"""Characters of a decision, where nothing else bounds them."""
NARROWEST = 50
FIGURES_WIDTH = 64
"""Columns of a terminal that are left to everything beside the decisions, which take two lines."""
IN_SHORT = 3
"""Rows of either kind beside a transcript."""
HEADS = {"cost": "Cost most", "made": "Made most"}


def why_page(explanation: Explanation, width: int) -> RenderableType:
    """The page of an explanation: both tables, and how to read them."""
    if explanation.conduct is not None:
        return page_of(_conduct_parts(explanation, explanation.conduct), width)
    longest = min(LONGEST, max(NARROWEST, 2 * (width - FIGURES_WIDTH)))
    parts: list[Part | RenderableType] = [*note_lines(summary_sentences(explanation))]
    for name, title in HEADS.items():
        rows: Sequence[Credit] = getattr(explanation, name)
        if rows:
            parts.append(Grid(columns(explanation, rows, longest, translate_decisions), title))
    return page_of([*parts, *note_lines(reading_sentences(explanation))], width)


def _conduct_parts(explanation: Explanation, rows: Sequence[ConductCredit]) -> list[Part | RenderableType]:
    """The table of what misconduct gained, and how to read it."""
    left_out = [*_left_out(explanation)]
    if not rows:
        return [*note_lines(left_out or [f"{explanation.run}: no finding of conduct that could be taken out."])]
    return [
        conduct_gains_table(rows),
        *note_lines(
            [
                "The same run with it and without it, in the same futures: a promise is paid and a rent too, a letter, "
                "an offer or a claim is not made, and all else is done as recorded. What others would have done "
                "otherwise does not count.",
                *left_out,
            ]
        ),
    ]


def conduct_gains_table(rows: Sequence[ConductCredit]) -> Grid:
    """A row for each finding of conduct with what it gained its actor."""
    units, ends = [row.unit for row in rows], [row.ci95 or (None, None) for row in rows]
    return Grid(
        [
            Column("entry", [row.entry for row in rows]),
            Column("conduct", [label(row.type) for row in rows], words=True),
            Column("actor", [row.actor for row in rows], words=True, names=True),
            Column("gained", [row.gained for row in rows], unit=units),
            Column("95 % from", [low for low, _ in ends], unit=units),
            Column("to", [high for _, high in ends], unit=units),
            Column("in this future", [row.own for row in rows], drop=1, unit=units),
            Column("what was done", [shorten(translate_record(row.words), NARROWEST) for row in rows], words=True),
        ],
        "Profit from misconduct",
    )


def _left_out(explanation: Explanation) -> Iterator[str]:
    """What the budget left out, where it did."""
    if explanation.left:
        yield f"The budget left out {explanation.left} branches; the same command goes on from here."


def why_lines(explanation: Explanation) -> Iterator[RenderableType]:
    """Yield the first rows, for the head of a transcript."""
    for name, title in HEADS.items():
        for row in getattr(explanation, name)[:IN_SHORT]:
            worth = figure(abs(row.made), explanation.unit)
            words = fill(
                "{title}: {when}, {worth}{unsure}: ",
                title=translate(title).lower(), when=translate_record(when(explanation, row)), worth=worth,
                unsure="" if row.shown else translate(" (not shown)"),
            )  # fmt: skip
            yield Text(plain(shorten(words + translate_decisions(row), 200)))


def decisions_text(row: Credit) -> str:
    """The decisions of a row, and those that were left out and the player would have made."""
    left_out = f"left out: {row.instead}" if row.instead else ""
    return "; ".join(filter(None, (row.words, left_out))) or "no decision"


def translate_decisions(row: Credit) -> str:
    """The same in the reader's language."""
    left_out = fill("left out: {decisions}", decisions=translate_record(row.instead)) if row.instead else ""
    return "; ".join(filter(None, (translate_record(row.words), left_out))) or translate("no decision")


def columns(
    explanation: Explanation,
    rows: Sequence[Credit],
    longest: int = LONGEST,
    describe: Callable[[Credit], str] = decisions_text,
) -> list[Column]:
    """A row for each day or span; `longest` is the most characters of its decisions, which `describe` words."""
    unit = explanation.unit
    return [
        Column("day" if explanation.by_days else "entry", [days(row) for row in rows]),
        Column("worth", [row.made for row in rows], unit=unit),
        *(_in_futures(rows, unit) if explanation.futures else []),
        Column("what was done", [shorten(describe(row), longest) for row in rows], words=True),
    ]


def _in_futures(rows: Sequence[Credit], unit: str) -> list[Column]:
    """Columns on how sure a worth is, where the future was redrawn."""
    ends = [row.ci95 or (None, None) for row in rows]
    return [
        Column("95 % from", [low for low, _ in ends], unit=unit),
        Column("to", [high for _, high in ends], unit=unit),
        Column("in this future", [row.own for row in rows], drop=1, unit=unit),
        Column("shown", ["yes" if row.shown else "no" for row in rows], words=True),
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


def summary_sentences(explanation: Explanation) -> Iterator[str]:
    """Yield the score of the run, that of the player, and how far the two part."""
    unit, name, player = explanation.unit, label(explanation.headline), explanation.player
    of_whom = f" of {explanation.actor}" if explanation.actor else ""
    sentence = f"{explanation.run}: {name}{of_whom} {figure(explanation.value, unit)}"
    if explanation.player_value is not None:
        instead = "in everybody's place" if explanation.several else "in its place"
        sentence += f"; {player} {instead}: {figure(explanation.player_value, unit)}"
    yield f"{sentence}."
    yield _parting(explanation)
    if not explanation.parted:
        return
    if explanation.asked_model:
        yield (
            f"A model played this run; the rest of each branch is played by {player}, a rule-based player, and not by "
            "that model: a decision is worth what it is worth to such a successor."
        )


def _parting(explanation: Explanation) -> str:
    """A sentence on how many entries the run decides otherwise than the player."""
    player, parted, n = explanation.player, explanation.parted, explanation.days
    units, actor = "days" if explanation.by_days else "entries", explanation.actor or "somebody"
    if not parted and explanation.several:
        return f"At none of its {n} entries {actor} decides anything but what {player} would have done: no row to show."
    if not parted:
        return f"On each of its {n} {units} the run does what {player} would have done: no row to show."
    if explanation.several:
        return f"At {parted} of {n} entries {actor} decides something else than {player} would have done."
    return f"On {parted} of {n} {units} it does something else than {player} would have done."


def reading_sentences(explanation: Explanation) -> Iterator[str]:
    """Yield how to read the tables."""
    rows, player = [*explanation.cost, *explanation.made], explanation.player
    if explanation.parted and not rows and not explanation.left:
        yield "None of it changed the score."
    elif explanation.parted:
        plays = f"{player} plays the rest of both with the same chance"
        if explanation.several:
            plays = f"{player}, or the world's own rules, plays everybody for the rest of both"
        yield (
            f"Worth: the score with what was done, less the score with what {player} would have done; {plays}. "
            "Rows overlap and do not add up."
        )
    if rows and not explanation.futures:
        yield (
            "No chance is redrawn: a worth is the difference of two branches in one future, exact there and without an "
            "interval. Another seed may say otherwise."
        )
    if explanation.tried:
        rows = "this row" if explanation.tried == 1 else f"all {explanation.tried} rows tried together (Holm)"
        yield (
            f"The mean of {explanation.futures} redrawn futures, with its interval for the row by itself. "
            f"Shown: at 5 % for {rows}."
        )
    yield from _left_out(explanation)
