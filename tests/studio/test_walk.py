"""A person who has never seen the studio finds out why the third of ten shops lost money: by looking, in a few clicks."""

import re
from collections.abc import Generator
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from studio_pages import BROWSER, chromium, studio_process, visit

import akinai
from akinai import worlds
from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.ledger import DAY_US, Outcome

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]
WALKS_AWAY = 12
"""The day from which the third clerk does nothing but end the day."""


class Clerk:
    """The reference player, who may stop caring."""

    def __init__(self, inner: Agent, *, stays: bool) -> None:
        self.inner, self.stays = inner, stays
        self.begun: int | None = None

    async def act(self, view: View, last: Outcome | None) -> Move:
        now = view.now or 0
        self.begun = now // DAY_US if self.begun is None else self.begun
        if self.stays or now // DAY_US - self.begun + 1 < WALKS_AWAY:
            return await self.inner.act(view, last)
        return Move(worlds.load("vending").verbs.parse("advance_day", {}, ""))


def clerks() -> AgentFactory:
    """A factory whose third agent walks away."""
    numbers, make = count(1), worlds.load("vending").players["reference"]

    def clerk(role: Role) -> Agent:
        return Clerk(make(role), stays=next(numbers) != 3)

    return clerk


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    store = tmp_path_factory.mktemp("walk") / "akinai.db"
    akinai.run("vending", agent=clerks(), days=30, seeds=range(1, 11), store=str(store), name="shop")
    akinai.run("vending", agent="reference", days=30, seeds=[3], store=str(store), name="best")
    akinai.run("vending", agent="idle", days=30, seeds=[3], store=str(store), name="idle")
    with studio_process(Path(store)) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


def test_why_seed_3_lost_money_is_found(browser: Browser, studio: str) -> None:
    """The list shows which run is behind; its page says when in a sentence; a click there shows days on which
    nobody did anything."""
    with visit(browser, studio) as visitor:
        page = visitor.open(studio)
        expect(page.locator(".reading")).to_have_count(0)
        behind = page.locator("tr[data-run^=shop] td.behind")
        expect(behind).to_have_count(1)
        page.locator("tr[data-run]", has=page.locator("td.behind")).get_by_role("link").first.click()
        verdict = page.locator(".verdict")
        expect(verdict).to_contain_text("less than the reference player on the same seed")
        expect(verdict).to_contain_text(re.compile(r"was lost between day \d+ and day \d+"))
        found = re.search(r"between day (\d+) and day (\d+)", verdict.inner_text())
        assert found
        first, last = map(int, found.groups())
        assert first <= WALKS_AWAY + 12
        assert last > WALKS_AWAY
        page.locator(f".rail a[data-day='{last}']").click()
        expect(page.locator("#now-day")).to_have_text(f"Day {last}")
        expect(page.locator(f"#d{last} .item")).to_have_count(1)
        expect(page.locator(f"#d{last} .item")).to_contain_text("Closed for the day")
        visitor.check()
