"""Advice on buying in a market, as sentences that hold the numbers they come from: written, read back and added up.

What a sentence tells to do is worked out of its own numbers, so two sentences about one thing add up to a third.
"""

from akinai.core.advice import Advice, Kinds, of_kind
from akinai.worlds.market.advice_on_offers import AmenityAdvice, ItemsAdvice, PriceAdvice, WaitAdvice
from akinai.worlds.market.advice_on_search import Experiment, MenuAdvice, SearchAdvice

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

KINDS = Kinds(
    AmenityAdvice, ItemsAdvice, MenuAdvice, WaitAdvice, PriceAdvice, SearchAdvice, Experiment,
)  # fmt: skip

read_advice, added = KINDS.read, KINDS.added
