"""The public package's client and models read everything that our server answers."""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from corpus import business, customer
from differential import our_server
from magentic_marketplace.marketplace.actions import (
    FetchMessages,
    FetchMessagesResponse,
    OrderItem,
    OrderProposal,
    Payment,
    Search,
    SearchAlgorithm,
    SearchResponse,
    SendMessage,
    TextMessage,
)
from magentic_marketplace.marketplace.shared.models import BusinessAgentProfile, CustomerAgentProfile
from magentic_marketplace.platform.client import MarketplaceClient
from magentic_marketplace.platform.shared.models import ActionExecutionRequest, AgentProfile, BaseAction, Log

from nginx import needs_nginx, proxy
from populations import POPULATIONS


@pytest.fixture(autouse=True)
def _working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The public client writes its metrics into the working folder."""
    monkeypatch.chdir(tmp_path)


@asynccontextmanager
async def client_of(url: str) -> AsyncIterator[MarketplaceClient]:
    """A client of a market with the business `grill` and the customer `ann`."""
    async with MarketplaceClient(url) as client:
        await client.agents.register(BusinessAgentProfile.model_validate(business("grill")))
        await client.agents.register(CustomerAgentProfile.model_validate(customer("ann")))
        yield client


@pytest.fixture
async def client() -> AsyncIterator[MarketplaceClient]:
    """A client of a market alone."""
    async with our_server() as url, client_of(url) as client:
        yield client


def send(sender: str, to: str, message: TextMessage | OrderProposal | Payment) -> SendMessage:
    return SendMessage(from_agent_id=sender, to_agent_id=to, created_at=datetime.now(UTC), message=message)


PROPOSAL = OrderProposal(
    id="p1", items=[OrderItem(id="1", item_name="Mint Tea", quantity=2, unit_price=2.0)], total_price=4.0
)


async def test_no_method_is_left_out() -> None:
    """The tests of this file call every public method of the client and of its resources."""
    async with MarketplaceClient("http://127.0.0.1:1") as client:
        methods = {
            name: {key for key, _ in inspect.getmembers(part, inspect.ismethod) if not key.startswith("_")}
            for name, part in {"client": client, **vars(client)}.items()
            if not name.startswith("_")
        }
    own = {"request", "set_agent_id"}
    assert methods == {
        "client": {"connect", "close", "set_agent_id", "health_check"},
        "agents": {"register", "list", "get"} | own,
        "actions": {"get_protocol", "execute", "execute_request"} | own,
        "logs": {"create", "list"} | own,
    }


async def test_health_and_protocol(client: MarketplaceClient) -> None:
    """The server is healthy, and its protocol lists the public actions in their order."""
    assert await client.health_check() == {"status": "healthy"}
    protocol = await client.actions.get_protocol()
    assert [action.name for action in protocol.actions] == ["SendMessage", "FetchMessages", "Search"]
    assert all(action.description and action.parameters["properties"] for action in protocol.actions)
    raw = await client.agents.request("GET", "/actions/protocol")
    assert raw["error"] is None


async def test_profiles_come_back_as_they_were_registered(client: MarketplaceClient) -> None:
    """One and all, with pages; without a limit the list says null."""
    assert (await client.agents.get("grill")).model_dump() == business("grill")
    assert (await client.agents.get("ann")).model_dump() == customer("ann")
    assert (await client.agents.register(AgentProfile(id="plain", metadata={"a": [1]}))).id == "plain"
    everybody = await client.agents.list()
    assert [agent.id for agent in everybody.items] == ["grill", "ann", "plain"]
    assert (everybody.total, everybody.limit, everybody.has_more) == (3, None, False)
    page = await client.agents.list(offset=1, limit=1)
    assert ([agent.id for agent in page.items], page.offset, page.limit, page.has_more) == (["ann"], 1, 1, True)


async def test_a_deal_is_made(client: MarketplaceClient) -> None:
    """Search, text, proposal, payment, and the mail of both sides, through the public models."""
    client.set_agent_id("ann")
    assert client.agent_id == "ann"
    found = await client.actions.execute(Search(query="tea", search_algorithm=SearchAlgorithm.LEXICAL))
    (seller,) = SearchResponse.model_validate(found.content).businesses
    await _sent(client, "ann", send("ann", seller.id, TextMessage(content="Two Mint Teas, please.")))
    await _sent(client, "grill", send("grill", "ann", PROPOSAL))
    await _sent(client, "ann", send("ann", "grill", Payment(proposal_message_id="p1")))
    client.actions.set_agent_id("grill")
    request = ActionExecutionRequest(name="FetchMessages", parameters=FetchMessages().model_dump(mode="json"))
    fetched = FetchMessagesResponse.model_validate((await client.actions.execute_request(request)).content)
    assert [mail.message.type for mail in fetched.messages] == ["text", "payment"]
    client.actions.set_agent_id("ann")
    fetched = FetchMessagesResponse.model_validate((await client.actions.execute(FetchMessages(limit=5))).content)
    assert [mail.message for mail in fetched.messages] == [PROPOSAL]


async def _sent(client: MarketplaceClient, sender: str, message: SendMessage) -> None:
    """The answer to a message is the message."""
    client.actions.set_agent_id(sender)
    result = await client.actions.execute(message)
    assert not result.is_error
    assert result.metadata == {"status": "sent"}
    assert SendMessage.model_validate(result.content) == message
    assert result.content == message.model_dump(mode="json")


@needs_nginx
async def test_client_plays_behind_a_proxy(tmp_path: Path) -> None:
    """Under the path of one of several markets the client, which drops the last part of it, does what it does at `/`."""
    async with our_server() as url:
        port = int(url.rpartition(":")[2])
        with proxy(tmp_path, (1, port)) as (front, _):
            async with client_of(f"{front}/m/north/-") as client:
                await _play_through(client)


async def _play_through(client: MarketplaceClient) -> None:
    await test_health_and_protocol(client)
    await test_profiles_come_back_as_they_were_registered(client)
    await test_a_deal_is_made(client)
    await test_logs_come_back(client)


async def test_logs_come_back(client: MarketplaceClient) -> None:
    """With data of every kind that the model takes, from agents that nobody knows too."""
    logs = [
        Log(level="debug", name="a"),
        Log(level="info", name="b", message="m", data={"x": [1, None]}, metadata={"y": 1.5}),
        Log(level="warning", name="c", data=Search(query="q", search_algorithm=SearchAlgorithm.SIMPLE)),
    ]
    client.logs.set_agent_id("nobody")
    for log in logs:
        assert await client.logs.create(log) is log
    listed = await client.logs.list()
    assert (listed.total, listed.limit) == (3, None)
    for found, log in zip(listed.items, logs, strict=True):
        sent = log.model_dump(mode="json")
        assert {name: getattr(found, name) for name in sent} == sent
    assert [log.name for log in (await client.logs.list(offset=1, limit=1)).items] == ["b"]


@pytest.mark.parametrize("action", [Search, FetchMessages, SendMessage, BaseAction])
def test_every_action_carries_metadata(action: type[BaseAction]) -> None:
    """What the wire has to ignore: should the package change this, our tests of it lose their object."""
    assert "metadata" in action.model_fields


@pytest.mark.parametrize("incomplete", [{}, {"rating": None}, {"menu_features": [1]}, {"min_price_factor": "x"}])
async def test_an_incomplete_business_breaks_no_search(
    client: MarketplaceClient, incomplete: dict[str, object]
) -> None:
    """Search results and profiles validate as the public models, whatever somebody registered."""
    odd = {"id": "odd", "metadata": {"type": "business"}, "business": incomplete}
    await client.agents.register(AgentProfile.model_validate(odd))
    client.set_agent_id("ann")
    for algorithm in SearchAlgorithm:
        found = await client.actions.execute(Search(query="", search_algorithm=algorithm))
        ids = [profile.id for profile in SearchResponse.model_validate(found.content).businesses]
        assert "odd" in ids or algorithm is SearchAlgorithm.OPTIMAL
    BusinessAgentProfile.model_validate((await client.agents.get("odd")).model_dump())


async def test_a_hosted_population_validates() -> None:
    """Members of a population that registered with their id alone have profiles that the public models accept."""
    async with our_server(data=str(POPULATIONS / "3x9")) as url, MarketplaceClient(url) as client:
        ids = [f"business_{number:04}" for number in range(1, 10)] + [f"customer_{number:04}" for number in range(1, 4)]
        for id in ids:
            await client.agents.register(AgentProfile(id=id))
        for profile in (await client.agents.list()).items:
            model = BusinessAgentProfile if profile.id.startswith("business") else CustomerAgentProfile
            model.model_validate(profile.model_dump())
        client.set_agent_id("customer_0001")
        found = await client.actions.execute(Search(query="tacos", search_algorithm=SearchAlgorithm.LEXICAL))
        assert len(SearchResponse.model_validate(found.content).businesses) == 9
