"""The figure of a learning against others: gains over no playbook with their intervals, and the tokens they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akinai.core.errors import UsageError, why_unreadable
from akinai.report.tables.learned import contender_name, score_text

if TYPE_CHECKING:
    from akinai.runtime.learn.result import LearnResult

TITLE = "Gains over no playbook on the same tasks"


def against_svg(rows: Sequence[Mapping[str, Any]], unit: str | None = None) -> str:
    """The drawing of the rows of a learning's document: a row a contender, with the tokens in the context of a
    task, and its paired 95 % interval. The unit is that of the scores of runs."""
    from akinai.report.figures.style import GREYS, sheet, styled
    from akinai.report.figures.svg import svg_of

    shown = [row for row in rows if row["gain"] is not None]
    in_points = all(row["accuracy"] is not None for row in shown)
    factor, measure = 100 if in_points else 1, "Dollars" if unit == "dollars" else "Score"
    with styled():
        figure, (axes,) = sheet(0.9 + 0.34 * max(2, len(shown)))
        axes.axvline(0, color=GREYS["soft"], linewidth=0.8)
        for place, row in enumerate(shown):
            gain = factor * row["gain"]["gain"]
            low, high = (factor * end for end in row["gain"]["ci95"] or (row["gain"]["gain"],) * 2)
            colour = "#b5541c" if row["name"] == "playbook" else GREYS["ink"]
            axes.plot([low, high], [place, place], color=colour)
            axes.plot([gain], [place], marker="o", markersize=5, color=colour)
        labels = [f"{contender_name(row)} ({row['injected']:,.0f})" for row in shown]
        axes.set_yticks(range(len(shown)), labels)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlabel(f"{'Points' if in_points else measure} over no playbook, 95 % intervals (tokens a task)")
        gains = [row["gain"]["gain"] for row in shown]
        texts = [f"{100 * gain:+,.1f} points" if in_points else score_text(gain, unit, sign=True) for gain in gains]
        said = "; ".join(f"{contender_name(row)} {text}" for row, text in zip(shown, texts, strict=True))
        return svg_of(figure, TITLE, f"{said}.")


def against_figure(learned: LearnResult, path: Path | str) -> Path:
    """Draw how a learning did against others to an SVG file. `akinai learn --figure FILE`.

    UsageError for a learning without `against`, or a file that cannot be written; MissingExtra without `report`.
    """
    rows = learned.to_json()["against"]
    if not isinstance(rows, list):
        raise UsageError("there is nothing to draw: name others to compare with, such as --against placebo,icl")
    place = Path(path)
    try:
        drawn = against_svg([row for row in rows if isinstance(row, Mapping)], learned.unit)
        place.write_text(drawn, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"the figure cannot be written to {str(place)!r}: {why_unreadable(error)}") from error
    return place
