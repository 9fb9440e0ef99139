"""Drawings as SVG: the same bytes for the same data, as a file or inline in a page, and described in words."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any
from xml.sax.saxutils import unescape

from akinai.report.figures.style import Figure, writable

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
COORDINATES = {"d", "x", "y"}
"""Attributes that hold coordinates."""
HREF = f"{{{XLINK}}}href"
ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure of a report."""

    name: str
    """The name of its file without the ending; unique in a report."""
    title: str
    caption: str
    """The text below the figure: its content, the number of runs, and how to read it."""
    description: str
    """The content in words, for readers who do not see the figure."""
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """The values as a table; a long one is thinned out."""
    svg: str
    """The text of the file."""
    words: frozenset[int] = frozenset({0})
    """Indices of the table's columns that hold words, not numbers."""

    @property
    def inline(self) -> str:
        """The drawing as an element of an HTML page: without namespaces, with ids that no other figure has."""
        root = ET.fromstring(self.svg)
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
            if (link := element.attrib.pop(HREF, None)) is not None:
                element.set("href", link)
            for key, value in element.attrib.items():
                element.set(key, _prefixed(key, value, self.name))
        for size in ("width", "height"):
            root.attrib.pop(size, None)
        return ET.tostring(root, encoding="unicode")


def svg_of(figure: Figure, title: str, description: str) -> str:
    """The SVG file of a drawn figure, as text. Letters are outlines, so that it looks the same everywhere.

    If a name has letters that DejaVu Sans lacks, such as Japanese ones, the whole figure keeps its text as text, in the
    reader's font.
    """
    import warnings

    from matplotlib import style

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.draw_without_rendering()  # so that ticks have their texts
        figure.set_layout_engine("none")
        kind = "path" if all(map(_has_letters, _texts(figure))) else "none"
        with style.context({"svg.fonttype": kind}):
            figure.savefig(drawn := BytesIO(), format="svg")
    root = ET.fromstring(drawn.getvalue(), ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    _label_outlines(root)
    _shorten(root)
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)  # the date, the version and the addresses of the drawing program
    root.attrib |= {"role": "img", "aria-label": writable(f"{title}. {description}")}
    for index, (kind, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{SVG}}}{kind}")
        element.text = writable(text)
        root.insert(index, element)
    return ET.tostring(root, encoding="unicode") + "\n"


def _label_outlines(root: ET.Element) -> None:
    """Turn matplotlib's comments, which hold the words that outlines spell, into labels for readers and tests."""
    for parent in list(root.iter()):
        for comment in [child for child in parent if child.tag is ET.Comment]:
            parent.remove(comment)
            if parent is not root:
                parent.set("aria-label", writable(unescape(comment.text or "")).strip())


def _shorten(root: ET.Element) -> None:
    """Round coordinates to a hundredth of a point, and drop the blanks between elements."""
    for element in root.iter():
        for key in COORDINATES & element.attrib.keys():
            path = " ".join(element.attrib[key].split())
            element.set(key, re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}", path))
        if not (element.text or "").strip():
            element.text = None
        if not (element.tail or "").strip():
            element.tail = None


def _texts(figure: Figure) -> Iterator[str]:
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        yield text.get_text()


@cache
def _letters() -> frozenset[int]:
    from matplotlib import font_manager

    fonts: Any = font_manager  # matplotlib leaves a part of these functions' types unknown
    return frozenset(fonts.get_font(fonts.findfont("DejaVu Sans")).get_charmap())


def _has_letters(text: str) -> bool:
    return all(ord(letter) in _letters() or letter == "\n" for letter in text)


def _prefixed(key: str, value: str, prefix: str) -> str:
    """An attribute's value with ids, and references to them, made unique by a prefix."""
    if key == "id":
        return f"{prefix}-{value}"
    if key == "href":
        return re.sub(r"^#", f"#{prefix}-", value)
    return re.sub(r"url\(#", f"url(#{prefix}-", value) if key in ("clip-path", "style", "fill") else value


def thin_rows(rows: Sequence[tuple[str, ...]], limit: int = 14) -> tuple[tuple[str, ...], ...]:
    """At most `limit` rows: the first, the last, and even steps between."""
    if len(rows) <= limit:
        return tuple(rows)
    indices = sorted({round(step * (len(rows) - 1) / (limit - 1)) for step in range(limit)})
    return tuple(rows[index] for index in indices)
