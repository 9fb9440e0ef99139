"""The figure of a learning against contenders: gains over no playbook with their intervals, and the tokens of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akinai.core.errors import UsageError, why_unreadable
from akinai.report.figures.marks import interval
from akinai.report.figures.style import INK, Look
from akinai.report.figures.svg import Axis, Panel, Shape, draw
from akinai.report.tables.learned import score_text
from akinai.report.tables.learning import contender_name
from akinai.runtime.config.files import new_path

if TYPE_CHECKING:
    from akinai.runtime.learn.result import LearnResult

TITLE = "Gains over no playbook on the same tasks"


def against_svg(rows: Sequence[Mapping[str, Any]], unit: str | None = None) -> str:
    """The drawing of the rows of a learning's document: a row a contender, with the tokens in the context of a
    task, and its paired 95 % interval. The unit is that of the scores of runs."""
    judged = [row for row in rows if row["gain"] is not None]
    in_points = all(row["accuracy"] is not None for row in judged)
    factor, measure = 100 if in_points else 1, "Dollars" if unit == "dollars" else "Score"
    shapes: list[Shape] = []
    for height, row in enumerate(judged):
        gain = factor * row["gain"]["gain"]
        low, high = (factor * end for end in row["gain"]["ci95"] or (row["gain"]["gain"],) * 2)
        look = Look("", "g2") if row["name"] == "playbook" else INK
        shapes += [interval((low, high), height, look), Shape("marks", look, [(gain, height)], size=3.6)]
    names = [f"{contender_name(row)} ({row['injected']:,.0f})" for row in judged]
    axis = Axis(f"{'Points' if in_points else measure} over no playbook, 95 % intervals (tokens a task)")
    gains = [row["gain"]["gain"] for row in judged]
    texts = [f"{100 * gain:+,.1f} points" if in_points else score_text(gain, unit, sign=True) for gain in gains]
    sentence = "; ".join(f"{contender_name(row)} {text}" for row, text in zip(judged, texts, strict=True))
    return draw(TITLE, f"{sentence}.", [Panel(shapes, axis, Axis("", names=names))], 30 * max(2, len(judged)))


def against_figure(learned: LearnResult, path: Path | str) -> Path:
    """Draw the gains of a learning and of its contenders into an SVG file: `akinai learn --figure FILE`.

    UsageError for a learning without `against`, or a file that cannot be written.
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
