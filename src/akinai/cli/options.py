"""Flags: how a command declares its own, how it takes those of a call's record, and those that several share."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

import typer
from typer.models import ArgumentInfo, OptionInfo

from akinai.core.options import Declared, Record, declared
from akinai.runtime.options import LearnOptions, ResumeOptions

if TYPE_CHECKING:
    from akinai.core.worlds import World

F = TypeVar("F", bound=Callable[..., Any])
KEYWORD = inspect.Parameter.KEYWORD_ONLY
SHARED = declared(ResumeOptions)
COMPLETED_RUNS = 200
"""Runs among whose names a shell completes."""


def option(
    *names: str,
    metavar: str | None,
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


COMPLETIONS: Mapping[str, Callable[[str], list[str]]] = {"players": players, "presets": preset_names}


def flag_of(declaration: Declared) -> Any:
    """The flag of a declared option."""
    declared_option, kind = declaration.option, declaration.kind
    names = [declaration.flags] if declaration.flags.startswith("--") else [declaration.flags, f"--{declaration.name}"]
    metavar = None if declared_option.choices else declared_option.metavar
    return option(
        *names, metavar="" if kind is bool and not declared_option.many else metavar, help=declared_option.help,
        default=declared_option.shown, parser=whole_number if kind is int else None,
        panel=declared_option.group or None, complete=COMPLETIONS.get(declared_option.complete),
    )  # fmt: skip


RunName = Annotated[str, argument("RUN", "A run, or a group of runs.")]
RunNames = Annotated[list[str], argument("RUN", "Runs and groups of runs.")]
Store = Annotated[str | None, flag_of(SHARED["store"])]
Jobs = Annotated[int | None, flag_of(SHARED["jobs"])]
On = Annotated[str | None, flag_of(SHARED["on"])]
Embedder = Annotated[str | None, flag_of(declared(LearnOptions)["embedder"])]
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


def with_flags(record: Record, **base: Any) -> Callable[[F], F]:
    """Let a command take the options of a record as flags: `**options: Unpack[Record]`.

    It is given all of them, those that the line leaves out as `akinai.toml`, the environment and the defaults say;
    `base` replaces defaults. A flag of the command's own stands in the place of an option of that name.
    """

    def decorate(function: F) -> F:
        own = [each for each in inspect.signature(function).parameters.values() if each.kind is not each.VAR_KEYWORD]
        names = {name for each in own for name in (each.name, *_own_flags(each))}
        options = {name: each for name, each in declared(record).items() if each.option.help and name not in names}
        unseen = [name for name in declared(record) if name not in options and name not in names]
        first = [each for each in own if each.annotation is typer.Context or _is_argument(each)]
        context = next((each.name for each in first if each.annotation is typer.Context), "")

        @wraps(function)
        def command(**values: Any) -> Any:
            from akinai.runtime.config.calls import completed

            line: typer.Context = values.pop("typed_line") if not context else values[context]
            words = {name: values[name] for name in values if name not in options}
            given = {name: values[name] for name in options if _is_given(line, name)}
            every = completed(record, given, base)
            return function(**words, **{name: every[name] for name in (*options, *unseen)})

        flags = [_flag(each, base.get(each.name, each.option.default)) for each in options.values()]
        line = [] if context else [inspect.Parameter("typed_line", KEYWORD, annotation=typer.Context)]
        parameters = [*line, *first, *flags, *(each for each in own if each not in first)]
        signature = inspect.Signature([each.replace(kind=KEYWORD) for each in parameters])
        command.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue] - typer reads it
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return cast("F", command)

    return decorate


def _own_flags(parameter: inspect.Parameter) -> list[str]:
    """The flags that a parameter of a command declares, as names of options."""
    notes = [note for note in getattr(parameter.annotation, "__metadata__", ()) if isinstance(note, OptionInfo)]
    flags = [flag for note in notes for flag in (note.default, *(note.param_decls or ()))]
    return [flag.removeprefix("--").replace("-", "_") for flag in flags if isinstance(flag, str)]


def _is_argument(parameter: inspect.Parameter) -> bool:
    """Whether a parameter of a command is a word without a flag."""
    return any(isinstance(note, ArgumentInfo) for note in getattr(parameter.annotation, "__metadata__", ()))


def _is_given(line: typer.Context, name: str) -> bool:
    """Whether the command line, or the environment in its place, gives an option."""
    source = line.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def _flag(option: Declared, default: Any) -> inspect.Parameter:
    """The parameter from which typer makes the flag of an option."""
    choices, many = option.option.choices, option.option.many
    reads: Any = list[str] if many else Literal[choices] if choices else option.kind
    default = default or None if many else default
    annotation: Any = Annotated[reads | None if default is None else reads, flag_of(option)]
    return inspect.Parameter(option.name, KEYWORD, default=default, annotation=annotation)
