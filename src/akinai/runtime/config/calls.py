"""Calls whose options are declared once: a function's keywords, completed from its table in `akinai.toml`.

The table has the call's name, `[run]`, and the environment has its options as `AKINAI_RUN__WINDOW`.
"""

import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from akinai.core.errors import UnknownName, UsageError
from akinai.core.options import Declared, Record, declared, defaults, expanded, keyword
from akinai.runtime.options import CALLS

F = TypeVar("F", bound=Callable[..., Any])


def with_options(record: Record) -> Callable[[F], F]:
    """Let a function take the options of a record as its keywords: `**options: Unpack[Record]`.

    It is given all of them, those that its caller leaves out with what `completed` says. TypeError for other keywords.
    """

    def decorate(function: F) -> F:
        signature = expanded(function, record, keyword)

        @wraps(function)
        def call(*arguments: Any, **given: Any) -> Any:
            if unknown := given.keys() - signature.parameters.keys():
                name = sorted(unknown)[0]
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            options = {name: given.pop(name) for name in declared(record) if name in given}
            return function(*arguments, **given, **completed(record, options))

        call.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue] - `inspect.signature` reads it
        return cast("F", call)

    return decorate


def completed(record: Record, given: Mapping[str, Any], base: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All options of a record: what is given, else what the call's table and the environment say, else the defaults.

    `base` replaces defaults. UsageError for a setting that is not of the option's type, UnknownName for no option.
    """
    return {**defaults(record), **(base or {}), **call_settings(record), **given}


def given_of(record: Record, options: Mapping[str, Any]) -> list[str]:
    """The names of options that a caller gave: those that are neither the default nor what a setting says."""
    settings = call_settings(record)
    return [
        name
        for name, default in defaults(record).items()
        if options[name] != default and options[name] != settings.get(name, default)
    ]


def call_settings(record: Record) -> dict[str, Any]:
    """The options that `akinai.toml` and the environment set for the call of a record."""
    call = next((name for name, calls_record in CALLS.items() if calls_record is record), None)
    if call is None:
        return {}
    from akinai.runtime.config.settings import SETTINGS_FILE, settings_file

    options = {name: option for name, option in declared(record).items() if option.is_setting}
    table = settings_file().get(call, {})
    if not isinstance(table, dict):
        raise UsageError(f"{call} in {SETTINGS_FILE} is the table of options of that call, [{call}], not {table!r:.40}")
    values: dict[str, Any] = {}
    for name, value in cast("dict[str, Any]", table).items():
        if name not in options:
            raise UnknownName("option", name, options, f"in [{call}] of {SETTINGS_FILE}")
        values[name] = _checked(options[name], value, f"[{call}] in {SETTINGS_FILE}")
    start = f"AKINAI_{call.upper()}__"
    for variable in sorted(os.environ):
        if variable.startswith(start):
            name = variable.removeprefix(start).lower()
            if name not in options:
                raise UnknownName("option", name, options, f"for {variable} in the environment")
            values[name] = _read(options[name], os.environ[variable], f"{variable} in the environment")
    return values


def _checked(option: Declared, value: Any, source: str) -> Any:
    """A value of a table. UsageError where it is not of the option's type."""
    if option.option.many:
        if isinstance(value, list) and all(isinstance(part, str) for part in cast("list[Any]", value)):
            return cast("list[str]", value)
        raise UsageError(f"{source}: {option.name} is a list of texts, not {value!r:.60}")
    if option.kind is float and type(value) is int:
        return float(value)
    if type(value) is not (option.kind if option.kind in NOUNS else str):
        raise UsageError(f"{source}: {option.name} is {NOUNS.get(option.kind, 'a text')}, not {value!r:.60}")
    return _of_choices(option, value, source)


def _read(option: Declared, text: str, source: str) -> Any:
    """A value in the environment. UsageError where it is not of the option's type."""
    if option.option.many:
        return text.split(",")
    try:
        if option.kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        return _of_choices(option, option.kind(text), source)
    except (KeyError, ValueError):
        raise UsageError(f"{source}: {option.name} is {NOUNS.get(option.kind, 'a text')}, not {text!r:.60}") from None


def _of_choices(option: Declared, value: Any, source: str) -> Any:
    if option.option.choices and value not in option.option.choices:
        raise UnknownName(option.name, str(value), option.option.choices, source)
    return value


NOUNS: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number"}
