"""Prices and totals as decimals of what was written: what they come to, and when two differ."""

from collections.abc import Mapping, Set
from decimal import Decimal
from typing import Any, cast

from akinai.core.money import half_even_cents
from akinai.worlds.market import actions as a

TOLERANCE = Decimal("0.01")
"""From this difference on, in dollars, two prices are not the same."""


def dollars(amount: float) -> Decimal:
    """A number of the wire as the decimal that was written."""
    return Decimal(repr(amount))


def prices(data: Mapping[str, Any]) -> dict[str, Decimal]:
    """A business's menu, or what a customer is willing to pay: by item, in dollars. What is no price is left out."""
    return {item: dollars(price) for item, price in _menu(data).items() if _is_price(price)}


def priced(data: Mapping[str, Any]) -> Set[str]:
    """The items alone, for those who look at many menus."""
    return {item for item, price in _menu(data).items() if _is_price(price)}


def _menu(data: Mapping[str, Any]) -> Mapping[str, Any]:
    features = data.get("menu_features")
    return cast("Mapping[str, Any]", features) if isinstance(features, Mapping) else {}


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= a.MOST_DOLLARS


def items_total(proposal: a.OrderProposal) -> Decimal:
    """The sum of a proposal's lines."""
    return sum((item.quantity * dollars(item.unit_price) for item in proposal.items), Decimal(0))


def total_is_off(proposal: a.OrderProposal) -> bool:
    """The total is not the sum of the items."""
    return abs(items_total(proposal) - dollars(proposal.total_price)) >= TOLERANCE


def total_cents(proposal: a.OrderProposal) -> int:
    """What a payment of it books."""
    return half_even_cents(dollars(proposal.total_price))
