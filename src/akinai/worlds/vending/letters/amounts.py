"""Add up the counts of a letter, units missing, received and changed, and find the goods of counts apart from them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from akinai.worlds.vending.letters.meaning.kinds import NOTHING
from akinai.worlds.vending.letters.meaning.numbers import Number, Role, Row
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import Mark, named_in
from akinai.worlds.vending.letters.words import word_set


@dataclass(frozen=True, slots=True)
class Shortage:
    """The units that a claim counts, by product id."""

    missing: Mapping[str, int]
    received: Mapping[str, int]
    """Units that came, for goods whose missing units the letter does not count."""


def shortage(rows: Sequence[Row], numbers: Sequence[Number]) -> Shortage:
    """The units that claims say are missing or bad; ordered units that did not come are missing."""
    claimed = [number for number in numbers if rows[number.row].kind in ("claim", NOTHING)]
    claimed = [number for number in claimed if not _totals_goods(rows, claimed, number)]
    below = [number for number in claimed if number.named or not rows[number.row].subject]
    if any(number.role in ("missing", "received", "ordered") for number in below):
        claimed = below  # "Subject: two cases absent" names no goods, and the letter does

    def counts(role: Role) -> dict[str, list[int]]:
        return counted(rows, claimed, role)

    ordered, received = counts("ordered"), dict[str, int]()
    lacking = {id: max(ordered[id]) - sum_of(came) for id, came in counts("received").items() if id in ordered}
    claimed = [number for number in claimed if not _repeats(lacking, number)]
    missing = {id: sum_of(values) for id, values in counts("missing").items() if any(values)}
    for id, values in counts("received").items():
        came = sum_of(values)
        if id not in missing and max(ordered.get(id, [came + 1])) > came:
            missing[id] = max(0, max(ordered.get(id, [0])) - came)
            received[id] = came
        elif id in missing and missing[id] == lacking.get(id):
            received[id] = came
    if not missing and not received:
        missing = {id: max(values) for id, values in ordered.items()}  # "the two cases of cola that we paid for"
    return Shortage({id: units for id, units in missing.items() if units}, received)


def by_reference(rows: Sequence[Row], numbers: Sequence[Number], kind: str) -> list[tuple[Mark | None, list[Number]]]:
    """The numbers of clauses of a kind by the order or quote that they are about: the one named last before them.

    Numbers before the first reference go with it.
    """
    groups: dict[tuple[str, int], tuple[Mark | None, list[Number]]] = {}
    current: Mark | None = None
    early: list[Number] = []
    by_position = {(number.row, number.at): number for number in numbers}
    for index, row in enumerate(rows):
        if row.kind not in (kind, NOTHING):
            continue
        own = {(mark.kind, mark.value): mark for mark in row.marks if mark.kind in ("order", "quote")}
        if len(own) == 1 and groups:  # "... and add a case of gum to order 32"
            (current,) = own.values()
        for at, mark in enumerate(row.marks):
            if mark.kind in ("order", "quote"):
                current = mark
            if row.kind != kind or (number := by_position.get((index, at))) is None:
                continue
            if current is None:
                early.append(number)
            else:
                groups.setdefault((current.kind, current.value), (current, []))[1].append(number)
    if not groups:
        return [(None, early)]
    first, *later = groups.values()
    return [(first[0], early + first[1]), *later]


def _repeats(lacking: Mapping[str, int], number: Number) -> bool:
    """Whether a count without goods in its clause says once more what was ordered less what came."""
    return (
        not number.named
        and number.role == "missing"
        and number.mark.value in (*lacking.values(), sum(lacking.values()))
    )


def _totals_goods(rows: Sequence[Row], numbers: Sequence[Number], number: Number) -> bool:
    """Whether a count beside no goods adds up what is missing of several: "the six bottles", "7 items in all"."""
    marks = rows[number.row].marks
    beside = named_in(marks[max(0, number.at - 3) : number.at + 3])
    if beside or number.role != "missing" or number.mark.kind != "count":
        return False
    missing = counted(rows, [other for other in numbers if other is not number], "missing")
    return len(missing) > 1 and number.mark.value == sum(map(sum_of, missing.values()))


def counted(rows: Sequence[Row], numbers: Sequence[Number], role: Role) -> dict[str, list[int]]:
    """The units that numbers of a role count, by product id."""
    units: dict[str, list[int]] = {}
    meant = [number for number in numbers if number.role == role and number.mark.kind == "count"]
    own = {(number.row, number.product.id) for number in meant if number.product is not None}
    for number in meant:
        for product in goods_of(rows, number):
            if product is number.product or (number.row, product.id) not in own:
                units.setdefault(product.id, []).append(replace(number, product=product).value)
    return units


def goods_of(rows: Sequence[Row], number: Number) -> Iterator[GoodName]:
    """The goods that a number counts: where they share it, those named between the counts before and after it."""
    if number.product is not None:
        yield number.product
    if not shares(rows, number):
        return
    marks = rows[number.row].marks
    counts = [at for at, mark in enumerate(marks) if mark.kind == "count"]
    after = next((at for at in counts if at > number.at), len(marks))
    before = next((at for at in reversed(counts) if at < number.at), -1)
    goods = {*named_in(marks[number.at : after])}, {*named_in(marks[before + 1 : number.at])}, {*named_in(marks)}
    shared = next((group for group in goods if len(group) > 1), set[GoodName]())
    named = named_in(marks)
    if not named:
        named = goods_above(rows[: number.row]) or goods_below(rows[number.row + 1 :])
        shared = set(named)
    yield from (product for product in dict.fromkeys(named) if product in shared - {number.product})


def sum_of(values: Sequence[int]) -> int:
    """The sum of different counts of the same goods; a total beside its parts counts once."""
    most = max(values)
    return most if sum(values) == 2 * most else sum(set(values))


def with_references(rows: Sequence[Row], numbers: Sequence[Number]) -> list[Row]:
    """The rows, with a mark of an order or a quote only for numbers that have one of these roles.

    A number without a word for it is that of a quote where the letter calls it one ("quotes 66, 67 ... 67: redo it"),
    or its clause speaks of quotes ("both quotes are approved: #66 and #67").
    """
    called = {kind: {mark.value for row in rows for mark in row.marks if _is_called(mark, kind)} for kind in _CALLED}
    read = [list(row.marks) for row in rows]
    for number in numbers:
        mark, kind = number.mark, rows[number.row].kind
        if number.role == "order" or number.role == "quote":
            other = "quote" if number.role == "order" else "order"
            elsewhere = mark.value in called[other] - called[number.role] or _speaks_of(rows[number.row], other)
            bare = not _is_called(mark, number.role)
            read[number.row][number.at] = replace(mark, kind=other if elsewhere and bare else number.role)
        elif mark.kind in ("order", "quote") and kind != NOTHING:
            read[number.row][number.at] = replace(mark, kind="number")
    return [replace(row, marks=marks) for row, marks in zip(rows, read, strict=True)]


_CALLED: Sequence[Literal["order", "quote"]] = ("order", "quote")
_ORDERS = re.compile("(?!number)[a-z]{2,}[^.]|注文|発注|納品|オーダー")
_SPOKEN_OF = {"order": re.compile("order|注文|発注|納品|オーダー"), "quote": re.compile("quot(?:e|ation)|見積")}


def _is_called(mark: Mark, kind: str) -> bool:
    """Whether a number has the word "order" or "quote" beside it."""
    return mark.kind == kind and (kind == "quote" or _ORDERS.match(mark.text) is not None)


def _speaks_of(row: Row, kind: str) -> bool:
    """Whether a clause speaks of orders alone, or of quotes alone, by the kind."""
    text = "".join(mark.text for mark in row.marks)
    return [spoken for spoken, words in _SPOKEN_OF.items() if words.search(text)] == [kind]


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
