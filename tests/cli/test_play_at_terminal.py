"""A person who plays at a terminal, here through a pipe."""

import io
import sys

import pytest

from command_line import Akinai


def test_who_goes_on_is_told_what_was_done(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """The actions with their answers, and the prompt counts on; the answer to the last action is the end."""

    def play(lines: str, *words: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        return akinai("play", "--terminal", *words).err

    begun = play("get_money\nadvance_day\nquit\n", "vending", "--days", "2", "--name", "me")
    assert "move 3" in begun
    further = play("advance_day\n", "--resume", "me-1")
    told, _, asked = further.partition("You go on here.")
    assert told.index("> get_money_balance\n") < told.index("Cash: $") < told.index("> advance_day\n")
    assert "Good morning. It is Thu 2 Apr 2026" in told
    assert "move 3," in asked
    assert "move 1," not in asked
    assert "Day 2 is over" in asked
