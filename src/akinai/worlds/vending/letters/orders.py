"""The goods of an order, or of a change of one, that can be read in exactly one way.

Every count has its goods beside it, and none is left; a change gives new units, units more or fewer, or goods off it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from akinai.worlds.vending.letters.intents import Items, Unclear
from akinai.worlds.vending.letters.meaning.numbers import Row
from akinai.worlds.vending.letters.names import MOST_UNITS, GoodName, no_goods
from akinai.worlds.vending.letters.scan import Mark, named_in, text_of
from akinai.worlds.vending.letters.words import ASKING, CASES, TRANSPARENT, word_set

_PARTING = word_set(", ; / and & plus then also + と および 及び")
"""Words and signs between goods with their counts."""
_BESIDE = TRANSPARENT | word_set(
    ': - ( ) x = | . " more another order per total の を は が 数量 個数 本数 注文数 商品 品名 品目'
)
"""Words and signs that may stand between a count and its goods."""
_SHARING = word_set("each apiece ずつ 各 それぞれ")
_WANTING = re.compile(
    "order|purchas|buy|send|ship|deliver|suppl|bring|please|need|want|take|like|get|book|process|charge"
    "|注文|発注|願|送|届|購入|ください|下さい|頼"
)
"""Words with which people order."""
_STREETS = word_set("street st avenue ave road rd boulevard blvd lane drive")
"""Words after which goods are a part of an address: "50 Water Street"."""
_NO_MARK = Mark("word", "")
_HEADINGS = TRANSPARENT | word_set(": - qty no # 数量 個数 本数 注文数 商品 商品名 品名 品目")
"""Words of a line that only names goods, or only counts them."""


@dataclass(frozen=True, slots=True)
class Order:
    """The goods that a letter orders."""

    units: dict[str, int] = field(default_factory=dict[str, int])
    prices: dict[str, int] = field(default_factory=dict[str, int])
    """The lowest sum of money beside goods, in cents, by product id."""


def read_order(rows: Sequence[Row]) -> Order | None:
    """The units that a letter orders, and the prices beside them; None where it can be read in more than one way.

    Goods are those of clauses that order; where these hold none, those of lists.
    """
    subject, *body = rows
    if any(mark.kind in ("order", "quote", "percent") for row in rows for mark in row.marks):
        return None
    lines = list(_joined(body))
    if any(_speaks_of_cases(line) for line in lines):
        return None
    if not any(_WANTING.search(mark.text) for row in rows for mark in row.marks if mark.kind == "word"):
        return None  # a list that does not say what it is for
    counting = [line for line in lines if _counts(line)]
    ordering = [line for line in counting if line.kind == "order"]
    if any(line.kind != "order" and (ordering or not (line.listed or _is_bare(line))) for line in counting):
        return None
    in_cases = any(mark.case for line in counting for mark in line.marks)
    order = Order()
    for line in counting:
        pairs = goods_with_units(line.marks)
        if pairs is None or any(good.id in order.units for good, _ in pairs):
            return None
        if in_cases and any(units < good.case_units for good, units in pairs):
            return None  # "4 cases of cola and 2 water"
        order.units.update((good.id, units) for good, units in pairs)
        money = [mark.value for mark in line.marks if mark.kind == "money"]
        order.prices.update((good.id, min(money)) for good, _ in pairs if money)
    uncounted = {
        good.id for line in lines if line.kind == "order" and line not in counting for good in named_in(line.marks)
    }
    if (
        not order.units
        or not uncounted <= order.units.keys()
        or any(_has_money(line) for line in lines if line not in counting)
    ):
        return None
    return order if _agrees(subject, order) else None


def _agrees(subject: Row, order: Order) -> bool:
    """Whether the subject counts nothing, or what the letter orders."""
    if not _counts(subject):
        return True
    pairs = goods_with_units(subject.marks)
    return pairs is not None and all(order.units.get(good.id) == units for good, units in pairs)


def _counts(row: Row) -> bool:
    """Whether a clause has a count; "one" counts goods that it names."""
    named = named_in(row.marks) != []
    return any(mark.kind == "count" and (named or mark.text != "one") for mark in row.marks)


def _speaks_of_cases(row: Row) -> bool:
    """Whether a clause names cases beside no count of them: "2 water, 1 gum, all in cases"."""
    loose = any(mark.kind == "word" and mark.text in CASES for mark in row.marks)
    return loose and not any(mark.case for mark in row.marks)


def _is_bare(row: Row) -> bool:
    """Whether a line is of goods, counts and prices alone."""
    return all(mark.kind in ("name", "count", "money") or mark.text in _BESIDE | _PARTING for mark in row.marks)


def counts_nothing(row: Row) -> bool:
    """Whether a clause has a count, and names no goods."""
    return _counts(row) and not named_in(row.marks)


def _has_money(row: Row) -> bool:
    return any(mark.kind == "money" for mark in row.marks)


def _joined(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows; a line that only names goods and one that only counts them are one: "Product: Cola", "Quantity: 24"."""
    at = 0
    while at < len(rows):
        here, following = rows[at], rows[at + 1 : at + 2]
        if following and _is_half(here) and _is_half(following[0]) and _counts(here) != _counts(following[0]):
            yield Row((*here.marks, *following[0].marks), _kind_of(here, following[0]), listed=True)
            at += 1
        else:
            yield here
        at += 1


def _kind_of(first: Row, second: Row) -> str:
    return first.kind if first.kind == second.kind else "order" if "order" in (first.kind, second.kind) else first.kind


def _is_half(row: Row) -> bool:
    """Whether a line holds one name or one count, and nothing else but headings."""
    others = [mark for mark in row.marks if mark.kind not in ("name", "count")]
    return len(row.marks) - len(others) == 1 and all(mark.text in _HEADINGS for mark in others)


def goods_with_units(marks: Sequence[Mark]) -> list[tuple[GoodName, int]] | None:
    """The goods of a clause with their units, each count beside its goods; None where that is not so."""
    counts = [mark for mark in marks if mark.kind == "count"]
    goods = list(dict.fromkeys(named_in(marks)))
    if any(mark.product and then.text in _STREETS for mark, then in pairwise(marks)):
        return None
    shared = any(_is_shared(before, mark) for before, mark in pairwise((_NO_MARK, *marks)))
    if len(counts) == 1 and len(goods) > 1 and shared:
        units = [_units([counts[0]], good) for good in goods]
        return [(good, count) for good, count in zip(goods, units, strict=True) if count] if all(units) else None
    pairs: list[tuple[GoodName, int]] = []
    for part in [marks] if len(goods) == 1 else _parts(marks):
        named = list(dict.fromkeys(named_in(part)))
        numbers = [mark for mark in part if mark.kind == "count"]
        if not named and not numbers:
            continue
        if len(named) != 1 or not _stand_together(part) or not (units := _units(numbers, named[0])):
            return None
        pairs.append((named[0], units))
    return pairs if len({good for good, _ in pairs}) == len(pairs) else None


def _is_shared(before: Mark, mark: Mark) -> bool:
    """Whether a word gives a count to several goods: "24 each", not "$1.50 each"."""
    return before.kind != "money" and (mark.text in _SHARING or mark.text.startswith(("ずつ", "それぞれ", "各")))


def _parts(marks: Sequence[Mark]) -> Iterator[list[Mark]]:
    """The marks between separators; a part also ends where other goods with a count begin: "24 cola 12 chips"."""
    for run in _split(marks):
        last = max((at for at, mark in enumerate(run) if mark.product), default=-1)
        part: list[Mark] = []
        kinds: list[str] = []
        goods: set[GoodName] = set()
        for at, mark in enumerate(run):
            counted = mark.kind == "count" and kinds[-2:] == ["count", "name"] and at < last
            named = mark.product is not None and kinds[-2:] == ["name", "count"] and mark.product not in goods
            if counted or named:
                yield part
                part, kinds, goods = [], [], set()
            part.append(mark)
            kinds += [mark.kind] if mark.kind in ("name", "count") else []
            goods |= {mark.product} if mark.product else set()
        yield part


def _split(marks: Sequence[Mark]) -> Iterator[list[Mark]]:
    """The marks between words and signs that part goods; "a case" after a price counts nothing."""
    run: list[Mark] = []
    for at, mark in enumerate(marks):
        if mark.kind == "count" and mark.case and mark.value == 1 and at and marks[at - 1].kind == "money":
            continue
        if mark.text in _PARTING and mark.kind in ("word", "stop"):
            yield run
            run = []
        else:
            run.append(mark)
    yield run


def _stand_together(part: Sequence[Mark]) -> bool:
    """Whether nothing stands between a name and its counts but words that mean nothing there."""
    ends = [at for at, mark in enumerate(part) if mark.kind in ("name", "count")]
    between = part[ends[0] : ends[-1] + 1]
    return all(
        mark.kind in ("name", "count", "money") or mark.text in _BESIDE or mark.text in CASES or mark.text == ","
        for mark in between
    )


def _units(counts: Sequence[Mark], good: GoodName) -> int:
    """The units on which all counts agree, without the size of a case beside cases; 0 where they do not."""
    if len(counts) > 1 and any(mark.case for mark in counts):
        counts = [mark for mark in counts if mark.case or mark.value != good.case_units]
    units = {mark.units_of(good) for mark in counts}
    return units.pop() if len(units) == 1 and 0 < max(units) < MOST_UNITS else 0


def understand_goods(rows: Iterable[Row], kinds: Sequence[str]) -> Items:
    """The goods that clauses of some kinds name, as far as they can be understood: of each the last count beside it."""
    units: dict[str, int] = {}
    named: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for row in rows:
        if row.kind not in kinds:
            continue
        goods = list(dict.fromkeys(named_in(row.marks)))
        named.update(dict.fromkeys(good.id for good in goods))
        marks = [mark for mark in row.marks if row.kind != "ask_price" or not _is_article(mark)]
        pairs = goods_with_units(marks)
        for part in _parts(marks) if pairs is None else ():
            counts, (*_, good) = [mark for mark in part if mark.kind == "count"], [None, *named_in(part)]
            if counts and good is not None:
                units[good.id] = counts[-1].units_of(good)
            elif counts and (name := _unknown_name(part)):
                unknown[name] = None
        units.update((good.id, count) for good, count in pairs or ())
    unclear = tuple(Unclear(id, f"{count} units") for id, count in units.items() if not 0 < count <= MOST_UNITS)
    sure = {id: count for id, count in units.items() if 0 < count <= MOST_UNITS}
    return Items(sure, tuple(id for id in named if id not in units), unclear, tuple(unknown))


def _is_article(mark: Mark) -> bool:
    """Whether a count is that of "what does a salad cost?"."""
    return mark.kind == "count" and mark.value == 1 and not mark.case and not mark.text[0].isdecimal()


_MOST_WORDS = 3
"""The most words of a name of unknown goods."""


def _unknown_name(part: Sequence[Mark]) -> str:
    """The words beside a count that name no goods of the catalogue: "sprite" of "24 bottles of Sprite"."""
    at = next(at for at, mark in enumerate(part) if mark.kind == "count")
    for side in (part[at + 1 :], part[:at]):
        words = [mark.text for mark in side if mark.kind == "word" and mark.text not in _BESIDE | ASKING]
        if 0 < len(words) <= _MOST_WORDS and not any(map(no_goods, words)):
            return " ".join(words)
    return ""


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
