"""PostgresStore under the shipped laws, and its tables: texts, numbers, indexes, edits, connections."""

import asyncio
import json
from typing import Any

import pytest
from stored_runs import expect_bad_append_fails_alone, expect_break_at, written

from akinai.core.errors import BrokenChain, SequenceConflict, StoreError, UsageError
from akinai.core.ledger import Entry, Genesis, check_chain
from akinai.core.stores import TraceRecord
from akinai.stores import open_store
from akinai.stores.postgres import writer as postgres_writer
from akinai.stores.postgres.store import PostgresStore
from akinai.testing.laws import store_laws
from akinai.testing.laws.sample_runs import AWKWARD_TEXTS, read_entries, sample_entries, sample_genesis, sample_header
from real_postgres import schema_in, server, sql, with_option

test_laws = store_laws(lambda folder: PostgresStore.open(schema_in(folder)))


@pytest.mark.parametrize("odd", [*AWKWARD_TEXTS[1:], "%s %(run)s {}", "NULL", "\\N", "\\.", "a\tb\\x41", "${x}"])
async def test_any_text_is_plain_text(postgres: str, odd: str) -> None:
    """Quotes, percent signs, emoji and bits of SQL are plain text in ids, actors, texts and headers."""
    store = await open_store(postgres)
    run = sample_header(odd, agents={odd: odd}, error=odd, group=odd, parent=f"{odd}#4", ending=odd, card={odd: odd})
    await store.create(run)
    await store.append(odd, sample_entries(3, odd))
    await store.append(odd, sample_entries(20, odd)[3:])
    await store.add_trace(odd, [TraceRecord(odd, 1, 1, odd)])
    assert list(await store.runs()) == [run]
    assert await read_entries(store, odd) == sample_entries(20, odd)
    assert [record async for record in store.read_trace(odd, odd)] == [TraceRecord(odd, 1, 1, odd)]
    await store.close()


async def test_numbers_keep_their_digest(postgres: str) -> None:
    """Numbers that JSONB writes in its own way are read back equal, with the digest of every other store."""
    numbers: Any = [1e5, 1.10, -0.0, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, 1e22, 1e-7, 2**63, -(10**999), 1.5e300]
    store = await open_store(postgres)
    run = sample_header("r", genesis=Genesis("talk@1", 7, {"z": numbers, "a": {"bb": -0.0, "a": 1.0}}))
    await store.create(run)
    entries = sample_entries(9, data={"zz": numbers, "a": {"longer": 1e16, "b": None}})
    await store.append("r", entries)
    read = await read_entries(store, "r")
    assert [(entry.text, entry.digest) for entry in read] == [(entry.text, entry.digest) for entry in entries]
    assert check_chain(sample_genesis(), read) == entries[-1].digest
    assert (await store.header("r")).genesis.digest == run.genesis.digest
    await store.close()


async def test_keys_come_in_the_order_of_every_store(postgres: str) -> None:
    """Keys are read in alphabetical order, as from a file, not in that of JSONB, which is by length."""
    store = await open_store(postgres)
    await store.create(
        sample_header("r", genesis=Genesis("talk@1", 7, {"a": 1, "ccc": 2, "bb": 3}), card={"long": 1, "z": 2})
    )
    await store.append("r", sample_entries(1, data={"a": 1, "ccc": {"y": 1, "xx": 2}, "bb": 3}))
    (entry,) = await read_entries(store, "r")
    assert json.dumps(entry.outcome.data) == '{"a": 1, "bb": 3, "ccc": {"xx": 2, "y": 1}}'
    header = await store.header("r")
    assert [list(header.genesis.setup), list(header.card)] == [["a", "bb", "ccc"], ["long", "z"]]
    await store.close()


async def test_recipient_of_any_length_is_kept(postgres: str) -> None:
    """A recipient longer than an index can hold is an entry like any other."""
    long = "".join(f"{number:x}" for number in range(30_000))
    store = await open_store(postgres)
    await store.create(sample_header("r"))
    entry = sample_entries(1)[0]
    data = entry.data | {"request": {"name": "Say", "parameters": {"to_agent_id": long, "from_agent_id": long}}}
    await store.append("r", [Entry.read(1, entry.at, data, entry.digest)])
    assert [sent.parameters["to_agent_id"] for sent in await read_entries(store, "r")] == [long]
    await store.close()


@pytest.mark.parametrize("text", ["half a pair \ud83d", '{"agent_id": "NUL \\u0000"}', "no JSON", "\0"])
async def test_value_that_no_database_takes_fails_alone(postgres: str, text: str) -> None:
    """An append that PostgreSQL cannot take is a StoreError to its caller, and the others are kept."""
    error = await expect_bad_append_fails_alone(postgres, text)
    assert "cannot keep this" in str(error)


async def test_error_of_a_run_is_kept_whatever_it_says(postgres: str) -> None:
    """The error of a failed run is kept, with a mark for each character that no database takes."""
    store = await open_store(postgres)
    await store.create(sample_header("r"))
    await store.update(sample_header("r", status="failed", error="the model said '\0\ud83d'"))
    assert (await store.header("r")).error == "the model said '\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}'"
    await store.close()


async def test_tables_have_the_shape_of_the_document(postgres: str) -> None:
    """The columns, the primary key and the indexes have their names, and the indexes begin with the run."""
    await written(postgres)
    columns = "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema()"
    assert sql(postgres, f"{columns} AND table_name = 'actions' ORDER BY ordinal_position") == [
        ("run_id", "text"),
        ("seq", "bigint"),
        ("agent_id", "text"),
        ("created_at", "bigint"),
        ("data", "jsonb"),
        ("digest", "text"),
    ]
    indexes = dict(sql(postgres, "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'actions'"))
    assert {"actions_pkey", "idx_actions_to_agent", "idx_actions_from_agent", "idx_actions_name"} == set(indexes)
    assert all("(run_id, " in definition for definition in indexes.values())
    entry = sample_entries(7)[6]
    row = sql(postgres, "SELECT run_id, seq, agent_id, created_at, data, digest FROM actions WHERE seq = 7")
    assert row == [("r", 7, "customer_1", entry.at, entry.data, entry.digest)]


@pytest.mark.parametrize(
    ("index", "expression"),
    [
        ("idx_actions_to_agent", "left(data->'request'->'parameters'->>'to_agent_id', 200)"),
        ("idx_actions_from_agent", "left(data->'request'->'parameters'->>'from_agent_id', 200)"),
        ("idx_actions_name", "data->'request'->>'name'"),
    ],
)
async def test_indexes_are_used(postgres: str, index: str, expression: str) -> None:
    """A query by recipient, sender or action name within a run uses the index made for it, in order."""
    await written(postgres, 1000)
    query = f"EXPLAIN SELECT data FROM actions WHERE run_id = 'r' AND {expression} = 'x' AND seq > 3 ORDER BY seq"
    plan = " ".join(step for (step,) in sql(postgres, "ANALYZE actions", query))
    assert f"Index Scan using {index}" in plan
    assert "Sort" not in plan


async def test_appends_that_arrive_together_are_committed_together(postgres: str) -> None:
    """Two hundred appends at once take a few transactions, not two hundred."""
    store = await open_store(postgres)
    await asyncio.gather(*(store.create(sample_header(f"r{number}")) for number in range(200)))
    await asyncio.gather(*(store.append(f"r{number}", sample_entries(2)) for number in range(200)))
    assert sql(postgres, "SELECT count(*), count(DISTINCT xmin::text) <= 5 FROM actions") == [(400, True)]
    await store.close()


async def test_remembered_numbers_are_checked(postgres: str) -> None:
    """A store that appended to a run accepts entries that follow another store's, and refuses those that repeat them."""
    store_a, store_b = await open_store(postgres), await open_store(postgres)
    await store_a.create(sample_header("r"))
    for seq, store in enumerate((store_a, store_b, store_a, store_a, store_b), 1):
        await store.append("r", sample_entries(seq)[-1:])
    for store in (store_a, store_b):
        with pytest.raises(SequenceConflict, match="takes entry 6 next, not 4"):
            await store.append("r", sample_entries(4, "slower")[-1:])
        with pytest.raises(SequenceConflict, match="takes entry 6 next, not 8"):
            await store.append("r", sample_entries(8)[-1:])
    assert await read_entries(store_a, "r") == sample_entries(5)
    await store_a.close()
    await store_b.close()


async def test_large_batch_is_written_in_parts(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries that are too large for one statement are written by several in one transaction."""
    monkeypatch.setattr(postgres_writer, "CHARACTERS_PER_STATEMENT", 5_000)
    store = await open_store(postgres)
    await store.create(sample_header("r"))
    entries = sample_entries(100, "x" * 300)
    await store.append("r", entries)
    assert await read_entries(store, "r") == entries
    assert sql(postgres, "SELECT count(DISTINCT xmin::text) FROM actions") == [(1,)]
    await store.close()


async def test_commit_reaches_the_disk(postgres: str) -> None:
    """Commits wait for the disk although the address or the server asks for less; a stricter setting is kept."""
    for requested, expected in (("off", "on"), ("local", "on"), ("on", "on"), ("remote_apply", "remote_apply")):
        store = await PostgresStore.open(postgres.replace("options=", f"options=-csynchronous_commit%3D{requested}%20"))
        connection = store._connections.writer._connection
        assert connection is not None
        assert await (await connection.execute("SHOW synchronous_commit")).fetchone() == (expected,)
        await store.close()


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE actions SET data = replace(data::text, 'customer_1', 'customer_2')::jsonb WHERE seq = 612",
        "UPDATE actions SET created_at = created_at - 1 WHERE seq = 612",
        "UPDATE actions SET digest = replace(digest, left(digest, 1), 'x') WHERE seq = 612",
        "UPDATE actions SET data = data - 'result' WHERE seq = 612",
        "UPDATE actions SET data = '[]' WHERE seq = 612",
        "UPDATE actions SET data = 'null' WHERE seq = 612",
        "UPDATE actions SET data = jsonb_set(data, '{request,parameters,data}', repeat('9', 5000)::jsonb) WHERE seq = 612",
        "DELETE FROM actions WHERE seq = 612",
    ],
)
async def test_edited_row_is_found(postgres: str, edit: str) -> None:
    """Whatever is changed in a row, the chain breaks at that entry, after the entries before it were read."""
    await written(postgres, 700)
    sql(postgres, edit)
    await expect_break_at(postgres, 612)


@pytest.mark.parametrize(
    "edit", ["genesis = genesis - 'seed'", "genesis = '[]'", "genesis = 'null'", "agents = '3'", "card = '[1]'"]
)
async def test_damaged_header_hides_no_other(postgres: str, edit: str) -> None:
    """`runs` names a damaged run and its fault, and lists the others whole; its `header` is a BrokenChain at entry 0."""
    store = await open_store(postgres)
    for run_id in ("a", "b", "c"):
        await store.create(sample_header(run_id))
    sql(postgres, f"UPDATE runs SET {edit} WHERE run_id = 'b'")
    first, damaged, last = await store.runs()
    assert (first, last) == (sample_header("a"), sample_header("c"))
    assert first.genesis.setup is last.genesis.setup
    assert (damaged.run_id, damaged.status) == ("b", "failed")
    assert "header of run 'b'" in str(damaged.damage)
    with pytest.raises(BrokenChain, match="header of run 'b'") as broken:
        await store.header("b")
    assert broken.value.entry == 0
    await store.close()


def connections(name: str) -> int:
    ((count,),) = sql(server(), f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}'")
    return count


async def test_close_leaves_no_connection(postgres: str) -> None:
    """A store that was closed, or could not be opened, leaves no connection; one that is open has a handful."""
    url = with_option(postgres, "application_name=counted")
    with pytest.raises(UsageError):
        await open_store(url, create=False)
    store = await open_store(url)
    await store.create(sample_header("r"))
    await asyncio.gather(*(store.header("r") for _ in range(50)), *(store.append("r", []) for _ in range(50)))
    assert 2 <= connections("counted") <= 5
    reading = [asyncio.ensure_future(store.runs()) for _ in range(9)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*reading)
    for pauses in range(0, 60, 3):  # cancelled wherever it is: before, while and after it connects
        opening = asyncio.ensure_future(open_store(url))
        for _ in range(pauses):
            await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait([opening])
        if not opening.cancelled():
            await opening.result().close()
        del opening  # a reference to the error would keep the connection alive
    async with asyncio.timeout(10):
        while connections("counted"):
            await asyncio.sleep(0.01)


def test_store_outlives_an_event_loop(postgres: str) -> None:
    """A store works in one event loop after another; an append whose loop ended is kept whole or not at all."""
    with asyncio.Runner() as first:
        store = first.run(open_store(postgres))
        first.run(store.create(sample_header("r")))

        async def leave_behind() -> None:
            asyncio.ensure_future(store.append("r", sample_entries(30)))  # noqa: RUF006 - left on purpose
            await asyncio.gather(*(store.header("r") for _ in range(9)))

        first.run(leave_behind())

    async def go_on() -> None:
        await store.update(sample_header("r", status="done"))
        assert await read_entries(store, "r") in ([], sample_entries(30))
        await asyncio.gather(*(store.header("r") for _ in range(9)))
        await store.close()

    asyncio.run(go_on())


async def test_locked_run_says_so(postgres: str) -> None:
    """A write that waits too long for another process is a StoreError, reads go on, and the next write works."""
    await written(postgres)
    store = await open_store(postgres.replace("options=", "options=-clock_timeout%3D50%20"))
    import psycopg

    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE actions IN SHARE MODE")
        writes = [store.append("r", sample_entries(21)[20:]), store.add_trace("r", [TraceRecord("a", 1, 1, None)])]
        answers = await asyncio.gather(*writes, return_exceptions=True)
        assert all("another process held it too long" in str(answer) for answer in answers), answers
        assert await read_entries(store, "r") == sample_entries(20)
    await store.append("r", sample_entries(21)[20:])
    await store.close()


async def test_dropped_tables_are_a_store_error(postgres: str) -> None:
    """A store whose tables were dropped under it says so, to readers and writers."""
    await written(postgres)
    store = await open_store(postgres)
    sql(postgres, "DROP TABLE actions")
    for access in (store.append("r", sample_entries(21)[20:]), read_entries(store, "r")):
        with pytest.raises(StoreError, match="its tables are gone"):
            await access
    await store.close()


async def test_sequence_conflict_says_what_is_next(postgres: str) -> None:
    """The refusal of an append names the run, the number that is next and the one that came."""
    await written(postgres)
    store = await open_store(postgres)
    with pytest.raises(SequenceConflict, match=r"run 'r' takes entry 21 next, not 23") as gap:
        await store.append("r", sample_entries(25)[22:])
    with pytest.raises(SequenceConflict, match=r"run 'r' takes entry 21 next, not 11") as overtaken:
        await store.append("r", sample_entries(12)[10:])
    assert (gap.value.last, overtaken.value.last) == (20, 20)
    await store.close()
