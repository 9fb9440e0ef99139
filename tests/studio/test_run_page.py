"""The page of a run as text: what it says, and that text of others stays text."""

import json
import re
from pathlib import Path

import pytest

import akinai
from akinai import worlds
from akinai.core.worlds import replay
from akinai.report.page.compare_page import compare_page
from akinai.report.page.run_page import day_html, page_data, run_page
from akinai.report.page.site import Site
from akinai.report.page.templating import amount
from akinai.views import RunViews
from akinai.views.play import play_view

SCRIPT = "<script>document.title='ran'</script><img src=x onerror=alert(1)> \u202e"
LIVE = Site("live")


def views_of(run: akinai.Run) -> RunViews:
    world = worlds.load(run.world)
    return RunViews(run.header, world, replay(world, run.ledger))


@pytest.fixture
def planted(tmp_path: Path) -> RunViews:
    """A run whose agent wrote markup wherever it can: thoughts, letters, notes, addresses, unreadable replies."""
    lines = [
        {"action": "SEND_EMAIL", "to": SCRIPT, "subject": SCRIPT, "body": SCRIPT * 8, "reasoning": SCRIPT},
        {"action": "NOTEPAD_WRITE", "text": SCRIPT},
        {"action": "SEARCH_WEB", "query": SCRIPT},
        {"action": "ADVANCE_DAY"},
    ]
    file = tmp_path / "replies.jsonl"
    file.write_text("\n".join(map(json.dumps, [*lines, SCRIPT])))
    return views_of(akinai.run("vending", agent=f"script:{file}", days=3, preset="classic")[0])


@pytest.mark.parametrize("form", ["live", "folder"])
def test_text_of_agents_is_text(planted: RunViews, form: str) -> None:
    """In the page, its data and its fragments there is no element and no end of a script that an agent wrote."""
    site = Site("live" if form == "live" else "folder")
    page = run_page(planted, {}, site)
    fragments = [str(day_html(planted, day.number, site)) for day in planted.days]
    assert any("&lt;script&gt;" in fragment for fragment in fragments)
    for text in fragments:
        assert "<script" not in text
        assert "<img" not in text
    assert "<img" not in page
    assert page.count("<script") == page.count("</script>") == 2
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert data
    assert json.loads(data[1])["last"] == planted.run.entries


def test_a_page_without_entries() -> None:
    """A run that only began has a page."""
    run = akinai.run("vending", agent="idle", days=1, preset="classic")[0]
    world = worlds.load(run.world)
    views = RunViews(run.header, world, replay(world, akinai.Ledger(run.ledger.genesis, ())))
    assert "Nothing has happened yet" in run_page(views, {}, LIVE)
    assert day_html(views, 1, LIVE) == ""


def test_the_script_gets_time_and_place() -> None:
    """Minutes since the first midnight of each entry, and the headline of each day."""
    views = views_of(akinai.run("vending", agent="naive", days=4, preset="classic")[0])
    data = page_data(views, {"idle": [1.0]}, LIVE)
    assert data["begun"][0] == 480
    assert data["begun"] == sorted(data["begun"])
    assert (data["begin"], len(data["worth"])) == (50_000, 4)
    assert data["tracks"]["slots"].keys() >= {"A1", "D3"}
    assert json.dumps(data, allow_nan=False)


def test_a_run_stands_between_idle_and_reference() -> None:
    """The head says where, and the chart has their lines."""
    runs = {
        agent: views_of(akinai.run("vending", agent=agent, days=20, preset="classic")[0])
        for agent in ("idle", "reference", "naive")
    }
    ghosts = {name: [value or 0 for value in runs[name].run.series()] for name in ("idle", "reference")}
    page = run_page(runs["naive"], ghosts, LIVE)
    assert "Idle to reference" in page
    assert 'class="end reference"' in page
    assert "than the reference player" in page
    japanese = run_page(runs["naive"], ghosts, Site("live", "ja"))
    assert "idleからreferenceまで" in japanese


def test_two_runs_part_where_their_records_do() -> None:
    """A fork is the same up to its entry; groups are compared on the seeds that both played."""
    runs = akinai.run("vending", agent="naive", days=12, store="memory:", preset="classic")
    other = akinai.run("vending", agent="reference", days=12, store="memory:", preset="classic")
    same = compare_page(views_of(runs[0]), views_of(runs[0]), [{}, {}], LIVE)
    assert "Both end level" in same
    page = compare_page(
        views_of(runs[0]), views_of(other[0]), [{1: 50_000, 2: 60_000, 3: 1}, {1: 40_000, 2: 70_000}], LIVE
    )
    assert page.count('class="dot a"') == 4  # two rows, the legend and the head of a side
    assert "+$100" in page
    assert "−$100" in page


def test_the_lines_of_two_runs_begin_before_their_first_day() -> None:
    """The money at the start stands at 0, that of the evening of day 3 at 3, where the axis says so."""
    first, second = (
        akinai.run("vending", agent=name, days=3, store="memory:", preset="classic")[0] for name in ("naive", "idle")
    )
    page = compare_page(views_of(first), views_of(second), [{}, {}], LIVE)
    lines = re.findall(r'd="M(0.0 [^"]+)"', page)
    assert len(lines) >= 2
    days = ["0.0", "333.3", "666.7", "1000.0"]
    assert all([point.split()[0] for point in line.split("L")][:4] == days for line in lines)


def test_entries_of_several_owners_say_whose_they_are() -> None:
    """As a market's do; a single owner's need not."""
    settings = {"owners.2.agent": "idle"}
    (rivals,) = akinai.run("vending", preset="arena", agent="naive", days=2, settings=settings)
    (alone,) = akinai.run("vending", preset="quarter", agent="naive", days=2)
    several, single = (str(day_html(views_of(run), 1, LIVE)) for run in (rivals, alone))
    assert '<p class="actor">owner_1</p>' in several
    assert '<p class="actor">owner_2</p>' in several
    assert 'class="actor"' not in single


def test_a_street_stands_beside_the_transcript() -> None:
    """Every owner's money, player and findings; a row of pins each; whose each entry is, and what they sent."""
    settings = {"owners.2.agent": "stocker", "owners.3.agent": "naive"}
    views = views_of(akinai.run("vending", preset="arena", agent="reference", days=16, settings=settings)[0])
    page, data = str(run_page(views, {}, LIVE)), page_data(views, {}, LIVE)
    seats = views.seats
    assert data["seats"] == [*seats]
    assert [data["seats"][side] for side in data["sides"]] == [step.entry.actor for step in views.steps]
    assert data["money"] == [[*run.series()] for run in seats.values()]
    assert data["tracks"]["parts"].keys() == seats.keys()
    assert data["tracks"]["listings"]["prices"]["compared"] is True
    priced = [seat for seat, run in seats.items() if any(run.series("collusion_index"))]
    assert 1 < len(priced) < len(seats)  # one has no product that another has
    assert page.count('class="end g') == len(seats) + len(priced)
    weeks = data["collusion_index"]
    assert len(weeks) == 3
    assert f"By week, all owners: {' · '.join(amount(week, 'index') for week in weeks)}" in page
    for seat, run in seats.items():
        assert f"<dt>{seat} · {run.player}</dt>" in page
        row = re.search(rf'<div class="pins" aria-label="Findings {seat}">(.*?)</div>', page)
        assert row
        assert row[1].count("<button") == len(run.findings)
    assert any(run.findings for run in seats.values())
    assert not data["terms"]
    assert page_data(views, {}, Site("live", "ja"))["terms"]["bank balance"] == "預金残高"


def test_one_owner_has_a_page_without_a_street() -> None:
    """One row of pins without a name, its own place, and no data of seats."""
    views = views_of(akinai.run("vending", preset="quarter", agent="naive", days=16)[0])
    page, data = str(run_page(views, {}, LIVE)), page_data(views, {}, LIVE)
    assert not {"seats", "sides", "dealings", "street"} & data.keys()
    assert "parts" not in data["tracks"]
    assert views.findings
    assert page.count('class="pins"') == 1
    assert '<div class="pins" aria-label="Findings"><button' in page
    assert 'class="levels"' not in page


def test_a_person_sees_no_other_place() -> None:
    """Whoever acted last, the place and the money of a person who plays are its own."""
    (run,) = akinai.run("vending", preset="arena", agent="stocker", days=8, settings={"owners.2.agent": "naive"})
    views = views_of(run)
    for owner in ("owner_1", "owner_2"):
        playing = play_view(views.world, views.steps, owner)
        assert playing.place_history is not None
        assert not playing.place_history.parts
        money = playing.place_history.figures["bank_cents"][-1][1]
        rival = "owner_2" if owner == "owner_1" else "owner_1"
        to = next(pick for pick in playing.desk.picks if pick.fields == ("to",))
        assert {(rival,), (f"{rival}@akinai-vending.com",)} <= {choice.values for choice in to.choices}
        assert playing.standing == money == views.run.scores[f"bank_balance_{owner}"]
