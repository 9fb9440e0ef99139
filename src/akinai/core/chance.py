"""Labelled chance: a number is a function of the seed and a label, never of a hidden stream.

The same arithmetic serves Python integers and NumPy `uint64` arrays, bit for bit, so a world played once and ten
thousand worlds played side by side see the same sky. The mixing step is the finaliser of splitmix64 (Steele, Lea and
Flood, 2014); words enter as 64 bits of BLAKE2b.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

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


def stride(x: Any) -> Any:
    """How far `x` moves a state before it is mixed."""
    return (x + 1) * _GOLDEN & M


def absorb_all(h: int, strides: Sequence[int]) -> list[int]:
    """`absorb(h, x)` for many x, whose strides are at hand."""
    mixed: list[int] = []
    for stride in strides:
        z = (h + stride) & M
        z = ((z ^ (z >> 30)) * _MIX_1) & M
        z = ((z ^ (z >> 27)) * _MIX_2) & M
        mixed.append(z ^ (z >> 31))
    return mixed


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
    """A place in the tree of labels. Reading it is repeatable; `chance(*label)` goes to a place further out."""

    h: int

    @staticmethod
    def of(seed: int) -> "Chance":
        """The root of all chance of one seed."""
        return Chance(absorb(0, part(seed)))

    def __call__(self, *label: object) -> "Chance":
        h = self.h
        for x in label:
            h = absorb(h, part(x))
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
        """The 64-bit words at the places `self(x[i])`, shape of `x`: what the scalar form gives one by one."""
        import numpy as np

        return absorb(np.full(x.shape, self.h, np.uint64), x)
