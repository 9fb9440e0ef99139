"""The pages in a real browser: no complaint, no foreign request, nothing beyond the edge, in both themes and on a phone."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from studio_pages import BROWSER, chromium, studio_process, visit

import akinai

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]
LOOKS = [{"dark": False}, {"dark": True}, {"phone": True}, {"phone": True, "dark": True}]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("studio") / "akinai.db"
    for agent in ("idle", "naive", "reference"):
        akinai.run("vending", agent=agent, days=20, seeds=[1, 2], store=str(path), name=agent)
    akinai.run("market", agent="careful", store=str(path), name="bargain")
    return path


@pytest.fixture(scope="module")
def studio(store: Path) -> Generator[str]:
    with studio_process(store) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_the_list_of_runs(browser: Browser, studio: str, look: dict[str, bool]) -> None:
    """Every run is a row with its score, once it was read."""
    with visit(browser, studio, **look) as visitor:
        page = visitor.open(studio)
        expect(page.locator("tr[data-run]")).to_have_count(7)
        expect(page.locator("#run-naive-1 td.n").first).to_contain_text("$")
        expect(page.locator("#run-idle-2 .share")).to_have_text("0%")
        assert "token" not in page.url
        visitor.check()


def test_runs_are_filtered_and_chosen(browser: Browser, studio: str) -> None:
    """By words in the field, which `/` reaches; two chosen runs are compared."""
    with visit(browser, studio) as visitor:
        page = visitor.open(studio)
        expect(page.locator(".reading")).to_have_count(0)
        page.keyboard.press("/")
        page.keyboard.type("naive seed 2")
        expect(page.locator("tr[data-run]:visible")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator("tr[data-run]:visible")).to_have_count(7)
        page.locator("#run-naive-1 .choose").check()
        page.locator("#run-idle-1 .choose").check()
        assert page.locator("#chosen a").get_attribute("href") == "/compare/naive-1/idle-1"
        page.keyboard.press("?")
        expect(page.locator("#help")).to_be_visible()
        visitor.check()
