"""Options that several commands share."""

from typing import Annotated

import typer

Name = Annotated[
    str, typer.Argument(metavar="RUN", help="A run, or a group that stands for its runs.", show_default=False)
]
Names = Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs and groups.", show_default=False)]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Where ledgers are kept, such as akinai.db or memory:  \\[default: AKINAI_STORE, akinai.toml, or akinai.db]",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", help="Processes that play at a time.  \\[default: one a CPU]", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


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
