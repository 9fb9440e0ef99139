"""CallRecorder: what is recorded is not sent again, what is sent is recorded, and a trace tells every prompt in full."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import HELLO, TOOLS, answering, completion, model_at, ok, status

from akinai.core.canonical import canonical
from akinai.core.errors import AgentError, ContextLimit, EndRun, ModelError
from akinai.core.models import NO_TOOLS, Message, Model, Reply, Request, ToolCall, Tools, Usage
from akinai.core.stores import Books, TraceRecord
from akinai.runtime.models.budget import Budget, Meter, Price
from akinai.runtime.play.recording import CallRecorder, read_calls
from akinai.runtime.play.trace_codec import TraceCodec, decode_calls, figures
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore
from akinai.testing.endpoint import Endpoint, ScriptResponder, tool_call
from akinai.testing.laws.sample_runs import sample_header

RUN = "shop-1"


class Scripted:
    """A model that gives its replies in order and keeps what it was asked."""

    name = "test:scripted"

    def __init__(self, *replies: Reply | str) -> None:
        self.replies = [Reply(reply, usage=Usage(10, 5)) if isinstance(reply, str) else reply for reply in replies]
        self.requests: list[Request] = []

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.replies[len(self.requests) - 1]


async def a_book() -> MemoryStore:
    """A store with the run in it."""
    store = MemoryStore()
    await store.create(sample_header(RUN))
    return store


def asking_in(book: Books, meter: Meter | None = None) -> CallRecorder:
    return CallRecorder(RUN, 7, book, meter or Meter(), clock=lambda: 1_700_000_000_000_000)


def next_request(request: Request, reply: Reply, *more: Message) -> Request:
    """The request that follows a reply in a conversation."""
    return replace(request, messages=(*request.messages, reply.message, *more))


async def converse(asking: CallRecorder, model: Model, turns: int) -> list[Reply]:
    """A conversation of some turns, the same each time that it is led."""
    asker, request, replies = asking.asker("owner", model), HELLO, list[Reply]()
    for turn in range(turns):
        reply = await asker.ask(request)
        replies.append(reply)
        results = [Message("tool", f"done {turn}", call_id=call.id) for call in reply.calls]
        request = next_request(request, reply, *results, Message("user", f"Day {turn + 2}."))
    return replies


async def test_a_reply_is_recorded_before_it_is_used():
    """When `ask` gives a reply, the store holds the call: prompt, tools, reply, tokens, latency, tries, model."""
    book = await a_book()
    reply = Reply("Hm.", (ToolCall("a", "advance_day", {}),), Usage(30, 4, 20), "scripted-2031", "stop", 0.5, 2)
    assert await asking_in(book).asker("owner", Scripted(reply)).ask(HELLO) == reply
    (call,) = await read_calls(book, RUN)
    assert (call.actor, call.number, call.at, call.model) == ("owner", 1, 1_700_000_000_000_000, "test:scripted")
    assert (call.request, call.digest, call.reply) == (HELLO, HELLO.digest, reply)


async def test_no_recorded_reply_is_asked_for_again():
    """Led again over the same trace, a conversation gets its recorded replies, sends none, and then goes on."""
    book = await a_book()
    first = await converse(asking_in(book), Scripted("One.", "Two.", "Three."), 3)
    model = Scripted("Four.", "Five.")
    again = await converse(asking_in(book), model, 5)
    assert again[:3] == first
    assert [reply.text for reply in again[3:]] == ["Four.", "Five."]
    assert len(model.requests) == 2
    assert [call.number for call in await read_calls(book, RUN)] == [1, 2, 3, 4, 5]


async def test_over_the_wire_no_recorded_reply_is_asked_for_again(tmp_path):
    """The endpoint's log is the witness: after a resume from a file, it saw each request once."""
    script = ScriptResponder(
        [tool_call("set_price", {"slot": "A1", "price": 2}), "Fine.", tool_call("advance_day"), "Good."]
    )
    with Endpoint(script) as endpoint:
        for turns in (2, 4):
            store = await open_store(str(tmp_path / "akinai.db"))
            if turns == 2:
                await store.create(sample_header(RUN))
            async with model_at(endpoint) as model:
                replies = await converse(asking_in(store), model, turns)
            await store.close()
        assert [request.status for request in endpoint.log] == [200] * 4
        assert len({request.body_sha256 for request in endpoint.log}) == 4
    assert [reply.text for reply in replies] == ["", "Fine.", "", "Good."]


async def test_a_resume_gives_what_was_first_heard():
    """A number that JSON spells in two ways is heard in one, now and on a resume: 2.0 is 2."""
    book = await a_book()
    reply = Reply("", (ToolCall("a", "set_price", {"price": 2.0, "slots": ({"row": 1e2},)}),))
    now = await asking_in(book).asker("owner", Scripted(reply)).ask(HELLO)
    later = await asking_in(book).asker("owner", Scripted()).ask(HELLO)
    assert repr(now.calls) == repr(later.calls)


async def test_another_request_than_the_recorded_one_is_refused():
    """Where the trace has another request at this place, the reply is not used: AgentError names the call."""
    book = await a_book()
    await converse(asking_in(book), Scripted("One.", "Two."), 2)
    asker = asking_in(book).asker("owner", model := Scripted("Never."))
    await asker.ask(HELLO)
    with pytest.raises(AgentError, match=r"call 2 of 'owner' is recorded with the request .* fork the run"):
        await asker.ask(Request((Message("user", "Something else."),), TOOLS))
    assert model.requests == []


async def test_a_failed_call_leaves_no_record():
    """A call without an answer has no place in the trace: after a resume it is made again, under the same number."""
    book = await a_book()
    with answering(status(401, "no")) as server:
        async with model_at(server) as model:
            with pytest.raises(ModelError):
                await asking_in(book).asker("owner", model).ask(HELLO)
    assert await read_calls(book, RUN) == []
    await asking_in(book).asker("owner", Scripted("Now.")).ask(HELLO)
    assert [call.number for call in await read_calls(book, RUN)] == [1]


async def test_actors_have_their_own_numbers():
    """Each actor's calls are counted from 1; several askers of one actor count together."""
    book = await a_book()
    asking, model = asking_in(book), Scripted(*"abcd")
    await asking.asker("owner", model).ask(HELLO)
    await asking.asker("owner/email-1", model).ask(HELLO)
    await asking.asker("owner", model).ask(HELLO)
    assert [(call.actor, call.number) for call in await read_calls(book, RUN)] == [
        ("owner", 1),
        ("owner", 2),
        ("owner/email-1", 1),
    ]


async def test_calls_at_once_are_numbered_as_they_were_asked():
    """An actor's calls that are made together are made in turn, so that a resume gives each its own reply."""
    book = await a_book()
    requests = [Request((Message("user", text),)) for text in "abc"]

    class Hurried(Scripted):
        async def reply(self, request: Request) -> Reply:
            await asyncio.sleep(0.02 if request is requests[0] else 0)
            return await super().reply(request)

    first = await asyncio.gather(*map(asking_in(book).asker("owner", Hurried(*"ABC")).ask, requests))
    again = await asyncio.gather(*map(asking_in(book).asker("owner", Scripted()).ask, requests))
    assert [reply.text for reply in first] == ["A", "B", "C"]
    assert again == first


async def test_a_run_ends_before_the_call_that_is_too_much():
    """With the budget spent, EndRun comes in place of the next call, and nothing is sent or recorded."""
    book, model = await a_book(), Scripted("One.", "Two.", "Three.")
    with pytest.raises(EndRun, match="budget"):
        await converse(asking_in(book, Meter(Budget(tokens=30))), model, 3)
    assert len(model.requests) == 2
    assert len(await read_calls(book, RUN)) == 2


async def test_a_resume_counts_what_was_spent():
    """Recorded usage counts as spent and recorded replies are given though; a larger budget lets the run go on."""
    book = await a_book()
    await converse(asking_in(book), Scripted("One.", "Two."), 2)
    spent, model = Meter(Budget(tokens=30)), Scripted("Three.")
    with pytest.raises(EndRun, match="budget"):
        await converse(asking_in(book, spent), model, 3)
    assert (spent.usage, model.requests) == (Usage(20, 10), [])
    assert len(await converse(asking_in(book, Meter(Budget(tokens=31))), model, 3)) == 3


async def test_a_cancelled_call_can_be_made_again():
    """Cancelled while it waits, a call leaves no record and keeps no other of its actor waiting."""
    book = await a_book()

    class Slow(Scripted):
        async def reply(self, request: Request) -> Reply:
            await asyncio.sleep(0.01 if self.requests else 3600)
            return await super().reply(request)

    asker = asking_in(book).asker("owner", model := Slow("One.", "Two."))
    calling = asyncio.create_task(asker.ask(HELLO))
    await asyncio.sleep(0.01)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    model.requests.append(HELLO)
    assert (await asker.ask(HELLO)).text == "Two."
    assert [call.number for call in await read_calls(book, RUN)] == [1]


# The trace's format


def led(turns: int, window: int) -> list[tuple[Request, Reply]]:
    """A conversation whose window keeps the system message and the newest messages, cut at every call."""
    turns_led: list[tuple[Request, Reply]] = []
    messages: list[Message] = []
    for turn in range(turns):
        messages += [Message("tool", f"outcome {turn} " + "x" * 200, call_id=f"c{turn}")]
        request = Request((HELLO.messages[0], *messages[-window:]), TOOLS)
        reply = Reply(f"thought {turn}", (ToolCall(f"c{turn + 1}", "advance_day", {}),), Usage(10, 5))
        turns_led.append((request, reply))
        messages += [reply.message]
    return turns_led


def written(turns_led: Sequence[tuple[Request, Reply]]) -> list[TraceRecord]:
    """The records of calls, as a store gives them back."""
    codec, records = TraceCodec(), list[TraceRecord]()
    for number, (request, reply) in enumerate(turns_led, 1):
        prompt = codec.prompt(request)
        record = TraceRecord("owner", number, number, codec.encode(prompt, request, reply, "test:model"))
        codec.add(prompt, request, reply)
        records.append(TraceRecord.parse("owner", number, number, record.text))
    return records


def test_a_trace_grows_with_the_run_and_not_with_its_square():
    """Ten times the calls take ten times the bytes, though every prompt repeats a window of the past."""
    bytes_of = {turns: sum(len(record.text) for record in written(led(turns, window=60))) for turns in (100, 1000)}
    assert bytes_of[1000] < 10.5 * bytes_of[100]
    assert bytes_of[1000] < 1000 * 900


def test_every_prompt_reads_back_in_full():
    """Trimmed, summarised or begun anew, each prompt is read back from the records as it was sent."""
    turns_led = led(30, window=7)
    summary = Request((HELLO.messages[0], Message("user", "All well until now."), *turns_led[-1][0].messages[-2:]))
    turns_led += [
        (summary, Reply("On.")),
        (HELLO, Reply("On.")),
        (replace(HELLO, tools=Tools(TOOLS[:1])), Reply("")),
        *led(3, 2),
    ]
    read = list(decode_calls(written(turns_led)))
    assert [(call.request, call.reply) for call in read] == turns_led
    assert [call.digest for call in read] == [request.digest for request, _ in turns_led]


_texts = st.text(st.characters(exclude_categories=()), max_size=4)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=5,
)
_calls = st.tuples(st.builds(ToolCall, _texts, _texts, _json)) | st.just(())
_messages = st.builds(Message, st.sampled_from(["system", "user", "assistant", "tool"]), _texts, _calls, _texts)
_requests = st.builds(
    Request, st.lists(_messages, max_size=5).map(tuple), st.sampled_from([NO_TOOLS, TOOLS, Tools(TOOLS[:1])])
)
_replies = st.builds(Reply, _texts, _calls)


@given(st.lists(st.tuples(_requests, _replies), max_size=6), st.data())
def test_any_conversation_reads_back(turns_led, data):
    """Whatever is asked and answered in whatever order: what is read has the digest of what was asked."""
    again = data.draw(st.lists(st.sampled_from(turns_led), max_size=4)) if turns_led else []
    for (request, reply), call in zip([*turns_led, *again], decode_calls(written([*turns_led, *again])), strict=True):
        assert call.request.digest == request.digest == call.digest
        assert canonical(call.reply.to_json()) == canonical(reply.to_json())


def test_a_damaged_trace_is_told():
    """A record that does not follow from those before is named."""
    records = written(led(3, window=9))
    with pytest.raises(AgentError, match="call 3 of 'owner' is damaged"):
        list(decode_calls([records[0], records[2]]))


# Figures and keys


def test_figures_are_of_calls_that_were_sent():
    """Tokens, latency, tries and dollars leave out what the cache answered; calls and models count all."""
    replies = [
        Reply("", usage=Usage(1000, 10, 400), model="m-1", latency_s=1.0, tries=1),
        Reply("", usage=Usage(3000, 30, 0), model="m-2", latency_s=4.0, tries=3),
        Reply("", usage=Usage(500, 5, 0), model="m-1", latency_s=0.0, tries=0, from_cache=True),
    ]
    records = written([(HELLO, reply) for reply in replies])
    totals = figures(records, {"test:model": Price(1, 10, 0.5)})
    assert totals.to_json() == {
        "calls": 3,
        "cache_hits": 1,
        "tries": 4,
        "usage": {"input": 4000, "output": 40, "cached": 400},
        "latency_s": 5.0,
        "latency_p50_s": 2.5,
        "dollars": pytest.approx((3600 * 1 + 400 * 0.5 + 40 * 10) / 1e6),
        "models": ["m-1", "m-2"],
    }
    assert figures(records).dollars is None
    assert figures([]).latency_p50_s is None


async def test_a_planted_key_is_written_nowhere(tmp_path, monkeypatch, caplog):
    """Calls succeed and fail with a key that the server echoes; no file, record, error or log holds it."""
    planted = "sk-planted-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", planted)
    caplog.set_level(logging.DEBUG)
    echo = f"Bad key {planted}; your header was 'Authorization: Bearer {planted}'"
    store = await open_store(str(tmp_path / "akinai.db"))
    await store.create(sample_header(RUN))
    texts: list[str] = []
    with answering(ok(completion("Good.")), status(500, echo), ok(completion("Better.")), status(401, echo)) as server:
        async with model_at(server) as model:
            asker = asking_in(store).asker("owner", model)
            texts += [(await asker.ask(HELLO)).text, (await asker.ask(HELLO)).text]
            with pytest.raises(ModelError) as caught:
                await asker.ask(HELLO)
            await store.update(replace(await store.header(RUN), error=str(caught.value), card={"model": model.card}))
    texts += [repr(caught.value), caplog.text, *[record.text async for record in store.read_trace(RUN)]]
    await store.close()
    files = [path.read_bytes() for path in tmp_path.iterdir()]
    assert all(planted in headers["authorization"] for headers in server.headers)
    assert texts[:2] == ["Good.", "Better."]
    assert "Bad key [key removed]" in texts[2]
    assert planted not in "".join(texts)
    assert not any(planted.encode() in content for content in files)


class Short:
    """A model whose server takes two messages at most."""

    name = "test:short"

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if len(request.messages) > 2:
            raise ContextLimit("the prompt is too long")
        return Reply("Good.")


async def shortened(asking: CallRecorder, model: Model, begin: Request) -> tuple[Reply, list[int | None]]:
    """The reply to a request that loses its first message at each context limit, and those limits."""
    asker, limits, request = asking.asker("owner", model), list[int | None](), begin
    while True:
        try:
            return await asker.ask(request), limits
        except ContextLimit as error:
            limits.append(error.window)
            request = replace(request, messages=request.messages[1:])


async def test_a_context_limit_is_met_again_on_a_resume() -> None:
    """A resume meets each recorded limit at its call, and asks the server nothing again."""
    book, model = await a_book(), Short()
    request = Request(tuple(Message("user", f"Day {day}.") for day in range(4)))
    assert await shortened(asking_in(book), model, request) == (Reply("Good."), [None, None])
    assert len(model.requests) == 3
    assert await shortened(asking_in(book), Scripted(), request) == (Reply("Good."), [None, None])


async def test_a_resume_with_another_window_says_so_once() -> None:
    """The first new call meets the new window; a later resume meets it at the same call."""
    book, first = await a_book(), Request((Message("user", "A"), Message("user", "B")))
    await asking_in(book).asker("owner", Scripted("One.")).ask(first)
    for model in (Scripted("Two."), Scripted()):
        recorder = CallRecorder(RUN, 7, book, Meter(), window=8_000)
        assert (await recorder.asker("owner", Scripted()).ask(first)).text == "One."
        reply, limits = await shortened(recorder, model, first)
        assert (reply.text, limits) == ("Two.", [8_000])
