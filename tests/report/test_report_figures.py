"""Figures: labelled, told in words, the same bytes each time, safe whatever the names."""

import re
import xml.etree.ElementTree as ET

import pytest
from reports_for_tests import report

from akinai.core.presentation.charts import Chart
from akinai.report.figures.marks import Spread, spreads
from akinai.report.figures.style import DARK, HUES, looks
from akinai.report.figures.svg import SVG, Drawing
from together import together

NAMES = ["scores", "over-days", "parts", "sales", "prices", "stock-outs", "actions", "tools", "findings"]


def drawings(which: str) -> list[Drawing]:
    return report(which).drawings


def named(name: str) -> Drawing:
    return next(drawing for drawing in drawings("played") if drawing.name == name)


def words(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{{{SVG}}}text")]


@pytest.mark.slow
def test_a_report_of_three_players_has_every_figure() -> None:
    """Score, worth, parts, sales, prices, stock-outs, actions, tools and findings."""
    assert [drawing.name for drawing in drawings("played")] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_both_axes_say_what_they_are(name: str) -> None:
    """There is a label along each side, one of them turned, and no ticks without one."""
    texts = [*ET.fromstring(named(name).svg).iter(f"{{{SVG}}}text")]
    turned = [text.text for text in texts if "rotate" in text.get("transform", "")]
    under = [text.text for text in texts if text.get("text-anchor") == "middle" and text.text not in turned]
    assert all(turned)
    assert any((text or "")[:1].isupper() for text in under)


@together(
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
    """To a tenth of a point, without blanks between elements: a figure is a few thousand letters."""
    for drawing in drawings("played"):
        root = ET.fromstring(drawing.svg)
        assert not [path for path in root.iter(f"{{{SVG}}}path") if re.search(r"\d\.\d{2}|  ", path.get("d", ""))]
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
        assert drawing.values.rows
        assert len(drawing.values.rows) <= 14 or drawing.name in ("tools", "sales", "prices")
        assert {len(row) for row in drawing.values.rows} == {len(drawing.values.heads)}


def test_a_figure_holds_no_date_and_no_address() -> None:
    """The same runs give the same file."""
    for drawing in drawings("played"):
        assert "://" not in drawing.svg.replace(SVG, "")
        assert not re.search(r"\b20[0-9]{2}-[01][0-9]-", drawing.svg)


def test_players_have_one_look_in_all_figures() -> None:
    """The class of a player is in every figure in which it is drawn, and no two of seven share one."""
    hues = [look.hue for look in looks(list("abcdefg")).values()]
    assert len({HUES[hue] for hue in hues}) == len({DARK[hue] for hue in hues}) == 7
    reference = looks(["reference"], {"reference": "reference"})["reference"].hue
    drawn = [drawing for drawing in drawings("played") if drawing.name not in ("parts", "findings")]
    assert all(f' {reference}"' in drawing.svg for drawing in drawn)


def test_a_page_gives_a_figure_its_colours() -> None:
    """A file has a ground of its own and colours for the dark; within a page it has neither."""
    for drawing in drawings("played"):
        assert 'class="paper"' in drawing.svg
        assert "prefers-color-scheme:dark" in drawing.svg
        assert "paper" not in drawing.inline
        assert "<style" not in drawing.inline


def test_names_that_look_alike_when_cut_stay_apart() -> None:
    """Two long names with one beginning are two names in a legend."""
    names = [look.name for look in looks(["x" * 80, "x" * 81]).values()]
    assert len(set(names)) == 2


def test_text_in_a_figure_makes_no_element() -> None:
    """A name full of markup stands in the SVG as letters: no script, no image, nothing that was not drawn."""
    assert drawings("evil")
    for drawing in drawings("evil"):
        for svg in (drawing.svg, drawing.inline):
            kinds = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
            assert kinds <= {"svg", "title", "desc", "path", "style", "rect", "text"}
        assert "&lt;/svg&gt;" in drawing.svg or drawing.name == "parts"


def test_names_of_every_script_are_words() -> None:
    """Letters are text, in the reader's font, whatever the script."""
    chart = Chart("scores", "t", "score", "points")
    drawn = spreads(chart, {"商い": Spread([1.0, 2.0], 1.5, None)}, looks(["商い"]))
    assert "商い (n = 2)" in words(ET.fromstring(drawn.svg))


def test_figures_in_one_page_share_no_id() -> None:
    """Inline there is nothing that another figure could have as well, and nothing leads out of it."""
    for drawing in drawings("played"):
        assert not re.search(r"\b(id|href|xmlns)=|url\(", drawing.inline)
