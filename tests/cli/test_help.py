"""The help of the command line, and what a shell completes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from akinai.cli.app import PANELS, app
from command_line import Akinai


def test_root_help_lists_every_command_in_a_group(akinai: Akinai) -> None:
    """Each command is there with its first sentence, and the groups come in their order."""
    page = akinai("--help").out
    at = [page.index(f"\n{panel}\n") for panel in (*PANELS, "Options")]
    assert at == sorted(at)
    group: Any = typer.main.get_command(app)
    for name in group.commands:
        assert f"\n  {name} " in page
    assert "\x1b" not in page


def test_help_is_coloured_where_colours_are_shown(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, unless NO_COLOR is set."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1mPlay\x1b[0m" in akinai("--help").out


def test_help_of_run_has_panels(akinai: Akinai) -> None:
    """What is played, who plays, models and limits come first and are apart, then all else."""
    page = akinai("run", "--help").out
    panels = ("What is played", "Who plays", "Models", "Limits", "Other options")
    at = [page.index(f"─ {panel} ─") for panel in panels]
    assert at == sorted(at)
    assert at[-2] < page.index("--max-dollars") < at[-1] < page.index("--json") < page.index("--help ")
    assert at[0] < page.index("--sweep") < at[1] < page.index("--playbook ") < at[2]


def test_a_paragraph_of_a_help_is_as_wide_as_the_terminal(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines end where the terminal does, not where the source breaks them."""
    monkeypatch.setenv("COLUMNS", "100")
    lines = akinai("why", "--help").out.splitlines()
    begin = next(at for at, line in enumerate(lines) if "Each day" in line)
    end = next(at for at in range(begin, len(lines)) if not lines[at].strip())
    assert all(len(line.rstrip()) > 75 for line in lines[begin : end - 1])


def test_root_help_loads_no_tables(folder: Path) -> None:
    """The first page comes fast: neither rich nor pydantic nor NumPy is imported for it."""
    code = (
        "import sys; from akinai.cli.app import answer; answer(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stderr
    for name in ("rich.table", "rich.markdown", "pydantic", "numpy"):
        assert f"'{name}'" not in loaded


def test_shell_completes_commands_worlds_and_runs(
    akinai: Akinai, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As bash asks, through the environment. Without a store there are no runs to offer, and no error."""

    def completed(typed: str) -> list[str]:
        words = f"akinai {typed}"
        with monkeypatch.context() as patch:
            patch.setenv("_AKINAI_COMPLETE", "complete_bash")
            patch.setenv("COMP_WORDS", words)
            patch.setenv("COMP_CWORD", str(words.count(" ")))
            answer = akinai()
        assert not answer.err
        return answer.out.split()

    assert completed("show fir") == []
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "1", "--name", "first")
    assert completed("show fir") == ["first-1", "first"]
    assert completed("run ve") == ["vending"]
    assert completed("run vending --agent re") == ["reference"]
    assert completed("run vending --preset q") == ["quarter"]
    assert completed("run nowhere --preset q") == []
    assert completed("re") == ["resume", "replay", "restore", "report"]
