"""Shards of a study, and the stores in which they were played merged into one."""

import sqlite3
from pathlib import Path

import pytest

import akinai
from akinai.core.errors import LedgerError, UsageError
from akinai.core.stores import Books, TraceRecord
from akinai.runtime.config.addresses import in_store


def play(store: Path, **changes: object) -> akinai.Runs:
    options = {"agent": "naive", "days": 3, "seeds": "1-5", "name": "study", **changes}
    return akinai.run("vending", store=str(store), **options)  # type: ignore[arg-type]


def digests(store: Path) -> dict[str, str]:
    return {run.id: run.digest for run in akinai.runs(store=str(store))}


def test_merged_shards_equal_the_whole(tmp_path: Path) -> None:
    """Shards cover every seed once; merged, they have the digests, scores and group of one undivided command."""
    whole = {run.id: run.digest for run in play(tmp_path / "whole.db")}
    shards = [tmp_path / f"{number}.db" for number in (1, 2)]
    seeds = [[run.seed for run in play(store, shard=f"{i}/2")] for i, store in enumerate(shards, 1)]
    assert seeds == [[1, 3, 5], [2, 4]]
    out = tmp_path / "out.db"
    merged = akinai.merge(str(out), *map(str, shards))
    assert set(merged.added) == set(whole)
    assert digests(out) == whole
    assert all(verdict.ok for verdict in akinai.verify("study", store=str(out)).values())
    again = akinai.merge(str(out), *map(str, shards))
    assert (again.added, again.grown, set(again.same)) == ((), (), set(whole))


def test_shards_of_a_postgres_store(postgres: str, tmp_path: Path) -> None:
    """Shards may write into one PostgreSQL store, and it merges into a file."""
    for shard in ("1/2", "2/2"):
        akinai.run(
            "vending", agent="naive", days=3, seeds="1-3", name="study", store=postgres, shard=shard, preset="classic"
        )
    akinai.merge(str(tmp_path / "out.db"), postgres)
    assert digests(tmp_path / "out.db") == {run.id: run.digest for run in akinai.runs(store=postgres)}
    assert akinai.merge(postgres, str(tmp_path / "out.db")).added == ()


def test_doubles_that_differ_are_refused(tmp_path: Path) -> None:
    """Two runs of one name that are not the same run: nothing is merged, and the store that was there stays."""
    play(tmp_path / "a.db", seeds="1")
    play(tmp_path / "b.db", seeds="1-2", agent="reference")
    play(tmp_path / "c.db", seeds="7", name="other")
    out = tmp_path / "out.db"
    with pytest.raises(UsageError, match=r"b\.db: its run 'study-1' is not the one"):
        akinai.merge(str(out), *(str(tmp_path / f"{name}.db") for name in "cab"))
    assert digests(out) == {}


def test_run_that_went_on_grows(tmp_path: Path) -> None:
    """A run that was merged before its end grows when it is merged again, whichever store comes first."""
    early, late, out = tmp_path / "early.db", tmp_path / "late.db", tmp_path / "out.db"
    (whole,) = play(late, seeds="1")
    play(early, seeds="1")
    with sqlite3.connect(early) as connection:
        connection.execute("DELETE FROM actions WHERE seq > 4")
        connection.execute("UPDATE runs SET status = 'open', ending = NULL, entries = NULL, digest = NULL")
    connection.close()
    assert akinai.merge(str(out), str(early)).added == ("study-1",)
    assert akinai.merge(str(out), str(late), str(early)).grown == ("study-1",)
    assert digests(out) == {"study-1": whole.digest}
    assert akinai.merge(str(out), str(early)).same == ("study-1",)
    assert akinai.merge(str(tmp_path / "both.db"), str(early), str(late)).added == ("study-1",)
    assert digests(tmp_path / "both.db") == {"study-1": whole.digest}


def test_model_calls_come_along_once(tmp_path: Path) -> None:
    """The trace of a run is merged with it, and not twice."""
    play(tmp_path / "a.db", seeds="1")
    call = TraceRecord("owner", 1, 5, {"kind": "call"})
    in_store(str(tmp_path / "a.db"), lambda books: books.add_trace("study-1", [call]))

    async def trace(books: Books) -> list[TraceRecord]:
        return [record async for record in books.read_trace("study-1")]

    for _ in range(2):
        akinai.merge(str(tmp_path / "out.db"), str(tmp_path / "a.db"))
        assert in_store(str(tmp_path / "out.db"), trace) == [call]


def test_edited_record_is_not_merged(tmp_path: Path) -> None:
    """A record whose chain is broken is named and left out."""
    play(tmp_path / "a.db", seeds="1")
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("UPDATE actions SET created_at = created_at + 1 WHERE seq = 3")
    connection.close()
    with pytest.raises(LedgerError, match="study-1"):
        akinai.merge(str(tmp_path / "out.db"), str(tmp_path / "a.db"))
    assert digests(tmp_path / "out.db") == {}


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "1/6", "a/b", "1/0", ""])
def test_shard_that_cannot_be_is_refused(shard: str, tmp_path: Path) -> None:
    """A shard is I/N with seeds of its own; anything else is refused before a store is made."""
    with pytest.raises(UsageError, match="shard"):
        play(tmp_path / "a.db", shard=shard)
    with pytest.raises(UsageError, match="name of the study"):
        play(tmp_path / "a.db", shard="1/2", name=None)
    assert not (tmp_path / "a.db").exists()
