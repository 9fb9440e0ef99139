"""Canonical JSON: one spelling for one value, so that a digest is the same on every store, machine and Python.

Sorted keys, no spaces, the shortest decimal that reads back as the same float, whole floats as integers (a database
may turn 1.0 or 1e22 into an integer, and does), no NaN, no infinities, no negative zero.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""What JSON can hold. NaN and infinities are not part of it."""

_SURROGATE = re.compile("[\ud800-\udfff]")

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
).encode


def canonical(value: Json) -> str:
    """The one spelling of `value`. Raises ValueError for NaN and infinities, TypeError for what is not JSON."""
    return _encode(settled(value))


def settled(value: Json) -> Json:
    """`value` with whole floats as integers; what the canonical text reads back as."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {key: settled(item) for key, item in value.items()}
    return [settled(item) for item in value]


def bad_text(text: str) -> str | None:
    """Why `text` cannot be kept on every store: a NUL or a lone surrogate; None when it can."""
    if "\0" in text:
        return "holds a NUL character"
    if not text.isascii() and _SURROGATE.search(text):
        return "holds half of a surrogate pair, which is not text"
    return None


def bad_text_in(value: Json) -> str | None:
    """The same for every text inside a JSON value, keys included."""
    if isinstance(value, str):
        return bad_text(value)
    if isinstance(value, Mapping):
        return next((why for pair in value.items() for item in pair if (why := bad_text_in(item))), None)
    if isinstance(value, Sequence):
        return next((why for item in value if (why := bad_text_in(item))), None)
    return None
