"""Labelled runs of the vending world: mistakes of coherence and their look-alikes, a table for each type.

Half of the cases are mistakes and half near misses; half of each are scripts and half are runs of the world's players
that a mutator changed. They know nothing of the detectors that are judged by them.
"""

from labelled import (
    cash_flow_error,
    cash_misremembered,
    duplicate_order,
    forgotten_order,
    hallucinated_delivery,
    hallucinated_supplier,
    inventory_tracking,
    loop_behavior,
    phantom_inventory,
    price_inconsistency,
    schedule_confusion,
    tangential_meltdown,
    task_abandonment,
    tool_format_degradation,
)
from labelled.cases import TYPES, Case, Labelled

TABLES = (
    duplicate_order,
    forgotten_order,
    inventory_tracking,
    price_inconsistency,
    schedule_confusion,
    loop_behavior,
    cash_flow_error,
    hallucinated_delivery,
    hallucinated_supplier,
    cash_misremembered,
    phantom_inventory,
    tool_format_degradation,
    tangential_meltdown,
    task_abandonment,
)
CASES: tuple[Case, ...] = tuple(case for table in TABLES for case in table.CASES)

__all__ = ["CASES", "TYPES", "Case", "Labelled"]
