"""What a run's page hears of its run while it is open."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import akinai
from akinai.stores import open_store
from akinai.studio.app import make_app
from akinai.studio.cached_views import CachedViews
from akinai.studio.jobs import Jobs
from akinai.studio.players import Players
from akinai.studio.shared import Studio
from akinai.studio.watch import Watch


async def test_the_end_of_a_run_is_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that was read between the last entry and the end hears of the end, once."""
    monkeypatch.setattr("akinai.studio.run_routes.POLL_S", 0.02)
    store = str(tmp_path / "akinai.db")
    await asyncio.to_thread(akinai.run, "vending", agent="idle", days=2, store=store, name="quiet")
    books = await open_store(store)
    done = await books.header("quiet-1")
    await books.update(replace(done, status="open"))
    watch = Watch(books)
    studio = Studio(books, watch, CachedViews(books, watch, {}), Jobs(store, print), Players(books, store))
    transport = httpx.ASGITransport(make_app(studio))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:9") as client:
        page = (await client.get("/runs/quiet-1")).text
        match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
        assert match
        data = json.loads(match[1])
        address = f"{data['url']}/events?digest={data['digest']}&status={data['status']}&ghosts=2"
        answer = asyncio.create_task(client.get(address))
        await asyncio.sleep(0.1)
        await books.update(done)
        await asyncio.sleep(0.6)
        studio.stopping.set()
        assert (await answer).text.count("event: grown") == 1
    await books.close()
