"""Units of the wire and of the market: dollars as decimals and cents, ISO 8601 times and microseconds."""

from collections.abc import Mapping, Set
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, cast

from akinai.core.ledger import SECOND_US
from akinai.core.money import half_even_cents
from akinai.worlds.market.model import actions as a

TOLERANCE = Decimal("0.01")
"""The least difference in dollars of two prices that are not the same."""


def dollars(amount: float) -> Decimal:
    """A number of the wire as the decimal that was written."""
    return Decimal(repr(amount))


def prices(data: Mapping[str, Any]) -> dict[str, Decimal]:
    """Prices in dollars by item: a business's menu, or a customer's willingness to pay. Values that are no price are
    left out."""
    return {item: dollars(price) for item, price in _menu(data).items() if _is_price(price)}


def priced_items(data: Mapping[str, Any]) -> Set[str]:
    """The items of `prices` alone, which is faster over many menus."""
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
    """Whether the total is not the sum of the items."""
    return abs(items_total(proposal) - dollars(proposal.total_price)) >= TOLERANCE


def total_cents(proposal: a.OrderProposal) -> int:
    """The cents that a payment of the proposal books."""
    return half_even_cents(dollars(proposal.total_price))


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND_US = 1_000


def iso(at: int) -> str:
    """A time in ISO 8601 as on the wire, in UTC."""
    seconds, microseconds = divmod(at, SECOND_US)
    return f"{_second(seconds)}.{microseconds:06}+00:00" if microseconds else f"{_second(seconds)}+00:00"


@lru_cache(256)
def _second(seconds: int) -> str:
    return (EPOCH + timedelta(seconds=seconds)).isoformat().removesuffix("+00:00")


def read_time(text: str) -> int | None:
    """Parse a time in ISO 8601, UTC where it names no zone; None for any other text."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return _us(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def midnight(day: date) -> int:
    """The begin of a day, UTC."""
    return _us(datetime.combine(day, time(tzinfo=UTC)))


def _us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)
