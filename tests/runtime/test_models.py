"""Models over real HTTP on loopback, with the providers' own packages: what is sent, what is read, what is tried again."""

import asyncio
import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from loopback import HELLO, TOOLS, Stopwatch, answering, asking, called, completion, letter, model_at, ok, status

from akinai.core.errors import ModelError, UnknownName, UsageError
from akinai.core.models import Message, Reply, Request, ToolCall, Usage
from akinai.runtime.models import PLACEHOLDER_KEY, open_model
from akinai.runtime.pacing import REAL
from akinai.runtime.tries import Patience
from akinai.testing.endpoint import Endpoint, Faults, ScriptBrain, call

PROVIDERS = ("openai", "anthropic")
GOOD = {"openai": ok(completion("Good.")), "anthropic": ok(letter([{"type": "text", "text": "Good."}]))}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_calls_keep_their_order(provider):
    """Several calls in one reply come through in the order in which the model made them, with ids and arguments."""
    said = Reply("First this.", (call("set_price", {"slot": "A1", "price": 1.5}), call("advance_day")))
    with Endpoint(ScriptBrain([said])) as endpoint:
        async with model_at(endpoint, provider) as model:
            reply = await model.reply(HELLO)
    assert [(one.name, one.arguments) for one in reply.calls] == [
        ("set_price", {"slot": "A1", "price": 1.5}),
        ("advance_day", {}),
    ]
    assert len({one.id for one in reply.calls}) == 2
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
    with Endpoint(ScriptBrain(["Sorry."])) as endpoint:
        async with model_at(endpoint, provider) as model:
            assert (await model.reply(later)).text == "Sorry."
        heard = endpoint.asked[-1].request.messages
    assert heard[2].calls == (ToolCall("x1", "set_price", {"unreadable_arguments": "{oops"}),)
    assert heard[3] == Message("tool", "not readable", call_id="x1")


async def test_calls_without_ids_get_their_own():
    """Where a server gives no ids, or one twice, each call has an id of its own, the same on every replay."""
    calls = [called(None, "advance_day", ""), called("z", "advance_day", ""), called("z", "advance_day", "")]
    with answering(ok(completion(None, calls))) as server:
        async with model_at(server) as model:
            first, again = await model.reply(HELLO), await model.reply(HELLO)
    assert [one.id for one in first.calls] == ["call_1", "z", "z_3"]
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
    assert [one["role"] for one in server.bodies[0]["messages"]] == ["system", "user", "user"]


# What passes is tried again


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_too_many_requests_are_waited_out(provider):
    """A 429 is tried again after what Retry-After asks for, and a little more so that not all come at once."""
    watch = Stopwatch()
    with answering(status(429, retry_after="7"), GOOD[provider]) as server:
        async with model_at(server, provider, clock=watch.clock) as model:
            reply = await model.reply(HELLO)
    assert reply.text == "Good."
    assert reply.tries == 2
    assert watch.slept == [pytest.approx(7.7)]
    assert server.bodies[0] == server.bodies[1]


async def test_a_date_to_wait_for_is_read():
    """Retry-After may be a date."""
    watch = Stopwatch()
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    with answering(status(503, retry_after=date), GOOD["openai"]) as server:
        async with model_at(server, clock=watch.clock) as model:
            await model.reply(HELLO)
    assert 30 < watch.slept[0] < 45


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_waits_grow_and_are_bounded(provider):
    """Without Retry-After the waits double up to the longest, and the number of tries is bounded."""
    watch = Stopwatch()
    patience = Patience(tries=6, first_wait_s=2, longest_wait_s=10)
    with answering(status(529, "Overloaded")) as server:
        async with model_at(server, provider, clock=watch.clock, patience=patience) as model:
            with pytest.raises(ModelError, match=rf"{provider}:test .*6 tries \(6 times HTTP 529\).*Overloaded"):
                await model.reply(HELLO)
    assert watch.slept == [2, 4, 8, 10, 10]
    assert len(server.bodies) == 6


async def test_a_wait_beyond_all_bounds_is_not_waited_for():
    """A provider that asks for an hour ends the call at once, with that in the message."""
    watch = Stopwatch()
    with answering(status(429, "Quota", retry_after="3600")) as server:
        async with model_at(server, clock=watch.clock) as model:
            with pytest.raises(ModelError, match=r"1 try .*3960 s, more than the 300 s .*Quota"):
                await model.reply(HELLO)
    assert watch.slept == []


async def test_an_empty_account_is_not_waited_for():
    """A 429 that says that no money is left is final."""
    body = b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}'
    no_money = status(429)
    with answering(type(no_money)(429, body)) as server:
        async with model_at(server) as model:
            with pytest.raises(ModelError, match=r"1 try .*You exceeded your current quota"):
                await model.reply(HELLO)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "fault", ["server_error", "overloaded", "rate_limit", "rate_limit_wait", "cut", "cut_in_body", "malformed"]
)
async def test_a_fault_that_passes_costs_a_try(provider, fault):
    """Each passing fault is tried again with the same request, and the reply says that it took two tries."""
    faults = Faults(schedule={1: fault})
    with Endpoint(ScriptBrain(["Good."]), faults=faults) as endpoint:
        async with model_at(endpoint, provider) as model:
            reply = await model.reply(HELLO)
        assert (reply.text, reply.tries) == ("Good.", 2)
        assert len({one.body_sha256 for one in endpoint.log}) == 1
        assert len(endpoint.log) == 2


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_hang_is_timed_out_and_tried_again(provider):
    """A server that does not answer is given up after the time of one try, its connection closed, and asked anew."""
    with Endpoint(ScriptBrain(["Good."]), faults=Faults(schedule={1: "hang"})) as endpoint:
        async with model_at(endpoint, provider, timeout_s=0.3) as model:
            reply = await model.reply(HELLO)
        assert (reply.text, reply.tries) == ("Good.", 2)


async def test_the_time_is_of_the_whole_answer():
    """A server that sends a little now and then is given up after the time of a try as one that sends nothing."""

    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            for _ in range(100):
                writer.write(b"{")
                await writer.drain()
                await asyncio.sleep(0.05)
        writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1")
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with open_model("openai:test", base_url=url, timeout_s=0.3, patience=Patience(tries=1)) as model:
        with pytest.raises(ModelError, match=r"no answer within 0\.3 s"):
            await model.reply(HELLO)
    server.close()
    await asyncio.sleep(0.06)


async def test_a_model_that_never_answers_is_told_as_that():
    """The error of a model that hangs on every try says so and for how long it was waited each time."""
    faults = Faults(rate=1.0, kinds=("hang",))
    with Endpoint(ScriptBrain([]), faults=faults) as endpoint:
        async with model_at(endpoint, timeout_s=0.1, patience=Patience(tries=2)) as model:
            with pytest.raises(ModelError, match=r"2 tries \(2 times no answer within 0.1 s\)"):
                await model.reply(HELLO)


async def test_nobody_there_is_no_connection():
    """A server that is not there is tried again, then told as no connection."""
    with answering(GOOD["openai"]) as server:
        port = server.port
    url = f"http://127.0.0.1:{port}/v1"
    async with open_model("openai:test", base_url=url, clock=Stopwatch().clock, patience=Patience(tries=2)) as model:
        with pytest.raises(ModelError, match=r"2 times no connection"):
            await model.reply(HELLO)


@pytest.mark.parametrize(
    "body",
    ["", "<html>busy</html>", '{"choices": []}', '{"choices": null}', "[]", '{"error": {"message": "overloaded"}}'],
    ids=["empty", "html", "no choices", "null choices", "a list", "an error with status 200"],
)
async def test_an_unreadable_answer_is_asked_for_again(body):
    """An answer that holds no reply, whatever else it is, is asked for again; six of them are an error."""
    with answering(ok(body), GOOD["openai"]) as server:
        async with model_at(server) as model:
            assert (await model.reply(HELLO)).tries == 2
    with answering(ok(body)) as server:
        async with model_at(server) as model:
            with pytest.raises(ModelError, match="6 times an unreadable answer"):
                await model.reply(HELLO)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("number", [400, 401, 403, 404])
async def test_a_refusal_is_final(provider, number):
    """400, 401, 403 and 404 end the call at once, in the provider's words."""
    with answering(status(number, "No such thing here.")) as server:
        async with model_at(server, provider) as model:
            with pytest.raises(ModelError, match=rf"1 try \(HTTP {number}\); it said: No such thing here") as caught:
                await model.reply(HELLO)
    assert len(server.bodies) == 1
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_long_reply_comes_whole(provider):
    """A reply of 1 MB arrives as it was sent."""
    faults = Faults(schedule={1: "huge"})
    with Endpoint(ScriptBrain([]), faults=faults) as endpoint:
        async with model_at(endpoint, provider) as model:
            assert (await model.reply(HELLO)).text == "word " * 200_000


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_empty_reply_is_a_reply(provider):
    """Neither text nor calls: that is what the model said, and the agent's to answer."""
    with Endpoint(ScriptBrain([]), faults=Faults(schedule={1: "empty"})) as endpoint:
        async with model_at(endpoint, provider) as model:
            reply = await model.reply(HELLO)
    assert (reply.text, reply.calls, reply.tries) == ("", (), 1)


# Limits, cancelling, closing


async def test_no_more_calls_at_once_than_allowed():
    """With three places, twelve calls are never more than three at a time, and all are answered."""
    with Endpoint(ScriptBrain(["Good."] * 12), latency_s=0.03) as endpoint:
        async with model_at(endpoint, max_concurrency=3) as model:
            replies = await asyncio.gather(*(model.reply(asking(str(i))) for i in range(12)))
        under_way = [(one.at, one.at + one.took_s) for one in endpoint.log]
    assert [reply.text for reply in replies] == ["Good."] * 12
    assert max(sum(begin <= moment < end for begin, end in under_way) for moment, _ in under_way) == 3


async def test_no_more_calls_a_minute_than_allowed():
    """In any sixty seconds at most the allowed number of calls begin, tries after a fault included."""
    watch = Stopwatch()
    with answering(GOOD["openai"], GOOD["openai"], status(500), GOOD["openai"]) as server:
        server.now = lambda: watch.time_s
        async with model_at(server, calls_per_minute=10, clock=watch.clock) as model:
            for i in range(24):
                watch.time_s += 0.5
                await model.reply(asking(str(i)))
    assert len(server.at) == 25
    assert all(later - earlier >= 60 for earlier, later in zip(server.at, server.at[10:], strict=False))
    assert server.at[-1] < 130


async def test_calls_of_all_runs_share_the_minute():
    """Calls that are made at once take their turns: the eleventh begins a minute after the first."""
    watch = Stopwatch()
    with Endpoint(ScriptBrain(["Good."] * 11)) as endpoint:
        async with model_at(endpoint, calls_per_minute=10, clock=watch.clock) as model:
            await asyncio.gather(*(model.labelled(f"run-{i}").reply(HELLO) for i in range(11)))
    assert watch.slept == [60.0]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_cancelled_call_leaves_nothing_behind(provider):
    """Cancelled amid a call, the model lets go of its connection and its place, and the next call is answered."""
    with Endpoint(ScriptBrain(["Good."]), faults=Faults(schedule={1: "hang"})) as endpoint:
        async with model_at(endpoint, provider, max_concurrency=1, clock=REAL) as model:
            calling = asyncio.create_task(model.reply(HELLO))
            while not endpoint.log:
                await asyncio.sleep(0.005)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert (await model.reply(HELLO)).text == "Good."


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_belongs_to_its_loop_alone(provider):
    """One model after another, each in an event loop of its own, all work: no connection outlives its loop."""

    async def once(endpoint: Endpoint) -> str:
        async with model_at(endpoint, provider) as model:
            return (await model.reply(HELLO)).text

    with Endpoint(ScriptBrain(["Good."])) as endpoint:
        assert [asyncio.run(once(endpoint)) for _ in range(3)] == ["Good."] * 3
        assert len(endpoint.log) == 3


# Names, keys, addresses


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
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "advance_day", "arguments": {}}}]}
    told = {"model": "test:8b", "created_at": "2031-01-01T00:00:00Z", "message": message, "done": True}
    counts = {"done_reason": "stop", "prompt_eval_count": 12, "eval_count": 3}
    with answering(status(500), ok({**told, **counts})) as server:
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
@pytest.mark.parametrize("number", [400, 401, 429, 500])
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
    """An address would be written into the run card, so it may hold neither a password nor a key."""
    for address in ("http://me:secret@127.0.0.1:8000/v1", f"http://127.0.0.1:8000/v1?key={PLANTED}"):
        with pytest.raises(UsageError, match="holds a password or a key") as caught:
            open_model("openai:test", base_url=address)
        assert "secret" not in str(caught.value)
        assert PLANTED not in str(caught.value)
