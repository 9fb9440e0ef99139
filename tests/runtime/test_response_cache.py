"""The response cache: the same call again is answered from the file, marked, and costs nothing."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from loopback import HELLO, TOOLS, answering, completion, model_at, ok

import forked
from akinai.core.errors import EndRun, StoreError
from akinai.core.models import Message, Reply, Request, ToolCall, Tools, Usage
from akinai.runtime.models.budget import Budget, Meter
from akinai.runtime.models.cache import CallSite, ResponseCache, cache_key
from akinai.runtime.play.recording import CallRecorder, read_calls
from akinai.runtime.play.trace_codec import figures
from akinai.stores.memory import MemoryStore
from akinai.testing.laws.sample_runs import sample_header

REPLY = Reply("Hm \ud83d", (ToolCall("a", "set_price", {"slot": "A1"}),), Usage(30, 4, 20), "m", "stop", 0.5, 2)
HERE = CallSite(seed=7, actor="owner", call=1)


class Named:
    """A model that only has to be named."""

    name = "test:named"

    def __init__(self, name: str = "test:named", **sampling: float) -> None:
        self.name, self.sampling = name, sampling

    async def reply(self, request: Request) -> Reply:
        return REPLY


async def test_a_kept_reply_is_found_and_marked(tmp_path):
    """What was kept comes back as it was, marked, and without time and tries; what was not is not found."""
    cache = await ResponseCache.open(tmp_path / "replies.db")
    await cache.keep("k", REPLY)
    await cache.keep("k", Reply("another"))
    reply = await cache.find("k")
    assert reply == Reply(REPLY.text, REPLY.calls, REPLY.usage, "m", "stop", 0.0, 0, from_cache=True)
    assert await cache.find("other") is None
    await cache.close()
    cache = await ResponseCache.open(tmp_path / "replies.db")
    assert await cache.find("k") == reply
    await cache.close()


def test_a_key_is_all_that_a_reply_depends_on():
    """Another request, model, temperature, seed, actor or number has another key; the same has the same."""
    model = Named(temperature=0.5)
    keys = [
        cache_key(HELLO.digest, model, HERE),
        cache_key(Request(HELLO.messages, Tools(TOOLS[:1])).digest, model, HERE),
        cache_key(Request((*HELLO.messages, Message("user", "")), TOOLS).digest, model, HERE),
        cache_key(HELLO.digest, Named("test:other", temperature=0.5), HERE),
        cache_key(HELLO.digest, Named(temperature=0.6), HERE),
        cache_key(HELLO.digest, Named(), HERE),
        cache_key(HELLO.digest, model, CallSite(8, "owner", 1)),
        cache_key(HELLO.digest, model, CallSite(7, "owner/email-1", 1)),
        cache_key(HELLO.digest, model, CallSite(7, "owner", 2)),
    ]
    assert len(set(keys)) == len(keys)
    assert cache_key(Request(HELLO.messages, TOOLS).digest, Named(temperature=0.5), HERE) == keys[0]


async def test_the_same_run_again_sends_nothing_and_spends_nothing(tmp_path):
    """A second run with the same seed is answered from the cache: marked, outside the budget; another seed is not."""
    store, rounds = MemoryStore(), []
    with answering(ok(completion("Good."))) as server:
        for run_id, seed in (("a", 7), ("b", 7), ("c", 8)):
            await store.create(sample_header(run_id))
            cache = await ResponseCache.open(tmp_path / "replies.db")
            meter = Meter(Budget(tokens=200))
            async with model_at(server) as model:
                asker = CallRecorder(run_id, seed, store, meter, cache=cache).asker("owner", model)
                rounds.append([await asker.ask(HELLO), await asker.ask(HELLO), meter.usage.input])
            await cache.close()
    cached = figures([record async for record in store.read_trace("b")])
    assert [[reply.from_cache for reply in replies] for *replies, _ in rounds] == [[False] * 2, [True] * 2, [False] * 2]
    assert [spent for *_, spent in rounds] == [240, 0, 240]
    assert (cached.calls, cached.cache_hits, cached.usage, cached.models) == (2, 2, Usage(), ("test-2031-01-01",))
    assert len(server.bodies) == 4


async def test_a_resume_counts_no_hit_as_spent(tmp_path):
    """Hits that were recorded are given again on a resume, and still cost nothing."""
    store, cache = MemoryStore(), await ResponseCache.open(tmp_path / "replies.db")
    for run_id in ("a", "b"):
        await store.create(sample_header(run_id))
        await CallRecorder(run_id, 7, store, Meter(), cache=cache).asker("owner", Named()).ask(HELLO)
    meter = Meter(Budget(tokens=1))
    again = await CallRecorder("b", 7, store, meter, cache=cache).asker("owner", Named()).ask(HELLO)
    assert again.from_cache
    assert meter.usage == Usage()
    assert (await read_calls(store, "b"))[0].reply == again
    await cache.close()


async def test_a_spent_budget_ends_a_run_whatever_the_cache_holds(tmp_path):
    """The budget is looked at before the cache: a run ends in one place, cached or not."""
    store, cache = MemoryStore(), await ResponseCache.open(tmp_path / "replies.db")
    await store.create(sample_header("a"))
    meter = Meter(Budget(tokens=1))
    meter.count("test:named", Usage(1, 0))
    with pytest.raises(EndRun):
        await CallRecorder("a", 7, store, meter, cache=cache).asker("owner", Named()).ask(HELLO)
    await cache.close()


def _keep_many(path: str, name: str) -> None:
    async def keep() -> None:
        cache = await ResponseCache.open(path)
        for i in range(50):
            await cache.keep(f"{name}-{i}", Reply(name))
            await cache.keep(f"both-{i}", Reply(name))
        await cache.close()

    asyncio.run(keep())


@pytest.mark.slow
async def test_processes_share_the_file(tmp_path):
    """Two processes that open the file at the same moment both keep all their replies; the first under a key stays."""
    path, context = str(tmp_path / "replies.db"), forked.SERVER
    processes = [context.Process(target=_keep_many, args=(path, name)) for name in ("left", "right")]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    cache = await ResponseCache.open(path)
    for i in range(50):
        for name in ("left", "right"):
            reply = await cache.find(f"{name}-{i}")
            assert reply is not None
            assert reply.text == name
        assert await cache.find(f"both-{i}") is not None
    await cache.close()


async def test_a_strangers_file_is_left_as_it_is(tmp_path):
    """A database of something else, a file that is none and a folder are refused, and not touched."""
    other, text = tmp_path / "other.db", tmp_path / "notes.txt"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (x)")
    text.write_text("Not a database at all, but long enough to be looked at as one." * 20)
    before = other.read_bytes(), text.read_bytes()
    for path in (other, text, tmp_path, tmp_path / "no" / "folder.db"):
        with pytest.raises(StoreError, match="name another file"):
            await ResponseCache.open(path)
    assert (other.read_bytes(), text.read_bytes()) == before
