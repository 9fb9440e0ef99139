"""Models over real HTTP on loopback, with the providers' own packages: what is sent, what is read, whose key."""

import asyncio
import logging

import anthropic
import openai
import pytest
from loopback import GOOD, HELLO, PROVIDERS, TOOLS, answering, called, completion, letter, model_at, ok, status

from akinai.core.errors import ModelError, UnknownName, UsageError
from akinai.core.models import Message, Reply, Request, ToolCall, Usage
from akinai.runtime.models.langchain import PLACEHOLDER_KEY, open_model
from akinai.testing.endpoint import Endpoint, Faults, ScriptResponder, tool_call


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_calls_keep_their_order(provider):
    """Several calls in one reply come through in the order in which the model made them, with ids and arguments."""
    scripted = Reply("First this.", (tool_call("set_price", {"slot": "A1", "price": 1.5}), tool_call("advance_day")))
    with Endpoint(ScriptResponder([scripted])) as endpoint:
        async with model_at(endpoint, provider) as model:
            reply = await model.reply(HELLO)
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("set_price", {"slot": "A1", "price": 1.5}),
        ("advance_day", {}),
    ]
    assert len({call.id for call in reply.calls}) == 2
    assert reply.text == "First this."


async def test_unreadable_arguments_come_through_as_text_in_their_place():
    """A call whose arguments are no JSON object keeps its place among the others and its raw text."""
    calls = [
        called("a", "set_price", '{"slot": "A1"}'),
        called("b", "set_price", '{"slot": A2'),
        called("c", "set_price", '["A3"]'),
        called("d", "set_price", '{"price": NaN}'),
        called("e", "advance_day", ""),
    ]
    with answering(ok(completion(None, calls))) as server:
        async with model_at(server) as model:
            reply = await model.reply(HELLO)
    assert reply.calls == (
        ToolCall("a", "set_price", {"slot": "A1"}),
        ToolCall("b", "set_price", '{"slot": A2'),
        ToolCall("c", "set_price", '["A3"]'),
        ToolCall("d", "set_price", '{"price": NaN}'),
        ToolCall("e", "advance_day", {}),
    )


async def test_unreadable_arguments_over_the_other_wire():
    """Anthropic's tools are called with objects; a server that sends text in their place is heard all the same."""
    blocks = [
        {"type": "tool_use", "id": "a", "name": "set_price", "input": "A2: 5"},
        {"type": "tool_use", "id": "b", "name": "advance_day", "input": {}},
    ]
    with answering(ok(letter(blocks, stop_reason="tool_use"))) as server:
        async with model_at(server, "anthropic") as model:
            reply = await model.reply(HELLO)
    assert reply.calls == (ToolCall("a", "set_price", "A2: 5"), ToolCall("b", "advance_day", {}))


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_conversation_with_an_unreadable_call_can_go_on(provider):
    """What the model wrote badly is sent back as an object, since servers take no other, with its result behind it."""
    bad = Reply("", (ToolCall("x1", "set_price", "{oops"),))
    later = Request((*HELLO.messages, bad.message, Message("tool", "not readable", call_id="x1")), TOOLS)
    with Endpoint(ScriptResponder(["Sorry."])) as endpoint:
        async with model_at(endpoint, provider) as model:
            assert (await model.reply(later)).text == "Sorry."
        messages = endpoint.calls[-1].request.messages
    assert messages[2].calls == (ToolCall("x1", "set_price", {"unreadable_arguments": "{oops"}),)
    assert messages[3] == Message("tool", "not readable", call_id="x1")


async def test_calls_without_ids_get_their_own():
    """Where a server gives no ids, or one twice, each call has an id of its own, the same on every replay."""
    calls = [called(None, "advance_day", ""), called("z", "advance_day", ""), called("z", "advance_day", "")]
    with answering(ok(completion(None, calls))) as server:
        async with model_at(server) as model:
            first, again = await model.reply(HELLO), await model.reply(HELLO)
    assert [call.id for call in first.calls] == ["call_1", "z", "z_3"]
    assert first.calls == again.calls


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_usage_model_and_finish_are_the_providers(provider):
    """Tokens in (cached ones included), out and cached, the model's id and why it stopped are as the provider told."""
    with answering(GOOD[provider]) as server:
        async with model_at(server, provider) as model:
            reply = await model.reply(HELLO)
    cached = {"openai": 64, "anthropic": 60}[provider]
    assert reply.usage == Usage(input=120, output=7, cached=cached)
    assert reply.model == "test-2031-01-01"
    assert reply.finish == {"openai": "stop", "anthropic": "end_turn"}[provider]
    assert reply.tries == 1


async def test_a_server_that_counts_no_tokens_is_heard():
    """Usage is zero where the server tells none; nothing is guessed."""
    with answering(ok(completion("Good.", usage=None))) as server:
        async with model_at(server) as model:
            assert (await model.reply(HELLO)).usage == Usage()


async def test_sampling_is_sent():
    """Temperature, tokens and seed reach the server under names that OpenAI-compatible servers know."""
    with answering(GOOD["openai"]) as server:
        async with model_at(server, temperature=0.25, max_tokens=99, seed=11) as model:
            await model.labelled("shop-1/owner").reply(HELLO)
            assert model.sampling == {"temperature": 0.25, "max_tokens": 99, "seed": 11}
    (body,) = server.bodies
    assert {name: body[name] for name in ("temperature", "max_tokens", "seed", "user", "model")} == {
        "temperature": 0.25,
        "max_tokens": 99,
        "seed": 11,
        "user": "shop-1/owner",
        "model": "test",
    }
    assert [tool["function"]["name"] for tool in body["tools"]] == ["set_price", "advance_day"]
    assert body["tools"][0]["function"]["parameters"] == TOOLS[0]["parameters"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_provider_is_told_which_requests_belong_together(provider):
    """Each conversation has its label, in 64 characters at most, and long ones that begin alike stay apart."""
    labels = ["shop-1/owner", "x" * 80 + "1/owner", "x" * 80 + "2/owner"]
    with answering(GOOD[provider]) as server:
        async with model_at(server, provider) as model:
            for label in labels:
                await model.labelled(label).reply(HELLO)
            await model.reply(HELLO)
    labels = [body.get("user") or body.get("metadata", {}).get("user_id") for body in server.bodies]
    assert labels[0] == "shop-1/owner"
    assert [len(label) for label in labels[1:3]] == [64, 64]
    assert labels[1] != labels[2]
    assert labels[3] is None


async def test_a_card_opens_the_same_model():
    """What the run card says of a model is enough to open it again, and holds no key."""
    with answering(GOOD["openai"]) as server:
        async with model_at(server, temperature=0.25, seed=11) as model:
            card = model.card
        async with open_model(card["name"], base_url=card["base_url"], **card["sampling"]) as again:
            await again.reply(HELLO)
            assert again.card == card
    assert server.bodies[0]["temperature"] == 0.25


async def test_half_a_character_is_sent_as_a_mark():
    """Half a surrogate pair, which a model can write and UTF-8 cannot hold, does not stop the conversation."""
    bad = Message("assistant", "\ud83d", (ToolCall("a", "set_price", {"slot": "\ud83d"}),))
    with answering(GOOD["openai"]) as server:
        async with model_at(server) as model:
            await model.reply(Request((*HELLO.messages, bad, Message("tool", "no", call_id="a")), TOOLS))
    sent = server.bodies[0]["messages"][2]
    assert sent["content"] == "\ufffd"
    assert sent["tool_calls"][0]["function"]["arguments"] == '{"slot": "\ufffd"}'


async def test_a_late_word_of_the_system_is_a_users():
    """Many servers take a system message at the begin alone; one that comes later is sent as a user's."""
    with answering(GOOD["openai"]) as server:
        async with model_at(server) as model:
            await model.reply(Request((*HELLO.messages, Message("system", "Summary: all well."))))
    assert [message["role"] for message in server.bodies[0]["messages"]] == ["system", "user", "user"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_long_reply_comes_whole(provider):
    """A reply of 1 MB arrives as it was sent."""
    faults = Faults(schedule={1: "huge"})
    with Endpoint(ScriptResponder([]), faults=faults) as endpoint:
        async with model_at(endpoint, provider) as model:
            assert (await model.reply(HELLO)).text == "word " * 200_000


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_empty_reply_is_a_reply(provider):
    """Neither text nor calls: that is what the model said, and the agent's to answer."""
    with Endpoint(ScriptResponder([]), faults=Faults(schedule={1: "empty"})) as endpoint:
        async with model_at(endpoint, provider) as model:
            reply = await model.reply(HELLO)
    assert (reply.text, reply.calls, reply.tries) == ("", (), 1)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_belongs_to_its_loop_alone(provider):
    """One model after another, each in an event loop of its own, all work: no connection outlives its loop."""

    async def once(endpoint: Endpoint) -> str:
        async with model_at(endpoint, provider) as model:
            return (await model.reply(HELLO)).text

    with Endpoint(ScriptResponder(["Good."])) as endpoint:
        assert [asyncio.run(once(endpoint)) for _ in range(3)] == ["Good."] * 3
        assert len(endpoint.log) == 3


# Names, keys, addresses


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_crowd_of_calls_shares_several_pools_and_the_next_one_the_same(provider, monkeypatch):
    """Every pool of connections carries a few calls at once; forty calls and forty more need three pools in all."""
    opened = []
    client = {"openai": openai.DefaultAsyncHttpxClient, "anthropic": anthropic.DefaultAsyncHttpxClient.__mro__[1]}[
        provider
    ]
    begin = client.__init__
    monkeypatch.setattr(client, "__init__", lambda self, **options: opened.append(self) or begin(self, **options))
    with Endpoint(ScriptResponder(["Yes."] * 80), latency_s=0.2) as endpoint:
        async with model_at(endpoint, provider) as model:
            for _ in range(2):
                replies = await asyncio.gather(*(model.reply(HELLO) for _ in range(40)))
                assert [reply.text for reply in replies] == ["Yes."] * 40
    pools = [pool for pool in opened if type(pool) is client]
    assert len(pools) == 3
    assert all(pool.is_closed for pool in pools)


def test_names_are_checked_before_anything_is_asked():
    """A name without a provider, an unknown provider and a bad address are told with what to write instead."""
    with pytest.raises(UsageError, match="PROVIDER:NAME"):
        open_model("gpt-5")
    with pytest.raises(UnknownName, match="'opnai'; did you mean 'openai'"):
        open_model("opnai:gpt-5")
    for address in ("localhost:8000/v1", "http://", "ftp://127.0.0.1/", "http://127.0.0.1:x/"):
        with pytest.raises(UsageError, match=r"an address such as 'http://127\.0\.0\.1:8000/v1'"):
            open_model("openai:test", base_url=address)


def test_a_missing_package_says_what_to_install():
    """A provider whose package is not installed is told with the command that installs it."""
    with pytest.raises(UsageError, match="pip install langchain-groq"):
        open_model("groq:test")


@pytest.mark.parametrize(
    ("name", "variable"), [("openai:gpt-5", "OPENAI_API_KEY"), ("anthropic:claude", "ANTHROPIC_API_KEY")]
)
def test_a_missing_key_names_its_variable(name, variable):
    """Without a key the model is not opened, and the sentence names the variable to set."""
    with pytest.raises(UsageError, match=f"{variable} is not set"):
        open_model(name)
    with pytest.raises(UsageError, match=f"at https://models.example/v1 needs a key and {variable} is not set"):
        open_model(name, base_url="https://models.example/v1")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_server_on_this_machine_needs_no_key(provider, monkeypatch):
    """On loopback a placeholder is sent where there is no key; one that is there is used."""
    with answering(GOOD[provider]) as server:
        async with model_at(server, provider) as model:
            await model.reply(HELLO)
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", "a-key-of-mine")
        async with model_at(server, provider) as model:
            await model.reply(HELLO)
    # Some versions of Anthropic's package send it as a header of its own, others as a bearer's.
    sent = [headers.get("x-api-key") or headers["authorization"].removeprefix("Bearer ") for headers in server.headers]
    assert sent == [PLACEHOLDER_KEY, "a-key-of-mine"]


def test_what_a_provider_does_not_take_is_refused():
    """A seed for a provider that knows none is an error, not a word left out in silence."""
    with pytest.raises(UsageError, match="anthropic takes no seed"):
        open_model("anthropic:test", base_url="http://127.0.0.1:1", seed=3)


async def test_ollama_is_spoken_to_in_its_own_words():
    """An Ollama server gets its own names for the options, and its calls, counts and finish are read."""
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "advance_day", "arguments": {}}}],
    }
    answer = {"model": "test:8b", "created_at": "2031-01-01T00:00:00Z", "message": message, "done": True}
    counts = {"done_reason": "stop", "prompt_eval_count": 12, "eval_count": 3}
    with answering(status(500), ok({**answer, **counts})) as server:
        async with model_at(server, "ollama", temperature=0.5, max_tokens=9, seed=4) as model:
            reply = await model.reply(HELLO)
    assert (reply.calls[0].name, reply.calls[0].arguments) == ("advance_day", {})
    assert (reply.usage, reply.model, reply.finish, reply.tries) == (Usage(12, 3), "test:8b", "stop", 2)
    options = server.bodies[0]["options"]
    assert (options["num_predict"], options["seed"], options["temperature"]) == (9, 4, 0.5)


# Keys are written nowhere

PLANTED = "sk-planted-0123456789abcdef"
PLAIN = "correct horse battery"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("number", [401, *(pytest.param(number, marks=pytest.mark.slow) for number in (400, 429, 500))])
@pytest.mark.parametrize("key", [PLANTED, PLAIN], ids=["a key", "a key that looks like none"])
async def test_no_error_repeats_a_key(provider, number, key, monkeypatch, caplog):
    """A provider that echoes the key in its error is repeated without it, in the message and in every log."""
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", key)
    caplog.set_level(logging.DEBUG)
    echo = f"Incorrect key {key} in Authorization: Bearer {key}"
    with answering(status(number, echo)) as server:
        async with model_at(server, provider) as model:
            with pytest.raises(ModelError) as caught:
                await model.reply(HELLO)
    assert key in str(server.headers)
    assert "Incorrect key [key removed]" in str(caught.value)
    assert key not in f"{caught.value!r} {caplog.text} {model.card}"


def test_an_address_with_a_password_is_refused():
    """An address would be written into the run card, so it may hold neither a password nor a query with a key."""
    for address in ("http://me:secret@127.0.0.1:8000/v1", f"http://127.0.0.1:8000/v1?key={PLANTED}"):
        with pytest.raises(UsageError, match="holds a password or a query") as caught:
            open_model("openai:test", base_url=address)
        assert "secret" not in str(caught.value)
        assert PLANTED not in str(caught.value)
