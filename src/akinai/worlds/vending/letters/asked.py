"""The units that a letter asks for, and those that it only speaks of: stock, addresses, conditions, other days."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from akinai.worlds.vending.letters.amounts import agreed, counted, goods_of, sum_of
from akinai.worlds.vending.letters.goods_of_numbers import goods_below, shares
from akinai.worlds.vending.letters.intents import Items, Unclear
from akinai.worlds.vending.letters.meaning.kinds import NOTHING
from akinai.worlds.vending.letters.meaning.numbers import Number, Row, is_respective, unknown_above, unknown_at
from akinai.worlds.vending.letters.meaning.unknown import unknown_name
from akinai.worlds.vending.letters.scan import named_in, text_of
from akinai.worlds.vending.letters.tokens import MOST_UNITS, no_goods
from akinai.worlds.vending.letters.words import CASES, TOTALS, UNITS, word_set


def items_asked(rows: Sequence[Row], numbers: Sequence[Number], kind: str) -> Items:
    """The units that clauses of a kind, or else the subject, ask for; counts that contradict each other are unclear."""
    indexes = [index for index, row in enumerate(rows) if row.kind == kind]
    sure = _meant(rows, numbers, kind)
    body = _items([index for index in indexes if not rows[index].subject], rows, sure)
    items = body if body.units or body.unclear else _items(indexes, rows, sure)
    idle = {number.product.id for number in sure if number.product and asks_for_nothing(rows, sure, number)}
    return replace(items, bare=tuple(id for id in items.bare if id not in idle))


def _meant(rows: Sequence[Row], numbers: Sequence[Number], kind: str) -> list[Number]:
    """The numbers of a letter; those that ask for nothing lose their role to a count right beside the goods."""
    idle = [number for number in numbers if rows[number.row].kind == kind and asks_for_nothing(rows, numbers, number)]
    uncounted = {number.product for number in idle}
    here = [number for number in numbers if rows[number.row].kind == kind and number not in idle]
    uncounted -= {number.product for number in here if number.role == "units"}
    replacing = [number for number in here if number.product in uncounted and _is_wanted(rows, number)]
    in_order = {number.row for number in here if is_respective(rows[number.row])} if here else set[int]()
    replacing += [number for number in here if number.mark.kind == "count" and number.row in in_order]
    return [
        replace(number, role="none" if number in idle else "units") if number in idle or number in replacing else number
        for number in numbers
    ]


def _items(indexes: Sequence[int], rows: Sequence[Row], numbers: Sequence[Number]) -> Items:
    units: dict[str, list[int]] = {}
    unclear: dict[str, Unclear] = {}
    named: dict[str, None] = {}
    for index in indexes:
        here = [number for number in numbers if number.row == index and not _is_of_several(rows, number)]
        in_stock = [number for number in here if number.mark.kind == "count" and _is_in_stock(rows, number)]
        here = [number for number in here if number not in in_stock]
        if _is_mostly_idle(here) or (in_stock and not any(number.role == "units" for number in here)):
            continue  # "Water 17, cola 61, candy 33" above an order of water: a report of stock
        named.update(dict.fromkeys(product.id for product in named_in(rows[index].marks)))
        sizes = {good.id: good.case_units for number in here for good in goods_of(rows, number)}
        for id, counts in counted(rows, here, "units").items():
            if count := agreed(counts, sizes[id]):
                units.setdefault(id, []).append(count)
            else:
                unclear[id] = Unclear(id, " / ".join(f"{count} units" for count in counts))
    sums = {id: sum_of(counts) for id, counts in units.items() if id not in unclear}
    usable = {id: count for id, count in sums.items() if 0 < count <= MOST_UNITS}
    return Items(usable, tuple(id for id in named if id not in usable and id not in unclear), tuple(unclear.values()))


_NEAR, _BEGINNING = 16, 40
"""Marks on each side of a count, and marks from the beginning of its clause, that are searched for words about it."""
_LEAST_CODE = 10_000
"""The lowest bare number that is a postcode or an article's number, unless it is beside goods."""
_CODE = re.compile(r"\b(?:zip|sku|card|code|phone|tel|suite|apt|box|street|avenue|ave|road)(?: code| no\.?)?(?: :)?$")
"""Words right before a number that counts nothing."""
_PLACE = re.compile(
    r"(?:[a-z'.]+ ){1,3}(?:ave(?:nue)?|st(?:reet)?|road|rd|blvd|boulevard|lane|drive|dr|way|court|ct|plaza|square)\b"
)
"""Words right after the number of a house."""
_DELIVERED_TO = re.compile(r"\b(?:deliver\w*|ship\w*|send|sent|bring|drop)\b.* to$")
"""Words before the number of a house, or before the level to which stock is filled."""
_HELD = re.compile(r"\b(?:capacity(?: of| is| :)?|holds?)(?: at most| up to| only)?$|\b(?:can|could) hold\b")
"""Words before a count of what a machine can hold."""
_OTHERS = re.compile(
    r"(?<!\byou )\b(?:sells|sold|quoted|offers|offered|charges|charged) (?:me|us)\b"
    r"|\b(?:usual|last|previous|former|standing) order (?:was|used to)\b|\bminimum order is\b"
)
"""A clause about what others sell, or about an earlier order."""
_GONE = r"(?:out of|sold out|unavailable|not available|run out|don't have|do not have)\b"
_IN_CASE = re.compile(rf"(?:only )?if\b.*(?:{_GONE}|\b(?:under|below|less than|cheaper|drops?)\b)")
"""A clause about what is to be sent only under a condition."""
_IF_CHEAP = re.compile(r"[^.,;]*\bif (?:they|it|these|the price)\b.*\b(?:under|below|less than|cheaper|at most)\b")
"""Words after a count that is wanted only below some price."""
_OR_IN_CASE = re.compile(rf"\bor (?=.*\bif\b.*{_GONE})")
"""Words before goods that are to replace others if these are not available."""
_ANOTHER_TIME = re.compile(
    r"(?:and )?(?:next (?:week|month|time)|later) (?:we|i)(?:'ll| will| shall| plan| intend| expect)\b"
    r"|(?:and )?(?:hold|reserve|keep)\b.* for (?:next|later)\b"
)
"""A clause about what will be ordered another time."""


def asks_for_nothing(rows: Sequence[Row], numbers: Sequence[Number], number: Number) -> bool:
    """Whether a count in a clause that asks for goods asks for none: stock, an address, a condition, a total."""
    if number.mark.kind != "count":
        return False
    marks, at = rows[number.row].marks, number.at
    before, after = text_of(marks[max(0, at - _NEAR) : at]), text_of(marks[at + 1 : at + _NEAR])
    whole, beginning = f"{before} {number.mark.text} {after}".strip(), text_of(marks[:_BEGINNING])
    if any(words.match(beginning) for words in (_IN_CASE, _ANOTHER_TIME)):
        return True
    if _OTHERS.search(whole) or _HELD.search(before):
        return True
    if _IF_CHEAP.match(after):
        return True
    if _is_in_stock(rows, number) and _NEEDED.search(after):
        return True
    if (match := _OR_IN_CASE.search(whole)) and len(before) >= match.start():
        return True
    if _is_beside(rows, number):
        return False
    alone = number.mark.plain and not number.mark.worded
    if alone and (number.mark.value >= _LEAST_CODE or _CODE.search(before) or _PLACE.match(after)):
        return True
    if alone and _DELIVERED_TO.search(before):
        return True
    return (_IN_ALL.match(after) or _TOTAL.search(before)) is not None and _adds_up(numbers, number)


_IN_ALL = re.compile(
    r"(?:units|drinks|items|pieces|snacks|things)\b|in (?:all|total)\b|total\b|altogether\b|together\b|:"
)
_TOTAL = re.compile(r"\btotal(?: of| is| :)?$")
"""Words after, and before, a count of all goods together."""


def _adds_up(numbers: Sequence[Number], number: Number) -> bool:
    """Whether a count is the sum of all others in its clause, which are of several goods: "48 in all: 24 and 24"."""
    addends = [
        other for other in numbers if other.row == number.row and other is not number and other.mark.kind == "count"
    ]
    several = len({other.product for other in addends}) > 1
    return several and number.mark.value == sum(other.mark.value for other in addends)


def _is_wanted(rows: Sequence[Row], number: Number) -> bool:
    """Whether a count stands beside its goods, or after a word that asks for it: "12 in stock, need 24"."""
    before = text_of(rows[number.row].marks[max(0, number.at - 2) : number.at])
    return number.mark.kind == "count" and (_is_beside(rows, number) or _NEEDED.search(before) is not None)


_NEEDED = re.compile(r"\b(?:need|want|send|buy|require)\b")


_BETWEEN = UNITS | CASES | word_set("of the your our more additional extra x : - ( = qty quantity")
"""Words and signs that may stand between a count and its goods."""


def _is_beside(rows: Sequence[Row], number: Number) -> bool:
    """Whether a count stands right beside its goods: "24 units of cola", "cola: 24"."""
    marks, at = rows[number.row].marks, number.at
    for side in (marks[at + 1 : at + _NEAR], marks[max(0, at - _NEAR) : at][::-1]):
        first = next((mark for mark in side if mark.text not in _BETWEEN), None)
        if first is not None and first.product is not None and first.product == number.product:
            return True
    return False


_IN_STOCK = re.compile(r"(?:\S+ ){0,2}?(?:(?:are |is |still )*(?:left|remaining|in stock|on hand)\b|残|あるので|在庫)")


_STOCK = re.compile(
    r"(?:(?:current|our|in|my|the) )?(?:stock|inventory|on hand|在庫)\b(?!.*(?:\border|->|→|send|need))"
)


def _is_in_stock(rows: Sequence[Row], number: Number) -> bool:
    """Whether a count in a clause that orders tells the stock: "sandwich: 8 left", "stock now: tea 20"."""
    marks = rows[number.row].marks
    until = takewhile(lambda mark: mark.kind not in ("count", "stop"), marks[number.at + 1 : number.at + 6])
    left = _IN_STOCK.match(text_of(until))
    return (left or _STOCK.match(text_of(marks))) is not None


def _is_mostly_idle(numbers: Sequence[Number]) -> bool:
    """Whether a clause asks for some of the goods that it counts, and for fewer than it does not ask for."""
    requested = {number.product for number in numbers if number.role == "units"}
    idle = {number.product for number in numbers if number.role == "none" and number.mark.kind == "count"}
    return len(idle - requested) > len(requested) > 0


def _is_of_several(rows: Sequence[Row], number: Number) -> bool:
    """Whether a count without goods in its clause could be of several: of those named last, or in the list below.

    The last row of a table, "Total: 360", is of all.
    """
    if number.named or shares(rows, number):
        return False
    row = rows[number.row]
    if next((mark.text for mark in row.marks if mark.kind == "word"), "") in TOTALS:
        return True
    above = (goods for index in range(number.row - 1, -1, -1) if (goods := named_in(rows[index].marks)))
    return len({*(next(above, None) or goods_below(rows[number.row + 1 :]))}) > 1


def unknown_goods(rows: Sequence[Row], kind: str) -> list[str]:
    """Names, as they are written, of things that clauses of a kind count and nobody sells."""
    unknown: list[str] = []
    listed = [row for row in rows if row.kind == kind and row.listed]
    beside = any(named_in(row.marks) for row in listed)
    for index, row in enumerate(rows):
        if row.subject or row.kind not in (kind, NOTHING):
            continue
        counts = [at for at, mark in enumerate(row.marks) if mark.kind == "count"]
        names = [unknown_at(rows, index, at) for at in counts]
        below = rows[index + 1].kind if index + 1 < len(rows) else NOTHING
        if kind in (row.kind, below) and not any(names):
            names.append(unknown_above(rows, index))
            if (
                row.kind == kind and counts and row.listed and beside and not named_in(row.marks)
            ):  # "Lemonade | 24" below "Cola | 48"
                words = list(takewhile(lambda mark: mark.kind == "word", row.marks))
                names.append(unknown_name([mark for mark in words if not no_goods(mark.text)]))
        unknown += [name for name in names if name and (kind in (row.kind, below) or row.listed)]
    return list(dict.fromkeys(unknown))
