"""Errors of a proposal, by its sender's menu, and the distance of its items from those of the menu."""

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

    written: str
    right: str | None
    edits: int | None = None
    """The edits between the two; None where the error is not about an item."""


def describe_error(error: ProposalError) -> ErrorText:
    """The words of a proposal, and the right ones where they are known."""
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
    """All errors of a delivered proposal, in the order of its parts."""
    faults: list[ProposalError] = []
    if members[offer.business].role != "business":
        faults.append(InvalidBusiness(offer.business))
    if members[offer.customer].role != "customer":
        faults.append(InvalidCustomer(offer.customer))
    if members[offer.business].role == "business":
        menu = prices(members[offer.business].data)
        for item in offer.proposal.items:
            price = dollars(item.unit_price)
            if item.item_name not in menu:
                faults.append(InvalidMenuItem(item.item_name, *closest(item.item_name, menu)))
            elif abs(price - menu[item.item_name]) >= TOLERANCE:
                faults.append(InvalidMenuItemPrice(item.item_name, price, menu[item.item_name]))
    if total_is_off(offer.proposal):
        faults.append(InvalidTotalPrice(dollars(offer.proposal.total_price), items_total(offer.proposal)))
    return faults


def closest(item: str, menu: Mapping[str, object]) -> tuple[str, int]:
    """The nearest item of a menu and its distance, ties by name; "" and the item's own length without a menu."""
    near = [(distance(item.lower(), name.lower()), name) for name in menu]
    edits, name = min(near, default=(len(item), ""))
    return name, edits


def menu_items(proposal: OrderProposal, menu: Set[str], fuzzy: int = 0) -> Set[str]:
    """The items of a menu that a proposal holds: to the letter, and within `fuzzy` edits in lower case."""
    return frozenset(matches(proposal, menu, fuzzy).values())


def matches(proposal: OrderProposal, menu: Set[str], fuzzy: int = 0) -> Mapping[str, str]:
    """The items of a menu by the names that a proposal gives them; names without an item are left out.

    An item matches one of the menu at most, the nearest pairs first.
    """
    names = {item.item_name for item in proposal.items}
    matched = {name: name for name in names & menu}
    if not fuzzy:
        return matched
    left, open_items = names - matched.keys(), set(menu) - matched.keys()
    pairs = sorted((distance(name.lower(), item.lower()), item, name) for name in left for item in open_items)
    for edits, item, name in pairs:
        if edits <= fuzzy and name in left and item in open_items:
            left.remove(name)
            open_items.remove(item)
            matched[name] = item
    return matched


def distance(a: str, b: str) -> int:
    """The Levenshtein distance of two texts: the fewest letters added, left out or changed.

    A column of the table is two numbers, whose bits say where it rises and falls (Myers 1999, as Hyyrö 2001 has it).
    """
    if not a:
        return len(b)
    letters: dict[str, int] = {}
    for at, letter in enumerate(a):
        letters[letter] = letters.get(letter, 0) | 1 << at
    whole, last = (1 << len(a)) - 1, 1 << (len(a) - 1)
    rises, falls, edits = whole, 0, len(a)
    for letter in b:
        same = letters.get(letter, 0)
        diagonal = (((same & rises) + rises) ^ rises) | same | falls
        right, left = falls | ~(diagonal | rises), diagonal & rises
        edits += (right & last != 0) - (left & last != 0)
        right, left = right << 1 | 1, left << 1
        rises, falls = (left | ~(diagonal | right)) & whole, right & diagonal & whole
    return edits
