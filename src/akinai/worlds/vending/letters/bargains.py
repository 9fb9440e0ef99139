"""The prices of a letter that bargains: what it offers, what others ask, and the discount that it wants."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from akinai.worlds.vending.letters.amounts import in_order
from akinai.worlds.vending.letters.meaning.numbers import Number, Row
from akinai.worlds.vending.letters.scan import named_in
from akinai.worlds.vending.letters.words import word_set

_MOST_CENTS = 2_000
"""The highest price of a unit, in cents; larger numbers are no prices."""


@dataclass(frozen=True, slots=True)
class Bargain:
    """Prices in a letter, in cents a unit by product id; "" where no product is named."""

    offers: dict[str, int] = field(default_factory=dict[str, int])
    rivals: dict[str, int] = field(default_factory=dict[str, int])
    off_permille: int | None = None


def bargain(rows: Sequence[Row], numbers: Sequence[Number]) -> Bargain:
    """Read the last price offered for each product, the lowest that rivals are said to ask, and the discount wanted."""
    prices: Bargain = Bargain()
    numbers = list(in_order(rows, numbers, "offer"))
    for number in numbers:
        bargains = rows[number.row].kind == "negotiate"
        cents = number.value if number.mark.kind == "money" else number.mark.value
        id = number.product.id if number.product else ""
        if number.role == "off" and number.mark.kind == "percent" and bargains and prices.off_permille is None:
            prices = replace(prices, off_permille=number.mark.value)
        elif (
            number.mark.kind not in ("money", "count")
            or not 0 < cents <= _MOST_CENTS
            or (number.mark.kind == "count" and _counts_goods(rows, numbers, number))
        ):
            continue
        elif number.role == "offer" and bargains and _is_matched(rows, number):
            prices.rivals[id] = min(cents, prices.rivals.get(id, cents))
        elif number.role == "offer" and bargains:
            for good in _goods_priced(rows, numbers, number):
                prices.offers[good] = cents
        elif number.role == "rival":
            prices.rivals[id] = min(cents, prices.rivals.get(id, cents))
    return prices


def _counts_goods(rows: Sequence[Row], numbers: Sequence[Number], number: Number) -> bool:
    """Whether a count is no price: goods follow it ("we would take 240 water"), or its clause has a price in money."""
    if named_in(rows[number.row].marks[number.at + 1 : number.at + 2]):
        return True
    here = [other for other in numbers if other.row == number.row and other.product == number.product]
    return any(other.mark.kind == "money" and other.role == number.role for other in here)


_MATCHES = word_set("match matches matching matched")
_TO_A_PRICE = word_set("the that this a their his her your price of rate figure offer quote")
"""Words between these and a price."""
_LISTING = word_set("and & , / or both the for as well plus")
"""Words between goods that share a price."""


def _is_matched(rows: Sequence[Row], number: Number) -> bool:
    """Whether a price is one to be matched: "Could you match 81 cents?"."""
    before = [mark.text for mark in rows[number.row].marks[max(0, number.at - 4) : number.at]]
    linked = list(takewhile(lambda text: text in _TO_A_PRICE, reversed(before)))
    return len(linked) < len(before) and before[-1 - len(linked)] in _MATCHES


def _goods_priced(rows: Sequence[Row], numbers: Sequence[Number], number: Number) -> list[str]:
    """The ids of the goods of a price: its own, and those listed with it where the clause has no other price."""
    own = number.product.id if number.product else ""
    if sum(other.role == number.role for other in numbers if other.row == number.row) > 1:
        return [own]
    groups: list[list[str]] = [[]]
    for mark in rows[number.row].marks:
        if mark.product:
            groups[-1].append(mark.product.id)
        elif mark.text not in _LISTING:
            groups.append([])
    return next((group for group in groups if own in group), [own])
