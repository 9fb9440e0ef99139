"""A report as Markdown, as GitHub and most editors read it; figures are files beside it."""

import re
from collections.abc import Iterator

from akinai.report.columns import plain
from akinai.report.figures_axes import writable
from akinai.report.figures_svg import Drawing
from akinai.report.page_contents import Block, Document, Grid, Prose

MARKS = re.compile(
    r"[\\`*{}\[\]|~<>&]|@(?=[A-Za-z])"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"  # not within snake_case
    r"|:(?=[A-Za-z/])|(?<=www)\."  # links that readers make of bare addresses
    r"|\$(?!\d)|#(?!\d)|(?<!\w)#"  # formulas and numbers of issues, not money and run#12
)
ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def markdown(report: Document) -> str:
    """The report; its figures are linked as `figures/NAME.svg`."""
    parts = [f"# {text(report.title)}", paragraph(report.about)]
    for section in report.sections:
        parts.append(f"{'#' * section.level} {text(section.title)}")
        parts += [part for block in section.blocks for part in _block(block)]
    return "\n\n".join(parts) + "\n"


def text(told: str) -> str:
    """Text within a line that no reader of Markdown takes for markup, a link, HTML or the border of a cell."""
    return MARKS.sub(lambda found: ENTITIES.get(found[0], f"\\{found[0]}"), writable(plain(told)))


def paragraph(told: str) -> str:
    """The same for text that begins a line."""
    return re.sub(r"^([-+=]|\d+(?=[.)]))", _kept, text(told.strip()))


def _kept(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Prose():
            yield paragraph(block.text)
        case Grid():
            if block.title:
                yield f"**{text(block.title)}**"
            yield _table(block)
            if block.note:
                yield paragraph(block.note)
        case Drawing():
            yield f"![{text(block.told)}](figures/{block.name}.svg)"
            yield f"*{text(block.title)}.* {text(block.caption)}"


def _table(grid: Grid) -> str:
    rule = [":--" if place in grid.words else "--:" for place in range(len(grid.heads))]
    rows = [[text(cell) for cell in row] for row in grid.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [[text(head) for head in grid.heads], rule, *rows])
