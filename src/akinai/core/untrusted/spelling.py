"""How the words and values of others appear in errors, in tables and on a terminal."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import cast

# Controls but for tab and newline, line separators, marks that turn the direction of text round, halves of pairs.
_UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of text that a spreadsheet takes for a formula."""
_MOST_BITS = 4096
"""Limit on the bits of a whole number that is spelled; Python refuses to spell one of more than 4,300 digits."""


def printable(text: str) -> str:
    """`text` with the characters that a terminal obeys, such as an escape, spelled: "\\x1b". Newlines and tabs stay."""
    return _UNSEEN.sub(_escape, text)


def plain(text: str) -> str:
    """Text as one line; control characters, which a terminal would obey, are spelled out."""
    return printable(re.sub(r"[\t\n\v\f\r]", " ", text))


def shorten(text: str, length: int) -> str:
    """Cut a text to one line of at most `length` characters."""
    text = " ".join(plain(text).split())
    return text if len(text) <= length else f"{text[: length - 3]}..."


def with_name(id: str, names: Mapping[str, str]) -> str:
    """An agent's id with its name: "shop_1 (The Corner)"."""
    return f"{id} ({name})" if (name := names.get(id)) else id


def printable_json(text: str) -> str:
    """JSON text of the same value, in which such characters are escaped as JSON does it."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def csv_line(row: Iterable[object]) -> str:
    """A row of a CSV. Text that a spreadsheet would take for a formula gets an apostrophe, characters that steer a
    terminal or turn the direction are spelled; numbers stay, and None is an empty cell."""
    spelled = [printable(cell) if isinstance(cell, str) else cell for cell in row]
    cells = [f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell for cell in spelled]
    line: str = csv.writer(_Written(), lineterminator="\r\n").writerow(cells)  # so that either character is quoted
    return line[:-2]


class _Written:
    """A file for `csv`, which returns what is written."""

    write = str


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def short_repr(value: object, width: int = 60) -> str:
    """The first `width` characters of `repr(value)`, of which no more than that is spelled."""
    text = ""
    for piece in _pieces(value, width):
        text += piece
        if len(text) >= width:
            break
    return text[:width]


def _pieces(value: object, width: int) -> Iterator[str]:
    """The parts of the text of a JSON value, in order; another value is spelled at once."""
    if isinstance(value, str):
        yield _quoted(value, width)
    elif isinstance(value, bytes):
        yield repr(value[:width])
    elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
        yield f"a whole number of {value.bit_length():,} bits"
    elif type(value) is dict:
        yield "{"
        for index, (key, item) in enumerate(islice(cast("Mapping[object, object]", value).items(), width)):
            yield ", " if index else ""
            yield from _pieces(key, width)
            yield ": "
            yield from _pieces(item, width)
        yield "}"
    elif type(value) is list:
        yield "["
        for index, item in enumerate(islice(cast("list[object]", value), width)):
            yield ", " if index else ""
            yield from _pieces(item, width)
        yield "]"
    else:
        yield repr(value)


def _quoted(text: str, width: int) -> str:
    """The first characters of the text's repr, in the quotes that the whole text gets, and its end if it fits."""
    quote = '"' if "'" in text and '"' not in text else "'"
    inner = repr(text[:width] + "'\"")[1:-4]  # with both quotes in it, single ones are written with a backslash
    return f"{quote}{inner if quote == chr(39) else inner.replace(chr(92) + chr(39), chr(39))}{quote}"


def without_password(text: str) -> str:
    """Text whose URLs name users without their passwords."""
    return re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", text)
