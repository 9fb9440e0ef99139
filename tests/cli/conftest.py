"""A command line in a folder of its own, as a person and as a program would use it."""

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
from command_line import Akinai, Answer

from akinai.cli import main
from akinai.cli.help import arrange_help

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


build_commands = typer.main.get_command


@cache
def built(app: typer.Typer, language: str) -> Any:
    """The commands of an app. Typer builds them anew for each line, which is a third of the time that a refusal takes.

    Their help is arranged once, and translated in place, so each language has its own.
    """
    commands = build_commands(app)
    arrange_help(commands)
    return commands


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
def akinai(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Akinai:
    """Calls the command with words and returns what it gave."""

    def call(*words: str) -> Answer:
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.setattr(typer.main, "get_command", lambda app: built(app, os.environ["AKINAI_LANG"]))
            patch.setattr("akinai.cli.app.arrange_help", lambda commands: None)
            with pytest.raises(SystemExit) as exit:
                main(words)
        out, err = capsys.readouterr()
        return Answer(int(exit.value.code or 0), out, err)

    return call
