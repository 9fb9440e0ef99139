"""Decisive moments: what `akinai why` kept beside a run stands as pins on its page and as items of its days."""

import asyncio
from pathlib import Path

import pytest

import akinai
from akinai.core.stores import Books
from akinai.report.page.run_page import day_html, page_data, run_page
from akinai.report.page.site import Site
from akinai.stores import open_store
from akinai.views import RunViews
from akinai.views.reading import read_views


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> RunViews:
    url = str(Path(tmp_path_factory.mktemp("why")) / "akinai.db")
    akinai.run("vending", preset="quarter", days=6, agent="careful", seeds=[3], store=url, name="shop")
    akinai.why("shop-3", futures=4, budget=60, store=url)

    async def read() -> RunViews:
        books: Books = await open_store(url)
        try:
            return await read_views(books, await books.header("shop-3"))
        finally:
            await books.close()

    return asyncio.run(read())


def test_moments_stand_at_entries_of_their_days(explained: RunViews) -> None:
    """Each is what cost or made most by the explanation, at an entry of the run, in the order of entries."""
    moments, why = explained.moments, explained.explanation
    assert moments
    assert why is not None
    assert {moment.worth for moment in moments} <= {row.made for row in (*why.cost, *why.made)}
    assert [moment.number for moment in moments] == list(range(1, len(moments) + 1))
    assert [moment.entry for moment in moments] == sorted(moment.entry for moment in moments)
    for moment in moments:
        assert (moment.kind == "cost") == (moment.worth < 0)
        assert moment.day == explained.day_of(moment.entry)
        assert moment.number in explained.item(moment.entry).moments
    assert explained.run.to_json()["moments"]


def test_moments_are_pins_and_items(explained: RunViews) -> None:
    """The chart, the rail, the keys n and p, and the day itself show them."""
    site, moment = Site("live"), explained.moments[0]
    page = str(run_page(explained, {}, site))
    assert f'class="pin {moment.kind}"' in page
    assert f'class="mark {moment.kind}"' in page
    assert moment.entry in page_data(explained, {}, site)["finds"]
    assert f'<aside class="finding moment {moment.kind}">' in str(day_html(explained, moment.day, site))
