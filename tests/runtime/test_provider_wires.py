"""The providers' own packages over HTTP on loopback, each in its own wire: one contract, and nothing that a reply held is lost."""

from collections.abc import Mapping
from typing import Any

import pytest
from loopback import HELLO, TOOLS, Stopwatch, answering, called, completion, letter, model_at, ok, status

from akinai.core.errors import ContextLimit, ModelError, ToolsRefused
from akinai.core.models import Message, Request
from akinai.runtime.models.langchain import open_model

Body = Mapping[str, Any]
PROVIDERS = ("openai", "anthropic", "ollama")


def chat(text: str = "Good.", **over: Any) -> dict[str, Any]:
    """An answer of Ollama; `over` are fields of its message."""
    counts = {"done_reason": "stop", "prompt_eval_count": 12, "eval_count": 3}
    message = {"role": "assistant", "content": text, **over}
    return {"model": "test:8b", "created_at": "2031-01-01T00:00:00Z", "message": message, "done": True, **counts}


def answer_of(provider: str, text: str = "Good.") -> Body:
    match provider:
        case "openai":
            return completion(text)
        case "anthropic":
            return letter([{"type": "text", "text": text}])
        case _:
            return chat(text)


def temperature_in(body: Body) -> object:
    return body.get("temperature", body.get("options", {}).get("temperature"))


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_option_that_is_refused_is_left_out_by_each_package(provider: str) -> None:
    """Each package's requests pass the contract: the option goes once, and the card names it."""
    refusal = status(400, "Unsupported parameter: 'temperature' is not supported with this model")
    with answering(
        ok(answer_of(provider)), refuse=lambda body: None if temperature_in(body) is None else refusal
    ) as server:
        async with model_at(server, provider, temperature=0.5) as model:
            for _ in range(2):
                assert (await model.labelled("a").reply(HELLO)).text == "Good."
            (sentence,) = model.concessions
    assert sentence.startswith("temperature is left out; the server said: Unsupported parameter")
    assert [temperature_in(body) for body in server.bodies] == [0.5, None, None]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_prompt_that_is_too_long_is_told_by_each_package(provider: str) -> None:
    """It is an event of the conversation, asked once."""
    with answering(status(400, "prompt is too long: 9000 tokens > 8192 maximum")) as server:
        async with model_at(server, provider) as model:
            with pytest.raises(ContextLimit, match="too long"):
                await model.reply(HELLO)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_server_without_tools_is_told_by_each_package(provider: str) -> None:
    """So is a server that takes no tools; a second request with tools is not sent, and one without them is."""
    refusal = status(400, "registry/test does not support tools")
    with answering(ok(answer_of(provider)), refuse=lambda body: refusal if body.get("tools") else None) as server:
        async with model_at(server, provider) as model:
            for _ in range(2):
                with pytest.raises(ToolsRefused, match="does not support tools"):
                    await model.reply(HELLO)
            assert (await model.reply(Request(HELLO.messages))).text == "Good."
    assert [bool(body.get("tools")) for body in server.bodies] == [True, False]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_package_uses_a_proxy_on_this_machine(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment, at which nothing listens, does not matter to a server on loopback."""
    for name in ("ALL_PROXY", "HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "socks5://127.0.0.1:9" if name == "ALL_PROXY" else "http://127.0.0.1:9")
    with answering(ok(answer_of(provider))) as server:
        async with model_at(server, provider) as model:
            assert (await model.reply(HELLO)).text == "Good."


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_each_package_leaves_a_closed_port_its_cause(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the one whose message is advice to install what is not at fault."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    url = "http://127.0.0.1:9" if provider == "anthropic" else "http://127.0.0.1:9/v1"
    async with open_model(f"{provider}:test", base_url=url, clock=Stopwatch().clock) as model:
        with pytest.raises(ModelError, match=r"2 tries.*connection refused: nothing listens"):
            await model.reply(HELLO)


async def test_thoughts_of_ollama_are_kept_and_go_back() -> None:
    """Its `thinking` is a thought beside the reply and in the next request; nobody asks it to think, or not to."""
    call = {"function": {"name": "advance_day", "arguments": {}}}
    with answering(ok(chat("", thinking="Let me wait.", tool_calls=[call])), ok(chat())) as server:
        async with model_at(server, "ollama") as model:
            reply = await model.reply(HELLO)
            past = (reply.message, Message("tool", "done", call_id=reply.calls[0].id))
            await model.reply(Request((*HELLO.messages, *past), TOOLS))
    assert (reply.text, reply.message.thinking, reply.calls[0].name) == ("", "Let me wait.", "advance_day")
    assert server.bodies[1]["messages"][2]["thinking"] == "Let me wait."
    assert all("think" not in body and body["stream"] is False for body in server.bodies)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"slot": "A1", "price": 2', '{"slot": "A1", "price": 2'),
        ('{"slot": "A1"}', {"slot": "A1"}),
        ({"slot": '{"A": 1}', "price": "[2]"}, {"slot": '{"A": 1}', "price": "[2]"}),
        (["A1", 2], ["A1", 2]),
        (7, "7"),
    ],
)
async def test_arguments_that_ollama_passes_on_are_kept_as_the_model_wrote_them(
    arguments: object, expected: object
) -> None:
    """What is no object is refused by the rules instead of by a package, and a text stays a text; all can go back."""
    call = {"function": {"name": "set_price", "arguments": arguments}}
    with answering(ok(chat("", tool_calls=[call])), ok(chat())) as server:
        async with model_at(server, "ollama") as model:
            reply = await model.reply(HELLO)
            past = (reply.message, Message("tool", "no", call_id=reply.calls[0].id))
            assert (await model.reply(Request((*HELLO.messages, *past), TOOLS))).text == "Good."
    assert (reply.calls[0].name, reply.calls[0].arguments) == ("set_price", expected)


async def test_tools_of_ollama_are_folded_too() -> None:
    """Its calls hold objects where OpenAI's hold their text."""
    inner = {"name": "advance_day", "parameters": {}}
    call = called("a", "other_tool", inner)
    refusal = status(400, "too many tools")
    with answering(
        ok(chat("", tool_calls=[call])), refuse=lambda body: refusal if len(body["tools"]) > 1 else None
    ) as server:
        async with model_at(server, "ollama") as model:
            reply = await model.reply(HELLO)
            past = (reply.message, Message("tool", "done", call_id=reply.calls[0].id))
            await model.reply(Request((*HELLO.messages, *past), TOOLS))
    assert (reply.calls[0].name, reply.calls[0].arguments) == ("advance_day", {})
    assert server.bodies[-1]["messages"][2]["tool_calls"][0]["function"] == {"name": "other_tool", "arguments": inner}
