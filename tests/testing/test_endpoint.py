"""The laws of the model endpoint, judged by the providers' own clients and by LangChain's."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI

from akinai.agents.structured import read_reply
from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Move, Plan, Role, Routine, View, player
from akinai.core.ledger import Genesis, Ledger, Outcome
from akinai.core.models import Message, Reply, ToolCall
from akinai.core.stores import RunHeader
from akinai.runtime.config import prepare
from akinai.runtime.play import Driver
from akinai.runtime.session import LocalSession
from akinai.stores.memory import MemoryStore
from akinai.testing.endpoint import Brain, Endpoint, Exchange, FaultKind, Faults, PlayerBrain, ScriptBrain
from akinai.testing.endpoint import call, read_log, spoken_parameters
from akinai.testing.endpoint_faults import BROKEN_JSON, HTTP_FAULTS, HUGE_BYTES, KINDS, PROSE, REPLY_FAULTS, UNKNOWN_TOOL
from akinai.testing.runs import AWKWARD_TEXTS
from akinai.worlds.vending import Vending
from akinai.worlds.vending import actions as a

WIRES = ("openai", "anthropic", "openai-stream", "anthropic-stream")
LOOK = {
    "name": "look",
    "description": "Look.",
    "parameters": {"type": "object", "properties": {"where": {"type": "string"}}, "required": []},
}
Serve = Callable[..., Endpoint]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Opens endpoints that are closed after the test."""
    with ExitStack() as stack:
        yield lambda brain, **told: stack.enter_context(Endpoint(brain, **told))


def model_at(endpoint: Endpoint, wire: str, name: str = "test", **told: Any) -> BaseChatModel:
    """LangChain's model of a wire, as a user would build it."""
    provider, _, stream = wire.partition("-")
    given: dict[str, Any] = {"model": name, "api_key": "k", "max_retries": 0, "timeout": 20, "streaming": bool(stream)}
    if provider == "openai":
        return ChatOpenAI(base_url=endpoint.openai_url, stream_usage=True, **given | told)
    return ChatAnthropic(base_url=endpoint.url, **given | told)


def tools_of(verbs: Sequence[type[Action]], wire: str) -> list[dict[str, Any]]:
    return [spelled(verb.tool(), wire) for verb in verbs]


def spelled(tool: dict[str, Any], wire: str) -> dict[str, Any]:
    if wire.startswith("openai"):
        return {"type": "function", "function": tool}
    return {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}


@pytest.mark.parametrize("wire", WIRES)
def test_a_text_arrives_as_it_was(serve: Serve, wire: str) -> None:
    """A reply's text reaches the client unchanged, whatever is in it."""
    texts = [text for text in AWKWARD_TEXTS if text]
    model = model_at(serve(ScriptBrain(texts)), wire)
    assert [model.invoke(str(number)).text for number in range(len(texts))] == texts


@pytest.mark.parametrize("wire", WIRES)
def test_calls_arrive_in_order(serve: Serve, wire: str) -> None:
    """Several calls in a reply reach the client in order, with their arguments and the text beside them."""
    deep = {"where": 'é "quoted"', "n": [1, 2.5, None, {"deep": True}]}
    script = Reply("I look twice.", (call("look", {"where": "left"}), call("wait"), call("look", deep)))
    model = model_at(serve(ScriptBrain([script])), wire).bind_tools([spelled(LOOK, wire)])
    got = model.invoke("hi")
    assert got.text == "I look twice."
    assert [(one["name"], one["args"]) for one in got.tool_calls] == [
        ("look", {"where": "left"}),
        ("wait", {}),
        ("look", deep),
    ]
    assert len({one["id"] for one in got.tool_calls}) == 3


@pytest.mark.parametrize("wire", WIRES)
def test_the_brain_sees_what_was_said(serve: Serve, wire: str) -> None:
    """System message, users' texts, calls, results and tools reach the brain alike over every wire."""
    endpoint = serve(ScriptBrain([Reply("Now.", (call("look", {"where": "é"}), call("look"))), "Done."]))
    model = model_at(endpoint, wire).bind_tools([spelled(LOOK, wire)])
    said: list[BaseMessage] = [SystemMessage("You are brief."), HumanMessage("Go on.")]
    got = model.invoke(said)
    said += [got, *(ToolMessage(f"seen {one['args']}", tool_call_id=one["id"]) for one in got.tool_calls)]
    said += [HumanMessage("And now?")]
    assert model.invoke(said).text == "Done."
    seen = endpoint.asked[-1].request
    assert list(seen.messages) == [
        Message("system", "You are brief."),
        Message("user", "Go on."),
        Message("assistant", "Now.", (ToolCall("call_1_1", "look", {"where": "é"}), ToolCall("call_1_2", "look", {}))),
        Message("tool", "seen {'where': 'é'}", call_id="call_1_1"),
        Message("tool", "seen {}", call_id="call_1_2"),
        Message("user", "And now?"),
    ]
    assert list(seen.tools) == [LOOK]


@pytest.mark.parametrize("wire", WIRES)
def test_usage_is_counted_alike(serve: Serve, wire: str) -> None:
    """Tokens in, out and cached are the same over every wire; the shared beginning of two requests counts as cached."""
    model = model_at(serve(ScriptBrain(["a" * 40, "b"])), wire)
    said: list[BaseMessage] = [SystemMessage("s" * 400), HumanMessage("u" * 80)]
    first = model.invoke(said)
    second = model.invoke([*said, AIMessage(first.text), HumanMessage("v" * 4)])
    before, after = first.usage_metadata, second.usage_metadata
    assert before is not None
    assert after is not None
    assert (before["input_tokens"], before["output_tokens"]) == (3 + 100 + 3 + 20, 3 + 10)
    assert (after["input_tokens"], after["output_tokens"]) == (126 + 13 + 3 + 1, 3 + 1)
    assert before.get("input_token_details", {}).get("cache_read") == 0
    assert after.get("input_token_details", {}).get("cache_read") == 126


def test_a_script_can_state_usage_and_finish(serve: Serve) -> None:
    """What a scripted reply says of tokens, model and the reason to stop is what the client reads."""
    from akinai.core.models import Usage

    reply = Reply("cut", usage=Usage(100, 7, 40), model="test-2031-01-01", finish="length")
    with openai.OpenAI(base_url=serve(ScriptBrain([reply])).openai_url, api_key="k") as client:
        got = client.chat.completions.create(model="test", messages=[{"role": "user", "content": "hi"}])
    assert (got.model, got.choices[0].finish_reason) == ("test-2031-01-01", "length")
    assert got.usage is not None
    assert got.usage.prompt_tokens_details is not None
    told = (got.usage.prompt_tokens, got.usage.completion_tokens, got.usage.prompt_tokens_details.cached_tokens)
    assert told == (100, 7, 40)


FAILURES: dict[FaultKind, tuple[str, int]] = {
    "rate_limit": ("RateLimitError", 429),
    "rate_limit_wait": ("RateLimitError", 429),
    "server_error": ("InternalServerError", 500),
    "overloaded": ("InternalServerError", 529),
    "hang": ("APITimeoutError", 0),
    "cut": ("APIConnectionError", 0),
    "cut_in_body": ("APIConnectionError", 200),
    "malformed": ("JSONDecodeError", 200),
}


@pytest.mark.parametrize("provider", [openai, anthropic])
@pytest.mark.parametrize("kind", HTTP_FAULTS)
def test_an_http_fault_is_what_its_client_knows(serve: Serve, provider: Any, kind: FaultKind) -> None:
    """Each HTTP fault raises the error that the provider's client has for it, and the next try gets the reply."""
    endpoint = serve(ScriptBrain(["here"]), faults=Faults(schedule={1: kind}, retry_after_s=3))
    name, status = FAILURES[kind]
    expected = json.JSONDecodeError if name == "JSONDecodeError" else getattr(provider, name)
    with ask_with(provider, endpoint, timeout=0.3) as ask:
        with pytest.raises(expected) as raised:
            ask()
        assert ask() == "here"
    if isinstance(raised.value, openai.APIStatusError | anthropic.APIStatusError):
        assert raised.value.response.headers.get("retry-after") == ("3" if kind == "rate_limit_wait" else None)
    assert [(one.fault, one.status, one.answered) for one in endpoint.log] == [(kind, status, False), (None, 200, True)]


class ask_with:  # noqa: N801 - it reads as a function
    """A provider's client that asks one thing."""

    def __init__(self, provider: Any, endpoint: Endpoint, **told: Any) -> None:
        given = {"api_key": "k", "max_retries": 0, **told}
        openai_wire = provider is openai
        self.client = provider.OpenAI(base_url=endpoint.openai_url, **given) if openai_wire else None
        self.client = self.client or provider.Anthropic(base_url=endpoint.url, **given)
        self.openai_wire = openai_wire

    def __enter__(self) -> Callable[[], str]:
        messages = [{"role": "user", "content": "hi"}]
        if self.openai_wire:
            return lambda: self.client.chat.completions.create(model="test", messages=messages).choices[0].message.content
        return lambda: self.client.messages.create(model="test", max_tokens=9, messages=messages).content[0].text

    def __exit__(self, *_: object) -> None:
        self.client.close()
