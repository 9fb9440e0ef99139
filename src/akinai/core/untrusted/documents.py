"""Files that people name, judged before and after they are read: their kind, size, text, JSON and TOML. Pure."""

import codecs
import csv
import json
import re
import stat
import tomllib
from collections.abc import Iterator
from typing import Any, cast

from akinai.core.canonical import MOST_LEVELS
from akinai.core.errors import why_unreadable

MOST_BYTES = 32 * 2**20
"""Limit on a file of settings, a script, a playbook or a population."""
MOST_RECORD_BYTES = 2**30
"""Limit on a file of records, such as tasks."""

TABLES = {".csv": ",", ".tsv": "\t"}
"""The delimiter of a table by the ending of its name."""
_NOT_ON_WINDOWS = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\..*)?|.*[. ]|.*[<>:\"|?*\x00-\x1f].*",
    re.IGNORECASE | re.DOTALL,
)
_LINE = re.compile("[^\n]*\n|[^\n]+")


class DocumentError(ValueError):
    """A file or a text that is not read. The message is a clause about it, with what to do."""


def split_names(names: object) -> object:
    """The names in a text that holds commas between them, each once; any other value as it is."""
    if not isinstance(names, str):
        return names
    return [*dict.fromkeys(name for part in names.split(",") if (name := part.strip()))]


def why_unfit(mode: int, size: int, most: int = MOST_BYTES) -> str | None:
    """Why a file of this mode and size in bytes is not read; None when it is."""
    if stat.S_ISDIR(mode):
        return "it is a folder; name a file"
    if not stat.S_ISREG(mode):
        return "it is a pipe or a device; name a file"
    if size > most:
        return f"it holds {size:,} bytes and at most {most:,} are read; name a smaller file"
    return None


def why_unportable(name: str) -> str | None:
    """Why a new file or folder should not have this name, without its folder; None when it may."""
    if _NOT_ON_WINDOWS.fullmatch(name):
        return f"Windows cannot hold a file with the name {name!r:.100}; choose another name"
    return None


def decode_text(data: bytes) -> str:
    """A file's text without a byte order mark. DocumentError for what is no text in UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DocumentError("it is UTF-16; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(why_unreadable(error)) from error
    if (place := text.find("\0")) >= 0:
        raise DocumentError(f"its line {text.count(chr(10), 0, place) + 1} holds a NUL character; name a file of text")
    return text


def parse_json(text: str) -> Any:
    """The value of a JSON text. DocumentError for text that is none, and for values beyond all bounds."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise DocumentError(f"it is no JSON ({error})") from error
    except (ValueError, RecursionError) as error:
        raise DocumentError(why_unreadable(error)) from error
    _check_depth(value)
    return value


def parse_lines(text: str) -> Iterator[tuple[int, Any]]:
    """The values of JSON lines, each with its line. DocumentError names a line that is no JSON."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, parse_json(line)
            except DocumentError as error:
                raise DocumentError(f"line {number}: {error}") from error


def delimiter_of(text: str, usual: str) -> str:
    """What parts the cells of a table: the usual character, or the semicolon or tab that its head has more of, as
    spreadsheets of many countries write it."""
    head, _, _ = text.partition("\n")
    return max(usual, ";", "\t", key=head.count)


def parse_rows(text: str, delimiter: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with a head, each with its line, parted by the usual delimiter or that of its head.

    DocumentError for a row that is not of the head's length.
    """
    delimiter = delimiter_of(text, delimiter)
    rows = csv.reader(_LINE.findall(text), delimiter=delimiter, strict=True)
    try:
        head = next(rows, list[str]())
        if twice := next((name for name in head if head.count(name) > 1), None):
            raise DocumentError(f"its head names {twice!r} twice; give each column a name of its own")
        for row in rows:
            if row and len(row) != len(head):
                cells = f"{len(row)} cells under {len(head)} names; quote cells that hold {delimiter!r}"
                raise DocumentError(f"line {rows.line_num} has {cells}")
            if row:
                yield rows.line_num, dict(zip(head, row, strict=True))
    except csv.Error as error:
        raise DocumentError(f"line {rows.line_num} is no CSV ({error})") from error


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text. DocumentError for text that is none, and for values beyond all bounds."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(why_unreadable(error)) from error
    _check_depth(table)
    return table


def _check_depth(value: Any) -> None:
    """DocumentError for values nested deeper than `MOST_LEVELS`. Goes level by level, since it may be very deep."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(MOST_LEVELS):
        tables = [cast("dict[str, Any]", item) for item in level if isinstance(item, dict)]
        lists = [cast("list[Any]", item) for item in level if isinstance(item, list)]
        items = [item for table in tables for item in table.values()] + [item for inner in lists for item in inner]
        level = [item for item in items if isinstance(item, dict | list)]
    if level:
        raise DocumentError(f"it is nested deeper than {MOST_LEVELS} levels")
