"""The collector of cycles while runs are played."""

import gc

import pytest

import akinai
from akinai.core.agents import Agent, Role
from akinai.runtime.garbage import never_collecting
from akinai.worlds import load


def test_runs_that_overlap_leave_the_collector_as_the_first_found_it() -> None:
    assert gc.isenabled()
    first, second = never_collecting(), never_collecting()
    first.__enter__()
    second.__enter__()
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert not gc.isenabled()
    first.__exit__(None, None, None)
    assert gc.isenabled()


def test_only_a_run_by_rules_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent of somebody else may make cycles."""
    calls = list[str]()
    monkeypatch.setattr(gc, "disable", lambda: calls.append("disable"))
    monkeypatch.setattr(gc, "enable", lambda: calls.append("enable"))

    def somebodys(role: Role) -> Agent:
        return load("vending").players["naive"](role)

    akinai.run("vending", agent=somebodys, days=2, preset="classic")
    assert calls == []
    akinai.run("vending", agent="naive", days=2, preset="classic")
    assert calls[0] == "disable"
    assert calls[-1] == "enable"
