"""Measures the studio: the first opening of a year, the slider, lists of 2,000 and 20,000 runs, sizes, memory.

Run: `python bench/studio.py` (extra `studio`; the slider needs Playwright and Chromium). Prints each figure and its
ratio to its budget; times are the processor's seconds, the slider's those of the clock.
"""

import asyncio
import json
import resource
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import httpx

import akinai
from akinai import api
from akinai.core.ledger import Genesis
from akinai.core.stores import Books, RunHeader
from akinai.report.page.run_page import run_page
from akinai.report.page.site import Site
from akinai.stores import open_store
from akinai.studio.app import make_app
from akinai.studio.cached_views import CachedViews
from akinai.studio.jobs import Jobs
from akinai.studio.players import Players
from akinai.studio.shared import Studio
from akinai.studio.watch import Watch

DAYS = 365
MANY = (2_000, 20_000)
BUDGETS = {
    "first opening of a year with 10,000 entries": (1.5, "s"),
    "a day of it": (0.12, "s"),
    "list of 2,000 runs, all read": (1.0, "s"),
    "list of 20,000 runs, some read": (1.0, "s"),
    "a look at what is new in 20,000 runs": (0.25, "s"),
    "a look at all of 20,000 runs": (1.0, "s"),
    "memory with 20,000 runs": (250.0, "MB"),
    "memory with 20,000 runs, all judged": (250.0, "MB"),
    "a run of 90 days as one file": (300.0, "kB"),
    "a year of the reference as one file": (1_000.0, "kB"),
    "the slider's answer": (30.0, "ms"),
    "the words after it": (120.0, "ms"),
    "memory": (250.0, "MB"),
}
LOOKS = ("GET_MONEY_BALANCE", "CHECK_DELIVERIES", "LIST_STORAGE", "GET_MACHINE_INVENTORY", "READ_EMAIL", "NOTEPAD_READ")
SLIDE = """async () => {
  const slider = document.querySelector('.slider'), place = document.querySelector('#place'), found = [[], []];
  for (let at = 0; at < 60; at++) {
    const from = performance.now();
    slider.value = +slider.max * ((at * 37) % 60 + 1) / 61;
    slider.dispatchEvent(new Event('input')); place.offsetHeight; found[0].push(performance.now() - from);
    const frame = () => new Promise(requestAnimationFrame);
    if (at % 3 === 0) { // it rests: the words of the entry follow
      while (!document.querySelector(`#days #e${studio.seq}`) && performance.now() - from < 5000) await frame();
      found[1].push(performance.now() - from); }
    await frame(); }
  return found.map(took => took.sort((a, b) => a - b)[took.length >> 1]); }"""
"""Milliseconds, as medians: from a move of the slider to the place, and to the words."""


def tell(name: str, value: float) -> None:
    budget, unit = BUDGETS[name]
    print(f"{name}: {value:,.3g} {unit}, {value / budget:.2f} of the budget of {budget:g} {unit}")


def moves() -> str:
    """A script of a year: every day many looks, a letter, a search, and the night."""
    day = [*({"action": look} for look in LOOKS * 4), {"action": "SEARCH_WEB", "query": "cola"}]
    letter = {"action": "SEND_EMAIL", "to": "orders@northbay-wholesale.com", "body": "Your prices, please."}
    return "\n".join(json.dumps(move) for _ in range(DAYS) for move in (*day, letter, {"action": "ADVANCE_DAY"}))


def play(folder: Path) -> str:
    script, store = folder / "year.jsonl", str(folder / "akinai.db")
    script.write_text(moves())
    settings = ("max_messages=0", "fee_cents=0")
    api.run(
        "vending", agent=f"script:{script}", days=DAYS, settings=settings, name="busy", store=store, preset="classic"
    )
    api.run("vending", agent="reference", days=DAYS, name="year", store=store, preset="classic")
    api.run("vending", agent="reference", name="season", store=store, preset="classic")
    return store


def client_of(books: Books, store: str, watch: Watch) -> httpx.AsyncClient:
    studio = Studio(books, watch, CachedViews(books, watch, {}), Jobs(store, print), Players(books, store))
    return httpx.AsyncClient(transport=httpx.ASGITransport(make_app(studio)), base_url="http://studio", timeout=600)


async def timed(client: httpx.AsyncClient, path: str) -> float:
    begun = time.process_time()
    (await client.get(path)).raise_for_status()
    return time.process_time() - begun


async def pages(store: str) -> None:
    books = await open_store(store)
    async with client_of(books, store, Watch(books)) as client:
        await timed(client, "/runs/season-1")  # modules and templates are loaded once
        tell("first opening of a year with 10,000 entries", await timed(client, "/runs/busy-1"))
        tell("a day of it", await timed(client, "/runs/busy-1/day/180"))
    watch = Watch(books)
    await watch.refresh()
    for run, name in (("season-1", "a run of 90 days as one file"), ("year-1", "a year of the reference as one file")):
        views = await CachedViews(books, watch, {}).views(await books.header(run))
        tell(name, len(run_page(views, {}, Site("file")).encode()) / 1e3)
    await books.close()


async def listing(folder: Path, count: int) -> None:
    """Many short runs: some are read in the background, and then the page is timed."""
    store = str(folder / f"{count}.db")
    first = api.run("vending", agent="idle", days=1, name="first", store=store, preset="classic")[0].header
    books = await open_store(store)
    for begin in range(0, count, 1_000):
        await asyncio.gather(*(books.create(copied(first, number)) for number in range(begin, begin + 1_000)))
    watch = Watch(books)
    await watch.refresh()
    for _ in range(MANY[0] + 1):
        await watch.read_next()
    async with client_of(books, store, watch) as client:
        tell(f"list of {count:,} runs, {'all' if count == MANY[0] else 'some'} read", await timed(client, "/"))
    if count > MANY[0]:
        await asyncio.sleep(10)  # the page has just looked
        begun = time.process_time()
        await watch.refresh(at_once=True)
        tell("a look at what is new in 20,000 runs", time.process_time() - begun)
        watch.look_again()
        begun = time.process_time()
        await watch.refresh()
        tell("a look at all of 20,000 runs", time.process_time() - begun)
        tell("memory with 20,000 runs", megabytes())
        while await watch.read_next():
            pass
        async with client_of(books, store, watch) as client:
            await timed(client, "/")
        tell("memory with 20,000 runs, all judged", megabytes())
    await books.close()


def list_many(folder: Path) -> None:
    asyncio.run(listing(folder, MANY[1]))


def megabytes() -> float:
    """The most memory that this program took; `getrusage` begins with that of the process which started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def copied(header: RunHeader, number: int) -> RunHeader:
    genesis = Genesis(header.genesis.world, number, header.genesis.setup)
    fresh = replace(header, entries=0, digest=genesis.digest)
    return replace(fresh, run_id=f"copy-{number}", genesis=genesis, group="copy")


def slide(folder: Path, store: str) -> None:
    """The times in which the place and the words answer the slider, in a page from disk."""
    from playwright.sync_api import sync_playwright

    page_file = folder / "busy.html"
    akinai.studio.bundle("busy-1", output=page_file, store=store)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.goto(page_file.as_uri())
        page.wait_for_selector("body[data-ready]", state="attached", timeout=60_000)
        for name, value in zip(("the slider's answer", "the words after it"), page.evaluate(SLIDE), strict=True):
            tell(name, value)
        browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        store = play(folder)
        asyncio.run(pages(store))
        tell("memory", megabytes())
        asyncio.run(listing(folder, MANY[0]))
        with ProcessPoolExecutor(1, get_context("spawn")) as apart:
            apart.submit(list_many, folder).result()
        if shutil.which("chromium") and find_spec("playwright"):
            slide(folder, store)
        else:
            print("the slider: not measured without Playwright and Chromium")


if __name__ == "__main__":
    main()
