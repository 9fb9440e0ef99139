"""Scores kept beside a run: used where they fit its record and the code, made again where not, checked by verify."""

import json
import sqlite3
from pathlib import Path

import pytest

import akinai
from akinai.runtime.runs import kept_scores, reading

WORLDS = ("market", "qa", "vending")


@pytest.fixture
def store(tmp_path: Path) -> str:
    url = str(tmp_path / "akinai.db")
    akinai.run("vending", agent="naive", days=7, seeds="1-3", store=url, name="a", preset="classic")
    return url


def refuse_to_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    def fold(*_: object, **__: object) -> None:
        raise AssertionError("the ledger was folded")

    monkeypatch.setattr(reading, "replay", fold)


def rewrite(store: str, sql: str, *values: object) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute(sql, values)
    connection.close()


@pytest.mark.needs_qa
@pytest.mark.parametrize("world", WORLDS)
def test_kept_scores_equal_those_made_anew(world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read from kept scores equals what the fold gives, in every world, judged or not."""
    url = str(tmp_path / "akinai.db")
    played = akinai.run(world, days=7 if world == "vending" else None, store=url, name="a")
    rewrite(url, "DELETE FROM run_scores")
    judged, plain = akinai.analyze("a-1", store=url, scale=False), akinai.runs("a-1", store=url)
    refuse_to_fold(monkeypatch)
    assert akinai.analyze("a-1", store=url, scale=False).to_json() == judged.to_json()
    assert akinai.runs("a-1", store=url).to_json() == plain.to_json() == played.to_json()


def test_played_scores_are_kept(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was just played is not folded to be listed."""
    refuse_to_fold(monkeypatch)
    assert len(akinai.runs("a", store=store).score_names()) > 1


def test_analysis_keeps_what_it_made(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second analysis folds nothing, and prints the same."""
    first = akinai.analyze("a", store=store, scale=False)
    refuse_to_fold(monkeypatch)
    assert akinai.analyze("a", store=store, scale=False).to_json() == first.to_json()


def test_days_are_kept_once_asked_for(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The days of a run are kept when they were made, and what asks for less does not lose them."""
    days = akinai.analyze("a", by_day=True, store=store, scale=False)
    akinai.runs("a", store=store)
    assert akinai.verify("a-1", store=store)["a-1"].ok
    refuse_to_fold(monkeypatch)
    assert akinai.analyze("a", by_day=True, store=store, scale=False).to_json() == days.to_json()


def test_edited_ledger_is_not_covered_by_its_scores(store: str) -> None:
    """An edited entry is named by whoever reads the run, although scores of the sound record are kept."""
    with sqlite3.connect(store) as connection:
        (text,) = connection.execute("SELECT data FROM actions WHERE run_id = 'a-2' AND seq = 2").fetchone()
    connection.close()
    data = json.loads(text)
    data["result"]["content"] = "something else"
    rewrite(store, "UPDATE actions SET data = ? WHERE run_id = 'a-2' AND seq = 2", json.dumps(data))
    assert [run.id for run in akinai.analyze("a", store=store, scale=False).troubled] == ["a-2"]


def test_forged_scores_are_found(store: str) -> None:
    """`verify` makes the scores again and says so where others are kept."""
    assert akinai.verify("a-1", store=store)["a-1"].ok
    forged = "UPDATE run_scores SET data = replace(data, '\"value\":', '\"value\":9') WHERE run_id = 'a-1'"
    rewrite(store, forged)
    verdict = akinai.verify("a-1", store=store)["a-1"]
    assert (verdict.ok, verdict.why) == (False, "the scores kept beside it are not those of its record")


def test_other_code_makes_them_again(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of other code, or of another record, are made again and take the old ones' place."""
    before = akinai.runs("a-1", store=store).to_json()
    forged = "data = replace(data, '\"value\":', '\"value\":9')"
    for change in (f"version = 'old', {forged}", f"digest = 'other', {forged}", "data = '[]'", "data = '{}'"):
        rewrite(store, f"UPDATE run_scores SET {change}")
        assert akinai.runs("a-1", store=store).to_json() == before
    refuse_to_fold(monkeypatch)
    assert akinai.runs("a-1", store=store).to_json() == before


def test_version_is_that_of_the_code(tmp_path: Path) -> None:
    """Each world has a version of its own; a world outside a package has none, and nothing of it is kept."""
    from akinai import worlds

    versions = {kept_scores.scorer_version(worlds.load(name)) for name in worlds.names()}
    assert None not in versions
    assert len(versions) == len(worlds.names())
    loose = type("Loose", (type(worlds.load("vending")),), {"__module__": "__main__"})()
    assert kept_scores.scorer_version(loose) is None
