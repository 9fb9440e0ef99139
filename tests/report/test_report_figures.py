"""Figures: labelled, told in words, the same bytes each time, safe whatever the names."""

import re
import xml.etree.ElementTree as ET

import pytest
from reports_for_tests import report

from akinai.report.figures.style import looks
from akinai.report.figures.svg import SVG, Drawing

NAMES = ["scores", "over-days", "parts", "sales", "prices", "stock-outs", "actions", "tools", "findings"]


def drawings(which: str) -> list[Drawing]:
    return report(which).drawings


def named(name: str) -> Drawing:
    return next(drawing for drawing in drawings("played") if drawing.name == name)


def groups(root: ET.Element, prefix: str) -> list[ET.Element]:
    return [element for element in root.iter(f"{{{SVG}}}g") if element.get("id", "").startswith(prefix)]


def words(root: ET.Element) -> list[str]:
    return [
        element.get("aria-label", "")
        for element in root.iter(f"{{{SVG}}}g")
        if element.get("id", "").startswith("text_")
    ]


@pytest.mark.slow
def test_a_report_of_three_players_has_every_figure() -> None:
    """Score, worth, parts, sales, prices, stock-outs, actions, tools and findings."""
    assert [drawing.name for drawing in drawings("played")] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_axis_with_numbers_says_what_they_are(name: str) -> None:
    """An axis that shows ticks has a label; and there is one along each side of the figure."""
    root = ET.fromstring(named(name).svg)
    labelled = {"1": 0, "2": 0}
    for axis in groups(root, "matplotlib.axis_"):
        ticks = [text for tick in groups(axis, "xtick_") + groups(axis, "ytick_") for text in words(tick) if text]
        own = [text for child in axis if child.get("id", "").startswith("text_") for text in [child.get("aria-label")]]
        if ticks:
            assert own
            assert all(own)
            number = int(axis.get("id", "").rpartition("_")[2])
            labelled["1" if number % 2 else "2"] += 1
    assert all(labelled.values())


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("scores", "Net worth (dollars)"), ("over-days", "Net worth (dollars)"), ("parts", "Value at cost (dollars)"),
        ("sales", "Units per day"), ("prices", "Dollars"), ("stock-outs", "Sold out (products)"),
        ("actions", "Actions (per day)"), ("tools", "Uses (per day)"), ("findings", "Day of the run"),
    ],
)  # fmt: skip
def test_labels_hold_the_unit(name: str, label: str) -> None:
    """The unit stands on the axis, and days on every figure over days."""
    texts = words(ET.fromstring(named(name).svg))
    assert label in texts
    assert ("Day of the run" in texts) == (name not in ("scores", "tools"))


def test_money_on_an_axis_has_its_sign() -> None:
    """Ticks of money read $500, ticks of counts have no sign."""
    assert any(tick.startswith("$") for tick in words(ET.fromstring(named("over-days").svg)))
    assert not any(tick.startswith("$") for tick in words(ET.fromstring(named("actions").svg)))


def test_a_legend_tells_n() -> None:
    """Every line is named with the number of its runs."""
    assert {"idle (n = 3)", "naive (n = 3)", "reference (n = 3)"} <= set(words(ET.fromstring(named("over-days").svg)))


def test_a_group_stands_in_a_legend_once() -> None:
    """However many of its runs sold each product: the name has the least and the most of them."""
    counted = [word for word in words(ET.fromstring(named("sales").svg)) if "(n = " in word]
    assert counted
    assert len({word.partition(" (")[0] for word in counted}) == len(counted)


def test_places_are_short() -> None:
    """To a hundredth of a point, without blanks between elements: half of a report is its figures."""
    for drawing in drawings("played"):
        root = ET.fromstring(drawing.svg)
        assert not [path for path in root.iter(f"{{{SVG}}}path") if re.search(r"\.\d{3}|  ", path.get("d", ""))]
        assert all(element.tail is None or element.tail.strip() for element in root.iter())


@pytest.mark.parametrize("which", ["played", "evil"])
def test_every_figure_is_told_in_words_and_as_a_table(which: str) -> None:
    """Whoever does not see a figure has its title, a sentence, and its values."""
    for drawing in drawings(which):
        root = ET.fromstring(drawing.svg)
        assert root.get("role") == "img"
        assert root.get("aria-label", "").startswith(root[0].text or "?")
        assert root[0].tag.endswith("title")
        assert root[1].tag.endswith("desc")
        assert drawing.rows
        assert len(drawing.rows) <= 14 or drawing.name in ("tools", "sales", "prices")
        assert {len(row) for row in drawing.rows} == {len(drawing.heads)}


def test_a_figure_holds_no_date_and_no_address() -> None:
    """What the drawing program adds of its own, the day, its version and where it lives, is left out."""
    for drawing in drawings("played"):
        assert "matplotlib.org" not in drawing.svg
        assert "<metadata" not in drawing.svg
        assert not re.search(r"\b20[0-9]{2}-[01][0-9]-", drawing.svg)


def test_players_have_one_look_in_all_figures() -> None:
    """The colour of a player is in every figure in which it is drawn, and no two of seven share one."""
    colours = [look.colour for look in looks(list("abcdefg")).values()]
    assert len(set(colours)) == 7
    reference = looks(["reference"], {"reference": "reference"})["reference"].colour
    assert all(reference in drawing.svg for drawing in drawings("played") if drawing.name not in ("parts", "findings"))


def test_names_that_look_alike_when_cut_stay_apart() -> None:
    """Two long names with one beginning are two names in a legend; one that begins with "_" is not left out of it."""
    names = [look.name for look in looks(["x" * 80, "x" * 81, "_hidden"]).values()]
    assert len(set(names)) == 3
    assert not names[2].startswith("_")


def test_text_in_a_figure_makes_no_element() -> None:
    """A name full of markup stands in the SVG as letters: no script, no image, nothing that was not drawn."""
    assert drawings("evil")
    for drawing in drawings("evil"):
        for svg in (drawing.svg, drawing.inline):
            kinds = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
            assert kinds <= {"svg", "title", "desc", "g", "path", "use", "defs", "style", "clipPath", "rect", "text"}
        assert "&lt;/svg&gt;" in drawing.svg or drawing.name == "parts"


def test_letters_that_the_font_has_not_stay_text() -> None:
    """A figure with Japanese names keeps its words as text, for a font of the reader's; others are outlines."""
    from akinai.core.presentation.charts import Chart
    from akinai.report.figures.marks import Spread, spreads

    chart = Chart("scores", "t", "score", "points")
    for name, has_text in (("商い", True), ("akinai", False)):
        drawn = spreads(chart, {name: Spread([1.0, 2.0], 1.5, None)}, looks([name]))
        assert ("<text" in drawn.svg) == has_text
        assert name in drawn.svg


def test_figures_in_one_page_share_no_id() -> None:
    """Inline, every id is used once in the whole page and every reference leads to one of them."""
    ids: list[str] = []
    for drawing in drawings("played"):
        root = ET.fromstring(drawing.inline)
        ids += [element.get("id", "") for element in root.iter() if element.get("id")]
        assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', drawing.inline)) <= set(ids)
        assert "xmlns" not in drawing.inline
    assert len(ids) == len(set(ids))
