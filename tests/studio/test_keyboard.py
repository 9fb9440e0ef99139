"""Dialogs and forms by keyboard alone: Enter does the main thing, Escape closes, and a refusal keeps what was typed."""

import re
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect
from studio_pages import BROWSER, chromium, page_process, studio_process, visit

import akinai

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]
SPILLING = """[...document.querySelectorAll('.row.fields')]
  .filter(row => row.clientHeight && row.scrollHeight > row.clientHeight + 1).map(row => row.innerText)"""
"""The rows of forms whose fields lie over what follows."""
LOOKS = [{"phone": False, "dark": False}, {"phone": True, "dark": True}]


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    store = tmp_path_factory.mktemp("keyboard") / "akinai.db"
    akinai.run("vending", agent="naive", days=3, preset="quarter", store=str(store), name="short")
    akinai.run("vending", agent="reference", days=100, preset="year", store=str(store), name="long")
    akinai.run("market", agent="first", store=str(store), name="crowd")
    with studio_process(store) as address:
        yield address


def refuse_questions(page: Page) -> list[str]:
    """The questions that a page asks, each of them answered with no."""
    questions: list[str] = []

    def answer(dialog: Dialog) -> None:
        questions.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", answer)
    return questions


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_enter_saves_a_name_and_escape_closes(browser: Browser, studio: str, look: dict[str, bool]) -> None:
    """Nobody is asked whether to delete the run."""
    with visit(browser, studio, **look) as visitor:
        page = visitor.open(studio)
        expect(page.locator(".reading")).to_have_count(0)
        questions = refuse_questions(page)
        edit, name = page.locator("#run-short-1 .edit"), "the dark one" if look["dark"] else "the light one"
        edit.press("Enter")
        page.keyboard.type("not this")
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
        edit.press("Enter")
        page.keyboard.press("Control+a")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        expect(page.locator("#run-short-1 .name b")).to_have_text(name)
        expect(page.locator("dialog[open]")).to_have_count(0)
        assert not questions
        visitor.check()


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_misspelt_player_keeps_the_dialog(browser: Browser, studio: str, look: dict[str, bool]) -> None:
    """It says which there are, and a corrected name forks; on a phone the button is wholly in sight."""
    with visit(browser, studio, **look) as visitor:
        visitor.open(studio)
        page = visitor.open(f"{visitor.origin}/runs/{'long' if look['phone'] else 'short'}-1")
        fork = page.locator("#fork")
        expect(fork).to_be_in_viewport(ratio=1)
        visitor.check()
        fork.click()
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
        fork.press("Enter")
        page.keyboard.type("idel")
        page.keyboard.press("Enter")
        expect(page.locator("#fork-form .why")).to_contain_text("did you mean 'idle'? (a page lets ")
        expect(page.locator("#fork-form .why")).to_contain_text("reference")
        expect(page.locator("#fork-form [name=agent]")).to_have_attribute("aria-invalid", "true")
        page.keyboard.press("Control+a")
        page.keyboard.type("idle")
        page.keyboard.press("Enter")
        page.wait_for_url("**/runs/*-1-fork-1*")


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_refused_order_keeps_its_rows(browser: Browser, tmp_path: Path, look: dict[str, bool]) -> None:
    """What is missing is said in the form's words and is no entry; what the world refuses is marked in its row; and
    suggestions are goods and suppliers, whatever was searched before."""
    options = "--preset classic --days 20 --name me --store"
    words = ("play", "vending", *options.split(), str(tmp_path / "a.db"))
    with page_process(*words) as address, visit(browser, address, **look) as visitor:
        page = visitor.open(address)
        press, write = page.keyboard.press, page.keyboard.type
        press("s")
        press("Enter")
        write("price list")
        press("Enter")
        expect(page.locator("body")).to_have_attribute("data-seq", "1")
        press("o")
        press("Enter")
        offered = [option.get_attribute("value") for option in page.locator("#form-place_order option").all()]
        assert {"Northbay Wholesale", "Cola"} <= set(offered)
        assert not {"results", "title", "url"} & set(offered)
        write("northbay wholesale")
        press("Enter")
        expect(page.locator("#form-place_order .why")).to_have_text("Give product.")
        for name, units in (("cola", "24"), ("nectar", "12"), ("water", "36")):
            write(name)
            press("Tab")
            write(units)
            press("Tab")
            press("Tab")
            if name != "water":
                press("Enter")
        page.locator("#form-place_order .main").press("Enter")
        expect(page.locator("body")).to_have_attribute("data-seq", "2")
        expect(page.locator("#form-place_order .why")).to_contain_text("no product 'nectar'")
        keys = page.locator("#form-place_order .key")
        assert [key.input_value() for key in keys.all()] == ["cola", "nectar", "water"]
        expect(keys.nth(1)).to_have_attribute("aria-invalid", "true")
        expect(keys.nth(1)).to_be_focused()
        expect(page.locator("#form-place_order [aria-invalid]")).to_have_count(2)
        press("Escape")
        expect(page.locator("form.sheet:not([hidden])")).to_have_count(0)
        visitor.open(address)
        press("o")
        press("Enter")
        assert [key.input_value() for key in keys.all()] == ["Cola", "nectar", "Water"]
        keys.nth(1).press("Control+a")
        write("iced tea")
        press("Enter")
        expect(page.locator("body")).to_have_attribute("data-seq", "3")
        expect(page.locator("#play-answer .no")).to_have_count(0)
        expect(page.locator("#play-answer" if look["phone"] else "[data-form=place_order]")).to_be_focused()
        visitor.check()
    (run,) = akinai.runs("me-1", store=str(tmp_path / "a.db"))
    entry = run.ledger.entries[-1]
    assert entry.parameters["items"] == {"cola": 24, "iced_tea": 12, "water": 36}


@pytest.mark.parametrize("width", [390, 900, 1024, 1280, 1440])
def test_no_page_is_wider_than_its_window(browser: Browser, studio: str, width: int) -> None:
    """At any width; the map of a year's machines stays in its bar and beside the words there, and days have months."""
    with visit(browser, studio, phone=width < 800) as visitor:
        page = visitor.open(studio)
        expect(page.locator(".reading")).to_have_count(0)
        page.set_viewport_size({"width": width, "height": 800})
        for path in ("/", "/runs/crowd-1", "/runs/crowd-1/market", "/leaderboard", "/play", "/runs/long-1"):
            visitor.open(f"{visitor.origin}{path}")
            visitor.check()
        assert page.locator(".rail .month").all_inner_texts() == ["Apr 2026", "May 2026", "Jun 2026", "Jul 2026"]
        page.locator(".rail a").nth(95).press("Enter")
        expect(page.locator("#now-day")).to_have_text("Day 96")
        apart = page.evaluate(
            """() => {
              const box = query => document.querySelector(query).getBoundingClientRect();
              const bar = box("#now"), map = box(".mini");
              const words = [...document.querySelectorAll("#now b, #now p span")].map(word => word.getBoundingClientRect());
              const apart = (word, other) => !word.width || word.left >= other.right || word.right <= other.left;
              const beside = words.every(word => apart(word, map) && apart(word, box("#fork"))) && box("#fork").width > 0;
              return map.width > 0 && bar.top <= map.top && map.bottom <= bar.bottom && beside;
            }"""
        )
        assert apart


class Player:
    """A person at the keyboard; after each action the focus is in sight."""

    def __init__(self, page: Page) -> None:
        self.page, self.acted = page, 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def act(self, *keys: str) -> None:
        """Press keys, the last of which sends an action."""
        self.press(*keys)
        self.acted += 1
        expect(self.page.locator("body")).to_have_attribute("data-seq", str(self.acted))
        expect(self.page.locator("#play-forms:not([aria-busy])")).to_be_visible()
        expect(self.page.locator(":focus")).to_be_in_viewport()

    def write_rows(self, rows: Sequence[Sequence[str]], *keys: str) -> None:
        """Rows of a form, from the first field on; `keys` lead from the last field of a row to a further row."""
        for number, row in enumerate(rows):
            self.press(*(keys if number else ()))
            for place, text in enumerate(row):
                self.press(*(["Tab"] if place else []))
                self.page.keyboard.type(text)

    def order(self, supplier: str, rows: Sequence[Sequence[str]]) -> None:
        self.press("o", "Enter")
        self.page.keyboard.type(supplier)
        self.press("Tab")
        self.write_rows(rows, "Tab", "Tab", "Enter")
        self.act("Enter")


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_nine_days_at_the_machine(browser: Browser, tmp_path: Path, look: dict[str, bool]) -> None:
    """From the first letter to money in the bank: mail, a search, price lists, an order, its delivery, the machine filled
    and priced, and nine days ended."""
    store = str(tmp_path / "akinai.db")
    goods = (("orange soda", "28", "2.2"), ("sour worms", "28", "1.6"), ("lemonade", "28", "1.7"))
    with (
        page_process("play", "vending", "--name", "me", "--store", store) as address,
        visit(browser, address, **look) as visitor,
    ):
        page = visitor.open(address)
        player = Player(page)
        player.act("r", "Enter")
        player.press("s", "Enter")
        page.keyboard.type("wholesale")
        player.act("Enter")
        player.act("g", "Enter")
        player.order("delta provisions", [row[:2] for row in goods])
        for _ in range(4):
            player.act("e", "Enter")
        player.press("w", "w", "Enter")
        page.keyboard.type("16")
        player.act("Enter")
        expect(page.locator("#play-answer")).to_contain_text("Signed for: order 1")
        player.press("c", "Enter")
        player.act("Enter")
        player.press("v", "Enter", "Tab")
        player.write_rows([row[:1] for row in goods], "Tab", "Tab", "Enter")
        player.act("Enter")
        expect(page.locator("#play-answer")).to_contain_text("14 Orange Soda, 14 Sour Worms, 14 Lemonade")
        player.press("c", "c", "c", "Enter")
        for _, _, dollars in sorted(goods):
            page.keyboard.type(dollars)
            player.press("Tab")
        player.act("Shift+Tab", "Enter")
        for day in range(5, 10):
            if day == 8:
                player.press("v", "Enter")
                player.act("Enter")
            player.act("e", "Enter")
        expect(page.locator("#play-status")).to_contain_text("Day 10 of 90")
        visitor.check()
    (run,) = akinai.runs("me-1", store=store)
    assert run.score("units_sold") > 28
    assert all(entry.outcome.ok for entry in run.ledger.entries)


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_four_weeks_by_plan(browser: Browser, tmp_path: Path, look: dict[str, bool]) -> None:
    """Rows within rows: orders, what a machine is to hold, prices from a day, the rent, and no week that ends by
    mistake."""
    store = str(tmp_path / "akinai.db")
    words = ("play", "vending", "--preset", "sprint", "--name", "me", "--store", store)
    with page_process(*words) as address, visit(browser, address, **look) as visitor:
        page = visitor.open(address)
        player, press, write = Player(page), page.keyboard.press, page.keyboard.type
        player.press("s", "Enter")
        write("wholesale suppliers")
        player.act("Enter")
        player.act("g", "Enter")
        order = [("orange soda", "28"), ("sour worms", "28")]
        player.order("canyon trading", order)
        page.get_by_role("button", name="A whole week in one form").first.press("Enter")
        expect(page.locator("#form-week")).to_be_visible()
        press("Escape")
        page.get_by_role("button", name="The plan").first.press("Enter")
        form = page.locator("#form-set_plan")
        press("Tab")  # the only site is chosen with its first product
        player.write_rows([["orange soda"], ["sour worms"]], "Tab", "Tab", "Enter")
        prices = form.locator("[data-field=prices]")
        for row, (name, dollars) in enumerate((("orange soda", "2.2"), ("sour worms", "1.7"))):
            if row:
                prices.locator("> .add").press("Enter")
            prices.locator("[data-field=product] input").nth(row).press("End")
            write(name)
            press("Tab")
            write(dollars)
        assert page.evaluate(SPILLING) == []
        player.act("Enter")
        for week in range(1, 5):
            player.act("e", "Enter")
            expect(page.locator("#play-answer")).to_contain_text(f"Week {week + 1} of 52")
            if week == 2:
                player.order("canyon trading", order)
            if week == 3:
                player.press("p", "Enter", "ArrowDown", "Tab")
                write("1")
                player.act("Enter")
        visitor.check()
    (run,) = akinai.runs("me-1", store=store)
    assert all(entry.outcome.ok for entry in run.ledger.entries)
    assert run.score("units_sold") > 28
    plan = run.ledger.entries[3].parameters
    assert plan["sites"] == [{"products": ["orange_soda", "sour_worms"], "site": 1}]
    assert [price["price_cents"] for price in plan["prices"]] == [220, 170]  # type: ignore[index, union-attr]
    assert [entry.name for entry in run.ledger.entries].count("CloseWeek") == 4


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_customer_buys(browser: Browser, tmp_path: Path, look: dict[str, bool]) -> None:
    """From the gate to the payment by letters, words and Enter: the card stays in sight, a payment asks once, and the end
    says what it was worth."""
    store = str(tmp_path / "akinai.db")
    with (
        page_process("play", "market", "--name", "me", "--store", store) as address,
        visit(browser, address, **look) as visitor,
    ):
        page = visitor.open(address)
        press, write, answer = page.keyboard.press, page.keyboard.type, page.locator("#play-answer")
        expect(page.locator(".practice-note")).to_be_hidden()
        press("?")
        expect(page.locator("#help")).to_contain_text("the next action that begins so")
        press("Escape")
        press("e")
        press("Enter")
        expect(answer).to_contain_text("You are registered.")
        for words in ("Looked at all businesses: 6 found", "Walnut Chicken Skewers, Plum Egg Toast"):
            press("s")
            press("Enter")
            expect(answer.locator(".verb")).to_contain_text(words)
            expect(answer.locator(".receipt")).to_contain_text("you would pay")
        press("a")
        press("Enter")
        expect(page.locator("#form-send_message textarea").first).to_have_value(re.compile("^I would like to order"))
        write("heron corner")
        press("Enter")
        expect(answer).to_contain_text("Wrote to Heron Corner")
        press("w")
        press("w")
        press("Enter")
        expect(answer).to_contain_text("Mail came; “Read messages” reads it.")
        press("r")
        press("Enter")
        expect(answer.locator(".letter")).to_contain_text("Proposal: 1 x Plum Egg Toast at $11.87")
        questions: list[str] = []

        def reply(dialog: Dialog) -> None:
            questions.append(dialog.message)
            dialog.dismiss() if len(questions) == 1 else dialog.accept()

        page.on("dialog", reply)
        press("p")
        press("Enter")
        expect(page.get_by_role("button", name="Pay $34.78 to Heron Corner")).to_be_focused()
        press("Enter")
        expect(page.locator("#play-status")).to_contain_text("The run is over: all done")
        expect(page.locator("#play-status .kpis")).to_contain_text("Better off by")
        assert questions == ["This cannot be taken back. Go on?"] * 2
        visitor.check()
    (run,) = akinai.runs("me-1", store=store)
    assert run.ledger.entries[-1].outcome.ok
    assert [entry.name for entry in run.ledger.entries if entry.actor == "customer_0001"] == [
        "Register", "Search", "Search", "SendMessage", "Wait", "FetchMessages", "SendMessage",
    ]  # fmt: skip
