"""A world as an environment of OpenEnv, played by its own client."""

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from openenv.core import GenericEnvClient

import akinai
import attacks
import doors
from akinai.adapters.openenv import make_app
from akinai.core.chance import pooled_seed, split_of

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
DAY = {"name": "advance_day"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("openenv") / "akinai.db")


@pytest.fixture(scope="module")
def url(store: str) -> Iterator[str]:
    """A server of three days of vending."""
    with doors.serving(make_app("vending", days=3, store=store)) as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    with GenericEnvClient(base_url=url).sync() as client:
        yield client


def test_openenvs_own_validation_passes(url: str) -> None:
    """All of its checks of a running server."""
    program = str(Path(sys.executable).with_name("openenv"))
    done = subprocess.run([program, "validate", "--url", url], capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "Verdict: PASS"), done.stdout
    assert done.stdout.count("PASS  ") == 6


def test_rewards_sum_to_what_the_score_gained(client: Any) -> None:
    """Over an episode; the state then holds the scores, and a step after the end says that it is over."""
    game = doors.Game(days=3)
    run = doors.reference(game)
    begun = client.reset(seed=run.seed)
    with akinai.open("vending", days=3, seed=run.seed) as session:
        assert begun.observation["text"] == session.prompt()
        names = [verb.tool_name() for verb in session.verbs()]
    assert [tool["name"] for tool in begun.observation["tools"]] == names
    assert {"advance_day", "change_prices", "pay"} < set(names)
    results = [client.step({"name": name, "arguments": arguments}) for name, arguments in game.actions]
    assert [result.done for result in results] == [False] * (run.entries - 1) + [True]
    scores = client.state()["scores"]
    assert scores == {score.name: score.value for score in run.scores}
    assert sum(result.reward for result in results) == scores["bank_balance"] - doors.starting_score(game)
    after = client.step(DAY)
    assert (after.done, after.reward, after.observation["code"]) == (True, None, "over")


@pytest.mark.parametrize(
    ("action", "code"),
    [
        ({"name": "sell_kidney"}, "no_action"),
        ({"name": "wait_until", "arguments": {"hour": "noon"}}, "bad_parameters"),
        ({"name": "wait_until", "arguments": [9]}, "bad_parameters"),
        ({"name": "notepad_write", "arguments": {"text": "x" * 2**20}}, "bad_parameters"),
    ],
)
def test_an_action_that_cannot_be_read_is_refused(client: Any, action: dict[str, Any], code: str) -> None:
    """In words for a model; the episode goes on."""
    client.reset(seed=1)
    result = client.step(action)
    assert (result.done, result.reward, result.observation["ok"], result.observation["code"]) == (False, 0, False, code)
    assert client.step(DAY).observation["ok"]


@pytest.mark.parametrize("message", [{}, {"name": 7}, {"name": "advance_day", "days": 3}])
def test_a_message_that_is_no_action_is_an_error(client: Any, message: dict[str, Any]) -> None:
    """OpenEnv says so; nothing is recorded, and the connection stays."""
    client.reset(seed=1)
    with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
        client.step(message)
    assert client.state()["step_count"] == 0


def test_a_step_without_an_episode_says_what_to_do(client: Any) -> None:
    """Reset first."""
    with pytest.raises(RuntimeError, match="reset first"):
        client.step(DAY)
    with pytest.raises(RuntimeError, match="reset takes seed, episode_id, split and resume, not days"):
        client.reset(days=3)


def test_two_clients_play_two_runs(url: str, client: Any) -> None:
    """At the same time."""
    with GenericEnvClient(base_url=url).sync() as other:
        client.reset(seed=1)
        other.reset(seed=2)
        client.step(DAY)
        names = client.state()["episode_id"], other.state()["episode_id"]
        assert [client.state()["step_count"], other.state()["step_count"]] == [1, 0]
        assert names[0] != names[1]


def test_a_run_is_one_clients_at_a_time(url: str, store: str, client: Any) -> None:
    """Another that resumes it takes it over; the first is told so, and nothing is lost or mixed."""
    with GenericEnvClient(base_url=url).sync() as other:
        client.reset(seed=1, episode_id="shared")
        client.step(DAY)
        other.reset(resume="shared-1")
        assert other.step(DAY).observation["ok"]
        with pytest.raises(RuntimeError, match="shared-1"):
            client.step(DAY)
        assert other.step(DAY).observation["ok"]
    assert [entry.seq for entry in akinai.runs("shared-1", store=store)[0].ledger.entries] == [1, 2, 3]


@pytest.mark.slow
async def test_the_server_holds_against_attacks(tmp_path: Path) -> None:
    """Those that every listener is held to."""
    code = (
        "from akinai.adapters.openenv import serve; serve('vending', port=0, ready=lambda url: print(url, flush=True))"
    )
    with attacks.started(tmp_path, "-c", code) as (process, address, _):
        await attacks.hold(attacks.Target(process, address, "/reset"))


@pytest.mark.slow
def test_the_pages_examples_run() -> None:
    """The server, and the client that plays through it."""
    serve, play = BLOCK.findall((Path(__file__).parents[2] / "docs" / "openenv.md").read_text(encoding="utf-8"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    server = subprocess.Popen([sys.executable, "-c", serve.replace("8000", port).replace("days=30", "days=2")])
    try:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", int(port))):
                break
            time.sleep(0.1)
        done = subprocess.run([sys.executable, "-c", play.replace("8000", port)], capture_output=True, text=True)
    finally:
        server.terminate()
        server.wait()
    assert done.returncode == 0, done.stderr
    assert "net_worth" in done.stdout


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        (
            "step",
            {"action": DAY},
            "there is no episode; reset first, and keep the connection open: /step alone forgets",
        ),
        ("reset", {"episode_id": "../a"}, "a run's name is"),
        ("reset", {"resume": "nobody"}, "no run 'nobody'"),
    ],
)
def test_a_plain_request_says_what_is_wrong(url: str, path: str, body: Any, sentence: str) -> None:
    """In `detail`, as OpenEnv does where an action is none; such requests have no connection that an episode is of."""
    answer = httpx.post(f"{url}/{path}", json=body)
    assert (answer.status_code, answer.json()["detail"][: len(sentence)]) == (422, sentence)


async def test_an_episode_whose_client_died_is_resumed(url: str, store: str, client: Any) -> None:
    """Every answered step is in the store; another client goes on."""
    import websockets

    connection = await websockets.connect(url.replace("http", "ws") + "/ws")
    for message in (
        {"type": "reset", "data": {"seed": 1, "episode_id": "dying"}},
        {"type": "step", "data": DAY},
    ):
        await connection.send(json.dumps(message))
        assert json.loads(await connection.recv())["type"] == "observation"
    connection.transport.abort()
    await asyncio.sleep(0.5)

    def go_on() -> Any:
        client.reset(resume="dying-1")
        return client.step({**DAY, "text": "Go on."})

    result = await asyncio.to_thread(go_on)
    assert result.observation["ok"]
    entries = akinai.runs("dying-1", store=store)[0].ledger.entries
    assert [(entry.name, entry.said) for entry in entries] == [("AdvanceDay", ""), ("AdvanceDay", "Go on.")]


def test_a_reset_without_a_seed_is_a_new_game_of_the_pool(client: Any) -> None:
    """Of `train`, or of the split that is named, where a seed is the number of a game; a seed alone is itself."""
    seeds: list[int] = []
    for options in ({}, {}, {"split": "validation"}, {"split": "test", "seed": 3}, {"seed": 3}):
        client.reset(**options)
        seeds.append(client.state()["seed"])
    assert [split_of(seed) for seed in seeds] == ["train", "train", "validation", "test", None]
    assert (seeds[0] != seeds[1], seeds[3:]) == (True, [pooled_seed("test", 3), 3])
    with pytest.raises(RuntimeError, match="exam"):
        client.reset(split="exam")
