"""PostgresStore when connections are lost: in COMMIT, in mid-stream, for a while, for good."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from loopback_proxy import Proxy, When, proxied

from akinai.core.errors import SequenceConflict, StoreError
from akinai.core.trace import TraceRecord
from akinai.stores import open_store
from akinai.stores.postgres import PostgresStore
from akinai.testing.runs import entries_in, entries_of, run_of
from real_postgres import sql, with_option

WHEN: tuple[When, ...] = ("before", "after", "late")


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("count", [1, 3, 60])
async def test_append_cut_off_in_commit_is_in_once(postgres: str, count: int, when: When) -> None:
    """An append whose connection is lost in COMMIT is answered, and its entries are there once, commit or no commit."""
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(run_of("r"))
        await store.append("r", entries_of(5))
        new = entries_of(count, before=entries_of(5))
        # One statement, which commits itself: it is known by what it holds.
        proxy.cut(new[-1].digest.encode(), when)
        await store.append("r", new)
        assert proxy.cuts == 1
        assert await entries_in(store, "r") == entries_of(5) + new
        with pytest.raises(SequenceConflict):
            await store.append("r", new)
        await store.close()


@pytest.mark.parametrize("when", WHEN)
async def test_all_that_waits_together_is_in_once(postgres: str, when: When) -> None:
    """Runs, entries, headers and calls of one lost transaction are all there once; what it refuses stays refused."""
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(run_of("old"))
        await store.append("old", entries_of(2))
        thought = [TraceRecord("a", call, call, {"said": "é 😀"}) for call in (1, 2)]
        proxy.cut(b"COMMIT", when)
        asked: list[Awaitable[None]] = [store.create(run_of(f"r{number}")) for number in range(9)]
        asked += [store.append(f"r{number}", entries_of(4)) for number in range(9)]
        asked += [store.add_trace("old", thought), store.update(run_of("old", status="done"))]
        asked += [store.append("old", entries_of(2)), store.create(run_of("old"))]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert proxy.cuts == 1
        assert answers[:20] == [None] * 20
        assert [type(answer).__name__ for answer in answers[20:]] == ["SequenceConflict", "UsageError"]
        for number in range(9):
            assert await entries_in(store, f"r{number}") == entries_of(4)
        assert [record async for record in store.read_trace("old")] == thought
        assert (await store.header("old")).status == "done"
        assert len(await store.runs()) == 10
        await store.close()


async def test_lost_append_that_another_overtook_is_refused(postgres: str) -> None:
    """An append that was cut off before its COMMIT, and meanwhile lost its numbers to another process, is refused."""
    other = await open_store(postgres)
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(run_of("r"))
        new = entries_of(30)
        proxy.cut(new[-1].digest.encode(), "before")
        proxy.closed = True
        losing = asyncio.ensure_future(store.append("r", new))
        while not proxy.cuts:
            await asyncio.sleep(0.01)
        await other.append("r", entries_of(2, "quicker"))
        proxy.closed = False
        with pytest.raises(SequenceConflict, match="takes entry 3 next, not 1"):
            await losing
        assert await entries_in(store, "r") == entries_of(2, "quicker")
        await store.close()
    await other.close()


async def storm(postgres: str, seconds: float) -> int:
    """Appends, reads and headers while all connections are terminated again and again; the number of terminations."""
    url = with_option(postgres, "application_name=stormy")
    store, kills, chance = await open_store(url), 0, random.Random(7)
    for number in range(4):
        await store.create(run_of(f"r{number}"))

    async def play(run_id: str) -> None:
        kept = entries_of(0)
        until = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < until:
            new = entries_of(chance.choice((1, 2, 40)), before=kept)
            await store.append(run_id, new)
            kept += new
            assert await entries_in(store, run_id, len(kept) - 3) == kept[-3:]
        assert await entries_in(store, run_id) == kept

    async def kill() -> None:
        nonlocal kills
        while True:
            await asyncio.sleep(0.01 + 0.05 * chance.random())
            found = sql(postgres, TERMINATE)
            kills += len(found)

    killing = asyncio.ensure_future(kill())
    await asyncio.gather(*(play(f"r{number}") for number in range(4)))
    killing.cancel()
    await asyncio.gather(killing, return_exceptions=True)
    await store.close()
    return kills


TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stormy'"


@pytest.mark.slow
async def test_terminated_connections_lose_nothing(postgres: str) -> None:
    """While a server ends all connections every few milliseconds, each append lands once and each read is whole."""
    assert await storm(postgres, 0.8) >= 5


@pytest.mark.slow
async def test_terminated_connections_lose_nothing_for_long(postgres: str) -> None:
    """The same for twenty seconds."""
    assert await storm(postgres, 20) > 100


async def test_server_that_comes_back_is_found(postgres: str) -> None:
    """A store whose server is away for a while goes on as if nothing had been, reads and appends alike."""
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(run_of("r"))
        await away(proxy)
        asked = [asyncio.ensure_future(store.append("r", entries_of(3))), asyncio.ensure_future(store.header("r"))]
        await asyncio.sleep(0.3)
        assert not any(one.done() for one in asked)
        proxy.closed = False
        await asyncio.gather(*asked)
        assert await entries_in(store, "r") == entries_of(3)
        await store.close()


async def away(proxy: Proxy) -> None:
    proxy.closed = True
    proxy.end()
    await asyncio.sleep(0)


async def test_server_that_stays_away_is_an_error(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not come back in time is a StoreError to everybody who waits; when it is back all works."""
    monkeypatch.setattr("akinai.stores.postgres_server.PATIENCE_S", 0.1)
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(run_of("r"))
        await away(proxy)
        questions: list[Callable[[], Awaitable[object]]] = [
            lambda: store.append("r", entries_of(3)),
            lambda: store.header("r"),
            lambda: anext(store.read("r")),
        ]
        for ask in questions:
            with pytest.raises(StoreError, match=r"does not work: .*; the run can be resumed") as broken:
                await ask()
            assert type(broken.value) is StoreError
        proxy.closed = False
        await store.append("r", entries_of(3))
        await store.close()


async def test_listener_hears_of_other_writers(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who listens to a run is told of entries by whoever wrote them, at once, also after its connection was lost."""
    monkeypatch.setattr("akinai.stores.postgres.LOOK_S", 60.0)
    monkeypatch.setattr("akinai.stores.postgres_server.PATIENCE_S", 0.1)  # from when it is lost, not from the beginning
    writing, kept = await open_store(postgres), entries_of(20)
    for run_id in ("r", 'x\'; NOTIFY "é" %s --'):
        await writing.create(run_of(run_id))
        await writing.append(run_id, kept[:2])
        listening = await PostgresStore.open(with_option(postgres, "application_name=stormy"))
        heard = listening.changes(run_id, after=1)
        assert await told(heard) == 2
        for last in (3, 15):
            await writing.append(run_id, kept[last - 1 : last] if last == 3 else kept[3:last])
            assert await told(heard) == last
        await asyncio.sleep(0.15)
        sql(postgres, TERMINATE)
        await writing.append(run_id, kept[15:])
        assert await told(heard) == 20
        await heard.aclose()
        await listening.close()
    await writing.close()


async def told(heard: AsyncIterator[int]) -> int:
    return await asyncio.wait_for(anext(heard), 10)
