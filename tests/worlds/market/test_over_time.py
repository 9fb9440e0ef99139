"""Deals, welfare and prices by tenth of a run, and names beside ids."""

import json
from pathlib import Path

import pytest
from keeping import Shell, keep
from trading import Desk, business, customer, offer

from akinai.core.worlds import replay


def spread_out() -> Desk:
    """Offers in the first second, payments of ann after 35 and 99 seconds, an end after 100."""
    desk = Desk(customers=[customer(), customer("bob")])
    desk.propose("grill", "ann", offer("p"))
    desk.propose("grill", "ann", offer("q", 15))
    desk.propose("grill", "bob", offer("r", 18))
    for wait, id in ((35, "p"), (64, "q")):
        desk.at += wait
        assert desk.pay("ann", "grill", id).ok
    desk.at += 1
    desk.say("bob", "grill", "No, thank you.")
    return desk


def test_a_run_is_told_by_tenths_of_its_time(shell: Shell) -> None:
    """Each row counts what was made and paid in it; the needs that a customer's first payment meets are worth their
    30.00 once, so the rows add up to the welfare."""
    keep("hand", spread_out())
    run = shell.analyzed("hand")["runs"][0]
    rows = run["tables"]["over_time"]
    assert [row["tenth"] for row in rows] == list(range(1, 11))
    assert [row["proposals"] for row in rows] == [3] + 9 * [0]
    assert [row["purchases"] for row in rows] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    assert [row["welfare"] for row in rows if row["purchases"]] == [3000 - 1200, -1500]
    assert [row["mean_paid"] for row in rows if row["purchases"]] == [1200, 1500]
    assert (rows[0]["mean_offered"], rows[0]["mean_paid"]) == (1500, None)
    assert sum(row["welfare"] for row in rows) == run["scores"]["welfare"]["value"]
    assert sum(row["revenue"] for row in rows) == run["scores"]["business_revenue"]["value"]


def test_tenths_stay_in_their_order(shell: Shell) -> None:
    """Tables over time are not sorted by money, for one run and for several; a run of one instant has none."""
    keep("hand", spread_out(), spread_out())
    for name in ("hand-1", "hand"):
        lines = shell("analyze", name).partition("Over time")[2].splitlines()[3:13]
        assert [int(line.split()[0]) for line in lines] == list(range(1, 11))
    desk = Desk()
    desk.sell(offer())
    keep("instant", desk)
    assert shell.analyzed("instant")["runs"][0]["tables"]["over_time"] == []


def test_names_stand_beside_ids_for_people(shell: Shell) -> None:
    """In every table of ids and in findings; documents keep ids, and tell the names once."""
    shops = [business("grill", name="The Grill"), business("cellar", name="Deep Down", amenity_features={})]
    desk = Desk(shops, [customer(name="Ann Lee")])
    desk.sell(offer(), "cellar")
    keep("hand", desk, desk)
    for name in ("hand-1", "hand"):
        page = " ".join(shell("analyze", name, "--by-agent", "--by-conversation", "--deals").split())
        assert "cellar (Deep Down)" in page
        assert "ann (Ann Lee)" in page
    run = shell.analyzed("hand-1")["runs"][0]
    assert run["names"] == {"ann": "Ann Lee", "cellar": "Deep Down", "grill": "The Grill"}
    assert {row["business"] for row in run["tables"]["payments_by_business"]} == {"cellar", "grill"}
    (finding,) = desk.world.facets.judging.detect(replay(desk.world, desk.ledger))
    assert finding.assumed == "cellar (Deep Down) suits"
    pytest.importorskip("jinja2")
    shell("report", "hand", "-o", "page")
    page = Path("page", "report.md").read_text()
    assert "cellar (Deep Down)" in page
    assert "names" in json.loads(Path("page", "results.json").read_text())["runs"][0]
