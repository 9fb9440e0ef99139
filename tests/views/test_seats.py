"""A street of several owners side by side: what each has, what they sent one another, and one owner's side."""

import json
from functools import cache
from pathlib import Path

import pytest

import akinai
from akinai import worlds
from akinai.core.agents import owner_of
from akinai.core.errors import UnknownName, UsageError
from akinai.core.presentation.transcript import Comparison, Street
from akinai.core.worlds import replay
from akinai.views import RunViews
from akinai.views.selection import Selection, Transcript, select

OWNERS = ("owner_1", "owner_2", "owner_3")
SECOND = "owner_2@akinai-vending.com"
FIRST_MOVES = [
    {"action": "SEND_EMAIL", "to": SECOND, "subject": "Hello", "body": "A van for both?\nYours"},
    {"action": "SEND_MONEY", "to": "owner_2", "cents": 500, "reason": "the van"},
    {"action": "ADVANCE_DAY"},
]


def views_of(run: akinai.Run) -> RunViews:
    world = worlds.load(run.world)
    return RunViews(run.header, world, replay(world, run.ledger))


@cache
def views() -> RunViews:
    """Three rule-based owners for twelve days."""
    settings = {"owners.2.agent": "stocker", "owners.3.agent": "naive"}
    return views_of(akinai.run("vending", preset="arena", agent="reference", days=12, settings=settings)[0])


@pytest.fixture
def dealt(tmp_path: Path) -> RunViews:
    """An owner who writes to another and pays it, and then does no more."""
    return dealing(tmp_path)


def dealing(folder: Path, **further: str) -> RunViews:
    file = folder / "moves.jsonl"
    file.write_text("\n".join(map(json.dumps, FIRST_MOVES)))
    settings = {"owners.2.agent": "idle", **further}
    return views_of(akinai.run("vending", preset="arena", agent=f"script:{file}", days=2, settings=settings)[0])


def side(owner: str) -> Transcript:
    return select(views(), Selection(owner=owner))


def test_each_owner_has_its_own_scores_findings_and_days() -> None:
    """The scores are those of the run under its name, every finding is of one owner, and facts are of its business."""
    run, seats = views().run, views().seats
    assert tuple(seats) == OWNERS
    assert [own.player for own in seats.values()] == ["reference", "stocker", "naive"]
    assert [own.scores["bank_balance"] for own in seats.values()] == [
        run.scores[f"bank_balance_{owner}"] for owner in OWNERS
    ]
    numbers = [finding.number for own in seats.values() for finding in own.findings]
    assert sorted(numbers) == [finding.number for finding in run.findings]
    assert numbers
    assert all(owner_of(finding.actor) == owner for owner, own in seats.items() for finding in own.findings)
    assert seats["owner_1"].series() == run.series()
    for day, owner in ((5, "owner_2"), (9, "owner_3")):
        state = views().state(run.days[day - 1].last).turned_to(owner)
        facts = views().world.facets.judging.day_facts(state)["bank_balance_cents_by_seat"]
        assert isinstance(facts, dict)
        assert seats[owner].days[day - 1].facts["bank_balance_cents"] == facts[owner]
    assert len({own.series() for own in seats.values()}) == 3


def test_units_by_owner_are_those_that_its_score_counts() -> None:
    """What owners sold day by day adds up to their scores."""
    sold = {owner: sum(value or 0 for value in own.series("sold")) for owner, own in views().seats.items()}
    assert sold == {owner: views().run.scores[f"units_sold_{owner}"] for owner in OWNERS}
    assert sum(sold.values()) > 0


def test_the_street_is_the_same_from_scratch_and_step_by_step() -> None:
    """Parts that are used again are those that a new look finds."""
    presentation, state = views().world.facets.presentation, views().steps.opening
    place = presentation.place(state)
    for step in views().steps:
        place = presentation.place(step.after, state, place)
        state = step.after
        assert place == presentation.place(state)


def test_prices_of_one_product_stand_in_one_row() -> None:
    """Of every owner who has it on sale, what the business asks; a product that is sold out says so."""
    seen = set[str]()
    for day in views().days:
        state = views().state(day.last)
        street = views().place(day.last)
        assert isinstance(street, Street)
        prices = next(listing for listing in street.listings if listing.name == "prices")
        assert isinstance(prices, Comparison)
        for product, (_, *cells) in prices.rows.items():
            for owner, cell in zip(OWNERS, cells, strict=True):
                own = state.business(owner)
                units = sum(slot.units for slot in own.slots if slot and slot.product == product)
                has = any(slot and slot.product == product for slot in own.slots) and product in own.prices
                assert cell == (None if not has else own.prices[product] if units else "sold out")
                seen.add("none" if cell is None else "sold out" if cell == "sold out" else "price")
    assert seen == {"none", "sold out", "price"}


def test_one_owner_has_no_street() -> None:
    """A run of one owner is as it was: no seats, no street, no dealings, no facts by seat."""
    (run,) = akinai.run("vending", preset="arena", agent="naive", days=3, settings=["owners=1"])
    single = views_of(run)
    assert (dict(single.seats), single.dealings) == ({}, ())
    assert not isinstance(single.place(3), Street)
    assert "parts" not in single.place_history.to_json()
    assert not [name for day in single.days for name in day.tables if name.endswith("_by_seat")]
    assert select(single, Selection(owner="owner")).items == select(single, Selection()).items


def test_what_owners_send_one_another_is_a_dealing(dealt: RunViews) -> None:
    """The letter by its first line and the payment, each by its entry, from and to whom."""
    rows = [(dealing.sender, dealing.to, dealing.kind, dealing.text) for dealing in dealt.dealings]
    assert rows == [
        ("owner_1", "owner_2", "letter", "A van for both?"),
        ("owner_1", "owner_2", "payment", "owner_1 paid you $5.00. Reason: the van"),
    ]
    names = [type(dealt.steps[dealing.entry - 1].turn.action).__name__ for dealing in dealt.dealings]
    assert names == ["SendEmail", "SendMoney"]


def test_a_letter_that_an_overseer_lets_go_is_a_dealing_of_its_writer(tmp_path: Path) -> None:
    """By the entry that let it go. Who reads letters is no owner, and a single owner beside it is one."""
    overseen = dealing(tmp_path, **{"overseer.agent": "lenient"})
    letter = next(row for row in overseen.dealings if row.kind == "letter")
    assert (letter.sender, letter.to, letter.text) == ("owner_1", "owner_2", "A van for both?")
    assert overseen.steps[letter.entry - 1].entry.actor == "overseer"
    assert tuple(overseen.seats) == ("owner_1", "owner_2")
    settings = {"overseer.agent": "lenient"}
    single = views_of(akinai.run("vending", preset="quarter", agent="idle", days=1, settings=settings)[0])
    assert select(single, Selection(owner="owner")).run == single.run


def test_a_side_holds_what_reached_it(dealt: RunViews) -> None:
    """Of owner_2 its own entries with the letter and the payment of owner_1, and nothing else of that one's."""
    transcript = select(dealt, Selection(owner="owner_2"))
    brought = [item.seq for item in transcript.items if item.actor == "owner_1"]
    assert brought == [dealing.entry for dealing in dealt.dealings]
    own = [step.entry.seq for step in dealt.steps if step.entry.actor == "owner_2"]
    assert [item.seq for item in transcript.items] == sorted([*own, *brought])


def test_a_side_has_its_own_facts_and_findings() -> None:
    """The verdict, days and findings of the page for one owner are those of its seat."""
    transcript = side("owner_2")
    assert transcript.run is views().seats["owner_2"]
    assert {item.actor for item in transcript.items} == {"owner_2"}
    document = transcript.to_json()["run"]
    assert isinstance(document, dict)
    assert document["scores"] == views().seats["owner_2"].scores
    assert transcript.verdict.text != side("owner_3").verdict.text


def test_an_owner_that_is_not_there_is_one_clear_error() -> None:
    """Of several the names are listed; a single owner has no other."""
    with pytest.raises(UnknownName, match="no owner 'owner_9'; did you mean 'owner_3' or 'owner_2' or 'owner_1'"):
        side("owner_9")
    (run,) = akinai.run("vending", preset="classic", agent="idle", days=1)
    with pytest.raises(UsageError, match="has a single one, owner"):
        select(views_of(run), Selection(owner="owner_1"))


def test_a_day_ends_with_the_street() -> None:
    """A selected day has the street without single places, an entry that of its owner."""
    day = select(views(), Selection(day=6)).place
    assert isinstance(day, Street)
    assert not day.parts
    item = next(item for item in views().day(6) if item.actor == "owner_2")
    entry = select(views(), Selection(entry=item.seq)).place
    assert isinstance(entry, Street)
    assert tuple(entry.parts) == ("owner_2",)
