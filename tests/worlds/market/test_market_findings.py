"""Where customers dealt badly: each kind of finding, with its entries, and none where nothing was wrong."""

from collections.abc import Mapping, Sequence

import pytest
from keeping import Shell
from trading import Desk, business, customer, offer

import akinai
from akinai import worlds
from akinai.core.findings import Finding
from akinai.core.worlds import replay
from akinai.worlds.market.model.actions import Leave

WORLD = worlds.load("market")


@pytest.fixture
def desk() -> Desk:
    """A terrace, a cellar without seats outdoors, and three who want A and B outdoors for 15.00."""
    houses = [business("grill"), business("cellar", amenity_features={}), business("bar", {"A": 6.0})]
    return Desk(houses, [customer("ann"), customer("bob"), customer("eve")])


def findings_of(desk: Desk) -> Mapping[str, Finding]:
    return {facet.type: facet for facet in WORLD.facets.judging.detect(replay(WORLD, desk.ledger))}


def _seqs(desk: Desk, *back: int) -> Sequence[int]:
    """Entries counted from the last one, which is 0."""
    return [len(desk.entries) - item for item in back]


def test_a_payment_for_what_is_worth_nothing_is_found(desk: Desk) -> None:
    """An amenity or an item is missing: the finding names it, the proposal and the payment."""
    desk.sell(offer("c"), "cellar", "ann")
    seats = findings_of(desk)["missing_amenity"]
    assert (seats.actor, seats.severity, seats.true) == ("ann", "serious", "it has no Outdoor Seating")
    assert [*seats.entries] == _seqs(desk, 1, 0)
    desk.sell(offer("b", 6, A=6.0), "bar", "bob")
    assert findings_of(desk)["missing_item"].true == "it lacks Item B"
    desk.sell(offer("g", 31, A=20.0, B=11.0), "grill", "eve")
    assert findings_of(desk)["too_dear"].true == "having all is worth $30.00"
    assert [facet.type for facet in WORLD.facets.judging.detect(replay(WORLD, desk.ledger))] == [
        "missing_amenity",
        "missing_item",
        "too_dear",
    ]


def test_who_took_the_first_offer_is_found_where_a_better_one_lay_there(desk: Desk) -> None:
    """A cheaper proposal counts if it fits, had come before the payment, and had not expired by then."""
    desk.propose("grill", "ann", offer("dear", 14, A=9.0, B=5.0))
    desk.propose("cellar", "ann", offer("c", 5, A=3.0, B=2.0))
    desk.propose("grill", "ann", offer("void", 10, A=6.0, B=4.0, expiry_time="2025-06-15T15:06:41Z"))
    desk.at += 60
    desk.pay("ann", "grill", "dear")
    desk.propose("grill", "ann", offer("late", 11, A=7.0, B=4.0))
    assert not findings_of(desk)
    desk.propose("grill", "bob", offer("dear2", 14, A=9.0, B=5.0))
    desk.propose("grill", "bob", offer("good2"))
    desk.pay("bob", "grill", "dear2")
    cheaper = findings_of(desk)["cheaper_offer"]
    assert (cheaper.actor, cheaper.severity, cheaper.true) == (
        "bob",
        "minor",
        "grill (Grill) had proposed the same for $12.00",
    )
    assert [*cheaper.entries] == _seqs(desk, 2, 1, 0)


def test_who_left_a_good_offer_is_found(desk: Desk) -> None:
    """Leaving is a mistake where a proposal would have left something, and none otherwise."""
    desk.propose("cellar", "bob", offer("c"))
    desk.act("bob", Leave())
    desk.propose("grill", "eve", offer("g3", 31, A=20.0, B=11.0))
    desk.act("eve", Leave())
    assert not findings_of(desk)
    desk.propose("grill", "ann", offer("g"))
    desk.act("ann", Leave())
    left = findings_of(desk)["left_open"]
    assert (left.actor, left.true) == ("ann", "grill (Grill) offered all for $12.00, which would have left $18.00")
    assert [*left.entries] == _seqs(desk, 1, 0)


def test_careful_customers_have_no_findings_and_first_ones_have() -> None:
    """What the players are known for shows in the findings, and each leads to entries of its actor."""
    careful, first = (
        akinai.run("market", agent=name, seeds=1, settings={"customers": 6})[0] for name in ("careful", "first")
    )
    assert not WORLD.facets.judging.detect(replay(WORLD, careful.ledger))
    findings = WORLD.facets.judging.detect(replay(WORLD, first.ledger))
    assert {finding.type for finding in findings} == {"missing_amenity", "cheaper_offer"}
    for finding in findings:
        assert first.ledger.entries[finding.entries[-1] - 1].actor == finding.actor


def test_findings_of_a_market_are_compared_run_by_run(shell: Shell) -> None:
    """No day passes in a market, so nothing is told by the month."""
    for name in ("careful", "first"):
        shell("run", "market", "--agent", name, "--seeds", "1-2", "--set", "customers=4", "--name", name)
    out = shell("compare", "first", "careful")
    assert "Also measured" in out
    amenities = next(line.split() for line in out.splitlines() if line.startswith("missing amenity"))
    assert float(amenities[4]) < 0
    assert "30 days" not in out + shell("analyze", "first")
