"""A drawing as SVG: the same bytes for the same data, alone in a file or as part of a page, and told in words."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING
from xml.sax.saxutils import unescape

from akinai.report.figures_axes import writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure of a report."""

    name: str
    """Of its file, without the ending; unique in a report."""
    title: str
    caption: str
    """What is shown, of how many runs, and how to read it."""
    told: str
    """What the figure shows, for whoever does not see it."""
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """What is drawn, as a table; thinned out where there is much of it."""
    svg: str
    """A file of its own."""
    words: frozenset[int] = frozenset({0})
    """Columns of the table that hold words, not numbers."""

    @property
    def inline(self) -> str:
        """The same as an element of an HTML page: no namespaces, and ids that no other figure has."""
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


def svg_of(figure: "Figure", title: str, told: str) -> str:
    """A drawn figure as a file. Letters are drawn as outlines, so that it looks the same wherever it is opened.

    Names in letters that the font has not (DejaVu Sans: no Chinese, no Japanese) make the whole figure keep its
    text as text, in a font of the reader's.
    """
    import warnings

    import matplotlib as mpl

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.draw_without_rendering()  # so that ticks have their texts
        figure.set_layout_engine("none")
        kind = "path" if all(map(_has_letters, _texts(figure))) else "none"
        with mpl.rc_context({"svg.fonttype": kind}):
            figure.savefig(drawn := BytesIO(), format="svg")
    root = ET.fromstring(drawn.getvalue(), ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    _tell_letters(root)
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)  # the date, the version and the addresses of the drawing program
    root.attrib |= {"role": "img", "aria-label": writable(f"{title}. {told}")}
    for place, (kind, text) in enumerate((("title", title), ("desc", told))):
        element = ET.Element(f"{{{SVG}}}{kind}")
        element.text = writable(text)
        root.insert(place, element)
    return ET.tostring(root, encoding="unicode") + "\n"


def _tell_letters(root: ET.Element) -> None:
    """What outlines spell, which the drawing program leaves in comments, as labels: for tests, search and readers."""
    for parent in list(root.iter()):
        for comment in [child for child in parent if child.tag is ET.Comment]:
            parent.remove(comment)
            if parent is not root:
                parent.set("aria-label", writable(unescape(comment.text or "")).strip())


def _texts(figure: "Figure") -> Iterator[str]:
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        yield text.get_text()  # pyright: ignore[reportAttributeAccessIssue] - findobj gives what it was asked for


@cache
def _letters() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def _has_letters(text: str) -> bool:
    return all(ord(letter) in _letters() or letter == "\n" for letter in text)


def _prefixed(key: str, value: str, prefix: str) -> str:
    """An attribute whose ids, or references to them, belong to one figure."""
    if key == "id":
        return f"{prefix}-{value}"
    if key == "href":
        return re.sub(r"^#", f"#{prefix}-", value)
    return re.sub(r"url\(#", f"url(#{prefix}-", value) if key in ("clip-path", "style", "fill") else value


def thinned(rows: Sequence[tuple[str, ...]], most: int = 14) -> tuple[tuple[str, ...], ...]:
    """At most so many rows: the first, the last, and even steps between."""
    if len(rows) <= most:
        return tuple(rows)
    places = sorted({round(place * (len(rows) - 1) / (most - 1)) for place in range(most)})
    return tuple(rows[place] for place in places)
