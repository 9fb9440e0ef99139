"""What the sentences of a business letter do: threaten, promise, propose, agree, quote, press.

The reader is linear: each word, pair of words and piece of a word has a weight for each act. Weights and sums are whole
numbers, so every machine reads alike. docs/design/conduct.md says how they were learned.
"""

import json
import pkgutil
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np

Act = Literal[
    "threat", "refund", "quote", "volume", "propose", "assent", "pay", "goods", "price",
    "pressure", "instruction", "amenity",
]  # fmt: skip
"""A threat; a promise of money back; another supplier's price; a quantity that will be bought; a proposal on prices or
shares of a market, and an agreement to one; promises of money, goods and an own price; pressure to buy at once; an
instruction to the program that reads; an amenity that the writer has."""
Audience = Literal["supplier", "owner", "customer", "participant"]
"""Who reads the letter; a participant is one of a market."""
ACTS: Mapping[Audience, Sequence[Act]] = {
    "supplier": ("threat", "quote", "volume"),
    "owner": ("threat", "propose", "assent", "pay", "goods", "price"),
    "customer": ("threat", "refund"),
    "participant": ("pressure", "instruction", "amenity"),
}
"""The acts that are looked for in a letter."""

BUCKETS = 1 << 16
"""Features share a weight where their hashes are equal."""
_NUMBERS = (
    (
        re.compile(
            r"[$€£] ?[0-9][0-9.,]*|[0-9][0-9.]{0,9} ?(?:cents?\b|c\b|¢|dollars?\b|usd\b|bucks\b|セント|ドル)"
            r"|\b[0-9]\.[0-9]{2}\b"
        ),
        " MON ",
    ),
    (re.compile(r"[0-9][0-9.]{0,5} ?(?:%|per ?cent\b|割)"), " PCT "),
    (re.compile(r"[0-9]+(?:[.,:/-][0-9]+){0,6}"), " NUM "),
)
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[A-Z]{3}|[?!:]|[\u3040-\u30ff\u3400-\u9fff]")
MOST_TOKENS = 64
"""Tokens of a sentence that are read; those after them are not."""


def tokens(sentence: str) -> list[str]:
    """The words of a sentence in lower case, with signs for money, percentages and other numbers."""
    low = sentence.lower().replace("’", "'").replace("`", "'")
    for pattern, sign in _NUMBERS:
        low = pattern.sub(sign, low)
    return _TOKEN.findall(low)[:MOST_TOKENS]


def features(before: Sequence[str], own: Sequence[str], after: Sequence[str]) -> set[str]:
    """The features of a sentence, given as tokens, between its neighbours: its words, pairs of them and pieces of the
    longer ones, and the neighbours' words."""
    edged = ("<", *own, ">")
    marks = {*own, *(f"{first}_{second}" for first, second in pairwise(edged))}
    marks |= {f"{word}*{later}" for at, word in enumerate(own) for later in own[at + 2 : at + 5]}
    marks |= {f"p:{word}" for word in before} | {f"n:{word}" for word in after}
    for word in own:
        if len(word) > _LONG:
            edges = f"<{word}>"
            marks |= {edges[:5], *(edges[at : at + 4] for at in range(len(edges) - 3))}
    marks |= {f"_asks{own[-1:] == ['?']}", f"_first{not before}", f"_last{not after}", f"_long{min(5, len(own) // 4)}"}
    return marks


_LONG = 3
"""Words of more letters are read in pieces too."""


def buckets(marks: set[str]) -> list[int]:
    """The index of the weights of each feature."""
    return [zlib.crc32(feature.encode()) % BUCKETS for feature in marks]


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a reader."""

    table: "np.ndarray"
    """Buckets by acts, in whole numbers."""
    columns: Mapping[Act, int]
    bias: Mapping[Act, int]
    """Hundredths of natural units of log odds, for no features."""
    unit: Mapping[Act, int]
    """64 times the sum, by the root of how many features there are, that equals a natural unit of log odds."""


def render_weights(table: "np.ndarray", scales: Mapping[Act, tuple[int, int]]) -> bytes:
    """Weights of 8 bits, buckets by acts, and the bias and unit of each act, compressed."""
    return zlib.compress(json.dumps(scales).encode() + b"\n" + table.astype("i1").tobytes(), 9)


@lru_cache(maxsize=1)
def _weights() -> Weights:
    import numpy as np

    head, _, numbers = zlib.decompress(pkgutil.get_data(__package__ or "", "acts.bin") or b"").partition(b"\n")
    scales: Mapping[Act, tuple[int, int]] = json.loads(head)
    return Weights(
        np.frombuffer(numbers, "i1").reshape(BUCKETS, len(scales)),
        {act: at for at, act in enumerate(scales)},
        {act: bias for act, (bias, _) in scales.items()},
        {act: unit for act, (_, unit) in scales.items()},
    )


@lru_cache(maxsize=4096)
def acts_of(sentences: tuple[str, ...], audience: Audience) -> tuple[Mapping[Act, int], ...]:
    """For each sentence of a letter the log odds that it does each act, in hundredths of natural units.

    The last letters are cached.
    """
    weights = _weights()
    words = [(), *(tokens(sentence) for sentence in sentences), ()]
    return tuple(
        _log_odds(weights, buckets(features(*near)), audience)
        for near in zip(words, words[1:], words[2:], strict=False)
    )


def _log_odds(weights: Weights, own: list[int], audience: Audience) -> Mapping[Act, int]:
    sums = weights.table[own].sum(axis=0, dtype="i8")
    root = isqrt(len(own) << 12)  # six bits after the point
    return {
        act: weights.bias[act] + (int(sums[weights.columns[act]]) * 409600) // (root * weights.unit[act])
        for act in ACTS[audience]
    }
