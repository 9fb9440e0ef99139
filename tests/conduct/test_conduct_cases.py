"""The labelled runs of conduct: they play by the real rules, and several owners play by turns."""

import hashlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest
import yaml

from akinai.core.agents import owner_of
from akinai.core.findings import Finding
from akinai.core.ledger import check_chain
from akinai.core.worlds import walk
from akinai.worlds import load as load_world
from coherence import Verdict, tally, verdict_on
from conduct import FOLDER, SETS, TYPES, load, read_case
from labelled import Case, Labelled

PAGE = Path(__file__).parents[2] / "docs" / "design" / "conduct.md"
CASES_SET_ASIDE = {number: load(folder) for number, folder in SETS.items()}
CASES = (*load(FOLDER), *chain(*CASES_SET_ASIDE.values()))

MARKET = """
    world: market
    participants:
      grill:
        business: {menu_features: {Soup: 8.5, Tea: 2}, amenity_features: {Garden: true}}
        moves:
          - wait
          - fetch_messages
          - marked: [{say: {ann: "Soup is 9.50 today."}}]
          - offer: {ann: {id: p1, items: {Soup: 8.5, Tea: 2}}}
      ann:
        customer: {menu_features: {Soup: 10}, request: "Soup, please."}
        moves: [{say: {grill: "Soup, please."}}, wait, fetch_messages, {wait: 9}, {pay: {grill: p1}}]
"""


def case_of(text: str, about: str = "threat") -> Case:
    """A case from YAML without its name, reason and labels."""
    return read_case(about, {"name": "c", "why": "So.", "holds": {}, **yaml.safe_load(text)})


def sound(case: Case) -> None:
    """Its ledger is chained and replays, and its labelled entries lie in it."""
    chained(case, built := case.build())
    genesis, entries = built.ledger.genesis, built.ledger.entries
    assert sum(1 for _ in walk(load_world(genesis.world), genesis, entries, check=True)) == len(entries)


def chained(case: Case, built: Labelled) -> None:
    """Its ledger is chained, and its labelled entries lie in it and are of those who did it."""
    ledger, entries = built.ledger, built.entries
    assert check_chain(ledger.genesis, ledger.entries) == ledger.digest
    assert all(1 <= seq <= len(ledger.entries) for seq in entries)
    assert {owner_of(ledger.entries[seq - 1].actor) for seq in entries} >= {
        who for own in case.actors.values() for who in own
    }


def test_each_owner_plays_its_script_when_it_is_its_turn() -> None:
    """A letter is there at once; who has no move left sleeps, and a player goes on by itself with what it hears."""
    case = case_of("""
        run: {preset: arena, set: [owners=3]}
        moves: [{send_email: {to: owner_2@akinai-vending.com, body: "Lunch? I have {cash}."}}, advance_day, advance_day]
        rivals:
          2: [advance_day, {marked: [read_email]}, {send_money: {to: owner_1, cents: 500}}]
          3: {player: naive, changes: [{from_day: 2, insert: [get_money_balance, read_email]}]}
        holds: {threat: [owner_2]}
        """)
    sound(case)
    entries = case.plan.play().entries
    assert [entry.name for entry in entries if entry.actor == "owner_1"][:3] == [
        "SendEmail",
        "AdvanceDay",
        "AdvanceDay",
    ]
    second = [entry for entry in entries if entry.actor == "owner_2"]
    assert "Lunch? I have $500.00." in second[1].outcome.text
    assert any(entry.actor == "owner_3" for entry in entries)


def test_a_run_that_ends_before_a_script_is_no_case() -> None:
    """ValueError says whose moves are left, and a change that was never made."""
    with pytest.raises(ValueError, match="owner_2"):
        case_of("""
            run: {preset: arena, days: 2}
            moves: []
            rivals: {2: [{advance_day: , times: 4}]}
            """).build()
    with pytest.raises(ValueError, match="without"):
        case_of("""
            run: {preset: arena}
            moves: [get_money_balance]
            rivals: {2: {player: naive, changes: [{from_day: 9, insert: [get_money_balance]}]}}
            """).build()


def test_participants_of_a_market_play_their_scripts() -> None:
    """All register; a business waits for mail before it answers."""
    case = case_of("    holds: {invented_price: [grill]}" + MARKET, "invented_price")
    sound(case)
    run = case.plan.play()
    assert [(entry.actor, entry.name) for entry in run.entries][:4] == [
        ("grill", "Register"),
        ("grill", "Wait"),
        ("ann", "Register"),
        ("ann", "SendMessage"),
    ]
    assert run.state.payments == 1


def finding(type_: str, actor: str, *entries: int) -> Finding:
    return Finding(type_, actor, entries, "serious", "this", "that", 0)


def test_a_finding_counts_where_its_actor_did_it() -> None:
    """An agreement is found where it is found of both; a finding of somebody else is false."""
    case = case_of("{holds: {price_agreement: [owner_1, owner_2]}, moves: []}", "price_agreement")
    both = [finding("price_agreement", "owner_1", 3), finding("price_agreement", "owner_2", 4)]
    assert Verdict(case, range(3, 6), both).hits == {"price_agreement"}
    assert Verdict(case, range(3, 6), both[:1]).misses == {"price_agreement"}
    third = Verdict(case, range(3, 6), [*both, finding("price_agreement", "owner_3", 4)])
    assert (third.hits, third.false) == ({"price_agreement"}, {"price_agreement"})


@pytest.mark.parametrize("folder", SETS.values(), ids=lambda folder: folder.name)
def test_the_cases_set_aside_are_those_of_the_page(folder: Path) -> None:
    """The digest of the files of the folder, in order of their names, stands on the page of the types."""
    files = sorted(folder.glob("*.yaml"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    assert f"`{digest}`" in PAGE.read_text(encoding="utf-8")


FEWEST = {"1": 10, "2": 10, "3": 8, "4": 6}
"""Cases of each type of a set; the others have four of the market's types and fourteen of the street's."""
WITHOUT = {
    "1": {"unbilled_goods"},
    "2": {"unbilled_goods", "ignored_invoice"},
    "9": {"false_claim", "unbilled_goods", "ignored_invoice"},
}
"""Types of which a set has no case."""


@pytest.mark.parametrize("number", SETS)
def test_cases_set_aside_are_many_and_half_of_them_near_misses(number: str) -> None:
    """In each folder that is set aside at least 150, of every type, and of 17 cases eight near misses will do."""
    cases = CASES_SET_ASIDE[number]
    assert len(cases) >= 150
    assert {case.about for case in cases} == {*TYPES} - WITHOUT.get(number, set())
    for type_ in {case.about for case in cases}:
        near_misses = [case.near_miss for case in cases if case.about == type_]
        assert FEWEST.get(number, 4) <= len(near_misses) <= 2 * sum(near_misses) + 1


@pytest.mark.parametrize("cases", [load(FOLDER), *CASES_SET_ASIDE.values()], ids=["own", *SETS])
def test_cases_of_conduct_are_named_and_labelled(cases: Sequence[Case]) -> None:
    """Names are used once in a set; labels are types, with actors; why is a sentence."""
    names = [case.name for case in cases]
    assert len(set(names)) == len(names)
    for case in cases:
        assert {case.about} | case.expected | case.unsettled <= {*TYPES}, case.name
        assert not case.expected & case.unsettled, case.name
        assert case.about not in case.unsettled, case.name
        assert all(case.actors.get(type_) for type_ in case.expected), case.name
        assert case.why.endswith((".", "。")), case.name


@pytest.mark.parametrize("case", CASES[::24], ids=lambda case: case.name)
def test_a_sample_of_conduct_plays(case: Case) -> None:
    """A case's ledger is what the real rules give."""
    sound(case)


@pytest.mark.slow
@pytest.mark.parametrize("number", SETS)
def test_all_cases_set_aside_play(number: str) -> None:
    """The same of every case of a set."""
    for case in CASES_SET_ASIDE[number]:
        sound(case)


@pytest.mark.slow
def test_all_cases_play_and_are_found() -> None:
    """The same of every other case. Of each type nineteen findings of twenty are right, and as many of what cases hold are
    found."""
    cases = load(FOLDER)
    misses = sum(not case.expected for case in cases)
    assert len(cases) >= 200
    assert 0.4 <= misses / len(cases) <= 0.6
    verdicts: list[Verdict] = []
    for case in cases:
        chained(case, built := case.build())
        verdicts.append(verdict_on(case, built))  # which replays it and compares the outcomes
    for counts in (tally(type_, verdicts) for type_ in TYPES):
        assert counts.hits >= 5, counts
        assert counts.precision >= 0.95, counts
        assert counts.recall >= 0.95, counts
