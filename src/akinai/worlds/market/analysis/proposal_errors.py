"""What is wrong with a proposal, against its sender's menu; how near an item is to one of the menu."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from akinai.worlds.market.model.actions import OrderProposal
from akinai.worlds.market.model.state import Member, Offer
from akinai.worlds.market.model.units import TOLERANCE, dollars, items_total, prices, total_is_off


@dataclass(frozen=True, slots=True)
class InvalidBusiness:
    """The sender is no business."""

    business_id: str


@dataclass(frozen=True, slots=True)
class InvalidCustomer:
    """The recipient is no customer."""

    customer_id: str


@dataclass(frozen=True, slots=True)
class InvalidMenuItem:
    """An item that is not on the menu, to the letter."""

    item: str
    closest: str
    """The item of the menu with the fewest edits between them, in lower case; empty without a menu."""
    distance: int


@dataclass(frozen=True, slots=True)
class InvalidMenuItemPrice:
    """An item of the menu at another price: off by a cent or more."""

    item: str
    price: Decimal
    menu_price: Decimal


@dataclass(frozen=True, slots=True)
class InvalidTotalPrice:
    """A total that differs from the sum of its items by a cent or more."""

    total: Decimal
    sum: Decimal


ProposalError: TypeAlias = (
    InvalidBusiness | InvalidCustomer | InvalidMenuItem | InvalidMenuItemPrice | InvalidTotalPrice
)


KINDS: Mapping[str, str] = {
    "InvalidMenuItem": "invalid_menu_item",
    "InvalidMenuItemPrice": "invalid_menu_item_price",
    "InvalidTotalPrice": "invalid_total_price",
    "InvalidBusiness": "invalid_business",
    "InvalidCustomer": "invalid_customer",
}
"""The name of each kind among the figures of a report."""


@dataclass(frozen=True, slots=True)
class ErrorText:
    """An error in the columns of a table."""

    found: str
    right: str | None
    edits: int | None = None
    """Between the two, of an item."""


def describe_error(error: ProposalError) -> ErrorText:
    """What a proposal says, and what would have been right where that is known."""
    match error:
        case InvalidBusiness():
            return ErrorText(error.business_id, None)
        case InvalidCustomer():
            return ErrorText(error.customer_id, None)
        case InvalidMenuItem():
            return ErrorText(error.item, error.closest, error.distance)
        case InvalidMenuItemPrice():
            return ErrorText(f"{error.item} at {error.price}", f"at {error.menu_price}")
        case InvalidTotalPrice():
            return ErrorText(f"total {error.total}", f"total {error.sum}")


def errors(offer: Offer, members: Mapping[str, Member]) -> Sequence[ProposalError]:
    """All that is wrong with a delivered proposal, in its own order."""
    found: list[ProposalError] = []
    if members[offer.business].role != "business":
        found.append(InvalidBusiness(offer.business))
    if members[offer.customer].role != "customer":
        found.append(InvalidCustomer(offer.customer))
    if members[offer.business].role == "business":
        menu = prices(members[offer.business].data)
        for item in offer.proposal.items:
            price = dollars(item.unit_price)
            if item.item_name not in menu:
                found.append(InvalidMenuItem(item.item_name, *closest(item.item_name, menu)))
            elif abs(price - menu[item.item_name]) >= TOLERANCE:
                found.append(InvalidMenuItemPrice(item.item_name, price, menu[item.item_name]))
    if total_is_off(offer.proposal):
        found.append(InvalidTotalPrice(dollars(offer.proposal.total_price), items_total(offer.proposal)))
    return found


def closest(item: str, menu: Mapping[str, object]) -> tuple[str, int]:
    """The nearest item of a menu and its distance, ties by name; "" and the item's own length without a menu."""
    near = [(distance(item.lower(), name.lower()), name) for name in menu]
    edits, name = min(near, default=(len(item), ""))
    return name, edits


def menu_items(proposal: OrderProposal, menu: Set[str], fuzzy: int = 0) -> Set[str]:
    """The items of a menu that a proposal holds: to the letter, and within `fuzzy` edits in lower case."""
    return frozenset(matches(proposal, menu, fuzzy).values())


def matches(proposal: OrderProposal, menu: Set[str], fuzzy: int = 0) -> Mapping[str, str]:
    """By what a proposal says, the items of a menu that it means; what means none is not in it.

    An item stands for one of the menu at most, the nearest pairs first.
    """
    proposed = {item.item_name for item in proposal.items}
    held = {item: item for item in proposed & menu}
    if not fuzzy:
        return held
    left, open_items = proposed - held.keys(), set(menu) - held.keys()
    pairs = sorted((distance(text.lower(), name.lower()), name, text) for text in left for name in open_items)
    for edits, on_menu, said in pairs:
        if edits <= fuzzy and said in left and on_menu in open_items:
            left.remove(said)
            open_items.remove(on_menu)
            held[said] = on_menu
    return held


def distance(a: str, b: str) -> int:
    """The Levenshtein distance of two texts: the fewest letters added, left out or changed."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != other))
    return row[-1]
