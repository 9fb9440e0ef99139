"""PostgresStore when connections are lost: in COMMIT, in mid-stream, for a while, for good."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from loopback_proxy import Proxy, When, proxied

from akinai.core.errors import SequenceConflict, StoreError
from akinai.core.stores import TraceRecord
from akinai.stores import open_store
from akinai.stores.postgres.store import PostgresStore
from akinai.testing.laws.sample_runs import read_entries, sample_entries, sample_header
from real_postgres import sql, with_option

WHEN: tuple[When, ...] = ("before", "after", "late")


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("count", [1, 3, 60])
async def test_append_cut_off_in_commit_is_kept_once(postgres: str, count: int, when: When) -> None:
    """An append whose connection is lost in COMMIT returns, and its entries are kept once, commit or no commit."""
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(sample_header("r"))
        await store.append("r", sample_entries(5))
        new = sample_entries(count, before=sample_entries(5))
        # A single statement commits itself, so it is recognised by its content.
        proxy.cut(new[-1].digest.encode(), when)
        await store.append("r", new)
        assert proxy.cuts == 1
        assert await read_entries(store, "r") == sample_entries(5) + new
        with pytest.raises(SequenceConflict):
            await store.append("r", new)
        await store.close()


@pytest.mark.parametrize("when", WHEN)
async def test_changes_that_wait_together_are_kept_once(postgres: str, when: When) -> None:
    """Runs, entries, headers and calls of a lost transaction are all kept once; what it refused stays refused."""
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(sample_header("old"))
        await store.append("old", sample_entries(2))
        thought = [TraceRecord("a", call, call, {"said": "é 😀"}) for call in (1, 2)]
        proxy.cut(b"COMMIT", when)
        changes: list[Awaitable[None]] = [store.create(sample_header(f"r{number}")) for number in range(9)]
        changes += [store.append(f"r{number}", sample_entries(4)) for number in range(9)]
        changes += [store.add_trace("old", thought), store.update(sample_header("old", status="done"))]
        changes += [store.append("old", sample_entries(2)), store.create(sample_header("old"))]
        answers = await asyncio.gather(*changes, return_exceptions=True)
        assert proxy.cuts == 1
        assert answers[:20] == [None] * 20
        assert [type(answer).__name__ for answer in answers[20:]] == ["SequenceConflict", "UsageError"]
        for number in range(9):
            assert await read_entries(store, f"r{number}") == sample_entries(4)
        assert [record async for record in store.read_trace("old")] == thought
        assert (await store.header("old")).status == "done"
        assert len(await store.runs()) == 10
        await store.close()


async def test_lost_append_that_another_overtook_is_refused(postgres: str) -> None:
    """An append that was cut off before its COMMIT, and meanwhile lost its numbers to another process, is refused."""
    other = await open_store(postgres)
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(sample_header("r"))
        new = sample_entries(30)
        proxy.cut(new[-1].digest.encode(), "before")
        proxy.closed = True
        losing = asyncio.ensure_future(store.append("r", new))
        while not proxy.cuts:
            await asyncio.sleep(0.01)
        await other.append("r", sample_entries(2, "quicker"))
        proxy.closed = False
        with pytest.raises(SequenceConflict, match="takes entry 3 next, not 1"):
            await losing
        assert await read_entries(store, "r") == sample_entries(2, "quicker")
        await store.close()
    await other.close()


async def storm(postgres: str, terminations: int) -> None:
    """Append and read until so many connections were terminated, all of them again and again.

    Something is appended or read between two terminations, so that a slow machine ends no attempt to go on.
    """
    url = with_option(postgres, "application_name=stormy")
    store, kills, chance, progress = await open_store(url), 0, random.Random(7), asyncio.Event()
    for number in range(4):
        await store.create(sample_header(f"r{number}"))

    async def play(run_id: str) -> None:
        entries = sample_entries(0)
        while kills < terminations:
            new = sample_entries(chance.choice((1, 2, 40)), before=entries)
            await store.append(run_id, new)
            entries += new
            progress.set()
            assert await read_entries(store, run_id, len(entries) - 3) == entries[-3:]
            progress.set()
        assert await read_entries(store, run_id) == entries

    async def kill() -> None:
        nonlocal kills
        while True:
            progress.clear()
            await progress.wait()
            await asyncio.sleep(0.01 + 0.05 * chance.random())
            terminated = sql(postgres, TERMINATE)
            kills += len(terminated)

    killing = asyncio.ensure_future(kill())
    await asyncio.gather(*(play(f"r{number}") for number in range(4)))
    killing.cancel()
    await asyncio.gather(killing, return_exceptions=True)
    await store.close()


TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stormy'"


@pytest.mark.slow
async def test_terminated_connections_lose_nothing(postgres: str) -> None:
    """While a server ends all connections every few milliseconds, each append is kept once and each read is whole."""
    await storm(postgres, 10)


@pytest.mark.slow
async def test_terminated_connections_lose_nothing_for_long(postgres: str) -> None:
    """The same for some twenty seconds."""
    await storm(postgres, 300)


async def test_server_that_comes_back_is_found(postgres: str) -> None:
    """A store whose server is away for a while goes on as if nothing had happened, reads and appends alike."""
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(sample_header("r"))
        await away(proxy)
        requests = [
            asyncio.ensure_future(store.append("r", sample_entries(3))),
            asyncio.ensure_future(store.header("r")),
        ]
        await asyncio.sleep(0.3)
        assert not any(answer.done() for answer in requests)
        proxy.closed = False
        await asyncio.gather(*requests)
        assert await read_entries(store, "r") == sample_entries(3)
        await store.close()


async def away(proxy: Proxy) -> None:
    proxy.closed = True
    proxy.end()
    await asyncio.sleep(0)


async def test_server_that_stays_away_is_an_error(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not come back in time is a StoreError to every caller; once it is back everything works."""
    monkeypatch.setattr("akinai.stores.postgres.connections.RECONNECT_S", 0.1)
    async with proxied(postgres) as proxy:
        store = await open_store(proxy.url)
        await store.create(sample_header("r"))
        await away(proxy)
        questions: list[Callable[[], Awaitable[object]]] = [
            lambda: store.append("r", sample_entries(3)),
            lambda: store.header("r"),
            lambda: anext(store.read("r")),
        ]
        for ask in questions:
            with pytest.raises(StoreError, match=r"does not work: .*; the run can be resumed") as broken:
                await ask()
            assert type(broken.value) is StoreError
        proxy.closed = False
        await store.append("r", sample_entries(3))
        await store.close()


async def test_changes_follow_other_writers(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`changes` reports new entries at once, whoever wrote them, also after its connection was lost."""
    monkeypatch.setattr("akinai.stores.postgres.store.POLL_S", 60.0)
    monkeypatch.setattr(
        "akinai.stores.postgres.connections.RECONNECT_S", 0.1
    )  # counted from the loss, not from the beginning
    writing, entries = await open_store(postgres), sample_entries(20)
    for run_id in ("r", 'x\'; NOTIFY "é" %s --'):
        await writing.create(sample_header(run_id))
        await writing.append(run_id, entries[:2])
        listening = await PostgresStore.open(with_option(postgres, "application_name=stormy"))
        changes = listening.changes(run_id, after=1)
        assert await next_change(changes) == 2
        for last in (3, 15):
            await writing.append(run_id, entries[last - 1 : last] if last == 3 else entries[3:last])
            assert await next_change(changes) == last
        await asyncio.sleep(0.15)
        sql(postgres, TERMINATE)
        await writing.append(run_id, entries[15:])
        assert await next_change(changes) == 20
        await changes.aclose()
        await listening.close()
    await writing.close()


async def next_change(changes: AsyncIterator[int]) -> int:
    return await asyncio.wait_for(anext(changes), 10)
