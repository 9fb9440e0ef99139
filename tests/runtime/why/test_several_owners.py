"""Runs of several owners are explained with those whom the settings name, as they play."""

from pathlib import Path

import pytest

import akinai

NAMED = {"owners.2.agent": "naive"}


@pytest.mark.parametrize(("preset", "days", "agent"), [("arena", 6, "reference"), ("arena-sprint", 21, "stocker")])
def test_whom_the_settings_name_is_no_decision(tmp_path: Path, preset: str, days: int, agent: str) -> None:
    """A run of the player itself has nothing to explain, although another owner is played by somebody else."""
    store = str(tmp_path / "runs.db")
    akinai.run("vending", agent=agent, preset=preset, days=days, settings=NAMED, name="street", store=store)
    explanation = akinai.why("street-1", agent=agent, futures=4, budget=40, store=store)
    assert (explanation.parted, explanation.branches, explanation.cost, explanation.made) == (0, 0, (), ())


@pytest.mark.parametrize(("preset", "days"), [("arena", 6), ("arena-sprint", 21)])
@pytest.mark.parametrize("actor", ["owner_1", "owner_2"])
def test_an_owner_is_compared_with_the_player_that_is_asked_for(
    tmp_path: Path, preset: str, days: int, actor: str
) -> None:
    """Also one whom the settings name another player for; a player that would do otherwise goes on from the record."""
    store = str(tmp_path / "runs.db")
    akinai.run("vending", agent="stocker", preset=preset, days=days, settings=NAMED, name="street", store=store)
    explanation = akinai.why("street-1", agent="reference", actor=actor, futures=4, budget=40, store=store)
    assert explanation.parted > 0
    assert 0 < explanation.branches <= 40
