"""The laws of the model endpoint, judged by the providers' own clients and by LangChain's."""

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

import akinai
import forked
from akinai.core.models import Message, Reply, ToolCall, Usage
from akinai.testing.endpoint import Endpoint, Faults, ScriptResponder, read_log, tool_call
from akinai.testing.laws.sample_runs import AWKWARD_TEXTS

WIRES = ("openai", "anthropic", "openai-stream", "anthropic-stream")
LOOK = {
    "name": "look",
    "description": "Look.",
    "parameters": {"type": "object", "properties": {"where": {"type": "string"}}, "required": []},
}
Serve = Callable[..., Endpoint]
ModelAt = Callable[..., Any]


@pytest.mark.parametrize("wire", WIRES)
def test_a_text_arrives_as_it_was(serve: Serve, model_at: ModelAt, wire: str) -> None:
    """A reply's text reaches the client unchanged, whatever is in it."""
    texts = [text for text in AWKWARD_TEXTS if text]
    model = model_at(serve(ScriptResponder(texts)), wire)
    assert [model.invoke(str(number)).text for number in range(len(texts))] == texts


@pytest.mark.parametrize("wire", WIRES)
def test_calls_arrive_in_order(serve: Serve, model_at: ModelAt, wire: str) -> None:
    """Several calls in a reply reach the client in order, with their arguments and the text beside them."""
    deep = {"where": 'é "quoted"', "n": [1, 2.5, None, {"deep": True}]}
    script = Reply("I look twice.", (tool_call("look", {"where": "left"}), tool_call("wait"), tool_call("look", deep)))
    model = model_at(serve(ScriptResponder([script])), wire, tools=[LOOK])
    got = model.invoke("hi")
    assert got.text == "I look twice."
    assert [(call["name"], call["args"]) for call in got.tool_calls] == [
        ("look", {"where": "left"}),
        ("wait", {}),
        ("look", deep),
    ]
    assert len({call["id"] for call in got.tool_calls}) == 3


@pytest.mark.parametrize("wire", WIRES)
def test_the_brain_sees_what_was_said(serve: Serve, model_at: ModelAt, wire: str) -> None:
    """System message, users' texts, calls, results and tools reach the brain alike over every wire."""
    endpoint = serve(ScriptResponder([Reply("Now.", (tool_call("look", {"where": "é"}), tool_call("look"))), "Done."]))
    model = model_at(endpoint, wire, tools=[LOOK])
    messages: list[BaseMessage] = [SystemMessage("You are brief."), HumanMessage("Go on.")]
    reply = model.invoke(messages)
    messages += [reply, *(ToolMessage(f"seen {call['args']}", tool_call_id=call["id"]) for call in reply.tool_calls)]
    messages += [HumanMessage("And now?")]
    assert model.invoke(messages).text == "Done."
    seen = endpoint.calls[-1].request
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
def test_usage_is_counted_alike(serve: Serve, model_at: ModelAt, wire: str) -> None:
    """Tokens in, out and cached are the same over every wire; the shared beginning of two requests counts as cached."""
    model = model_at(serve(ScriptResponder(["a" * 40, "b"])), wire)
    messages: list[BaseMessage] = [SystemMessage("s" * 400), HumanMessage("u" * 80)]
    first = model.invoke(messages)
    second = model.invoke([*messages, AIMessage(first.text), HumanMessage("v" * 4)])
    before, after = first.usage_metadata, second.usage_metadata
    assert (before["input_tokens"], before["output_tokens"]) == (3 + 100 + 3 + 20, 3 + 10)
    assert (after["input_tokens"], after["output_tokens"]) == (126 + 13 + 3 + 1, 3 + 1)
    assert [usage["input_token_details"]["cache_read"] for usage in (before, after)] == [0, 126]


def test_a_script_can_state_usage_and_finish(serve: Serve) -> None:
    """What a scripted reply says of tokens, model and the reason to stop is what the client reads."""
    reply = Reply("cut", usage=Usage(100, 7, 40), model="test-2031-01-01", finish="length")
    with openai.OpenAI(base_url=serve(ScriptResponder([reply])).openai_url, api_key="k") as client:
        got = client.chat.completions.create(model="test", messages=[{"role": "user", "content": "hi"}])
    assert (got.model, got.choices[0].finish_reason) == ("test-2031-01-01", "length")
    usage = got.model_dump()["usage"]
    tokens = (usage["prompt_tokens"], usage["completion_tokens"], usage["prompt_tokens_details"]["cached_tokens"])
    assert tokens == (100, 7, 40)


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_what_no_provider_takes_is_refused(serve: Serve, model_at: ModelAt, wire: str) -> None:
    """A call without its result or a result without its call: 400; on Anthropic's wire an assistant's beginning too."""
    endpoint = serve(ScriptResponder(["never"]))
    model = model_at(endpoint, wire)
    call = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c1"}])
    wrong: list[list[BaseMessage]] = [
        [HumanMessage("a"), call, HumanMessage("b")],
        [HumanMessage("a"), ToolMessage("seen", tool_call_id="c1")],
        [HumanMessage("a"), call, ToolMessage("seen", tool_call_id="c1"), ToolMessage("seen", tool_call_id="c2")],
    ]
    if wire == "anthropic":
        wrong.append([AIMessage("a"), HumanMessage("b")])
    for messages in wrong:
        with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)):
            model.invoke(messages)
    assert [exchange.status for exchange in endpoint.log] == [400] * len(wrong)


def test_an_empty_message_is_refused_as_anthropic_does(serve: Serve) -> None:
    """On Anthropic's wire a message without content, or with an empty text in it, is refused with 400."""
    with anthropic.Anthropic(base_url=serve(ScriptResponder(["never"])).url, api_key="k") as client:
        for content in ("", [], [{"type": "text", "text": ""}]):
            messages: list[Any] = [{"role": "user", "content": content}, {"role": "assistant", "content": "a"}]
            with pytest.raises(anthropic.BadRequestError, match="non-empty"):
                client.messages.create(model="test", max_tokens=9, messages=messages)


def test_models_are_listed_and_strangers_turned_away(serve: Serve) -> None:
    """Both providers' clients can list the models; any other address answers 404 and says what there is."""
    endpoint = serve(ScriptResponder([]), models=("small", "large"))
    with (
        openai.OpenAI(base_url=endpoint.openai_url, api_key="k") as client,
        anthropic.Anthropic(base_url=endpoint.url, api_key="k") as two,
    ):
        assert [model.id for model in client.models.list()] == ["small", "large"]
        assert [model.id for model in two.models.list()] == ["small", "large"]
        with pytest.raises(openai.NotFoundError, match="POST /v1/chat/completions"):
            client.embeddings.create(model="small", input="hi")


def test_the_log_holds_no_key(serve: Serve, model_at: ModelAt, tmp_path: Path) -> None:
    """An API key is in no header, no conversation's key and no line of the log, over either wire."""
    key = "sk-planted-4711"
    endpoint = serve(ScriptResponder(["hi", "hi"]), log=tmp_path / "log.jsonl")
    for wire in ("openai", "anthropic"):
        model_at(endpoint, wire, api_key=key, default_headers={"x-api-key": key}).invoke("hi")
    assert key not in (tmp_path / "log.jsonl").read_text()
    assert key not in repr(endpoint.log)
    assert read_log(tmp_path / "log.jsonl") == endpoint.log
    assert [(exchange.path, exchange.headers["content-type"]) for exchange in endpoint.log] == [
        ("/v1/chat/completions", "application/json"),
        ("/v1/messages", "application/json"),
    ]


def test_the_endpoint_is_a_process_of_its_own(tmp_path: Path) -> None:
    """As a process it prints its URL first, plays any player by name, ends at SIGTERM; the log outlives two of them."""
    log = tmp_path / "log.jsonl"
    for turn in (1, 2):
        line = f"{sys.executable} -m akinai.testing.endpoint --world vending --player idle --log {log}".split()
        process = forked.Popen(line, stdout=forked.PIPE, stderr=forked.PIPE, text=True)
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert [first_call(url, name) for name in ("test", "naive#x")] == ["advance_day", "search_web"]
        finally:
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=20)
        assert (process.returncode, errors) == (0, "")
        exchanges = read_log(log)
        assert len(exchanges) == 2 * turn
        assert all(exchange.answered for exchange in exchanges)


def first_call(url: str, name: str) -> str:
    """The first tool that a model calls in the vending world."""
    with akinai.open("vending", preset="classic") as session:
        tools: Any = [{"type": "function", "function": tool} for tool in session.tools()]
    messages: Any = [{"role": "user", "content": "Begin."}]
    with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
        reply = client.chat.completions.create(model=name, messages=messages, tools=tools).model_dump()
    return reply["choices"][0]["message"]["tool_calls"][0]["function"]["name"]


@pytest.mark.slow
async def test_waiting_conversations_do_not_wait_for_each_other(serve: Serve) -> None:
    """Sixty-four conversations at once with a second of latency are all waited for at the same time."""
    endpoint = serve(ScriptResponder(["here"]), latency_s=1.0)
    messages: Any = [{"role": "user", "content": "hi"}]
    async with openai.AsyncOpenAI(base_url=endpoint.openai_url, api_key="k") as client:
        requests = (client.chat.completions.create(model=f"test#{nth}", messages=messages) for nth in range(64))
        replies = await asyncio.gather(*requests)
    assert [completion.choices[0].message.content for completion in replies] == ["here"] * 64
    spans = [(exchange.at, exchange.at + exchange.took_s) for exchange in endpoint.log]
    assert max(begin for begin, _ in spans) < min(end for _, end in spans)


def test_closing_leaves_nothing_behind(model_at: ModelAt) -> None:
    """Closing cuts what hangs, ends the thread and frees the port; closing twice is no mistake."""
    endpoint = Endpoint(ScriptResponder(["here"]), faults=Faults(schedule={1: "hang"})).start()
    failed: list[Exception] = []

    def ask_and_hang() -> None:
        try:
            model_at(endpoint, "openai").invoke("hi")
        except openai.APIConnectionError as error:
            failed.append(error)

    client = threading.Thread(target=ask_and_hang)
    client.start()
    while not endpoint.log:
        time.sleep(0.01)
    endpoint.close()
    endpoint.close()
    client.join(10)
    assert len(failed) == 1
    assert not [thread for thread in threading.enumerate() if thread.name == "akinai-endpoint"]
    with Endpoint(ScriptResponder(["here"]), port=int(endpoint.url.rpartition(":")[2])) as other:
        assert model_at(other, "openai").invoke("hi").text == "here"
