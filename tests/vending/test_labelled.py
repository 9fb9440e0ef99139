"""The labelled runs by which the coherence detectors are judged, and how the bench counts."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from akinai.core.findings import Finding
from akinai.core.ledger import check_chain
from akinai.core.worlds import walk
from akinai.worlds.vending import Vending
from coherence import BUDGET, Verdict, judge, tally
from labelled import CASES, TYPES, Case, held_out
from labelled.cases import Mutation, Script, naive, reference, script
from labelled.moves import BALANCE, here, next_day, order, refused, saying
from labelled.mutator import Mutator, insert

LABELLED = Path(__file__).parents[2] / "bench" / "labelled"
SAMPLE = CASES[::12]
"""A case in twelve: all types, scripts and played runs."""


@pytest.mark.parametrize("type_", TYPES)
def test_each_type_has_twenty_cases_in_four_equal_parts(type_: str) -> None:
    """At least twenty a type: half near misses, and half of either written by hand, the rest made by the mutator."""
    parts = [(case.near_miss, case.played) for case in CASES if case.about == type_]
    counts = [parts.count((near, played)) for near in (False, True) for played in (False, True)]
    assert sum(counts) >= 20
    assert len(set(counts)) == 1, counts


def test_names_are_unique_and_reasons_are_sentences() -> None:
    """A case is named by what happens in it, once, and says why it is labelled so."""
    names = [case.name for case in (*CASES, *held_out.CASES)]
    assert len(set(names)) == len(names)
    assert [case.name for case in CASES if not case.why.endswith((".", "?", "!"))] == []


def test_labels_are_types() -> None:
    """Labels name known types; what is unsettled is not expected as well."""
    known = frozenset(TYPES)
    for case in CASES:
        assert {case.about} | case.expected | case.unsettled <= known, case.name
        assert not case.expected & case.unsettled, case.name
        assert case.about not in case.unsettled, case.name


def test_the_detectors_are_unknown_to_the_cases() -> None:
    """Nothing in the folder imports a detector or asks for findings."""
    for file in LABELLED.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names: list[str] = []
            match node:
                case ast.Import(names=imported):
                    names = [one.name for one in imported]
                case ast.ImportFrom(module=module, names=imported):
                    names = [f"{module}.{one.name}" for one in imported]
                case ast.Attribute(attr=attr):
                    names = [attr]
                case _:
                    pass
            assert [name for name in names if "coherence" in name.lower() or "finding" in name.lower()] == [], file


def sound(case: Case) -> None:
    """Its ledger is chained and replays, and its labelled entries lie in it."""
    built = case.build()
    ledger, world = built.ledger, Vending()
    assert check_chain(ledger.genesis, ledger.entries) == ledger.digest
    assert sum(1 for _ in walk(world, ledger.genesis, ledger.entries, check=True)) == len(ledger.entries)
    assert all(1 <= seq <= len(ledger.entries) for seq in built.entries)
    assert built.entries or not case.expected


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_a_sample_of_ledgers_replays(case: Case) -> None:
    """A case's ledger is what the real rules give."""
    sound(case)


@pytest.mark.slow
def test_all_ledgers_replay() -> None:
    """The same of every case, and of those that are held out."""
    for case in (*CASES, *held_out.CASES):
        sound(case)


@pytest.mark.parametrize("case", [case for case in SAMPLE if case.played], ids=lambda case: case.name)
def test_the_mutator_changes_nothing_before_its_point(case: Case) -> None:
    """Up to the first change the run is the player's own, byte for byte; as a whole it is another."""
    plan = case.plan
    assert isinstance(plan, Mutation)
    mutator = Mutator(plan.player, plan.setting, plan.changes)
    changed, own = mutator.play().entries, Mutator(plan.player, plan.setting).play().entries
    first = min(mutator.points.values())
    assert [one.digest for one in changed[: first - 1]] == [one.digest for one in own[: first - 1]]
    assert changed[-1].digest != own[-1].digest


def test_building_twice_gives_one_ledger() -> None:
    """A case is the same on every day."""
    for case in SAMPLE[:6]:
        assert case.build().ledger.digest == case.build().ledger.digest


def test_a_move_must_meet_its_outcome() -> None:
    """A script that does not go as it is written is no case: ValueError names the entry."""
    with pytest.raises(ValueError, match="entry 2 is PlaceOrder"):
        script(BALANCE, order("northbay", cola=5000)).play()
    with pytest.raises(ValueError, match="no_cash"):
        script(refused("no_cash", order("northbay", cola=48))).play()


def test_a_change_must_come_to_pass() -> None:
    """ValueError when a run is over before a change was made."""
    with pytest.raises(ValueError, match="without"):
        naive(2, 10, insert(11, BALANCE)).play()


def test_texts_hold_the_truth_of_their_moment() -> None:
    """What is said is exact where it is not bent, and bent where it is."""
    desk = script(saying("{cash}, {cash:*0.04}, {cash:~}, {coming[cola]:+2}", order("northbay", cola=40)), next_day())
    desk = replace(desk, acts=(*desk.acts, *saying("{cash:~} {coming[cola]:+2}", BALANCE))).play()
    assert desk.entries[0].said == "$500.00, $20.00, $500, 2"
    assert desk.entries[2].said == "$464 42"


def finding(type_: str, *entries: int) -> Finding:
    return Finding(type_, "owner", entries, "minor", "this", "that", 0)


def test_the_bench_counts_strictly() -> None:
    """A hit has the expected type and points to the labelled entries; all else that is found is false, save the unsettled."""
    case = Case("c", "loop_behavior", Script(naive(1, 1).setting, ()), frozenset({"loop_behavior"}), "So.")
    case = replace(case, unsettled=frozenset({"cash_flow_error"}))
    there = Verdict(case, range(3, 6), [finding("loop_behavior", 1, 3), finding("cash_flow_error", 1)])
    assert (there.hits, there.false, there.misses) == ({"loop_behavior"}, frozenset(), frozenset())
    elsewhere = Verdict(case, range(3, 6), [finding("loop_behavior", 1), finding("price_inconsistency", 4)])
    assert (elsewhere.hits, elsewhere.misses) == (frozenset(), {"loop_behavior"})
    assert elsewhere.false == {"loop_behavior", "price_inconsistency"}
    told = tally("loop_behavior", [there, elsewhere])
    assert (told.hits, told.false, told.misses, told.precision, told.recall) == (1, 1, 1, 0.5, 0.5)


def test_a_mistake_must_be_marked() -> None:
    """A case that expects something and marks no entry cannot be built; with a mark its entries are told."""
    case = Case("c", "loop_behavior", reference(1, 3, insert(2, BALANCE)), frozenset({"loop_behavior"}), "So.")
    with pytest.raises(ValueError, match="marks no entry"):
        case.build()
    marked = replace(case, plan=reference(1, 3, insert(2, BALANCE, here(BALANCE, BALANCE))))
    assert marked.build().entries == range(11, 13)


@pytest.mark.slow
def test_the_detectors_reach_their_budget_on_every_type() -> None:
    """Precision and recall of each type are at least 0.95 over all cases."""
    verdicts = list(judge(CASES))
    found = [tally(type_, verdicts) for type_ in TYPES]
    assert [one for one in found if min(one.precision, one.recall) < BUDGET] == []
