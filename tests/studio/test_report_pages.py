"""A report in a real browser, opened from disk with the network off: its links, its looks, and what it prints."""

import json
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from studio_pages import BROWSER, chromium, visit

import akinai
from akinai.report.page.files import report

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]
LOOKS = [{"dark": False}, {"phone": True, "dark": True}]
PLANTED = "<img src=x onerror=document.title='caught'>"
"""Part of the name of a player."""


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    store = str(folder / "akinai.db")
    script = folder / f"{PLANTED}.jsonl"
    letter = {"to": "x@y.test", "subject": PLANTED, "body": PLANTED}
    script.write_text(json.dumps({"text": PLANTED, "action": "send_email", "arguments": letter}) + "\n")
    for name, agent in (("naive", "naive"), ("reference", "reference"), ("planted", f"script:{script}")):
        akinai.run("vending", preset="quarter", agent=agent, days=20, seeds=[1, 2], store=store, name=name)
    akinai.why("naive-1", futures=4, budget=20, store=store)
    return report("naive", "reference", "planted", output=folder / "told", store=store, language="en").folder


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_finding_opens_its_entry(browser: Browser, written: Path, look: dict[str, bool]) -> None:
    """From a card, from the table of findings and from a decisive moment into the transcript, and back to the report;
    nothing is asked of the network, and nothing is wider than the page."""
    with visit(browser, written.as_uri(), **look) as visitor:
        visitor.page.context.set_offline(True)
        page = visitor.open((written / "report.html").as_uri())
        expect(page.locator("h1")).to_contain_text("on average")
        expect(page.locator(".card")).to_have_count(3)
        expect(page.locator(".card h3", has_text=PLANTED)).to_have_count(1)
        visitor.check()
        for selector in (".found a", ".moments a", "td a[href*='entry=']"):
            link = page.locator(selector).first
            entry = re.search(r"#(?:entry|day)=(\d+)", link.get_attribute("href") or "")
            link.click()
            page.wait_for_selector("body[data-ready]", state="attached")
            assert entry
            expect(page.locator(f"#e{entry[1]}, #d{entry[1]}").first).to_be_in_viewport()
            visitor.check()
            page.locator(".brand").click()
            page.wait_for_selector(".card")
        assert "caught" not in page.title()


def test_the_chart_has_idle_and_reference(browser: Browser, written: Path) -> None:
    """Idle is played for the line where no group is; both axes say what they are."""
    with visit(browser, written.as_uri()) as visitor:
        page = visitor.open((written / "report.html").as_uri())
        for kind in ("idle", "reference", "g1"):
            expect(page.locator(f".plot path.s.{kind}")).to_have_count(1)
            expect(page.locator(f".plot .end.{kind}")).to_be_visible()
        expect(page.locator(".charted").first).to_contain_text("dollars")
        expect(page.locator(".dates span").last).to_contain_text("day")


def test_what_is_printed_is_whole(browser: Browser, written: Path) -> None:
    """On paper nothing scrolls, nothing is cut at the right, and the ground is white in the dark theme too."""
    with visit(browser, written.as_uri(), dark=True) as visitor:
        page = visitor.open((written / "report.html").as_uri())
        page.set_viewport_size({"width": 690, "height": 980})
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        cut = page.evaluate(
            "[...document.querySelectorAll('table')].filter(t => t.checkVisibility() && "
            "t.getBoundingClientRect().right > innerWidth + 1).map(t => t.textContent.slice(0, 60))"
        )
        assert cut == []
        expect(page.locator(".bar")).to_be_hidden()


def test_no_page_is_heavy(written: Path) -> None:
    """A transcript stays below its budget; styles and script are there once for all of them."""
    pages = sorted((written / "runs").glob("*.html"))
    assert len(pages) == 6
    assert all(path.stat().st_size < 300_000 for path in pages)
