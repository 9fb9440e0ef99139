"""A command line in a folder of its own, as a person and as a program would use it."""

import os
from functools import partial
from pathlib import Path

import pytest

from command_line import Akinai, type_line

PLUGIN = """
from akinai.core.agents import Move
from akinai.worlds.vending.model.actions import AdvanceDay


class Breaking:
    def __init__(self, word):
        self.word = word

    async def act(self, view, last):
        if last is not None and self.word in last.text:
            raise RuntimeError("no [red]coffee[/red]")
        return Move(AdvanceDay(), said="[bold]tired[/bold]")


def breaking(world, word):
    return lambda role: Breaking(word)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without settings from around it, and one process unless a test asks for more."""
    for name in [name for name in os.environ if name.startswith("AKINAI_") or name in ("COLUMNS", "FORCE_COLOR")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AKINAI_JOBS", "1")
    monkeypatch.setenv("AKINAI_LANG", "en")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package with the world `lemonade` and the agent `breaking:WORD`, which breaks when it hears WORD."""
    home = tmp_path / "site"
    installed = home / "extras-1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: extras\nVersion: 1\n")
    (installed / "entry_points.txt").write_text(
        "[akinai.worlds]\nlemonade = lemonade:Lemonade\n[akinai.agents]\nbreaking = extras:breaking\n"
    )
    (home / "extras.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(home)
    return home


@pytest.fixture
def akinai(capsys: pytest.CaptureFixture[str]) -> Akinai:
    """Calls the command with words and returns what it gave."""
    return partial(type_line, capsys)
