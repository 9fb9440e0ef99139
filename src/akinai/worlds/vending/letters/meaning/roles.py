"""Judge the role of every number of a letter: what it counts, prices or takes off.

A number is judged by the words before and after it, far and near, the clauses around its own, and what it is beside the
other numbers for the same goods (Zeng et al., 2015, "Distant Supervision for Relation Extraction via Piecewise
Convolutional Neural Networks", EMNLP, pool a sentence in parts as this does). `docs/design/letters.md`
says how the weights were learned.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, takewhile, zip_longest
from typing import TYPE_CHECKING

from akinai.worlds.vending.letters.meaning.kinds import KINDS, NOTHING
from akinai.worlds.vending.letters.meaning.network import Weights, packaged, responses
from akinai.worlds.vending.letters.meaning.numbers import CENTS, ROLES, Number, Role, Row, find_numbers
from akinai.worlds.vending.letters.scan import Mark, named_in
from akinai.worlds.vending.letters.words import CASES, word_set

if TYPE_CHECKING:
    import numpy as np

_OF_KINDS: Mapping[str, frozenset[Role]] = {
    "order": frozenset({"units"}),
    "ask_price": frozenset({"units"}),
    "claim": frozenset({"missing", "received", "ordered"}),
    "none": frozenset({"received", "ordered", "rival"}),
    "negotiate": frozenset({"offer", "rival", "off"}),
    "complain": frozenset({"rival"}),
}
"""The roles of numbers in clauses of a kind; everywhere one can be of no matter, or that of an order or a quote."""
_OF_MARKS: Mapping[str, frozenset[Role]] = {
    "money": frozenset({"offer", "rival"}),
    "percent": frozenset({"off"}),
    "order": frozenset({"order", "quote"}),
    "quote": frozenset({"order", "quote"}),
    "count": frozenset(ROLES) - {"off"},
}


_BARE = re.compile(r"(?:#|№|no\.?|nr\.?|number)? ?[0-9]+ ?[番号]*")
"""The number of an order or a quote without the word for it."""


def can_be(kind: str, mark: Mark) -> list[bool]:
    """Whether a mark in a clause of a kind can have each role, in the order of `ROLES`."""
    possible = {"order", "quote"} | _OF_KINDS.get(kind, frozenset())
    if mark.kind == "count" and not (mark.plain and mark.value in CENTS):
        possible -= {"offer", "rival"}
    if mark.kind == "count" and (not mark.plain or mark.worded):
        possible -= {"order", "quote"}
    if mark.kind == "quote":
        possible.discard("order")
    if mark.kind == "order" and not _BARE.fullmatch(mark.text):
        possible.discard("quote")
    if mark.text == "one" and not mark.case and kind not in ("claim", "change"):
        possible.clear()
    if kind == "ask_price" and mark.value == 1 and not mark.case:
        possible.discard("units")  # "What does a salad cost?"
    return [role == "none" or (role in possible and role in _OF_MARKS[mark.kind]) for role in ROLES]


HERE = "HERE"
"""The token of the number that is judged."""
PARTS = 7
"""Texts in which a number is judged."""
_FAR, _NEAR = 20, 5
"""Tokens on each side of a number that the network reads."""
_BOUNDS = (0, 1, 5, 11, 12, 23, 24, 48, 96)
_TOKENS = {"money": "MON", "percent": "PCT", "order": "ORD", "quote": "QUO", "number": "NUM", "name": "§"}


def with_roles(rows: Sequence[Row]) -> list[Number]:
    """The numbers of a letter with their roles, judged with the weights in the package."""
    import numpy as np

    numbers = find_numbers(rows)
    if not numbers:
        return []
    table = scores(rows, numbers, weights())
    for column in _columns(rows, numbers):
        table[column] = table[column].sum(axis=0)
    possible = np.array([can_be(rows[number.row].kind, _counted(rows, number)) for number in numbers])
    before_goods = [named_in(rows[number.row].marks[number.at + 1 : number.at + 2]) != [] for number in numbers]
    asking = [number.mark.kind == "count" and rows[number.row].kind == "ask_order" for number in numbers]
    of_goods = [goods and asks for goods, asks in zip(before_goods, asking, strict=True)]
    possible[np.ix_(of_goods, [ROLES.index("order"), ROLES.index("quote")])] = False
    best, boxed = np.where(possible, table[:, :-1], -np.inf).argmax(axis=1), table[:, -1] > 0
    cases = any(mark.case or mark.text in CASES for row in rows for mark in row.marks)  # else bare counts are of units
    paired = dict(_in_pairs(rows, numbers))
    judged: list[Number] = []
    for at, (number, role, boxes) in enumerate(zip(numbers, best, boxed, strict=True)):
        bare = number.mark.plain or number.mark.worded or number.mark.text.endswith(" of")
        of_cases = number.boxed or (cases and ((bare and bool(boxes)) or _is_boxed(rows, numbers, at)))
        judged.append(replace(number, role=paired.get(at, ROLES[int(role)]), boxed=of_cases))
    return judged


_ORDERED = word_set("ordered billed invoiced charged expected 文数 注数 文 注 請求 請求数")
_CAME = word_set(
    "received got arrived came delivered scanned counted 入荷 入荷数 着荷数 納品数 納品 受領 受領数 到着 到着数 実数"
)
"""Words right before what was ordered, and what came; "注文数" is split in two."""
_PAIRS: Mapping[str, tuple[tuple[frozenset[str], Role], tuple[frozenset[str], Role]]] = {
    "claim": ((_ORDERED, "ordered"), (_CAME, "received")),
}
"""By kind of clause, the words before two counts that stand together, and their roles."""


def _in_pairs(rows: Sequence[Row], numbers: Sequence[Number]) -> Iterator[tuple[int, Role]]:
    """The indexes of counts that a clause names in pairs, with their roles: "ordered 24, received 20".

    Where a letter claims, its clauses without a kind count what it claims.
    """
    plain = "claim" if any(row.kind == "claim" for row in rows) else NOTHING
    for at, (first, second) in enumerate(pairwise(numbers)):
        together = first.row == second.row and first.product is not None and first.product == second.product
        kind = rows[first.row].kind
        pair = _PAIRS.get(plain if kind == NOTHING else kind)
        if not together or pair is None or {first.mark.kind, second.mark.kind} != {"count"}:
            continue
        both = list(zip((first, second), pair, strict=True))
        if any(
            all(words & beside(rows, number) for number, (words, _) in both) for beside in (_words_before, _words_after)
        ):
            yield at, pair[0][1]
            yield at + 1, pair[1][1]


def _words_before(rows: Sequence[Row], number: Number) -> set[str]:
    """The words right before a number, or before its colon, at most two of them: "received good 46"."""
    marks = reversed(rows[number.row].marks[: number.at])
    words = takewhile(lambda mark: mark.kind == "word", (mark for mark in marks if mark.text != ":"))
    return {mark.text for mark, _ in zip(words, range(2), strict=False)}


def _words_after(rows: Sequence[Row], number: Number) -> set[str]:
    """The word right after a number and its goods: "48 water ordered, 40 received"."""
    marks = rows[number.row].marks[number.at + 1 : number.at + 4]
    return {next((mark.text for mark in marks if mark.product is None and mark.text != "of"), "")}


def _columns(rows: Sequence[Row], numbers: Sequence[Number]) -> list[list[int]]:
    """Columns: the indexes of numbers under one another in consecutive items of a list.

    The items are of one kind, name goods, and have the same counts and prices.
    """
    by_row: dict[int, list[int]] = {}
    for at, number in enumerate(numbers):
        if number.mark.kind in ("count", "money") and rows[number.row].listed:
            by_row.setdefault(number.row, []).append(at)
    columns: list[list[list[int]]] = []
    before: tuple[object, ...] = ()
    for row, places in by_row.items():
        own = (rows[row].kind, *((numbers[at].mark.kind, numbers[at].mark.case) for at in places))
        if len(places) < 2 or not named_in(rows[row].marks):
            before = ()
            continue
        if before != (row - 1, own):
            columns.append([[] for _ in places])
        for column, at in zip(columns[-1], places, strict=True):
            column.append(at)
        before = (row, own)
    return [column for group in columns for column in group if len(column) > 1]


def _counted(rows: Sequence[Row], number: Number) -> Mark:
    """The mark of a number; "one" before goods is a count like others."""
    after = rows[number.row].marks[number.at + 1 : number.at + 4]
    if number.mark.text != "one" or not after:
        return number.mark
    goods = after[0].product or (after[0].text == "of" and any(mark.product for mark in after[1:]))
    return replace(number.mark, text="1") if goods else number.mark


_MOST_CASES = 11
"""Cases of a product, at most, where the word stands apart from the count."""
_MOST_CASES_UNSAID = 3
"""The same, where only the count before says so."""
_SEVERAL_CASES = word_set("cases ctns")
_ADDED = 5
"""Marks of a clause that only adds "Numbers are cases." to the one before."""


def _is_boxed(rows: Sequence[Row], numbers: Sequence[Number], at: int) -> bool:
    """Whether a bare count is one of cases since those of the same goods beside it are ("two of the three cases"), or
    its clause says so: "two water and one gum, all in cases"."""
    mark, row, kind = numbers[at].mark, numbers[at].row, rows[numbers[at].row].kind
    if mark.kind != "count" or mark.case or not mark.text.removesuffix(" of").isalnum():
        return False
    bare = mark.plain or mark.text == "one"
    if bare and mark.value <= _MOST_CASES and _speaks_of_cases(rows, row):
        return True
    if kind == "order" and bare and 0 < mark.value <= _MOST_CASES_UNSAID and _follows_cases(numbers, at):
        return True
    if kind == "order" and mark.plain and _is_after_more_cases(numbers, at):
        return True
    alike = [other for other in numbers if other.mark.case and other.product == numbers[at].product]
    beside = [other for other in alike if rows[other.row].kind == kind]
    before = [
        other for other in beside if other.row in (row - 1, row) and (other.row, other.at) < (row, numbers[at].at)
    ]
    after = [other for other in beside if other.row == row and other.at > numbers[at].at]
    nearest = [other.mark for other in (*before[-1:], *after[:1]) if not other.mark.half]
    return any(0 < mark.value <= other.value for other in nearest)


def _speaks_of_cases(rows: Sequence[Row], index: int) -> bool:
    """Whether a clause that orders says of its counts that they are of cases, or a few words after it do:
    "Tea 2, gum 1. Cases, please."."""
    then = [row for row in rows[index + 1 : index + 2] if len(row.marks) <= _ADDED]
    lead = next((row for row in reversed(rows[:index]) if not row.listed), rows[index])
    then += [lead] if rows[index].listed and [mark.text for mark in lead.marks[-3:-1]] == ["in", "cases"] else []
    return any(
        row.kind == "order" and any(mark.kind == "word" and mark.text in _SEVERAL_CASES for mark in row.marks)
        for row in (rows[index], *then)
    )


def _follows_cases(numbers: Sequence[Number], at: int) -> bool:
    """Whether the count before it in the same clause, or in the one before, is of cases."""
    before = [other.mark for other in numbers[:at] if other.mark.kind == "count" and numbers[at].row - other.row <= 1]
    few = sum(1 for _ in takewhile(lambda mark: not mark.case and mark.value <= _MOST_CASES_UNSAID, reversed(before)))
    return few < len(before) and before[-1 - few].case


def _is_after_more_cases(numbers: Sequence[Number], at: int) -> bool:
    """Whether the count right before it in its clause is of as many cases or more, of goods with as large a case, and
    it is less than half a case itself: "10 cases of water and 5 cola"."""
    here, before = numbers[at], numbers[at - 1] if at else None
    if before is None or before.row != here.row or not before.mark.case or here.product is None:
        return False
    size = before.product.case_units if before.product else 0
    return here.product.case_units == size and 2 * here.mark.value < size and here.mark.value <= before.mark.value


@lru_cache(maxsize=1)
def weights() -> Weights:
    """The weights in the package."""
    return packaged("roles.bin")


def scores(rows: Sequence[Row], numbers: Sequence[Number], net: Weights) -> "np.ndarray":
    """Numbers by roles: the score of each role, and in a last column the score that a count is one of cases."""
    import numpy as np

    inputs = [inputs_of(rows, numbers, number) for number in numbers]
    parts = responses([text for texts, _ in inputs for text in texts], net).reshape(len(numbers), -1)
    flags = np.array([flags for _, flags in inputs], dtype=np.int32) * np.int32(net.flag)
    return net.scores(np.hstack([parts, flags]), flags)


def inputs_of(rows: Sequence[Row], numbers: Sequence[Number], number: Number) -> tuple[list[list[str]], list[bool]]:
    """The network's inputs for a number: texts, as tokens, and flags."""
    row = rows[number.row]
    head = next((index for index in range(number.row - 1, 0, -1) if not rows[index].listed), 0)
    before = _tokens(row.marks[: number.at], _FAR, last=True)
    after = _tokens(row.marks[number.at + 1 :], _FAR)
    previous = _tokens(rows[number.row - 1].marks, _FAR, last=True) if number.row else []
    leading = _tokens(rows[head].marks, _FAR) if number.row else []
    following = [token for below in rows[number.row + 1 : number.row + 2] for token in _tokens(below.marks, _FAR)]
    parts = [
        [*before, HERE], [HERE, *after], [*before[-_NEAR:], HERE], [HERE, *after[:_NEAR]],
        previous, leading, following,
    ]  # fmt: skip
    return parts, _flags(rows, numbers, number, rows[head].kind)


def _tokens(marks: Sequence[Mark], most: int, *, last: bool = False) -> list[str]:
    """At most so many tokens of marks, the first ones or the last."""
    tokens: list[str] = []
    for mark in marks[-most:] if last else marks[:most]:
        if mark.kind == "count":
            tokens.append("CASES" if mark.case else "CNT" if mark.plain else "UNITS")
        elif mark.text[0] > "\u3000" and mark.kind == "word":
            tokens.extend(mark.text)
        else:
            tokens.append(_TOKENS.get(mark.kind, mark.text))
    return tokens[-most:] if last else tokens[:most]


def _flags(rows: Sequence[Row], numbers: Sequence[Number], number: Number, head: str) -> list[bool]:
    row, mark = rows[number.row], number.mark
    after, before = row.marks[number.at + 1 : number.at + 2], row.marks[max(0, number.at - 1) : number.at]
    size = sum(mark.value > bound for bound in _BOUNDS)
    column = sum(other.kind in ("count", "money") for other in row.marks[: number.at])
    values = {(other.mark.kind, other.mark.value) for other in numbers}
    return [
        *(row.kind == kind for kind in KINDS), *(head == kind for kind in KINDS),
        *(mark.kind == kind for kind in ("count", "money", "percent", "name", "order", "quote")),
        mark.case, mark.plain, mark.worded, mark.half, row.listed, row.asks, row.subject, number.product is None,
        bool(named_in(after)), bool(named_in(before)), not named_in(row.marks),
        ("order", mark.value) in values, ("quote", mark.value) in values,
        *(size == step for step in range(len(_BOUNDS) + 1)), *(column == rank for rank in range(3)),
        *_compared(rows, numbers, number),
    ]  # fmt: skip


def _compared(rows: Sequence[Row], numbers: Sequence[Number], number: Number) -> list[bool]:
    """Compare a number with the others for the same goods: in its clause, in clauses of its kind, in the letter."""
    same_goods = [
        other
        for other in numbers
        if other is not number and other.mark.kind == number.mark.kind and other.product == number.product
    ]
    kind, here, value = rows[number.row].kind, (number.row, number.at), number.value
    near = [other for other in same_goods if other.row == number.row]
    alike = [other for other in same_goods if rows[other.row].kind == kind]
    units = Counter(other.value for other in same_goods if rows[other.row].kind in (kind, NOTHING))
    flags = [
        any(units[value - part] > (value - part == part) for part in units),  # it is a whole
        any(units[whole - value] > (value == 0) for whole in units),  # and here a part
        *(any(other.mark.case for other in group) for group in (near, alike, same_goods)),
        value in _sums_of_goods(rows, numbers, number),
    ]
    for group in (near, alike, same_goods):
        flags += [
            any(other.value > value for other in group),
            any(other.value < value for other in group),
            any(other.value == value for other in group),
            any((other.row, other.at) < here for other in group),
            any((other.row, other.at) > here for other in group),
        ]
    return flags


def _sums_of_goods(rows: Sequence[Row], numbers: Sequence[Number], number: Number) -> set[int]:
    """The units of several goods together, as clauses of the same kind before a number count them, column by column."""
    kind = rows[number.row].kind
    before = [
        earlier
        for earlier in numbers
        if earlier.row < number.row and rows[earlier.row].kind == kind and earlier.mark.kind == "count"
    ]
    by_product: dict[str, list[int]] = {}
    for earlier in before:
        if earlier.product is not None:
            by_product.setdefault(earlier.product.id, []).append(earlier.value)
    if len(by_product) < 2:
        return set()
    columns = zip_longest(*by_product.values(), fillvalue=0)
    return {sum(column) for column in columns}
