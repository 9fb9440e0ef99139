"""Sentences that say what is wrong with settings."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError

from akinai.core.canonical import Json, bad_text
from akinai.core.untrusted.spelling import short_repr


def settings_complaint(error: ValidationError) -> str:
    """A sentence on at most three faulty settings: the path, the value found, the values that fit."""
    faults: list[str] = []
    for fault in error.errors(include_url=False, include_context=False)[:3]:
        path, message = ".".join(str(step) for step in fault["loc"][:8])[:120], fault["msg"]
        message = re.sub(r"valid dictionary or instance of \w+", "table of settings", message)
        message = f"{message[:1].lower()}{message[1:]}"
        input_text = "" if fault["type"] == "missing" else short_repr(fault["input"])
        if fault["type"] == "value_error":  # a rule of ours, which says what would fit
            message = fault["msg"].removeprefix("Value error, ")
            faults.append(f"{path} {input_text}: {message}" if path else message)
        else:
            faults.append(f"{path or 'the whole'}: {message}{f', not {input_text}' if input_text else ''}")
    return "; ".join(faults)


def unkept_in(value: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paths of texts that no store can keep, each with the reason."""
    if isinstance(value, str):
        if why := bad_text(value):
            yield path, why
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from unkept_in(item, (*path, name))
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from unkept_in(item, (*path, str(index)))
