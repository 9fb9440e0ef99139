"""A person who plays at a terminal, here through a pipe."""

import os
import subprocess
import sys
from pathlib import Path


def play(folder: Path, lines: str, *words: str) -> str:
    """What the terminal printed."""
    command = [sys.executable, "-m", "akinai", "play", "--terminal", *words]
    environment = {**os.environ, "AKINAI_LANG": "en"}
    ended = subprocess.run(
        command, input=lines, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    return ended.stderr


def test_who_goes_on_is_told_what_was_done(tmp_path: Path) -> None:
    """The actions with their answers, and the prompt counts on; the answer to the last action is the end."""
    begun = play(tmp_path, "get_money\nadvance_day\nquit\n", "vending", "--days", "2", "--name", "me")
    assert "move 3" in begun
    further = play(tmp_path, "advance_day\n", "--resume", "me-1")
    told, _, asked = further.partition("You go on here.")
    assert told.index("> get_money_balance\n") < told.index("Cash: $") < told.index("> advance_day\n")
    assert "Good morning. It is Thu 2 Apr 2026" in told
    assert "move 3," in asked
    assert "move 1," not in asked
    assert "Day 2 is over" in asked
