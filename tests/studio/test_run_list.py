"""The list of runs: rows against idle and reference, and the watch that finds what changed."""

import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import akinai
from akinai.core.stores import RunHeader
from akinai.report.figures.svg import nice_step
from akinai.report.page.plot import Line, plot, run_looks
from akinai.report.page.run_list import MOST_ROWS, ListedRun, Scales, row_of, runs_page
from akinai.report.page.site import Site
from akinai.runtime.models.budget import Prices
from akinai.stores import open_store
from akinai.studio.watch import NEWEST, Watch, judged_run

NO_PRICES: Prices = {}
MOST_OF_A_RUN = 4_000
"""Bytes."""


async def watched(store: str, *names: str) -> Watch:
    watch = Watch(await open_store(store), names)
    await watch.refresh()
    while await watch.read_next():
        pass
    await watch.books.close()
    return watch


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "akinai.db"
    for agent in ("idle", "naive", "reference"):
        akinai.run("vending", agent=agent, days=8, seeds=[1, 2], store=str(path), name=agent, preset="classic")
    return path


@pytest.fixture
def store(played: Path, tmp_path: Path) -> str:
    """A copy to change."""
    return str(shutil.copy(played, tmp_path))


async def test_a_row_stands_between_idle_and_reference(store: str) -> None:
    """On the same seed: idle at 0 %, reference at 100 %, the naive player's distance in dollars."""
    items = (await watched(store)).items
    scales = Scales.of(items)
    rows = {item.header.run_id: row_of(item, scales) for item in items}
    assert (rows["idle-1"]["share"], rows["reference-1"]["share"]) == ("0%", "100%")
    runs = {item.header.run_id: item.run for item in items}
    naive, reference = runs["naive-2"], runs["reference-2"]
    assert naive
    assert reference
    gap = naive.score("net_worth") - reference.score("net_worth")
    assert rows["naive-2"]["gap"].replace("−", "-").replace("$", "").replace(",", "").lstrip("+") == f"{gap / 100:.0f}"
    assert rows["naive-2"]["line"].count("L") == 7


async def test_a_mean_is_of_the_runs_that_were_read(store: str) -> None:
    """The seeds of the others are not counted in it."""
    items = (await watched(store)).items
    unread = [ListedRun(item.header) if item.header.run_id == "naive-2" else item for item in items]
    assert re.findall(r"of (\d) seeds?<", str(runs_page(unread, Site("live")))) == ["2", "1", "2"]


async def test_a_judged_run_takes_little_room(tmp_path: Path) -> None:
    """A list of 20,000 holds headers and figures, and one setup for all: no texts of theirs, and no states."""
    address = str(tmp_path / "many.db")
    akinai.run("vending", agent="idle", days=1, seeds=range(1, 9), name="many", store=address)
    items = (await watched(address)).items
    assert all(item.run and item.run.scores for item in items)
    half, whole = (len(pickle.dumps(part)) for part in (items[:4], items))
    assert (whole - half) / 4 < MOST_OF_A_RUN


async def test_a_run_that_breaks_is_a_row_too(store: str) -> None:
    """It says what is wrong, and the others are there."""
    books = await open_store(store)
    header = (await books.runs())[0]
    run = await judged_run(books, RunHeader(**{**vars_of(header), "entries": 99}), NO_PRICES)
    await books.close()
    row = row_of(ListedRun(header, run), Scales())
    assert row["state"] == "damaged"
    assert "missing" in row["error"]


def vars_of(header: RunHeader) -> dict[str, object]:
    return {name: getattr(header, name) for name in header.__slots__}


async def test_only_what_changed_is_sent(store: str) -> None:
    """A new run makes the list another; a refresh without news changes nothing."""
    watch = Watch(await open_store(store), ["naive"])
    await watch.refresh()
    assert [item.header.run_id for item in watch.items] == ["naive-1", "naive-2"]
    assert watch.unread == 6, "and idle and reference on their seeds"
    version, listed = watch.version, watch.list_version
    watch.look_again()
    await watch.refresh()
    assert (watch.version, watch.list_version) == (version, listed)
    assert await watch.read_next()
    assert [item.header.run_id for item in watch.changed_since(version)] == ["naive-2"]
    await watch.books.close()


async def test_a_large_store_is_not_read_whole_at_every_look(store: str) -> None:
    """A look between reads what is new, and what was open; runs keep their order."""
    books = await open_store(store)
    (header, *_) = await books.runs(limit=1)
    opened = replace(header, run_id="open-1", status="open", created_at=header.created_at + 1)
    await books.create(opened)
    watch = Watch(books)
    await watch.refresh()
    watch._whole_due_at, watch._due_at = float("inf"), 0.0  # as after a long look
    await books.update(replace(opened, status="done", ending="horizon"))
    await books.create(replace(header, run_id="late-1", created_at=header.created_at + 2))
    version, listed = watch.version, watch.list_version
    await watch.refresh()
    assert [item.header.run_id for item in watch.items][-2:] == ["open-1", "late-1"]
    assert watch.items[-2].header.status == "done"
    assert watch.list_version > listed
    assert [item.header.run_id for item in watch.changed_since(version)] == ["open-1", "late-1"]
    await books.close()


async def test_a_page_waits_for_the_whole_store_only_where_it_must(store: str) -> None:
    """Of an older run that changed elsewhere the stream tells; more new runs than a look reads are all there at once."""
    books = await open_store(store)
    (header, *_) = await books.runs(limit=1)
    await books.create(replace(header, run_id="old-1", created_at=0))
    for number in range(NEWEST):
        await books.create(replace(header, run_id=f"one-{number}", created_at=header.created_at + 1))
    watch = Watch(books)
    await watch.refresh(at_once=True)
    assert "old-1" in [item.header.run_id for item in watch.items]
    await books.update(replace(header, run_id="old-1", created_at=0, card={"preset": "other"}))
    version, watch._due_at, watch._whole_due_at = watch.version, 0.0, 0.0
    await watch.refresh(at_once=True)
    assert not watch.changed_since(version)
    watch._due_at = 0.0
    await watch.refresh()
    assert [item.header.run_id for item in watch.changed_since(version)] == ["old-1"]
    for number in range(2 * NEWEST):
        await books.create(replace(header, run_id=f"two-{number}", created_at=header.created_at + 2))
    watch._due_at, watch._whole_due_at = 0.0, float("inf")
    await watch.refresh(at_once=True)
    assert sum(item.header.run_id.startswith("two-") for item in watch.items) == 2 * NEWEST
    await books.close()


def test_a_long_list_has_parts() -> None:
    """A page has two thousand rows, every run is on one page, and words are looked for in all."""
    header = akinai.run("vending", agent="idle", days=1, preset="classic")[0].header
    items = [
        ListedRun(replace(header, run_id=f"copy-{number}", group="copy", created_at=number), key="k")
        for number in range(2 * MOST_ROWS + 1)
    ]
    pages = [str(runs_page(items, Site("live"), first=first)) for first in (1, MOST_ROWS + 1, 2 * MOST_ROWS + 1)]
    rows = [re.findall(r'data-run="([^"]+)"', page) for page in pages]
    assert [len(part) for part in rows] == [MOST_ROWS, MOST_ROWS, 1]
    assert {row for part in rows for row in part} == {item.header.run_id for item in items}
    assert [("Newer runs" in page, "Older runs" in page) for page in pages] == [
        (False, True),
        (True, True),
        (True, False),
    ]
    matches = str(runs_page(items, Site("live"), find="COPY-4000 idle"))
    assert re.findall(r'data-run="([^"]+)"', matches) == ["copy-4000"]
    assert len(re.findall("data-run=", str(runs_page(items, Site("folder"))))) == len(items)


def test_text_of_others_is_text() -> None:
    """A name full of markup makes no element."""
    header = akinai.run("vending", agent="idle", days=1, preset="classic")[0].header
    agents = {"owner": '<img src=x onerror="document.title=1">'}
    page = runs_page(
        [ListedRun(RunHeader(**{**vars_of(header), "agents": agents, "error": '"><script>'}))], Site("live")
    )
    assert "&lt;img" in page
    assert "<img" not in page
    assert page.count("<script") == 1


def test_axes_are_round_numbers() -> None:
    """Of steps 1, 2 and 5, with zero in sight, and labels that do not overlap."""
    assert [nice_step(span) for span in (1, 9, 230, 100_000)] == [0.5, 5, 100, 50_000]
    first, second = run_looks("a", "b")
    drawn = plot(("net_worth", "units"), [Line(first, [500, 700], front=True), Line(second, [500, 705])], 1, "en")
    assert drawn is not None
    assert [tick.text for tick in drawn.ticks] == ["0", "200", "400", "600", "800"]
    assert [tick.text for tick in drawn.dates] == ["day 1"]
    upper, lower = (end.top for end in drawn.ends)
    assert lower - upper == pytest.approx(15)
    area, other, own = drawn.shapes.split("<path")[1:]
    assert "L1000.0 1000.0L0.0 1000.0z" in area
    assert 'class="s g2"' in other
    assert 'class="s g1"' in own


async def test_a_run_far_below_its_group_stands_out(store: str) -> None:
    """One of five comes to hardly anything; a group whose runs differ little has none that stands out."""
    items = (await watched(store)).items
    naive = next(item for item in items if item.header.group == "naive")
    alike = [worth(naive, number, value) for number, value in enumerate((50_000, 52_000, 44_000, 55_000, 1_000))]
    assert Scales.of(alike[:4]).outliers == set()
    scales = Scales.of(alike)
    assert scales.outliers == {"naive-4"}
    assert [row_of(item, scales)["outlier"] for item in alike] == [False] * 4 + [True]


def worth(item: ListedRun, number: int, value: int) -> ListedRun:
    """A run of another seed that came to a value."""
    assert item.run
    header = replace(item.header, run_id=f"naive-{number}")
    first, *further = item.run.scores
    return replace(
        item, header=header, run=replace(item.run, header=header, scores=(replace(first, value=value), *further))
    )


async def test_a_group_alone_is_compared_with_the_rest_of_the_store(store: str) -> None:
    """Idle and reference on its seeds are read though they are not listed."""
    watch = await watched(store, "naive")
    assert [item.header.run_id for item in watch.items] == ["naive-1", "naive-2"]
    assert sorted(item.header.group or "" for item in watch.yardsticks) == ["idle", "idle", "reference", "reference"]
    page = runs_page(watch.items, Site("live"), yardsticks=watch.yardsticks)
    assert "reference-1" not in page
    assert page.count('<i class="scale">') == 2


def test_a_run_that_is_over_early_says_why() -> None:
    """A bankrupt run is not merely done."""
    run = akinai.run("vending", agent="idle", days=20, settings={"start_cents": 100}, preset="classic")[0]
    item = ListedRun(run.header, run, run.entries)
    assert run.header.ending == "bankrupt"
    assert row_of(item, Scales())["early"] == "bankrupt"
    assert ">bankrupt</span>" in runs_page([item], Site("live"))
