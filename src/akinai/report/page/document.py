"""The content of a report before it is set as HTML or Markdown: sections of prose, tables and figures.

Its text is plain; the setters escape it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from akinai.core.presentation.tables import Grid
from akinai.report.figures.svg import Drawing
from akinai.report.language import Language, translate_cell, translate_text

Addresses = Mapping[str, str]
"""Addresses of transcripts by run, relative to the report; a run without one is not linked."""


PRACTICE_NOTE = (
    "Practice seeds are small numbers that everybody knows: who has the package can look a game up before playing it. "
    "Figures on them are for one's own study. 'akinai seal new' draws a key for games that nobody can look up; the "
    "page 'Publish a number' of the documentation begins with it."
)
"""What boards, reports and pages say of practice seeds."""


WORDS = "words"
"""The anchor of the section that says what heads of tables mean."""


class Link(str):
    """A cell whose text is a link."""

    __slots__ = ("to",)
    to: str

    def __new__(cls, text: str, to: str = "") -> "Link":
        link = super().__new__(cls, text)
        link.to = to
        return link


def entry_link(text: str, addresses: Addresses, run: str, *, entry: int = 0, day: int = 0) -> str:
    """Make a text a link to a run's transcript, at an entry or a day; for a run without transcript it stays a text."""
    if run not in addresses:
        return text
    fragment = f"#entry={entry}" if entry else f"#day={day}" if day else ""
    return Link(text, f"{addresses[run]}{fragment}")


Block = str | Grid | Drawing
"""A paragraph, a table or a figure."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report under a heading."""

    title: str
    blocks: tuple[Block, ...]
    level: int = 2
    """The level of the heading, 2 or 3."""
    anchor: str = ""
    """The name by which links reach it; empty for its number."""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    about: str
    sections: tuple[Section, ...]
    verdict: str = ""
    """The result in a sentence or two; it opens the report."""

    @property
    def drawings(self) -> list[Drawing]:
        return [block for section in self.sections for block in section.blocks if isinstance(block, Drawing)]


def translate_document(report: Document, language: Language) -> Document:
    """Translate a report: its own words, not those of agents, and not the lettering of figures."""
    if language == "en":
        return report

    def words(text: str) -> str:
        return translate_text(text, language)

    def cell(text: str) -> str:
        if isinstance(text, Link):  # what leads out of the page is a name
            return Link(translate_cell(text, language), text.to) if text.to.startswith("#") else text
        return translate_cell(text, language)

    def grid(table: Grid) -> Grid:
        columns = [
            replace(
                column, head=words(column.head), values=column.values if column.names else [*map(cell, column.cells)]
            )
            for column in table.columns
        ]
        return Grid(columns, words(table.title), words(table.note))

    def block(block: Block) -> Block:
        match block:
            case str():
                return words(block)
            case Grid():
                return grid(block)
            case Drawing():
                title, caption = words(block.title), words(block.caption)
                return replace(block, title=title, caption=caption, values=grid(block.values))

    sections = tuple(
        replace(section, title=words(section.title), blocks=tuple(map(block, section.blocks)))
        for section in report.sections
    )
    verdict = words(report.verdict)
    return replace(report, title=words(report.title), about=words(report.about), sections=sections, verdict=verdict)
