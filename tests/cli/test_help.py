"""The help of the command line, and what a shell completes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from command_line import Akinai

from akinai.cli.app import PANELS, app


def test_root_help_lists_every_command_in_a_group(akinai: Akinai) -> None:
    """Each command has a panel, and the panels come in their order."""
    shown = akinai("--help").out
    at = [shown.index(f"─ {panel} ─") for panel in PANELS]
    assert at == sorted(at)
    assert "─ Commands ─" not in shown
    for name in typer.main.get_command(app).commands:  # pyright: ignore[reportAttributeAccessIssue]
        assert f"│ {name} " in shown


@pytest.mark.parametrize(("typed", "offered"), [("re", ["resume", "replay", "report"]), ("wor", ["worlds"])])
def test_shell_completes_commands(typed: str, offered: list[str], folder: Path) -> None:
    """As bash asks, through the environment."""
    env = os.environ | {"_AKINAI_COMPLETE": "complete_bash", "COMP_WORDS": f"akinai {typed}", "COMP_CWORD": "1"}
    asked = subprocess.run([sys.executable, "-m", "akinai"], env=env, check=False, capture_output=True, text=True)
    assert asked.stdout.split() == offered
