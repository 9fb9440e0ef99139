"""View models: what a page shows agrees with the ledger, in every world and at every entry."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runs_for_views import RUNS, played, views

import akinai
from akinai import worlds
from akinai.core.facets import Facets, Presentation
from akinai.core.ledger import Ledger
from akinai.core.presentation.transcript import Place, Sheet
from akinai.core.worlds import replay
from akinai.runtime.runs.reading import series_of
from akinai.views import RunViews
from akinai.views.play import play_view

WORLDS = sorted(RUNS)


@pytest.mark.parametrize("world", WORLDS)
def test_every_entry_stands_in_one_day(world: str) -> None:
    """The days hold every entry once, in order, and each item says what its entry says."""
    run_views = views(world)
    items = list(run_views.items())
    assert [item.seq for item in items] == list(range(1, len(run_views.steps) + 1))
    for item, step in zip(items, run_views.steps, strict=True):
        assert (item.ok, item.text, item.actor) == (step.outcome.ok, step.outcome.text, step.entry.actor)
        assert item.shown.summary
        assert run_views.item(item.seq) is item


@pytest.mark.parametrize("world", WORLDS)
def test_views_are_json(world: str) -> None:
    """Every view model is JSON as it stands."""
    run_views = views(world)
    documents = [
        run_views.run.to_json(),
        run_views.place_history.to_json(),
        *(item.to_json() for item in run_views.items()),
    ]
    assert all(json.loads(json.dumps(document, allow_nan=False)) for document in documents)


def at_entry(changes: Sequence[tuple[int, Any]], seq: int) -> Any:
    """The last of some changes up to an entry; None before its first change."""
    return next((value for changed, value in reversed(changes) if changed <= seq), None)


@pytest.mark.parametrize("world", WORLDS)
def test_the_history_holds_the_place_of_every_entry(world: str) -> None:
    """What the history says after an entry is what the place made from that entry's state says."""
    run_views = views(world)
    history = run_views.place_history
    for seq in range(len(run_views.steps) + 1):
        snapshot = run_views.place(seq)
        assert {figure.name: figure.value for figure in snapshot.figures} == {
            name: at_entry(changes, seq) for name, changes in history.figures.items()
        }
        slots = {key: slot for shelf in snapshot.shelves for key, slot in shelf.slots.items()}
        for key, slot in slots.items():
            expected = (slot.item, slot.units, slot.price_cents) if slot else None
            assert at_entry(history.slots[key], seq) == expected
        for listing in snapshot.listings:
            rows = {key: at_entry(changes, seq) for key, changes in history.rows[listing.name].items()}
            assert {key: row for key, row in rows.items() if row is not None} == dict(listing.rows)


@pytest.mark.parametrize("world", WORLDS)
def test_growing_views_are_those_of_the_whole(world: str) -> None:
    """Views that grew entry by entry equal those read at once."""
    run = played(world)
    rules, entries = worlds.load(run.world), run.ledger.entries
    half = len(entries) // 2
    begun = RunViews(run.header, rules, replay(rules, Ledger(run.ledger.genesis, entries[:half])))
    grown = begun.grown(run.header, entries[half:])
    whole = views(world)
    assert (grown.digest, grown.run, list(grown.items())) == (whole.digest, whole.run, list(whole.items()))


def test_a_receipt_names_the_letter_that_ordered() -> None:
    """Goods that were ordered by letter are charged in a night; their receipt leads back to the letter's entry."""
    run_views = views("vending")
    receipts = [
        block
        for item in run_views.items()
        for block in item.shown.blocks
        if isinstance(block, Sheet) and block.name == "receipt"
    ]
    assert receipts
    for receipt in receipts:
        letter = run_views.item(receipt.entry)
        assert letter.verb == "send_email"
        assert receipt.total_cents == sum(int(str(row[1])) * int(str(row[2])) for row in receipt.rows)


def test_nights_add_up_to_the_money_in_the_scores() -> None:
    """The sheets of all nights together hold what was sold."""
    run_views = views("vending")
    sheets = [
        block
        for item in run_views.items()
        for block in item.shown.blocks
        if isinstance(block, Sheet) and block.name == "sales"
    ]
    assert len(sheets) == sum(day.closed for day in run_views.run.days) == 9
    assert sum(int(str(row[1])) for sheet in sheets for row in sheet.rows) == run_views.run.scores["units_sold"]


def test_the_last_day_holds_the_headline() -> None:
    """The series of the headline ends with the score."""
    run = views("vending").run
    assert run.series()[-1] == run.scores[run.headline]


def test_every_day_of_a_week_has_the_value_at_its_end() -> None:
    """Where one step passes a week: alike for a run's page, for the person who plays it, and for the runs beside it."""
    played = akinai.run("vending", agent="reference", preset="sprint", days=21)[0]
    world = worlds.load(played.world)
    steps = replay(world, played.ledger)
    by_day = replace(played, series=series_of(world, steps)).headline_by_day
    assert [len({*by_day[week : week + 7]}) for week in (0, 7, 14)] == [1, 1, 1]
    assert len({*by_day}) == 3
    assert by_day == [*RunViews(played.header, world, steps).run.series()][: len(by_day)]
    assert by_day == [*play_view(world, steps, "owner").closed]


def test_goods_in_storage_are_not_on_their_way() -> None:
    """Where nobody signs for goods and counts them, only orders that did not come are."""
    run_views = views("vending")
    for seq in range(len(run_views.steps) + 1):
        (coming,) = [listing for listing in run_views.place(seq).listings if listing.name == "coming"]
        assert {*coming.rows} == {str(order.number) for order in run_views.state(seq).orders}
    assert run_views.state(seq).parcels


def test_market_talks_hold_every_proposal() -> None:
    """The conversations of a market hold each proposal once, with its rank among those of its customer."""
    run_views = views("market")
    proposals = [proposal for talk in run_views.crowd.talks for proposal in talk.proposals]
    assert len(proposals) == run_views.run.scores["proposals"] > 0
    assert sum(proposal.status == "accepted" for proposal in proposals) == run_views.run.scores["purchases"] > 0
    for customer in {proposal.buyer for proposal in proposals}:
        ranks = sorted(proposal.rank for proposal in proposals if proposal.buyer == customer)
        assert ranks == list(range(1, len(ranks) + 1))


def test_a_silent_world_is_still_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A world that says nothing of its presentation has verbs and parameters for a transcript, and no place."""
    run = played("vending")
    rules = type(worlds.load(run.world))
    monkeypatch.setattr(rules, "facets", Facets(presentation=Presentation()))
    run_views = RunViews(run.header, rules(), replay(rules(), run.ledger))
    assert all(item.shown.summary and item.shown.kind == "other" for item in run_views.items())
    assert run_views.place(5) == Place()


def test_orders_are_titled_by_supplier_and_goods(tmp_path: Path) -> None:
    """An order names the supplier and the goods as people know them; a refused one says that it was tried."""
    order = {"action": "PLACE_ORDER", "supplier_id": "ggbev", "items": {"cola": 24, "water": 48}}
    refused = {**order, "supplier_id": "nobody"}
    script = tmp_path / "moves.jsonl"
    script.write_text("\n".join(map(json.dumps, (order, refused))))
    run = akinai.run("vending", agent=f"script:{script}", preset="classic")[0]
    rules = worlds.load(run.world)
    titles = [item.shown.summary for item in RunViews(run.header, rules, replay(rules, run.ledger)).items()]
    assert titles == [
        "Ordered from Golden Gate Beverages: 24 Cola, 48 Water",
        "Tried to order from nobody: 24 Cola, 48 Water",
    ]
