"""Labelled chance, and the seeds that it begins with: practice seeds, those of sealed games, and those of training.

A number is a function of the seed and a label, never of a hidden stream.

The same arithmetic serves Python integers and NumPy `uint64` arrays, bit for bit, so a world played once and ten
thousand worlds played side by side see the same sky. The mixing step is the finaliser of splitmix64 (Steele, Lea and
Flood, 2014); words enter as 64 bits of BLAKE2b.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b, sha256
from struct import Struct
from typing import TYPE_CHECKING, Any, Literal, cast

from akinai.core.canonical import Json, canonical

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

M = 0xFFFF_FFFF_FFFF_FFFF
_GOLDEN = 0x9E37_79B9_7F4A_7C15
_MIX_1 = 0xBF58_476D_1CE4_E5B9
_MIX_2 = 0x94D0_49BB_1331_11EB


def absorb(h: Any, x: Any) -> Any:
    """Mix `x` into the state `h`; both are 64-bit words, as Python integers or as `uint64` arrays that broadcast."""
    z = (h + ((x + 1) * _GOLDEN & M)) & M
    z = ((z ^ (z >> 30)) * _MIX_1) & M
    z = ((z ^ (z >> 27)) * _MIX_2) & M
    return z ^ (z >> 31)


class Fan:
    """Words that are absorbed together, each in 128 bits of one large integer: a quarter of the time of one by one."""

    __slots__ = ("_lanes", "_mask", "_ones", "_strides")

    def __init__(self, words: Sequence[int]) -> None:
        self._lanes = Struct(f"<{'Q8x' * len(words)}")
        self._ones = self._packed([1] * len(words))
        self._mask = M * self._ones
        self._strides = self._packed([(x + 1) * _GOLDEN & M for x in words])

    def _packed(self, words: Sequence[int]) -> int:
        return int.from_bytes(self._lanes.pack(*words), "little")

    def _unpacked(self, lanes: int) -> tuple[int, ...]:
        return self._lanes.unpack(lanes.to_bytes(self._lanes.size, "little"))

    def _absorbed(self, h: int) -> int:
        mask = self._mask
        z = (h * self._ones + self._strides) & mask
        z = ((z ^ (z >> 30)) & mask) * _MIX_1 & mask
        z = ((z ^ (z >> 27)) & mask) * _MIX_2 & mask
        return (z ^ (z >> 31)) & mask

    def absorb(self, h: int) -> tuple[int, ...]:
        """`absorb(h, x)` for each of the words x, in their order."""
        return self._unpacked(self._absorbed(h))


@lru_cache(maxsize=65_536)
def word(text: str) -> int:
    """The 64-bit word that a piece of text enters chance as."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def part(x: object) -> int:
    """A part of a label as a 64-bit word: text by its digest, whole numbers as they are (negative ones wrap)."""
    if isinstance(x, str):
        return word(x)
    if isinstance(x, int):
        return x & M
    raise TypeError(f"a chance label is made of text and whole numbers, not {type(x).__name__} {x!r}")


@dataclass(frozen=True, slots=True)
class Chance:
    """A node in the tree of labels. Reading it is repeatable; `chance(*label)` is a node further out."""

    h: int

    @staticmethod
    def of(seed: int) -> "Chance":
        """The root of all chance of one seed."""
        return Chance(absorb(0, part(seed)))

    def __call__(self, *label: object) -> "Chance":
        h = self.h
        for x in label:
            h = absorb(h, word(x) if type(x) is str else part(x))
        return Chance(h)

    def uniform(self) -> float:
        """A number in [0, 1) with 53 random bits."""
        return (self.h >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """A whole number in [0, n), n at most 2^32; the bias is below n / 2^32."""
        return ((self.h >> 32) * n) >> 32

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def many(self, x: "npt.NDArray[np.uint64]") -> "npt.NDArray[np.uint64]":
        """The 64-bit words at the nodes `self(x[i])`, shape of `x`, equal to those of the scalar form."""
        import numpy as np

        return absorb(np.full(x.shape, self.h, np.uint64), x)


SEALED = "sealed"
"""In a run card: index and commitment of a sealed game, and its key once that is revealed."""
KEY_BYTES = 32
SEED_BITS = 62
"""Bits of a keyed seed: nobody plays through so many games to find one."""
LARGEST_INDEX = 2**32 - 1
SHORT = 7
"""Digits of a commitment that a label and a stand-in have."""
_STAND_INS = 1 << 60
_INDEX_BITS = 32


def commitment_of(key: bytes) -> str:
    """SHA-256 of a key in hex: what is published before the games are played."""
    return sha256(b"akinai sealed games\n" + key).hexdigest()


def seed_of(key: bytes, world: str, preset: str, index: int) -> int:
    """The seed of a sealed game: the first 62 bits of HMAC-SHA-256 over world, preset and index."""
    message = canonical([world, preset, index]).encode()
    return int.from_bytes(hmac.digest(key, message, "sha256")[:8]) >> (64 - SEED_BITS)


@dataclass(frozen=True, slots=True)
class Sealed:
    """The place of a run among the games of a key."""

    index: int
    commitment: str
    key: str | None = None
    """The key in hex, once it is revealed."""

    @staticmethod
    def of_card(card: Mapping[str, Json]) -> "Sealed | None":
        """What a run card says; None for a practice seed, which everybody knows. ValueError for a card that says it
        in another form."""
        if SEALED not in card:
            return None
        value: Any = card[SEALED]
        if not isinstance(value, Mapping):
            raise ValueError(f"its sealed game is {value!r:.60}")
        index, commitment, key = (cast("Mapping[str, Any]", value).get(name) for name in ("index", "commitment", "key"))
        if type(index) is not int or not isinstance(commitment, str) or not isinstance(key, str | None):
            raise ValueError(f"its sealed game is {value!r:.60}")
        return Sealed(index, commitment, key)

    def card(self) -> dict[str, Json]:
        """The entry of a run card."""
        return {SEALED: self.to_json()}

    def to_json(self) -> dict[str, Json]:
        """Index, commitment and, once it is revealed, the key."""
        document: dict[str, Json] = {"index": self.index, "commitment": self.commitment}
        return {**document, "key": self.key} if self.key else document

    @property
    def label(self) -> str:
        """How people read it, such as "sealed 7 of 3f9a0c1..."."""
        return f"sealed {self.index} of {self.commitment[:SHORT]}..."

    @property
    def stand_in(self) -> int:
        """A number in the place of the seed, by which runs of one game are paired: another for every key and index, in
        the order of indexes. It tells nothing of the seed, and is below 0, as no seed is."""
        return (int(self.commitment[:SHORT], 16) << _INDEX_BITS | self.index) - _STAND_INS


def seed_label(number: int) -> str:
    """A seed as tables have it, "7"; for a stand-in "sealed 7 of 3f9a0c1..."."""
    if number >= 0:
        return str(number)
    place = number + _STAND_INS
    return Sealed(place & LARGEST_INDEX, f"{place >> _INDEX_BITS:0{SHORT}x}").label


def seed_json(number: int) -> int | str:
    """A seed as documents have it: a stand-in by its label."""
    return number if number >= 0 else seed_label(number)


Split = Literal["train", "validation", "test"]
"""A pool of games for trainers."""
POOLS: tuple[Split, ...] = ("train", "validation", "test")
_POOLED, _SPLIT_AT = 1 << SEED_BITS, 60


def pooled_seed(split: Split, number: int) -> int:
    """The seed of a game of a pool, by its number. No seed belongs to two pools, to a key, or to people who write it by
    hand: bit 62 marks the pools, and the two bits below it tell them apart."""
    return _POOLED | POOLS.index(split) << _SPLIT_AT | Chance.of(number)("pool", split).h & (1 << _SPLIT_AT) - 1


def split_of(seed: int) -> Split | None:
    """The pool that a seed belongs to; None for a practice seed and for that of a sealed game."""
    place = seed >> _SPLIT_AT & 3
    return POOLS[place] if seed >> SEED_BITS == 1 and place < len(POOLS) else None
