"""Calls whose options are declared once: a function's keywords, completed from its table in `akinai.toml`.

The table has the call's name, `[run]`, and the environment has its options as `AKINAI_RUN__WINDOW`.
"""

import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from akinai.core.errors import UnknownName, UsageError
from akinai.core.options import Declaration, Record, defaults_of, expand_signature, options_of
from akinai.runtime.options import CALLS

F = TypeVar("F", bound=Callable[..., Any])
TYPE_NAMES: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number"}


def with_options(record: Record) -> Callable[[F], F]:
    """Let a function take the options of a record as its keywords: `**options: Unpack[Record]`.

    The function is called with every option; those that its caller leaves out are filled in by `complete_options`.
    TypeError for other keywords.
    """

    def decorate(function: F) -> F:
        signature = expand_signature(function, record)

        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            if unknown := keywords.keys() - signature.parameters.keys():
                name = sorted(unknown)[0]
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            options = {name: keywords.pop(name) for name in options_of(record) if name in keywords}
            if isinstance(options.get("store"), os.PathLike):
                options["store"] = os.fspath(options["store"])
            return function(*arguments, **keywords, **complete_options(record, options))

        call.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue] - `inspect.signature` reads it
        return cast("F", call)

    return decorate


def complete_options(
    record: Record, options: Mapping[str, Any], base: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """All options of a record: those of the caller, else of the environment, else of the call's table, else defaults.

    `base` replaces defaults. UsageError for a setting of another type than its option, UnknownName for one that is no
    option.
    """
    return {**defaults_of(record), **(base or {}), **call_settings(record), **options}


def given_of(record: Record, options: Mapping[str, Any]) -> list[str]:
    """The names of the options that differ from the default and from the call's settings: the caller gave these."""
    settings = call_settings(record)
    return [
        name
        for name, default in defaults_of(record).items()
        if options[name] != default and options[name] != settings.get(name, default)
    ]


def call_settings(record: Record) -> dict[str, Any]:
    """The options that `akinai.toml` and the environment set for the call of a record; the environment wins."""
    call = next((name for name in CALLS if CALLS[name] is record), None)
    if call is None:
        return {}
    from akinai.runtime.config.settings import SETTINGS_FILE, settings_file

    options = {name: option for name, option in options_of(record).items() if option.is_setting}
    table = settings_file().get(call, {})
    if not isinstance(table, dict):
        raise UsageError(f"{call} in {SETTINGS_FILE} is the table of options of that call, [{call}], not {table!r:.40}")
    values: dict[str, Any] = {}
    for name, value in cast("dict[str, Any]", table).items():
        if name not in options:
            raise UnknownName("option", name, options, f"in [{call}] of {SETTINGS_FILE}")
        values[name] = _check_value(options[name], value, f"[{call}] in {SETTINGS_FILE}")
    start = f"AKINAI_{call.upper()}__"
    for variable in sorted(os.environ):
        if variable.startswith(start):
            name = variable.removeprefix(start).lower()
            if name == "key":
                raise UsageError(
                    f"{variable} in the environment names a key, and programs that are started inherit it; unset it, "
                    "and name the file on the command line (--key FILE)"
                )
            if name not in options:
                raise UnknownName("option", name, options, f"for {variable} in the environment")
            values[name] = _parse_value(options[name], os.environ[variable], f"{variable} in the environment")
    return values


def _check_value(option: Declaration, value: Any, source: str) -> Any:
    """A value of a table, a whole number as a float where its option is one. UsageError for another type."""
    if option.option.many:
        if isinstance(value, list) and all(isinstance(part, str) for part in cast("list[Any]", value)):
            return cast("list[str]", value)
        raise UsageError(f"{source}: {option.name} is a list of texts, not {value!r:.60}")
    if option.value_type is float and type(value) is int:
        return float(value)
    if type(value) is not option.value_type:
        raise UsageError(f"{source}: {option.name} is {TYPE_NAMES.get(option.value_type, 'a text')}, not {value!r:.60}")
    return _check_choice(option, value, source)


def _parse_value(option: Declaration, text: str, source: str) -> Any:
    """A value in the environment. UsageError for text that is not of the option's type."""
    if option.option.many:
        return text.split(",")
    try:
        if option.value_type is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        return _check_choice(option, option.value_type(text), source)
    except (KeyError, ValueError):
        raise UsageError(
            f"{source}: {option.name} is {TYPE_NAMES.get(option.value_type, 'a text')}, not {text!r:.60}"
        ) from None


def _check_choice(option: Declaration, value: Any, source: str) -> Any:
    if option.option.choices and value not in option.option.choices:
        raise UnknownName(option.name, str(value), option.option.choices, source)
    return value
