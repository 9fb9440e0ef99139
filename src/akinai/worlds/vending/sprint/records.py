"""What a weekly business keeps beside the street's: the plan, what waits for its day, and what a week brought."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
Weekday = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The standing instructions; they hold until others are given."""

    sites: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    """Products by site, a slot for each time that one is named."""
    visit: frozenset[str] = frozenset(WEEKDAYS)
    fetches: bool = True
    """Whether the employee fetches goods from the depot."""


class DatedOrder(NamedTuple):
    """An order that waits for its day."""

    number: int
    day: int
    supplier: str
    items: Mapping[str, int]


class DatedPrice(NamedTuple):
    """A price that waits for its day."""

    day: int
    product: str
    cents: int


class Counted(NamedTuple):
    """A delivery that the employee signed for and counted."""

    day: int
    order: int
    supplier: str
    missing: Mapping[str, int]
    extra: Mapping[str, int] = {}
    """Units beyond what was ordered."""
