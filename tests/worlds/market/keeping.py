"""Runs made by hand, kept in a store of the working folder, and asked about on the command line."""

import asyncio
import json
from typing import Any

import pytest
from trading import Desk

from akinai.core.stores import RunHeader
from akinai.stores import open_store
from command_line import type_line

STORE = "akinai.db"


def keep(name: str, *desks: Desk) -> None:
    """Their ledgers as runs of a group, the first of seed 1."""

    async def work() -> None:
        books = await open_store(STORE)
        try:
            for number, desk in enumerate(desks, 1):
                run = f"{name}-{number}"
                header = RunHeader(
                    run, desk.genesis, {"customer": "by hand"}, 0, status="done", group=name, ending="told"
                )
                await books.create(header)
                await books.append(run, desk.entries)
        finally:
            await books.close()

    asyncio.run(work())


class Shell:
    """The command `akinai`."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.code = 0
        self.err = ""

    def __call__(self, *words: str) -> str:
        answer = type_line(self._capsys, *words)
        self.code, self.err = answer.code, answer.err
        return answer.out

    def error(self, *words: str) -> str:
        """The line about a mistake, which exits with 2."""
        assert (self(*words), self.code) == ("", 2)
        return self.err

    def analyzed(self, *words: str) -> Any:
        """The document of `akinai analyze --json`."""
        return json.loads(self("analyze", *words, "--json"))

    def figures(self, *words: str) -> dict[str, float]:
        """Every score and figure of the first run."""
        run = self.analyzed(*words)["runs"][0]
        return {name: first["value"] for name, first in {**run["scores"], **run["figures"]}.items()}
