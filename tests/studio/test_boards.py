"""Pages on several runs, and on what was learned from them, in a real browser."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, expect
from studio_pages import BROWSER, chromium, page_process, visit

import akinai
from akinai.learning.playbook.deltas import Delta, Operation
from akinai.learning.playbook.file import PlaybookFile

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]
LOOKS = [{"dark": False}, {"phone": True, "dark": True}]


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    folder = tmp_path_factory.mktemp("boards")
    store, books = folder / "akinai.db", folder / "data" / "playbooks"
    for agent in ("idle", "naive", "reference"):
        akinai.run("vending", agent=agent, days=15, seeds=[1, 2], store=str(store), name=agent, preset="classic")
    books.mkdir(parents=True)
    for name, text in (("first", "Sell <script>document.title = 'caught'</script> tea."), ("second", "Sell no tea.")):
        akinai.playbook.add(books / f"{name}.json", text, section="pricing")
    learned = Operation("ADD", "pricing", content="Order early.", evidence=("naive-1#3 -> naive-1#9",))
    PlaybookFile(books / "first.json").commit(Delta("d1", (learned,), reason="it ran out"))
    with page_process("studio", "--store", str(store), folder=folder) as address:
        yield address


def page_of(studio: str, path: str) -> str:
    origin, _, token = studio.partition("/?")
    return f"{origin}{path}?{token}"


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_playbook_leads_to_what_taught_it(browser: Browser, studio: str, look: dict[str, bool]) -> None:
    """From a bullet to the entry of a run, to what a change did, and to another playbook."""
    with visit(browser, studio, **look) as visitor:
        page = visitor.open(page_of(studio, "/playbooks"))
        page.get_by_role("link", name="first").click()
        expect(page.locator(".bullet")).to_have_count(2)
        visitor.check()
        page.locator("summary", has_text="What taught it").last.click()
        page.get_by_role("link", name="#9").click()
        expect(page.locator("#now-entry")).to_contain_text("entry 9 of")
        page.go_back()
        page.get_by_role("link", name="see").first.click()
        expect(page.locator(".put")).to_contain_text("Order early.")
        visitor.check()
        page = visitor.open(page_of(studio, "/playbooks/first/against/second"))
        expect(page.locator(".gone")).to_have_count(2)
        assert "caught" not in page.title()
        visitor.check()


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_groups_stand_in_order(browser: Browser, studio: str, look: dict[str, bool]) -> None:
    """By place, with the means of their seeds, and with lines beside idle and reference."""
    with visit(browser, studio, **look) as visitor:
        page = visitor.open(studio)
        page.get_by_role("link", name="Leaderboard").click()
        page.wait_for_selector(".board[data-ready]", state="attached")
        expect(page.locator(".card")).to_have_count(3)
        expect(page.locator(".unread")).to_have_count(0)
        expect(page.locator(".card").last).to_contain_text("idle")
        expect(page.locator(".plot path.s.reference").first).to_be_attached()
        expect(page.locator(".plot path.f").first).to_be_attached()
        visitor.check()


def test_a_run_is_named_tagged_and_deleted(browser: Browser, studio: str) -> None:
    """After a question; the list can be filtered by the tag, shows the name, and gives the run back."""
    with visit(browser, studio) as visitor:
        page = visitor.open(studio)
        row = page.locator("#run-naive-2")
        row.hover()
        row.locator(".edit").click()
        page.get_by_label("Name", exact=True).fill("<b>the dear one</b>")
        page.get_by_label("Tags, with commas between").fill("dear, seed two")
        page.get_by_role("button", name="Save").click()
        expect(row.locator("a b")).to_have_text("<b>the dear one</b>")
        row.get_by_role("button", name="dear", exact=True).click()
        expect(page.locator("tr[data-run]:visible")).to_have_count(1)
        page.on("dialog", lambda dialog: dialog.accept())
        row.hover()
        row.locator(".edit").click()
        page.get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        page = visitor.open(f"{visitor.origin}/?deleted=1")
        expect(page.locator("tr[data-run]")).to_have_count(1)
        page.locator("#run-naive-2").hover()
        page.locator("#run-naive-2 .edit").click()
        page.get_by_role("button", name="Restore").click()
        expect(page.locator("tr[data-run]")).to_have_count(0)
        page = visitor.open(visitor.origin)
        expect(page.locator("#run-naive-2 .tag")).to_have_count(2)
        visitor.check()
