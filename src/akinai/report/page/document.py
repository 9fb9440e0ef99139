"""The content of a report before it is set as HTML or Markdown: sections of prose, tables and figures.

Its text is plain; the setters escape it.
"""

from dataclasses import dataclass

from akinai.report.figures.svg import Drawing


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    note: str = ""
    words: frozenset[int] = frozenset({0})
    """Indices of the columns that hold words, which are aligned left; numbers are aligned right."""


Block = Prose | Grid | Drawing


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report under a heading."""

    title: str
    blocks: tuple[Block, ...]
    level: int = 2
    """The level of the heading, 2 or 3."""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    about: str
    sections: tuple[Section, ...]
    verdict: str = ""
    """What came of it, in a sentence or two; it opens the report."""

    @property
    def drawings(self) -> list[Drawing]:
        return [block for section in self.sections for block in section.blocks if isinstance(block, Drawing)]
