"""agent-lightning 1.x with its real gateway and controller on loopback: a run as a rollout, its reward as an event."""

import importlib
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from agentlightning.server.app import create_app

import akinai
from akinai import worlds
from akinai.adapters.lightning.gateway import Gateway, GatewayError, WorldAgent, play_rollout
from akinai.adapters.lightning.runs import RunTask, play
from akinai.api.training.pools import reward_span
from akinai.core.chance import pooled_seed, split_of
from akinai.core.errors import AgentError, UsageError
from akinai.testing.endpoint import Endpoint, world_responder
from akinai.testing.endpoint.http import Connection, HttpAnswer, HttpRequest, Server

PAGE = Path(__file__).parents[2] / "docs" / "lightning.md"
EXAMPLE = Path(__file__).parents[2] / "examples" / "lightning_gateway.py"
KEY = "the-key-of-this-gateway"
AGENT = "akinai.adapters.lightning.gateway:WorldAgent"
TASK = {"world": "vending", "seed": 7, "days": 3}


@dataclass(frozen=True)
class GatewayServer:
    """The package's gateway, whose model is a rule-based player."""

    client: httpx.Client
    endpoint: Endpoint

    def rollout(self, mode: str = "train") -> tuple[str, Gateway]:
        """A waiting rollout, and the addresses that a controller would pass to its process."""
        sample = {"input": TASK, "config": {"local": {"agent_class": AGENT}}}
        id = self.client.post("/api/rollouts", json=[sample]).json()[0]["rollout_id"]
        url = str(self.client.base_url).rstrip("/")
        model = f"{url}/proxy/rollout/{id}/attempt/0/mode/{mode}/openai/v1"
        return id, Gateway(model, f"{url}/api/rollouts/{id}/attempt/0/events", KEY)

    def events(self, rollout: str, kind: str) -> list[dict[str, Any]]:
        events = self.client.get(f"/api/rollouts/{rollout}/events", params={"event_type": kind}).json()
        return [event["data"] for event in events]


@pytest.fixture(scope="module")
def served() -> Iterator[GatewayServer]:
    proxy = {"model_name": "served", "train": {"temperature": 1}, "val": {"temperature": 0.7}}
    app = create_app({"key": KEY, "default_proxy": proxy})
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    headers = {"Authorization": f"Bearer {KEY}"}
    with (
        Endpoint(world_responder("vending", "reference")) as endpoint,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client,
    ):
        client.post("/api/models", json=[{"model": "served", "endpoint": endpoint.openai_url}]).raise_for_status()
        yield GatewayServer(client, endpoint)
    server.should_exit = True
    thread.join()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_a_run_is_played_by_the_gateways_model_and_rewarded(served: GatewayServer, tmp_path: Path) -> None:
    """The gateway's model plays as it does locally; the last event is its net worth, times the scale."""
    store = str(tmp_path / "runs.db")
    id, gateway = served.rollout()
    play_rollout(gateway, RunTask.of({**TASK, "store": store, "reward_scale": 0.001}))
    run = akinai.runs(store=store)[0]
    local = akinai.run("vending", agent="reference", seeds=7, days=3, preset="classic")[0]
    assert run.score("net_worth") == local.score("net_worth")
    assert [event["value"] for event in served.events(id, "reward")] == [
        pytest.approx(run.score("net_worth") * 0.00001)
    ]
    assert served.events(id, "reward")[0]["source"] == "agent"
    assert served.events(id, "akinai_run") == [{"store": store, **json.loads(json.dumps(run.to_json()))}]
    assert len(served.events(id, "model_request")) > 3


def test_the_gateway_sets_how_its_model_is_sampled(served: GatewayServer) -> None:
    """Training and validation differ only by the address; the agent sets no temperature."""
    for mode, temperature in (("train", 1), ("val", 0.7)):
        id, gateway = served.rollout(mode)
        play_rollout(gateway, RunTask.of({**TASK, "days": 1}))
        requests = [event["request"] for event in served.events(id, "model_request")]
        assert {(request["model"], request["temperature"]) for request in requests} == {("served", temperature)}


def test_a_wrong_key_is_reported(served: GatewayServer) -> None:
    """The error holds the gateway's own words."""
    _, gateway = served.rollout()
    with pytest.raises(GatewayError, match=r"'reward' was posted .* said 401"):
        replace(gateway, key="another").post("reward", {"value": 1.0})


@pytest.mark.parametrize(("answers", "taken"), [([401], False), ([503, 503, 200], True)])
def test_temporary_failures_are_retried(answers: list[int], taken: bool) -> None:
    """A gateway with a temporary failure is asked again; a refusal is final."""
    left, posts = iter(answers), 0

    async def answer(request: HttpRequest, connection: Connection) -> HttpAnswer:
        nonlocal posts
        posts += 1
        return HttpAnswer(next(left, 401), b"{}")

    server = Server(answer, 0)
    server.start()
    gateway = Gateway("", f"http://127.0.0.1:{server.port}/api/rollouts/a/attempt/0/events")
    try:
        gateway.post("reward", {"value": 1.0})
    except GatewayError:
        assert not taken
    else:
        assert taken
    finally:
        server.close()
    assert posts == len(answers)


def test_the_users_own_key_is_not_sent(served: GatewayServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process uses the gateway's key, whatever key the user has for a provider."""
    id, gateway = served.rollout()
    variables = {
        "OPENAI_API_KEY": "the-users-own-key",
        "AGL_KEY": gateway.key,
        "AGL_OPENAI_BASE_URL": gateway.base_url,
        "AGL_EVENT_URL": gateway.event_url,
        "AKINAI_TASK": json.dumps({**TASK, "days": 1}),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert served.events(id, "reward") == []
    assert WorldAgent().run().reward == served.events(id, "reward")[0]["value"]


def test_a_run_that_fails_has_no_reward(served: GatewayServer) -> None:
    """When the model cannot be reached the process fails, and with it the rollout."""
    id, gateway = served.rollout()
    broken = replace(gateway, base_url=gateway.base_url.replace("/mode/train/", "/mode/none/"))
    with pytest.raises(AgentError, match="failed"):
        play_rollout(broken, RunTask.of(TASK))
    assert served.events(id, "reward") == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/rollouts/9f3/attempt/0/events", "rollout-9f3"),
        ("/api/rollouts/step 3:a/attempt/2/events", "rollout-step-3-a-2"),
        (f"/api/rollouts/{'x' * 200}/attempt/0/events", f"rollout-{'x' * 52}"),
    ],
)
def test_a_run_is_named_after_its_rollout(path: str, name: str) -> None:
    """Whatever a trainer calls its rollouts, the run has a name that every command takes."""
    assert Gateway("http://a/v1", f"http://a{path}").rollout == name


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "AGL_OPENAI_BASE_URL and AGL_EVENT_URL not set"),
        ({"AGL_OPENAI_BASE_URL": "http://a/v1"}, "^AGL_EVENT_URL not set"),
        ({"AKINAI_TASK": ""}, "AKINAI_TASK is not set"),
        ({"AKINAI_TASK": "{"}, "which is no JSON"),
        ({"AKINAI_TASK": '{"world": "vending", "seed": 1, "day": 3}'}, "day: extra"),
    ],
)
def test_a_missing_or_invalid_variable_is_named(
    environment: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each error names the variable or field, before anything is played."""
    for name in ("AGL_OPENAI_BASE_URL", "AGL_EVENT_URL", "AGL_KEY", "AKINAI_TASK"):
        monkeypatch.delenv(name, raising=False)
    if "AKINAI_TASK" in environment:
        environment = {"AGL_OPENAI_BASE_URL": "http://a/v1", "AGL_EVENT_URL": "http://a/e", **environment}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=message):
        WorldAgent().run()


def test_the_sample_of_the_page_is_valid(served: GatewayServer) -> None:
    """The gateway accepts the page's sample, which names an existing agent and a valid task."""
    match = re.search(r"^```json\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert match
    sample = json.loads(match[1])
    taken = served.client.post("/api/rollouts", json=[sample]).json()[0]
    module, _, name = taken["config"]["local"]["agent_class"].partition(":")
    assert getattr(importlib.import_module(module), name) is WorldAgent
    assert RunTask.of(taken["input"]).reward_scale == 0.001


def test_the_example_runs(tmp_path: Path) -> None:
    """The documented command starts server, controller and rollout; the reward is that of the stored ledger."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--days", "2"], cwd=tmp_path, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stderr
    match = re.search(r"^reward (\S+): bank_balance \d+ cents in run (\S+)$", done.stdout, re.M)
    assert match, done.stdout + done.stderr
    run = akinai.runs(match[2], store=str(tmp_path / "akinai.db"))[0]
    assert (run.score("bank_balance") / 100, run.agent) == (float(match[1]), "chat")


def test_a_sample_names_a_game_of_a_pool() -> None:
    """With a seed the one of that number, without one a new game of `train` each time; scaled rewards are gains."""
    days = {"world": "vending", "preset": "classic", "days": 10}
    numbered = play(RunTask.of({**days, "split": "validation", "seed": 3, "reward": "scaled"}))
    assert numbered.run.seed == pooled_seed("validation", 3)
    span = reward_span(worlds.load("vending"), "scaled", {**days, "settings": None})
    assert numbered.reward == pytest.approx((numbered.run.scores[0].value - 50_000) / span)
    new = [play(RunTask.of(days)).run.seed for _ in range(2)]
    assert ([split_of(seed) for seed in new], len({*new})) == (["train", "train"], 2)
    with pytest.raises(UsageError, match="split"):
        RunTask.of({**days, "split": "exam"})
