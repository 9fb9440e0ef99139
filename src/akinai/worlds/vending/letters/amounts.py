"""Add up the counts of a letter: units missing, received and changed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from akinai.worlds.vending.letters.goods_of_numbers import goods_above, goods_below, in_order, shares
from akinai.worlds.vending.letters.meaning.kinds import NOTHING
from akinai.worlds.vending.letters.meaning.numbers import Number, Role, Row
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import Mark, named_in, text_of
from akinai.worlds.vending.letters.words import TOTALS, word_set

_DOUBLES = word_set("double doubled doubling twice 倍")
_HALVES = word_set("half halve halved halving 半分")
_STRIKES = word_set("strike remove drop delete cancel without omit")
_STAYS = re.compile(r"\b(?:stays?|remains?|retains?|still|(?:leave|keep) (?:\S+ ){1,3}at)\b")
"""Words before a count that no change touches."""
_UNCHANGED = re.compile(
    r"\b(?:unchanged|to (?:stay|remain)|(?:no|not) change|as (?:ordered|planned|before|is)"
    r"|same(?! (?:goes|quantity|number|amount|price)))"
    r"|そのまま|変更なし|据え置"
)
"""Words before or after a count that stays as it was."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """The units that a claim counts, by product id."""

    missing: Mapping[str, int]
    received: Mapping[str, int]
    """Units that came, for goods whose missing units the letter does not count."""


def agreed(counts: Sequence[int], case_units: int) -> int:
    """The units on which the counts of a clause for the same goods agree; 0 where they contradict each other.

    "5 x 24 = 120" says 120, "3 cases (24 units each)" says 72: the size of a case and the number of cases say no more;
    "48 here, 24 there, 72 in all" says 72.
    """
    whole = max(counts)
    if len(counts) > 2 and sum(counts) == 2 * whole:
        return whole
    aside = (0, case_units, whole, whole / case_units)
    return whole if all(count in aside for count in counts) else 0


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


def changed_units(rows: Sequence[Row], numbers: Sequence[Number]) -> dict[str, int]:
    """The units of goods after a change, 0 for goods that are taken off."""
    changing = [number for number in numbers if rows[number.row].kind == "change" and not _is_total(rows, number)]
    changing = list(in_order(rows, changing, "new"))

    def counts(role: Role) -> dict[str, list[int]]:
        return counted(rows, changing, role)

    new, more, fewer = counts("new"), counts("more"), counts("fewer")
    former = counts("former")
    unchanged = {number.product.id for number in changing if number.product and _is_kept(rows, changing, number)}
    unchanged |= _kept_uncounted(rows) & new.keys()
    changed = {id: values[-1] for id, values in new.items() if id not in unchanged or len(new) == len(unchanged)}
    changed |= dict.fromkeys(_unwanted(rows), 0)
    for number in changing:
        if number.role == "removed" and number.product is not None and not _is_swapped_in(rows, number):
            id = number.product.id
            changed[id] = new[id][-1] if id in new and id in former else 0
    for id, values in former.items():
        if id in more or id in fewer:
            changed.setdefault(id, max(0, values[-1] + sum(more.get(id, ())) - sum(fewer.get(id, ()))))
        elif not changed and len(values) == 1:
            changed[id] = _altered(rows, values[0])
    return changed


_MORE = re.compile(
    r"(?:\b(?:increase|raise|up|bump|boost)\b.*\bby|\b(?:add|include|plus|another|additional|extra|further))"
    r"(?: (?:an?|another|additional|extra))*$"
)
_FEWER = re.compile(r"\b(?:reduce|decrease|cut|lower|shrink)\b.*\bby(?: (?:an?|another))*$")
_TAKEN_OFF = re.compile(r"\b(?:take|remove|cancel)$")
"""Words before a count that is added to an order or taken off it."""
_MORE_THEN, _FEWER_THEN = re.compile(r"(?:more|extra|additional)\b"), re.compile(r"(?:fewer|less)\b")
"""Words after a count that is added to an order or taken off it."""
_NEAR = 16
"""Marks on each side of a count that are searched for these words."""
_MORE_JA, _FEWER_JA = re.compile("追加|増や"), re.compile("減ら")


def added_units(rows: Sequence[Row], numbers: Sequence[Number]) -> dict[str, int]:
    """The units by which words beside a count change goods counted once, negative where they become fewer.

    "Increase the cola by 24", "one more case", "take 24 off".
    """
    changing = [number for number in numbers if rows[number.row].kind == "change" and number.mark.kind == "count"]
    of_goods = Counter(number.product for number in changing)
    changes: dict[str, int] = {}
    for number in changing:
        if number.product is None or of_goods[number.product] > 1 or number.role in ("former", "removed"):
            continue
        marks = rows[number.row].marks
        before, after = (text_of(marks[max(0, number.at - _NEAR) : number.at]), text_of(marks[number.at + 1 :][:_NEAR]))
        japanese = bool(after) and after[0] > "\u3000" and not after.startswith("に")
        off = _TAKEN_OFF.search(before) is not None and re.search(r"\b(?:off|from)\b", after) is not None
        if off or _FEWER.search(before) or _FEWER_THEN.match(after) or (japanese and _FEWER_JA.search(after)):
            changes[number.product.id] = -number.value
        elif (
            _MORE.search(before)
            or _MORE_THEN.match(after)
            or (number.mark.case and re.search(r"\b(?:more|another|additional|extra)\b", number.mark.text))
            or (japanese and _MORE_JA.search(after))
        ):
            changes[number.product.id] = number.value
    return changes


_UNWANTED = re.compile(r"\b(?:don't|do not|no longer) (?:need|want|require)$")


def _unwanted(rows: Sequence[Row]) -> Iterator[str]:
    """The ids of goods that a change says are not wanted: "I don't need the 48 cola"."""
    for row in rows:
        ends = [at for at in range(1, len(row.marks)) if _UNWANTED.search(text_of(row.marks[max(0, at - 3) : at]))]
        if row.kind == "change" and ends:
            yield from (good.id for good in named_in(row.marks[ends[0] :]))


def _is_swapped_in(rows: Sequence[Row], number: Number) -> bool:
    """Whether goods come in place of others: those of "swap the 24 chips for 24 cookies", "24 cookies instead"."""
    marks = rows[number.row].marks
    before, after = marks[max(0, number.at - 2) : number.at], [mark.text for mark in marks[number.at + 1 :][:2]]
    has_count = any(mark.kind == "count" for mark in marks[max(0, number.at - 3) : number.at])
    if has_count and "instead" in after[:1] and "of" not in after:
        return True
    return [mark.text for mark in before[:1]] in (["for"], ["with"]) and before[-1].kind == "count"


def _is_total(rows: Sequence[Row], number: Number) -> bool:
    """Whether a count is of all goods together: "sum of units: 228"."""
    first = next((mark.text for mark in rows[number.row].marks if mark.kind == "word"), "")
    return not number.named and number.mark.kind == "count" and first in TOTALS


def _is_kept(rows: Sequence[Row], numbers: Sequence[Number], number: Number) -> bool:
    """Whether a new count is the same as before: "Cola | 24 | 24", "the cola can stay at 24", "gum: still 48"."""
    row = rows[number.row]
    if number.role != "new":
        return False
    here = [other for other in numbers if other.row == number.row and other.product == number.product]
    before = [other for other in here if other.at < number.at and other.mark.kind == "count" and other.mark.plain]
    again = [other for other in before if other.mark.value == number.mark.value]
    if any(row.listed or other.role == "former" for other in again):
        return True
    if any(other.role in ("former", "more", "fewer") and other.value != number.value for other in here):
        return False
    text = text_of(row.marks)
    if any(words in text for words in ("rather than", "instead of")):
        return False
    led = text_of(row.marks[: number.at])
    return _STAYS.search(led) is not None or _UNCHANGED.search(text) is not None


def _kept_uncounted(rows: Sequence[Row]) -> set[str]:
    """The ids of goods that stay as they are by a clause without a count: "The iced tea remains as ordered.".

    Only clauses that change, or have no kind, are read.
    """
    ids: set[str] = set()
    for row in rows:
        goods = named_in(row.marks)
        text = text_of(row.marks)
        counts = any(mark.kind == "count" for mark in row.marks)
        if len(goods) == 1 and not counts and row.kind in ("change", NOTHING) and _UNCHANGED.search(text):
            ids.add(goods[0].id)
    return ids


def _altered(rows: Sequence[Row], units: int) -> int:
    """A count that stands alone in a change: twice, half or nothing of it where the letter says so, else itself."""
    words = {mark.text for row in rows if row.kind == "change" for mark in row.marks}
    if words & _DOUBLES:
        return 2 * units
    if words & _STRIKES:
        return 0
    return units // 2 if words & _HALVES else units


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
