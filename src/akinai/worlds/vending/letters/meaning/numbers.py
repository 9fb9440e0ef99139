"""Find the numbers of a letter and the goods of each; `roles` gives them roles."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, get_args

from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import CENTS, Mark, named_in, nearest_product
from akinai.worlds.vending.letters.words import CASES, word_set

Role = Literal[
    "none", "units", "missing", "received", "ordered", "offer", "rival", "off", "order", "quote",
]  # fmt: skip
"""What a number is: of no matter; units asked for; units of a claim; prices and per cent of a bargain; the number of an
order or a quote."""
ROLES: tuple[Role, ...] = get_args(Role)
MOST_NUMBERS = 200
"""Numbers of a letter that are judged; those after them are of no matter."""
_FAR = 20
"""Marks before a number in which a Japanese sentence names its product, at most."""
_COMPARED = 12
"""Counts before one that are compared with each other, at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """A clause, or the subject, in which numbers are judged."""

    marks: Sequence[Mark]
    kind: str
    listed: bool = False
    asks: bool = False
    subject: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A count, price or percentage, with the product that it is about."""

    row: int
    at: int
    mark: Mark
    product: GoodName | None
    named: bool = True
    """Whether its clause names the product; else it is the one named last before it."""
    role: Role = "none"
    boxed: bool = False
    """Whether a bare count is one of cases, or a price that of a case."""

    @property
    def value(self) -> int:
        """Units for a count of goods, cents a unit for a price; else per mille, or the number as it stands."""
        mark, product = self.mark, self.product
        if product is None:
            return mark.value
        if mark.kind != "count":
            return mark.value // product.case_units if self.boxed else mark.value
        if self.boxed and not mark.case and mark.value != product.case_units:
            return mark.value * product.case_units
        return mark.units_of(product)


def find_numbers(rows: Sequence[Row]) -> list[Number]:
    """The numbers of a letter, all with the role "none"."""
    numbers: list[Number] = []
    topic = named_in(rows[0].marks)
    only = topic[0] if len({*topic}) == 1 else None
    last = next((good for row in rows for good in named_in(row.marks)), None)
    for index, row in enumerate(rows):
        named = named_in(row.marks)
        for at, mark in enumerate(row.marks):
            if len(numbers) == MOST_NUMBERS:
                return numbers
            if mark.kind in ("count", "money"):
                priced = mark.kind == "money" or (row.kind == "negotiate" and mark.plain and mark.value in CENTS)
                beside = _product_priced(row.marks, at) if priced else _product_beside(row.marks, at)
                if not beside:
                    spoken_of = _claimed_before(rows, numbers, row, mark) or (only if priced else None) or last
                    back = spoken_of is not None and _goes_back(row.marks, at)
                    beside = named[0] if named and not back else spoken_of
                boxed = mark.kind == "money" and _is_of_a_case(row.marks, at)
                numbers.append(Number(index, at, mark, beside, bool(named), boxed=boxed))
            elif mark.kind in ("percent", "order", "quote"):
                numbers.append(Number(index, at, mark, None))
        aside = only is not None and row.kind not in ("negotiate", "claim", "change", "order", "ask_price")
        if named and (not aside or topic[0] in named):
            last = next((good for good in named if good in topic), named[-1])
    return numbers


def _goes_back(marks: Sequence[Mark], at: int) -> bool:
    """Whether a count is of goods named in an earlier clause: "48 of those and a dozen salads"."""
    after = marks[at + 1 : at + 2]
    return marks[at].text.endswith(" of") and any(mark.text in ("those", "them", "these", "it") for mark in after)


def _is_of_a_case(marks: Sequence[Mark], at: int) -> bool:
    """Whether a price is that of a case: "$12.00 the case", "12.00 / case of 24", "1ケース12ドル"."""
    linking = ("a", "the", "per", "each", "every", "/", "for")
    first = next((mark for mark in marks[at + 1 : at + 4] if mark.text not in linking), None)
    if first is not None and (first.text in CASES or (first.case and first.value == 1)):
        return True
    japanese = any(mark.text[0] > "\u3000" for mark in marks)
    return japanese and any(mark.case and mark.value == 1 for mark in marks[max(0, at - 1) : at])


def _claimed_before(rows: Sequence[Row], numbers: Sequence[Number], row: Row, mark: Mark) -> GoodName | None:
    """The only product for which claims gave the same count before ("please credit the six"), or two counts that differ
    by it ("ordered 48, received 42").
    """
    if mark.kind != "count" or row.kind != "claim":
        return None
    alike = [
        number
        for number in numbers
        if number.named and number.product and number.mark.kind == "count" and rows[number.row].kind == "claim"
    ]
    goods = {number.product for number in alike if (number.mark.value, number.mark.case) == (mark.value, mark.case)}
    if not goods:
        goods = {
            larger.product
            for larger, smaller in permutations(alike[-_COMPARED:], 2)
            if larger.product and larger.product is smaller.product
            if larger.value - smaller.value == mark.units_of(larger.product) > 0
        }
    return goods.pop() if len(goods) == 1 else None


def _product_beside(marks: Sequence[Mark], at: int) -> GoodName | None:
    """The product that a number is about; in Japanese the last one before it."""
    if any(mark.text[0] > "\u3000" for mark in marks):
        before = (mark.product for mark in reversed(marks[max(0, at - _FAR) : at]) if mark.product)
        return next(before, None) or nearest_product(marks, at)
    return nearest_product(marks, at)


_LINKING = word_set("for per on a an each apiece the of unit bottle can bag pack packet cup bar piece")
"""Words between a price and the product that it is for."""
_LINKED = 5
"""Marks between them, at most."""


def _product_priced(marks: Sequence[Mark], at: int) -> GoodName | None:
    """The product of a price: named after it where only linking words stand between, else before it, else after it."""
    after = next((index for index in range(at + 1, len(marks)) if marks[index].product), None)
    before = next((mark.product for mark in reversed(marks[:at]) if mark.product), None)
    if after is None or (before is not None and after - at > _LINKED):
        return before
    between = marks[at + 1 : after]
    linked = all(mark.text in _LINKING or (mark.kind == "count" and mark.value == 1) for mark in between)
    first = next(index for index, mark in enumerate(marks) if mark.kind == "money" or mark.product or index == at)
    ahead = marks[first].product is None
    return marks[after].product if before is None or (linked and (ahead or between)) else before
