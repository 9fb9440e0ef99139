"""A report as one HTML page that needs nothing else: no script, no address, figures and style inline."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template

from akinai.report.figures.style import writable
from akinai.report.figures.svg import Drawing
from akinai.report.page.document import Block, Document, Grid, Prose, Section

LONGEST_NAME = 24
"""Characters up to which the cells of a column are kept on one line."""


class Html(str):
    """Markup. `element` escapes any text that is not of this type."""

    __slots__ = ()


def element(name: str, *parts: str, **attributes: str) -> Html:
    """An element with its parts; `class_` is the attribute class."""
    text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(writable(value))}"' for key, value in attributes.items()
    )
    inner = "".join(part if isinstance(part, Html) else escape(writable(part)) for part in parts)
    return Html(f"<{name}{text}>{inner}</{name}>")


def page(report: Document) -> str:
    """The text of the page."""
    verdict = [element("p", report.verdict, class_="verdict")] if report.verdict else []
    head = element("header", element("h1", report.title), *verdict, element("p", report.about))
    contents = element("nav", element("ul", *_links(report.sections)), aria_label="Contents") if report.sections else ""
    sections = (_section(place, section) for place, section in enumerate(report.sections))
    body = Html("\n".join([head, contents, *sections]))
    return Template(_template("report.html")).substitute(
        title=escape(writable(report.title)), style=_template("report.css"), body=body
    )


def _template(name: str) -> str:
    return files("akinai.report.page").joinpath("templates", name).read_text(encoding="utf-8")


def _links(sections: Sequence[Section]) -> Iterable[Html]:
    for place, section in enumerate(sections):
        if section.level == 2:
            yield element("li", element("a", section.title, href=f"#s{place}"))


def _section(place: int, section: Section) -> Html:
    blocks = (_block(block) for block in section.blocks)
    return element("section", element(f"h{section.level}", section.title, id=f"s{place}"), *blocks)


def _block(block: Block) -> Html:
    match block:
        case Prose():
            return element("p", block.text)
        case Grid():
            return _grid(block)
        case Drawing():
            return _figure(block)


def _grid(grid: Grid) -> Html:
    caption = [element("caption", grid.title)] if grid.title else []
    heads = [_cell("th", place, head, grid) for place, head in enumerate(grid.heads)]
    rows = [element("tr", *(_cell("td", place, cell, grid) for place, cell in enumerate(row))) for row in grid.rows]
    table = element("table", *caption, element("thead", element("tr", *heads)), element("tbody", *rows))
    note = [element("p", grid.note, class_="note")] if grid.note else []
    # A wide table scrolls in its own box; the tabindex lets the keyboard scroll it.
    return element("div", element("div", table, class_="wide", tabindex="0"), *note)


def _cell(kind: str, place: int, text: str, grid: Grid) -> Html:
    attributes = {"scope": "col"} if kind == "th" else {}
    return element(kind, text, **attributes, class_=_kind(place, grid))


def _kind(place: int, grid: Grid) -> str:
    """The class of a column: numbers, names that stay on one line, or words."""
    if place not in grid.words:
        return "number"
    return "words" if any(len(row[place]) > LONGEST_NAME for row in grid.rows) else "words name"


def _figure(drawing: Drawing) -> Html:
    data = Grid(drawing.heads, drawing.rows, words=drawing.words)
    return element(
        "figure",
        element("div", Html(drawing.inline), class_="wide", tabindex="0"),
        element("figcaption", element("b", drawing.title), f". {drawing.caption}"),
        element("details", element("summary", "The figure as a table"), _grid(data)),
        id=f"figure-{drawing.name}",
    )
