"""Sessions of every world over HTTP: the digest of a run in process, tokens, and whatever clients do wrong."""

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_process import Process
from wire_server import ServeConfig, running_server

import akinai
from akinai import SessionClient, worlds
from akinai.core.errors import EndRun, UsageError
from akinai.server.serving import RunningServer

OPERATOR = "operator-secret"


def actions_of(run: akinai.Run, actor: str = "") -> list[tuple[str, dict[str, Any]]]:
    """The recorded actions as tools and arguments."""
    verbs = worlds.load(run.world).verbs
    entries = [entry for entry in run.ledger.entries if entry.actor.startswith(actor)]
    actions = [verbs.recorded(entry.name, entry.parameters) for entry in entries]
    return [(action.tool_name(), action.encode()) for action in actions]


@asynccontextmanager
async def served(world: str | None = "vending", **options: Any) -> AsyncIterator[tuple[RunningServer, SessionClient]]:
    config = ServeConfig(**{"store": "memory:", "port": 0, "world": world, **options})
    token = OPERATOR if config.auth == "token" else ""
    async with running_server(config) as server, SessionClient(server.info.url, token=token) as client:
        yield server, client


@asynccontextmanager
async def raw(server: RunningServer, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.info.url, headers=headers, timeout=30, verify=False) as http:
        yield http


async def test_the_digest_is_that_of_a_run_in_this_process() -> None:
    """Five days of the reference player, beside the market; rewards sum to what the score gained."""
    reference = akinai.run("vending", agent="reference", days=5, preset="classic")[0]
    async with served(None) as (server, client):
        session = await client.open("vending", days=5, preset="classic")
        (before,) = [score.value for score in await session.scores() if score.name == "net_worth"]
        rewards = []
        for name, arguments in actions_of(reference):
            await session.act(name, arguments)
            rewards.append(session.reward)
        assert (session.done, session.ending) == (True, "horizon")
        (after,) = [score.value for score in await session.scores() if score.name == "net_worth"]
        assert sum(rewards) == after - before
        assert after == reference.scores[0].value
        ledger = await session.ledger()
        assert ledger[-1]["digest"] == reference.digest
        with pytest.raises(EndRun, match="horizon"):
            await session.act("advance_day")
        assert server.market.committed.seq == 0


@pytest.mark.slow
async def test_ten_days_over_http_give_the_digest(tmp_path: Path) -> None:
    """Through a server of its own process, whose run every command reads afterwards."""
    reference = akinai.run("vending", agent="reference", days=10, preset="classic")[0]
    process = Process(tmp_path, "vending")
    try:
        async with (
            SessionClient(process.url) as client,
            await client.open(days=10, name="game", preset="classic") as session,
        ):
            for name, arguments in actions_of(reference):
                await session.act(name, arguments)
    finally:
        assert process.end(signal.SIGTERM) == 0
    assert akinai.runs("game-1", store=str(tmp_path / "akinai.db"))[0].digest == reference.digest


async def test_a_sheet_of_questions_is_answered() -> None:
    """Views, tools and refusals are the world's own."""
    async with served("qa") as (_, client), await client.open() as session:
        view = await session.view()
        assert "submit_answer" in " ".join(view.actions) or view.actions
        tools = await session.tools(inline=True)
        assert {tool["name"] for tool in tools} == set(view.actions)
        assert session.world.startswith("qa@")
        outcome = await session.act("sell_kidney", {"price": 1})
        assert (outcome.ok, outcome.code) == (False, "no_action")


async def test_seats_of_a_market_are_played_with_their_tokens() -> None:
    """Two clients, one a customer each; a seat sees its own entries, and nobody acts for another."""
    reference = akinai.run("market")[0]
    async with served("market", auth="token", operator_token=OPERATOR) as (server, operator):
        session = await operator.open(hold=["customers"])
        assert list(session.seats) == ["customer_0001", "customer_0002"]

        async def play(actor: str) -> None:
            async with SessionClient(server.info.url) as client:
                seat = await client.session(session.id, token=session.seats[actor])
                for name, arguments in actions_of(reference, actor):
                    await seat.act(name, arguments)
                assert {entry["agent_id"] for entry in await seat.ledger()} == {actor}
                other = next(name for name in session.seats if name != actor)
                with pytest.raises(UsageError, match=f"the token is that of {actor}"):
                    await seat.view(other)

        await asyncio.gather(*map(play, session.seats))
        assert (await session.ledger())[-1]["digest"] == reference.digest
        async with raw(server) as http:
            for path in ("/sessions", f"/sessions/{session.id}", f"/sessions/{session.id}/view", "/playbooks"):
                assert (await http.get(path)).status_code == 401
            seat = {"authorization": f"Bearer {session.seats['customer_0001']}"}
            assert (await http.post(f"/sessions/{session.id}/close", headers=seat)).status_code == 401
            assert (await http.post("/sessions", json={}, headers=seat)).status_code == 401
            assert (await http.get("/sessions/other", headers=seat)).status_code == 401


@pytest.mark.parametrize(
    ("preset", "days", "hold"),
    [
        ("arena", 4, None),
        ("arena-sprint", 21, ["owner_2"]),
        pytest.param("arena", 4, ["owner_2"], marks=pytest.mark.slow),
        pytest.param("arena-sprint", 21, None, marks=pytest.mark.slow),
    ],
)
async def test_owners_of_a_street_are_played_with_their_tokens(preset: str, days: int, hold: list[str] | None) -> None:
    """By a client each, or one beside the world's own player: the digest is that of a run in this process."""
    reference = akinai.run("vending", preset=preset, days=days)[0]
    async with served("vending", auth="token", operator_token=OPERATOR) as (server, operator):
        session = await operator.open(preset=preset, days=days, hold=hold)
        assert list(session.seats) == (hold or ["owner_1", "owner_2"])

        async def play(actor: str) -> None:
            async with SessionClient(server.info.url) as client:
                seat = await client.session(session.id, token=session.seats[actor])
                for name, arguments in actions_of(reference, actor):
                    await seat.act(name, arguments)
                assert {entry["agent_id"] for entry in await seat.ledger()} == {actor}

        await asyncio.gather(*map(play, session.seats))
        assert (await session.ledger())[-1]["digest"] == reference.digest


async def test_what_clients_do_wrong_is_said_and_nothing_is_lost() -> None:
    """Wrong types, unknown tools and actors, a megabyte, no JSON: a clear error; the game goes on."""
    async with served() as (server, client), raw(server) as http:
        session = await client.open(days=3)
        path = f"/sessions/{session.id}/act"
        for body, status in (
            (b"{", 422), (b"[1]", 422), (b'{"action": 3}', 422), (b'{"action": "look", "arguments": [1]}', 422),
            (b'{"action": "advance_day", "colour": 1}', 422), (b'{"action": "advance_day", "actor": "me"}', 422),
            (json.dumps({"action": "notepad_write", "text": "x" * 2**20}).encode(), 413),
        ):  # fmt: skip
            answer = await http.post(path, content=body)
            assert answer.status_code == status, answer.text
            assert answer.json()["detail"]
        for name, arguments, code in (
            ("sell_kidney", {}, "no_action"),
            ("wait_until", {"hour": "noon"}, "bad_parameters"),
            ("notepad_write", {"text": "x" * 900_000}, "bad_parameters"),
            ("notepad_write", {"text": "\x00"}, "bad_text"),
        ):
            outcome = await session.act(name, arguments)
            assert (outcome.ok, outcome.code) == (False, code)
        assert (await session.act("advance_day", text="At last.")).ok
        assert len(await session.ledger()) == 5
        assert (await http.get("/sessions/nobody")).json()["error"]["code"] == "unknown_session"
        assert (await http.post("/sessions", json={"seed": "x"})).status_code == 422


async def test_requests_reach_no_file_program_or_model() -> None:
    """A session that would read the server's files, start a program or spend on a model is refused."""
    async with served(None) as (_, client):
        for options, why in (
            ({"settings": {"data": "/etc"}}, "reads a file"),
            ({"settings": {"data.file": "/etc/passwd"}}, "reads a file"),
            ({"settings": {"customers": {"model": "openai:x"}}}, "would ask a model"),
            ({"rest": "stdio:cat"}, "no player"),
            ({"rest": "human"}, "no player"),
            ({"preset": "/tmp/x.toml"}, "no preset"),
            ({"settings": {"nothing": 1}}, "nothing"),
        ):
            with pytest.raises(UsageError, match=why):
                await client.open("market", **options)
        for settings, why in (
            ({"owners.2.model": "openai:x"}, "would ask a model"),
            ({"owners": {"1": {}, "2": {"agent": "stdio:cat"}}}, "would start an agent"),
            ({"owners.2.agent": "human"}, "would start an agent"),
            ({"owners.2.agent": ["naive"]}, "would start an agent"),
            ({"owners.2.agent.agent": "naive"}, "would start an agent"),
            ({"overseer.agent": "stdio:cat"}, "would start an agent"),
            ({"overseer": {"model": "openai:x"}}, "would ask a model"),
        ):
            with pytest.raises(UsageError, match=why):
                await client.open("vending", preset="arena", settings=settings)
        with pytest.raises(UsageError, match="no world"):
            await client.open("chess")
        assert not await client.sessions()


async def test_a_request_seats_the_players_of_the_world() -> None:
    """They start nothing, so a client may choose its rivals and who reads its letters, as `rest` may be chosen."""
    settings = {"owners.2.agent": "naive", "owners.3": {"agent": "listed"}, "overseer.agent": "lenient"}
    async with served() as (_, client):
        session = await client.open("vending", preset="arena", days=2, settings={**settings, "owners.1.agent": "same"})
        assert list(session.held) == ["owner_1"]
        while not session.done:
            await session.act("advance_day")
        scores = {score.name: score.value for score in await session.scores()}
    played = (await asyncio.to_thread(akinai.run, "vending", preset="arena", agent="idle", days=2, settings=settings))[
        0
    ]
    assert scores == {score.name: score.value for score in played.scores}


async def test_a_request_that_is_sent_twice_is_done_once() -> None:
    """By its key, also by a client that did not wait for the answer; another action with the key is refused."""
    async with served() as (server, client), raw(server) as http:
        session = await client.open(days=3)
        path, action = f"/sessions/{session.id}/act", {"action": "advance_day", "key": "a"}
        answers = await asyncio.gather(*(http.post(path, json=action) for _ in range(5)))
        assert len({answer.text for answer in answers}) == 1
        late = await http.post(path, json={"action": "advance_day", "key": "b", "wait_s": 0})
        assert late.status_code == 202
        assert late.json()["pending"]
        assert (await http.post(path, json={"action": "advance_day", "key": "b"})).json()["outcome"]["ok"]
        assert (await http.post(path, json={"action": "look", "key": "b"})).json()["error"]["code"] == "key_reused"
        assert len(await session.ledger()) == 2


async def test_two_clients_share_a_session() -> None:
    """Twenty actions at once are twenty entries."""
    async with served() as (server, first), SessionClient(server.info.url) as second:
        session = await first.open()
        other = await second.session(session.id)
        acts = [game.act("notepad_write", {"text": str(i)}) for i in range(10) for game in (session, other)]
        assert all(outcome.ok for outcome in await asyncio.gather(*acts))
        assert [entry["seq"] for entry in await session.ledger()] == [*range(1, 21)]


async def test_a_session_of_the_same_name_and_options_goes_on() -> None:
    """While it is open and after it was closed (200 in place of 201); otherwise, and once it is over, one clear refusal."""
    async with served("vending") as (server, client), httpx.AsyncClient(base_url=server.info.url) as http:
        first = await client.open(days=2, name="game")
        await first.act("advance_day")
        again = await client.open(days=2, name="game")
        assert (await again.ledger()) == (await first.ledger())
        await again.close()
        answer = await http.post("/sessions", json={"days": 2, "name": "game"})
        assert (answer.status_code, answer.json()["id"]) == (200, "game-1")
        other_days = r"'game-1' already, with other settings \(days\)"
        with pytest.raises(UsageError, match=other_days):
            await client.open(days=3, name="game")
        await again.close()
        with pytest.raises(UsageError, match=other_days):
            await client.open(days=3, name="game")
        again = await client.open(days=2, name="game")
        await again.act("advance_day")
        with pytest.raises(UsageError, match=r"'game-1' is over \(horizon\); another name or seed"):
            await client.open(days=2, name="game")
        assert (await http.post("/sessions", json={"days": 2, "name": "game", "seed": 2})).status_code == 201


DYING = """
import asyncio, os, sys
from akinai import SessionClient

async def main():
    async with SessionClient(sys.argv[1]) as client:
        session = await client.open(days=2, name="game")
        await session.act("advance_day")
        os.kill(os.getpid(), 9)

asyncio.run(main())
"""


@pytest.mark.slow
async def test_a_run_goes_on_after_its_client_and_its_server_died(tmp_path: Path) -> None:
    """Every answered action is kept; tokens hold as long as the operator's does."""
    environment = {"AKINAI_OPERATOR_TOKEN": OPERATOR}
    process = Process(tmp_path, "vending", **environment)
    done = subprocess.run([sys.executable, "-c", DYING, process.url], capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    async with SessionClient(process.url) as client:
        assert [session.id for session in await client.sessions()] == ["game-1"]
    assert process.end(signal.SIGKILL) == -9
    process = Process(tmp_path, "vending", "--auth", "token", **environment)
    try:
        async with SessionClient(process.url, token=OPERATOR) as client:
            with pytest.raises(UsageError, match="no session"):
                await client.session("game-1")
            session = await client.resume("game-1")
            assert (await client.resume("game-1")).token == session.token
            await session.act("advance_day")
            assert session.done
            with pytest.raises(UsageError, match="no run"):
                await client.resume("nothing")
    finally:
        assert process.end(signal.SIGTERM) == 0
    assert akinai.runs("game-1", store=str(tmp_path / "akinai.db"))[0].entries == 2


async def test_a_stop_answers_who_waits() -> None:
    """An action that waits for another seat is pending; a closed session can be resumed."""
    async with served("market") as (_, client):
        session = await client.open(hold=["customers"])
        first, other = session.seats
        waiting = asyncio.create_task(session.act("register", actor=first, wait="own"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await session.act("register", actor=other, wait=False)
        assert (await waiting).ok
        waiting = asyncio.create_task(session.act("wait", actor=first, wait="own"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await session.close()
        with pytest.raises(UsageError, match="was closed"):
            await waiting
        assert not await client.sessions()
        again = await client.resume(session.id)
        assert len(await again.ledger()) == 3 + sum("business" in entry["agent_id"] for entry in await again.ledger())


async def test_too_many_sessions_are_refused_and_finished_ones_make_room() -> None:
    """429 while all go on; a session that is over is dropped for a new one."""
    async with served() as (server, client), raw(server) as http:
        server.sessions._most = 2
        first = await client.open(days=1)
        await client.open(days=1)
        assert (await http.post("/sessions", json={})).status_code == 429
        await first.act("advance_day")
        assert (await http.post("/sessions", json={})).status_code == 201
        assert first.id not in {session.id for session in await client.sessions()}


async def test_foreign_pages_are_refused() -> None:
    """The Host and Origin of requests are checked as those of the market are."""
    async with served() as (server, _), raw(server) as http:
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            assert (await http.post("/sessions", json={}, headers=headers)).status_code == 403


async def test_playbooks_are_json(tmp_path: Path) -> None:
    """By name, as their files hold them."""
    file = tmp_path / "mine.json"
    akinai.playbook.add(file, "Order water on Mondays.", section="orders")
    async with served(playbooks=[str(file)]) as (_, client):
        assert await client.playbooks() == ["mine"]
        playbook_document = await client.playbook("mine")
        assert playbook_document == json.loads(file.read_text())
        with pytest.raises(UsageError, match="no playbook"):
            await client.playbook("yours")


async def test_the_description_is_complete() -> None:
    """Every route has its body, its answer and its refusals; every answer fits its schema."""
    async with served() as (server, client), raw(server) as http:
        document = (await http.get("/openapi.json")).json()
        session = await client.open(days=1)
        for path, verbs in document["paths"].items():
            for verb, route in verbs.items():
                assert route["description"], path
                assert any(code.startswith("2") for code in route["responses"])
                if path.startswith("/sessions"):
                    assert "401" in route["responses"]
                if path in ("/sessions", "/sessions/{id}/act") and verb == "post":
                    assert route["requestBody"]["content"]["application/json"]["schema"]["properties"]
        assert (await http.get("/docs")).status_code == (await http.get("/")).status_code == 200
        assert (await http.get("/nowhere")).status_code == 404
        assert (await http.get(f"/sessions/{session.id}/tools?inline=1")).json()["tools"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
async def test_the_page_runs() -> None:
    """Its curl commands play, and its Python plays to the end."""
    page = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
    shell, program = (re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)[0] for language in ("sh", "python"))
    async with served() as (server, _):
        address = server.info.url.removeprefix("http://")
        for words in (["sh", "-ec", shell], [sys.executable, "-c", program]):
            line = [*words[:-1], words[-1].replace("127.0.0.1:8000", address)]
            done = await asyncio.to_thread(subprocess.run, line, capture_output=True, text=True, check=True)
            assert "net_worth" in done.stdout
            assert '"detail"' not in done.stdout


async def test_a_server_of_sessions_has_no_market(tmp_path: Path) -> None:
    """Its run and population belong to the server without a world."""
    for options, why in (
        ({"run": "x"}, "--run"),
        ({"data": "x"}, "--market"),
        ({"world": "chess"}, "no world 'chess'"),
    ):
        with pytest.raises(UsageError, match=why):
            async with served(**options):
                pass
    async with served() as (server, _):
        with pytest.raises(UsageError, match="no market"):
            _ = server.market
