"""How options are declared, and those that several commands share."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from akinai.core.worlds import World

COMPLETED_RUNS = 200
"""Runs among whose names a shell completes."""
GAME, PLAYER = "What is played", "Who plays"
"""Panels of the help."""


def option(
    *names: str,
    metavar: str,
    help: str,
    default: str = "",
    parser: Callable[[str], Any] | None = None,
    panel: str | None = None,
    complete: Callable[[str], list[str]] | None = None,
) -> Any:
    """An option; its help ends with the default in words, if there is one. `panel` is the part of the help it is in,
    `complete` gives a shell the values that begin with what is typed."""
    text = f"{help}  \\[default: {default}]" if default else help
    return typer.Option(
        *names, metavar=metavar, help=text, show_default=False, parser=parser, rich_help_panel=panel,
        autocompletion=complete,
    )  # fmt: skip


def flag(*names: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(*names, metavar="", help=help)


def argument(metavar: str, help: str) -> Any:
    """A positional argument. A shell completes those that are worlds or runs."""
    completions = {"WORLD": _worlds, "[WORLD]": _worlds, "RUN": _runs, "A": _runs, "B": _runs}
    return typer.Argument(metavar=metavar, help=help, show_default=False, autocompletion=completions.get(metavar))


def _worlds(incomplete: str) -> list[str]:
    """The worlds that begin so."""
    from akinai import worlds

    return [name for name in worlds.names() if name.startswith(incomplete)]


def _runs(incomplete: str) -> list[str]:
    """The newest runs and groups of the store that begin so; none where the store cannot be read."""
    from akinai.api.records import headers
    from akinai.core.errors import AkinaiError
    from akinai.runtime.runs.sweep import names_of

    try:
        found = headers(limit=COMPLETED_RUNS)
    except AkinaiError:
        return []
    return list(dict.fromkeys(name for run in found for name in names_of(run) if name.startswith(incomplete)))


def players(incomplete: str) -> list[str]:
    """The agents of the world that is named on the line, and those that play any."""
    from akinai.runtime.play.agent_registry import BUILT_IN

    world = _typed_world()
    names = [*(world.players if world else ()), *(name for name in BUILT_IN if ":" not in name), "script:", "stdio:"]
    return [name for name in names if name.startswith(incomplete)]


def preset_names(incomplete: str) -> list[str]:
    """The presets of the world that is named on the line."""
    from akinai.runtime.config.settings import presets

    world = _typed_world()
    return [name for name in presets(world) if name.startswith(incomplete)] if world else []


def _typed_world() -> "World[Any] | None":
    """The first world on the line that a shell completes: its words are in the environment, and unparsed, since the
    value of an option is still to come."""
    import os

    from akinai import worlds

    words = (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "").split()
    return next((worlds.load(word) for word in words if word in worlds.names()), None)


def whole_number(text: str) -> int:
    """Read a whole number. BadParameter for any other text."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"a whole number is expected, not {text!r:.60}") from None


RunName = Annotated[str, argument("RUN", "A run, or a group of runs.")]
RunNames = Annotated[list[str], argument("RUN", "Runs and groups of runs.")]
Store = Annotated[
    str | None,
    option(
        "--store",
        metavar="URL",
        help="The store that keeps the runs: a SQLite file, postgresql://..., or memory: (nothing is kept).",
        default="AKINAI_STORE, akinai.toml, or akinai.db",
    ),
]
Jobs = Annotated[
    int | None,
    option("--jobs", metavar="N", help="Processes that work in parallel.", default="one per CPU", parser=whole_number),
]
On = Annotated[
    str | None,
    option(
        "--on",
        metavar="ENGINE",
        help="Have a cluster work: ray starts one here, ray://HOST:PORT joins one. It wants --store postgresql://...",
        default="this machine, --jobs at a time",
    ),
]
Shard = Annotated[
    str | None,
    option(
        "--shard",
        metavar="I/N",
        help="Play the I-th of N shares of the seeds, one per machine; 'akinai merge' brings the stores together.",
        default="all seeds",
    ),
]


def embedder(panel: str | None = None) -> Any:
    """The option for the vectors of bullets."""
    return option(
        "--embedder",
        metavar="NAME",
        help="Vectors of bullets: hashed, svd (extra learn), or openai:NAME and others of LangChain's.",
        default="hashed, without a network",
        panel=panel,
    )


Embedder = Annotated[str | None, embedder()]
Json = Annotated[bool, flag("--json", help="Print one JSON document and nothing else.")]


def store_address(url: str | None) -> str:
    """The address of the store: the flag, AKINAI_STORE, akinai.toml, or the default."""
    from akinai.runtime.config.addresses import store_address

    return store_address(url)


def process_count(jobs: int | None, store: str) -> int:
    """The number of processes: the flag, AKINAI_JOBS, akinai.toml, or one per CPU; 1 for a store in memory."""
    from akinai.core.errors import UsageError
    from akinai.runtime.config.settings import setting, source_of

    if jobs is not None:
        return jobs
    if store.startswith("memory:"):
        return 1
    from akinai.runtime.runs.processes import available_cpus

    text = setting("jobs", None, str(available_cpus()))
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{source_of('jobs', None)}: jobs is a whole number of at least 1, not {text!r}")
    return int(text)
