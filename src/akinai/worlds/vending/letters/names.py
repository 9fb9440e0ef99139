"""Plain characters, and the names that goods answer to, in any case, spacing, width and number; in linear time."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from akinai.worlds.vending.letters.words import NAME, NO_GOODS


@dataclass(frozen=True, slots=True)
class GoodName:
    """A product as letters name it."""

    id: str
    names: tuple[str, ...] = ()
    """Names beside the id, in any language."""
    case_units: int = 12
    category: str = ""


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The plain names of some goods."""

    goods: Mapping[str, GoodName]
    """By plain name."""
    starts: frozenset[str]
    """Every beginning of a plain name."""
    longest: int
    foreign: tuple[tuple[str, str], ...]
    """Names without Latin letters as they are written, with the product's id; longest first."""


@lru_cache(maxsize=64)
def known_names(names: tuple[GoodName, ...]) -> KnownNames:
    """The names of these goods, made ready for reading. The last sets are cached."""
    goods = {plain_name(name): good for good in names for name in (good.id, *good.names)}
    goods.pop("", None)
    foreign = {(name, good.id) for good in names for name in good.names if re.search(r"[^\x00-\u024f]", name)}
    return KnownNames(
        goods,
        frozenset(name[:end] for name in goods for end in range(1, len(name) + 1)),
        max(map(len, goods), default=0),
        tuple(sorted(foreign, key=lambda pair: (-len(pair[0]), pair))),
    )


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """A name in lower case, without differences in width, punctuation, spaces and plural endings; cached."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name).lower())
    return "".join(_singular(word) for word in words)


def _singular(word: str) -> str:
    for ending, short in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("sses", "ss")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + short
    if word.endswith("ie") and len(word) > 3:  # "cookie" and "cookies" fold to the same
        return word[:-2] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


MOST_UNITS = 100_000
"""The most units of a product in a letter."""


@dataclass(frozen=True, slots=True)
class Named:
    """A product's name."""

    product: GoodName
    text: str


def no_goods(word: str) -> bool:
    """Whether a word cannot name goods: "12 slots", "Delivery: 3"."""
    return word in NO_GOODS or len(word) < 2


_RUN = re.compile(r"[^\W_]+")
LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Every line end other than a newline."""
_PLAIN = str.maketrans(
    {
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
        **dict.fromkeys("\xa0\u2007\u2009\u202f", " "),
        "\u3000": "  ",
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\xad" + NAME, ""),
        **{"×": " x ", "✕": " x ", "−": "-", "–": " - ", "—": " - ", "―": " - "},
        **{"’": "'", "‘": "'", "“": '"', "”": '"'},
    }
)


def plain(text: str) -> str:
    """The text with one kind of space, dash, quote, x and line end, and full-width letters in their usual width."""
    return LINE_ENDS.sub("\n", text).translate(_PLAIN)


def mark_names(names: Sequence[GoodName], text: str) -> tuple[str, list[Named]]:
    """The text with a mark in place of each product's name, longest names first; and the names in their order."""
    catalog = known_names(tuple(names))
    runs = list(_RUN.finditer(text))
    pieces: list[str] = []
    occurrences: list[Named] = []
    at = done = 0
    while at < len(runs):
        joined, product, end = "", None, at
        for upto in range(at, len(runs)):
            if upto > at and not _one_name(text, runs[upto - 1], runs[upto]):
                break
            word = runs[upto][0]
            joined += plain_name(word) if len(word) <= catalog.longest + 3 else word  # a plural has up to 3 more
            if joined not in catalog.starts:
                break
            if joined in catalog.goods:
                product, end = catalog.goods[joined], upto
        start, stop = runs[at].start(), runs[end].end()
        if product is not None and not _compound(text, start, stop) and not _WET.match(text, start):
            pieces += [text[done:start], NAME]
            occurrences.append(Named(product, text[start:stop]))
            done = stop
            at = end
        at += 1
    return "".join((*pieces, text[done:])), occurrences


def _one_name(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    """Whether two words can be parts of one name: "iced tea", "energy_drink", "Dr. Pepper"."""
    between = text[left.end() : right.start()]
    if len(between) > 3 or "\n" in between:
        return False
    return between.strip() in ("", "-", "_", "'", "&") or (between.strip() == "." and len(left[0]) <= 3)


_WET = re.compile(
    r"water(?: damage\b|-damaged\b|[ -]stain|[ -]?logged|[ -]marks)|(?<=(?:ing|ked) in )water\b", re.IGNORECASE
)
""""Water" that names a damage to goods, not goods."""


def _compound(text: str, start: int, stop: int) -> bool:
    """Whether a name is part of a longer word: "water-cooler", "www.water.com", "non-water"."""
    before, after = text[max(start - 2, 0) : start], text[stop : stop + 2]
    glued_after = (
        len(after) == 2 and after[0] in "-_." and after[1].isalpha() and (after[0] != "." or after[1].islower())
    )
    return glued_after or (len(before) == 2 and before[1] in "-_" and before[0].isalpha())
