"""What the numbers of a letter come to: units asked for, missing, received and changed, and prices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from akinai.worlds.vending.letters.intents import Items, Unclear
from akinai.worlds.vending.letters.meaning.kinds import NOTHING
from akinai.worlds.vending.letters.meaning.roles import Number, Role, Row
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import Mark, named_in
from akinai.worlds.vending.letters.tokens import MOST_UNITS
from akinai.worlds.vending.letters.words import TOTALS, word_set

_MOST_CENTS = 2_000
"""More than this is no price of a unit."""
_DOUBLES = word_set("double doubled doubling twice 倍")
_HALVES = word_set("half halve halved halving 半分")
_STAYS = word_set("stay stays remain remains")
_SHARED = word_set("each apiece both every either all")
_SHARED_JA = ("各", "ずつ", "それぞれ", "全て", "とも")


@dataclass(frozen=True, slots=True)
class Shortage:
    """What a claim counts, in units by product id."""

    missing: Mapping[str, int]
    received: Mapping[str, int]
    """Of goods of which those that came are counted, and not those that are missing."""


@dataclass(frozen=True, slots=True)
class Bargain:
    """Prices in a letter, in cents a unit by product id; "" where no product is named."""

    offers: dict[str, int] = field(default_factory=dict[str, int])
    rivals: dict[str, int] = field(default_factory=dict[str, int])
    off_permille: int | None = None


def items_asked(rows: Sequence[Row], numbers: Sequence[Number], kind: str) -> Items:
    """The units that clauses of a kind, or else the subject, ask for; counts that contradict each other are unclear."""
    asked = [place for place, row in enumerate(rows) if row.kind == kind]
    body = _items([place for place in asked if not rows[place].subject], rows, numbers)
    return body if body.units or body.unclear else _items(asked, rows, numbers)


def _items(places: Sequence[int], rows: Sequence[Row], numbers: Sequence[Number]) -> Items:
    units: dict[str, list[int]] = {}
    unclear: dict[str, Unclear] = {}
    named: dict[str, None] = {}
    for place in places:
        here = [number for number in numbers if number.row == place and not _is_of_several(rows, number)]
        if _is_mostly_idle(here):
            continue  # "Water 17, cola 61, candy 33" above an order of water: a report of stock
        named.update(dict.fromkeys(product.id for product in named_in(rows[place].marks)))
        sizes = {good.id: good.case_units for number in here for good in _goods_of(rows, number)}
        for id, counts in _counts(rows, here, "units").items():
            if counted := _agreed(counts, sizes[id]):
                units.setdefault(id, []).append(counted)
            else:
                unclear[id] = Unclear(id, " / ".join(f"{count} units" for count in counts))
    sums = {id: _sum_of(counts) for id, counts in units.items() if id not in unclear}
    asked = {id: count for id, count in sums.items() if 0 < count <= MOST_UNITS}
    return Items(asked, tuple(id for id in named if id not in asked and id not in unclear), tuple(unclear.values()))


def _is_mostly_idle(numbers: Sequence[Number]) -> bool:
    """Whether of the goods that a clause counts only the fewer are asked for."""
    asked = {number.product for number in numbers if number.role == "units"}
    idle = {number.product for number in numbers if number.role == "none" and number.mark.kind == "count"}
    return len(idle - asked) > len(asked) > 0


def _is_of_several(rows: Sequence[Row], number: Number) -> bool:
    """Whether a count without goods in its clause could be of several: of those named last, or in the list below.

    The last row of a table, "Total: 360", is of all.
    """
    if number.named or shares(rows, number):
        return False
    row = rows[number.row]
    if row.listed and next((mark.text for mark in row.marks if mark.kind == "word"), "") in TOTALS:
        return True
    above = (goods for place in range(number.row - 1, -1, -1) if (goods := named_in(rows[place].marks)))
    return len({*(next(above, None) or _goods_below(rows[number.row + 1 :]))}) > 1


def _agreed(counts: Sequence[int], case_units: int) -> int:
    """What the counts of a clause for the same goods say together; 0 where they contradict each other.

    "5 x 24 = 120" says 120, "3 cases (24 units each)" says 72: the size of a case and the number of cases say no more;
    "48 here, 24 there, 72 in all" says 72.
    """
    whole = max(counts)
    if len(counts) > 2 and sum(counts) == 2 * whole:
        return whole
    aside = (0, case_units, whole, whole / case_units)
    return whole if all(count in aside for count in counts) else 0


def shortage(rows: Sequence[Row], numbers: Sequence[Number]) -> Shortage:
    """What claims say is missing or bad; what was ordered less what came is missing."""
    claimed = [number for number in numbers if rows[number.row].kind in ("claim", NOTHING)]
    claimed = [number for number in claimed if not _totals_goods(claimed, number)]

    def counts(role: Role) -> dict[str, list[int]]:
        return _counts(rows, claimed, role)

    ordered, received = counts("ordered"), dict[str, int]()
    lacking = {id: max(ordered[id]) - _sum_of(came) for id, came in counts("received").items() if id in ordered}
    claimed = [number for number in claimed if not _repeats(lacking, number)]
    missing = {id: _sum_of(values) for id, values in counts("missing").items()}
    for id, values in counts("received").items():
        came = _sum_of(values)
        if id not in missing and max(ordered.get(id, [came + 1])) > came:
            received[id] = came
            missing[id] = max(0, max(ordered.get(id, [0])) - came)
    if not missing and not received:
        missing = {id: max(values) for id, values in ordered.items()}  # "the two cases of cola that we paid for"
    return Shortage({id: units for id, units in missing.items() if units}, received)


def changed_units(rows: Sequence[Row], numbers: Sequence[Number]) -> dict[str, int]:
    """The units of goods after a change, 0 for goods that are taken off."""

    def counts(role: Role) -> dict[str, list[int]]:
        return _counts(rows, [number for number in numbers if rows[number.row].kind == "change"], role)

    new, more, fewer = counts("new"), counts("more"), counts("fewer")
    former = counts("former")
    kept = {number.product.id for number in numbers if number.product and _is_kept(rows, numbers, number)}
    changed = {id: values[-1] for id, values in new.items() if id not in kept or len(new) == len(kept)}
    for number in numbers:
        if number.role == "removed" and number.product is not None:
            id = number.product.id
            changed[id] = new[id][-1] if id in new and id in former else 0
    for id, values in former.items():
        if id in more or id in fewer:
            changed.setdefault(id, max(0, values[-1] + sum(more.get(id, ())) - sum(fewer.get(id, ()))))
        elif not changed and len(values) == 1:
            changed[id] = _altered(rows, values[0])
    return changed


def _is_kept(rows: Sequence[Row], numbers: Sequence[Number], number: Number) -> bool:
    """Whether a new count is also what was: "Cola | 24 | 24", "the cola can stay at 24"."""
    row = rows[number.row]
    if number.role != "new":
        return False
    if any(mark.text in _STAYS for mark in row.marks[max(0, number.at - 2) : number.at]):
        return True
    before = [each for each in numbers if each.row == number.row and each.at < number.at and each.mark.plain]
    return row.listed and (number.product, number.mark.value) in [(each.product, each.mark.value) for each in before]


def _altered(rows: Sequence[Row], units: int) -> int:
    """A count that stands alone in a change: twice or half of it where the letter says so, else itself."""
    words = {mark.text for row in rows if row.kind == "change" for mark in row.marks}
    if words & _DOUBLES:
        return 2 * units
    return units // 2 if words & _HALVES else units


def bargain(rows: Sequence[Row], numbers: Sequence[Number]) -> Bargain:
    """The prices that a letter offers, the last for each product, and those that it says others ask."""
    found = Bargain()
    for number in numbers:
        bargains = rows[number.row].kind == "negotiate"
        cents = number.value if number.mark.kind == "money" else number.mark.value
        id = number.product.id if number.product else ""
        if number.role == "off" and number.mark.kind == "percent" and bargains and found.off_permille is None:
            found = replace(found, off_permille=number.mark.value)
        elif number.mark.kind not in ("money", "count") or not 0 < cents <= _MOST_CENTS:
            continue
        elif number.mark.kind == "count" and named_in(rows[number.row].marks[number.at + 1 : number.at + 2]):
            continue  # "we would take 240 water"
        elif number.role == "offer" and bargains and _is_matched(rows, number):
            found.rivals[id] = cents
        elif number.role == "offer" and bargains:
            for good in _goods_priced(rows, numbers, number):
                found.offers[good] = cents
        elif number.role == "rival" and (bargains or id not in found.rivals):
            found.rivals[id] = cents
    return found


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
    if sum(each.role == number.role for each in numbers if each.row == number.row) > 1:
        return [own]
    groups: list[list[str]] = [[]]
    for mark in rows[number.row].marks:
        if mark.product:
            groups[-1].append(mark.product.id)
        elif mark.text not in _LISTING:
            groups.append([])
    return next((group for group in groups if own in group), [own])


def by_reference(rows: Sequence[Row], numbers: Sequence[Number], kind: str) -> list[tuple[Mark | None, list[Number]]]:
    """The numbers of clauses of a kind by the order or quote that they are about: the one named last before them.

    Numbers before the first reference go with it.
    """
    groups: dict[tuple[str, int], tuple[Mark | None, list[Number]]] = {}
    current: Mark | None = None
    early: list[Number] = []
    by_place = {(number.row, number.at): number for number in numbers}
    for place, row in enumerate(rows):
        if row.kind not in (kind, NOTHING):
            continue
        for at, mark in enumerate(row.marks):
            if mark.kind in ("order", "quote"):
                current = mark
            if row.kind != kind or (number := by_place.get((place, at))) is None:
                continue
            if current is None:
                early.append(number)
            else:
                groups.setdefault((current.kind, current.value), (current, []))[1].append(number)
    if not groups:
        return [(None, early)]
    first, *rest = groups.values()
    return [(first[0], early + first[1]), *rest]


def _repeats(lacking: Mapping[str, int], number: Number) -> bool:
    """Whether a count without goods in its clause says once more what was ordered less what came."""
    return (
        not number.named
        and number.role == "missing"
        and number.mark.value in (*lacking.values(), sum(lacking.values()))
    )


def _totals_goods(numbers: Sequence[Number], number: Number) -> bool:
    """Whether a count without goods in its clause adds up those of several goods before it: "the six bottles"."""
    before: dict[str, list[int]] = {}
    for other in numbers:
        if other.row < number.row and other.role == number.role == "missing" and other.product is not None:
            before.setdefault(other.product.id, []).append(other.value)
    return not number.named and len(before) > 1 and number.mark.value == sum(map(_sum_of, before.values()))


def _counts(rows: Sequence[Row], numbers: Sequence[Number], role: Role) -> dict[str, list[int]]:
    """By product id, the units that numbers of a role count."""
    found: dict[str, list[int]] = {}
    meant = [number for number in numbers if number.role == role and number.mark.kind == "count"]
    own = {(number.row, number.product.id) for number in meant if number.product is not None}
    for number in meant:
        for product in _goods_of(rows, number):
            if product is number.product or (number.row, product.id) not in own:
                found.setdefault(product.id, []).append(replace(number, product=product).value)
    return found


def _goods_of(rows: Sequence[Row], number: Number) -> Iterator[GoodName]:
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
    shared = next((each for each in goods if len(each) > 1), set[GoodName]())
    named = named_in(marks)
    if not named:
        named = _goods_above(rows[: number.row]) or _goods_below(rows[number.row + 1 :])
        shared = set(named)
    yield from (product for product in dict.fromkeys(named) if product in shared - {number.product})


def _goods_above(rows: Sequence[Row]) -> list[GoodName]:
    """The goods of the last clause that names any, or of the list that ends there."""
    found: list[GoodName] = []
    for row in reversed(rows):
        found = [*named_in(row.marks), *found]
        if found and not row.listed:
            break
    return found


def _goods_below(rows: Sequence[Row]) -> list[GoodName]:
    """The goods of the next clause that names any, or of the list that begins there."""
    found: list[GoodName] = []
    for row in rows:
        if found and not row.listed:
            break
        found += named_in(row.marks)
    return found


def shares(rows: Sequence[Row], number: Number) -> bool:
    """Whether several goods share a count: "24 each of water and cola"."""
    marks = rows[number.row].marks
    start = number.at + 1
    if [mark.text for mark in (*marks[start : start + 1], *marks[start + 2 : start + 3])] == ["(", ")"]:
        start += 3  # "one case (24) each"
    before, after = reversed(marks[max(0, number.at - 2) : number.at]), marks[start : start + 2]
    beside = (mark for side in (before, after) for mark in takewhile(lambda mark: mark.kind == "word", side))
    return any(mark.text in _SHARED or mark.text.startswith(_SHARED_JA) for mark in beside)


def _sum_of(values: Sequence[int]) -> int:
    """The sum of different counts of the same goods; a total beside its parts counts once."""
    most = max(values)
    return most if sum(values) == 2 * most else sum(set(values))


def with_references(rows: Sequence[Row], numbers: Sequence[Number]) -> list[Row]:
    """The rows, in which the numbers that clauses are about are those of orders and quotes, and no others are."""
    read = [list(row.marks) for row in rows]
    for number in numbers:
        mark, kind = number.mark, rows[number.row].kind
        if number.role == "order" or number.role == "quote":
            read[number.row][number.at] = replace(mark, kind=number.role)
        elif mark.kind in ("order", "quote") and kind != NOTHING:
            read[number.row][number.at] = replace(mark, kind="number")
    return [replace(row, marks=marks) for row, marks in zip(rows, read, strict=True)]
