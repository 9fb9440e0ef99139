"""A run as an MCP server, played by the official clients."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import akinai
from akinai import worlds
from akinai.adapters.mcp.seat import SeatServer
from akinai.api.seat import Seat

OLD_CLIENT = os.environ.get("AKINAI_MCP_1")
"""The Python of an environment with mcp 1.x; `make test-mcp` makes it. Its tests exist only there."""
DAYS = "10"


def actions_of(run: akinai.Run, actor: str = "") -> list[tuple[str, dict[str, Any]]]:
    """The recorded actions as tools and arguments."""
    verbs = worlds.load(run.world).verbs
    entries = [entry for entry in run.ledger.entries if entry.actor.startswith(actor)]
    actions = [verbs.recorded(entry.name, entry.parameters) for entry in entries]
    return [(action.tool_name(), action.encode()) for action in actions]


@pytest.fixture(scope="module")
def reference() -> akinai.Run:
    return akinai.run("vending", agent="reference", days=int(DAYS), preset="classic")[0]


def command(store: Path, *words: str) -> list[str]:
    return ["-m", "akinai", "mcp", *words, "--store", str(store), "--name", "game"]


@asynccontextmanager
async def served(store: Path, *words: str) -> AsyncGenerator[Sequence[str]]:
    """A server over HTTP in a process of its own; the lines that say where its seats are."""
    line = [sys.executable, *command(store, *words), "--http", "--port", "0"]
    process = await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        lines: list[str] = []
        while not lines or not lines[-1].startswith(("customer_0002", "owner")):
            lines.append((await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip())
            assert lines[-1], lines
        yield lines[1:]
    finally:
        process.terminate()
        await process.wait()


async def play(client: Client, actions: Sequence[tuple[str, dict[str, Any]]]) -> Any:
    result = None
    for name, arguments in actions:
        result = await client.call_tool(name, arguments)
    return result


async def test_a_client_plays_with_the_tools_of_the_world(reference: akinai.Run) -> None:
    """All its actions and `look`; the instructions hold the view, resources the ledger and, at the end, the scores."""
    async with (
        await akinai.aopen("vending", days=int(DAYS), preset="classic") as session,
        Client(SeatServer(Seat(session)).server()) as client,
    ):
        assert "You run a vending machine" in (client.instructions or "")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {*tools} == {"look", *(verb.tool_name() for verb in session.verbs())}
        told = await client.get_prompt("play")
        assert client.instructions.startswith(told.messages[0].content.text)
        assert tools["wait_until"].input_schema["properties"]["hour"]["maximum"] == 23
        scores, ledger = f"akinai://{session.id}/scores", f"akinai://{session.id}/ledger"
        assert json.loads((await client.read_resource(scores)).contents[0].text) == {"done": False, "scores": {}}
        last = await play(client, actions_of(reference))
        assert last.structured_content["done"]
        assert last.content[0].text.endswith("The run is over: horizon.")
        assert len((await client.read_resource(ledger)).contents[0].text.splitlines()) == reference.entries
        document = json.loads((await client.read_resource(scores)).contents[0].text)
        assert document["scores"]["net_worth"]["value"] == reference.score("net_worth")
        after = await client.call_tool("advance_day", {})
        assert (after.is_error, after.structured_content["code"]) == (True, "over")
    assert (await session.run()).digest == reference.digest


async def test_rewards_sum_to_what_the_score_gained() -> None:
    """In `_meta`, which models are not shown; the end settles the last, and a call after it has none."""
    run = akinai.run("vending", agent="reference", days=3, preset="classic")[0]
    async with (
        await akinai.aopen("vending", days=3, preset="classic") as session,
        Client(SeatServer(Seat(session)).server()) as client,
    ):
        began = (await session.scores())[0].value
        results = [await client.call_tool(name, arguments) for name, arguments in actions_of(run)]
        assert sum((result.meta or {})["akinai/reward"] for result in results) == run.scores[0].value - began
        assert "akinai/reward" not in ((await client.call_tool("advance_day", {})).meta or {})


async def test_a_playbook_is_a_resource(tmp_path: Path) -> None:
    """As its file holds it, and named in the instructions; without one there is no such resource."""
    file = tmp_path / "mine.json"
    akinai.playbook.add(file, "Order water on Mondays.", section="orders")
    async with await akinai.aopen("vending", preset="classic") as session:
        server = SeatServer(Seat(session), playbook=akinai.playbook.show(file)).server()
        async with Client(server) as client:
            uri = f"akinai://{session.id}/playbook"
            assert uri in (client.instructions or "")
            assert uri in {str(resource.uri) for resource in (await client.list_resources()).resources}
            document = json.loads((await client.read_resource(uri)).contents[0].text)
            assert document == json.loads(file.read_text())
        async with Client(SeatServer(Seat(session)).server()) as client:
            assert len((await client.list_resources()).resources) == 2


FAULTS: Sequence[tuple[str, dict[str, Any], str]] = (
    ("sell_kidney", {}, "no_action"),
    ("wait_until", {"hour": "noon"}, "bad_parameters"),
    ("notepad_write", {"text": "x" * 2**20}, "bad_parameters"),
    ("report", {"text": "me"}, "not_yours"),
)


async def expect_refusals(client: Client) -> None:
    for name, arguments, code in FAULTS:
        result = await client.call_tool(name, arguments)
        assert (result.is_error, result.structured_content["code"]) == (True, code)
        assert f"Refused ({code})" in result.content[0].text


async def test_refusals_are_errors_with_their_code() -> None:
    """Of rules, of wrong arguments, of unknown tools and of a megabyte; nothing is lost, and the game goes on."""
    async with (
        await akinai.aopen("vending", preset="classic") as session,
        Client(SeatServer(Seat(session)).server()) as client,
    ):
        await expect_refusals(client)
        assert not (await client.call_tool("get_money_balance", {}, meta={"akinai/text": "How much?"})).is_error
        run = await session.run()
        assert [len(run.ledger.entries), run.ledger.entries[-1].said] == [5, "How much?"]


async def test_a_sub_agent_is_played_by_the_same_client() -> None:
    """Its turn is said with its view; its report is news."""
    async with (
        await akinai.aopen("vending", preset="classic") as session,
        Client(SeatServer(Seat(session, "owner")).server()) as client,
    ):
        begun = await client.call_tool("delegate_research", {"task": "Find water."})
        assert "You act for owner/research-1 now." in begun.content[0].text
        ended = await client.call_tool("report", {"text": "There is none."})
        assert "There is none." in ended.content[0].text


@pytest.mark.parametrize("seats", [["owner_2"], ["owner_1", "owner_2"]])
async def test_owners_of_a_street_have_a_client_each(seats: list[str]) -> None:
    """Or one plays beside the world's own player; each sees its own entries, and the digest is the ordinary run's."""
    run = akinai.run("vending", preset="arena", days=4)[0]
    async with await akinai.aopen("vending", preset="arena", days=4, hold=seats) as session:

        async def play_owner(actor: str) -> None:
            async with Client(SeatServer(Seat(session, actor)).server()) as client:
                assert f"You are {actor}." in (client.instructions or "")
                await play(client, actions_of(run, actor))
                text = (await client.read_resource(f"akinai://{session.id}/ledger")).contents[0].text
                assert {json.loads(entry)["agent_id"] for entry in text.splitlines()} == {actor}

        await asyncio.gather(*map(play_owner, seats))
    assert (await session.run()).digest == run.digest


async def test_parallel_calls_are_made_one_after_the_other() -> None:
    """Twenty at once, by two clients of one seat, are twenty entries."""
    async with await akinai.aopen("vending", preset="classic") as session:
        server = SeatServer(Seat(session, "owner")).server()
        async with Client(server) as first, Client(server) as other:
            calls = [
                client.call_tool("notepad_write", {"text": str(i)}) for i in range(10) for client in (first, other)
            ]
            assert not any(result.is_error for result in await asyncio.gather(*calls))
        assert [entry.seq for entry in (await session.run()).ledger.entries] == [*range(1, 21)]


@pytest.mark.slow
async def test_over_stdio_the_digest_is_the_same(reference: akinai.Run, tmp_path: Path) -> None:
    """In the older protocol mode of the newest client. Its own mode is a row in the table of doors."""
    arguments = command(tmp_path / "a.db", "vending", "--preset", "classic", "--days", DAYS)
    async with Client(StdioServerParameters(command=sys.executable, args=arguments), mode="legacy") as client:
        await play(client, actions_of(reference))
    assert akinai.runs("game-1", store=str(tmp_path / "a.db"))[0].digest == reference.digest


@pytest.mark.slow
async def test_over_http_the_digest_is_the_same(reference: akinai.Run, tmp_path: Path) -> None:
    """In the older protocol mode of the newest client; another path and another host are refused."""
    async with served(tmp_path / "a.db", "vending", "--preset", "classic", "--days", DAYS) as (line,):
        url = line.split()[-1]
        async with httpx.AsyncClient() as http:
            assert (await http.get(url.replace("game-1", "other"))).status_code == 404
            assert (await http.post(url, json={}, headers={"Host": "evil.example"})).status_code == 403
        async with Client(url, mode="legacy") as client:
            await play(client, actions_of(reference))
    assert akinai.runs("game-1", store=str(tmp_path / "a.db"))[0].digest == reference.digest


DYING = """
import asyncio, os, sys
from mcp import Client, StdioServerParameters

async def main():
    server = sys.argv[1] if len(sys.argv) == 2 else StdioServerParameters(command=sys.executable, args=sys.argv[1:])
    async with Client(server) as client:
        await client.call_tool("advance_day", {})
        os.kill(os.getpid(), 9)

asyncio.run(main())
"""


def die(*words: str) -> None:
    """A client that is killed after its first call."""
    done = subprocess.run([sys.executable, "-c", DYING, *words], capture_output=True, check=False)
    assert done.returncode == -9, done.stderr


@pytest.mark.slow
async def test_a_run_whose_client_died_goes_on_with_another(tmp_path: Path) -> None:
    """Every answered call is kept; over stdio what cannot be read is refused as everywhere."""
    await asyncio.to_thread(die, *command(tmp_path / "a.db", "vending", "--days", "2"))
    resumed = ["-m", "akinai", "mcp", "--resume", "game-1", "--store", str(tmp_path / "a.db")]
    async with Client(StdioServerParameters(command=sys.executable, args=resumed)) as client:
        await expect_refusals(client)
        result = await client.call_tool("advance_day", {})
    assert result.structured_content["done"]
    assert akinai.runs("game-1", store=str(tmp_path / "a.db"))[0].entries == 2 + len(FAULTS)


@pytest.mark.slow
async def test_a_client_that_starts_a_server_for_each_call_plays_one_run(tmp_path: Path) -> None:
    """Without a name, too, and to the end: then each call is answered so, and other options play a run of their own."""

    async def call(name: str, *words: str) -> Any:
        arguments = ["-m", "akinai", "mcp", "vending", "--days", "2", *words, "--store", str(tmp_path / "a.db")]
        server = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
        async with Client(server) as client:
            return (await client.call_tool(name, {})).structured_content

    assert not (await call("look"))["done"]
    assert [(await call("advance_day"))["done"] for _ in range(2)] == [False, True]
    assert (await call("advance_day"))["code"] == "over"
    assert (await call("look"))["done"]
    assert not (await call("advance_day", "--seed", "2"))["done"]
    assert not (await call("advance_day", "--max-repeats", "3"))["done"]
    runs = akinai.runs(store=str(tmp_path / "a.db"))
    assert [(run.seed, run.entries) for run in runs] == [(1, 2), (2, 1), (1, 1)]


@pytest.mark.slow
async def test_over_http_two_clients_go_on_where_one_died(tmp_path: Path) -> None:
    """They share the seat, whatever they send, and every answered call is kept."""
    async with served(tmp_path / "a.db", "vending", "--days", "9") as (line,):
        url = line.split()[-1]
        await asyncio.to_thread(die, url)
        async with Client(url) as first, Client(url) as other:
            await expect_refusals(first)
            calls = [client.call_tool("notepad_write", {"text": str(i)}) for i in range(5) for client in (first, other)]
            assert not any(result.is_error for result in await asyncio.gather(*calls))
    entries = akinai.runs("game-1", store=str(tmp_path / "a.db"))[0].ledger.entries
    assert [entry.seq for entry in entries] == [*range(1, 12 + len(FAULTS))]


if OLD_CLIENT:

    @pytest.mark.slow
    @pytest.mark.parametrize("over_http", [False, True])
    async def test_a_client_of_the_older_line_plays_unchanged(
        reference: akinai.Run, tmp_path: Path, over_http: bool
    ) -> None:
        """mcp 1.x needs nothing of its own."""
        script = [str(OLD_CLIENT), str(Path(__file__).with_name("mcp_client_1.py"))]
        actions = json.dumps(actions_of(reference))

        def run_client(words: list[str]) -> Any:
            done = subprocess.run([*script, *words], input=actions, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        if over_http:
            async with served(tmp_path / "a.db", "vending", "--preset", "classic", "--days", DAYS) as (line,):
                document = await asyncio.to_thread(run_client, [line.split()[-1]])
        else:
            words = [sys.executable, *command(tmp_path / "a.db", "vending", "--preset", "classic", "--days", DAYS)]
            document = await asyncio.to_thread(run_client, words)
        assert document["last"]["done"]
        assert "You run a vending machine" in document["instructions"]
        assert akinai.runs("game-1", store=str(tmp_path / "a.db"))[0].digest == reference.digest


@pytest.mark.slow
async def test_each_seat_of_a_market_has_its_client_and_its_token(tmp_path: Path) -> None:
    """A client without the token of a seat is refused; a seat sees its own entries only."""
    ref = akinai.run("market")[0]
    async with served(tmp_path / "a.db", "market", "--hold", "customers", "--auth", "token") as lines:
        seats = {actor: (url, token) for actor, url, _, token in (re.split(r"\s+", line) for line in lines)}
        assert list(seats) == ["customer_0001", "customer_0002"]
        url = seats["customer_0001"][0]
        async with httpx.AsyncClient() as http:
            for headers in ({}, {"Authorization": f"Bearer {seats['customer_0002'][1]}"}):
                assert (await http.post(url, json={}, headers=headers)).status_code == 401

        async def client_of(actor: str) -> None:
            url, token = seats[actor]
            async with (
                httpx_client(token) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                await play(client, actions_of(ref, actor))
                ledger = await client.read_resource("akinai://game-1/ledger")
                text = ledger.contents[0].text
                assert {json.loads(entry)["agent_id"] for entry in text.splitlines()} == {actor}

        await asyncio.gather(*map(client_of, seats))
    assert akinai.runs("game-1", store=str(tmp_path / "a.db"))[0].digest == ref.digest


def httpx_client(token: str) -> Any:
    """The HTTP client that the newest MCP client takes, with a token."""
    from mcp.shared._httpx_utils import create_mcp_http_client

    return create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
