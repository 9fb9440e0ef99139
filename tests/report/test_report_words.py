"""Reports in Japanese: their own words, in the page and in Markdown."""

import re
from importlib.resources import files

from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from reports_for_tests import report

from akinai.core.presentation.tables import Grid
from akinai.report.language import NAMES, REPORT, translate_report
from akinai.report.page.document import translate_document

KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def test_a_report_follows_the_language() -> None:
    """Its verdict, every title and every head of its tables are in Japanese, the names of groups as they are."""
    japanese = translate_document(report("played"), "ja")
    assert KANA.search(japanese.verdict)
    assert "reference" in japanese.verdict
    assert all(KANA.search(section.title) for section in japanese.sections)
    heads = {
        head
        for section in japanese.sections
        for block in section.blocks
        if isinstance(block, Grid)
        for head in block.heads
    }
    assert {head for head in heads if not KANA.search(head)} <= {"n", "p", "p (Holm)", "idle", "reference", "akinai",
        "world", "preset", "agent", "model", "sampling", "playbook", "python", "preset sha256", "prompt",
        "program", "offered"} | {
        head for head in heads if "$" in head or head.isdigit()}  # fmt: skip
    assert translate_document(report("played"), "en") is report("played")


def test_sentences_keep_their_figures() -> None:
    """Sentences and clauses are told apart, and numbers and names stand where they belong."""
    english = (
        "b is better than a: net worth is $5.10 higher on average, between $1 and $9 at 95 %. "
        "c and d cannot be told apart yet: 3 seeds can show no difference, 6 can. X."
    )
    assert (
        translate_report(english, "ja") == "b は a より優れる：純資産は平均で $5.10 高い（95 % で $1 から $9 の間）。"
        "c と d はまだ見分けられない：3 シードではどんな差も示せず、6 なら示せる。X。"
    )
    assert translate_report(english, "en") == english


def test_the_catalogue_is_whole_and_compiled() -> None:
    """Nothing is empty, places in braces agree, and `make messages` was called."""
    folder = files("akinai.report.language").joinpath("locale", "ja", "LC_MESSAGES")
    with folder.joinpath(f"{REPORT}.po").open("rb") as po, folder.joinpath(f"{REPORT}.mo").open("rb") as mo:
        written = {str(message.id): str(message.string) for message in read_po(po, locale="ja") if message.id}
        compiled = {str(message.id): str(message.string) for message in read_mo(mo) if message.id}
    assert compiled == written
    assert all(written.values())
    assert all(sorted(NAMES.findall(text)) == sorted(NAMES.findall(words)) for text, words in written.items())
