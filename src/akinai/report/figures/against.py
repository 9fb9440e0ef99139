"""The figure of a learning against contenders: gains over no playbook with their intervals, and the tokens of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akinai.core.errors import UsageError, why_unreadable
from akinai.report.tables.learned import contender_name, score_text
from akinai.runtime.config.files import new_path

if TYPE_CHECKING:
    from akinai.runtime.learn.result import LearnResult

TITLE = "Gains over no playbook on the same tasks"


def against_svg(rows: Sequence[Mapping[str, Any]], unit: str | None = None) -> str:
    """The drawing of the rows of a learning's document: a row a contender, with the tokens in the context of a
    task, and its paired 95 % interval. The unit is that of the scores of runs."""
    from akinai.report.figures.style import GREYS, akinai_style, sheet
    from akinai.report.figures.svg import svg_of

    judged = [row for row in rows if row["gain"] is not None]
    in_points = all(row["accuracy"] is not None for row in judged)
    factor, measure = 100 if in_points else 1, "Dollars" if unit == "dollars" else "Score"
    with akinai_style():
        figure, (axes,) = sheet(0.9 + 0.34 * max(2, len(judged)))
        axes.axvline(0, color=GREYS["soft"], linewidth=0.8)
        for height, row in enumerate(judged):
            gain = factor * row["gain"]["gain"]
            low, high = (factor * end for end in row["gain"]["ci95"] or (row["gain"]["gain"],) * 2)
            colour = "#b5541c" if row["name"] == "playbook" else GREYS["ink"]
            axes.plot([low, high], [height, height], color=colour)
            axes.plot([gain], [height], marker="o", markersize=5, color=colour)
        labels = [f"{contender_name(row)} ({row['injected']:,.0f})" for row in judged]
        axes.set_yticks(range(len(judged)), labels)
        axes.set_ylim(len(judged) - 0.5, -0.5)
        axes.set_xlabel(f"{'Points' if in_points else measure} over no playbook, 95 % intervals (tokens a task)")
        gains = [row["gain"]["gain"] for row in judged]
        texts = [f"{100 * gain:+,.1f} points" if in_points else score_text(gain, unit, sign=True) for gain in gains]
        sentence = "; ".join(f"{contender_name(row)} {text}" for row, text in zip(judged, texts, strict=True))
        return svg_of(figure, TITLE, f"{sentence}.")


def against_figure(learned: LearnResult, path: Path | str) -> Path:
    """Draw the gains of a learning and of its contenders into an SVG file: `akinai learn --figure FILE`.

    UsageError for a learning without `against`, or a file that cannot be written; MissingExtra without `report`.
    """
    rows = learned.to_json()["against"]
    if not isinstance(rows, list):
        raise UsageError("there is nothing to draw: name others to compare with, such as --against placebo,icl")
    file = new_path(path)
    try:
        svg = against_svg([row for row in rows if isinstance(row, Mapping)], learned.unit)
        file.write_text(svg, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"the figure cannot be written to {str(file)!r}: {why_unreadable(error)}") from error
    return file
