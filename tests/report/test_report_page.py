"""The page and the Markdown: self-contained, escaped, complete; opened in a real browser."""

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from reports_for_tests import EVIL, analysis_of, evil, played, report

import akinai
from akinai import api
from akinai.core import Plan, Routine, player
from akinai.core.models import Usage
from akinai.report.page.files import results
from akinai.report.page.groups import group_comparisons
from akinai.report.page.html import page
from akinai.report.page.markdown import markdown, paragraph, text
from akinai.report.page.sections import document
from akinai.runtime.runs.records import ModelUsage
from akinai.stores.memory import MemoryStore
from together import together

VOID = {"meta", "link"}
DRAWN = {"svg", "title", "desc", "path", "text", "circle"}
WRITTEN = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "nav", "ul", "li", "a", "section", "h1", "h2",
    "h3", "p", "b", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "details",
    "summary", "link", "script", "button", "dialog", "form", "dl", "dt", "dd", "kbd", "span", "i", "s", "small", "h4",
    "article",
}  # fmt: skip
ICON = "data:image/svg+xml,"
"""The address of the icon in the page itself."""


@cache
def html(which: str) -> str:
    return page(report(which))


class Read(HTMLParser):
    """The elements, attributes and text of a page; every element must be closed in order."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(markup)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("which", ["played", "evil"])
def test_a_page_needs_nothing_from_elsewhere(which: str) -> None:
    """No script but its own, no handler, no address: every reference leads to a place within the page."""
    read = Read(html(which))
    assert read.elements.count("script") == 1
    assert set(read.elements) <= WRITTEN | DRAWN
    for name, value in read.attributes:
        if value.startswith(ICON):
            continue
        assert not name.startswith("on")
        assert name != "src"
        if "href" in name:
            assert value.startswith("#")
        assert "://" not in value
    ids = {value for name, value in read.attributes if name == "id"}
    assert {value[1:] for name, value in read.attributes if name == "href" and value[0] == "#" and value[1:]} <= ids
    assert not re.search(r"@import|url\((?!#)", html(which))


def test_text_by_agents_stands_as_text() -> None:
    """Names, findings and errors full of markup are read back from the page letter by letter."""
    page_text = Read(html("evil")).text
    assert page_text.count(EVIL) > 10
    assert html("evil").count("<script") == 1
    assert "<img" not in html("evil")


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_a_report_tells_all_that_was_asked(form: str) -> None:
    """Scores with interval and n, endings, pairs, findings, runs with digests, run card, and the paper's table."""
    report_text = Read(html("played")).text if form == "html" else markdown(report("played"))
    analysis = played()
    for group in analysis.groups:
        score = group.scores["net_worth"]
        assert score.summary.mean is not None
        assert f"${score.summary.mean / 100:,.2f}" in report_text
        assert group.name in report_text
    for run in analysis.runs:
        assert run.digest[:12] in report_text
        assert run.id in report_text
    for words in ("95 % from", "smallest visible", "horizon", "What it took", "preset sha256",
                  "of the way from idle", "runs with it"):  # fmt: skip
        assert words in report_text
    assert str(analysis.runs.card()["preset_sha256"]) in report_text


@pytest.mark.slow
def test_every_finding_names_its_entries() -> None:
    """A finding can be looked up: run#entry."""
    page_text = Read(html("played")).text
    findings = [(run.id, finding) for run in played().runs for finding in run.findings or ()]
    assert findings
    assert all(f"{run}#{finding.entries[0]}" in page_text for run, finding in findings)


def test_every_figure_stands_in_the_page_with_its_table() -> None:
    """Each drawing is inline, labelled for those who do not see it, and followed by its values."""
    read = Read(html("played"))
    drawn = len(report("played").drawings)
    assert read.elements.count("figure") == read.elements.count("details") == drawn
    assert sum(name == "role" and value == "img" for name, value in read.attributes) == drawn


@together(
    ("raw", "escaped"),
    [
        ("<b>&", "&lt;b&gt;&amp;"), ("a|b`c`*d*", r"a\|b\`c\`\*d\*"), ("![x](javascript:y)", r"!\[x\](javascript\:y)"),
        ("snake_case _it_", r"snake_case \_it\_"), ("$1,234.50 and $x$", r"$1,234.50 and \$x\$"),
        ("n-1#12 and #3", r"n-1#12 and \#3"), ("https://a.b www.c.d", r"https\://a.b www\.c.d"),
        ("a\nb\x00", r"a b\\x00"), ("vending@3 @you a@b.c", r"vending@3 \@you a\@b.c"), ("\\`", r"\\\`"), ("08:00 +$5 (n = 3)", "08:00 +$5 (n = 3)"),
    ],
)  # fmt: skip
def test_markdown_keeps_text_as_text(raw: str, escaped: str) -> None:
    """Marks that could begin something get a backslash or an entity; numbers, money and names stay readable."""
    assert text(raw) == escaped


@pytest.mark.parametrize(
    ("raw", "escaped"), [("- a", r"\- a"), ("1. a", r"1\. a"), ("12) a", r"12\) a"), ("    a", "a"), ("# a", r"\# a")]
)
def test_a_paragraph_is_no_list_and_no_heading(raw: str, escaped: str) -> None:
    """What begins a line cannot begin a list, a heading or a block of code."""
    assert paragraph(raw) == escaped


def test_markdown_has_a_table_of_even_rows() -> None:
    """Every row of a table has as many borders as its head, whatever stands in its cells."""
    tables = [block.splitlines() for block in markdown(report("evil")).split("\n\n") if block.startswith("| ")]
    assert tables
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table}) == 1


@pytest.fixture
def stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two worlds that another package installs: the tutorial's `lemonade`, and `bare`, the same without facets."""
    installed = tmp_path / "stand-1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: stand\nVersion: 1\n")
    (installed / "entry_points.txt").write_text(
        "[akinai.worlds]\nlemonade = lemonade:Lemonade\nbare = bare_stand:Bare\n"
    )
    (tmp_path / "bare_stand.py").write_text(
        "from akinai.core import Facets\nfrom lemonade import Lemonade\n\n\n"
        'class Bare(Lemonade):\n    name = "bare@1"\n    facets = Facets()\n'
    )
    monkeypatch.syspath_prepend(tmp_path)


@player
def wasteful(_: Routine) -> Plan:
    """Makes far more than it sells."""
    from lemonade import MakeLemonade, OpenStand

    while True:
        yield MakeLemonade(cups=20)
        yield OpenStand(price_cents=240)


@pytest.mark.slow
@pytest.mark.usefixtures("stands")
def test_a_world_of_others_has_figures_and_findings_through_its_facets() -> None:
    """The tutorial's world is drawn and judged as its facets say; nothing else here knows its figures."""
    store = MemoryStore()
    for agent in ("frugal", wasteful):
        akinai.run("lemonade", agent=agent, seeds=range(2), store=store)
    analysis = api.analyze(store=store, by_day=True)
    whole_report = document(analysis, group_comparisons(analysis))
    drawings = {drawing.name: drawing for drawing in whole_report.drawings}
    assert list(drawings) == ["scores", "over-days", "cups", "actions", "tools", "findings"]
    assert drawings["over-days"].title == "Profit over the days"
    assert {row[0] for row in drawings["cups"].values.rows} == {"poured away", "sold"}
    assert "20 cups would sell" in Read(page(whole_report)).text
    assert {"cups", "profit_cents"} <= results(analysis, (), files=())["curves"]["lemonade@1"].keys()


@pytest.mark.usefixtures("stands")
@pytest.mark.parametrize("seeds", [1, 3])
def test_a_world_with_little_to_tell_has_a_report(seeds: int) -> None:
    """No facts, no findings, no reference: scores, endings, tools, runs and cards are told, and nothing is empty."""
    store = MemoryStore()
    akinai.run("bare", seeds=range(seeds), store=store)
    analysis = api.analyze(store=store, by_day=True)
    whole_report = document(analysis, group_comparisons(analysis))
    page_text = Read(page(whole_report)).text
    assert "mean profit" in page_text
    assert "horizon" in page_text
    assert [drawing.name for drawing in whole_report.drawings] == ["scores", "actions", "tools"][seeds == 1 :]
    assert all(section.blocks for section in whole_report.sections)


def test_the_papers_numbers_are_told_only_when_asked_for() -> None:
    """They stand under a label that says that they are another world's, and nowhere else."""
    page_text = Read(html("evil")).text
    assert "Another world's numbers: not comparable" in page_text
    assert "$2,217.93" in page_text
    assert "$2,217.93" not in html("played")


@pytest.mark.slow
def test_runs_that_cannot_be_read_have_a_report() -> None:
    """Nothing could be scored, not even the world is known: the page says so and why, beside what can be read."""
    broken = replace(evil().runs[0], scores=(), trouble="entry 3: it is missing", series=None, findings=None)
    page_text = Read(page(document(analysis_of([broken]), []))).text
    assert "No run could be scored" in page_text
    assert "entry 3: it is missing" in page_text
    header = replace(
        broken.header, run_id="lost", genesis=replace(broken.header.genesis, world=""), agents={"": "unknown"}
    )
    lost = replace(broken, header=header, trouble="its header is not one")
    both = analysis_of([*played().runs, lost])
    page_text = Read(page(document(both, group_comparisons(both)))).text
    assert "10 runs of vending@3 and an unknown world" in page_text
    assert "its header is not one" in page_text


def test_what_models_took_is_told() -> None:
    """Calls, tokens, minutes and dollars a run, and the model as the provider called it."""
    usage = ModelUsage(12, 2, Usage(input=3_000, output=450, cached=1_000), 1.5, 0.0525, ("model-2026-01",))
    analysis = analysis_of([replace(run, usage=usage) for run in played().runs[:2]])
    report_text = markdown(document(analysis, []))
    assert "| idle | 12 | 3,000 | 1,000 | 450 | 1.5 | $0.0525 |" in report_text
    assert "| model ids as returned | model-2026-01 |" in report_text


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def browsed(file: Path, profile: Path, *flags: str) -> str:
    assert BROWSER
    quiet = (
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}",
    )  # fmt: skip
    done = subprocess.run([BROWSER, *quiet, *flags, file.as_uri()], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_a_browser_runs_no_script_of_an_agent(tmp_path: Path) -> None:
    """Loaded in a real browser, also without the page's own ban of scripts, names full of markup made no element."""
    page_text = re.sub(r"<meta http-equiv[^>]*>", "", html("evil"))
    assert page_text != html("evil")
    files = {"report.html": page_text, "figure.svg": report("evil").drawings[0].svg}
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        seen = browsed(tmp_path / name, tmp_path / "profile", "--dump-dom")
        assert not re.search(r"<(img|iframe)\b", seen, re.IGNORECASE)
        assert len(re.findall(r"<script\b", seen, re.IGNORECASE)) == (name == "report.html")
        assert not re.search(r"<title[^>]*>ran</title>", seen)
        assert "&lt;script&gt;" in seen
    control = tmp_path / "control.html"
    control.write_text("<title>t</title><script>document.title='ran'</script>", encoding="utf-8")
    assert "<title>ran</title>" in browsed(control, tmp_path / "profile", "--dump-dom")


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_a_page_prints(tmp_path: Path) -> None:
    """The browser makes a PDF of some pages of it."""
    (tmp_path / "report.html").write_text(html("played"), encoding="utf-8")
    browsed(tmp_path / "report.html", tmp_path / "profile", f"--print-to-pdf={tmp_path / 'report.pdf'}")
    pdf = (tmp_path / "report.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 4
