"""Seats of a run as A2A agents, played by the official client."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from a2a.client import Client, ClientConfig, create_client
from a2a.helpers import get_data_parts, get_text_parts, new_data_part, new_message, new_text_part
from a2a.types import CancelTaskRequest, GetTaskRequest, Role, SendMessageRequest, TaskState
from a2a.utils.errors import InvalidParamsError

import akinai
import attacks
from akinai import worlds
from akinai.adapters.a2a.seat import CARD, make_app
from akinai.adapters.seat_paths import SeatAddress, guard_of, seats_at
from akinai.runtime.http.front import Front, Listener

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def actions_of(run: akinai.Run, actor: str = "") -> list[tuple[str, dict[str, Any]]]:
    """The recorded actions as tools and arguments."""
    verbs = worlds.load(run.world).verbs
    entries = [entry for entry in run.ledger.entries if entry.actor.startswith(actor)]
    actions = [verbs.recorded(entry.name, entry.parameters) for entry in entries]
    return [(action.tool_name(), action.encode()) for action in actions]


@asynccontextmanager
async def served(session: akinai.AsyncSession, auth: Any = "open") -> AsyncGenerator[Sequence[SeatAddress]]:
    """The seats of a session on loopback."""
    with Front.at(Listener.A2A, "127.0.0.1", 0) as front:
        seats = seats_at(session, front.url, "a2a", auth)
        async with front.serving(make_app(session, seats), guard_of(seats, auth, public=CARD)):
            yield seats


@pytest.mark.slow
@pytest.mark.parametrize("token", [False, True], ids=["open", "token"])
async def test_the_seats_hold_against_attacks(token: bool, tmp_path: Path) -> None:
    """Those that every listener is held to."""
    auth = ("--auth", "token") if token else ()
    with attacks.started(tmp_path, "a2a", "vending", "--port", "0", *auth) as (process, address, secret):
        headers = {"authorization": f"Bearer {secret}"} if token else {}
        path = urlsplit(address).path
        await attacks.hold(attacks.Target(process, address, path, headers, token=token, hosts=not token))


@asynccontextmanager
async def client_of(seat: SeatAddress, **config: Any) -> AsyncGenerator[Client]:
    headers = {"authorization": f"Bearer {seat.token}"} if seat.token else {}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        client = await create_client(seat.url, ClientConfig(httpx_client=http, **config))
        async with client:
            yield client


def request(action: str, arguments: Any = None, text: str = "") -> SendMessageRequest:
    parts = [new_data_part({"action": action, "arguments": arguments or {}})]
    return SendMessageRequest(
        message=new_message([*parts, *([new_text_part(text)] if text else [])], role=Role.ROLE_USER)
    )


async def answer(client: Client, message: SendMessageRequest) -> tuple[str, Any]:
    """The text and the data of the answer, of a message or of a task that came to its end."""
    parts: Any = []
    async for event in client.send_message(message):
        if event.HasField("message"):
            parts = event.message.parts
        elif event.HasField("artifact_update"):
            parts = event.artifact_update.artifact.parts
        elif event.HasField("task") and event.task.artifacts:
            parts = event.task.artifacts[-1].parts
    return "\n".join(get_text_parts(parts)), get_data_parts(parts)[0]


@pytest.mark.parametrize("streaming", [True, False])
async def test_ten_days_give_the_digest(streaming: bool) -> None:
    """With and without streaming; the card lists the actions with their schemas."""
    reference = akinai.run("vending", agent="reference", days=10, preset="classic")[0]
    async with await akinai.aopen("vending", days=10, preset="classic") as session:  # noqa: SIM117 - closed after its server
        async with served(session) as (seat,), client_of(seat, streaming=streaming) as client:
            async with httpx.AsyncClient() as http:
                card = (await http.get(seat.url + CARD)).json()
            assert [skill["id"] for skill in card["skills"]] == [verb.tool_name() for verb in session.verbs()]
            assert {"send_email", "set_price", "report"} < {skill["id"] for skill in card["skills"]}
            assert '"maximum": 23' in next(s["description"] for s in card["skills"] if s["id"] == "wait_until")
            assert "securitySchemes" not in card
            look, _ = await answer(client, request("look"))
            assert "You run a vending machine" in look
            text, data = "", None
            for name, arguments in actions_of(reference):
                text, data = await answer(client, request(name, arguments))
            assert data["done"]
            assert text.endswith("The run is over: horizon.")
            assert (await answer(client, request("advance_day")))[1]["code"] == "over"
    assert (await session.run()).digest == reference.digest


async def test_rewards_sum_to_what_the_score_gained() -> None:
    """In the metadata of the data part; the end settles the last, and an action after it has none."""
    run = akinai.run("vending", agent="reference", days=3, preset="classic")[0]
    async with (
        await akinai.aopen("vending", days=3, preset="classic") as session,
        served(session) as (seat,),
        client_of(seat) as client,
    ):
        began, rewards = (await session.scores())[0].value, list[float]()
        for name, arguments in [*actions_of(run), ("advance_day", {})]:
            async for event in client.send_message(request(name, arguments)):
                metadata = event.message.parts[-1].metadata
                rewards += [metadata["akinai/reward"]] if "akinai/reward" in metadata else []
        assert len(rewards) == run.entries
        assert sum(rewards) == run.scores[0].value - began


async def test_customers_trade_each_with_its_token() -> None:
    """The whole market has the digest of the run in process; another's token opens nothing but the card."""
    reference = akinai.run("market")[0]
    async with await akinai.aopen("market", hold=["customers"]) as session, served(session, "token") as seats:
        async with httpx.AsyncClient() as http:
            for headers in ({}, {"authorization": f"Bearer {seats[1].token}"}):
                assert (await http.post(seats[0].url, json={}, headers=headers)).status_code == 401
            card = (await http.get(seats[0].url + CARD)).json()
            assert card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"] == "bearer"
            assert (await http.get(seats[0].url.rpartition("/")[0] + "/nobody" + CARD)).status_code == 401

        async def play(seat: SeatAddress) -> None:
            async with client_of(seat) as client:
                for name, arguments in actions_of(reference, seat.actor):
                    await answer(client, request(name, arguments))

        await asyncio.gather(*map(play, seats))
        assert (await session.run()).digest == reference.digest


SLEEPY = {"settings": {"clock": "wall", "businesses.agent": "same"}, "hold": ["customer_0001", "business_0001"]}
"""A market in real time whose customer sleeps until the business writes."""


async def meet(customer: Client, business: Client) -> None:
    """Register both, businesses first, and let the customer ask for something."""
    for client in (business, customer):
        assert (await answer(client, request("register")))[1]["ok"]
    message = {"type": "text", "content": "Tacos?"}
    assert (await answer(customer, request("send_message", {"to_agent_id": "business_0001", "message": message})))[1][
        "ok"
    ]


REPLY = {"to_agent_id": "customer_0001", "message": {"type": "text", "content": "Tacos today!"}}


async def test_a_sleeping_wait_is_a_task_that_streams() -> None:
    """It works until mail comes, and then has the answer as its artifact."""
    async with await akinai.aopen("market", **SLEEPY) as session, served(session) as (shop, buyer):  # noqa: SIM117
        async with client_of(buyer) as customer, client_of(shop) as business:
            await meet(customer, business)
            states: list[Any] = []

            async def sleep() -> str:
                text = ""
                async for event in customer.send_message(request("wait", {"seconds": 600})):
                    if event.HasField("task"):
                        states.append(event.task.status.state)
                    elif event.HasField("status_update"):
                        states.append(event.status_update.status.state)
                    elif event.HasField("artifact_update"):
                        text = "\n".join(get_text_parts(event.artifact_update.artifact.parts))
                return text

            sleeping = asyncio.create_task(sleep())
            while not states:
                await asyncio.sleep(0.05)
            assert (await answer(business, request("send_message", REPLY)))[1]["ok"]
            assert "mail" in (await sleeping) or "message" in (await sleeping)
            assert states == [TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED]


async def test_a_task_can_be_asked_for_and_left() -> None:
    """A client that polls finds the answer; one that cancels leaves the action as it was taken."""
    async with await akinai.aopen("market", **SLEEPY) as session, served(session) as (shop, buyer):  # noqa: SIM117
        async with client_of(buyer, streaming=False, polling=True) as customer, client_of(shop) as business:
            await meet(customer, business)
            for ending in (TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_CANCELED):
                events = [event async for event in customer.send_message(request("wait", {"seconds": 600}))]
                task = events[-1].task
                if ending == TaskState.TASK_STATE_COMPLETED:
                    assert (await answer(business, request("send_message", REPLY)))[1]["ok"]
                    while task.status.state == TaskState.TASK_STATE_WORKING:
                        await asyncio.sleep(0.05)
                        task = await customer.get_task(GetTaskRequest(id=task.id))
                    assert get_data_parts(task.artifacts[-1].parts)[0]["ok"]
                    assert (await answer(customer, request("fetch_messages")))[1]["ok"]
                else:
                    task = await customer.cancel_task(CancelTaskRequest(id=task.id))
                assert task.status.state == ending
            entries = (await session.run()).ledger.entries
            assert sum(entry.name == "Wait" and entry.actor == "customer_0001" for entry in entries) == 2


async def test_refusals_have_their_code() -> None:
    """Wrong types, unknown actions, prose, a megabyte, an empty message: nothing is lost and the game goes on."""
    async with (
        await akinai.aopen("vending", days=2, preset="classic") as session,
        served(session) as (seat,),
        client_of(seat) as client,
    ):
        for message, code in (
            (request("sell_kidney"), "no_action"),
            (request("wait_until", {"hour": "noon"}), "bad_parameters"),
            (request("wait_until", {"hour": 9.5}), "bad_parameters"),
            (request("notepad_write", {"text": "x" * 2**20}), "bad_parameters"),
            (request("wait_until", [1]), "bad_parameters"),
            (SendMessageRequest(message=new_message([new_text_part("Hello!")], role=Role.ROLE_USER)), "no_action"),
        ):
            text, data = await answer(client, message)
            assert (data["ok"], data["code"]) == (False, code), text
        with pytest.raises(InvalidParamsError):
            await answer(client, SendMessageRequest(message=new_message([], role=Role.ROLE_USER)))
        look = SendMessageRequest(message=new_message([new_text_part("look")], role=Role.ROLE_USER))
        assert "You run a vending machine" in (await answer(client, look))[0]
        spoken = new_text_part('{"action": "advance_day", "arguments": {}}')
        assert (await answer(client, SendMessageRequest(message=new_message([spoken], role=Role.ROLE_USER))))[1]["ok"]
        assert (await answer(client, request("get_money_balance", text="How much?")))[1]["ok"]
        entries = (await session.run()).ledger.entries
        assert (len(entries), entries[-1].said) == (8, "How much?")


async def test_two_clients_of_a_seat_take_turns() -> None:
    """Twenty actions at once are twenty entries."""
    async with await akinai.aopen("vending", preset="classic") as session, served(session) as (seat,):
        async with client_of(seat) as first, client_of(seat) as other:
            answers = [
                answer(client, request("notepad_write", {"text": str(i)}))
                for i in range(10)
                for client in (first, other)
            ]
            assert all(data["ok"] for _, data in await asyncio.gather(*answers))
        assert [entry.seq for entry in (await session.run()).ledger.entries] == [*range(1, 21)]


PLAY = """
import asyncio, os, sys
from a2a.client import create_client
from a2a.helpers import new_data_part, new_message
from a2a.types import Role, SendMessageRequest

async def main():
    client = await create_client(sys.argv[1])
    message = new_message([new_data_part({"action": "advance_day"})], role=Role.ROLE_USER)
    async for _ in client.send_message(SendMessageRequest(message=message)):
        pass
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""


def start(folder: Path, *words: str) -> tuple[subprocess.Popen[str], str]:
    """`akinai a2a` in a process of its own, and the address of its seat."""
    line = [sys.executable, "-m", "akinai", "a2a", *words, "--port", "0", "--store", str(folder / "a.db")]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, next(line.split()[1] for line in process.stdout if "http://" in line)


def test_a_run_goes_on_after_its_client_and_its_server_died(tmp_path: Path) -> None:
    """Every answered action is kept; foreign pages are refused."""
    for words in (("vending", "--days", "2", "--name", "game"), ("--resume", "game-1")):
        process, url = start(tmp_path, *words)
        try:
            assert httpx.get(url + CARD, headers={"host": "evil.example"}).status_code == 403
            done = subprocess.run([sys.executable, "-c", PLAY, url], capture_output=True, text=True, check=False)
            assert done.returncode == -9, done.stderr
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
    run = akinai.runs("game-1", store=str(tmp_path / "a.db"))[0]
    assert (run.entries, run.ending) == (2, "horizon")


def test_the_page_runs(tmp_path: Path) -> None:
    """Its program plays against its command."""
    (program,) = BLOCK.findall((Path(__file__).parents[2] / "docs" / "a2a.md").read_text(encoding="utf-8"))
    process, url = start(tmp_path, "vending", "--days", "3", "--name", "mine")
    try:
        text = program.replace("http://127.0.0.1:8000/a2a/mine-1", url)
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
        assert "ok" in done.stdout
    finally:
        process.terminate()
        process.communicate()
