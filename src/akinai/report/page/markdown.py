"""A report as Markdown, in the dialect of GitHub and most editors; figures are files beside it."""

import re
from collections.abc import Iterator

from akinai.core.presentation.tables import Grid
from akinai.core.untrusted.spelling import plain
from akinai.report.figures.style import writable
from akinai.report.figures.svg import Drawing
from akinai.report.page.document import Block, Document, Link

MARKS = re.compile(
    r"[\\`*{}\[\]|~<>&]|@(?=[A-Za-z])"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"  # but not inside snake_case
    r"|:(?=[A-Za-z/])|(?<=www)\."  # bare addresses that viewers turn into links
    r"|\$(?!\d)|#(?!\d)|(?<!\w)#"  # formulas and issue numbers, but not money and run#12
)
ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def markdown(report: Document) -> str:
    """The text of the report; its figures are linked as `figures/NAME.svg`."""
    parts = [
        f"# {text(report.title)}",
        *([paragraph(report.verdict)] if report.verdict else []),
        paragraph(report.about),
    ]
    for section in report.sections:
        anchor = f'<a id="{section.anchor}"></a>' if section.anchor else ""
        parts.append(f"{'#' * section.level} {anchor}{text(section.title)}")
        parts += [part for block in section.blocks for part in _block(block)]
    return "\n\n".join(parts) + "\n"


def text(raw: str) -> str:
    """Escape a text for the inside of a line: all that would read as markup, a link, HTML or a cell's border."""
    return MARKS.sub(lambda match: ENTITIES.get(match[0], f"\\{match[0]}"), writable(plain(raw)))


def paragraph(raw: str) -> str:
    """Escape a text for the beginning of a line, where it must not start a list either."""
    return re.sub(r"^([-+=]|\d+(?=[.)]))", _escape, text(raw.strip()))


def _escape(match: re.Match[str]) -> str:
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


def _block(block: Block) -> Iterator[str]:
    match block:
        case str():
            yield paragraph(block)
        case Grid():
            if block.title:
                yield f"**{text(block.title)}**"
            yield _table(block)
            if block.note:
                yield paragraph(block.note)
        case Drawing():
            yield f"![{text(block.description)}](figures/{block.name}.svg)"
            yield f"*{text(block.title)}.* {text(block.caption)}"


def _cell(cell: str) -> str:
    return f"[{text(cell)}]({cell.to})" if isinstance(cell, Link) else text(cell)


def _table(grid: Grid) -> str:
    rule = [":--" if column.words else "--:" for column in grid.columns]
    rows = [[_cell(cell) for cell in row] for row in grid.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [[text(head) for head in grid.heads], rule, *rows])
