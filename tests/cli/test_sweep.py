"""`--sweep`: all seeds under each value of a setting, named by value, told by value."""

from pathlib import Path

import pytest

import akinai as library
from akinai.core.errors import UsageError
from akinai.runtime.runs.sweep import sweep_points
from akinai.worlds.market.model.setup import Setup
from command_line import Akinai

SWEEP = ("run", "market", "--sweep", "search.limit=1,3", "--seeds", "1-2", "--name", "s")


def test_every_seed_is_played_under_every_value(akinai: Akinai) -> None:
    """Runs are named by value and seed, and each card tells its value; the genesis holds the setting."""
    runs = akinai(*SWEEP, "--json").json["runs"]
    assert [run["run"] for run in runs] == ["s-limit-1-1", "s-limit-1-2", "s-limit-3-1", "s-limit-3-2"]
    listed = library.runs("s-limit-3")
    assert [run.header.card["sweep"] for run in listed] == [{"name": "s", "values": {"search.limit": 3}}] * 2
    assert {run.ledger.genesis.setup["search"]["limit"] for run in listed} == {3}  # type: ignore[index,call-overload]
    assert [(run.seed, run.header.group) for run in listed] == [(1, "s-limit-3"), (2, "s-limit-3")]


def test_the_name_stands_for_all_and_each_place_for_its_own(akinai: Akinai) -> None:
    """`analyze NAME` has a row a value, `compare` works between two, `resume` and `replay` take the name too."""
    akinai(*SWEEP)
    groups = akinai("analyze", "s", "--no-scale", "--json").json["groups"]
    assert [name.rpartition(" ")[2] for name in groups] == ["search.limit=1", "search.limit=3"]
    assert [len(group["runs"]) for group in groups.values()] == [2, 2]
    assert akinai("compare", "s-limit-1", "s-limit-3").code == 0
    assert "not played alike" in akinai("compare", "s", "s-limit-3").err
    for verb in ("resume", "replay", "verify"):
        assert akinai(verb, "s").code == 0, verb


def test_people_see_a_row_a_value_and_what_to_try(akinai: Akinai) -> None:
    """The table of a sweep has its values, and the commands under it can be typed as they stand."""
    out = akinai(*SWEEP).out
    assert "search.limit" in out
    assert "akinai analyze s\n" in out
    assert "akinai compare s-limit-1 s-limit-3\n" in out
    for line in out.splitlines():
        if line.strip().startswith("akinai "):
            assert akinai(*line.split()[1:]).code == 0, line


def test_several_sweeps_are_all_pairs(akinai: Akinai) -> None:
    """Two settings with two values are four places, the last changing fastest."""
    words = ("--sweep", "search.limit=1,3", "--sweep", "policy=default,strict", "--name", "p")
    runs = akinai("run", "market", *words, "--json").json["runs"]
    assert [run["run"] for run in runs] == [
        "p-limit-1-policy-default-1",
        "p-limit-1-policy-strict-1",
        "p-limit-3-policy-default-1",
        "p-limit-3-policy-strict-1",
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--sweep", "search.limt=1,3"), "did you mean 'search.limit'"),
        (("--sweep", "search.limit=1,many"), "search.limit"),
        (("--sweep", "search.limit=1,1"), "holds 1 twice"),
        (("--sweep", "search.limit"), "--sweep wants name=value,value,..."),
        (("--sweep", "search.limit="), "--sweep wants"),
        (("--sweep", "search.limit=1,,3"), "--sweep wants"),
        (("--sweep", "=1,3"), "--sweep wants"),
        (("--sweep", "search.limit=1", "--set", "search.limit=3"), "is swept and"),
        (("--sweep", "customers=1,2", "--set", "customers.agent=first"), "is swept and"),
        (("--sweep", "search.limit=1", "--sweep", "search.limit=3"), "swept at once"),
        (("--sweep", "gates.sealed_bids=false,true"), "quote_window_s"),
    ],
)
def test_a_bad_sweep_is_told_before_anything_is_played(akinai: Akinai, words: tuple[str, ...], why: str) -> None:
    """Each mistake is a sentence, exit code 2, and no run is in the store, not even of the good values."""
    answer = akinai("run", "market", *words)
    assert (answer.code, answer.out) == (2, "")
    assert why in answer.err
    assert not Path("akinai.db").exists()


def test_a_name_is_used_once(akinai: Akinai) -> None:
    """A sweep's name is taken for runs, groups and other sweeps, and the other way round."""
    akinai(*SWEEP)
    for words in (("run", "market", "--name", "s"), SWEEP, ("run", "market", "--name", "s-limit-1")):
        answer = akinai(*words)
        assert answer.code == 2, words
        assert "there is" in answer.err or "was played by" in answer.err


def test_a_sweep_from_python_is_the_same() -> None:
    """`akinai.run(..., sweep={...})` plays what the command line plays."""
    runs = library.run("market", sweep={"search.limit": [1, 3]}, name="s")
    assert [run.id for run in runs] == ["s-limit-1-1", "s-limit-3-1"]
    for bad in ({"search.limit": []}, {"search.limit": "13"}, {"search.limit": 3}):
        with pytest.raises(UsageError, match="wants a list"):
            library.run("market", sweep=bad)  # type: ignore[arg-type]


def test_values_hold_commas_in_brackets_and_quotes() -> None:
    """JSON values are one value; text that is no name becomes one, and alike names are told apart."""
    points = sweep_points(['latency.agents={"a": 1, "b": 2},{}'], None, Setup)
    assert [point.swept["latency.agents"] for point in points] == [{"a": 1, "b": 2}, {}]
    points = sweep_points({"data": ["a/b", "a b", "x" * 90]}, None, Setup)
    assert [point.label for point in points] == ["data-a-b", "data-a-b.2", f"data-{'x' * 40}"]
    assert [point.label for point in sweep_points(None, ["customers=3"], Setup)] == [""]
