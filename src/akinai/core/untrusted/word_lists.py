"""Lists of words in a package's `words.toml`, compiled to patterns.

A list in a list holds whole words and phrases; any other text is a regular expression. A list finds any of its entries.
{name} stands for another list of its table, {table.name} for one elsewhere.
"""

import pkgutil
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, cast

_Lists = Mapping[str, Mapping[str, list[str | list[str]]]]
_LIST = re.compile(r"\{(?:([a-z]+)\.)?([a-z_]+)\}")


class WordLists:
    """The tables of several packages."""

    def __init__(self, *packages: str) -> None:
        self._packages = packages

    @cached_property
    def _lists(self) -> _Lists:
        texts = [(pkgutil.get_data(package, "words.toml") or b"").decode() for package in self._packages]
        return {name: lists for text in texts for name, lists in tomllib.loads(text).items()}

    def pattern_text(self, table: str, name: str) -> str:
        """A pattern, without a group around it, that finds any entry of a list."""
        lists = self._lists[table][name]
        entries = [entry if isinstance(entry, str) else rf"\b(?:{'|'.join(entry)})\b" for entry in lists]
        return _LIST.sub(lambda match: f"(?:{self.pattern_text(match[1] or table, match[2])})", "|".join(entries))

    def pattern_texts(self, table: str, name: str) -> list[str]:
        """The entries of a list, each as a pattern of its own."""
        return [entry if isinstance(entry, str) else "" for entry in self._lists[table][name]]

    def pattern(self, table: str, name: str) -> re.Pattern[str]:
        """A pattern that finds any entry of a list. It is compiled at its first use, which most runs never come to."""
        return cast("re.Pattern[str]", _Uncompiled(partial(self.pattern_text, table, name)))

    def table(self, table: str) -> "WordTable":
        """The lists of a table."""
        return WordTable(self, table)


class WordTable:
    """A table's patterns as attributes by the names of its lists; one that is not there raises KeyError at its use."""

    def __init__(self, lists: WordLists, table: str) -> None:
        self._lists, self._table = lists, table

    def __getattr__(self, name: str) -> re.Pattern[str]:
        pattern = re.compile(self._lists.pattern_text(self._table, name))
        setattr(self, name, pattern)
        return pattern


class _Uncompiled:
    """A pattern before its first use; from then on its attributes are those of the compiled one."""

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._text())
        for method in ("search", "match", "fullmatch", "finditer", "pattern"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


_RECORD = re.compile(r"\"[\w -]{1,40}\" ?: ?")
"""A name of a record: "price": 24."""
_KANA = "[\u3040-\u30ff\u4e00-\u9fff]"


QUOTED = re.compile(r"\"[^\"\n]{3,400}\"|(?<!\w)'[^'\n]{12,400}'(?!\w)|\u201c[^\u201d\n]{3,400}\u201d")
"""Words in quotation marks, which somebody else may have said."""


def spelt_out(text: str) -> str:
    """A text whose records and Japanese read as sentences with spaces between words, without what Japanese quotes."""
    if _RECORD.search(text):
        text = re.sub(r"[\"{}\[\]]|_(?=\w)", lambda sign: " " if sign[0] == "_" else "", text)
    text = re.sub(r"か[。.?]", "か?\n", re.sub(r"「[^」\n]{8,400}」", " ", text))
    text = text.replace("。", ".\n").replace("、", ", ")
    return re.sub(rf"(?<=[A-Za-z])(?={_KANA})|(?<={_KANA})(?=[A-Za-z])", " ", text)
