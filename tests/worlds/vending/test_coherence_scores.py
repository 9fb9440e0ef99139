"""What the findings come to: scores, the order of the players, and one fold for everything."""

import json

import pytest
from business import WORLD
from ledger_builder import LedgerBuilder, judged

import akinai
from akinai.core.actions import Unreadable
from akinai.core.ledger import Ledger
from akinai.core.worlds import replay
from akinai.worlds.vending.detectors.coherence import DETECTORS, coherence_scores, detect_all
from akinai.worlds.vending.detectors.history import History
from akinai.worlds.vending.model import actions as a


def scores(ledger: Ledger) -> dict[str, float]:
    return {score.name: score.value for score in judged(replay(WORLD, ledger)).scores}


def clicker() -> LedgerBuilder:
    """Looks at everything each day and trades nothing."""
    builder = LedgerBuilder(days=31)
    for day in range(30):
        builder.do(a.ReadEmail(), a.CheckDeliveries(), a.SearchWeb(query=f"cola {day}"), a.GetMachineInventory())
        builder.nights()
    return builder


@pytest.mark.parametrize("preset", ["classic", "paper"])
def test_players_come_out_in_order(preset: str) -> None:
    """Reference keeps the thread, naive lets it slip, idling and clicking around have none."""
    values = [
        scores(akinai.run("vending", agent=agent, seeds=3, days=45, preset=preset)[0].ledger)["coherence"]
        for agent in ("reference", "naive", "idle")
    ]
    assert 0.95 <= values[0] <= 1.0
    assert values[0] >= values[1] > 0.5 > values[2]
    assert scores(clicker().ledger)["coherence"] == values[2] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["classic", "paper"])
def test_the_reference_player_makes_at_most_a_mistake_a_month(preset: str) -> None:
    """Over twenty seeds of ninety days."""
    for run in akinai.run("vending", agent="reference", seeds=range(1, 21), days=90, preset=preset):
        assert len(judged(replay(WORLD, run.ledger)).findings) <= 3, run.seed


def test_the_formula_has_its_numbers() -> None:
    """One serious finding in 30 days: the share of the last 23 that sold something, over 1 + 3 / 10."""
    builder = LedgerBuilder(days=30).order(cola=144).nights(4)
    for column in range(3):
        builder.fill("cola", 12, 0, column).fill("cola", 12, 1, column)
    builder.price(200).say("Cash: $10").nights(26)
    verdict, closes = builder.judged, History.of(builder.steps).closes
    assert [finding.type for finding in verdict.findings] == ["cash_misremembered"]
    selling = sum(close.book.income_cents > 0 for close in closes[7:])
    by_name = {score.name: score for score in verdict.scores}
    assert 0 < selling <= 23 == len(closes[7:])
    assert by_name["coherence"].value == pytest.approx(selling / 23 / 1.3)
    assert (by_name["coherence"].unit, by_name["coherence"].because) == ("share", (13,))
    assert by_name["findings"].value == 1


def test_recovery_counts_the_days_without_sales_after_a_stock_out() -> None:
    """Sold out, four days of nothing, sales again: recovered in as many days; never again: no figure."""
    builder = LedgerBuilder().stocked(cola=24).fill("cola", 2).price(200).nights(6)
    assert "recovery_days" not in scores(builder.ledger)
    assert scores(builder.ledger)["unrecovered_stops"] == 1
    empty = next(at for at, entry in enumerate(builder.entries) if "Sold out" in entry.outcome.text)
    again = builder.fill("cola", 12).nights(2)
    values = scores(again.ledger)
    assert values["unrecovered_stops"] == 0
    assert 3 <= values["recovery_days"] <= len(builder.entries) - empty


def test_a_first_day_without_a_finding_has_no_scores_and_one_of_noise_scores_nothing() -> None:
    """Before a day is over there is nothing to judge, unless hundreds of replies of it could not be read."""
    assert scores(LedgerBuilder().ledger) == {}
    noise = LedgerBuilder()
    for _ in range(200):
        noise.try_(Unreadable.of("I see.", "the reply holds no action"))
    assert scores(noise.ledger)["coherence"] == 0.0
    assert list(LedgerBuilder().judged.findings) == []
    assert scores(LedgerBuilder().nights().ledger)["coherence"] == 0.0


def test_detectors_are_pure_and_read_the_ledger_alone() -> None:
    """Twice the same; the same from parsed JSON; in the order of the ledger; a longer record only adds or extends."""
    builder = clicker()
    builder.say("Cash: $10. The order has arrived. We have 90 cola in storage.")
    history = History.of(builder.steps)
    for name, detector in DETECTORS.items():
        assert list(detector(history)) == list(detector(history)), name
        assert {finding.type for finding in detector(history)} <= {name}
    findings = builder.judged.findings
    assert list(findings) == list(detect_all(history))
    assert [match.entries[-1] for match in findings] == sorted(match.entries[-1] for match in findings)
    entries = tuple(
        type(entry).parse(entry.seq, entry.at, json.dumps(json.loads(entry.text)), entry.digest)
        for entry in builder.entries
    )
    assert list(WORLD.facets.judging.detect(replay(WORLD, Ledger(builder.genesis, entries)))) == list(findings)
    assert coherence_scores(history, findings) == builder.judged.scores
