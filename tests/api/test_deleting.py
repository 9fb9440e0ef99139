"""Deleted runs are in no list and no group; their records stay."""

import asyncio
from pathlib import Path

import pytest

import akinai
from akinai.core.errors import UsageError
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.stores import Books, RunHeader
from akinai.runtime.runs import marking
from akinai.stores import open_store
from akinai.worlds.vending.model.actions import AdvanceDay


@pytest.fixture
def store(tmp_path: Path) -> str:
    url = str(tmp_path / "akinai.db")
    akinai.run("vending", agent="idle", days=2, seeds="1-3", store=url, name="a", preset="classic")
    return url


def names(store: str, **run_filter: object) -> list[str]:
    return [run.id for run in akinai.runs(store=store, **run_filter)]  # pyright: ignore[reportArgumentType] - of `runs`


def test_deleted_runs_leave_lists_and_groups(store: str) -> None:
    """Neither `runs` nor a group nor an analysis has them; each is still there by its own name."""
    digest = akinai.runs("a-2", store=store)[0].digest
    assert akinai.delete("a-2", store=store) == ["a-2"]
    assert akinai.delete("a-2", store=store) == []
    assert names(store) == names(store, group="a") == ["a-1", "a-3"]
    assert names(store, deleted=True) == ["a-2"]
    assert [run.id for run in akinai.runs("a", store=store)] == ["a-1", "a-3"]
    assert [run.id for run in akinai.analyze(store=store, scale=False).runs] == ["a-1", "a-3"]
    assert akinai.runs("a-2", store=store)[0].digest == digest
    assert akinai.verify("a-2", store=store)["a-2"].ok


def test_restored_runs_are_as_they_were(store: str) -> None:
    """A whole group goes and comes back; until then its name says what to do."""
    before = akinai.runs(store=store).to_json()
    assert akinai.delete("a", store=store) == ["a-1", "a-2", "a-3"]
    with pytest.raises(UsageError, match="'akinai restore a' brings them back"):
        akinai.runs("a", store=store)
    assert akinai.restore("a", store=store) == ["a-1", "a-2", "a-3"]
    assert akinai.runs(store=store).to_json() == before


def test_limit_counts_those_that_are_listed(store: str) -> None:
    """The newest runs are of those that are not deleted, however many of the newest are."""
    akinai.delete("a-2", "a-3", store=store)
    assert names(store, limit=1) == ["a-1"]
    assert names(store, limit=5) == ["a-1"]
    assert names(store, limit=1, deleted=True) == ["a-3"]


def test_fork_outlives_its_origin(store: str) -> None:
    """A run whose origin is deleted is played on and read as before."""
    akinai.fork("a-1", after=1, agent="idle", name="b", store=store)
    akinai.delete("a", store=store)
    assert names(store) == ["b"]
    assert akinai.verify("b", store=store)["b"].ok


async def test_run_that_is_played_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that grows between two looks is not deleted, nor are those named with it; one that was left open is."""
    monkeypatch.setattr(marking, "LOOK_S", 0.2)
    genesis = Genesis("vending@3", 1, {})
    books: Books = await open_store("memory:")
    for name, status in (("over", "done"), ("live", "open")):
        await books.create(RunHeader(name, genesis, {"owner": "idle"}, 1, status=status))  # pyright: ignore[reportArgumentType] - one of them
    headers = await books.runs()
    entry = Entry.of(genesis.digest, Turn(1, 1, "owner", AdvanceDay()), Outcome("a day"))
    deleting = asyncio.create_task(marking.set_deleted(books, headers, deleted=True))
    await asyncio.sleep(0.05)
    await books.append("live", [entry])
    with pytest.raises(UsageError, match="live is being played; stop it first"):
        await deleting
    assert len(await marking.list_runs(books)) == 2
    await marking.set_deleted(books, headers, deleted=True)
    assert len(await marking.list_runs(books, deleted=True)) == 2


def test_forever_leaves_nothing(store: str) -> None:
    """Only with `yes`, hidden before or not; the name is free again, and a fork of a removed run stays whole."""
    fork = akinai.fork("a-1", after=1, agent="idle", name="b", store=store)
    akinai.delete("a-2", store=store)
    with pytest.raises(UsageError, match=r"nothing brings back .*: a-1, a-2, a-3; say --yes if that is meant"):
        akinai.delete("a", forever=True, store=store)
    with pytest.raises(UsageError, match="zebra"):
        akinai.delete("a-1", "zebra", forever=True, yes=True, store=store)
    assert names(store) == ["a-1", "a-3", "b"]
    assert akinai.delete("a", forever=True, yes=True, store=store) == ["a-1", "a-2", "a-3"]
    assert names(store) == ["b"]
    assert names(store, deleted=True) == []
    with pytest.raises(UsageError, match="a-1"):
        akinai.runs("a-1", store=store)
    assert akinai.verify("b", store=store)["b"].ok
    assert akinai.replay("b", store=store)[0].digest == fork[0].digest
    akinai.run("vending", agent="idle", days=1, seeds="1-3", store=store, name="a", preset="classic")
    assert names(store) == ["b", "a-1", "a-2", "a-3"]
