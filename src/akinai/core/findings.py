"""Finding: a mistake that a ledger shows, with what was assumed and what was true."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from akinai.core.canonical import Json

Severity = Literal["minor", "serious", "grave"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""From the least to the worst."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake of one actor."""

    type: str
    """Of which kind, in snake_case: "duplicate_order"."""
    actor: str
    entries: tuple[int, ...]
    """Numbers of the entries that show it, in rising order; at least one."""
    severity: Severity
    assumed: str
    """What the actor claimed, or took for granted by what it did."""
    true: str
    """What was the case at that moment."""
    at: int
    """When, in the world's own microseconds since the epoch: the time of the last of its entries."""

    def to_json(self) -> Mapping[str, Json]:
        return {
            "type": self.type,
            "actor": self.actor,
            "entries": list(self.entries),
            "severity": self.severity,
            "assumed": self.assumed,
            "true": self.true,
            "at": self.at,
        }
