"""A store where nothing can be written: it is read as ever, and a change of it is refused."""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import akinai
from akinai.core.errors import StoreError
from akinai.runtime.runs.marking import note
from akinai.stores import open_store
from akinai.testing.laws.sample_runs import sample_entries, sample_header

NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """As a user to whom file permissions apply: they do not for root."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def medium() -> Iterator[Path]:
    """A folder that everybody may read and nobody may write."""
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
    folder.chmod(0o555)
    try:
        yield folder
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def put(medium: Path, *files: Path) -> None:
    """Copy files onto the medium."""
    medium.chmod(0o755)
    for file in files:
        shutil.copyfile(file, medium / file.name)
        (medium / file.name).chmod(0o444)
    medium.chmod(0o555)


@pytest.fixture
def played(tmp_path: Path, medium: Path) -> str:
    """The address of a read-only store with two runs."""
    whole = tmp_path / "akinai.db"
    akinai.run("vending", agent="idle", seeds="1-2", days=2, name="a", store=str(whole), preset="classic")
    sql = sqlite3.connect(whole)
    sql.execute("DELETE FROM run_scores")
    sql.commit()
    sql.close()
    put(medium, whole)
    return str(medium / "akinai.db")


def test_whatever_reads_a_store_reads_a_read_only_one(played: str, tmp_path: Path, medium: Path) -> None:
    """Listing, verifying, replaying, analysing, comparing and exporting work, and leave nothing beside the store."""
    expected = [run.digest for run in akinai.runs(store=str(tmp_path / "akinai.db"))]
    with unprivileged():
        assert [run.digest for run in akinai.runs("a", store=played)] == expected
        assert all(verdict.ok for verdict in akinai.verify("a", store=played).values())
        assert len(akinai.replay("a", store=played)) == 2
        assert akinai.analyze("a", store=played).groups
        assert akinai.diff("a-1", "a-2", store=played).entry == 0
        assert len(akinai.export("a", store=played)) == 4
    assert [file.name for file in medium.iterdir()] == ["akinai.db"]


def test_change_of_a_read_only_store_is_refused(played: str) -> None:
    """A run, a fork and a note say that nothing can be written there."""

    async def take_note() -> None:
        books = await open_store(played, create=False)
        try:
            await note(books, "a-1", deleted=True)
        finally:
            await books.close()

    with unprivileged():
        for change in (
            lambda: akinai.run("vending", agent="idle", days=2, name="b", store=played, preset="classic"),
            lambda: akinai.fork("a-1", after=1, name="c", store=played),
            lambda: asyncio.run(take_note()),
        ):
            with pytest.raises(StoreError, match="write"):
                change()


async def test_journal_on_a_read_only_medium_hides_no_entry(tmp_path: Path, medium: Path) -> None:
    """Entries that are still in the journal are not left out in silence: the error says what to do."""
    whole = tmp_path / "akinai.db"
    store = await open_store(str(whole))
    await store.create(sample_header("r"))
    await store.append("r", sample_entries(3))
    put(medium, whole, tmp_path / "akinai.db-wal")
    await store.close()
    with unprivileged(), pytest.raises(StoreError, match=r"copy both files to a place where you may write"):
        await open_store(str(medium / "akinai.db"), create=False)
