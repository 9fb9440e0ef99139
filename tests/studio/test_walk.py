"""A person who has never seen the studio finds out why the third of ten shops lost money: by looking, in a few clicks."""

import re
from collections.abc import Generator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from studio_pages import BROWSER, chromium, studio_process, visit

import akinai
from akinai import worlds
from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.ledger import DAY_US, Outcome
from akinai.worlds.vending.model.errands import ChangePrices

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]
SLIPS = 15
"""The day from which the third clerk writes prices without their last digit."""


class Clerk:
    """The reference player, whose prices may slip."""

    def __init__(self, inner: Agent, *, slips: bool) -> None:
        self.inner, self.slips = inner, slips
        self.begun: int | None = None

    async def act(self, view: View, last: Outcome | None) -> Move:
        now = (view.now or 0) // DAY_US
        self.begun = now if self.begun is None else self.begun
        move = await self.inner.act(view, last)
        if not self.slips or now - self.begun + 1 < SLIPS or not isinstance(move.action, ChangePrices):
            return move
        prices = {name: max(1, cents // 10) for name, cents in move.action.prices_cents.items()}
        return Move(move.action.model_copy(update={"prices_cents": prices}), "The new prices, in dollars.")


def clerks() -> AgentFactory:
    """A factory whose third agent slips."""
    numbers, make = count(1), worlds.load("vending").players["reference"]

    def clerk(role: Role) -> Agent:
        return Clerk(make(role), slips=next(numbers) == 3)

    return clerk


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    store = tmp_path_factory.mktemp("walk") / "akinai.db"
    played: dict[str, Any] = {"preset": "quarter", "days": 40, "store": str(store)}
    akinai.run("vending", agent=clerks(), seeds=range(1, 11), name="shop", **played)
    akinai.run("vending", agent="reference", seeds=[3], name="best", **played)
    akinai.run("vending", agent="idle", seeds=[3], name="nobody", **played)
    with studio_process(Path(store), "shop") as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


@pytest.mark.parametrize("phone", [False, True])
def test_why_seed_3_lost_money_is_found(browser: Browser, studio: str, *, phone: bool) -> None:
    """A run stands out in the list; its page says in a sentence when it fell behind and what was wrong, and leads
    there: the transcript shows the prices, and what the goods had cost."""
    with visit(browser, studio, phone=phone) as visitor:
        page = visitor.open(studio)
        expect(page.locator(".reading")).to_have_count(0)
        expect(page.locator("tr[data-run]")).to_have_count(10)
        expect(page.locator("td.far")).to_have_count(1)
        page.locator("tr[data-run]", has=page.locator("td.far")).get_by_role("link").first.click()
        verdict = page.locator(".verdict")
        expect(verdict).to_contain_text("less than the reference player on the same seed")
        expect(verdict).to_contain_text(re.compile(r"between day \d+ and day \d+: wrong price on day \d+, a unit of"))
        expect(verdict).to_contain_text("so each sale loses $")
        verdict.get_by_role("link").click()
        wrong = page.locator(".item.here")
        expect(wrong).to_be_in_viewport()
        expect(wrong.locator(".said")).to_have_text("The new prices, in dollars.")
        expect(wrong.locator(".chip s").first).to_be_visible()
        expect(wrong.locator(".finding").first).to_contain_text("Wrong price")
        day = int(re.findall(r"\d+", page.locator("#now-day").inner_text())[0])
        assert SLIPS <= day <= SLIPS + 10
        page.keyboard.press("j")
        expect(page.locator("#now-day")).to_have_text(f"Day {day + 1}")
        visitor.check()


def test_the_run_that_stands_out_is_found_by_words_and_pins(browser: Browser, studio: str) -> None:
    """By the filter, and by the pins of its page; further findings of one entry are one click away."""
    with visit(browser, studio) as visitor:
        page = visitor.open(studio)
        expect(page.locator(".reading")).to_have_count(0)
        page.keyboard.press("/")
        page.keyboard.type("far below")
        expect(page.locator("tr[data-run]:visible")).to_have_count(1)
        page.locator("tr[data-run]:visible").get_by_role("link").first.click()
        page.wait_for_selector("body.run[data-ready]", state="attached")
        page.keyboard.press("n")
        wrong = page.locator(".item.here:has(.finding:has-text('Wrong price')) details.further summary")
        for _ in range(200):  # its other slips come first
            if wrong.count():
                break
            page.keyboard.press("n")
            page.wait_for_timeout(100)
        wrong.click()
        assert page.locator(".item.here .finding:visible").count() > 3
        visitor.check()
