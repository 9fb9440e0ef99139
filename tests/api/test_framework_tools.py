"""A session's actions as tools of other frameworks, in loops that own themselves."""

import ast
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models import _client_utils as langchain_clients
from pydantic import SecretStr

import akinai
from akinai import worlds
from akinai.core.errors import EndRun, UnknownName, UsageError
from akinai.core.models import Reply, ToolCall
from akinai.testing.endpoint import Endpoint, ModelCall, PlayerResponder

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
def test_an_example_plays_to_the_end(
    endpoint: Endpoint,
    example: str,
    model: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Any loop ends with the run, and its tools reach the world as the player meant."""
    for name, url in (("OPENAI", endpoint.openai_url), ("ANTHROPIC", endpoint.url)):
        monkeypatch.setenv(f"{name}_API_KEY", "none")
        monkeypatch.setenv(f"{name}_BASE_URL", url)
    monkeypatch.setattr(sys, "argv", [example, model])
    runpy.run_path(str(EXAMPLES / f"{example}.py"), run_name="__main__")
    for shared in (langchain_clients._cached_sync_httpx_client, langchain_clients._cached_async_httpx_client):
        shared.cache_clear()  # its clients are closed now, and not when the tests are over, with a warning
    cents = akinai.run("vending", agent="reference", days=3, preset="classic")[0].score("net_worth")
    assert f"seed 1, horizon, bank_balance {cents} cents" in capsys.readouterr().out


@pytest.mark.parametrize("framework", ["anthropic", "autogen", "langchain", "openai"])
def test_an_example_has_six_lines(framework: str) -> None:
    """Beside its docstring and its imports, each no longer than the formatter lets it be."""
    module = ast.parse((EXAMPLES / f"session_{framework}.py").read_text(encoding="utf-8"))
    body = [node for node in module.body[1:] if not isinstance(node, ast.Import | ast.ImportFrom)]
    assert sum((node.end_lineno or 0) - node.lineno + 1 for node in body) <= 6


class Rambling:
    """Talks first, then calls nonsense, then ends the day twice in a reply."""

    def __init__(self) -> None:
        self.replies = [
            Reply("Let me think."),
            Reply("", (ToolCall("a", "sell_kidney", {}), ToolCall("b", "wait_until", {"hour": "noon"}))),
            Reply("At once.", (ToolCall("c", "advance_day", {}), ToolCall("d", "advance_day", {}))),
        ]

    async def reply(self, call: ModelCall) -> Reply:
        return self.replies.pop(0)


REFUSED = ["Refused (no_action)", "Refused (no_action)", "Refused (bad_parameters)"]
OVER = "The run is over: horizon."


def test_openais_client_gets_an_answer_to_whatever_it_brings() -> None:
    """Prose, unknown tools, wrong arguments, calls after the end; the conversation is one that the API takes."""
    with (
        Endpoint(Rambling()) as endpoint,
        openai.OpenAI(base_url=endpoint.openai_url, api_key="none") as client,
        akinai.open("vending", days=1, preset="classic") as session,
    ):
        request: dict[str, Any] = {"messages": [{"role": "user", "content": "Go."}]}
        while not session.done:
            request["messages"] += session.answer(client.chat.completions.create(model="m", **request))
        sent = request["messages"][1:]
        assert [message["role"] if isinstance(message, dict) else message.role for message in sent] == [
            *("assistant", "user"),
            *("assistant", "tool", "tool"),
            *("assistant", "tool", "tool"),
        ]
        answers = [message for message in sent if isinstance(message, dict)]
        assert [answer.get("tool_call_id") for answer in answers] == [None, "a", "b", "c", "d"]
        assert [answer["content"].partition(":")[0] for answer in answers[:3]] == REFUSED
        assert [answer["content"].endswith(OVER) for answer in answers[3:]] == [True, True]
    assert [entry.said for entry in session.run().ledger.entries] == ["", "", "", "At once."]


def test_anthropics_client_gets_an_answer_to_whatever_it_brings() -> None:
    """The same, with the results of a reply in one message, and refusals marked as errors."""
    with (
        Endpoint(Rambling()) as endpoint,
        anthropic.Anthropic(base_url=endpoint.url, api_key="none") as client,
        akinai.open("vending", days=1, preset="classic") as session,
    ):
        request: dict[str, Any] = {"messages": [{"role": "user", "content": "Go."}]}
        while not session.done:
            request["messages"] += session.answer(client.messages.create(model="m", max_tokens=99, **request))
        talk, *later_contents = [message["content"] for message in request["messages"][2::2]]
        assert talk.startswith(REFUSED[0])
        results = [result for content in later_contents for result in content]
        assert [(result["tool_use_id"], result["is_error"]) for result in results] == [
            ("a", True), ("b", True), ("c", False), ("d", True),
        ]  # fmt: skip
        assert results[-1]["content"] == OVER


def test_a_reply_may_be_json() -> None:
    """As a program that speaks HTTP itself has it; an empty reply is answered too, and what is no reply is named."""
    with akinai.open("vending", days=1, preset="classic") as session:
        call = {"id": "a", "type": "function", "function": {"name": "get_money_balance", "arguments": ""}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        assistant_message, answer = session.answer({"choices": [{"message": message}]})
        assert (assistant_message, answer["tool_call_id"], "$500.00" in answer["content"]) == (message, "a", True)
        (answer,) = session.answer({"role": "assistant", "content": []})
        assert answer["content"].startswith("Refused (no_action)")
        for wrong in ("advance_day", None, {"choices": []}, [message]):
            with pytest.raises(UsageError, match="is no reply of a model"):
                session.answer(wrong)
        assert session.run().entries == 2


async def test_a_session_for_asyncio_answers_replies() -> None:
    """As one for plain code does."""
    async with await akinai.aopen("vending", days=1, preset="classic") as session:
        block = {"type": "tool_use", "id": "a", "name": "advance_day", "input": {}}
        _, answer = await session.answer({"role": "assistant", "content": [block]})
        assert answer["content"][0]["content"].endswith(OVER)


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
    with akinai.open("vending", days=1, preset="classic") as session:
        assert session.call("wait_until", '{"hour": 99}').startswith("Refused (bad_parameters)")
        assert session.call("wait_until", "{").startswith("Refused (bad_parameters)")
        assert "You act for owner/research-1 now." in session.call("delegate_research", {"task": "Find water."})
        assert "It is dry." in session.call("report", {"text": "It is dry."})
        assert session.call("advance_day", "").endswith("The run is over: horizon.")
        with pytest.raises(EndRun, match="horizon"):
            session.call("advance_day", None)


class Blundering:
    """Calls what there is not, with a wrong type and a megabyte; then takes notes twice in a reply; then goes on for ever."""

    def __init__(self) -> None:
        self.replies = [
            Reply("", (ToolCall("a", "sell_kidney", {}),)),
            Reply("", (ToolCall("b", "wait_until", {"hour": "noon"}),)),
            Reply("", (ToolCall("c", "notepad_write", {"text": "x" * 2**20}),)),
            Reply("", tuple(ToolCall(f"d{i}", "notepad_write", {"text": str(i)}) for i in range(9))),
        ]

    async def reply(self, call: ModelCall) -> Reply:
        return self.replies.pop(0) if self.replies else Reply("", (ToolCall("e", "advance_day", {}),))


def test_an_agent_of_langgraph_that_blunders_plays_on() -> None:
    """LangGraph answers what is no tool, the world refuses the rest, and nothing is lost; the end stops the loop."""
    with (
        Endpoint(Blundering()) as endpoint,
        openai.DefaultHttpxClient() as http,
        akinai.open("vending", days=2, preset="classic") as session,
    ):
        clients: dict[str, Any] = {"http_client": http, "http_async_client": httpx.AsyncClient()}  # not those it shares
        model = ChatOpenAI(model="m", base_url=endpoint.openai_url, api_key=SecretStr("none"), **clients)
        agent = create_agent(model, session.tools_for("langchain"))
        agent.invoke({"messages": [("user", "Go.")]}, {"recursion_limit": 100})
    answers = [call.request.messages[-1].text for call in list(endpoint.calls)[1:4]]
    assert "sell_kidney is not a valid tool" in answers[0]
    assert [answer.startswith("Refused (bad_parameters)") for answer in answers] == [False, True, True]
    run = session.run()
    codes = [entry.outcome.code for entry in run.ledger.entries]
    assert (run.ending, codes) == ("horizon", ["bad_parameters"] * 2 + [None] * 11)


async def test_a_session_for_asyncio_has_asyncs_tools() -> None:
    """LangChain's tools are awaited."""
    async with await akinai.aopen("vending", days=1, preset="classic") as session:
        tools: dict[str, Any] = {tool.name: tool for tool in session.tools_for("langchain")}
        assert (await tools["advance_day"].ainvoke({})).endswith("The run is over: horizon.")
