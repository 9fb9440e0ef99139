"""Canonical JSON: one spelling for one value, so that a digest is the same on every store, machine and Python.

Sorted keys, no spaces, the shortest decimal that reads back as the same float, whole floats as integers (a database
may turn 1.0 or 1e22 into an integer, and does), no NaN, no infinities, no negative zero.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import orjson

from akinai.core.untrusted.spelling import short_repr

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
    """A value of JSON. NaN and infinities are not part of it."""
else:
    Json: TypeAlias = Any  # pydantic does not end with a type that holds itself

MOST_LEVELS = 64
"""Maximum nesting of a value that an agent sends."""
MOST_DIGITS = 1000
"""Maximum digits of a whole number that an agent sends."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNKEPT = re.compile("[\0\ud800-\udfff]")
_LARGEST = 10**MOST_DIGITS
_LEAVES = frozenset({str, int, bool, type(None)})

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
).encode


class JsonRecord:
    """A dataclass with a JSON form: its fields by their names."""

    __slots__ = ()

    def to_json(self) -> dict[str, Json]:
        return {field.name: as_json(getattr(self, field.name)) for field in fields(cast("Any", self))}


def as_json(value: Any) -> Any:
    """A value as JSON: records by their own form or their fields, tuples as lists, paths as text."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: as_json(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, Sequence):
        return [as_json(item) for item in cast("Sequence[Any]", value)]
    if hasattr(value, "to_json"):
        return value.to_json()
    return JsonRecord.to_json(cast("Any", value)) if is_dataclass(value) else str(value)


def canonical(value: Json, parts: Sequence[Json] | None = None) -> str:
    """The one spelling of `value`. Raises ValueError for NaN and infinities, TypeError for a value that is not JSON.

    `parts` are those of its parts that may hold a float, if the others are known to hold none.
    """
    if _is_plain(value) if parts is None else all(map(_is_plain, parts)):
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
        except orjson.JSONEncodeError:
            pass  # half a surrogate pair, or a whole number of more than 64 bits
    return _encode(_resettled(value))


def parse_json(text: str) -> Json:
    """Parse a JSON text that every reader reads in the same way.

    Raises ValueError for NaN, infinities and an object's repeated key, of which some readers take the first.
    """
    return _decode(text)


def _unique_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r:.60} is there twice")
    return value


def no_constant(name: str) -> None:
    """Refuse NaN and infinities: the `parse_constant` of a JSON parser. Raises ValueError."""
    raise ValueError(f"{name} is no number of JSON")


_decode = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=no_constant).decode


def settled(value: Json) -> Json:
    """`value` with whole floats as integers: what the canonical text reads back as. Itself where it has no floats."""
    return value if _is_plain(value) else _resettled(value)


def _is_plain(value: Any) -> bool:
    """Whether a value consists of plain dicts and lists without a float, which has other spellings elsewhere.

    Nearly every value in entries does.
    """
    if type(value) is dict:
        pairs: dict[object, Any] = value  # pyright: ignore[reportUnknownVariableType] - a cast is a call
        for key, item in pairs.items():
            if type(key) is not str or (type(item) not in _LEAVES and not _is_plain(item)):
                return False
        return True
    if type(value) is list:
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - a cast is a call
        for item in items:  # noqa: SIM110 - a generator takes twice as long, and every entry passes through here
            if type(item) not in _LEAVES and not _is_plain(item):
                return False
        return True
    return type(value) in _LEAVES


def _resettled(value: Json) -> Json:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {
            key if type(key) is str else _key(key): item if type(item) in _LEAVES else _resettled(item)
            for key, item in value.items()
        }
    return _list(value)


def _list(value: object) -> list[Json]:
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_resettled(item) for item in cast("Sequence[Json]", value)]
    raise TypeError(f"a value of type {type(value).__name__} is not JSON")


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    raise TypeError(f"the key {short_repr(key)} is not text; JSON has no other keys")


def unfit_in(value: Json, levels: int = MOST_LEVELS) -> str | None:
    """Why a JSON value that an agent sent cannot be kept, whatever it means; None when it can.

    Refused are NaN and infinities, whole numbers of more than 1,000 digits, and nesting deeper than 64 levels.
    """
    if value is None or isinstance(value, str):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else "is NaN or infinite, which JSON does not know"
    if isinstance(value, int):
        return None if -_LARGEST < value < _LARGEST else f"has more than {MOST_DIGITS:,} digits"
    if not levels:
        return f"is nested deeper than {MOST_LEVELS} levels"
    items = value.values() if isinstance(value, Mapping) else value
    return next((why for item in items if (why := unfit_in(item, levels - 1))), None)


def short_digest(value: Json) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a value in canonical JSON."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def bad_text(text: str) -> str | None:
    """Why `text` cannot be kept on every store: a NUL or a lone surrogate; None when it can."""
    if "\0" in text:
        return "holds a NUL character"
    if not text.isascii() and _SURROGATE.search(text):
        return "holds half of a surrogate pair, which is not text"
    return None


def keepable(text: str) -> str:
    """`text` with a mark in place of every character that no store keeps."""
    return _UNKEPT.sub("\N{REPLACEMENT CHARACTER}", text)


def bad_text_in(value: Json) -> str | None:
    """Why a text inside a JSON value, keys included, cannot be kept; None when all can."""
    if isinstance(value, str):
        return bad_text(value)
    if isinstance(value, Mapping):
        return next((why for pair in value.items() for item in pair if (why := bad_text_in(item))), None)
    if isinstance(value, Sequence):
        return next((why for item in value if (why := bad_text_in(item))), None)
    return None
