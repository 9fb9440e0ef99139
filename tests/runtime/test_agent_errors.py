"""An agent whose code raises is not silent: a warning, a count, the traceback, or the exception itself."""

import warnings
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.core.agents import AgentFactory, Role
from akinai.core.errors import AgentError, UnknownName, UsageError
from akinai.core.ledger import Outcome
from akinai.worlds.vending.model.actions import AdvanceDay


class Unlucky(Exception):
    """What the agents of these tests raise."""

    def __init__(self, number: int, note: str) -> None:
        super().__init__(f"{number}: {note}")


def stumble(number: int) -> None:
    """Where the traceback should lead."""
    raise Unlucky(number, "no coffee")


def failing(after: int = 2, error: Exception | None = None) -> AgentFactory:
    """A player that ends so many days and then raises."""

    class Failing:
        def __init__(self, role: Role) -> None:
            self.moves = 0

        async def act(self, view: akinai.View, last: Outcome | None) -> akinai.Move:
            self.moves += 1
            if self.moves > after:
                if error:
                    raise error
                stumble(self.moves)
            return akinai.Move(AdvanceDay())

    return Failing


def test_a_warning_shows_the_traceback() -> None:
    """One warning stands for all runs that failed alike, names the caller's line, and says what to do."""
    with pytest.warns(akinai.RunFailedWarning, match="2 of 2 runs failed") as caught:
        runs = akinai.run("vending", agent=failing(), days=5, seeds=[1, 2], preset="classic")
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert "raise_errors=True" in text
    assert "in stumble" in text
    assert "Unlucky: 3: no coffee" in text
    assert "driver.py" not in text
    assert [len(run.ledger.entries) for run in runs] == [2, 2]


@pytest.mark.filterwarnings("ignore::akinai.RunFailedWarning")
def test_a_run_keeps_its_traceback(tmp_path: Path) -> None:
    """`error` has reason and traceback, `reason` a sentence, the header too; a listing by another process reads both."""
    store = str(tmp_path / "akinai.db")
    (run,) = akinai.run("vending", agent=failing(), days=5, store=store, name="a", preset="classic")
    (again,) = akinai.runs("a", store=store)
    assert again.error == run.error
    assert run.reason == run.header.error == "the agent of owner broke: Unlucky: 3: no coffee"
    assert run.error
    assert run.error.startswith(f"{run.reason}\n\nTraceback (most recent call last):")
    assert 'raise Unlucky(number, "no coffee")' in run.error
    assert run.to_json()["error"] == run.reason
    assert run.to_json()["traceback"] == run.traceback
    assert run.reason in repr(run)
    assert "Traceback" not in repr(run)


@pytest.mark.filterwarnings("ignore::akinai.RunFailedWarning")
def test_runs_count_their_failures() -> None:
    """The failures among runs are in their representation."""
    failed = akinai.run("vending", agent=failing(), days=5, seeds=[1, 2], name="a", preset="classic")
    done = akinai.run("vending", agent="idle", days=1, name="b", preset="classic")
    assert repr(failed) == "<Runs: 2 runs, 2 failed: a-1, a-2>"
    assert repr(done) == "<Runs: 1 run: b-1>"
    assert repr(akinai.Runs([*done, failed[0]])) == "<Runs: 2 runs, 1 failed: b-1, a-1>"


def test_the_exception_is_raised_where_it_is_wanted(tmp_path: Path) -> None:
    """With `raise_errors` the agent's own exception comes out, with its frames; the run is failed in the store."""
    store = str(tmp_path / "akinai.db")
    error = KeyError("coffee")
    with pytest.raises(KeyError) as caught:
        akinai.run(
            "vending", agent=failing(error=error), days=5, store=store, name="a", raise_errors=True, preset="classic"
        )
    assert caught.value is error
    (run,) = akinai.runs("a", store=store)
    assert (run.status, run.entries) == ("failed", 2)
    with pytest.raises(AgentError, match="out of beans"):
        akinai.run(
            "vending", agent=failing(error=AgentError("out of beans")), days=5, raise_errors=True, preset="classic"
        )


def test_a_typed_error_is_no_fault_in_the_code() -> None:
    """An AgentError says itself what is wrong: no warning, no traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (run,) = akinai.run("vending", agent=failing(error=AgentError("out of beans")), days=5, preset="classic")
    assert (run.error, run.traceback) == ("out of beans", None)


@pytest.mark.filterwarnings("ignore::akinai.RunFailedWarning")
def test_a_fork_takes_no_error_along(tmp_path: Path) -> None:
    """A run that another agent plays on from before the failure has no error and no traceback."""
    store = str(tmp_path / "akinai.db")
    (broken,) = akinai.run("vending", agent=failing(), days=5, store=store, name="a", preset="classic")
    (fork,) = akinai.fork("a-1", after=2, agent="idle", store=store, name="b")
    assert broken.traceback
    assert (fork.status, fork.error, fork.traceback) == ("done", None, None)


RIVALS: dict[str, Any] = {"preset": "arena", "days": 6, "settings": {"owners.2.agent": "reference"}}


def owner_scores(run: akinai.Run, name: str) -> list[float]:
    """A score of the owners of an arena, in their order."""
    return [score.value for score in run.scores if score.name.startswith(f"{name}_owner_")]


def test_an_owner_whose_agent_breaks_leaves_and_the_others_play_on(tmp_path: Path) -> None:
    """The reason stands in the entry with which it left; the run is done, and plays again to the same bytes."""
    store = str(tmp_path / "akinai.db")
    (run,) = akinai.run("vending", agent=failing(), name="a", store=store, **RIVALS)
    assert (run.status, run.ending) == ("done", "horizon")
    assert owner_scores(run, "days_in_business") == [2, 6]
    (entry,) = [entry for entry in run.ledger.entries if entry.name == "LeaveStreet"]
    assert (entry.actor, entry.parameters) == (
        "owner_1",
        {"why": "the agent of owner_1 broke: Unlucky: 3: no coffee"},
    )
    assert akinai.verify("a", store=store)["a-1"].ok


@pytest.mark.parametrize("agent", ["script:{script}", "stdio:false"])
def test_an_owner_whose_program_is_done_leaves(agent: str, tmp_path: Path) -> None:
    """A script that has no more lines, and a program that is not there."""
    script = tmp_path / "one.jsonl"
    script.write_text('{"action": "ADVANCE_DAY"}\n')
    settings = {**RIVALS["settings"], "owners.3.agent": agent.format(script=script)}
    (run,) = akinai.run("vending", agent="idle", **{**RIVALS, "settings": settings})
    assert run.ending == "horizon"
    assert owner_scores(run, "days_in_business") == [6, 6, int(agent.startswith("script"))]


@pytest.mark.filterwarnings("ignore::akinai.RunFailedWarning")
def test_a_street_on_which_every_agent_breaks_fails() -> None:
    """The last of them has nobody to play on, so its error is the run's."""
    (run,) = akinai.run("vending", agent=failing(), preset="arena", days=6)
    assert run.status == "failed"
    assert run.reason
    assert "no coffee" in run.reason


def test_an_owner_that_used_up_its_actions_leaves() -> None:
    """The cap is each actor's own."""
    (run,) = akinai.run("vending", agent="reference", max_actions=10, preset="arena", days=6)
    assert sorted(owner_scores(run, "messages")) == [10, 11]
    assert run.ending == "message_cap"


def test_each_owner_is_played_by_whom_the_settings_name() -> None:
    """The agent of the run plays the others; the same players in the same seats give the same ledger, by any name."""
    (named,) = akinai.run("vending", agent="naive", **RIVALS)
    settings = {"owners.1.agent": "naive"}
    (turned,) = akinai.run("vending", agent="reference", **{**RIVALS, "settings": settings})
    assert [entry.parameters for entry in named.ledger.entries] == [entry.parameters for entry in turned.ledger.entries]
    assert named.header.card["agent_spec"] == {"seat_agents": {"owner_2": "reference"}}
    with pytest.raises(UnknownName, match="nobody"):
        akinai.run("vending", preset="arena", settings={"owners.2.agent": "nobody"})
    with pytest.raises(UsageError, match="1 to 5 owners"):
        akinai.run("vending", preset="arena", settings={"owners": 6})
