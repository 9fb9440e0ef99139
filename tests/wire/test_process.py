"""The server as a process: killed, stopped, and started with settings it refuses."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import httpx
import pytest
from server_process import Process, wired

from akinai import api
from akinai.cli.app import answer
from akinai.runtime.http.front import Front, Listener

PAYING = 16


async def test_a_killed_server_lost_no_payment_that_it_acknowledged(store_address: str, tmp_path: Path) -> None:
    """kill -9 while sixteen pay: every answered payment is kept, none is half made, and a retry with its key pays once."""
    words = ("--store", store_address, "--run", "r")
    process = Process(tmp_path, *words)
    acknowledged: list[int] = []
    async with wired(process) as wire:
        await wire.register("b", "business")
        for n in range(PAYING):
            await wire.register(f"c{n}")
            await wire.propose("b", f"c{n}", f"p{n}", 3 + n)

        async def pay(n: int) -> None:
            paid_now = await wire.pay(f"c{n}", "b", f"p{n}", metadata={"idempotency_key": f"k{n}"})
            assert not paid_now["is_error"]
            acknowledged.append(n)
            if len(acknowledged) == 5:
                os.kill(process.process.pid, signal.SIGKILL)

        await asyncio.gather(*(pay(n) for n in range(PAYING)), return_exceptions=True)
    process.end()
    assert len(acknowledged) >= 5
    again = Process(tmp_path, *words)
    async with wired(again) as wire:
        paid = {mail["message"]["proposal_message_id"] for mail in await wire.mail("b")}
        assert {f"p{n}" for n in acknowledged} <= paid
        for n in range(PAYING):
            paid_now = await wire.pay(f"c{n}", "b", f"p{n}", metadata={"idempotency_key": f"k{n}"})
            assert not paid_now["is_error"], paid_now
        assert len(await wire.mail("b")) == PAYING
    assert again.end(signal.SIGTERM) == 0
    (run,) = await asyncio.to_thread(api.runs, "r", store=store_address)
    assert run.score("welfare") == PAYING * 600 - sum(300 + 100 * n for n in range(PAYING))


async def test_a_stopped_server_answers_accepted_requests(tmp_path: Path) -> None:
    """SIGTERM while many write: each request is answered or was not accepted; the run is closed and verifies."""
    process = Process(tmp_path, "--store", "m.db", "--run", "r")
    answered = 0
    async with wired(process) as wire:
        await wire.register("b", "business")
        await wire.register("c")

        async def write() -> None:
            nonlocal answered
            while True:
                await wire.text("c", "b")
                answered += 1

        writers = [asyncio.create_task(write()) for _ in range(10)]
        await asyncio.sleep(0.2)
        process.process.send_signal(signal.SIGTERM)
        await asyncio.gather(*writers, return_exceptions=True)
        assert all(isinstance(writer.exception(), httpx.TransportError) for writer in writers)
    assert process.process.wait(30) == process.end() == 0
    store_address = str(tmp_path / "m.db")
    verdict = (await asyncio.to_thread(api.verify, "r", store=store_address))["r"]
    assert verdict.ok
    header = (await asyncio.to_thread(api.headers, store_address))[0]
    assert header.entries == answered + 2
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert '"what": "listening"' in lines[0]
    assert '"what": "stopped"' in lines[-1]


def test_settings_that_cannot_be_served_are_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A port in use, a missing folder, an open server on a public address, another world's run."""
    store_address = str(tmp_path / "m.db")

    def refused(*words: str) -> str:
        assert answer(["serve", "--store", store_address, *words]) == 2
        return capsys.readouterr().err

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"cannot listen on 127.0.0.1:{port}" in refused("--port", str(port))
    assert "no file or folder" in refused("--port", "0", "--market", "nowhere")
    assert "--auth token" in refused("--port", "0", "--host", "0.0.0.0")
    assert "not 'http://a.example'" in refused("--port", "0", "--allow-host", "http://a.example")
    api.run("vending", seeds=[1], days=1, store=store_address, name="v", preset="classic")
    assert "not an open market" in refused("--port", "0", "--run", "v-1")


def test_only_a_server_resumes_a_served_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`resume` names the command that continues it, a fork asks for a player; with a player it plays."""
    store = ("--store", str(tmp_path / "a.db"))
    Process(tmp_path, *store, "--run", "shop").end(signal.SIGTERM)
    assert answer(("resume", "shop", *store)) == answer(("fork", "shop", "--after", "0", *store)) == 2
    resume, fork = capsys.readouterr().err.splitlines()
    assert resume.endswith("came over HTTP, and none of them is here; 'akinai serve --run shop' goes on with it")
    assert fork.endswith("name who plays on, such as --agent careful")
    assert answer(("fork", "shop", "--after", "0", "--agent", "careful", *store)) == 0


def test_an_answer_does_not_wait_for_an_acknowledgement() -> None:
    """Connections send at once; otherwise an answer of a head and a body would take 40 ms with most clients."""
    with Front.at(Listener.MARKET, "127.0.0.1", 0) as front:
        assert front.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
