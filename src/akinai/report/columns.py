"""Columns fitted to a width: heads and words are broken into lines, columns left out and named, a number never cut."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

LAYOUTS = ((2, 1, 1), (2, 2, 1), (2, 4, 1), (2, 4, 2), (1, 4, 2))
"""Space between columns, lines in a head, lines in a cell of words: from roomy to tight."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is to be fitted."""

    head: str
    cells: Sequence[str]
    words: bool = False
    """Words stand to the left and may be broken at their spaces; numbers stand to the right."""
    drop: int = 0
    """The larger, the sooner it is left out where the width runs out; 0 never is."""


def fitted(columns: Sequence[Column], width: int, title: str = "") -> Table:
    """The columns that fit into a width, in their order, with a line that names those left out."""
    filled = [(layout, _filled(columns, layout, width)) for layout in LAYOUTS]
    most = max(len(places) for _, places in filled)
    (gap, head_lines, cell_lines), places = next(one for one in filled if len(one[1]) == most)
    shown = [columns[place] for place in places]
    left_out = [column.head for place, column in enumerate(columns) if place not in places]
    made = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, gap - 1, 0, 0),
        title=Text(plain(title), "bold") if title else None,
        title_justify="left",
        caption=Text(f"not shown: {', '.join(left_out)}", "dim") if left_out else None,
        caption_justify="left",
    )
    for column in shown:
        head = "\n".join(_broken(column.head, _width(column, head_lines, cell_lines)))
        made.add_column(Text(head, "bold"), justify="left" if column.words else "right", vertical="top", no_wrap=True)
    for row in zip(*(_cells(column, head_lines, cell_lines) for column in shown), strict=True):
        made.add_row(*map(Text, row))
    return made


def plain(text: str) -> str:
    """Text by agents and from files as a terminal may show it: without control characters."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", " ", text)


def shortened(text: str, length: int) -> str:
    """One line of at most so many characters."""
    text = " ".join(plain(text).split())
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _filled(columns: Sequence[Column], layout: tuple[int, int, int], width: int) -> list[int]:
    """The places of the columns that must be shown, and of those that fit beside them, the most wanted first."""
    gap, *lines = layout
    needed = [_width(column, *lines) + gap for column in columns]
    shown = [place for place, column in enumerate(columns) if not column.drop]
    left = width + gap - sum(needed[place] for place in shown)
    for place in sorted(set(range(len(columns))) - set(shown), key=lambda place: (columns[place].drop, place)):
        if needed[place] <= left:
            left -= needed[place]
            shown.append(place)
    return sorted(shown)


def _width(column: Column, head_lines: int, cell_lines: int) -> int:
    """The least that holds every cell, and the head in so many lines."""
    cells = [_least(cell, cell_lines if column.words else 1) for cell in map(plain, column.cells)]
    return max([_least(column.head, head_lines), *cells])


def _cells(column: Column, head_lines: int, cell_lines: int) -> list[str]:
    width = _width(column, head_lines, cell_lines)
    return ["\n".join(_broken(cell, width)) if column.words else cell for cell in map(plain, column.cells)]


def _least(text: str, lines: int) -> int:
    """The least width in which a text takes at most so many lines."""
    longest = max((cell_len(word) for word in text.split()), default=0)
    whole = cell_len(text)
    return (
        whole
        if lines == 1
        else next(w for w in range(longest, whole + 1) if len(_broken(text, w)) <= lines or w == whole)
    )


def _broken(text: str, width: int) -> list[str]:
    """Words in lines of at most a width; a word that is longer has a line of its own."""
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]
