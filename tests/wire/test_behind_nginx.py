"""Several markets behind nginx, with the commands and the file of docs/serve.md: played through, restarted, killed."""

import asyncio
import shlex
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from server_process import Process
from wire_server import Wire

from akinai.server.client import MarketClient
from akinai.worlds.market.model.actions import FetchMessages, SendMessage, Text
from nginx import PAGE, blocks, free_ports, needs_nginx, proxy

pytestmark = [pytest.mark.slow, needs_nginx]


def test_the_japanese_page_shows_the_same_file() -> None:
    """Both pages have one configuration, and the same commands."""
    japanese = PAGE.parent / "ja" / "serve.md"
    assert blocks("nginx", japanese) == blocks("nginx")
    assert commands(japanese) == commands(PAGE)


def commands(page: Path) -> list[list[str]]:
    """The words after `akinai serve` of the page's commands for several markets."""
    (block,) = (text for text in blocks("sh", page) if "--port 8002" in text)
    return [shlex.split(line.removeprefix("akinai serve ")) for line in block.splitlines()]


@dataclass
class Behind:
    """Two markets behind nginx."""

    url: str
    nginx: subprocess.Popen[bytes]
    markets: list[Process]
    again: Sequence[Callable[[], Process]]

    @asynccontextmanager
    async def wire(self, name: str) -> AsyncGenerator[Wire]:
        async with httpx.AsyncClient(base_url=f"{self.url}/m/{name}", timeout=30, verify=False) as http:
            yield Wire(http)


@asynccontextmanager
async def behind(folder: Path, *more: str) -> AsyncGenerator[Behind]:
    ports = free_ports(2)

    def starts(words: Sequence[str], port: int) -> Callable[[], Process]:
        own = [str(port) if word.startswith("800") else word for word in words]
        return lambda: Process(folder, *own, *more, AKINAI_OPERATOR_TOKEN="operator")

    again = [starts(words, port) for words, port in zip(commands(PAGE), ports, strict=True)]
    markets = [start() for start in again]
    try:
        with proxy(folder, ports) as (url, process):
            yield Behind(url, process, markets, again)
    finally:
        for market in markets:
            market.end(signal.SIGTERM)


async def client_with(url: str, *ids: str) -> MarketClient:
    """A client whose agents are registered."""
    client = MarketClient(url)
    for id in ids:
        kind = "business" if id.endswith("grill") else "customer"
        own = {"name": id, "description": "", "rating": 3.0, "menu_features": {"Tea": 3}, "amenity_features": {}}
        await client.register({"id": id, "metadata": {"type": kind}, kind: own})
    return client


async def test_two_markets_are_played_through_one_address(tmp_path: Path) -> None:
    """Agents of one name trade in each; pages link below their path; a token opens its own market alone."""
    async with behind(tmp_path) as there:
        tokens: dict[str, str] = {}
        for number, name in enumerate(("bazaar", "north"), 1):
            async with there.wire(name) as wire:
                for id, kind in (("grill", "business"), ("ann", "customer"), ("a/b é%2F", "customer")):
                    answer = await wire.register(id, kind)
                    assert answer.status_code == 200, answer.text
                    tokens[id] = answer.json()["token"]
                profile = await wire.http.get(f"/agents/{quote('a/b é%2F', safe='')}", headers=own("ann", tokens))
                assert profile.json()["agent"]["id"] == "a/b é%2F"
                wire.http.headers.update(own("grill", tokens))
                assert not (await wire.propose("grill", "ann", "p1", price=number))["is_error"]
                wire.http.headers.update(own("ann", tokens))
                assert [mail["message"]["total_price"] for mail in await wire.mail("ann")] == [number]
                assert not (await wire.pay("ann", "grill", "p1"))["is_error"]
                other = await wire.http.get(f"{there.url}/m/{'north' if number == 1 else 'bazaar'}/agents")
                assert other.status_code == 401
                start = await wire.http.get("/")
                assert f"run {name}" in start.text.replace("<code>", "").replace("</code>", "")
                assert (await wire.http.get(f"{start.url}docs")).status_code == 200
                view = asyncio.create_task(wire.http.get("/views/ann?wait_s=20"))
                await asyncio.sleep(0.2)
                wire.http.headers.update(own("grill", tokens))
                await wire.text("grill", "ann", "late")
                assert (await asyncio.wait_for(view, 10)).json()["mail"]
        async with there.wire("west") as wire:
            assert (await wire.http.get("/health")).status_code == 404


def own(id: str, tokens: dict[str, str]) -> dict[Any, Any]:
    """The headers of an agent."""
    return {"X-Agent-Id": id.encode(), "Authorization": f"Bearer {tokens[id]}"}


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
async def test_a_market_that_restarts_loses_and_doubles_nothing(end: signal.Signals, tmp_path: Path) -> None:
    """Clients go on over the restart, each acknowledged message is there once, and the other market does not notice."""
    async with behind(tmp_path) as there:
        clients = [
            await client_with(f"{there.url}/m/{name}", "grill", *(f"c{number}" for number in range(4)))
            for name in ("bazaar", "north")
        ]
        sent: dict[int, list[str]] = {0: [], 1: []}
        stopping = asyncio.Event()

        async def send(at: int, sender: str) -> None:
            number = 0
            while not stopping.is_set():
                text, number = f"{sender} {number}", number + 1
                outcome = await clients[at].act(sender, SendMessage(to_agent_id="grill", message=Text(content=text)))
                assert outcome.ok, outcome
                sent[at].append(text)
                await asyncio.sleep(0.005)

        async with asyncio.TaskGroup() as group:
            for at in (0, 1):
                for number in range(4):
                    group.create_task(send(at, f"c{number}"))
            await asyncio.sleep(0.5)
            await asyncio.to_thread(there.markets[1].end, end)
            async with there.wire("north") as wire:
                assert (await wire.http.get("/health")).status_code == 502
            before = len(sent[0])
            there.markets[1] = await asyncio.to_thread(there.again[1])
            there.nginx.send_signal(signal.SIGHUP)  # as `nginx -s reload`
            after = len(sent[1])
            while len(sent[1]) < after + 20:
                await asyncio.sleep(0.05)
            assert len(sent[0]) > before
            stopping.set()
        for at, client in enumerate(clients):
            answer = await client.act("grill", FetchMessages())
            assert isinstance(answer.data, dict)
            messages: Any = answer.data["messages"]
            assert sorted(mail["message"]["content"] for mail in messages) == sorted(sent[at])
            await client.__aexit__(None, None, None)


async def test_a_request_whose_market_died_is_not_sent_twice_by_the_proxy(tmp_path: Path) -> None:
    """A client without keys gets 502 and looks for itself: the message is there once or not at all."""
    async with behind(tmp_path) as there:
        client = await client_with(f"{there.url}/m/north", "grill", "ann")
        async with there.wire("north") as wire, asyncio.TaskGroup() as group:
            wire.http.headers.update(own("ann", client.tokens))
            envelope = {"to_agent_id": "grill", "message": {"type": "text", "content": "once"}}
            posts = [
                group.create_task(wire.post("ann", {"name": "SendMessage", "parameters": envelope})) for _ in range(40)
            ]
            await asyncio.sleep(0.02)
            await asyncio.to_thread(there.markets[1].end, signal.SIGKILL)
            statuses = [(await post).status_code for post in posts]
            assert set(statuses) <= {200, 502}
            assert (await wire.http.get("/health")).status_code == 502
            there.markets[1] = await asyncio.to_thread(there.again[1])
        mail: Any = (await client.act("grill", FetchMessages())).data
        assert statuses.count(200) <= len(mail["messages"]) <= 40
        await client.__aexit__(None, None, None)
