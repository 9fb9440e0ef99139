"""Why deals fail, from the network's side: requests and answers that are cut, delayed and repeated lose no deal."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import httpx
import pytest
from faulty_proxy import FAULTS, FaultyProxy
from wire_server import ServeConfig, Wire, wire_to

import akinai
from akinai.core.agents import Move, Role
from akinai.core.chance import Chance
from akinai.core.ledger import Genesis
from akinai.server.client import LONG_POLL_S, HttpSession, MarketClient, play
from akinai.worlds.market import Market
from akinai.worlds.market.analysis.scores import scores_of
from akinai.worlds.market.model.actions import FetchMessages, Item, OrderProposal, Payment, SendMessage, Text, Wait
from akinai.worlds.market.players.customers import PLAYERS
from akinai.worlds.market.rules.views import MAIL_CAME


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("akinai.server.client.FIRST_PAUSE_S", 0.01)


def proxy_to(wire: Wire, fault: Callable[[int], str]) -> FaultyProxy:
    return FaultyProxy(int(str(wire.http.base_url.port)), fault)


@dataclass
class First:
    """Meets one fault so many times; later requests pass."""

    fault: str
    times: int = 1

    def __call__(self, number: int) -> str:
        return self.fault if number < self.times else ""


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_deal_survives_each_fault(wire: Wire, fault: str, times: int) -> None:
    """A text, a proposal and a payment each meet the fault: delivered once, paid once, and both sides know it."""
    items = [Item(item_name="Tea", quantity=1, unit_price=3)]
    steps = [
        ("c", "b", Text(content="Tea, please")),
        ("b", "c", OrderProposal(id="p", items=items, total_price=3)),
        ("c", "b", Payment(proposal_message_id="p")),
    ]
    for sender, to, message in steps:
        async with proxy_to(wire, First(fault, times)).running() as proxy, MarketClient(proxy.url) as client:
            outcome = await client.act(sender, SendMessage(to_agent_id=to, message=message))
            assert outcome.ok, outcome
        assert proxy.met[fault] >= 1
    assert [mail["message"]["type"] for mail in await wire.mail("b")] == ["text", "payment"]
    assert [mail["message"]["type"] for mail in await wire.mail("c")] == ["order_proposal"]
    state = wire.server.market.committed.state
    assert (state.payments, state.booked_cents) == (1, 300)


async def test_a_fetch_whose_answer_was_lost_loses_no_mail(wire: Wire) -> None:
    """What was fetched in vain is fetched again: fetching takes nothing out of a mailbox."""
    await wire.text("c", "b", "0")
    for fault in FAULTS:
        async with proxy_to(wire, First(fault)).running() as proxy, httpx.AsyncClient(base_url=proxy.url) as http:
            for attempt in range(2):
                try:
                    answer = await Wire(http).act("b", "FetchMessages")
                    assert [mail["message"]["content"] for mail in answer["content"]["messages"]] == ["0"]
                except httpx.TransportError:
                    assert attempt == 0


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
async def test_a_market_behind_a_bad_network_reaches_the_same_welfare(seed: int) -> None:
    """Every fifth request meets a fault, by chance: the purchases are those of a market in process, to the cent."""
    size = {"customers.count": 3, "businesses.count": 9}
    (inside,) = await asyncio.to_thread(akinai.run, "market", settings=size, seeds=[1], store="memory:")
    chance = Genesis("faults", seed, {}).chance("fault")

    async with wire_to(ServeConfig(store="memory:", port=0, settings=size)) as wire:
        async with proxy_to(wire, lambda number: by_chance(chance, number)).running() as proxy:
            await trade(wire, proxy.url)
        state = wire.server.market.committed.state
        assert {score.name: score.value for score in scores_of(state)}["welfare"] == inside.score("welfare") > 0
        assert state.payments == inside.score("purchases")
        assert set(proxy.met) >= set(FAULTS)


def by_chance(chance: Chance, number: int) -> str:
    draw = chance(number)
    return FAULTS[draw("which").below(len(FAULTS))] if draw.uniform() < 0.2 else ""


async def trade(wire: Wire, url: str) -> None:
    """The population plays through the proxy: its businesses first, then its customers until they are done."""
    state = wire.server.market.committed.state
    businesses, customers = state.roll[: state.businesses], state.roll[state.businesses :]
    async with MarketClient(url) as client:
        session = HttpSession(client)

        def start(id: str) -> asyncio.Task[str]:
            return asyncio.create_task(play(session, id, PLAYERS["careful"](Role(id, Market.verbs.classes))))

        selling = [start(id) for id in businesses]
        while len(wire.server.market.committed.state.joined) < len(businesses):
            await asyncio.sleep(0.01)
        assert set(await asyncio.gather(*map(start, customers))) == {"you left"}
        for task in selling:
            task.cancel()
        await asyncio.gather(*selling, return_exceptions=True)


async def test_mail_that_a_repeated_fetch_took_ends_a_wait(wire: Wire) -> None:
    """A network that repeats a fetch after its answer fetches mail for nobody; the agent's next wait ends with it."""
    fetch = FetchMessages(after_index=0)
    async with MarketClient(str(wire.http.base_url)) as client:
        session = HttpSession(client)
        await wire.text("c", "b", "0")
        first = await session.act("b", Move(fetch))
        await wire.text("c", "b", "1")
        repeated = await wire.act("b", "FetchMessages", {"after_index": 0})
        assert [mail["message"]["content"] for mail in repeated["content"]["messages"]] == ["0", "1"]
        async with asyncio.timeout(LONG_POLL_S - 5):
            waited = await session.act("b", Move(Wait()))
        assert waited == MAIL_CAME
        last = cast("Any", first.data)["messages"][-1]["index"]
        rest = await session.act("b", Move(FetchMessages(after_index=last)))
        assert [mail["message"]["content"] for mail in cast("Any", rest.data)["messages"]] == ["1"]
