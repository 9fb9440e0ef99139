"""Agents that think, over real HTTP: the whole path adds nothing of its own and loses nothing when the outside breaks."""

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import akinai
from akinai.core.models import Reply
from akinai.runtime.models.budget import Budget
from akinai.runtime.play.agent_spec import AgentSpec, ModelChoice
from akinai.testing.endpoint import (
    Endpoint,
    Faults,
    ModelCall,
    PlayerResponder,
    Refused,
    ScriptResponder,
    read_log,
    tool_call,
)
from akinai.testing.endpoint.faults import HTTP_FAULTS, KINDS, FaultKind
from akinai.worlds.vending import Vending

pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
pytest.importorskip("langchain_anthropic", reason="the extra 'models' is not installed")

WORLD = Vending()


def brain(player: str = "reference") -> PlayerResponder:
    return PlayerResponder(WORLD.players[player], WORLD.verbs)


def address(endpoint: Endpoint, model: str) -> str:
    return endpoint.url if model.startswith("anthropic") else f"{endpoint.url}/v1"


@pytest.mark.parametrize(
    ("model", "days"), [("openai:test", 15), pytest.param("anthropic:test", 9, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("agent", ["chat", pytest.param("structured", marks=pytest.mark.slow)])
@pytest.mark.parametrize("preset", ["classic", pytest.param("paper", marks=pytest.mark.slow)])
def test_a_model_that_plays_the_reference_gives_its_digest(model: str, days: int, agent: str, preset: str) -> None:
    """Prompt, tools, HTTP, reading and memory add nothing: the ledger is the rule-based player's, to the byte."""
    whole = akinai.run("vending", agent="reference", days=days, preset=preset)[0]
    with Endpoint(brain()) as endpoint:
        (run,) = akinai.run(
            "vending", agent=agent, model=model, base_url=address(endpoint, model), days=days, preset=preset
        )
    assert (run.header.status, run.header.error) == ("done", None)
    assert run.ledger.digest == whole.ledger.digest
    calls = run.header.card["calls"]
    assert isinstance(calls, dict)
    assert calls["models"] == ["test"]


def test_an_owner_beside_others_may_have_a_model_of_its_own() -> None:
    """The ledger is that of the player behind the model, the card counts its calls, and nobody else asks."""
    seats = {"owners.1.agent": "naive", "owners.2.agent": "reference"}
    options = {"preset": "classic", "days": 6}
    whole = akinai.run("vending", agent="idle", settings=seats, **options)[0]
    with Endpoint(brain()) as endpoint:
        seats = {"owners.1.agent": "naive", "owners.2.model": "openai:test"}
        url = address(endpoint, "openai")
        (run,) = akinai.run("vending", agent="idle", settings=seats, base_url=url, **options)
    assert (run.header.status, run.header.error) == ("done", None)
    assert [entry.parameters for entry in run.ledger.entries] == [entry.parameters for entry in whole.ledger.entries]
    calls = run.header.card["calls"]
    assert isinstance(calls, dict)
    assert list(calls["groups"]) == ["owner_2"]


@pytest.mark.slow
def test_a_window_that_is_trimmed_loses_no_pair_and_goes_on() -> None:
    """With a window of 4,000 tokens the conversation is cut many times, and the player behind the wire plays the same."""
    whole = akinai.run("vending", agent="reference", days=30, preset="classic")[0]
    with Endpoint(brain()) as endpoint:
        spec = AgentSpec("chat", ModelChoice("openai:test", address(endpoint, "openai")), window_tokens=4_000)
        (run,) = akinai.run("vending", agent=spec, days=30, preset="classic")
    assert run.ledger.digest == whole.ledger.digest


def test_what_falls_out_is_summed_up_by_the_model() -> None:
    """With --memory summary a call without tools is made for what is dropped, and its text stays in sight."""
    with Endpoint(brain()) as endpoint:
        spec = AgentSpec(
            "chat", ModelChoice("openai:test", address(endpoint, "openai")), memory="summary", window_tokens=4_000
        )
        (run,) = akinai.run("vending", agent=spec, days=10, preset="classic")
        assert run.header.status == "done"
        summaries = [call for call in endpoint.calls if "out of sight" in call.request.messages[-1].text]
        trimmed = [call for call in endpoint.calls if "no longer in sight" in call.request.messages[1].text]
    assert summaries
    assert trimmed


def test_replies_without_a_call_are_nudged_and_counted() -> None:
    """Prose, an unknown tool and broken arguments are messages, refused with a reason, and never end a run."""
    replies = [
        "I think I should wait.",
        tool_call("fly_to_moon"),
        tool_call("wait_until", "{hour:"),
        tool_call("advance_day"),
    ]
    with Endpoint(ScriptResponder([*replies, *[tool_call("advance_day")] * 2])) as endpoint:
        (run,) = akinai.run(
            "vending", model="openai:test", base_url=address(endpoint, "openai"), days=3, preset="classic"
        )
    assert run.header.ending == "horizon"
    codes = [entry.outcome.code for entry in run.ledger.entries]
    assert codes == ["no_action", "no_action", "bad_parameters", None, None, None]


def test_a_reply_without_an_action_is_answered_with_the_name_of_one() -> None:
    """By JSON: the prompt and the refusal show how a reply begins, with the name of an action that is offered."""
    with Endpoint(ScriptResponder(["I am sorry.", '{"action": "CLOSE_WEEK"}'])) as endpoint:
        spec = AgentSpec("structured", ModelChoice("openai:test", address(endpoint, "openai")))
        tools = {"tools": ["week", "close_week"]}
        (run,) = akinai.run("vending", agent=spec, preset="sprint", days=7, settings=tools)
        system, refusal = (endpoint.calls[1].request.messages[index].text for index in (0, -1))
    assert [entry.outcome.code for entry in run.ledger.entries] == ["no_action", None]
    form = "The action of a reply is for example WEEK with parameters beside it, or CLOSE_WEEK alone."
    assert '"' not in refusal  # a model that copies it writes no broken JSON
    assert form in system
    assert form in refusal


def test_a_spent_budget_ends_a_run_cleanly() -> None:
    """Tokens end it as `budget`, messages as `message_cap`; what was played is kept, and the run can go on."""
    with Endpoint(brain()) as endpoint:
        choice = ModelChoice("openai:test", address(endpoint, "openai"))
        (tokens,) = akinai.run(
            "vending", agent=AgentSpec("chat", choice, budget=Budget(tokens=60_000)), days=30, preset="classic"
        )
        (messages,) = akinai.run(
            "vending", agent=AgentSpec("chat", choice, budget=Budget(actions=7)), days=30, preset="classic"
        )
    assert (tokens.header.status, tokens.header.ending) == ("done", "budget")
    assert 0 < len(tokens.ledger.entries) < 30
    assert (messages.header.status, messages.header.ending, len(messages.ledger.entries)) == ("done", "message_cap", 7)


@pytest.mark.slow
def test_fifty_runs_at_an_endpoint_that_fails_a_fifth_of_its_calls_all_end_right(tmp_path: Path) -> None:
    """Each of them is done, and equals the rule-based player's run of its seed."""
    store = str(tmp_path / "akinai.db")
    with Endpoint(
        brain("naive"), faults=Faults(rate=0.2, kinds=("rate_limit", "server_error", "cut", "malformed"), seed=1)
    ) as endpoint:
        runs = akinai.run(
            "vending",
            model="openai:test",
            base_url=address(endpoint, "openai"),
            seeds="1-50",
            name="fifty",
            days=4,
            store=store,
            jobs=50,
            preset="classic",
        )
    whole = {
        run.seed: run.ledger.digest
        for run in akinai.run("vending", agent="naive", seeds="1-50", days=4, preset="classic")
    }
    assert {run.header.status for run in runs} == {"done"}
    assert {run.seed: run.ledger.digest for run in runs} == whole


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_leaves_a_run_that_ends_right(kind: FaultKind) -> None:
    """Errors, hangs, cuts, bodies that are no JSON, unknown tools, prose, nothing, a megabyte: the run ends in its world."""
    whole = akinai.run("vending", agent="naive", days=3, preset="classic")[0]
    with Endpoint(
        brain("naive"), faults=Faults(schedule={2: kind, 7: kind}, retry_after_s=0.1, slow_s=0.1)
    ) as endpoint:
        spec = AgentSpec("chat", ModelChoice("openai:test", endpoint.openai_url), timeout_s=2.0)
        (run,) = akinai.run("vending", agent=spec, days=3, name="faulty", preset="classic")
    assert (run.header.status, run.header.ending, run.header.error) == ("done", "horizon", None)
    if kind in HTTP_FAULTS:
        assert run.ledger.digest == whole.ledger.digest


class Sulking:
    """A brain that answers so many requests and then refuses, until it is asked nicely."""

    def __init__(self, answers: int) -> None:
        self.brain, self.answers = brain("naive"), answers

    async def reply(self, call: ModelCall) -> Reply:
        self.answers -= 1
        if self.answers < 0:
            raise Refused("I do not feel like it")
        return await self.brain.reply(call)


def test_a_model_that_stays_away_makes_the_run_failed_and_resumable(tmp_path: Path) -> None:
    """The run is failed with the reason; when the model is back, resume plays it to the end it would have had."""
    store, sulking = str(tmp_path / "akinai.db"), Sulking(9)
    whole = akinai.run("vending", agent="naive", days=6, preset="classic")[0]
    with Endpoint(sulking) as endpoint:
        url = address(endpoint, "openai")
        (run,) = akinai.run(
            "vending", model="openai:test", base_url=url, days=6, store=store, name="away", preset="classic"
        )
        assert (run.header.status, len(run.ledger.entries)) == ("failed", 9)
        assert "I do not feel like it" in (run.header.error or "")
        sulking.answers = 1000
        (again,) = akinai.resume("away-1", store=store)
    assert again.header.status == "done"
    assert again.ledger.digest == whole.ledger.digest


@pytest.mark.slow
def test_kill_9_sends_no_recorded_request_again(tmp_path: Path) -> None:
    """After kill -9 and resume the endpoint's log holds every request once, and the digest is the uninterrupted run's."""
    log, store = tmp_path / "log.jsonl", tmp_path / "akinai.db"
    whole = akinai.run("vending", agent="reference", days=30, preset="classic")[0]
    with Endpoint(brain(), log=log) as endpoint:
        url = address(endpoint, "openai")
        command = [
            sys.executable,
            "-m",
            "akinai",
            "run",
            "vending",
            "--preset",
            "classic",
            "--model",
            "openai:test",
            "--base-url",
            url,
        ]
        child = subprocess.Popen([*command, "--days", "30", "--name", "cut", "--store", str(store)])
        while child.poll() is None and log.read_bytes().count(b"\n") < 30:
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.wait()
        (run,) = akinai.resume("cut-1", store=str(store))
    assert run.ledger.digest == whole.ledger.digest
    bodies = [request.body_sha256 for request in read_log(log)]
    assert len(bodies) - len(set(bodies)) <= 1  # the one that was under way when the process died


def test_a_fork_with_another_model_is_told_the_history(tmp_path: Path) -> None:
    """The other model's first request holds the past as calls and results; the runs part where the log says."""
    store = str(tmp_path / "akinai.db")
    akinai.run("vending", agent="reference", days=20, store=store, name="origin", preset="classic")
    with Endpoint(ScriptResponder([tool_call("advance_day")] * 20)) as endpoint:
        (fork,) = akinai.fork(
            "origin-1",
            at_day=15,
            model="openai:other",
            base_url=address(endpoint, "openai"),
            store=store,
            name="other",
        )
        first = endpoint.calls[0].request
    assert fork.header.status == "done"
    names = [c.name for message in first.messages for c in message.calls]
    assert "restock_slot" in names
    parted = akinai.diff("origin-1", "other", store=store)
    assert parted.entry is not None
    assert fork.header.parent == f"origin-1#{parted.entry - 1}" or parted.entry > int(
        str(fork.header.parent).split("#")[1]
    )


@pytest.mark.slow
def test_a_program_on_stdio_gives_the_same_digest() -> None:
    """A player behind a pipe plays the reference's run, to the byte."""
    whole = akinai.run("vending", agent="reference", days=15, preset="classic")[0]
    command = f"stdio:{sys.executable} -m akinai.testing.stdio_player vending reference"
    (run,) = akinai.run("vending", agent=command, days=15, preset="classic")
    assert (run.header.status, run.header.error) == ("done", None)
    assert run.ledger.digest == whole.ledger.digest


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit(3)", "ended with code 3"),
        ("print('x' * 9_000_000)", "above"),
        ("import nothing_there", "code 1"),
    ],
)
def test_a_program_that_breaks_makes_the_run_failed(program: str, reason: str) -> None:
    """A player that dies or floods the pipe is told by name, and the run is failed."""
    (run,) = akinai.run("vending", agent=f'stdio:{sys.executable} -c "{program}"', days=3, preset="classic")
    assert run.header.status == "failed"
    assert reason in (run.header.error or "")


@pytest.mark.slow
def test_sixty_four_runs_wait_side_by_side(tmp_path: Path) -> None:
    """Runs that ask a model overlap: no reply comes before all sixty-four of them have asked."""

    class Assembly(ScriptResponder):
        calls = 0

        async def reply(self, call: ModelCall) -> Reply:
            self.calls += 1
            while self.calls < 64:
                await asyncio.sleep(0.01)
            return await super().reply(call)

    store = str(tmp_path / "akinai.db")
    with Endpoint(Assembly([tool_call("advance_day")] * 5)) as endpoint:
        runs = akinai.run(
            "vending",
            model="openai:test",
            base_url=address(endpoint, "openai"),
            seeds="1-64",
            days=5,
            store=store,
            jobs=64,
            preset="classic",
        )
    assert {run.header.status for run in runs} == {"done"}
