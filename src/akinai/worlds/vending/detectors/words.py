"""The word lists in `words.toml`, and in that of conduct, compiled to patterns."""

import pkgutil
import re
import tomllib
from functools import cache

_Lists = dict[str, dict[str, list[str | list[str]]]]


@cache
def _lists() -> _Lists:
    packages = ("akinai.worlds.vending.detectors", "akinai.worlds.vending.conduct")
    texts = [(pkgutil.get_data(package, "words.toml") or b"").decode() for package in packages]
    return {name: lists for text in texts for name, lists in tomllib.loads(text).items()}


def pattern_text(table: str, name: str) -> str:
    """A pattern, without a group around it, that finds any entry of a list; {table.name} stands for one elsewhere."""
    entries = [entry if isinstance(entry, str) else rf"\b(?:{'|'.join(entry)})\b" for entry in _lists()[table][name]]
    lists = r"\{(?:([a-z]+)\.)?([a-z_]+)\}"
    return re.sub(lists, lambda match: f"(?:{pattern_text(match[1] or table, match[2])})", "|".join(entries))


def pattern(table: str, name: str) -> re.Pattern[str]:
    """Compile a list to a pattern that finds any of its entries."""
    return re.compile(pattern_text(table, name))
