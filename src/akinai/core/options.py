"""Options of a call, each declared once: a typed dictionary of `Annotated` types, with an `Option` for each key.

class RunOptions(TypedDict, total=False):
    days: Annotated[int | None, Option("Days to play.", metavar="N", unit="days")]

A function takes them as typed keywords, `**options: Unpack[RunOptions]`; its flags on the command line, its keys in
`akinai.toml` and its help come from the same declaration.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, ForwardRef, Union, get_args, get_origin

Record = type[Any]
"""A TypedDict class whose keys are annotated with an `Option` each."""
Kind = Callable[[str], object]
"""How a value is read from text: `str`, `int`, `float` or `bool`."""
KINDS: tuple[Kind, ...] = (str, bool, int, float)


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a call: its default, and what flags, settings files and help say of it."""

    help: str = ""
    """A sentence, the help of the flag. Empty for an option that only Python has, such as a callback."""
    default: Any = None
    metavar: str = "NAME"
    """How the help calls the value."""
    unit: str = ""
    """The unit of a number, such as "tokens"."""
    shown: str = ""
    """The default in words, at the end of the help."""
    group: str = ""
    """The part of the help that lists the flag; empty for the last."""
    flag: str = ""
    """The flag where it is not the name, such as `--set`; "--a/--no-a" for one with a negative."""
    many: bool = False
    """Whether the flag may be repeated."""
    choices: tuple[str, ...] = ()
    """The only values, where these are few."""
    complete: str = ""
    """What a shell completes the value from: "presets" or "players"."""
    top: bool = False
    """Whether it is a setting of the whole program: at the top of `akinai.toml`, and `AKINAI_NAME`."""
    key: bool = True
    """Whether it may be set in the table of its call in `akinai.toml`."""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """An option with its name and type."""

    name: str
    annotation: Any
    """The type without its `Option`: a type, or the text of one that only type checkers load."""
    option: Option

    @property
    def kind(self) -> Kind:
        """How its value is read from text: as it is, unless its type has no text."""
        types = get_args(self.annotation) if get_origin(self.annotation) in (Union, UnionType) else (self.annotation,)
        return next((kind for kind in KINDS if kind in types), str)

    @property
    def flags(self) -> str:
        """Its flag on the command line."""
        return self.option.flag or f"--{self.name.replace('_', '-')}"

    @property
    def is_setting(self) -> bool:
        """Whether `akinai.toml` and the environment may set it for its call."""
        return bool(self.option.help) and self.option.key and not self.option.top


@cache
def declared(record: Record) -> Mapping[str, Declared]:
    """The options of a record by name, in their order. TypeError for a key without an `Option`."""
    options: dict[str, Declared] = {}
    for name, annotation in record.__annotations__.items():
        option = next((note for note in getattr(annotation, "__metadata__", ()) if isinstance(note, Option)), None)
        if option is None:
            raise TypeError(f"{record.__name__}.{name} is not annotated with an Option")
        bare = get_args(annotation)[0]
        options[name] = Declared(name, bare.__forward_arg__ if isinstance(bare, ForwardRef) else bare, option)
    return options


def defaults(record: Record) -> dict[str, Any]:
    """The default of each option."""
    return {name: option.option.default for name, option in declared(record).items()}


def part_of(record: Record, options: Mapping[str, Any]) -> Any:
    """The options that belong to a record, out of those of a larger one; defaults for those that it lacks."""
    return {name: options.get(name, default) for name, default in defaults(record).items()}


def expanded(
    function: Callable[..., Any], record: Record, parameter: Callable[[Declared], inspect.Parameter]
) -> inspect.Signature:
    """The signature of a function in which `**options` is replaced by a keyword for each option."""
    own = inspect.signature(function)
    fixed = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    return own.replace(parameters=[*fixed, *map(parameter, declared(record).values())])


def keyword(option: Declared) -> inspect.Parameter:
    """An option as a keyword of a Python function."""
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=option.option.default, annotation=option.annotation
    )
