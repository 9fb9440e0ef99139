"""A command line in this process, and what it gives."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import typer.main

from akinai.cli import main
from akinai.cli.help import arrange_help
from akinai.report.language import chosen_language


@dataclass(frozen=True)
class Answer:
    """What a command line gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one document on stdout."""
        return json.loads(self.out)


Akinai = Callable[..., Answer]

build_commands = typer.main.get_command


@cache
def built(app: typer.Typer, language: str) -> Any:
    """The commands of an app. Typer builds them anew for each line, which is a third of the time that a refusal takes.

    Their help is arranged once, and translated in place, so each language has its own.
    """
    commands = build_commands(app)
    arrange_help(commands)
    return commands


def type_line(capsys: pytest.CaptureFixture[str], *words: str) -> Answer:
    """Type `akinai` with words."""
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", lambda app: built(app, chosen_language()))
        patch.setattr("akinai.cli.app.arrange_help", lambda commands: None)
        with pytest.raises(SystemExit) as exit:
            main(words)
    out, err = capsys.readouterr()
    return Answer(int(exit.value.code or 0), out, err)
