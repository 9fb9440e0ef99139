"""A person plays in the browser: with the actions and the ledger of an agent; nothing that was done or typed is lost."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from studio_pages import BROWSER, chromium, page_process, visit

import akinai

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]
LOOKS = [{"dark": False}, {"phone": True, "dark": True}]


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


def acted(page: Page, entry: int) -> None:
    """Wait until the page shows the run after an entry."""
    expect(page.locator("body")).to_have_attribute("data-seq", str(entry))


def sheet(page: Page) -> Locator:
    """The form that is open."""
    return page.locator("form.sheet:not([hidden])")


def test_a_person_oversees_letters(browser: Browser, tmp_path: Path) -> None:
    """Reads what the owner wrote, and nothing of its business; what is vetoed does not go."""
    store = str(tmp_path / "akinai.db")
    words = ("--preset", "classic", "--days", "20", "--name", "me", "--store", store, "--set", "overseer.agent=human")
    with page_process("play", "vending", "--hold", "overseer", *words) as address, visit(browser, address) as visitor:
        page = visitor.open(address)
        expect(page.locator("body")).to_contain_text("owner writes to orders@northbay-wholesale.com")
        expect(page.locator("body")).not_to_contain_text("$500")
        page.get_by_role("button", name="Review letter").first.click()
        sheet(page).get_by_label("Verdict").select_option("veto")
        sheet(page).get_by_label("Note").fill("Not today.")
        page.locator("#form-review_letter .main").click()
        expect(page.locator("#play-answer")).to_contain_text("owner writes to sales@ggbev.com")
        visitor.check()
    entries = akinai.show("me-1", store=store).views.steps.entries
    assert [entry.parameters["note"] for entry in entries if entry.actor == "overseer"] == ["Not today."]


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_person_runs_the_machine(browser: Browser, tmp_path: Path, look: dict[str, bool]) -> None:
    """Search, write, be refused, end the day, read: each is an entry; what is half typed survives a reload, and the run
    a restart of the server."""
    store = str(tmp_path / "akinai.db")
    words = ("play", "vending", "--preset", "classic", "--days", "20", "--name", "me", "--store", store)
    with page_process(*words) as address, visit(browser, address, **look) as visitor:
        page = visitor.open(address)
        expect(page.locator(".end.reference")).to_be_visible()
        page.get_by_role("button", name="Search the web").click()
        sheet(page).get_by_label("Query").fill("price list suppliers")
        page.keyboard.press("Enter")
        acted(page, 1)
        page.get_by_role("button", name="Ask for a price list").click()
        expect(sheet(page).get_by_label("Subject")).to_have_value("Price list")
        sheet(page).get_by_label("Body").fill("<script>document.title = 'caught'</script>Please send your prices.")
        page.reload()
        expect(sheet(page).get_by_label("Body")).to_have_value(
            "<script>document.title = 'caught'</script>Please send your prices."
        )
        sheet(page).get_by_label("To", exact=True).fill("trade@valuebulk-snacks.com")
        page.get_by_role("button", name="Send", exact=True).click()
        acted(page, 2)
        page.get_by_role("button", name="Set prices").click()
        sheet(page).get_by_label("Slot").select_option(index=1)
        sheet(page).get_by_label("Price", exact=True).fill("1.75")
        page.locator("#form-set_price .main").click()
        acted(page, 3)
        expect(page.locator("#play-answer .no")).to_contain_text("refused")
        page.get_by_role("button", name="End the day").click()
        acted(page, 4)
        expect(page.locator(".verdict")).to_contain_text("Day 2 of 20")
        page.get_by_role("button", name="Read mail", exact=True).click()
        acted(page, 5)
        expect(page.locator("#play-answer .letter")).to_contain_text("Chocolate")
        assert "caught" not in page.title()
        visitor.check()
    (run,) = akinai.runs("me-1", store=store)
    assert run.agent == "human"
    names = [entry.name for entry in akinai.show("me-1", store=store).views.steps.entries]
    assert names == ["SearchWeb", "SendEmail", "SetPrice", "AdvanceDay", "ReadEmail"]
    with page_process("play", "--resume", "me-1", "--store", store) as address, visit(browser, address) as visitor:
        page = visitor.open(address)
        expect(page.locator(".verdict")).to_contain_text("Day 2 of 20")
        page.get_by_role("button", name="End the day").click()
        acted(page, 6)
        expect(page.locator("#play-log .item")).to_have_count(5)
        visitor.check()
    assert akinai.verify("me-1", store=store)


def test_a_person_is_a_customer(browser: Browser, tmp_path: Path) -> None:
    """Enter, search, ask, wait, read, and pay a proposal after a question; others' affairs are not shown."""
    store = str(tmp_path / "akinai.db")
    with (
        page_process("play", "market", "--name", "stall", "--store", store) as address,
        visit(browser, address) as visitor,
    ):
        page = visitor.open(address)
        page.get_by_role("button", name="Enter the market").click()
        expect(page.locator("#play-answer .verb")).to_contain_text("ntered")
        page.get_by_role("button", name="Search for what you want").click()
        expect(page.locator("#play-answer .verb")).to_contain_text("earch")
        page.get_by_role("button", name="Ask for an offer").click()
        offered = page.locator("#list-send_message-to_agent_id option[data-value^=business_]")
        seller = offered.first.get_attribute("value") or ""
        assert not seller.startswith("business_"), "a name, not an id"
        sheet(page).get_by_label("To", exact=True).fill(seller)
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator(".mytalk")).to_have_count(1)
        page.get_by_role("button", name="Wait a minute").click()
        expect(page.locator("#play-answer .verb")).to_contain_text("ait")
        page.get_by_role("button", name="Read messages", exact=True).click()
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Pay $").first.click()
        expect(page.locator(".verdict")).to_contain_text("The run is over")
        expect(page.locator("#place")).to_be_empty()
        visitor.check()


def test_a_person_begins_from_the_studio(browser: Browser, tmp_path: Path) -> None:
    """The list leads to a page that begins a run of any world, and lists those to go on with."""
    store = str(tmp_path / "akinai.db")
    akinai.run("vending", agent="idle", days=1, store=store, preset="classic")
    with page_process("studio", "--store", store) as address, visit(browser, address) as visitor:
        visitor.open(address)
        page = visitor.open(f"{visitor.origin}/play")
        form = page.locator("form[data-world=qa]")
        form.get_by_label("Seed").fill("2")
        form.get_by_role("button").click()
        page.wait_for_url("**/play/*-2")
        page.get_by_role("button", name="Answer", exact=True).click()
        sheet(page).get_by_label("Choice").fill("1")
        page.locator("#form-answer .main").click()
        acted(page, 1)
        page = visitor.open(f"{visitor.origin}/play")
        expect(page.locator(".goon li")).to_have_count(1)
        visitor.check()
