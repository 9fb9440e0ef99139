"""Bundles: the pages as files, opened from disk in a real browser with nothing to ask."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from studio_pages import BROWSER, chromium, visit

import akinai
from akinai.core.errors import UsageError

PRICED = """[...document.querySelectorAll('.l-prices tbody tr')]
  .map(row => [...row.cells].map(cell => cell.innerText).filter(text => text.includes('$'))).filter(row => row.length)"""
"""The prices of each product in a row."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("bundle") / "akinai.db")
    akinai.run("vending", agent="naive", days=12, seeds=[1, 2], store=path, name="naive", preset="classic")
    akinai.run("market", agent="careful", store=path, name="bargain")
    return path


def test_a_bundle_is_files(store: str, tmp_path: Path) -> None:
    """A folder with a list and a page a run; a second one replaces it and leaves other files alone."""
    (tmp_path / "notes.txt").write_text("mine")
    for _ in range(2):
        written = akinai.studio.bundle("naive", output=tmp_path, store=store)
    assert written.page == tmp_path / "index.html"
    assert {path.name for path in tmp_path.iterdir()} == {
        "index.html", "run-naive-1.html", "run-naive-2.html", "studio.css", "studio.js", "notes.txt",
    }  # fmt: skip
    assert "http://" not in (tmp_path / "run-naive-1.html").read_text().replace("http://www.w3.org/2000/svg", "")


def test_a_file_is_small(store: str, tmp_path: Path) -> None:
    """One run with styles and script in one file."""
    written = akinai.studio.bundle("naive-1", output=tmp_path / "run.html", store=store)
    assert written.files == (tmp_path / "run.html",)
    assert written.page.stat().st_size < 150_000


def test_what_cannot_be_bundled(store: str, tmp_path: Path) -> None:
    """Several runs in a file, a folder in a file's place, an unknown run: a sentence, and nothing is written."""
    target = tmp_path / "x.html"
    with pytest.raises(UsageError, match="holds one run, not 2"):
        akinai.studio.bundle("naive", output=target, store=store)
    with pytest.raises(UsageError, match="no run 'nobody'"):
        akinai.studio.bundle("nobody", output=target, store=store)
    assert not target.exists()
    target.mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        akinai.studio.bundle("naive-1", output=target, store=store)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        akinai.studio.bundle("naive-1", output=tmp_path / "file", store=store)


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
@pytest.mark.parametrize("look", [{}, {"phone": True, "dark": True}], ids=str)
def test_a_bundle_opens_from_disk(browser: Browser, store: str, tmp_path: Path, look: dict[str, bool]) -> None:
    """List, run and market, and the single file, without a server: transcript, keys and search work, and nothing is asked
    of the network."""
    akinai.studio.bundle("naive", "bargain", output=tmp_path, store=store)
    file = akinai.studio.bundle("naive-2", output=tmp_path / "alone.html", store=store).page
    with visit(browser, tmp_path.as_uri(), **look) as visitor:
        visitor.page.context.set_offline(True)
        page = visitor.open((tmp_path / "index.html").as_uri())
        expect(page.locator("tr[data-run]")).to_have_count(3)
        visitor.check()
        for address in ((tmp_path / "run-naive-1.html").as_uri(), file.as_uri()):
            page = visitor.open(address)
            page.keyboard.press("j")
            expect(page.locator("#now-day")).to_have_text("Day 2")
            expect(page.locator("#d2 .item").first).to_be_visible()
            page.keyboard.press("/")
            page.keyboard.type("closed for the day")
            expect(page.locator("#results a")).to_have_count(12)
            visitor.check()
        page = visitor.open((tmp_path / "market-bargain-1.html").as_uri())
        expect(page.locator(".talk").first).to_be_visible()
        page.keyboard.press("j")
        expect(page.locator("[data-agent].on")).to_have_count(1)
        visitor.check()


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
@pytest.mark.parametrize("look", [{}, {"phone": True, "dark": True}], ids=str)
def test_a_street_is_read_by_keyboard(browser: Browser, tmp_path: Path, look: dict[str, bool]) -> None:
    """Tables have captions and heads; the place is that of the entry's owner until a button is pressed, and follows
    again when it is pressed once more; a letter of the day opens its entry."""
    moves = tmp_path / "moves.jsonl"
    letter = {"action": "SEND_EMAIL", "to": "owner_2@akinai-vending.com", "subject": "Van", "body": "A van for both?"}
    moves.write_text("\n".join(map(json.dumps, [letter, {"action": "ADVANCE_DAY"}])))
    path, settings = str(tmp_path / "akinai.db"), {"owners.2.agent": "stocker", "owners.3.agent": "reference"}
    akinai.run("vending", preset="arena", agent=f"script:{moves}", days=8, settings=settings, store=path, name="street")
    file = akinai.studio.bundle("street-1", output=tmp_path / "street.html", store=path).page
    with visit(browser, file.as_uri(), **look) as visitor:
        page = visitor.open(f"{file.as_uri()}#day=1")
        sender = page.locator(".dealings a", has_text="A van for both?")
        sender.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".item.here .actor")).to_have_text("owner_1")
        expect(page.locator("#place > section:not([hidden])")).to_have_attribute("aria-label", "owner_1")
        for _ in range(6):
            page.keyboard.press("j")
        expect(page.locator("#now-day")).to_have_text("Day 7")
        expect(page.locator(".dealings .none")).to_have_count(1)
        owners, prices = page.locator(".l-owners table"), page.locator(".l-prices table")
        assert owners.locator("tbody th[scope=row]").all_inner_texts() == ["owner_1", "owner_2", "owner_3"]
        assert prices.locator("caption").inner_text().startswith("Prices")
        assert prices.locator("thead th[scope=col]").count() == 4
        rows = page.evaluate(PRICED)
        assert any(cell.startswith("▾") for cells in rows for cell in cells)
        for cells in rows:
            cents = [float(cell.split("$")[1]) for cell in cells]
            lowest = min(cents) if min(cents) < max(cents) else None
            assert [cell.startswith("▾") for cell in cells] == [amount == lowest for amount in cents]
        button = page.get_by_role("button", name="owner_2", exact=True)
        button.press("Enter")
        expect(button).to_have_attribute("aria-pressed", "true")
        shown = page.locator("#place > section:not([hidden])")
        expect(shown).to_have_attribute("aria-label", "owner_2")
        page.keyboard.press("ArrowRight")
        expect(shown).to_have_attribute("aria-label", "owner_2")
        button.press("Enter")
        expect(button).to_have_attribute("aria-pressed", "false")
        expect(shown).to_have_attribute("aria-label", page.locator(".item.here .actor").inner_text())
        visitor.check()


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_a_page_of_weekly_decisions_steps_by_weeks(browser: Browser, tmp_path: Path) -> None:
    """Rail, keys, slider, address and search go from week to week."""
    store = str(tmp_path / "akinai.db")
    akinai.run("vending", preset="sprint", agent="reference", days=35, store=store, name="weeks")
    file = akinai.studio.bundle("weeks-1", output=tmp_path / "weeks.html", store=store).page
    with visit(browser, tmp_path.as_uri()) as visitor:
        page = visitor.open(f"{file.as_uri()}#day=10")
        now, slider = page.locator("#now-day"), page.locator(".slider")
        expect(now).to_have_text("Week 2")
        expect(page.locator(".rail a")).to_have_count(5)
        expect(page.locator(".rail a[aria-current]")).to_have_attribute("href", "#day=8")
        page.keyboard.press("j")
        expect(now).to_have_text("Week 3")
        expect(page.locator("#now-time")).to_have_text("Mon 13 Apr, 08:00")
        slider.focus()
        page.keyboard.press("ArrowRight")
        expect(now).to_have_text("Week 4")
        page.keyboard.press("Home")
        expect(now).to_have_text("Week 1")
        page.locator(".rail a").last.click()
        expect(now).to_have_text("Week 5")
        page.wait_for_url("**#day=29&entry=*")
        page.locator("#search").fill("granola")
        expect(page.locator("#results a b").first).to_have_text("Week 1")
        visitor.check()
