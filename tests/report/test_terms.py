"""Words of tables and reports are explained where they stand: in the terminal, in the glossary and on pages."""

from pathlib import Path

import pytest
from reports_for_tests import report

import akinai
from akinai.core.errors import UnknownName
from akinai.report.language import translate_cell
from akinai.report.page.html import page
from akinai.report.terms import TERMS

DOCS = Path(__file__).parents[2] / "docs"


def test_a_word_is_explained_however_it_is_spelled() -> None:
    """Capitals, underscores and a plural are the same word; another one is refused with the nearest."""
    assert akinai.explain("P (holm)") == {"p (Holm)": TERMS["p (Holm)"]}
    assert akinai.explain("smallest_visible") == {"smallest visible": TERMS["smallest visible"]}
    assert list(akinai.explain("findings")) == ["finding"]
    assert akinai.explain() == TERMS
    with pytest.raises(UnknownName, match="no term 'coherense'; did you mean 'coherence'"):
        akinai.explain("coherense")


def test_the_glossary_has_every_term() -> None:
    """In the same words as the command, in both languages."""
    pages = {"en": (DOCS / "glossary.md").read_text("utf-8"), "ja": (DOCS / "ja" / "glossary.md").read_text("utf-8")}
    for name, meaning in TERMS.items():
        assert f"| **{name}** | {meaning} |" in pages["en"]
        assert translate_cell(meaning, "ja") != meaning
        assert f"| **{name}** | {translate_cell(meaning, 'ja')} |" in pages["ja"]


def test_heads_on_a_page_lead_to_their_words() -> None:
    """A head that is a term links to the section on words, which has it."""
    text = page(report("played"))
    assert f'<a class="term" href="#words" title="{TERMS["smallest visible"]}">smallest visible</a>' in text
    assert text.count('id="words"') == 1
    assert f"{TERMS['smallest visible']}</td>" in text.partition('id="words"')[2]
