"""The word lists in `words.toml`, compiled to patterns."""

import pkgutil
import re
import tomllib
from functools import cache

_Lists = dict[str, dict[str, list[str | list[str]]]]


@cache
def _lists() -> _Lists:
    return tomllib.loads((pkgutil.get_data(__package__ or "", "words.toml") or b"").decode())


def pattern_text(table: str, name: str) -> str:
    """A pattern, without a group around it, that finds any entry of a list."""
    entries = [entry if isinstance(entry, str) else rf"\b(?:{'|'.join(entry)})\b" for entry in _lists()[table][name]]
    return re.sub(r"\{([a-z_]+)\}", lambda match: f"(?:{pattern_text(table, match[1])})", "|".join(entries))


def pattern(table: str, name: str) -> re.Pattern[str]:
    """Compile a list to a pattern that finds any of its entries."""
    return re.compile(pattern_text(table, name))
