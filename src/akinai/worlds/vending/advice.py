"""Advice on running the machine, as sentences that hold the numbers they come from: written, read back and added up.

What a sentence tells to do is worked out of its own numbers, so two sentences about one thing add up to a third.
"""

from akinai.core.advice import Advice, Kinds, of_kind
from akinai.worlds.vending.advice_on_business import (
    CashAdvice,
    Experiment,
    HourAdvice,
    LastOrderAdvice,
    SupplierAdvice,
    VarietyAdvice,
    VisitAdvice,
)
from akinai.worlds.vending.advice_on_goods import MarkupAdvice, PriceAdvice, SpoilAdvice, StockAdvice

__all__ = [
    "KINDS",
    "Advice",
    "CashAdvice",
    "Experiment",
    "HourAdvice",
    "LastOrderAdvice",
    "MarkupAdvice",
    "PriceAdvice",
    "SpoilAdvice",
    "StockAdvice",
    "SupplierAdvice",
    "VarietyAdvice",
    "VisitAdvice",
    "added",
    "of_kind",
    "read_advice",
]

KINDS = Kinds(
    PriceAdvice, MarkupAdvice, StockAdvice, SupplierAdvice, VarietyAdvice, VisitAdvice, HourAdvice, CashAdvice,
    LastOrderAdvice, SpoilAdvice, Experiment,
)  # fmt: skip

read_advice, added = KINDS.read, KINDS.added
