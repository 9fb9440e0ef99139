"""What a command shows: tables for people, one JSON document for programs, sentences on stderr."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

PIPED_WIDTH = 120
"""Columns of a table that goes into a file or a pipe, unless COLUMNS says otherwise."""


def say(sentence: str) -> None:
    """One sentence on stderr."""
    print(f"akinai: {' '.join(sentence.split())}", file=sys.stderr)


def document(told: Mapping[str, Any]) -> None:
    """One JSON document on stdout."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(told, ensure_ascii=not utf8, allow_nan=False))


def page(build: "Callable[[int], RenderableType]") -> None:
    """Something for people on stdout, built for its width."""
    from rich.console import Console

    fixed = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else PIPED_WIDTH
    console = Console(width=fixed, highlight=False, markup=False, emoji=False)
    console.print(build(console.width))


def line(text: str = "") -> None:
    """A line for people on stdout."""
    print(text)


def command(store: str | None, *words: str) -> str:
    """A command as a shell takes it; `store` is None for the usual one. A password in its address is left out."""
    shown = re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", store) if store else None
    return shlex.join(["akinai", *words, *(["--store", shown] if shown else [])])


def next_steps(steps: Mapping[str, str]) -> None:
    """Commands to try, each under what it is good for."""
    if steps:
        line("\nNext:")
        for command, why in steps.items():
            line(f"  {command}\n      {why}")
