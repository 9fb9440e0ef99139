"""Many markets on one server: their paths, what they share, and what becomes of a market whose process dies."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_process import Process
from wire_server import Wire

from akinai import api
from akinai.core.errors import UsageError
from akinai.server.client import HttpSession, MarketClient
from akinai.server.markets.handover import requested_path
from akinai.server.markets.settings import read_markets
from akinai.worlds.market.model.actions import FetchMessages, SendMessage, Text

MARKETS = ("--store", "m.db", "--run", "bazaar", "--market", "north=", "--market", "south=")


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A server of three markets."""
    process = Process(tmp_path_factory.mktemp("markets"), *MARKETS)
    yield process
    process.end(signal.SIGTERM)


@asynccontextmanager
async def market(process: Process, path: str = "", **options: Any) -> AsyncIterator[Wire]:
    async with httpx.AsyncClient(base_url=f"{process.url}{path}", timeout=30, verify=False, **options) as http:
        yield Wire(http)


async def listed(process: Process) -> dict[str, dict[str, Any]]:
    async with market(process) as wire:
        return {item["name"]: item for item in (await wire.http.get("/m")).json()["items"]}


def owner(process: Process, name: str) -> int:
    """The process id of a market, from what the system says of the server's children."""
    children = Path(f"/proc/{process.process.pid}/task/{process.process.pid}/children").read_text().split()
    log = [json.loads(line) for line in Path(process.log.name).read_text().splitlines()]
    order = [line["pid"] for line in log if line["what"] == "listening" and line.get("run") == name]
    assert str(order[-1]) in children
    return order[-1]


async def test_markets_with_the_same_agents_do_not_see_each_other(process: Process) -> None:
    """`ann` and `grill` trade in each of three markets; mail, agents and ledgers are each market's own."""
    for number, path in enumerate(("", "/m/north", "/m/south"), 1):
        async with market(process, path) as wire:
            await wire.register("grill", "business")
            await wire.register("ann")
            for _ in range(number):
                await wire.text("ann", "grill", path)
    for number, path in enumerate(("/m/bazaar", "/m/north", "/m/south"), 1):
        async with market(process, path) as wire:
            contents = [mail["message"]["content"] for mail in await wire.mail("grill")]
            assert contents == [path.replace("/m/bazaar", "")] * number
            assert (await wire.http.get("/agents")).json()["total"] == 2


async def test_typed_client_and_our_agents_play_under_a_path(process: Process) -> None:
    """The base URL has a path; views wait for mail there, and pages link to what is there."""
    async with MarketClient(f"{process.url}/m/north") as client:
        for id in ("eve", "bob"):
            await client.register({"id": id, "metadata": {"type": "customer"}})
        waiting = asyncio.create_task(client.view("bob", 20))
        await asyncio.sleep(0.1)
        assert (await client.act("eve", SendMessage(to_agent_id="bob", message=Text(content="hello")))).ok
        assert (await waiting)["mail"]
        assert (await client.act("bob", FetchMessages())).ok
        assert "bob" in (await HttpSession(client).view("bob")).text
    async with market(process, "/m/north") as wire:
        for page in ("/", "/docs"):
            assert 'href="/m/north/' in (await wire.http.get(page)).text
        assert (await wire.http.get("/openapi.json")).json()["servers"] == [{"url": "/m/north"}]
        assert (await wire.http.get("/sessions")).status_code == 200


async def test_one_connection_goes_from_market_to_market(process: Process) -> None:
    """A client that keeps its connection is answered by whichever market each request names, bodies of a MiB included."""
    paths, ports = ("", "/m/north", "/m/south", "/m/bazaar"), set[int]()
    async with market(process, limits=httpx.Limits(max_connections=1)) as wire:
        for round in range(3):
            for path in paths:
                id = f"agent{round}{path.replace('/', '-')}"
                body = {"agent": {"id": id, "metadata": {"pad": "x" * 900_000 * (round == 1)}}}
                answer = await wire.http.post(f"{path}/agents/register", json=body)
                assert answer.status_code == (422 if round == 1 else 200), answer.text
                ports.add(answer.extensions["network_stream"].get_extra_info("client_addr")[1])
                assert (await wire.http.get("/m")).status_code == 200
    assert len(ports) == 1


async def test_requests_that_come_in_pieces_or_together(process: Process) -> None:
    """A first line may come byte by byte. What comes behind a request of another market is answered there, or 421."""
    north = b"GET /m/north/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    south = north.replace(b"north", b"south")
    reader, writer = await asyncio.open_connection("127.0.0.1", process.port)
    for request in (north, south):
        for byte in request:
            writer.write(bytes([byte]))
            await writer.drain()
        assert b" 200 " in await reader.readline()
        await reader.readuntil(b"}")
    writer.write(north + south)
    statuses = re.findall(rb"HTTP/1.1 (\d+)", await reader.read(-1))
    writer.close()
    assert statuses == [b"200", b"421"]


async def test_what_is_not_there_is_said(process: Process) -> None:
    """An unknown market is 404, and so is a path that only looks like a market's; a foreign host is refused."""
    async with market(process) as wire:
        for path in ("/m/west", "/m/west/agents", "/m/", "/m/..%2fnorth/health", "/m/north%00/health", "/mm/north"):
            status = (await wire.http.get(path)).status_code
            assert status == (200 if path == "/m/" else 404), path
        for path in ("/m", "/m/north/health", "/health"):
            answer = await wire.http.get(path, headers={"Host": "evil.example"})
            assert answer.status_code == 403


async def test_metrics_are_of_all_markets(process: Process) -> None:
    """Each sample says of which market it is, and whether the market is up."""
    async with market(process, "/m/south") as wire:
        await wire.register("zoe")
        await wire.mail("zoe")
    async with market(process) as wire:
        page = (await wire.http.get("/metrics")).text
    assert 'akinai_market_up{market="north"} 1.0' in page
    assert re.search(r'akinai_actions_total{market="south",name="\w+",result="\w+"} [1-9]', page), page


@pytest.mark.slow
async def test_market_is_opened_while_others_are_served(process: Process) -> None:
    """POST /m makes a run and serves it; a name that is taken or none is refused."""
    async with market(process) as wire:
        assert (await wire.http.post("/m", json={"name": "west"})).status_code == 201
        assert (await wire.http.get("/m/west/health")).status_code == 200
        for name in ("west", "north", "a b", "../x", "", None, 3):
            assert (await wire.http.post("/m", json={"name": name})).status_code == 422
    assert list(await listed(process)) == ["bazaar", "north", "south", "west"]


@pytest.mark.slow
async def test_killed_market_lost_nothing_and_others_did_not_notice(process: Process) -> None:
    """A market's process is killed amid 200 acknowledged actions: it is 503 until it is back, with every one of them;
    in the other market no request fails."""
    sent: dict[str, list[int]] = {"north": [], "south": []}
    refused: list[httpx.Response] = []

    async def write(name: str, wire: Wire, first: int) -> None:
        for number in range(first, 200, 4):
            while True:
                try:
                    body = {"name": "SendMessage", "parameters": parameters(number)}
                    answer = await wire.post("ned", body)
                except httpx.TransportError:
                    assert name == "north"
                    continue
                if answer.status_code == 200:
                    break
                refused.append(answer)
                await asyncio.sleep(0.05)
            sent[name].append(number)
            if name == "north" and len(sent[name]) == 100:
                os.kill(owner(process, name), signal.SIGKILL)

    async with market(process, "/m/north") as north, market(process, "/m/south") as south:
        for wire in (north, south):
            await wire.register("ned")
        await asyncio.gather(
            *(write("north", north, n) for n in range(4)), *(write("south", south, n) for n in range(4))
        )
        for wire in (north, south):
            contents = [mail["message"]["content"] for mail in await wire.mail("ned")]
            assert sorted(map(int, contents)) == list(range(200))
    assert {(answer.status_code, answer.headers["retry-after"]) for answer in refused} <= {(503, "1")}
    assert all("north" in str(answer.url) for answer in refused)
    assert {name: item["starts"] for name, item in (await listed(process)).items() if name != "west"} == {
        "bazaar": 1, "north": 2, "south": 1,
    }  # fmt: skip


def parameters(number: int) -> dict[str, Any]:
    """A message of an agent to itself, which is sent once however often it is tried."""
    message = {"type": "text", "content": str(number)}
    return {"to_agent_id": "ned", "message": message, "metadata": {"idempotency_key": f"k{number}"}}


@pytest.mark.slow
async def test_ctrl_c_ends_all_markets_soon_and_keeps_what_was_answered(tmp_path: Path) -> None:
    """SIGINT amid writing and waiting: over in ten seconds, every answered action is in its ledger, nobody is left."""
    process = Process(tmp_path, *MARKETS)
    owners = [owner(process, name) for name in ("bazaar", "north", "south")]
    answered = {"north": 0, "south": 0}

    async def write(name: str) -> None:
        async with market(process, f"/m/{name}") as wire:
            await wire.register("ned")
            waiting = asyncio.create_task(wire.http.get("/views/ned?wait_s=30", headers={"X-Agent-Id": "ned"}))
            with suppress(httpx.TransportError, AssertionError):
                while True:
                    await wire.text("ned", "ned")
                    answered[name] += 1
            await asyncio.gather(waiting, return_exceptions=True)

    writers = [asyncio.create_task(write(name)) for name in answered]
    await asyncio.sleep(1)
    code = await asyncio.to_thread(process.end, signal.SIGINT, 10)
    await asyncio.gather(*writers)
    assert code == 0
    assert not [pid for pid in owners if Path(f"/proc/{pid}").exists()]
    for name, count in answered.items():
        assert count
        store = str(tmp_path / "m.db")
        assert (await asyncio.to_thread(api.verify, name, store=store))[name].ok
        (run,) = [run for run in await asyncio.to_thread(api.headers, store) if run.run_id == name]
        assert run.ending == "stopped"
        assert run.entries >= count + 1


@pytest.mark.slow
async def test_markets_end_when_the_server_is_killed(tmp_path: Path) -> None:
    """kill -9 of the server: its markets commit, close their runs and end; the same command goes on."""
    process = Process(tmp_path, *MARKETS)
    owners = [owner(process, name) for name in ("bazaar", "north", "south")]
    async with market(process, "/m/north") as wire:
        await wire.register("ned")
    process.end(signal.SIGKILL)
    async with asyncio.timeout(10):
        while any(Path(f"/proc/{pid}").exists() for pid in owners):
            await asyncio.sleep(0.05)
    again = Process(tmp_path, *MARKETS)
    async with market(again, "/m/north") as wire:
        assert (await wire.http.get("/agents/ned")).status_code == 200
    assert again.end(signal.SIGTERM) == 0


@pytest.mark.slow
async def test_tokens_are_each_markets_own(tmp_path: Path) -> None:
    """A token of one market opens no other; the operator's opens them all, their metrics and new ones."""
    process = Process(tmp_path, *MARKETS, "--auth", "token", AKINAI_OPERATOR_TOKEN="operator")
    operator = {"Authorization": "Bearer operator"}
    async with market(process) as wire:
        profile = {"agent": {"id": "ann", "metadata": {"type": "customer"}}}
        token = (await wire.http.post("/m/north/agents/register", json=profile)).json()["token"]
        await wire.http.post("/m/south/agents/register", json=profile)
        own = {"X-Agent-Id": "ann", "Authorization": f"Bearer {token}"}
        statuses = [
            (await wire.http.get(f"{at}/agents", headers=own)).status_code for at in ("/m/north", "/m/south", "")
        ]
        assert statuses == [200, 401, 401]
        for path in ("/metrics", "/m/north/metrics"):
            assert (await wire.http.get(path)).status_code == 401
            assert (await wire.http.get(path, headers=operator)).status_code == 200
        assert (await wire.http.post("/m", json={"name": "west"})).status_code == 401
        assert (await wire.http.post("/m", json={"name": "west"}, headers=operator)).status_code == 201
        assert 'akinai_agents{market="north"} 1.0' in (await wire.http.get("/metrics", headers=operator)).text
    process.end(signal.SIGTERM)
    assert "operator" not in Path(process.log.name).read_text().replace("operator_", "")


def test_markets_are_named_by_their_words() -> None:
    """DIR is of the market at `/`, NAME=DIR and NAME= of others; a bad name or one given twice is refused."""
    assert read_markets(["pop", "north=a/b", "south=", "été=x=y"]) == (
        "pop",
        {"north": "a/b", "south": None, "été": "x=y"},
    )
    assert read_markets(["./a=b"]) == ("./a=b", {})
    for words in (["a b="], ["=pop"], [".=pop"], ["-x="], ["n=", "n="], ["a", "b"], ["a%20b="], ["a?="]):
        with pytest.raises(UsageError):
            read_markets(words)


@pytest.mark.parametrize(
    ("begun", "path"),
    [
        (b"GET /m/north/agents?x=/m/south HTTP/1.1\r\n", "/m/north/agents"),
        (b"\r\nPOST http://localhost:8000/m/north HTTP/1.1\n", "/m/north"),
        (b"GET /m/n%6Frth HTTP/1.1\r\n", "/m/north"),
        (b"GET /m/nor", None),
        (b"", None),
        (b"\x16\x03\x01", ""),
        (b"GET\r\n", ""),
        (b"G" * 20_000, ""),
    ],
)
def test_path_of_a_request_that_begins(begun: bytes, path: str | None) -> None:
    """It is known when its first line is there, and empty for what is no request."""
    assert requested_path(begun) == path
