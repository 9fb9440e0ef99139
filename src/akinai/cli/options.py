"""Flags: how a command declares its own, how it takes those of a call's record, and those that several share."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

import typer
from typer.models import ArgumentInfo, OptionInfo

from akinai.core.options import Declaration, Record, options_of
from akinai.runtime.options import LearnOptions, ResumeOptions

if TYPE_CHECKING:
    from akinai.core.worlds import World

F = TypeVar("F", bound=Callable[..., Any])
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
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
    """An option whose help ends with `default`, the default in words, if there is one. `panel` is the part of the help
    that lists it; `complete` returns the values that begin with what is typed."""
    text = f"{help}  \\[default: {default}]" if default else help
    return typer.Option(
        *names, metavar=metavar, help=text, show_default=False, parser=parser, rich_help_panel=panel,
        autocompletion=complete,
    )  # fmt: skip


def flag(*names: str, help: str, callback: Callable[..., bool] | None = None) -> Any:
    """An option without a value."""
    return typer.Option(*names, metavar="", help=help, callback=callback)


def _one_form(context: typer.Context, value: bool) -> bool:
    """UsageError where both --json and --csv are on the line."""
    from akinai.core.errors import UsageError

    if value and (context.params.get("as_json") or context.params.get("as_csv")):
        raise UsageError("--json and --csv are two forms of the same answer; leave one of them out")
    return value


def argument(metavar: str, help: str) -> Any:
    """A positional argument. A shell completes those that are worlds or runs."""
    completions = {"WORLD": _worlds, "[WORLD]": _worlds, "RUN": _runs, "A": _runs, "B": _runs}
    return typer.Argument(metavar=metavar, help=help, show_default=False, autocompletion=completions.get(metavar))


def _worlds(incomplete: str) -> list[str]:
    """The names of worlds that begin with `incomplete`."""
    from akinai import worlds

    return [name for name in worlds.names() if name.startswith(incomplete)]


def _runs(incomplete: str) -> list[str]:
    """The names of the newest runs and groups that begin with `incomplete`; none where the store cannot be read."""
    from akinai.api.records import headers
    from akinai.core.errors import AkinaiError
    from akinai.runtime.runs.sweep import names_of

    try:
        newest = headers(limit=COMPLETED_RUNS)
    except AkinaiError:
        return []
    return list(dict.fromkeys(name for run in newest for name in names_of(run) if name.startswith(incomplete)))


def players(incomplete: str) -> list[str]:
    """The agents that can play the world on the line and begin with `incomplete`, `script:` and `stdio:` among them."""
    from akinai.runtime.play.agent_registry import BUILT_IN

    world = _typed_world()
    names = [*(world.players if world else ()), *(name for name in BUILT_IN if ":" not in name), "script:", "stdio:"]
    return [name for name in names if name.startswith(incomplete)]


def preset_names(incomplete: str) -> list[str]:
    """The presets of the world on the line that begin with `incomplete`."""
    from akinai.runtime.config.settings import presets

    world = _typed_world()
    return [name for name in presets(world) if name.startswith(incomplete)] if world else []


def _typed_world() -> "World[Any] | None":
    """The first world on the line that a shell completes. The words come from the environment: the line cannot be
    parsed while the value of an option is missing."""
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


def flag_of(declaration: Declaration) -> Any:
    """The flag of a declared option, for typer."""
    spec, value_type = declaration.option, declaration.value_type
    names = [declaration.flag] if declaration.flag.startswith("--") else [declaration.flag, f"--{declaration.name}"]
    metavar = None if spec.choices else spec.metavar
    return option(
        *names, metavar="" if value_type is bool and not spec.many else metavar, help=spec.help,
        default=spec.default_text, parser=whole_number if value_type is int else None, panel=spec.group or None,
        complete=COMPLETIONS.get(spec.complete),
    )  # fmt: skip


RunName = Annotated[str, argument("RUN", "A run, or a group of runs.")]
RunNames = Annotated[list[str], argument("RUN", "Runs and groups of runs.")]
Store = Annotated[str | None, flag_of(options_of(ResumeOptions)["store"])]
Jobs = Annotated[int | None, flag_of(options_of(ResumeOptions)["jobs"])]
On = Annotated[str | None, flag_of(options_of(ResumeOptions)["on"])]
Embedder = Annotated[str | None, flag_of(options_of(LearnOptions)["embedder"])]
Json = Annotated[bool, flag("--json", help="Print one JSON document and nothing else.", callback=_one_form)]
Csv = Annotated[bool, flag("--csv", help="Print one table as CSV and nothing else.", callback=_one_form)]


def store_address(url: str | None) -> str:
    """The address of the store: the flag, AKINAI_STORE, akinai.toml, or the default."""
    from akinai.runtime.config.addresses import store_address

    return store_address(url)


def fill_in_place(options: Any) -> str | None:
    """Put the store's address, and the number of processes where there is one, in the place of what is on the line;
    returns the store as it was typed there."""
    store = options["store"]
    options["store"] = store_address(store)
    if "jobs" in options:
        options["jobs"] = process_count(options["jobs"], options["store"])
    return store


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

    The command is called with every option; those that are not on the line are filled in by `complete_options`, for
    which `base` replaces defaults. A flag that the command declares itself replaces the record's of that name.
    """

    def decorate(function: F) -> F:
        parameters = inspect.signature(function).parameters.values()
        own = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
        own_names = {name for parameter in own for name in (parameter.name, *_own_flags(parameter))}
        ours = {name: option for name, option in options_of(record).items() if name not in own_names}
        on_line = {name: option for name, option in ours.items() if option.option.help}
        first = [parameter for parameter in own if parameter.annotation is typer.Context or _is_argument(parameter)]
        context = next((parameter.name for parameter in first if parameter.annotation is typer.Context), "")

        @wraps(function)
        def command(**values: Any) -> Any:
            from akinai.core.errors import UsageError
            from akinai.runtime.config.calls import complete_options

            line: typer.Context = values[context] if context else values.pop("typed_line")
            own_values = {name: value for name, value in values.items() if name not in on_line}
            typed = {name: values[name] for name in on_line if _is_typed(line, name)}
            if empty := next((on_line[name] for name, value in typed.items() if value == ""), None):
                flag = empty.flag if empty.flag.startswith("--") else f"--{empty.name}"
                raise UsageError(f"{flag} is empty; give it a value, or leave it out")
            options = complete_options(record, typed, base)
            return function(**own_values, **{name: options[name] for name in ours})

        flags = [_flag(option, base.get(name, option.option.default)) for name, option in on_line.items()]
        line = [] if context else [inspect.Parameter("typed_line", KEYWORD_ONLY, annotation=typer.Context)]
        every = [*line, *first, *flags, *(parameter for parameter in own if parameter not in first)]
        signature = inspect.Signature([parameter.replace(kind=KEYWORD_ONLY) for parameter in every])
        command.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue] - typer reads it
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
        return cast("F", command)

    return decorate


def _own_flags(parameter: inspect.Parameter) -> list[str]:
    """The flags that a parameter of a command declares, spelled as names of options."""
    notes = [note for note in getattr(parameter.annotation, "__metadata__", ()) if isinstance(note, OptionInfo)]
    flags = [flag for note in notes for flag in (note.default, *(note.param_decls or ()))]
    return [flag.removeprefix("--").replace("-", "_") for flag in flags if isinstance(flag, str)]


def _is_argument(parameter: inspect.Parameter) -> bool:
    """Whether a parameter of a command is a positional argument."""
    return any(isinstance(note, ArgumentInfo) for note in getattr(parameter.annotation, "__metadata__", ()))


def _is_typed(line: typer.Context, name: str) -> bool:
    """Whether an option is on the command line, or in an environment variable of typer's."""
    source = line.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def _flag(declaration: Declaration, default: Any) -> inspect.Parameter:
    """The parameter from which typer makes the flag of an option."""
    choices, many = declaration.option.choices, declaration.option.many
    annotation: Any = list[str] if many else Literal[choices] if choices else declaration.value_type
    default = default or None if many else default
    annotation = annotation | None if default is None else annotation
    return inspect.Parameter(
        declaration.name, KEYWORD_ONLY, default=default, annotation=Annotated[annotation, flag_of(declaration)]
    )
