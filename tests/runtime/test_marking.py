"""Notes on a run: they are in its card, and its record stays."""

import asyncio
from pathlib import Path

import pytest

import akinai
from akinai.core.errors import UsageError
from akinai.runtime.runs.marking import Notes, note, notes_of
from akinai.stores import open_store


async def test_notes_are_kept_and_taken_back(tmp_path: Path) -> None:
    """Each leaves the others as they are; without any the card is as it was."""
    store_url = str(tmp_path / "akinai.db")
    before = await asyncio.to_thread(
        lambda: akinai.run("vending", agent="idle", days=1, store=store_url, name="a", preset="classic")[0]
    )
    books = await open_store(store_url)
    assert await note(books, "a-1", label="  the   quiet one ") == Notes("the quiet one")
    assert await note(books, "a-1", tags=["slow", "slow", "", "seed, three"]) == Notes(
        "the quiet one", ("slow", "seed three")
    )
    await note(books, "a-1", deleted=True)
    header = await books.header("a-1")
    assert notes_of(header) == Notes("the quiet one", ("slow", "seed three"), deleted=True)
    assert header.digest == before.digest
    for wrong in ({"label": "x" * 81}, {"tags": ["x" * 31]}, {"tags": list("abcdefghijklm")}, {"label": "\0"}):
        with pytest.raises(UsageError):
            await note(books, "a-1", **wrong)  # pyright: ignore[reportArgumentType] - one of the parameters
    await note(books, "a-1", label="", tags=[], deleted=False)
    assert (await books.header("a-1")).card == before.header.card
    await books.close()
