"""A store's file is its owner's alone."""

import logging
import os
import stat
from pathlib import Path

import pytest

from akinai.stores import open_store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no such rights")


def rights(path: Path) -> dict[str, int]:
    """The rights of the files of a store."""
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.glob(f"{path.name}*")}


async def test_a_new_store_is_its_owners_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The file and those that SQLite puts beside it, whatever the umask; nothing is said."""
    path, umask = tmp_path / "new.db", os.umask(0)
    try:
        store = await open_store(str(path))
        found = rights(path)
        await store.close()
    finally:
        os.umask(umask)
    assert found
    assert set(found.values()) == {0o600}
    assert not caplog.records


async def test_an_older_store_is_mended_at_opening(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With a word, once."""
    path = tmp_path / "old.db"
    await (await open_store(str(path))).close()
    path.chmod(0o644)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            await (await open_store(str(path))).close()
    assert set(rights(path).values()) == {0o600}
    (word,) = [record.getMessage() for record in caplog.records]
    assert word.startswith("akinai: others could read the store")


def unchanged(_: Path, mode: int) -> None:
    """A drive without rights takes any, and keeps none."""


async def test_a_drive_without_rights_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where changing rights changes nothing, as on a memory stick, the store works and says so."""
    path = tmp_path / "old.db"
    await (await open_store(str(path))).close()
    path.chmod(0o644)
    monkeypatch.setattr(Path, "chmod", unchanged)
    with caplog.at_level(logging.WARNING):
        await (await open_store(str(path))).close()
    (word,) = [record.getMessage() for record in caplog.records]
    assert "its drive knows no rights" in word
