"""Our own agents over HTTP: their results equal those in process, and they retry when a server is in trouble."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from wire_server import ServeConfig, Wire, wire_to

import akinai
from akinai.core.actions import Action
from akinai.core.agents import AgentFactory, Move, Role
from akinai.core.ledger import Outcome
from akinai.runtime.play.agent_spec import AgentSpec, ModelChoice
from akinai.runtime.play.model_pool import open_model_pool
from akinai.runtime.play.session import LocalSession
from akinai.runtime.seal import new_key
from akinai.server.client import HttpSession, MarketClient, WireError, play
from akinai.stores.memory import MemoryStore
from akinai.testing.endpoint import Endpoint, PlayerResponder
from akinai.testing.endpoint.market import text_only
from akinai.worlds.market import Market, State, registered
from akinai.worlds.market.analysis.scores import scores_of
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.players.customers import PLAYERS

POPULATIONS = Path(os.environ.get("AKINAI_DATA", Path(__file__).parents[3] / "shared" / "data")) / "market"


def welfare(state: State) -> float:
    return next(score.value for score in scores_of(state) if score.name == "welfare")


async def trade(wire: Wire, player: AgentFactory = PLAYERS["careful"]) -> None:
    """The population of a market plays over HTTP: its businesses first, then its customers until they are done."""
    state = wire.server.market.committed.state
    async with MarketClient(str(wire.http.base_url)) as client:
        session = HttpSession(client)
        businesses, customers = state.roll[: state.businesses], state.roll[state.businesses :]
        selling = [asyncio.create_task(play(session, id, player(role(id)))) for id in businesses]
        while len(wire.server.market.committed.state.joined) < len(businesses):
            await asyncio.sleep(0.01)
        ended = await asyncio.gather(*(play(session, id, player(role(id))) for id in customers))
        assert set(ended) == {"you left"}
        for task in selling:
            task.cancel()
        await asyncio.gather(*selling, return_exceptions=True)


def role(id: str) -> Role:
    return Role(id, Market.verbs.classes)


@pytest.mark.parametrize("sealed", [False, True])
async def test_a_generated_population_reaches_the_same_welfare_over_http(sealed: bool, tmp_path: Path) -> None:
    """The welfare of careful customers is the same to the cent; under a key, that of the seed that it gives."""
    size, seed, key = {"customers.count": 3, "businesses.count": 9}, 1, None
    if sealed:
        key = tmp_path / "key.json"
        seed = new_key(key).seed_of(Market.name, "default", 1)
    inside = await asyncio.to_thread(akinai.run, "market", settings=size, seeds=[seed], store="memory:")
    async with wire_to(ServeConfig(store="memory:", port=0, settings=size, key=key)) as wire:
        await trade(wire)
        market = wire.server.market
        assert welfare(market.committed.state) == inside[0].score("welfare") > 0


@pytest.mark.skipif(not POPULATIONS.is_dir(), reason=f"the public populations are not at {POPULATIONS}")
@pytest.mark.parametrize(
    ("population", "best"), [("3x9", 6378), ("10x30", 18561), pytest.param("33x99", 76253, marks=pytest.mark.slow)]
)
async def test_a_public_population_reaches_its_best_over_http(population: str, best: int) -> None:
    """The customers and businesses of the public system reach the welfare that it publishes as the best."""
    async with wire_to(ServeConfig(str(POPULATIONS / population), store="memory:", port=0)) as wire:
        await trade(wire)
        assert welfare(wire.server.market.committed.state) == best


async def test_agents_that_ask_a_model_trade_over_http() -> None:
    """Chat agents on both sides, their model at a real endpoint, reach in words the welfare of rule-based players."""
    pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
    size, store = {"customers.count": 2, "businesses.count": 4}, MemoryStore()
    (inside,) = await asyncio.to_thread(akinai.run, "market", settings=size, store="memory:")
    with Endpoint(PlayerResponder(text_only(PLAYERS["careful"]), Market.verbs)) as endpoint:
        spec = AgentSpec("chat", ModelChoice("openai:test", base_url=endpoint.openai_url))
        async with wire_to(ServeConfig(store="memory:", port=0, settings=size)) as wire, open_model_pool(spec) as pool:
            header = wire.server.market.header
            await store.create(header)
            await trade(wire, pool.agent_factory(Market(), header, store))
            assert welfare(wire.server.market.committed.state) == inside.score("welfare") > 0
        assert len(endpoint.log) > len(wire.server.market.committed.state.roll)


async def test_outcomes_over_http_equal_those_in_process(wire: Wire) -> None:
    """Text, code and data of outcomes, and the view, are those of a session in this process."""
    market, store = wire.server.market, MemoryStore()
    await store.create(market.header)
    inside = LocalSession(Market(), market.header.genesis, store, market.header.run_id)
    for profile in registered(market.committed.state):
        await inside.act(profile["id"], Move(a.Register(profile=profile)))
    async with MarketClient(str(wire.http.base_url)) as client:
        outside = HttpSession(client)
        assert await outside.view("b") == await inside.view("b")
        for actor, action in ACTIONS:
            over_http, in_process = await outside.act(actor, Move(action)), await inside.act(actor, Move(action))
            assert timeless(over_http) == timeless(in_process)


ACTIONS: Sequence[tuple[str, Action]] = (
    ("c", a.Search(query="tea")),
    ("c", a.SendMessage(to_agent_id="b", message=a.Text(content="tea, please"))),
    ("b", a.FetchMessages()),
    ("c", a.SendMessage(to_agent_id="b", message=a.Payment(proposal_message_id="none"))),
    ("c", a.SendMessage(to_agent_id="x", message=a.Text(content="tea, please"))),
    ("d", a.Leave()),
    ("d", a.FetchMessages()),
)


def timeless(outcome: Outcome) -> Outcome:
    """The outcome without the times of messages, which differ between two runs."""
    data: Any = outcome.data
    if outcome.ok and data and "messages" in data:
        data = {**data, "messages": [{**message, "created_at": ""} for message in data["messages"]]}
    return replace(outcome, data=data)


async def test_mail_ends_a_wait(wire: Wire) -> None:
    """A wait returns when mail comes, at once when there is some already, or when its seconds are over."""
    async with MarketClient(str(wire.http.base_url)) as client:
        session = HttpSession(client)
        waiting = asyncio.create_task(session.act("b", Move(a.Wait(seconds=30))))
        while "b" not in wire.server.market._mail_waiters:
            await asyncio.sleep(0.01)
        assert not waiting.done()
        await wire.text("c", "b")
        assert (await asyncio.wait_for(waiting, 10)).text == "Mail came; fetch_messages reads it."
        assert (await session.act("b", Move(a.Wait(seconds=30)))).text == "There is mail."
        outcome = await asyncio.wait_for(session.act("c", Move(a.Wait(seconds=0.2))), 10)
        assert outcome.text == "No mail came in that time."


async def test_a_client_says_what_went_wrong(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown agent is an error with the status; a missing server is an error after some attempts."""
    async with MarketClient(str(wire.http.base_url)) as client:
        with pytest.raises(WireError) as unknown:
            await client.agent("nobody")
        assert unknown.value.status == 404
        assert [verb["name"] for verb in await client.protocol()] == ["SendMessage", "FetchMessages", "Search"]
        assert (await client.agents(1, 2)).has_more
        await client.log("c", "info", "note", "hello")
    monkeypatch.setattr("akinai.server.client.FIRST_PAUSE_S", 0.001)
    async with MarketClient("http://127.0.0.1:9") as client:
        with pytest.raises(WireError, match=r"no answer from http://127\.0\.0\.1:9"):
            await client.protocol()
