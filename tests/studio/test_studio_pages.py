"""The pages in a real browser: no complaint, no foreign request, nothing beyond the edge, in both themes and on a phone."""

import re
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
        akinai.run("vending", agent=agent, days=20, seeds=[1, 2], store=str(path), name=agent, preset="classic")
    akinai.run("market", agent="careful", store=str(path), name="bargain")
    akinai.fork("reference-1", at_day=2, agent="idle", store=str(path), name="stopped")
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
        expect(page.locator("tr[data-run]")).to_have_count(8)
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
        expect(page.locator("tr[data-run]:visible")).to_have_count(8)
        page.locator("#run-naive-1 .choose").check()
        page.locator("#run-idle-1 .choose").check()
        assert page.locator("#chosen a").get_attribute("href") == "/compare/naive-1/idle-1"
        page.keyboard.press("?")
        expect(page.locator("#help")).to_be_visible()
        visitor.check()


def test_new_runs_join_the_list_in_place(browser: Browser, tmp_path: Path) -> None:
    """What a reader chose, typed and reached stays, since the page is not loaded again."""
    store = tmp_path / "akinai.db"
    akinai.run("vending", agent="idle", days=3, seeds=[1, 2], store=str(store), name="idle", preset="classic")
    with studio_process(store) as address, visit(browser, address) as visitor:
        page = visitor.open(address)
        expect(page.locator(".reading")).to_have_count(0)
        page.evaluate("window.loadedOnce = true")
        page.locator("#run-idle-1 .choose").check()
        page.keyboard.press("/")
        page.keyboard.type("seed 1")
        akinai.run("vending", agent="naive", days=3, seeds=[1, 2], store=str(store), name="naive", preset="classic")
        expect(page.locator("#run-naive-1")).to_be_visible()
        expect(page.locator("tr[data-run]:visible")).to_have_count(2)
        expect(page.locator("#run-idle-1 .choose")).to_be_checked()
        page.locator("#run-naive-1 .choose").check()
        expect(page.locator("#chosen a")).to_have_attribute("href", "/compare/idle-1/naive-1")
        assert page.evaluate("window.loadedOnce")
        visitor.check()


def page_of(studio: str, run: str) -> str:
    """The address of a run's page with the token."""
    origin, _, token = studio.partition("/?")
    return f"{origin}/runs/{run}?{token}"


@pytest.mark.parametrize("run", ["naive-1", "bargain-1"])
@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_the_page_of_a_run(browser: Browser, studio: str, run: str, look: dict[str, bool]) -> None:
    """Verdict, transcript and place, of a business and of a market."""
    with visit(browser, studio, **look) as visitor:
        page = visitor.open(page_of(studio, run))
        expect(page.locator(".item").first).to_be_visible()
        expect(page.locator("#place")).not_to_be_empty()
        expect(page.locator(".verdict")).to_contain_text("$")
        visitor.check()


def test_a_day_is_found_by_keys_slider_words_and_address(browser: Browser, studio: str) -> None:
    """All of them lead to the entry, the place follows, and the address holds day and entry."""
    with visit(browser, studio) as visitor:
        page = visitor.open(page_of(studio, "naive-1"))
        expect(page.locator(".end.reference")).to_be_visible()
        for _ in range(4):
            page.keyboard.press("j")
        expect(page.locator("#now-day")).to_have_text("Day 5")
        expect(page).to_have_url(re.compile(r"#day=5&entry=\d+$"))
        page.keyboard.press("j")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".slot:not(.bare)").first).to_be_visible()
        page.keyboard.press("/")
        page.keyboard.type("CASE of water")
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("closed FOR the day")
        expect(page.locator("#results a").first).to_contain_text("Day 1")
        page.keyboard.press("Enter")
        expect(page.locator("#now-day")).to_have_text("Day 1")
        page.locator(".slider").evaluate(
            "slider => { slider.value = 12 * 1440; slider.dispatchEvent(new Event('input')); }"
        )
        expect(page.locator("#now-day")).to_have_text("Day 12")
        expect(page.locator("#d12 .item.here")).to_be_visible()
        page.goto(page_of(studio, "naive-1") + "#day=7")
        expect(page.locator("#now-day")).to_have_text("Day 7")
        visitor.check()


LATE = """
    const late = {3: 400, 5: 600}, real = window.fetch;
    window.fetch = async (...asked) => {
        await new Promise(go => setTimeout(go, late[/day\\/(\\d+)/.exec(asked[0])?.[1]] ?? 0));
        return real(...asked);
    };
"""
"""Days that come late: the third, which is read ahead, after the fifth, to which the reader went meanwhile."""


def test_days_that_come_late_do_not_come_out_of_order(browser: Browser, studio: str) -> None:
    """Who goes on while days are still fetched sees days that follow each other, in a page that answers."""
    with visit(browser, studio) as visitor:
        visitor.page.add_init_script(LATE)
        visitor.page.set_viewport_size({"width": 1200, "height": 1_300})
        page = visitor.open(page_of(studio, "naive-1"))
        for _ in range(4):
            page.keyboard.press("j")
        page.wait_for_timeout(2_000)
        expect(page.locator("#now-day")).to_have_text("Day 5")
        numbers = [
            int((id or "").removeprefix("d")) for id in page.locator("#days .day").evaluate_all("d => d.map(e => e.id)")
        ]
        assert numbers == [*range(numbers[0], numbers[0] + len(numbers))]
        assert 5 in numbers


def test_a_run_is_watched_while_another_process_plays_it(browser: Browser, studio: str, store: Path) -> None:
    """Its row and its page follow, and who forks from the page sees the fork."""
    with visit(browser, studio) as visitor:
        page = visitor.open(page_of(studio, "naive-1"))
        page.keyboard.press("j")
        page.locator("#fork").click()
        page.locator("[name=agent]").fill("idle")
        page.locator("#fork-form button.main").click()
        page.wait_for_url("**/runs/naive-1-fork-1*")
        expect(page.locator("#now-entry")).to_contain_text("of 2", timeout=40_000)
        expect(page.locator(".status")).to_have_text("done", timeout=60_000)
        assert akinai.runs("naive-1-fork-1", store=str(store))[0].status == "done"
        visitor.check()


def test_a_chart_that_comes_later_joins_an_open_page(browser: Browser, studio: str, store: Path) -> None:
    """The prices of a street have a chart once two owners sell; nobody has to load the page again."""
    rivals = {"owners.2.agent": "reference", "owners.3.agent": "reference"}
    with (
        akinai.open("vending", preset="arena", days=24, settings=rivals, store=str(store), name="street") as session,
        visit(browser, studio) as visitor,
    ):
        for _ in range(2):
            session.act("advance_day")
        page = visitor.open(page_of(studio, session.id))
        expect(page.locator(".plot")).to_have_count(1)
        for _ in range(12):
            session.act("advance_day")
        expect(page.locator(".plot")).to_have_count(2)
        visitor.check()


def test_a_fork_to_a_model_needs_a_budget(browser: Browser, studio: str) -> None:
    """Nothing is asked of a model without one; the page says why."""
    with visit(browser, studio) as visitor:
        page = visitor.open(page_of(studio, "naive-2"))
        page.locator("#fork").click()
        page.locator("[name=model]").fill("openai:anything")
        page.locator("[name=dollars]").fill("0")
        page.locator("#fork-form button.main").click()
        expect(page.locator("#fork-form .why")).to_contain_text("budget")


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_two_runs_in_step(browser: Browser, studio: str, look: dict[str, bool]) -> None:
    """Side by side by day, with the seeds of their groups."""
    with visit(browser, studio, **look) as visitor:
        page = visitor.open(studio)
        expect(page.locator(".reading")).to_have_count(0)
        page = visitor.open(f"{studio.partition('/?')[0]}/compare/reference-1/naive-1")
        expect(page.locator(".verdict")).to_contain_text("reference-1 ends $")
        expect(page.locator(".pairs .row")).to_have_count(2)
        page = visitor.open(f"{studio.partition('/?')[0]}/compare/reference-1/stopped")
        parts, label = (page.locator(selector).bounding_box() for selector in (".part", ".part span"))
        assert parts
        assert label
        assert label["x"] > parts["x"], "beyond the axis, on its numbers"
        page.keyboard.press("j")
        page.keyboard.press("j")
        expect(page.locator("#now-day")).to_have_text("Day 4")
        expect(page.locator("#side1 .item").first).to_be_visible()
        visitor.check()


def test_a_market_is_read_by_its_people(browser: Browser, studio: str) -> None:
    """A participant chosen shows its conversations alone; a message leads to its entry."""
    with visit(browser, studio) as visitor:
        page = visitor.open(page_of(studio, "bargain-1"))
        page.get_by_role("link", name="Customers, conversations, businesses").click()
        page.wait_for_selector("body.market[data-ready]", state="attached")
        everything = page.locator(".talk:visible").count()
        page.keyboard.press("j")
        assert 0 < page.locator(".talk:visible").count() < everything
        page.locator(".talk:visible .line a").first.click()
        expect(page).to_have_url(re.compile(r"/runs/bargain-1#.*entry=\d+$"))
        visitor.check()


def test_a_refused_name_is_still_there(browser: Browser, studio: str) -> None:
    """A tag that is too long is refused in a sentence, and what was typed can be corrected and saved."""
    with visit(browser, studio) as visitor:
        page = visitor.open(studio)
        expect(page.locator(".reading")).to_have_count(0)
        page.locator("#run-naive-2").hover()
        page.locator("#run-naive-2 .edit").click()
        fields = page.locator("#edit-form input")
        fields.nth(1).fill("t" * 31)
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#edit .why")).to_contain_text("at most 30 characters")
        expect(fields.nth(1)).to_have_value("t" * 31)
        fields.nth(1).fill("spring")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#run-naive-2 .tag")).to_have_text("spring")
