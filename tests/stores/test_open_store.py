"""`open_store`: from an address to a store."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from akinai.core.errors import UnknownName, UsageError
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore
from akinai.stores.sqlite.store import SqliteStore
from akinai.testing.laws.sample_runs import sample_header


async def test_addresses_of_one_file_are_one_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path, an absolute one and both sqlite addresses find the same file, from wherever it was opened."""
    monkeypatch.chdir(tmp_path)
    store = await open_store("a b?#%41.db")
    await store.create(sample_header("r"))
    monkeypatch.chdir("/")
    assert [run.run_id for run in await store.runs()] == ["r"]
    await store.close()
    monkeypatch.chdir(tmp_path)
    whole = tmp_path / "a b?#%41.db"
    for url in ("a b?#%41.db", "./a b?#%41.db", str(whole), "sqlite:///a b?#%41.db", f"sqlite:///{whole}"):
        store = await open_store(url, create=False)
        assert isinstance(store, SqliteStore)
        assert [run.run_id for run in await store.runs()] == ["r"], url
        await store.close()
    assert [file.name for file in tmp_path.iterdir()] == [whole.name]


async def test_memory_address_is_a_new_store() -> None:
    """`memory:` is an empty store each time."""
    stores = [await open_store("memory:"), await open_store("memory:", create=False)]
    await stores[0].create(sample_header("r"))
    assert all(isinstance(store, MemoryStore) for store in stores)
    assert list(await stores[1].runs()) == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlit:///a.db", "no store 'sqlit'; did you mean 'sqlite'?"),
        ("redis://host/1", "no store 'redis'; there is memory, postgres, sqlite"),
        ("file:a.db", "a file with ':' in its name is written './a:b.db'"),
    ],
)
async def test_unknown_scheme_lists_the_known(url: str, message: str) -> None:
    """An unknown scheme is an UnknownName with close matches or all there are."""
    with pytest.raises(UnknownName) as refusal:
        await open_store(url)
    assert message in str(refusal.value)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "POSTGRESQL", "postgresql+psycopg"])
async def test_postgres_that_is_not_installed_says_so(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the store for PostgreSQL its address says that it is not installed, and shows no password."""
    points = {"sqlite": EntryPoint("sqlite", "akinai.stores.sqlite.store:SqliteStore", "akinai.stores")}
    monkeypatch.setattr("akinai.stores.plugins", lambda group: points)
    with pytest.raises(UnknownName, match="PostgreSQL is not installed") as refusal:
        await open_store(f"{scheme}://me:secret@host/akinai")
    assert "secret" not in str(refusal.value)
    assert "sqlite" in str(refusal.value)


async def test_missing_extra_names_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psycopg the store for PostgreSQL says what to install, and shows no password."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for module in [name for name in sys.modules if name.startswith("akinai.stores.postgres.store")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(UsageError, match=r'pip install "akinai\[postgres\]"') as refusal:
        await open_store("postgresql://me:secret@host/akinai")
    assert "secret" not in str(refusal.value)


async def test_store_whose_library_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registered store that cannot be imported is a UsageError that names what is missing."""
    points = {"far": EntryPoint("far", "akinai_far_away:Store", "akinai.stores")}
    monkeypatch.setattr("akinai.stores.plugins", lambda group: points)
    with pytest.raises(UsageError, match=r"'far' cannot be loaded \(No module named 'akinai_far_away'\)"):
        await open_store("far://here")


@pytest.mark.parametrize(
    "url", ["", ":memory:", "sqlite:///:memory:", "sqlite:", "sqlite://", "sqlite:///", "sqlite:a.db", "memory:x"]
)
async def test_address_without_a_place_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that names no file, or another library's memory, is a UsageError and makes nothing."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        await open_store(url)
    assert list(tmp_path.iterdir()) == []


async def test_name_with_a_colon_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with a colon in its name is found as './a:b.db'."""
    monkeypatch.chdir(tmp_path)
    await (await open_store("./a:b.db")).close()
    assert (tmp_path / "a:b.db").is_file()


def test_import_is_light() -> None:
    """Importing `akinai.stores` loads no database, no event loop and no pydantic."""
    script = "import sys, akinai.stores; print([m for m in ('sqlite3', 'asyncio', 'pydantic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
