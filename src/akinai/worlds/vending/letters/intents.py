"""The meaning of a letter: what it asks for, offers, orders, takes back or reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["ask", "negotiate", "order", "confirm", "change", "cancel", "claim", "complain", "thank", "other"]
Topic = Literal["prices", "quote", "terms", "order", "other"]


@dataclass(frozen=True, slots=True)
class Unclear:
    """A product whose quantity cannot be used: zero, negative, a fraction, too large, or contradictory."""

    product: str
    quantity: str
    """As the letter has it."""


@dataclass(frozen=True, slots=True)
class Items:
    """The items that a text asks for."""

    units: Mapping[str, int] = field(default_factory=dict[str, int])
    """Units by product id, in the order of first mention."""
    bare: tuple[str, ...] = ()
    """Ids of products named without a quantity."""
    unclear: tuple[Unclear, ...] = ()
    unknown: tuple[str, ...] = ()
    """Things with a quantity that are no product of the catalogue, as they were written."""

    @property
    def has_quantities(self) -> bool:
        """Whether anything has a quantity."""
        return bool(self.units or self.unclear or self.unknown)


@dataclass(frozen=True, slots=True)
class Intent:
    """One of the things that a letter wants or says."""

    kind: Kind
    items: Items = Items()
    """The goods it is about: those ordered, those of the changed order (0 of what is taken off), those whose price is
    asked or bargained for; for a claim, the units that are missing or bad."""
    topic: Topic | None = None
    """What an `ask` asks for: prices or products, a price for quantities, terms of trade, the state of an order."""
    orders: tuple[int, ...] = ()
    """The numbers of the orders that it names."""
    quotes: tuple[int, ...] = ()
    """The numbers of the quotes that it names."""
    clear: bool = True
    """Whether an order, a confirmation, a change or a cancellation can be read in exactly one way; else it gets a quote
    of the goods, which are as far as they can be understood."""
    offers: Mapping[str, int] = field(default_factory=dict[str, int])
    """Offered cents a unit, by product id; the id "" stands for the goods under discussion. For an order, the lowest
    sum of money that it names beside the goods."""
    rivals: Mapping[str, int] = field(default_factory=dict[str, int])
    """Cents a unit that another supplier is said to ask, by product id as in `offers`."""
    off_permille: int | None = None
    """The discount that it wants, per mille of the price."""
    more: Mapping[str, int] = field(default_factory=dict[str, int])
    """For a change: the units by product id that come to those of the order, or negative ones that go, where the letter
    does not say how many there are to be."""
    received: Mapping[str, int] = field(default_factory=dict[str, int])
    """For a claim: the units that came, by product id, where the letter counts those and not the missing ones."""
