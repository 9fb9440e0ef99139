"""The lists of words in the worlds' `words.toml`: patterns are compiled at their first use, so here all are."""

import re
import tomllib
from pathlib import Path

from akinai.core.untrusted.word_lists import WordLists
from together import together

WORLDS = Path(__file__).parents[2] / "src" / "akinai" / "worlds"
FILES = sorted(WORLDS.rglob("words.toml"))
LISTS = WordLists(*(".".join(("akinai", "worlds", *file.parent.relative_to(WORLDS).parts)) for file in FILES))
TABLES = [(table, name) for file in FILES for table, lists in tomllib.loads(file.read_text()).items() for name in lists]


@together(("table", "name"), TABLES)
def test_every_list_is_a_pattern(table: str, name: str) -> None:
    """It compiles, and none of its entries is the empty text, which would be found everywhere."""
    assert all(LISTS._lists[table][name])  # pyright: ignore[reportPrivateUsage]
    assert LISTS.pattern(table, name).pattern


def test_every_list_is_read() -> None:
    """By its name in the code of a world, or by another list."""
    code = "".join(file.read_text() for file in WORLDS.rglob("*.py"))
    words = "".join(file.read_text() for file in FILES)
    read = {*re.findall(r'"(\w+)"', code), *re.findall(r"\b(?:WORDS|MOODS)\.(\w+)", code)}
    unread = [name for _, name in TABLES if name not in read and not re.search(rf"[{{.]{name}\}}", words)]
    assert not unread
