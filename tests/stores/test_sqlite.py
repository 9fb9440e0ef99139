"""SqliteStore under the shipped laws, and its file: locks, foreign files, edits, tables, threads."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from stored_runs import expect_bad_append_fails_alone, expect_break_at, written

from akinai.core.errors import BrokenChain, SequenceConflict, StoreError, StoreVersion, UsageError
from akinai.core.ledger import check_chain
from akinai.core.stores import TraceRecord
from akinai.stores import open_store
from akinai.stores.sqlite.file import APPLICATION_ID, SCHEMA_VERSION, Synchronous
from akinai.stores.sqlite.store import SqliteStore
from akinai.testing.laws import store_laws
from akinai.testing.laws.sample_runs import read_entries, sample_entries, sample_genesis, sample_header

test_laws = store_laws(lambda folder: SqliteStore.open(str(folder / "akinai.db")))


def sql(path: Path, *statements: str) -> list[tuple[object, ...]]:
    """The rows of the last statement, run on another connection."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return [connection.execute(statement).fetchall() for statement in statements][-1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "akinai.db"


async def test_opening_waits_for_another_that_makes_the_store(path: Path) -> None:
    """A store whose maker stopped before it switched to WAL is switched once its lock is free."""
    await written(str(path))
    sql(path, "PRAGMA journal_mode = DELETE")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        opening = asyncio.ensure_future(open_store(str(path)))
        await asyncio.sleep(0.1)
        assert not opening.done()
        other.execute("ROLLBACK")
    store = await asyncio.wait_for(opening, 30)
    assert sql(path, "PRAGMA journal_mode") == [("wal",)]
    await store.close()


async def test_locked_store_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that waits too long for another process is a StoreError, and the next one works."""
    monkeypatch.setattr("akinai.stores.sqlite.file.BUSY_TIMEOUT_S", 0.05)
    await written(str(path))
    store = await open_store(str(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process held it"):
            await store.append("r", sample_entries(21)[20:])
        assert await read_entries(store, "r") == sample_entries(20)
    await store.append("r", sample_entries(21)[20:])
    await store.close()


def foreign(path: Path) -> None:
    sql(path, "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('mine')")


def foreign_in_wal(path: Path) -> None:
    sql(path, "PRAGMA journal_mode = WAL", "CREATE TABLE notes (text)")


def foreign_with_id(path: Path) -> None:
    sql(path, "PRAGMA application_id = 42", "VACUUM")


def foreign_after_crash(path: Path) -> None:
    """Its last row is in the journal only."""
    home = path.parent / "home.db"
    with closing(sqlite3.connect(home, isolation_level=None)) as connection:
        for statement in ("PRAGMA journal_mode = WAL", "CREATE TABLE notes (text)", "PRAGMA wal_checkpoint"):
            connection.execute(statement).fetchall()
        connection.execute("INSERT INTO notes VALUES ('last words')")
        for end in ("", "-wal"):
            Path(f"{path}{end}").write_bytes(Path(f"{home}{end}").read_bytes())
    home.unlink()


def newer(path: Path) -> None:
    asyncio.run(written(str(path)))
    sql(path, f"PRAGMA user_version = {SCHEMA_VERSION + 6}", "PRAGMA wal_checkpoint(TRUNCATE)")


def no_database(path: Path) -> None:
    path.write_text("run,seq\n" * 1000)


def short_text(path: Path) -> None:
    path.write_text("hello")


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (foreign, StoreError, "is a database of another application"),
        (foreign_in_wal, StoreError, "is a database of another application"),
        (foreign_after_crash, StoreError, "is a database of another application"),
        (foreign_with_id, StoreError, "is a database of another application"),
        (newer, StoreVersion, "has schema version 8, this Akinai knows 2"),
        (no_database, StoreError, "is no database"),
        (short_text, StoreError, "is no database"),
        (Path.mkdir, StoreError, "it is a folder"),
    ],
)
def test_foreign_file_is_refused_and_left_alone(
    path: Path, make: Callable[[Path], None], kind: type[StoreError], message: str, create: bool
) -> None:
    """A file that is not our store is refused in a sentence, and neither it nor its folder changes."""
    make(path)
    before = contents(path.parent)
    with pytest.raises(kind, match=message) as refusal:
        asyncio.run(open_store(str(path), create=create))
    assert type(refusal.value) is kind
    assert "\n" not in str(refusal.value)
    assert contents(path.parent) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() if file.is_file() else b"" for file in folder.iterdir()}


async def test_unwritable_place_is_one_sentence(tmp_path: Path) -> None:
    """A place where no file can be made is a StoreError that names it, and nothing is made."""
    (tmp_path / "file").write_text("x")
    before = contents(tmp_path)
    for name in ("file/akinai.db", "file/deeper/akinai.db", "missing/akinai.db", "n" * 300 + ".db"):
        with pytest.raises(StoreError, match=r"cannot open a store at|does not work") as refusal:
            await open_store(str(tmp_path / name))
        assert str(tmp_path / name) in str(refusal.value)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("make", [lambda path: None, Path.touch, lambda path: sql(path, "PRAGMA user_version")])
async def test_missing_store_is_not_made(path: Path, make: Callable[[Path], object]) -> None:
    """With create=False a missing or empty file is a UsageError, and stays as it is; with create=True it is filled."""
    make(path)
    before = contents(path.parent)
    with pytest.raises(UsageError, match=r"no store at .*akinai\.db'; "):
        await open_store(str(path), create=False)
    assert contents(path.parent) == before
    await written(str(path))
    assert sql(path, "PRAGMA application_id") == [(APPLICATION_ID,)]
    assert sql(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert sql(path, "PRAGMA journal_mode") == [("wal",)]


async def test_edited_byte_is_found(path: Path) -> None:
    """A byte changed in the file is found by its entry, and the entries before it are still read."""
    await written(str(path), 700, "market price 145")
    for number, (old, new) in enumerate(((b"price 145", b"price 144"), (b"price 144", b"price \xff44")), 1):
        raw = path.read_bytes()
        at = raw.index(old, len(raw) // 2)
        path.write_bytes(raw[:at] + new + raw[at + len(old) :])
        store = await open_store(str(path))
        read = await read_entries(store, "r")
        with pytest.raises(BrokenChain) as broken:
            check_chain(sample_genesis(), read)
        assert len(read) == 700
        assert read[: broken.value.entry - 1] == sample_entries(700, "market price 145")[: broken.value.entry - 1], (
            number
        )
        await store.close()


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE actions SET data = replace(data, 'customer_1', 'customer_2') WHERE seq = 612",
        "UPDATE actions SET created_at = created_at - 1 WHERE seq = 612",
        "UPDATE actions SET digest = replace(digest, substr(digest, 1, 1), 'x') WHERE seq = 612",
        "UPDATE actions SET data = json_remove(data, '$.result') WHERE seq = 612",
        "UPDATE actions SET data = '[]' WHERE seq = 612",
        "DELETE FROM actions WHERE seq = 612",
    ],
)
async def test_edited_row_is_found(path: Path, edit: str) -> None:
    """Whatever is changed in a row, the chain breaks at that entry, after the entries before it were read."""
    await written(str(path), 700)
    sql(path, edit)
    await expect_break_at(str(path), 612)


async def test_edited_header_is_found(path: Path) -> None:
    """A genesis that is no JSON is a BrokenChain at entry 0 that names the run."""
    await written(str(path))
    sql(path, "UPDATE runs SET genesis = 'x' || genesis")
    store = await open_store(str(path))
    with pytest.raises(BrokenChain, match="header of run 'r'") as broken:
        await store.header("r")
    assert broken.value.entry == 0
    await store.close()


@pytest.mark.parametrize(
    ("index", "key"),
    [
        ("idx_actions_to_agent", "$.request.parameters.to_agent_id"),
        ("idx_actions_from_agent", "$.request.parameters.from_agent_id"),
        ("idx_actions_name", "$.request.name"),
    ],
)
async def test_indexes_are_used(path: Path, index: str, key: str) -> None:
    """A query by recipient, sender or action name within a run uses the index made for it, in order."""
    await written(str(path))
    where = f"WHERE run_id = 'r' AND json_extract(data, '{key}') = 'x' AND seq > 3 ORDER BY seq"
    plan = sql(path, f"EXPLAIN QUERY PLAN SELECT data FROM actions {where}")
    assert [step[3] for step in plan] == [f"SEARCH actions USING INDEX {index} (run_id=? AND <expr>=? AND seq>?)"]


async def test_columns_say_what_the_data_says(path: Path) -> None:
    """The row of an entry has its actor, time, canonical text and digest."""
    await written(str(path))
    entry = sample_entries(7)[6]
    row = sql(path, "SELECT run_id, seq, agent_id, created_at, data, digest FROM actions WHERE seq = 7")
    assert row == [("r", 7, "customer_1", entry.at, entry.text, entry.digest)]


@pytest.mark.parametrize(("synchronous", "level"), [("FULL", 2), ("NORMAL", 1)])
async def test_commit_reaches_the_disk(path: Path, synchronous: Synchronous, level: int) -> None:
    """Commits are synced to the disk unless less is asked for."""
    store = await SqliteStore.open(str(path), synchronous=synchronous)
    row = await store._writer.run(lambda connection: connection.execute("PRAGMA synchronous").fetchone())
    assert row == (level,)
    await store.close()


async def test_bad_append_fails_alone(path: Path) -> None:
    """An append that the database cannot take is a StoreError to its caller; the others are kept."""
    await expect_bad_append_fails_alone(str(path), "half a pair \ud83d")


async def test_appends_that_arrive_together_are_committed_together(path: Path) -> None:
    """Two hundred appends at once take a few transactions, not two hundred."""
    store = await SqliteStore.open(str(path))
    await asyncio.gather(*(store.create(sample_header(f"r{number}")) for number in range(200)))
    commits: list[str] = []
    await store._writer.run(lambda connection: connection.set_trace_callback(commits.append))
    await asyncio.gather(*(store.append(f"r{number}", sample_entries(2)) for number in range(200)))
    await store._writer.run(lambda connection: connection.set_trace_callback(None))
    assert 1 <= commits.count("COMMIT") <= 20
    await store.close()


async def test_loop_goes_on_while_the_disk_works(path: Path) -> None:
    """A write that waits for its lock holds up neither the event loop nor reads."""
    await written(str(path))
    store = await open_store(str(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(store.append("r", sample_entries(21)[20:]))
        for _ in range(20):
            await asyncio.sleep(0.005)
        assert len(await read_entries(store, "r")) == 20
        assert not waiting.done()
        other.execute("ROLLBACK")
    await asyncio.wait_for(waiting, 30)
    await store.close()


async def test_close_ends_the_threads(path: Path) -> None:
    """A store that was closed, or could not be opened, leaves no thread and no journal beside its file."""
    before = threading.active_count()
    await written(str(path))
    (path.parent / "notes.txt").write_text("x" * 1000)
    with pytest.raises(StoreError):
        await open_store(str(path.parent / "notes.txt"))
    opening = asyncio.ensure_future(open_store(str(path)))
    await asyncio.sleep(0)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    assert threading.active_count() <= before  # a thread of an earlier test may have ended meanwhile
    assert sorted(contents(path.parent)) == ["akinai.db", "notes.txt"]


async def test_closed_file_is_whole_by_itself(path: Path) -> None:
    """After close a copy of the file alone holds everything: the writer, which folds the journal, closes last."""
    await written(str(path))
    store = await SqliteStore.open(str(path))
    await store.append("r", sample_entries(24)[20:])
    reading = threading.Event()
    held = asyncio.ensure_future(store._reader.run(lambda _: reading.wait()))
    closing = asyncio.ensure_future(store.close())
    await asyncio.sleep(0.1)
    threads = [thread.name for thread in threading.enumerate()]
    reading.set()
    assert threads.count(f"akinai {path.name}_0") == 2
    await asyncio.gather(held, closing)
    copy = path.with_name("copy.db")
    copy.write_bytes(path.read_bytes())
    assert sql(copy, "SELECT max(seq) FROM actions") == [(24,)]
    assert [file.name for file in path.parent.glob(f"{path.name}*")] == [path.name]


def test_store_outlives_an_event_loop(path: Path) -> None:
    """A store works in one event loop after another, and an append whose loop ended is kept."""
    with asyncio.Runner() as first:
        store = first.run(open_store(str(path)))
        first.run(store.create(sample_header("r")))

        async def leave_behind() -> None:
            asyncio.ensure_future(store.append("r", sample_entries(3)))  # noqa: RUF006 - left on purpose
            await asyncio.sleep(0)

        first.run(leave_behind())

    async def go_on() -> None:
        await store.update(sample_header("r", status="done"))
        assert await read_entries(store, "r") == sample_entries(3)
        await store.close()

    asyncio.run(go_on())


async def test_trace_that_is_no_json_is_named(path: Path) -> None:
    """A damaged trace record is a StoreError that names the run."""
    await written(str(path))
    store = await open_store(str(path))
    await store.add_trace("r", [TraceRecord("a", 1, 1, "x")])
    sql(path, "UPDATE trace SET data = 'x'")
    with pytest.raises(StoreError, match="trace of run 'r'"):
        await anext(aiter(store.read_trace("r")))
    await store.close()


async def test_sequence_conflict_says_what_is_next(path: Path) -> None:
    """The refusal of an append names the run, the number that is next and the one that came."""
    await written(str(path))
    store = await open_store(str(path))
    with pytest.raises(SequenceConflict, match=r"run 'r' takes entry 21 next, not 23"):
        await store.append("r", sample_entries(25)[22:])
    await store.close()
