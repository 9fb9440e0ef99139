"""What the findings come to: scores, the order of the players, and one fold for everything."""

import json

import pytest
from diary import Diary
from shopkeeping import WORLD

import akinai
from akinai.core.ledger import Ledger
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.coherence import DETECTORS, coherence_of, findings_in, scores_in, story_of


def scores(ledger: Ledger) -> dict[str, float]:
    return {score.name: score.value for score in coherence_of(ledger).scores}


def clicker() -> Diary:
    """Looks at everything each day and trades nothing."""
    diary = Diary(days=31)
    for day in range(30):
        diary.do(a.ReadEmail(), a.CheckDeliveries(), a.SearchWeb(query=f"cola {day}"), a.GetMachineInventory())
        diary.nights()
    return diary


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_players_come_out_in_order(preset: str) -> None:
    """Reference keeps the thread, naive lets it slip, idling and clicking around have none."""
    told = [
        scores(akinai.run("vending", agent=agent, seeds=3, days=45, preset=preset)[0].ledger)["coherence"]
        for agent in ("reference", "naive", "idle")
    ]
    assert 0.95 <= told[0] <= 1.0
    assert told[0] >= told[1] > 0.5 > told[2]
    assert scores(clicker().ledger)["coherence"] == told[2] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_the_reference_player_makes_at_most_a_mistake_a_month(preset: str) -> None:
    """Over twenty seeds of ninety days."""
    for run in akinai.run("vending", agent="reference", seeds=range(1, 21), days=90, preset=preset):
        assert len(WORLD.findings(run.ledger)) <= 3, run.seed


def test_the_formula_has_its_numbers() -> None:
    """One serious finding in 30 days: the share of the last 23 that sold something, over 1 + 3 / 10."""
    diary = Diary(days=30).order(cola=144).nights(4)
    for column in range(3):
        diary.fill("cola", 12, 0, column).fill("cola", 12, 1, column)
    diary.price(200).say("Cash: $10").nights(26)
    judged, closes = diary.judged, story_of(diary.ledger).closes
    assert [one.type for one in judged.findings] == ["cash_misremembered"]
    selling = sum(close.book.income_cents > 0 for close in closes[7:])
    told = {score.name: score for score in judged.scores}
    assert 0 < selling <= 23 == len(closes[7:])
    assert told["coherence"].value == pytest.approx(selling / 23 / 1.3)
    assert (told["coherence"].unit, told["coherence"].because) == ("share", (13,))
    assert told["findings"].value == 1


def test_recovery_counts_the_days_without_sales_after_a_stock_out() -> None:
    """Sold out, four days of nothing, sales again: recovered in as many days; never again: no figure."""
    diary = Diary().stocked(cola=24).fill("cola", 2).price(200).nights(6)
    assert "recovery_days" not in scores(diary.ledger)
    assert scores(diary.ledger)["unrecovered_stops"] == 1
    empty = next(at for at, one in enumerate(diary.entries) if "Sold out" in one.outcome.text)
    again = diary.fill("cola", 12).nights(2)
    told = scores(again.ledger)
    assert told["unrecovered_stops"] == 0
    assert 3 <= told["recovery_days"] <= len(diary.entries) - empty


def test_a_run_without_a_closed_day_has_no_scores() -> None:
    """There is nothing to judge, and nothing to divide by."""
    assert scores(Diary().ledger) == {}
    assert list(WORLD.findings(Diary().ledger)) == []
    assert scores(Diary().nights().ledger)["coherence"] == 0.0


def test_detectors_are_pure_and_read_the_ledger_alone() -> None:
    """Twice the same; the same from parsed JSON; in the order of the ledger; a longer record only adds or extends."""
    diary = clicker()
    diary.say("Cash: $10. The order has arrived. We have 90 cola in storage.")
    story = story_of(diary.ledger)
    for name, detector in DETECTORS.items():
        assert list(detector(story)) == list(detector(story)), name
        assert {one.type for one in detector(story)} <= {name}
    found = WORLD.findings(diary.ledger)
    assert list(found) == list(findings_in(story))
    assert [one.entries[-1] for one in found] == sorted(one.entries[-1] for one in found)
    entries = tuple(
        type(one).parse(one.seq, one.at, json.dumps(json.loads(one.text)), one.digest) for one in diary.entries
    )
    assert list(WORLD.findings(Ledger(diary.genesis, entries))) == list(found)
    assert scores_in(story, found) == coherence_of(diary.ledger).scores
