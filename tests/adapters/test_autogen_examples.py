"""The examples and commands for AutoGen, as a reader types them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import akinai
from akinai import worlds
from akinai.core.models import Reply, ToolCall
from akinai.testing.endpoint import Endpoint, ModelCall, PlayerResponder

ROOT = Path(__file__).parents[2]
ASYNC = """
import asyncio
from autogen_agentchat.agents import AssistantAgent
import akinai
from akinai.adapters.autogen import openai_client

async def main():
    async with await akinai.aopen("vending", days=3) as session:
        parts = {"tools": session.tools_for("autogen"), "system_message": session.view().text}
        agent = AssistantAgent("owner", openai_client("test"), max_tool_iterations=1000, **parts)
        await agent.run(task="Run the business to its end.")
    print(await session.run())

asyncio.run(main())
"""
"""The example for a session of asyncio."""


class Trusting:
    """Answers with the first choice that a bullet names."""

    async def reply(self, call: ModelCall) -> Reply:
        text = call.request.messages[-1].text
        choices = re.findall(r"^\d+\. (.+)$", text, re.MULTILINE)
        taught = re.findall(r":: .* -> (.+)$", text, re.MULTILINE)
        return Reply(json.dumps({"answer": next((answer for answer in taught if answer in choices), choices[0])}))


class Tireless:
    """Ends the day twice in a reply, for ever."""

    async def reply(self, call: ModelCall) -> Reply:
        return Reply("", (ToolCall("first", "advance_day", {}), ToolCall("second", "advance_day", {})))


def output(folder: Path, *words: str, endpoint: Endpoint | None = None) -> str:
    """The standard output of a Python command."""
    variables = {"OPENAI_BASE_URL": endpoint.openai_url, "OPENAI_API_KEY": "none"} if endpoint else {}
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_player_needs_no_key(tmp_path: Path) -> None:
    """Ten days over a local wire, by an assistant with its own system message, give the reference player's ledger."""
    whole = akinai.run("vending", agent="reference", days=10, preset="classic")[0]
    printed = output(tmp_path, "-W", "error", str(ROOT / "examples" / "autogen_player.py"))
    assert f"ledger {whole.ledger.digest[:12]}" in printed


@pytest.mark.parametrize("kind", ["asyncio", "plain"])
def test_an_assistant_plays_a_session_to_its_end(tmp_path: Path, kind: str) -> None:
    """Its loop ends with the run, of either kind of session; a model that goes on calling is stopped."""
    balance = akinai.run("vending", agent="reference", days=3)[0].score("bank_balance")
    program = (ROOT / "examples" / "session_autogen.py").read_text(encoding="utf-8")
    if kind == "asyncio":
        program = ASYNC
    vending = worlds.load("vending")
    with Endpoint(PlayerResponder(vending.players["reference"], vending.verbs)) as endpoint:
        printed = output(tmp_path, "-W", "error", "-c", program, "test", endpoint=endpoint)
    assert f"seed 1, horizon, bank_balance {balance} cents" in printed
    with Endpoint(Tireless()) as endpoint:
        printed = output(tmp_path, "-W", "error", "-c", program, "test", endpoint=endpoint)
        assert len(endpoint.calls) == 2
    assert "seed 1, horizon" in printed


def test_the_example_learner_learns(tmp_path: Path) -> None:
    """The assistant knows more with the playbook than without it."""
    with Endpoint(Trusting()) as endpoint:
        words = ["-W", "error", str(ROOT / "examples" / "autogen_learner.py"), "test", str(tmp_path)]
        printed = output(tmp_path, *words, endpoint=endpoint)
    match = re.fullmatch(r"(\d+)% without a playbook, (\d+)% with it\n", printed)
    assert match
    assert int(match[2]) > int(match[1])


def test_the_pages_python_runs(tmp_path: Path) -> None:
    """The Python of `docs/autogen.md` runs without an error."""
    page = (ROOT / "docs" / "autogen.md").read_text(encoding="utf-8")
    playing, learning = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    vending = worlds.load("vending")
    with Endpoint(PlayerResponder(vending.players["reference"], vending.verbs)) as endpoint:
        assert output(tmp_path, "-c", playing, endpoint=endpoint).startswith("None horizon ")
    with Endpoint(Trusting()) as endpoint:
        assert output(tmp_path, "-c", learning, endpoint=endpoint)


def test_the_command_line_plays_by_name(tmp_path: Path) -> None:
    """`akinai run --agent autogen:MODEL` plays and stores a run like any agent; the list of a world's agents names it."""
    vending = worlds.load("vending")
    with Endpoint(PlayerResponder(vending.players["reference"], vending.verbs)) as endpoint:
        words = [
            "run",
            "vending",
            "--preset",
            "classic",
            "--agent",
            "autogen:test",
            "--days",
            "3",
            "--name",
            "shop",
            "--json",
        ]
        document = json.loads(output(tmp_path, "-m", "akinai", *words, endpoint=endpoint))
    (run,) = akinai.runs("shop", store=str(tmp_path / "akinai.db"))
    assert (run.ending, run.header.agents) == ("horizon", {"owner": "autogen:test"})
    assert document
    assert "autogen" in output(tmp_path, "-m", "akinai", "worlds", "vending")
