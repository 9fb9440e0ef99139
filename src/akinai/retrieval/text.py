"""The tokenizer: text to the words that an index counts, for queries and documents alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TypeAlias
from unicodedata import normalize

Tokenizer: TypeAlias = Callable[[str], Sequence[str]]
"""Splits text into words, repeats kept. An index uses one tokenizer for documents and queries; SudachiPy fits too."""

TOKENIZER_NAME = "akinai-words@1"
"""The rules of `tokenize`, as recorded in a saved index. The number changes whenever the words of any text change."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001b000-\U0001b16f"
_HANGUL = "\uac00-\ud7a3"
_THAI_LAO_BURMESE_KHMER = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
_UNSPACED = f"{_HAN}{_KANA}{_HANGUL}{_THAI_LAO_BURMESE_KHMER}\u3005-\u3007"

# Python's \w omits vowel signs and points inside a word: Latin and Greek, Cyrillic, Hebrew, Arabic, the scripts of
# India.
_MARK = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0df3]"
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_PLAIN = rf"{_LETTER}+(?:{_MARK}+{_LETTER}*)*"
_JOINER = "[-'_\u2010\u2019]"
_WORD = rf"{_PLAIN}(?:(?:{_JOINER}|[.,](?<=\d.)(?=\d)){_PLAIN})*"

_SHORT = 24
"""The longest run of characters without a space whose tokens are cached."""
_SPLIT = re.compile(_JOINER)
_INVISIBLE = re.compile("[\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]")


@cache
def _piece() -> re.Pattern[str]:
    # Compiled on first use: it takes ten milliseconds, which every `akinai --help` would pay at import.
    return re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|{_WORD}")


@cache
def _han_character() -> re.Pattern[str]:
    return re.compile(f"[{_HAN}]")


def normalise(text: str) -> str:
    """Fold forms that look different but read the same: NFKC, then lower case (ＡＢＣ to abc, ﾊﾟﾝ to パン).

    Idempotent.
    """
    if text.isascii():
        return text.lower()
    return normalize("NFKC", normalize("NFKC", text).lower())


def tokenize(text: str) -> list[str]:
    """Split a text into words, repeats kept; any text with a letter or a digit gives at least one.

    - Scripts written with spaces: words. A word joined by hyphen, underscore or apostrophe gives its parts and
      the whole ("coca-cola": coca, cola, cocacola); a single letter at an apostrophe is dropped ("driver's":
      driver, drivers). 1,000 is 1000 and 2.50 stays one word.
    - Japanese, Chinese, Korean, Thai, Lao, Burmese and Khmer: the overlapping pairs of a run's characters, and each
      Han character by itself, so that 打ち合わせ and 打合せ share 打 and 合. A single character is itself.

    Equal on every Python for the characters of Unicode 14 (Python 3.11's); later letters may be split differently
    by an older Python.
    """
    tokens: list[str] = []
    for run in text.split():  # no word spans a space
        tokens += _short_run_tokens(run) if len(run) <= _SHORT else _run_tokens(run)
    return tokens


def _run_tokens(run: str) -> tuple[str, ...]:
    run = normalise(run)
    if not run.isascii():
        run = _INVISIBLE.sub("", run)
    tokens: list[str] = []
    for match in _piece().finditer(run):
        piece = match[0]
        if match.lastgroup:
            tokens.extend(_pairs(piece))
        elif piece.isalnum():
            tokens.append(piece)
        else:
            tokens.extend(_parts(piece))
    return tuple(tokens)


_short_run_tokens = lru_cache(maxsize=1 << 14)(_run_tokens)
"""Texts repeat their words; a run without spaces that is longer than a word is seldom seen twice."""


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [a + b for a, b in pairwise(run)] + _han_character().findall(run)


def _parts(piece: str) -> list[str]:
    parts = _SPLIT.split(piece.replace(",", ""))
    if len(parts) == 1:
        return parts
    whole = "".join(parts)
    if "'" in piece or "\u2019" in piece:
        parts = [part for part in parts if len(part) > 1]
    return [*parts, whole]
