"""Runs of weekly decisions are read by the week: in a transcript, on a page and as data for its script."""

from functools import cache
from io import StringIO

import pytest
from rich.console import Console

import akinai
from akinai import worlds
from akinai.core.errors import UsageError
from akinai.core.worlds import replay
from akinai.report.page.compare_page import compare_page
from akinai.report.page.run_page import day_html, page_data, run_page
from akinai.report.page.site import Site
from akinai.report.tables.transcript import transcript_parts
from akinai.views import RunViews
from akinai.views.selection import Selection, Transcript, select

LIVE = Site("live")
WEEKLY = pytest.mark.parametrize("preset", ["sprint", "arena-sprint"])


@cache
def views(preset: str, days: int = 17) -> RunViews:
    """Two weeks and three days."""
    run = akinai.run("vending", preset=preset, agent="reference", days=days)[0]
    world = worlds.load(run.world)
    return RunViews(run.header, world, replay(world, run.ledger))


def printed(transcript: Transcript) -> str:
    console = Console(file=StringIO(), width=120)
    console.print(*transcript_parts(transcript, command="akinai show weeks-1"), sep="\n")
    return console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO


@WEEKLY
def test_a_week_is_one_unit(preset: str) -> None:
    """It begins on its Monday, which is its number, and holds all of its entries; the last one ends with the run."""
    run = views(preset).run
    assert run.unit == "week"
    assert [(day.position, day.number, day.last_day) for day in run.days] == [(1, 1, 7), (2, 8, 14), (3, 15, 17)]
    assert [day.title for day in run.days] == ["Mon 30 Mar 2026", "Mon 6 Apr 2026", "Mon 13 Apr 2026"]
    assert all(day.first and day.closed for day in run.days)
    assert (run.planned, run.last_day, len(run.series())) == (17, 17, 17)
    assert {item.day for item in views(preset).items()} == {1, 8, 15}


@WEEKLY
def test_a_day_shows_the_week_that_holds_it(preset: str) -> None:
    """`--day 10` is the second week, headed as one; there is no day after the last."""
    second = select(views(preset), Selection(day=10))
    assert [item.seq for item in second.items] == [item.seq for item in views(preset).day(8)]
    assert second.items
    assert second.items == select(views(preset), Selection(day=14)).items
    assert "Week 2  Mon 6 Apr 2026" in printed(second)
    whole = printed(select(views(preset), Selection()))
    assert [line.split("  ")[0] for line in whole.splitlines() if line.startswith(("Week ", "Day "))] == [
        "Week 1", "Week 2", "Week 3",
    ]  # fmt: skip
    entry = second.items[0].seq
    assert select(views(preset), Selection(day=10, entry=entry)).items == second.items[:1]
    with pytest.raises(UsageError, match="of day 8, not of day 15"):
        select(views(preset), Selection(day=15, entry=entry))
    with pytest.raises(UsageError, match=r"has no day 18; it has days 1 to 17"):
        select(views(preset), Selection(day=18))


@WEEKLY
def test_a_page_steps_by_weeks(preset: str) -> None:
    """Rail, slider and headings; a day's address opens its week."""
    page = run_page(views(preset), {}, LIVE)
    assert page.count("data-day=") == 3
    assert 'href="#day=8" data-day="2"><b>2</b><span>6</span>' in page
    assert 'step="10080"' in page
    assert "Next week" in page
    assert "Next day" not in page
    assert "<h2>Week 2</h2>" in day_html(views(preset), 10, LIVE)
    assert day_html(views(preset), 10, LIVE) == day_html(views(preset), 8, LIVE)
    assert day_html(views(preset), 18, LIVE) == ""
    data = page_data(views(preset), {}, Site("folder"))
    assert (data["days"], data["until"], data["words"]["day"]) == ([1, 8, 15], 17, "Week %(n)s")
    assert len(data["fragments"]) == len(data["titles"]) == 3
    assert "3週目" in day_html(views(preset), 15, Site("live", "ja"))
    pair = compare_page(views(preset), views(preset, days=7), [{}, {}], LIVE)
    assert 'min="1" max="17" value="1" step="7"' in pair


def test_a_weeks_sales_are_those_of_all_its_days() -> None:
    """Units sold and wanted, income, fees and spoiled goods are sums; the bars of a page say so."""
    days = views("sprint", days=42).run.days
    assert (
        sum(sum(day.tables["sold"].values()) for day in days) == views("sprint", days=42).run.scores["units_sold"] > 0
    )
    state = views("sprint", days=42).state(days[-1].last)
    assert state.week
    assert days[-1].facts["income_cents"] == sum(book.income_cents for book in state.week.books[-7:])
    assert days[-1].facts["fee_paid_cents"] == sum(book.fee_cents for book in state.week.books[-7:])
    assert "sold a week" in run_page(views("sprint", days=42), {}, LIVE)
