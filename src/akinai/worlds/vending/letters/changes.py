"""The change of an order that can be read in exactly one way: new units, units more or fewer, or goods taken off."""

import re
from collections.abc import Sequence

from akinai.worlds.vending.letters.meaning.numbers import Row
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.orders import goods_with_units
from akinai.worlds.vending.letters.scan import Mark, named_in, text_of
from akinai.worlds.vending.letters.tokens import MOST_UNITS

_FORMER = re.compile(r"(?:instead of|rather than|in place of|not|from|was|were|than)(?: the| our| my)?$")
"""Words before a count that was ordered before."""
_ONWARD = ("->", "→", "to", "up", "down", "に", "から")
"""Words and signs between the count that was and the one that is to be."""
_MORE = re.compile(
    r"\b(?:add|adding|more|additional|extra|another)\b|\b(?:increase|raise)\b.{0,80}\bby\b|追加|(?<!に)増やし"
)
_FEWER = re.compile(r"\b(?:fewer|less)\b|\b(?:reduce|decrease|cut|lower)\b.{0,80}\bby\b|(?<!に)減らし")
_OFF = re.compile(r"\b(?:remove|drop|cancel|take|delete|without|no longer (?:need|want))\b|外し|削除|キャンセル|取り消")
"""Words that add units, take units off, and take goods off."""

Change = tuple[dict[str, int], dict[str, int]]
"""The units that goods are changed to, and the units that come, or go where they are negative, by product id."""


def read_change(rows: Sequence[Row]) -> Change | None:
    """The change that clauses make; None where it can be read in more than one way."""
    lines = [row.marks for row in rows if row.kind in ("change", "cancel") and not row.subject]
    whole = [mark for marks in lines for mark in (*marks, Mark("stop", ";"))]
    if len({good.id for good in named_in(whole)}) == 1:
        lines = [whole]
    units: dict[str, int] = {}
    more: dict[str, int] = {}
    for marks in lines:
        if not named_in(marks):
            continue
        pairs, sign = _pairs(marks)
        if not pairs or any(good.id in units or good.id in more for good, _ in pairs):
            return None
        for good, count in pairs:
            (more if sign else units)[good.id] = count * (sign or 1)
    return (units, more) if units or more else None


def _pairs(marks: Sequence[Mark]) -> tuple[list[tuple[GoodName, int]] | None, int]:
    """The goods of a clause with their units, and whether these come (1), go (-1) or are all that is wanted (0)."""
    text = text_of(marks)
    counts = [mark for at, mark in enumerate(marks) if mark.kind == "count" and not _is_former(marks, at)]
    goods = list(dict.fromkeys(named_in(marks)))
    sign = (_MORE.search(text) is not None) - (_FEWER.search(text) is not None)
    if _OFF.search(text):
        return (None if counts else [(good, 0) for good in goods]), 0
    if len(goods) == len(counts) == 1:
        units = counts[0].units_of(goods[0])
        return ([(goods[0], units)] if 0 < units < MOST_UNITS else None), sign
    return goods_with_units([mark for mark in marks if mark.kind != "count" or mark in counts]), sign


def _is_former(marks: Sequence[Mark], at: int) -> bool:
    """Whether a count is of the order as it was: "48 instead of 24", "from 24 to 48", "24 -> 48"."""
    before, after = text_of(marks[max(0, at - 3) : at]), marks[at + 1 : at + 4]
    onward = any(mark.kind == "count" for mark in after) and any(mark.text in _ONWARD for mark in after)
    return _FORMER.search(before) is not None or onward
