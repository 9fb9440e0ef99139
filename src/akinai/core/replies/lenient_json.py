"""Parsing of JSON as models write it, with trailing commas, comments, and Python's quotes, True, False and None.

Nothing is evaluated, and nothing that is missing is added. Pure.
"""

import json
import math
import re
from typing import cast

from akinai.core.canonical import Json, no_constant

DEEPEST = 60
"""Levels of nesting."""

_CLOSING_FENCE = re.compile(r"[a-z-]{0,4}\s*(?:[`~]{3}\s*)?")
_SPACE = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_BARE_KEY = re.compile(r"[A-Za-z_]\w*(?=\s*:)")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LITERAL = re.compile(r"(true|True|false|False|null|None)\b")
_LITERALS: dict[str, Json] = {"true": True, "false": False, "null": None, "none": None}
_STRINGS = {quote: re.compile(rf"{quote}((?:[^{quote}\\]|\\.)*){quote}", re.DOTALL) for quote in "\"'"}
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])|\\(?:x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))|"', re.DOTALL)


class Unended(ValueError):
    """The text, or the fence around it, ended inside the value."""


class Malformed(ValueError):
    """There is no value."""

    def __init__(self, position: int) -> None:
        super().__init__(f"malformed at character {position}")
        self.position = position


def decode(text: str, start: int, *, bare_keys: bool = False) -> tuple[Json, int]:
    """The value that begins at `start`, and its end. `bare_keys` takes keys without quotes. Unended; Malformed."""
    try:
        return cast("tuple[Json, int]", _STRICT.raw_decode(text, start))
    except (ValueError, RecursionError):
        reader = _Reader(text, start, bare_keys)
        value = reader.value(0)
        return value, reader.position


# Models write raw line breaks inside texts.
_STRICT = json.JSONDecoder(parse_constant=no_constant, strict=False)


class _Reader:
    """Reads one value from a text."""

    def __init__(self, text: str, position: int, bare_keys: bool) -> None:
        self.text, self.position, self._bare_keys = text, position, bare_keys
        self._begun = False
        """Whether a key or item was read: an apostrophe in prose is not the start of an object that was cut off."""

    def value(self, depth: int) -> Json:
        match self._next():
            case "{" if depth < DEEPEST:
                return self._object(depth)
            case "[" if depth < DEEPEST:
                return self._list(depth)
            case '"' | "'":
                return self._string()
            case _:
                return self._scalar()

    def _next(self) -> str:
        """The next character that is neither white space nor in a comment."""
        space = _SPACE.match(self.text, self.position)
        assert space
        end = space.end()
        if self._begun and _CLOSING_FENCE.fullmatch(self.text, self.position):
            raise Unended
        if end >= len(self.text):
            raise Unended if self._begun else Malformed(end)
        self.position = end
        return self.text[end]

    def _object(self, depth: int) -> Json:
        self.position += 1
        fields: dict[str, Json] = {}
        while self._next() != "}":
            key = self._key()
            self._expect(":")
            self._begun = True
            fields[key] = self.value(depth + 1)
            if self._next() != "}":
                self._expect(",")
        self.position += 1
        return fields

    def _list(self, depth: int) -> Json:
        self.position += 1
        items: list[Json] = []
        while self._next() != "]":
            items.append(self.value(depth + 1))
            self._begun = True
            if self._next() != "]":
                self._expect(",")
        self.position += 1
        return items

    def _expect(self, character: str) -> None:
        if self._next() != character:
            raise Malformed(self.position)
        self.position += 1

    def _key(self) -> str:
        bare = _BARE_KEY.match(self.text, self.position) if self._bare_keys else None
        if bare is None:
            return self._string()
        self.position = bare.end()
        return bare[0]

    def _string(self) -> str:
        quote = self.text[self.position]
        if quote not in _STRINGS:
            raise Malformed(self.position)
        match = _STRINGS[quote].match(self.text, self.position)
        if match is None:
            raise Unended if self._begun or quote == '"' else Malformed(self.position)
        self.position = match.end()
        return _unescaped(match[1])

    def _scalar(self) -> Json:
        if literal := _LITERAL.match(self.text, self.position):
            self.position = literal.end()
            return _LITERALS[literal[1].lower()]
        number = _NUMBER.match(self.text, self.position)
        if number is None:
            if self._begun and self._rest_is_cut():
                raise Unended
            raise Malformed(self.position)
        self.position = number.end()
        value = json.loads(number[0])
        if isinstance(value, float) and math.isinf(value):
            raise Malformed(number.start())
        return value

    def _rest_is_cut(self) -> bool:
        """Whether a literal was cut off: "tr", "Fal", "-"."""
        remainder = self.text[self.position :].strip().rstrip("`~").strip()
        return remainder == "-" or any(
            word.startswith(remainder) for word in ("true", "false", "null", "True", "False", "None")
        )


def _unescaped(raw: str) -> str:
    """The text between a string's quotes. An escape that JSON does not have, such as \\d, keeps its backslash."""

    def written(match: re.Match[str]) -> str:
        valid, byte, point, other = match.groups()
        if valid:
            return match[0]
        if code := byte or point:
            return json.dumps(chr(min(int(code, 16), 0x10FFFF)))[1:-1]
        return {None: '\\"', "'": "'"}.get(other, f"\\\\{other}")

    return str(json.loads(f'"{_ESCAPE.sub(written, raw)}"', strict=False))
