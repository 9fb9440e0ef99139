"""Apply a letter's corrections of its own order: "48 cola. No, make that 36.", "drop the popcorn".

A count that was taken back is never charged: where it is not plain what replaces it, the goods are unclear.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from akinai.worlds.vending.letters.amounts import agreed
from akinai.worlds.vending.letters.asked import asks_for_nothing
from akinai.worlds.vending.letters.goods_of_numbers import goods_above, shares
from akinai.worlds.vending.letters.intents import Items, Unclear
from akinai.worlds.vending.letters.meaning.kinds import NOTHING
from akinai.worlds.vending.letters.meaning.numbers import Number, Row
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import Mark, named_in
from akinai.worlds.vending.letters.tokens import MOST_UNITS
from akinai.worlds.vending.letters.words import CASES, word_set

_CORRECTING = re.compile(
    r"\b(?:no|wait|sorry|correction|corrected|rather|instead|actually|scratch|oops|make|meant|final|erratum|amended|"
    r"amendment|better|halve|hold|strike|scrap|revised|revision|edit|pardon|reduce|increase|p ?s|second thought|"
    r"you know what)\b|いえ|いや|やはり|やっぱり|訂正|失礼|間違|ではなく"
)
"""Words with which a letter begins a correction."""
_WITHIN = word_set("sorry no correction oops scratch actually meant rather")
"""The same within a clause: "48 cola, no, 36"."""
_BEGINNING = 4
"""Marks at the beginning of a clause that are searched for these words."""
_REPORTING = word_set(
    "left have has had sold sell sells selling stock hand remaining remain days day daily received arrived came week "
    "weeks got machine last shows expect ago already if would could"
)
"""Words of a clause that reports and corrects nothing, though it begins like a correction."""
_STRIKING = word_set("drop remove scratch strike forget disregard delete omit ignore skip minus")
_STRUCK = word_set("remove removed struck deleted cancelled canceled dropped omitted")
_TO_GOODS = word_set("the that those these all my our any of case cases line units")
"""Words between a word that strikes goods and the goods."""
_REPLACED = word_set("not than of by from was")
"""Words before a count that is replaced."""
_NO_COUNT = word_set("at by before after until on in slot row column item line")
"""Words before a number that counts no goods, where the clause names none."""
_SHORT = 9
"""The most marks of a clause that only says how many: "No, make that 36."."""


def corrected(items: Items, rows: Sequence[Row], numbers: Sequence[Number]) -> Items:
    """The items of an order after what later clauses of its letter correct."""
    first = next((index for index, row in enumerate(rows) if row.kind == "order" and not row.subject), len(rows))
    units = dict(items.units)
    unclear: dict[str, Unclear] = {goods.product: goods for goods in items.unclear}
    for index, row in enumerate(rows[first:], first):
        here = [number for number in numbers if number.row == index]
        if row.kind not in ("order", NOTHING, "cancel") or any(
            number.mark.kind in ("order", "quote") for number in here
        ):
            continue
        for id in _struck(row):
            if id in units and len(units) == 1:
                unclear[id] = Unclear(id, f"{units[id]} units / 0 units")
            else:
                units.pop(id, None)
        start = _start_of_correction(row, begun=index > first)
        if start is None:
            continue
        correcting = [number for number in here if number.at >= start and not asks_for_nothing(rows, here, number)]
        for product, counts in _counts(rows[: index + 1], correcting, {*units, *unclear}).items():
            count = agreed(counts, product.case_units) if counts else 0
            if not count:
                different = [count for count in counts if count != units.get(product.id)]
                count = agreed(different, product.case_units) if different else 0
            if count:
                units[product.id] = count
                unclear.pop(product.id, None)
            else:
                counted = counts or [*filter(None, [units.get(product.id)]), *(number.mark.value for number in here)]
                unclear[product.id] = Unclear(product.id, " / ".join(f"{count} units" for count in counted))
    sure = {id: count for id, count in units.items() if 0 < count <= MOST_UNITS and id not in unclear}
    return replace(items, units=sure, unclear=tuple(unclear.values()))


def _start_of_correction(row: Row, *, begun: bool) -> int | None:
    """The index of the mark at which a clause begins to correct an order, or None if it corrects nothing."""
    texts = [mark.text for mark in row.marks]
    if row.kind == "order" and any(mark.kind == "count" for mark in row.marks):
        first = next(at for at, mark in enumerate(row.marks) if mark.kind == "count")
        within = [at for at, text in enumerate(texts) if at > first and text in _WITHIN]
        if within and any(mark.kind == "count" for mark in row.marks[within[-1] :]):
            return within[-1]
    begins = begun and _CORRECTING.search(" ".join(texts[:_BEGINNING])) is not None
    return 0 if begins and (row.kind == "order" or _REPORTING.isdisjoint(texts)) else None


def _struck(row: Row) -> Iterator[str]:
    """The ids of goods that a clause takes back: "forget the jerky", "trail mix: remove", "so no cola"."""
    for at, mark in enumerate(row.marks):
        if mark.product is None:
            continue
        between = list(
            takewhile(lambda other: other.text in _TO_GOODS or other.kind == "count", reversed(row.marks[:at]))
        )
        start = at - len(between)
        before, after = row.marks[max(0, start - 1) : start], row.marks[at + 1 : at + 4]
        words = [other.text for other in before]
        strikes = any(word in _STRIKING for word in words) or any(other.text in _STRUCK for other in after)
        orders = row.kind == "order"
        none = "no" in words and not between and (orders or start <= 2) and _ends(after)
        if strikes or none or (orders and "without" in words):
            yield mark.product.id


def _ends(after: Sequence[Mark]) -> bool:
    """Whether a clause, or a part of it, ends here: "no cola, please", "no cola at all"."""
    return not after or after[0].kind == "stop" or (after[0].text == "at" and after[-1].text == "all")


def _counts(rows: Sequence[Row], numbers: Sequence[Number], ordered: Collection[str]) -> dict[GoodName, list[int]]:
    """The counts of the last row, a correction, by product.

    Bare counts belong to the goods named last before them; the counts are empty where several goods are possible.
    """
    *above, row = rows
    by_product: dict[GoodName, list[int]] = {}
    named = named_in(row.marks)
    counts = [number for number in numbers if number.mark.kind == "count" and number.mark.text != "one"]
    counts = [number for number in counts if not _is_replaced(row.marks, number.at)]
    if not named and row.kind == NOTHING:
        counts = [number for number in counts if _is_answer(row, number)]
    before = list(dict.fromkeys(goods_above(above)))
    of_a_case = any(mark.text in CASES for mark in row.marks)  # "sorry, trail mix cases hold 12"
    for index, number in enumerate(counts):
        if named:
            goods = [number.product] if number.product else []
        elif shares(rows, number):
            goods = [good for earlier in above if earlier.kind == "order" for good in named_in(earlier.marks)]
        else:
            paired = len(counts) == len(before) > 1
            goods = before[index : index + 1] if paired else before
            if len(goods) > 1:
                return {good: [] for good in goods if good.id in ordered}
        for good in dict.fromkeys(goods):
            if good.id in ordered and not (of_a_case and number.mark.value == good.case_units):
                by_product.setdefault(good, []).append(replace(number, product=good).value)
    return by_product


def _is_replaced(marks: Sequence[Mark], at: int) -> bool:
    """Whether a count is the one replaced: 12 in "24, not 12", 24 in "by 24 to 72"."""
    return any(mark.text in _REPLACED for mark in marks[max(0, at - 1) : at])


def _is_answer(row: Row, number: Number) -> bool:
    """Whether a short clause ends with a bare count: "No, make that 36."."""
    following = [mark.text for mark in row.marks[number.at + 1 :] if mark.kind != "stop"]
    before = row.marks[number.at - 1].text if number.at else ""
    return len(row.marks) <= _SHORT and not {*following} - {"please", "each"} and before not in _NO_COUNT
