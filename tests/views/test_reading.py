"""Views read from a store: one fold, and nothing that is kept beside the run is made again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.core.stores import Books
from akinai.runtime.runs import reading
from akinai.stores import open_store
from akinai.studio.watch import Watch, judged_run
from akinai.views import RunViews
from akinai.views.reading import read_views
from akinai.worlds.vending import facets


@pytest.fixture
def store(tmp_path: Path) -> str:
    url = str(tmp_path / "akinai.db")
    akinai.run("vending", agent="idle", days=15, seeds=[3], store=url, name="a", preset="classic")
    return url


def refuse(*_: object, **__: object) -> Any:
    raise AssertionError("it was made again")


def views_of(store: str) -> RunViews:
    async def read() -> RunViews:
        books: Books = await open_store(store)
        try:
            return await read_views(books, await books.header("a-3"))
        finally:
            await books.close()

    return asyncio.run(read())


async def judge(store: str) -> object:
    books: Books = await open_store(store)
    try:
        run = await judged_run(books, await books.header("a-3"), {})
        assert not run.trouble
        return run.series, run.severities, run.scores
    finally:
        await books.close()


def test_kept_findings_are_those_of_the_views(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page looks for no findings where an analysis kept them, and shows the same."""
    detected = views_of(store).findings
    akinai.analyze("a", store=store, scale=False)
    monkeypatch.setattr(facets, "detect_all", refuse)
    assert detected
    assert views_of(store).findings == detected


def test_list_of_a_second_studio_folds_nothing(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the list shows of a finished run is kept beside it, days and findings too."""
    first = asyncio.run(judge(store))
    monkeypatch.setattr(reading, "replay", refuse)
    assert asyncio.run(judge(store)) == first


def test_worlds_are_looked_up_once(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many runs of a world do not look for it among the installed packages again."""
    from akinai import plugins, worlds

    worlds.load("vending@3")
    monkeypatch.setattr(plugins, "entry_points", refuse)

    async def read_all() -> int:
        books: Books = await open_store(store)
        watch = Watch(books)
        await watch.refresh()
        while await watch.read_next():
            pass
        await books.close()
        return sum(item.run is not None and not item.run.trouble for item in watch.items)

    assert asyncio.run(read_all()) == 1
