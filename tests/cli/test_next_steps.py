"""The commands that are offered after a command: whoever copies one plays the same game."""

import io
import shlex
from pathlib import Path

import pytest

import akinai as lab
from command_line import Akinai


def offered(out: str) -> list[list[str]]:
    """The commands under "Next:", as words behind `akinai`."""
    lines = out.partition("\nNext:\n")[2].splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("  akinai ")]


@pytest.fixture
def playbook(akinai: Akinai) -> str:
    """A playbook with a lesson about prices."""
    akinai("playbook", "add", "lessons of mine.json", "Price Cola at $2.00.", "--section", "prices")
    assert Path("lessons of mine.json").exists()
    return "lessons of mine.json"


def test_another_player_is_offered_the_same_game(akinai: Akinai, playbook: str) -> None:
    """The run that is offered after a group repeats its days, settings, cap and playbook: the setups are equal."""
    flags = ["--days", "3", "--set", "demand.footfall=40", "--set", "start_date=2026-05-01", "--max-actions", "9"]
    answer = akinai(
        "run",
        "vending",
        "--preset",
        "classic",
        "--agent",
        "reference",
        "--seeds",
        "1-2",
        "--name",
        "a",
        *flags,
        "--playbook",
        playbook,
    )
    again, compare = offered(answer.out)[1:]
    assert akinai(*again).code == akinai(*compare).code == 0
    first, other = (lab.runs(name, ledgers=False)[0].header for name in ("a", compare[-1]))
    assert first.genesis == other.genesis
    assert first.card["playbook"] == other.card["playbook"]
    assert first.card["agent_spec"] == other.card["agent_spec"]


@pytest.mark.parametrize("second", [[], ["--set", "owners.2.agent=idle"]])
def test_nobody_is_offered_a_player_where_the_settings_name_all(akinai: Akinai, second: list[str]) -> None:
    """A fork would be refused where everybody is named; where one owner is not, the offered fork plays."""
    words = ["--preset", "arena", "--days", "4", "--set", "owners.1.agent=idle", "--name", "a", *second]
    commands = offered(akinai("run", "vending", *words).out)
    assert [command[0] for command in commands] == (["show"] if second else ["show", "fork"])
    assert all(akinai(*command).code == 0 for command in commands)


def test_who_stopped_playing_is_offered_to_go_on(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who quits is told how to come back to the same morning."""
    monkeypatch.setattr("sys.stdin", io.StringIO("wait_until hour=10\nquit\n"))
    answer = akinai("run", "vending", "--preset", "classic", "--agent", "human", "--days", "3", "--name", "me")
    assert offered(answer.out) == [["resume", "me-1"]]


def test_fork_keeps_the_playbook(akinai: Akinai, playbook: str) -> None:
    """Whoever plays on from a run with a playbook is told the same bullets, and its card says so."""
    answer = akinai("run", "vending", "--preset", "classic", "--days", "4", "--name", "a", "--playbook", playbook)
    assert akinai(*offered(answer.out)[1]).code == 0
    run, fork = (played.header.card for played in lab.runs("a-1", "a-1-fork-1"))
    assert fork["agent_spec"] == run["agent_spec"] == {"bullets": ["Price Cola at $2.00."]}
    assert fork["playbook"] == run["playbook"]
