"""Options that several commands share."""

from collections.abc import Callable
from typing import Annotated, Any

import typer


def option(*names: str, metavar: str, help: str, default: str = "", parser: Callable[[str], Any] | None = None) -> Any:
    """An option whose default, if it has one, is told in words."""
    told = f"  \\[default: {default}]" if default else ""
    return typer.Option(*names, metavar=metavar, help=f"{help}{told}", show_default=False, parser=parser)


def flag(*names: str, help: str) -> Any:
    """A flag without a value: its help shows none."""
    return typer.Option(*names, metavar="", help=help)


def whole(text: str) -> int:
    """A whole number as a person writes it."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"a whole number is expected, not {text!r:.60}") from None


def argument(metavar: str, help: str) -> Any:
    """An argument in the order of the words."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


Name = Annotated[str, argument("RUN", "A run, or a group that stands for its runs.")]
Names = Annotated[list[str], argument("RUN", "Runs and groups.")]
Store = Annotated[
    str | None,
    option(
        "--store",
        metavar="URL",
        help="Where ledgers are kept, such as akinai.db or memory:",
        default="AKINAI_STORE, akinai.toml, or akinai.db",
    ),
]
Jobs = Annotated[
    int | None, option("--jobs", metavar="N", help="Processes at work at a time.", default="one a CPU", parser=whole)
]
Json = Annotated[bool, flag("--json", help="Print one JSON document and nothing else.")]


def jobs_for(flag: int | None, store: str) -> int:
    """How many processes play: the flag, AKINAI_JOBS, akinai.toml, or one a CPU; one where the store is in memory."""
    from akinai.core.errors import UsageError
    from akinai.runtime.config import setting

    if flag is not None:
        return flag
    if store.startswith("memory:"):
        return 1
    text = setting("jobs", None, str(_cpus()))
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"the setting jobs is a whole number of at least 1, not {text!r}")
    return int(text)


def place_of(flag: str | None) -> str:
    """The address of the store."""
    from akinai.runtime.config import DEFAULT_STORE, setting

    return setting("store", flag, DEFAULT_STORE)


def _cpus() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
