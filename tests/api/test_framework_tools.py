"""A session's actions as tools of other frameworks, in loops that own themselves."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import akinai
import doors
from akinai import worlds
from akinai.core.errors import EndRun, UnknownName
from akinai.testing.endpoint import Endpoint, PlayerResponder

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    """The reference player on the wires of OpenAI and Anthropic."""
    world = worlds.load("vending")
    with Endpoint(PlayerResponder(world.players["reference"], world.verbs)) as endpoint:
        yield endpoint


@pytest.mark.parametrize(
    ("example", "model"),
    [
        ("session_langchain", "openai:reference"),
        ("session_openai", "reference"),
        ("session_anthropic", "reference"),
    ],
)
def test_an_example_plays_to_the_end(endpoint: Endpoint, example: str, model: str) -> None:
    """Any loop ends with the run, and its tools reach the world as the player meant."""
    keys = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
    addresses = {"OPENAI_BASE_URL": endpoint.openai_url, "ANTHROPIC_BASE_URL": endpoint.url}
    command = [sys.executable, str(EXAMPLES / f"{example}.py"), model]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **keys, **addresses})
    assert done.returncode == 0, done.stderr
    net_worth = akinai.run("vending", agent="reference", days=3)[0].score("net_worth")
    assert f"seed 1, horizon, net_worth {net_worth} cents" in done.stdout


def test_the_tools_are_all_actions() -> None:
    """Those that are not offered now too, since such loops take their tools once."""
    with akinai.open("market") as session:
        names = [verb.tool_name() for verb in session.world.verbs.classes]
        assert [tool["name"] for tool in session.tools_for("anthropic")] == names
        assert [tool["function"]["name"] for tool in session.tools_for("openai")] == names
        assert [tool.name for tool in session.tools_for("langchain")] == names
        with pytest.raises(UnknownName, match="no framework 'langgraph'; did you mean 'langchain'"):
            session.tools_for("langgraph")


def test_a_call_answers_in_words() -> None:
    """A refusal with its code, a sub-agent's turn, and the end, after which a call raises EndRun."""
    with akinai.open("vending", days=1) as session:
        assert session.call("wait_until", '{"hour": 99}').startswith("Refused (bad_parameters)")
        assert session.call("wait_until", "{").startswith("Refused (bad_parameters)")
        assert "You act for owner/research-1 now." in session.call("delegate_research", {"task": "Find water."})
        assert "It is dry." in session.call("report", {"text": "It is dry."})
        assert session.call("advance_day", "").endswith("The run is over: horizon.")
        with pytest.raises(EndRun, match="horizon"):
            session.call("advance_day", None)


def test_thirty_days_by_langchains_tools_give_the_digest_of_the_run_in_process() -> None:
    """The same actions are the same ledger."""
    run = doors.reference()
    assert doors.play_langchain(run).digest == run.digest


async def test_a_session_for_asyncio_has_asyncs_tools() -> None:
    """LangChain's tools are awaited."""
    async with await akinai.aopen("vending", days=1) as session:
        tools: dict[str, Any] = {tool.name: tool for tool in session.tools_for("langchain")}
        assert (await tools["advance_day"].ainvoke({})).endswith("The run is over: horizon.")
