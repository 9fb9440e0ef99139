"""Opening a PostgresStore: addresses and their passwords, foreign tables in a schema, unsuitable servers."""

import asyncio
import traceback
from typing import Any

import pytest
from stored_runs import written

from akinai.core.errors import AkinaiError, StoreError, StoreVersion, UsageError
from akinai.core.stores import ScoreRecord
from akinai.stores import open_store
from akinai.stores.postgres.schema import SCHEMA_VERSION
from akinai.stores.postgres.store import PostgresStore
from akinai.testing.laws.sample_runs import sample_header
from real_postgres import server, sql, with_option

TABLES = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY 1"


def foreign(url: str) -> None:
    sql(url, "CREATE TABLE runs (id INTEGER)", "INSERT INTO runs VALUES (42)")


def foreign_of_our_name(url: str) -> None:
    sql(url, "CREATE TABLE akinai (notes TEXT)")


def empty_mark(url: str) -> None:
    sql(url, "CREATE TABLE akinai (schema_version INTEGER)")


def newer(url: str) -> None:
    asyncio.run(written(url))
    sql(url, f"UPDATE akinai SET schema_version = {SCHEMA_VERSION + 6}")


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (foreign, StoreError, r"has tables of another application \(runs\)"),
        (foreign_of_our_name, StoreError, r"has tables of another application \(akinai\)"),
        (empty_mark, StoreError, r"has tables of another application \(akinai\)"),
        (newer, StoreVersion, "has schema version 8, this Akinai knows 2; install a newer Akinai"),
    ],
)
def test_foreign_schema_is_refused_and_left_alone(
    postgres: str, make: Any, kind: type[StoreError], message: str
) -> None:
    """A schema that is not ours is refused in a sentence, and nothing is made in it."""
    make(postgres)
    before = sql(postgres, TABLES)
    with pytest.raises(kind, match=message) as refusal:
        asyncio.run(open_store(postgres))
    assert type(refusal.value) is kind
    assert sql(postgres, TABLES) == before


async def test_missing_store_is_not_made(postgres: str) -> None:
    """With create=False an empty schema is a UsageError and stays empty; with create=True it is filled."""
    with pytest.raises(UsageError, match=r"no store at 'postgresql://.*'; a first run makes one"):
        await open_store(postgres, create=False)
    assert sql(postgres, TABLES) == []
    await written(postgres)
    await (await open_store(postgres, create=False)).close()
    assert sql(postgres, TABLES) == [("actions",), ("akinai",), ("run_scores",), ("runs",), ("trace",)]


async def test_openings_at_once_make_one_store(postgres: str) -> None:
    """Openings that race to make the tables all succeed, on the same tables."""
    stores = await asyncio.gather(*(open_store(postgres) for _ in range(6)))
    for number, store in enumerate(stores):
        await store.create(sample_header(f"r{number}"))
    for store in stores:
        assert len(await store.runs()) == 6
        await store.close()


async def test_missing_schema_is_named(postgres: str) -> None:
    """A search path that leads nowhere is an error that says how to make the schema."""
    with pytest.raises(StoreError, match="no schema has been selected to create in; make the schema first"):
        await open_store(f"{postgres}nowhere")


async def test_database_without_unicode_is_refused(postgres: str) -> None:
    """A database that keeps text in another encoding is refused before anything is made in it."""
    name = "akinai_bytes"
    sql(server(), f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0")
    with pytest.raises(StoreError, match=f"/{name}.* keeps text as SQL_ASCII"):
        await open_store(with_option(server(), f"dbname={name}"))
    sql(server(), f"DROP DATABASE {name}")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@127.0.0.1:1/akinai",
        "postgres://me:s3cret@127.0.0.1:1/akinai",
        "postgresql+psycopg://me:s3cret@127.0.0.1:1/akinai",
        "postgresql://me@127.0.0.1:1/akinai?password=s3cret",
        "postgresql://me:s3cret/@127.0.0.1/akinai",
        "postgresql://me:x/s3cret@127.0.0.1/akinai",
        "postgresql://me:%zzs3cret@127.0.0.1/akinai",
        "postgresql://me:a@s3cret@127.0.0.1:1/akinai",
        "postgresql://me@127.0.0.1:1/akinai?sslpasword=s3cret",
        "postgresql://me:5432/s3cret@127.0.0.1/akinai",
        "postgresql://me:5432/x@s3cret@127.0.0.1/akinai",
        "postgresql://me:a?s3cret@127.0.0.1:1/akinai",
        "postgresql:me:s3cret@127.0.0.1/akinai",
        "postgresql:/me:s3cret@127.0.0.1/akinai",
        "POSTGRESQL://me:s3cret@127.0.0.1:1/akinai",
        "postgresql://me:s3cret@/akinai?host=/nowhere",
        "postgresql://me:s3cret@[::1]:1/akinai",
        "postgresql://me:s3cret@127.0.0.1:s3cret/akinai",
        "postgresql://me:s3cret@/akinai?service=nowhere",
    ],
)
async def test_password_is_never_shown(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever is wrong with an address, its password is in no message, traceback or log."""
    with pytest.raises(AkinaiError) as refusal:
        await open_store(url)
    # The source line of this test is part of its traceback.
    texts = [str(refusal.value), repr(refusal.value), *traceback.format_exception(refusal.value), caplog.text]
    assert "s3cret" not in "\n".join(texts)
    assert "\n" not in str(refusal.value)
    if isinstance(refusal.value, StoreError):
        assert "postgresql://me@" in str(refusal.value)


async def test_open_store_shows_no_password(postgres: str) -> None:
    """A store shows its address without the password, in its errors too."""
    url = with_option(postgres, "password=s3cret")
    store = await PostgresStore.open(url)
    await store.create(sample_header("r"))
    await store.close()
    with pytest.raises(StoreError, match="is closed") as refusal:
        await store.runs()
    texts = [store.url, repr(store), repr(store._server), str(refusal.value)]
    assert "s3cret" not in " ".join(texts)


async def test_older_store_is_migrated(postgres: str) -> None:
    """A store of schema version 1, which kept no scores: who may only read uses it as it is; who may write migrates it."""
    await written(postgres)
    sql(postgres, "DROP TABLE run_scores", "UPDATE akinai SET schema_version = 1")
    reading = await PostgresStore.open(f"{postgres}%20-cdefault_transaction_read_only%3Don", create=False)
    assert await reading.kept_scores("r") is None
    with pytest.raises(StoreError):
        await reading.keep_scores([ScoreRecord("r", "a", "v1", "{}")])
    await reading.close()
    assert sql(postgres, "SELECT * FROM akinai") == [(1,)]
    store = await PostgresStore.open(postgres, create=False)
    assert sql(postgres, "SELECT * FROM akinai") == [(SCHEMA_VERSION,)]
    await store.keep_scores([ScoreRecord("r", "a", "v1", "{}")])
    assert await store.kept_scores("r") == ScoreRecord("r", "a", "v1", "{}")
    await store.close()


def test_database_that_takes_no_writes_is_read(postgres: str) -> None:
    """A standby, or a role that may only read: what is there is read, and a change is refused with advice."""
    asyncio.run(written(postgres, 3))

    async def read() -> None:
        store = await open_store(f"{postgres}%20-cdefault_transaction_read_only%3Don", create=False)
        assert [entry.seq async for entry in store.read("r")] == [1, 2, 3]
        with pytest.raises(StoreError, match="it takes no writes: is it a standby"):
            await store.create(sample_header("s"))
        await store.close()

    asyncio.run(read())
