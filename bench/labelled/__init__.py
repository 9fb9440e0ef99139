"""Labelled runs of the vending world: mistakes of coherence and their look-alikes, a table for each type.

Half of the cases are mistakes and half near misses; half of each are scripts and half are runs of the world's players
that a mutator changed. They know nothing of the detectors that are judged by them.
"""

from labelled import (
    hallucinated_delivery,
    hallucinated_supplier,
    loop_behavior,
    phantom_inventory,
    schedule_confusion,
    tool_format_degradation,
)
from labelled.cases import TYPES, Case, Labelled

TABLES = (
    schedule_confusion,
    loop_behavior,
    hallucinated_delivery,
    hallucinated_supplier,
    phantom_inventory,
    tool_format_degradation,
)
CASES: tuple[Case, ...] = tuple(case for table in TABLES for case in table.CASES)

__all__ = ["CASES", "TYPES", "Case", "Labelled"]
