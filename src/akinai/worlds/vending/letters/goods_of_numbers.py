"""Find the goods of a number that does not stand beside them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from akinai.worlds.vending.letters.meaning.numbers import Number, Role, Row
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import named_in
from akinai.worlds.vending.letters.words import word_set

_SHARED = word_set("each apiece both every either all")
_SHARED_JA = ("各", "ずつ", "それぞれ", "全て", "とも")


def in_order(rows: Sequence[Row], numbers: Sequence[Number], role: Role) -> Iterator[Number]:
    """The numbers, each with its product where a clause lists goods and numbers of a role in the same order.

    "For tea and gum, 92 and 41" prices tea at 92 and gum at 41.
    """
    for index, row in enumerate(rows):
        here = [number for number in numbers if number.row == index]
        joined = _joined(row, here, role)
        here = [
            replace(number, role=role) if number.at in joined and number.role == "none" else number for number in here
        ]
        meant = [number for number in here if number.role == role]
        goods = list(dict.fromkeys(named_in(row.marks) or goods_above(rows[:index])))
        shared = any(number.mark.kind == "count" and shares(rows, number) for number in meant)
        if len({number.product for number in meant}) < len(meant) == len(goods) and not shared:
            here = [replace(number, product=good) for number, good in zip(meant, goods, strict=True)] + [
                number for number in here if number.role != role
            ]
        yield from here


def _joined(row: Row, numbers: Sequence[Number], role: Role) -> set[int]:
    """The positions that "and" joins to numbers of a role: the second price of "$0.92 and $0.41"."""
    ands = {at for at, mark in enumerate(row.marks) if mark.text == "and"}
    positions = {number.at for number in numbers if number.role == role and number.mark.kind == "money"}
    return {at + step for at in positions for step in (-2, 2) if at + step // 2 in ands}


def goods_above(rows: Sequence[Row]) -> list[GoodName]:
    """The goods named in the last clause that names any, or in the list that this clause ends."""
    goods: list[GoodName] = []
    for row in reversed(rows):
        goods = [*named_in(row.marks), *goods]
        if goods and not row.listed:
            break
    return goods


def goods_below(rows: Sequence[Row]) -> list[GoodName]:
    """The goods named in the next clause that names any, or in the list that this clause begins."""
    goods: list[GoodName] = []
    for row in rows:
        if goods and not row.listed:
            break
        goods += named_in(row.marks)
    return goods


def shares(rows: Sequence[Row], number: Number) -> bool:
    """Whether several goods share a count: "24 each of water and cola"."""
    marks = rows[number.row].marks
    start = number.at + 1
    if [mark.text for mark in (*marks[start : start + 1], *marks[start + 2 : start + 3])] == ["(", ")"]:
        start += 3  # "one case (24) each"
    if [mark.text for mark in marks[start : start + 2]] in (["per", "product"], ["per", "item"]):
        return True
    before, after = reversed(marks[max(0, number.at - 2) : number.at]), marks[start : start + 2]
    beside = (mark for side in (before, after) for mark in takewhile(lambda mark: mark.kind == "word", side))
    return any(mark.text in _SHARED or mark.text.startswith(_SHARED_JA) or mark.text.endswith("各") for mark in beside)
