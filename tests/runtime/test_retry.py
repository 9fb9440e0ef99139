"""Tries and limits over real HTTP on loopback: what passes is tried again, what does not is final."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from loopback import GOOD, HELLO, PROVIDERS, Stopwatch, answering, asking, model_at, ok, status

from akinai.core.errors import ModelError
from akinai.runtime.models.langchain import open_model
from akinai.runtime.models.rate_limit import REAL
from akinai.runtime.models.retry import RetryPolicy
from akinai.testing.endpoint import Endpoint, Faults, ScriptResponder


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
    policy = RetryPolicy(max_attempts=6, first_wait_s=2, max_wait_s=10)
    with answering(status(529, "Overloaded")) as server:
        async with model_at(server, provider, clock=watch.clock, policy=policy) as model:
            with pytest.raises(ModelError, match=rf"{provider}:test .*6 tries \(6 times HTTP 529\).*Overloaded"):
                await model.reply(HELLO)
    assert watch.slept == [2, 4, 8, 10, 10]
    assert len(server.bodies) == 6


async def test_a_wait_beyond_all_bounds_is_not_waited_for():
    """A provider that asks for an hour ends the call at once, with that in the message."""
    watch = Stopwatch()
    with answering(status(429, "Quota", retry_after="3600")) as server:
        async with model_at(server, clock=watch.clock) as model:
            with pytest.raises(ModelError, match=r"1 try .*3600 s, more than the 300 s .*Quota"):
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
    with Endpoint(ScriptResponder(["Good."]), faults=faults) as endpoint:
        async with model_at(endpoint, provider) as model:
            reply = await model.reply(HELLO)
        assert (reply.text, reply.tries) == ("Good.", 2)
        assert len({request.body_sha256 for request in endpoint.log}) == 1
        assert len(endpoint.log) == 2


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_hang_is_timed_out_and_tried_again(provider):
    """A server that does not answer is given up after the time of one try, its connection closed, and asked anew."""
    with Endpoint(ScriptResponder(["Good."]), faults=Faults(schedule={1: "hang"})) as endpoint:
        async with model_at(endpoint, provider, timeout_s=0.3) as model:
            reply = await model.reply(HELLO)
        assert (reply.text, reply.tries) == ("Good.", 2)


async def test_the_time_is_of_the_whole_answer():
    """A server that sends a little now and then is given up after the time of a try as one that sends nothing."""

    gone = asyncio.Event()

    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        with suppress(ConnectionError):
            while True:
                writer.write(b"{")
                await writer.drain()
                await asyncio.sleep(0.05)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        gone.set()

    async with await asyncio.start_server(drip, "127.0.0.1") as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with open_model("openai:test", base_url=url, timeout_s=0.5, policy=RetryPolicy(max_attempts=1)) as model:
            with pytest.raises(ModelError, match=r"no answer within 0\.5 s"):
                await model.reply(HELLO)
        await asyncio.wait_for(gone.wait(), 10)


async def test_a_model_that_never_answers_is_told_as_that():
    """The error of a model that hangs on every try says so and for how long it was waited each time."""
    faults = Faults(rate=1.0, kinds=("hang",))
    with Endpoint(ScriptResponder([]), faults=faults) as endpoint:
        async with model_at(endpoint, timeout_s=0.1, policy=RetryPolicy(max_attempts=2)) as model:
            with pytest.raises(ModelError, match=r"2 tries \(2 times no answer within 0.1 s\)"):
                await model.reply(HELLO)


async def test_nobody_there_is_no_connection():
    """A server that is not there is tried again, then told as no connection."""
    with answering(GOOD["openai"]) as server:
        port = server.port
    url = f"http://127.0.0.1:{port}/v1"
    async with open_model(
        "openai:test", base_url=url, clock=Stopwatch().clock, policy=RetryPolicy(max_attempts=2)
    ) as model:
        with pytest.raises(ModelError, match=r"2 times no connection"):
            await model.reply(HELLO)


@pytest.mark.parametrize(
    "body",
    ["", "<html>busy</html>", '{"choices": []}', '{"choices": null}', "[]"],
    ids=["empty", "html", "no choices", "null choices", "a list"],
)
async def test_an_unreadable_answer_is_asked_for_once_more(body):
    """An answer that holds no reply, whatever else it is, is asked for once more; two of them are an error."""
    with answering(ok(body), GOOD["openai"]) as server:
        async with model_at(server) as model:
            assert (await model.reply(HELLO)).tries == 2
    with answering(ok(body)) as server:
        async with model_at(server) as model:
            with pytest.raises(ModelError, match="2 times an unreadable answer"):
                await model.reply(HELLO)
    assert len(server.bodies) == 2


async def test_a_server_that_was_understood_is_asked_again_after_answers_that_cannot_be_read():
    """A gateway that cuts a few answers of a long run ends none: as many attempts are made as after other failures."""
    with answering(GOOD["openai"], ok('{"choices": [{"mess'), ok("busy"), ok(""), GOOD["openai"]) as server:
        async with model_at(server) as model:
            assert [(await model.reply(HELLO)).tries for _ in range(2)] == [1, 4]


async def test_an_error_with_status_200_is_read_as_its_code():
    """An error in a good answer counts as its code says: 402 is final; one without a code may pass."""
    for error, tries in (({"message": "No credit", "code": 402}, 1), ({"message": "overloaded"}, 6)):
        with answering(ok({"error": error})) as server:
            async with model_at(server) as model:
                with pytest.raises(ModelError, match=error["message"]):
                    await model.reply(HELLO)
        assert len(server.bodies) == tries


async def test_waits_are_never_shorter_than_our_own():
    """A server that says 0 seconds is waited for as one that says nothing, and longer than six tries."""
    watch = Stopwatch()
    busy = status(429, "slow down", retry_after="0")
    with answering(*[busy] * 7, GOOD["openai"]) as server:
        async with model_at(server, clock=watch.clock) as model:
            assert (await model.reply(HELLO)).tries == 8
    assert watch.slept == [1, 2, 4, 8, 16, 32, 60]


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


# Limits and cancelling


async def test_no_more_calls_at_once_than_allowed():
    """With three places, twelve calls are never more than three at a time, and all are answered."""
    with Endpoint(ScriptResponder(["Good."] * 12), latency_s=0.03) as endpoint:
        async with model_at(endpoint, max_concurrency=3) as model:
            replies = await asyncio.gather(*(model.reply(asking(str(i))) for i in range(12)))
        under_way = [(request.at, request.at + request.took_s) for request in endpoint.log]
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
    with Endpoint(ScriptResponder(["Good."] * 11)) as endpoint:
        async with model_at(endpoint, calls_per_minute=10, clock=watch.clock) as model:
            await asyncio.gather(*(model.labelled(f"run-{i}").reply(HELLO) for i in range(11)))
    assert watch.slept == [60.0]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_cancelled_call_leaves_nothing_behind(provider):
    """Cancelled amid a call, the model lets go of its connection and its place, and the next call is answered."""
    with Endpoint(ScriptResponder(["Good."]), faults=Faults(schedule={1: "hang"})) as endpoint:
        async with model_at(endpoint, provider, max_concurrency=1, clock=REAL) as model:
            calling = asyncio.create_task(model.reply(HELLO))
            while not endpoint.log:
                await asyncio.sleep(0.005)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert (await model.reply(HELLO)).text == "Good."
