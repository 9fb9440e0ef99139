"""The names that goods answer to, in any case, spacing, width and number."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


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
