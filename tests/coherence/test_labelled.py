"""The labelled runs by which the coherence detectors are judged, and how the bench counts."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from akinai.core.errors import ReplayMismatch
from akinai.core.findings import Finding
from akinai.core.ledger import Ledger, check_chain
from akinai.worlds.vending.detectors.coherence import DETECTORS
from case_runs import Mutation, Mutator
from coherence import BUDGET, Verdict, tally, verdict_on
from labelled import CASES, HELD_OUT, Case, read_case
from together import together

BENCH = Path(__file__).parents[2] / "bench"
SAMPLE = CASES[::48]
"""A case in forty-eight: scripts and played runs."""


def case_of(text: str, about: str = "loop_behavior") -> Case:
    """A case from YAML without its name, reason and labels."""
    return read_case(about, {"name": "c", "why": "So.", "holds": [], **yaml.safe_load(text)})


def test_every_detector_has_its_file_of_cases() -> None:
    """The files are named after the detectors, one for each."""
    assert {case.about for case in CASES} == set(DETECTORS)
    assert {case.about for case in HELD_OUT} <= set(DETECTORS)


@together("type_", DETECTORS)
def test_each_type_has_twenty_cases_about_half_of_them_near_misses(type_: str) -> None:
    """At least twenty a type, mistakes and near misses in about equal numbers, scripts and changed runs among them."""
    near = [case.near_miss for case in CASES if case.about == type_]
    assert len(near) >= 20
    assert 2 * len(near) <= 5 * min(near.count(True), near.count(False))


def test_scripts_and_changed_runs_are_balanced() -> None:
    """Neither kind of case is less than a third of all."""
    played = [case.played for case in CASES]
    assert 3 * min(played.count(True), played.count(False)) >= len(played)


def test_names_are_unique_and_reasons_are_sentences() -> None:
    """A case is named by what happens in it, once, and says why it is labelled so."""
    names = [case.name for case in (*CASES, *HELD_OUT)]
    assert len(set(names)) == len(names)
    assert [case.name for case in CASES if not case.why.endswith((".", "?", "!"))] == []


def test_labels_are_types() -> None:
    """Labels name known types; what is unsettled is not expected as well."""
    types = frozenset(DETECTORS)
    for case in CASES:
        assert {case.about} | case.expected | case.unsettled <= types, case.name
        assert not case.expected & case.unsettled, case.name
        assert case.about not in case.unsettled, case.name


@pytest.mark.parametrize("module", ["labelled.py", "case_runs.py"])
def test_the_detectors_are_unknown_to_the_cases(module: str) -> None:
    """Nothing that builds the cases imports a detector or asks for findings."""
    for node in ast.walk(ast.parse((BENCH / module).read_text())):
        names: list[str] = []
        match node:
            case ast.Import(names=imported):
                names = [name.name for name in imported]
            case ast.ImportFrom(module=source, names=imported):
                names = [f"{source}.{name.name}" for name in imported]
            case ast.Attribute(attr=attr):
                names = [attr]
            case _:
                pass
        assert [name for name in names if "detector" in name.lower() or "finding" in name.lower()] == []


def sound_verdict(case: Case) -> Verdict:
    """What is found in a case whose ledger is chained and replays, and whose labelled entries lie in it."""
    built = case.build()
    ledger = built.ledger
    assert check_chain(ledger.genesis, ledger.entries) == ledger.digest
    assert all(1 <= seq <= len(ledger.entries) for seq in built.entries)
    assert built.entries or not case.expected
    return verdict_on(case, built)  # which replays it


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_a_sample_of_ledgers_replays(case: Case) -> None:
    """A case's ledger is what the real rules give."""
    sound_verdict(case)


@pytest.mark.slow
def test_all_ledgers_replay_and_the_detectors_reach_their_budget_on_every_type() -> None:
    """The same of every case, and of those that are held out. Precision and recall of each type are at least 0.95 over
    the others."""
    for case in HELD_OUT:
        sound_verdict(case)
    verdicts = [sound_verdict(case) for case in CASES]
    tallies = [tally(type_, verdicts) for type_ in DETECTORS]
    assert [count for count in tallies if min(count.precision, count.recall) < BUDGET] == []


def test_a_ledger_that_the_rules_do_not_give_has_no_verdict() -> None:
    """ReplayMismatch names the entry."""
    case = case_of("moves: [get_money_balance, advance_day]")
    built = case.build()
    first, second = built.ledger.entries
    other = replace(first, outcome=replace(first.outcome, text="You have $1,000,000."))
    with pytest.raises(ReplayMismatch):
        verdict_on(case, replace(built, ledger=Ledger(built.ledger.genesis, (other, second))))


@pytest.mark.parametrize(
    "case",
    [case for case in SAMPLE if isinstance(case.plan, Mutation) and case.plan.changes],
    ids=lambda case: case.name,
)
def test_the_mutator_changes_nothing_before_its_point(case: Case) -> None:
    """Up to the first change the run is the player's own, byte for byte; as a whole it is another."""
    plan = case.plan
    assert isinstance(plan, Mutation)
    mutator = Mutator(plan)
    changed, own = mutator.play().entries, replace(plan, changes=()).play().entries
    first = min(mutator.points.values())
    assert [entry.digest for entry in changed[: first - 1]] == [entry.digest for entry in own[: first - 1]]
    assert changed[-1].digest != own[-1].digest


def test_building_twice_gives_one_ledger() -> None:
    """A case is the same on every day."""
    for case in SAMPLE[:6]:
        assert case.build().ledger.digest == case.build().ledger.digest


def test_a_move_must_have_its_outcome() -> None:
    """A script that does not go as it is written is no case: ValueError names the entry."""
    with pytest.raises(ValueError, match="entry 2 is PlaceOrder"):
        case_of("moves: [get_money_balance, place_order: {supplier_id: northbay, items: {cola: 5000}}]").build()
    with pytest.raises(ValueError, match="no_cash"):
        case_of("moves: [{place_order: {supplier_id: northbay, items: {cola: 48}}, refused: no_cash}]").build()


def test_a_move_must_be_an_action() -> None:
    """A misspelt parameter is an error where the file is read."""
    with pytest.raises(ValueError, match="wait_until"):
        case_of("moves: [wait_until: {hours: 3}]")


def test_a_change_must_be_made() -> None:
    """ValueError when a run is over before a change was made."""
    late = "{run: {player: naive, seed: 2, days: 10}, changes: [{from_day: 11, insert: [get_money_balance]}]}"
    with pytest.raises(ValueError, match="without"):
        case_of(late).build()


def test_texts_hold_the_figures_of_their_moment() -> None:
    """A figure is exact where nothing is done to it, and changed where something is."""
    run = case_of("""
        moves:
          - place_order: {supplier_id: northbay, items: {cola: 40}}
            says: "{cash}, {cash:*0.04}, {cash:~}, {coming[cola]:+2}"
          - advance_day
          - get_money_balance:
            says: "{cash:~} {coming[cola]:+2}"
        """).plan.play()
    assert run.entries[0].said == "$500.00, $20.00, $500, 2"
    assert run.entries[2].said == "$464 42"


def finding(type_: str, *entries: int) -> Finding:
    return Finding(type_, "owner", entries, "minor", "this", "that", 0)


def test_the_bench_counts_strictly() -> None:
    """A hit has the expected type and points to the labelled entries; any other finding is false, save the unsettled."""
    case = case_of("{holds: [loop_behavior], unsettled: [cash_flow_error], moves: []}")
    in_place = Verdict(case, range(3, 6), [finding("loop_behavior", 1, 3), finding("cash_flow_error", 1)])
    assert (in_place.hits, in_place.false, in_place.misses) == ({"loop_behavior"}, frozenset(), frozenset())
    elsewhere = Verdict(case, range(3, 6), [finding("loop_behavior", 1), finding("price_inconsistency", 4)])
    assert (elsewhere.hits, elsewhere.misses) == (frozenset(), {"loop_behavior"})
    assert elsewhere.false == {"loop_behavior", "price_inconsistency"}
    count = tally("loop_behavior", [in_place, elsewhere])
    assert (count.hits, count.false, count.misses, count.precision, count.recall) == (1, 1, 1, 0.5, 0.5)


def test_a_mistake_must_be_marked() -> None:
    """A case that expects something and marks no entry cannot be built; with a mark its entries are known."""
    changed = """
        holds: [loop_behavior]
        run: {player: reference, seed: 1, days: 3}
        changes: [{from_day: 2, insert: [get_money_balance%s]}]
        """
    with pytest.raises(ValueError, match="marks no entry"):
        case_of(changed % "").build()
    marked = case_of(changed % ", marked: [get_money_balance: {}, get_money_balance: {}]")
    assert marked.build().entries == range(11, 13)
