"""An actor that repeats itself to no effect is stuck."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import akinai
from akinai.cli.app import app
from akinai.core.actions import Unreadable
from akinai.core.agents import Agent, Move, Role, View
from akinai.core.ledger import Outcome
from akinai.worlds.vending.model.actions import AdvanceDay, GetMoneyBalance, ListStorage, WaitUntil

BAD = Unreadable.of("I am a helpful assistant.", "no action in it")
LATE = WaitUntil(hour=0)


class Repeating:
    """Does the same actions over and over."""

    def __init__(self, actions: Sequence[akinai.Action]) -> None:
        self._actions, self._count = actions, 0

    async def act(self, view: View, last: Outcome | None) -> Move:
        self._count += 1
        return Move(self._actions[(self._count - 1) % len(self._actions)])


def play(*actions: akinai.Action, max_repeats: int = 20, days: int = 30) -> akinai.Run:
    def repeating(_: Role) -> Agent:
        return Repeating(actions)

    return akinai.run(
        "vending", agent=repeating, days=days, max_repeats=max_repeats, max_actions=100, preset="classic"
    )[0]


@pytest.mark.parametrize("action", [LATE, GetMoneyBalance()])
def test_the_same_to_no_effect_ends_a_run(action: akinai.Action) -> None:
    """A refused action, and what leaves the world's facts as they were."""
    run = play(action)
    assert (run.status, run.ending, run.entries) == ("done", "stuck", 20)


@pytest.mark.parametrize("actions", [[AdvanceDay()], [GetMoneyBalance(), ListStorage()], [BAD, LATE, ListStorage()]])
def test_what_moves_on_is_not_stuck(actions: list[akinai.Action]) -> None:
    """An action that changes the world, and actions that take turns, may go on as long as there are days."""
    assert play(*actions).ending in ("horizon", "message_cap")


def test_who_is_refused_by_turns_is_stuck_later() -> None:
    """Two refused actions by turns repeat nothing and change nothing; a real model went on so until its replies were spent."""
    run = play(BAD, LATE)
    assert (run.ending, run.entries) == ("stuck", 60)
    assert play(BAD, LATE, max_repeats=0).ending == "message_cap"


def test_the_limit_is_a_choice() -> None:
    """`--max-repeats`; 0 is none."""
    assert play(LATE, max_repeats=3).entries == 3
    assert play(LATE, max_repeats=0).ending == "message_cap"
    with pytest.raises(akinai.AkinaiError, match="--max-repeats is a number from 0"):
        play(LATE, max_repeats=-1)


def test_a_stuck_run_is_shown_and_can_be_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its ending stands in tables; a resume that repeats itself again ends at once."""
    store = str(tmp_path / "a.db")
    script = tmp_path / "bad.txt"
    script.write_text('{"action": "WAIT_UNTIL", "hour": 0}\n' * 40, encoding="utf-8")
    run = akinai.run("vending", agent=f"script:{script}", name="bad", store=store, preset="classic")[0]
    assert run.ending == "stuck"
    app(["runs", "--store", store], standalone_mode=False)
    assert "stuck" in capsys.readouterr().out
    resumed = akinai.resume("bad", store=store)[0]
    assert (resumed.ending, resumed.entries) == ("stuck", 21)
