"""The collector of cycles while runs are played."""

import gc

import pytest

import akinai
from akinai.core.agents import Agent, Role
from akinai.runtime.garbage import OLD, seldom_collecting
from akinai.worlds import load


def test_runs_that_overlap_leave_the_thresholds_as_the_first_found_them() -> None:
    before = gc.get_threshold()
    first, second = seldom_collecting(), seldom_collecting()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold() == (*before[:2], OLD)
    first.__exit__(None, None, None)
    assert gc.get_threshold()[2] == OLD
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before


def test_only_a_run_by_rules_is_seldom_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent of somebody else may make cycles."""
    set_to, before = list[tuple[int, ...]](), gc.get_threshold()

    def note(*thresholds: int) -> None:
        set_to.append(thresholds)

    monkeypatch.setattr(gc, "set_threshold", note)

    def somebodys(role: Role) -> Agent:
        return load("vending").players["naive"](role)

    akinai.run("vending", agent=somebodys, days=2)
    assert set_to == []
    akinai.run("vending", agent="naive", days=2)
    assert set_to == [(*before[:2], OLD), before]
