"""How rule-based players read outcomes: their own profile, businesses found, messages, orders in a text."""

import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from akinai.core.agents import View
from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.units import dollars, priced_items, prices
from akinai.worlds.market.rules.views import PROFILE

MOST_OF_ONE = 99
"""Units of one item that a request may ask for."""

_BEFORE = re.compile(r"(\d{1,2})\s*(?:x|×)?\s*[\"'‘“]?$")
_AFTER = re.compile(r"[\"'’”]?\s*(?:\(\s*(\d{1,2})\b|(?:x|×)\s*(\d{1,2})\b)")


@dataclass(frozen=True, slots=True)
class OwnProfile:
    """A player's own profile."""

    id: str
    sells: bool
    prices: Mapping[str, Decimal]
    """A business's menu, or what a customer is willing to pay for each item."""
    needs: Set[str]
    """Amenities that a customer wants."""
    has: Set[str] = frozenset()
    """Amenities of a business."""
    floor: Decimal = Decimal(1)
    """Share of its menu's prices below which a business does not sell."""


def own_profile(view: View) -> OwnProfile:
    """The profile that a view shows."""
    profile: dict[str, Any] = json.loads(view.text.partition(PROFILE)[2].split("\n", 1)[0])
    sells = "request" not in profile
    if not sells:
        needs = frozenset(cast("Sequence[str]", profile["amenity_features"]))
        return OwnProfile(profile["id"], sells, prices(profile), needs)
    factor = profile.get("min_price_factor")
    floor = dollars(factor) if isinstance(factor, int | float) and 0 <= factor <= 1 else Decimal(1)
    return OwnProfile(profile["id"], sells, prices(profile), frozenset(), _amenities(profile), floor)


def _amenities(business: Mapping[str, Any]) -> Set[str]:
    has = business.get("amenity_features")
    if not isinstance(has, Mapping):
        return frozenset()
    return {name for name, available in cast("Mapping[str, Json]", has).items() if available is True}


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message that was fetched."""

    index: int
    sender: str
    message: a.Text | a.OrderProposal | a.Payment


_KINDS: Mapping[str, type[a.Text] | type[a.OrderProposal] | type[a.Payment]] = {
    "text": a.Text,
    "order_proposal": a.OrderProposal,
    "payment": a.Payment,
}


def messages_in(outcome: Outcome) -> list[ReceivedMessage]:
    """The messages of a fetch."""
    return [
        ReceivedMessage(
            row["index"], row["from_agent_id"], _KINDS[row["message"]["type"]].model_validate(row["message"])
        )
        for row in outcome.fields.get("messages", ())
    ]


def seconds_to_wait(outcome: Outcome) -> int | None:
    """The seconds to wait that a refusal names; None where it names none."""
    return outcome.fields.get("seconds")


def sealed_s(outcome: Outcome) -> int | None:
    """Seconds until the fetched bids are opened; None where none is sealed."""
    return outcome.fields.get("sealed_s")


def has_more(outcome: Outcome) -> bool:
    """Whether a fetch left mail."""
    return bool(outcome.fields.get("has_more"))


@dataclass(frozen=True, slots=True)
class FoundBusiness:
    """A business on a page of results, by its profile."""

    id: str
    items: Set[str]
    amenities: Set[str]
    data: Mapping[str, Any]

    @property
    def prices(self) -> Mapping[str, Decimal]:
        return prices(self.data)


def results_page(outcome: Outcome) -> tuple[list[FoundBusiness], int]:
    """The businesses on a page of results, and the number of pages."""
    businesses = [_found_business(profile) for profile in outcome.fields.get("businesses", ())]
    return businesses, int(outcome.fields.get("total_pages", 0))


def _found_business(profile: Mapping[str, Any]) -> FoundBusiness:
    business = cast("Mapping[str, Any]", profile.get("business") or {})
    return FoundBusiness(profile["id"], priced_items(business), _amenities(business), business)


def orders_in(text: str, menu: Mapping[str, Decimal]) -> dict[str, int]:
    """The items of a menu that a text names, with the number of each; longer names are read first."""
    low, orders = text.lower(), dict[str, int]()
    for item in sorted(menu, key=lambda item: (-len(item), item)):
        match = re.search(rf"(?<!\w){re.escape(item.lower())}(?!\w)", low) if item.lower() in low else None
        if match:
            before, after = _BEFORE.search(low[: match.start()]), _AFTER.match(low, match.end())
            count = before[1] if before else (after[1] or after[2]) if after else "1"
            orders[item] = max(1, min(int(count), MOST_OF_ONE))
            low = low[: match.start()] + "." * (match.end() - match.start()) + low[match.end() :]
    return {item: orders[item] for item in sorted(orders)}


_NAMED = re.compile(r"\d{1,2}\s*[x×]\s*[^\W\d_]")


def lacks_items(text: str, menu: Mapping[str, Decimal]) -> bool:
    """Whether a request, written as "1 x Item, 2 x Item", names an item that a menu lacks."""
    low = text.lower()
    for item in sorted(menu, key=lambda item: (-len(item), item)):
        low = re.sub(rf"(?<!\w){re.escape(item.lower())}(?!\w)", ".", low)
    return _NAMED.search(low) is not None


def total(proposal: a.OrderProposal) -> Decimal:
    """The total price of a proposal in dollars."""
    return dollars(proposal.total_price)
