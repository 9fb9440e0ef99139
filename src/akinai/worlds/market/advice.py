"""Advice on buying in a market, as sentences that hold the numbers they come from: written, read back and added up.

What a sentence tells to do is worked out of its own numbers, so two sentences about one thing add up to a third.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from akinai.worlds.market.advice_on_offers import AmenityAdvice, ItemsAdvice, PriceAdvice, WaitAdvice
from akinai.worlds.market.advice_on_search import Experiment, MenuAdvice, SearchAdvice
from akinai.worlds.market.seen import Advice

__all__ = [
    "KINDS",
    "Advice",
    "AmenityAdvice",
    "Experiment",
    "ItemsAdvice",
    "MenuAdvice",
    "PriceAdvice",
    "SearchAdvice",
    "WaitAdvice",
    "added",
    "of_kind",
    "read_advice",
]

A = TypeVar("A", bound=Advice)

KINDS: Sequence[type[Advice]] = (
    AmenityAdvice, ItemsAdvice, MenuAdvice, WaitAdvice, PriceAdvice, SearchAdvice, Experiment,
)  # fmt: skip


def read_advice(text: str) -> Advice | None:
    """What a sentence advises; None for one of another wording."""
    return next((found for kind in KINDS if (found := kind.read(text)) is not None), None)


def of_kind(advice: Iterable[Advice], kind: type[A]) -> list[A]:
    """The advice of one kind, in its order."""
    return [one for one in advice if isinstance(one, kind)]


def added(old: str, new: str) -> str:
    """A sentence with another about the same thing added; the new one alone where they do not add up."""
    for kind in KINDS:
        a, b = kind.read(old), kind.read(new)
        if a is not None and b is not None:
            return a.plus(b).said()
    return new
