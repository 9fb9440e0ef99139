"""What is wrong with settings, in sentences."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError

from akinai.core.canonical import Json, bad_text
from akinai.core.untrusted.spelling import shown


def settings_complaint(error: ValidationError) -> str:
    """What is wrong with at most three settings, in a sentence: where, what was found, what would fit."""
    faults: list[str] = []
    for fault in error.errors(include_url=False, include_context=False)[:3]:
        where, message = ".".join(str(step) for step in fault["loc"][:8])[:120], fault["msg"]
        message = re.sub(r"valid dictionary or instance of \w+", "table of settings", message)
        message = f"{message[:1].lower()}{message[1:]}"
        found = "" if fault["type"] == "missing" else shown(fault["input"])
        if fault["type"] == "value_error":  # a rule of ours, which says what would fit
            message = fault["msg"].removeprefix("Value error, ")
            faults.append(f"{where} {found}: {message}" if where else message)
        else:
            faults.append(f"{where or 'the whole'}: {message}{f', not {found}' if found else ''}")
    return "; ".join(faults)


def unkept_in(value: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The settings that hold text that no store keeps, and why."""
    if isinstance(value, str):
        if why := bad_text(value):
            yield path, why
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from unkept_in(item, (*path, name))
    elif isinstance(value, Sequence):
        for place, item in enumerate(value):
            yield from unkept_in(item, (*path, str(place)))
