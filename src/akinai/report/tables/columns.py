"""Tables fitted to a width: words are wrapped, columns left out and named, numbers never cut."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from akinai.analysis.tables import Part
from akinai.core.presentation.tables import Column, Grid
from akinai.core.untrusted.spelling import plain
from akinai.report.language import (
    chosen_language,
    translate_cell,
    translate_record,
    translate_report,
    translate_sentence,
    translate_text,
)
from akinai.report.language.lines import unbreakable

LAYOUTS = ((2, 1, 1), (2, 2, 1), (2, 4, 1), (2, 4, 2), (1, 4, 2))
"""Layouts to try, from wide to narrow: space between columns, lines per head, lines per cell of words."""
LEAST_PROSE = 24
"""Columns of the terminal that prose wants at least."""


def fit_table(columns: Sequence[Column], width: int, title: str = "") -> Table:
    """Make a table of the columns that fit into a width, in their order; its caption names those left out."""
    columns = [replace(column, head=translate_sentence(column.head)) for column in columns]
    fits = [(layout, _indices_that_fit(columns, layout, width)) for layout in LAYOUTS]
    fits = [fit for fit in fits if _fits([columns[index] for index in fit[1]], fit[0], width)] or fits[-1:]
    most = max(len(indices) for _, indices in fits)
    (gap, head_lines, cell_lines), indices = next(fit for fit in fits if len(fit[1]) == most)
    left_out = [column.head for index, column in enumerate(columns) if index not in indices]
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, gap - 1, 0, 0),
        title=Text(plain(translate_sentence(title)), "bold") if title else None,
        title_justify="left",
        caption=Text(translate_sentence(f"not shown: {', '.join(left_out)}"), "dim") if left_out else None,
        caption_justify="left",
        width=width if any(columns[index].prose for index in indices) else None,
    )
    visible = [columns[index] for index in indices]
    for column in visible:
        if column.prose:
            table.add_column(Text(column.head, "bold"), ratio=1, overflow="fold")
            continue
        head = "\n".join(_broken(column.head, _width(column, head_lines, cell_lines), head=True))
        table.add_column(Text(head, "bold"), justify="left" if column.words else "right", vertical="top", no_wrap=True)
    for row in zip(*(_cells(column, head_lines, cell_lines) for column in visible), strict=True):
        table.add_row(*map(Text, row))
    return table


def page_of(parts: Iterable[Part | RenderableType], width: int) -> RenderableType:
    """Sentences and tables of results in the reader's language, with an empty line between."""
    rendered = [_rendered(part, width) for part in parts]
    return Group(*[line for part in rendered for line in (Text(""), part)][1:])


def _rendered(part: Part | RenderableType, width: int) -> RenderableType:
    match part:
        case str():
            return Text(translate_line(part))
        case Grid():
            language = chosen_language()
            columns = [
                replace(column, values=[translate_cell(cell, language) for cell in column.cells])
                if column.words and not column.names
                else column
                for column in part.columns
            ]
            table = fit_table(columns, width, part.title)
            return Group(table, Text(translate_line(part.note), "dim")) if part.note else table
        case _:
            return part


def note_lines(notes: Iterable[str]) -> list[RenderableType]:
    """Notes in the reader's language, one a line; nothing for none."""
    lines = [translate_line(note) for note in notes if note]
    return [Text("\n".join(lines))] if lines else []


def translate_line(text: str) -> str:
    """Translate sentences of our own into the reader's language, as one line."""
    return plain(translate_text(text))


def translate_result(text: str) -> str:
    """Translate the sentences with which a page opens, as one line."""
    return plain(translate_report(text, chosen_language()))


def translate_record_line(text: str) -> str:
    """Translate words of a world into the reader's language, as one line."""
    return plain(translate_record(text))


def _indices_that_fit(columns: Sequence[Column], layout: tuple[int, int, int], width: int) -> list[int]:
    """The indices of the columns that are always shown and of those that fit beside them, lowest `drop` first."""
    gap, *lines = layout
    needed = [_width(column, *lines) + gap for column in columns]
    indices = [index for index, column in enumerate(columns) if not column.drop]
    left = width + gap - sum(needed[index] for index in indices)
    for index in sorted(set(range(len(columns))) - set(indices), key=lambda index: (columns[index].drop, index)):
        if needed[index] <= left:
            left -= needed[index]
            indices.append(index)
    return sorted(indices)


def _fits(columns: Sequence[Column], layout: tuple[int, int, int], width: int) -> bool:
    """Whether the columns that are always shown leave the table within a width."""
    gap, *lines = layout
    return sum(_width(column, *lines) + gap for column in columns) <= width + gap


def _width(column: Column, head_lines: int, cell_lines: int) -> int:
    """The smallest width that holds every cell and the head in their numbers of lines."""
    if column.prose:
        return min(LEAST_PROSE, max(map(cell_len, (column.head, *column.cells))))
    cells = [_least(cell, cell_lines if column.words else 1) for cell in map(plain, column.cells)]
    return max([_least(column.head, head_lines, head=True), *cells])


def _cells(column: Column, head_lines: int, cell_lines: int) -> list[str]:
    if column.prose:
        return [*map(plain, column.cells)]
    width = _width(column, head_lines, cell_lines)
    return ["\n".join(_broken(cell, width)) if column.words else cell for cell in map(plain, column.cells)]


def _least(text: str, lines: int, head: bool = False) -> int:
    """The smallest width in which a text takes at most `lines` lines."""
    longest = max((cell_len(word.rstrip()) for word in _words(text, head)), default=0)
    whole = cell_len(text)
    return (
        whole
        if lines == 1
        else next(w for w in range(longest, whole + 1) if len(_broken(text, w, head)) <= lines or w == whole)
    )


def _broken(text: str, width: int, head: bool = False) -> list[str]:
    """Text in lines of at most `width`; a longer word has a line of its own."""
    lines: list[str] = []
    for word in _words(text, head):
        if lines and cell_len(lines[-1]) + cell_len(word.rstrip()) <= width:
            lines[-1] += word
        else:
            lines.append(word)
    return [line.rstrip() for line in lines] or [""]


def _words(text: str, head: bool) -> Iterable[str]:
    """The unbreakable parts with the space after each: a head breaks at spaces alone, other text as Japanese may."""
    return [f"{word} " for word in text.split()] if head else unbreakable(" ".join(text.split()))
