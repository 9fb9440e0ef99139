"""Japanese words by SudachiPy, in their normalised forms. Needs the extra `learn`."""

import re
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from typing import Any

from akinai.core.canonical import keepable
from akinai.learning.extras import load_package
from akinai.retrieval import TOKENIZER_NAME, normalise, tokenize

LONGEST_PIECE = 10_000
"""Characters passed to SudachiPy at once; it refuses more than 49,149 bytes."""

CACHED = 1 << 16
"""Texts whose words are remembered: an index asks for words and for vectors, and there are several indexes."""

_JAPANESE = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"
)
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")
_END = re.compile("[。！？!?\n]")
_MODE = "A"
_PART = "the tokenizer SudachiWords"
_GRAMMAR = ("助詞", "助動詞", "補助記号", "空白")


class SudachiWords:
    """Splits Japanese into normalised forms, so that 打合せ and 打ち合わせ are one word; other text as `tokenize` does.

    Each Han character of a word is also a word, as in `tokenize`, so that 絵本 finds 絵. Particles, auxiliary verbs and
    signs are left out, unless a text has nothing else. Words are short, Sudachi's unit A. MissingExtra without
    SudachiPy. Not thread-safe.
    """

    def __init__(self) -> None:
        self._words = lru_cache(CACHED)(self._split)
        _dictionary()

    @property
    def name(self) -> str:
        """Identifies the tokenizer in a saved index: versions of SudachiPy and its dictionary, and `tokenize`."""
        from importlib.metadata import version

        return f"sudachi@1-{_MODE}-{version('sudachipy')}-{version('sudachidict-core')}+{TOKENIZER_NAME}"

    def __call__(self, text: str) -> Sequence[str]:
        return self._words(text)

    def _split(self, text: str) -> Sequence[str]:
        text = normalise(keepable(text))
        if not _JAPANESE.search(text):
            return tokenize(text)
        words: list[str] = []
        grammar: list[str] = []
        plain: list[str] = []
        for piece in _pieces(text):
            for morpheme in self._tokenizer.tokenize(piece):
                surface = morpheme.surface()
                if not _JAPANESE.search(surface):
                    plain.append(surface)
                    continue
                words += _flushed(plain)
                word = normalise(morpheme.normalized_form())
                group = grammar if morpheme.part_of_speech()[0] in _GRAMMAR else words
                group.append(word)
                if len(word) > 1:
                    group.extend(_HAN.findall(word))
        words += _flushed(plain)
        return words or grammar or tokenize(text)

    @cached_property
    def _tokenizer(self) -> Any:
        dictionary = _dictionary()
        create = getattr(dictionary, "tokenizer", None) or dictionary.create  # create until SudachiPy 0.6
        return create(load_package("sudachipy", _PART).SplitMode(_MODE))


@cache
def _dictionary() -> Any:
    """The dictionary, loaded once in a process (0.1 s, 70 MB)."""
    load_package("sudachidict_core", _PART)
    return load_package("sudachipy", _PART).Dictionary(dict="core")


def _flushed(plain: list[str]) -> list[str]:
    """The words of the pieces without Japanese, which are cleared."""
    words = tokenize("".join(plain)) if plain else []
    plain.clear()
    return words


def _pieces(text: str) -> list[str]:
    """The text in pieces that SudachiPy accepts, split after a sentence where possible."""
    pieces: list[str] = []
    start = 0
    while len(text) - start > LONGEST_PIECE:
        ends = [match.end() for match in _END.finditer(text, start + 1, start + LONGEST_PIECE)]
        end = ends[-1] if ends else start + LONGEST_PIECE
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]
