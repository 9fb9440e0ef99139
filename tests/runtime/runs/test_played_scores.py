"""A run is scored from the steps that were just played, and reads the same from its record."""

from pathlib import Path

import pytest

import akinai
from akinai.core import worlds as folds
from akinai.runtime.runs import reading

RUNS = (
    {"world": "vending", "agent": "reference", "days": 9, "seeds": "1-2"},
    {"world": "vending", "agent": "naive", "preset": "quarter", "days": 4},
    {"world": "market", "agent": "careful", "settings": ["customers.count=2", "businesses.count=2"]},
    {"world": "qa", "agent": "overlap", "settings": ["draw=3"]},
)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", RUNS, ids=lambda options: f"{options['world']}-{options['agent']}")
def test_played_scores_are_those_of_the_record(options: dict[str, object], jobs: int, tmp_path: Path) -> None:
    """Scores, their evidence, days and digests are equal, in one process and in two."""
    more = dict(options)
    world = str(more.pop("world"))
    store = str(tmp_path / "akinai.db")
    played = akinai.run(world, name="a", store=store, jobs=jobs, **more)  # pyright: ignore[reportArgumentType]
    read = akinai.runs("a", store=store)
    assert [run.to_json() for run in played] == [run.to_json() for run in read]
    assert [run.ledger for run in played] == [run.ledger for run in read]


def test_a_played_run_is_folded_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Scoring reads no ledger again."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the ledger was folded again")

    monkeypatch.setattr(reading, "replay", refuse)
    (run,) = akinai.run("vending", agent="naive", days=3, store=str(tmp_path / "s.db"), preset="classic")
    assert run.score("net_worth") > 0
    assert folds.replay is not refuse


def test_a_resumed_run_is_scored_whole(tmp_path: Path) -> None:
    """Recalled steps count with those that were played."""
    store = str(tmp_path / "s.db")
    akinai.run("vending", agent="reference", days=9, name="a", store=store, preset="classic")
    (forked,) = akinai.fork("a-1", at_day=5, agent="idle", store=store)
    (read,) = akinai.runs(forked.id, store=store)
    assert forked.to_json() == read.to_json()
