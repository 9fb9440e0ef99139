"""A person at a real terminal: what is typed stays, Tab completes, Ctrl-C leaves at once, a resumed run goes on."""

import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>]|\x1b\][^\x07]*\x07")
PATIENCE_S = 120


class Screen:
    """`akinai` in a pseudo-terminal."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.pid, self.file = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.environ.update(TERM="xterm")
            os.execv(sys.executable, [sys.executable, "-m", "akinai", *words])
        self.text = ""

    def read_until(self, pattern: str) -> str:
        """What was printed up to a pattern, since the last time."""
        end = time.monotonic() + PATIENCE_S
        while not (match := re.search(pattern, self.text)):
            assert time.monotonic() < end, f"no {pattern!r} in {self.text!r}"
            if select.select([self.file], [], [], 1)[0]:
                self.text += ESCAPES.sub("", self._read())
        read, self.text = self.text[: match.end()], self.text[match.end() :]
        return read

    def _read(self) -> str:
        try:
            data = os.read(self.file, 65_536)
        except OSError:
            data = b""
        assert data, f"it ended: {self.text!r}"
        if b"\x1b[6n" in data:
            os.write(self.file, b"\x1b[1;1R")  # where the cursor is, which it asks
        return data.decode()

    def type(self, text: str) -> None:
        os.write(self.file, text.encode())

    def close(self) -> int:
        """The exit code."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.file)
                return os.waitstatus_to_exitcode(status)
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    os.read(self.file, 65_536)
                except OSError:
                    time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError("it does not end")


@pytest.fixture
def screens(tmp_path: Path) -> Iterator[list[Screen]]:
    yield (opened := list[Screen]())
    for screen in opened:
        try:
            os.kill(screen.pid, signal.SIGKILL)
            os.waitpid(screen.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def test_a_person_plays_leaves_and_comes_back(tmp_path: Path, screens: list[Screen]) -> None:
    """Tab completes a name, Ctrl-C leaves in the middle of a line, and the right day greets whoever resumes."""
    screen = Screen(tmp_path, "run", "vending", "--preset", "classic", "--agent", "human", "--name", "me")
    screens.append(screen)
    screen.read_until(r"08:00, move 1, \d\d:\d\d\] >")
    screen.type("adv\t")
    screen.read_until("advance_day")
    screen.type("\r")
    screen.read_until("It is Thu 2 Apr 2026")
    screen.read_until(r"Thu 2 Apr 08:00, move 2, \d\d:\d\d\] >")
    screen.type("half a line\x03")
    assert "akinai resume me-1" in screen.read_until("go on where you stopped")
    assert screen.close() == 0

    screen = Screen(tmp_path, "resume", "me-1")
    screens.append(screen)
    assert "day 2 of 90" in screen.read_until(r"Thu 2 Apr 08:00, move 2, \d\d:\d\d\] >")
    screen.type("\x1b[A")  # the line before
    screen.read_until("advance_day")
    screen.type("\r")
    screen.read_until(r"Fri 3 Apr 08:00, move 3, \d\d:\d\d\] >")
    screen.type("\x04")
    assert "akinai resume me-1" in screen.read_until("go on where you stopped")
    assert screen.close() == 0


def test_a_number_answers_a_question(tmp_path: Path, screens: list[Screen]) -> None:
    """`5` in qa is an answer."""
    screen = Screen(tmp_path, "run", "qa", "--agent", "human", "--name", "me")
    screens.append(screen)
    screen.read_until(r"\[move 1, \d\d:\d\d\] >")
    screen.type("5\r")
    screen.read_until(r"\[move 2, \d\d:\d\d\] >")
    screen.type("quit\r")
    screen.read_until("go on where you stopped")
    assert screen.close() == 0
