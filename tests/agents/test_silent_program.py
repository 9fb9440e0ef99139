"""A program that writes nothing is waited for with a word, and within `--timeout`."""

import shlex
import sys
from pathlib import Path

import pytest

import akinai
from akinai.agents import stdio
from akinai.cli.app import answer as run_command

SILENT = "import sys\nfor line in sys.stdin:\n    pass\n"
SLOW = """
import sys, time
time.sleep(0.2)
for line in sys.stdin:
    print('{"action": "ADVANCE_DAY"}', flush=True)
"""
ONCE = """
import sys
sys.stdin.readline()
print('{"action": "ADVANCE_DAY"}', flush=True)
sys.stdin.read()
"""


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "PATIENCE_S", 0.05)


def command(folder: Path, program: str) -> str:
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    return f"stdio:{shlex.join([sys.executable, '-I', '-S', str(path)])}"


@pytest.mark.usefixtures("short_patience")
def test_a_silent_program_is_awaited_with_a_word_and_fails_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the time and what a program is to do."""
    words = ["run", "vending", "--agent", command(tmp_path, SILENT), "--timeout", "0.3", "--days", "2"]
    assert run_command([*words, "--store", "memory:", "--jobs", "1"]) == 1
    first, second, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith("akinai: waiting for the first line of the player")
    assert "for up to 0.3 seconds" in first
    assert "wrote no line within 0.3 seconds" in second
    assert "print(line, flush=True)" in second


@pytest.mark.usefixtures("short_patience")
def test_a_slow_program_plays_after_a_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its first line may come late; the word is said once."""
    (run,) = akinai.run("vending", agent=command(tmp_path, SLOW), days=2)
    assert (run.ending, run.days) == ("horizon", 2)
    assert [record.name for record in caplog.records] == ["akinai.agents"]


def test_a_program_that_falls_silent_says_for_how_long(tmp_path: Path) -> None:
    """After its first line the error is of the program's own silence."""
    (run,) = akinai.run("vending", agent=command(tmp_path, ONCE), days=2, timeout=0.5)
    assert (run.status, run.entries) == ("failed", 1)
    assert (run.reason or "").endswith("wrote nothing for 0.5 seconds")


def test_a_resume_waits_as_long_as_the_run(tmp_path: Path) -> None:
    """The card says how long, where it is not the default."""
    store = str(tmp_path / "a.db")
    (run,) = akinai.run("vending", agent=command(tmp_path, SILENT), days=2, timeout=0.3, store=store)
    (resumed,) = akinai.resume(run.id, store=store)
    assert "within 0.3 seconds" in (resumed.reason or "")
