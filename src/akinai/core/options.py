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
ValueType = type[str] | type[bool] | type[int] | type[float]
VALUE_TYPES: tuple[ValueType, ...] = (str, bool, int, float)
"""The types that a flag, a settings file or the environment can hold."""


@dataclass(frozen=True, slots=True)
class Option:
    """The default of an option, its help, and where it may be set."""

    help: str = ""
    """The help of the flag, a sentence. Empty for an option that only Python has, such as a callback."""
    default: Any = None
    metavar: str = "NAME"
    """The placeholder of the value in the help."""
    unit: str = ""
    """The unit of a number, such as "tokens"."""
    default_text: str = ""
    """The default in words; the help ends with it."""
    group: str = ""
    """The panel of the help that lists the flag; empty for the last."""
    flag: str = ""
    """The flag where it differs from the name, such as `--set`; "--a/--no-a" for one with a negative."""
    many: bool = False
    """Whether the flag may be repeated."""
    choices: tuple[str, ...] = ()
    """The allowed values, where these are few; empty allows any."""
    complete: str = ""
    """The names that a shell offers for the value: "presets" or "players"."""
    top: bool = False
    """Whether it is a setting of the whole program, at the top of `akinai.toml` and in `AKINAI_NAME`."""
    key: bool = True
    """Whether it may be set in the table of its call in `akinai.toml`."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A key of a record: an option with its name and type."""

    name: str
    annotation: Any
    """The type without its `Option`: a type, or the text of one that only type checkers load."""
    option: Option

    @property
    def value_type(self) -> ValueType:
        """The type of its value on the command line, in `akinai.toml` and in the environment: text if that fits."""
        types = get_args(self.annotation) if get_origin(self.annotation) in (Union, UnionType) else (self.annotation,)
        return next((value_type for value_type in VALUE_TYPES if value_type in types), str)

    @property
    def flag(self) -> str:
        """The flag on the command line, such as `--max-tokens`."""
        return self.option.flag or f"--{self.name.replace('_', '-')}"

    @property
    def is_setting(self) -> bool:
        """Whether the table of its call in `akinai.toml`, and the environment, may set it."""
        return bool(self.option.help) and self.option.key and not self.option.top


@cache
def options_of(record: Record) -> Mapping[str, Declaration]:
    """The options of a record by name, in order of declaration. TypeError for a key without an `Option`."""
    options: dict[str, Declaration] = {}
    for name, annotation in record.__annotations__.items():
        option = next((note for note in getattr(annotation, "__metadata__", ()) if isinstance(note, Option)), None)
        if option is None:
            raise TypeError(f"{record.__name__}.{name} is not annotated with an Option")
        bare = get_args(annotation)[0]
        options[name] = Declaration(name, bare.__forward_arg__ if isinstance(bare, ForwardRef) else bare, option)
    return options


def defaults_of(record: Record) -> dict[str, Any]:
    """The default of each option of a record, by name."""
    return {name: declaration.option.default for name, declaration in options_of(record).items()}


def part_of(record: Record, options: Mapping[str, Any]) -> Any:
    """The options that a record declares, taken from a larger mapping; the default where that lacks one."""
    return {name: options.get(name, default) for name, default in defaults_of(record).items()}


def expand_signature(function: Callable[..., Any], record: Record) -> inspect.Signature:
    """The signature of a function, with a keyword for each option of a record in place of `**options`."""
    signature, keyword_only = inspect.signature(function), inspect.Parameter.KEYWORD_ONLY
    fixed = [
        parameter for parameter in signature.parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    keywords = [
        inspect.Parameter(name, keyword_only, default=declaration.option.default, annotation=declaration.annotation)
        for name, declaration in options_of(record).items()
    ]
    return signature.replace(parameters=[*fixed, *keywords])
