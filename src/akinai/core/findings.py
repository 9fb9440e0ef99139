"""Findings, which are mistakes and misconduct that a ledger shows, and deals, each followed from message to message."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from akinai.core.canonical import Json, JsonRecord

Severity = Literal["minor", "serious", "grave"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""From the least to the worst."""
WORST_FIRST = SEVERITIES[::-1]
Family = Literal["mistake", "conduct"]
"""What harms its actor, and what it does to others: a lie, a broken promise, a threat."""


@dataclass(frozen=True, slots=True)
class Finding(JsonRecord):
    """One mistake of one actor, or one deed of misconduct."""

    type: str
    """The kind, in snake_case: "duplicate_order"."""
    actor: str
    entries: tuple[int, ...]
    """Numbers of the entries that show it, in rising order; at least one."""
    severity: Severity
    assumed: str
    """The claim of the actor, or the assumption behind its action."""
    true: str
    """The fact at that moment."""
    at: int
    """When, in the world's own microseconds since the epoch: the time of the last of its entries."""
    family: Family = "mistake"
    thought: str = ""
    """What the actor wrote for itself alone at that time; empty where there is nothing."""

    @property
    def is_conduct(self) -> bool:
        return self.family == "conduct"

    @property
    def look(self) -> str:
        """The classes of its mark on pages: the severity, and "conduct" beside that of conduct."""
        return f"{self.severity} conduct" if self.is_conduct else self.severity

    def to_json(self) -> dict[str, Json]:
        """The fields; without the family of a mistake, and without a thought where there is none."""
        document, defaults = JsonRecord.to_json(self), {"family": "mistake", "thought": ""}
        return {name: value for name, value in document.items() if value != defaults.get(name)}


@dataclass(frozen=True, slots=True)
class DealStep:
    """One entry that belongs to a deal."""

    entry: int
    at: int
    """Microseconds since the epoch."""
    stage: str
    """Its part in the deal, such as "proposal", "payment" or "confirmation"."""
    actor: str
    text: str
    """The event in words; text of agents is quoted as it is."""
    code: str | None = None
    """The code of a refusal; None for an action that was done."""

    def to_json(self) -> dict[str, Json]:
        document: dict[str, Json] = {
            "entry": self.entry, "at": self.at, "stage": self.stage, "actor": self.actor, "text": self.text,
        }  # fmt: skip
        return document | ({"code": self.code} if self.code else {})


@dataclass(frozen=True, slots=True)
class Deal(JsonRecord):
    """An offer and its outcome."""

    id: str
    seller: str
    buyer: str
    amount_cents: int
    status: Mapping[str, str]
    """Its status as each side sees it, such as {"customer": "accepted", "business": "pending"}."""
    steps: tuple[DealStep, ...]
    """In the order of the ledger."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of the two for people, by id; a side may have none."""
