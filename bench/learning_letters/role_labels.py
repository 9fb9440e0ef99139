"""The roles of the numbers of a letter, as far as its intents by hand tell them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations

from letters_for_tests import Example, Label, parse_label

from akinai.worlds.vending.letters.amounts import by_reference
from akinai.worlds.vending.letters.goods_of_numbers import shares
from akinai.worlds.vending.letters.meaning.numbers import ROLES, Number, Role, Row

_TOPICS = {
    "prices": "ask_price",
    "quote": "ask_price",
    "terms": "ask_terms",
    "order": "ask_order",
    "other": "ask_other",
}


_CAME = {"came", "arrived", "reached", "delivered", "received", "here", "showed", "turned", "made"}
_GOT = {"got", "received", "delivered", "only", "just", "signed", "found", "has", "have", "contained", "brought"}
_NEVER = {"never", "not", "didn't", "hasn't", "was", "were", "is", "are", "missing"}
"""Words beside a count of what came, and words after a count of what did not."""


class Labelled:
    """The numbers of a letter; `roles` and `boxed` hold the known roles and units, by the index of the number."""

    def __init__(self, example: Example, rows: Sequence[Row], numbers: Sequence[Number]) -> None:
        self.rows, self.numbers = rows, numbers
        self.roles: dict[int, int] = {}
        self.boxed: dict[int, bool] = {}
        self._labels: dict[str, list[Label]] = defaultdict(list)
        for label in map(parse_label, example.labels):
            self._labels[_TOPICS[label.topic] if label.kind == "ask" else label.kind].append(label)
        self._references = {
            number for labels in self._labels.values() for label in labels for number in _numbers_of(label)
        }
        self._goods_asked("order")
        self._goods_asked("ask_price")
        self._claims()
        self._changes()
        self._bargains()
        self._orders_and_quotes()

    def _at(self, kinds: Collection[str], marks: Collection[str] = ("count",)) -> list[int]:
        return [
            at
            for at, number in enumerate(self.numbers)
            if self.rows[number.row].kind in kinds and number.mark.kind in marks
        ]

    def _put(self, at: int, role: Role, boxed: bool = False) -> None:
        self.roles[at] = ROLES.index(role)
        mark = self.numbers[at].mark
        if mark.kind == "count" and not mark.case:
            self.boxed[at] = boxed

    def _fits(self, at: int, units: int) -> int:
        """1 where a count is that of so many units, 2 where it is in cases, else 0."""
        number = self.numbers[at]
        if number.value == units:
            return 1
        bare = number.product is not None and number.mark.plain and not number.mark.case
        return 2 if bare and number.product and number.mark.value * number.product.case_units == units else 0

    def _put_fitting(self, indexes: Collection[int], units: int, role: Role) -> list[int]:
        """Give a role to the counts that fit best, and return their indexes."""
        fits = {at: self._fits(at, units) for at in indexes}
        best = min((fit for fit in fits.values() if fit), default=0)
        fitting = [at for at, fit in fits.items() if fit == best and fit]
        for at in fitting:
            self._put(at, role, best == 2)
        return fitting

    def _by_product(self, indexes: Collection[int]) -> Iterator[tuple[str, list[int]]]:
        goods: dict[str, list[int]] = defaultdict(list)
        for at in indexes:
            product = self.numbers[at].product
            if product is None:
                self._put(at, "none")
            else:
                goods[product.id].append(at)
        yield from goods.items()

    def _shared(self, at: int) -> bool:
        return shares(self.rows, self.numbers[at])

    def _goods_asked(self, kind: str) -> None:
        units_asked: dict[str, int] = {}
        for label in self._labels[kind]:
            units_asked.update(label.numbers["="])
        for product, indexes in self._by_product(self._at((kind,))):
            units = units_asked.get(product)
            if units is None:
                own = [at for at in indexes if not (units_asked and self._shared(at))]
                for at in own if units_asked or kind == "ask_price" else ():
                    self._put(at, "none")
            elif fitting := self._put_fitting(indexes, units, "units"):
                for at in set(indexes) - set(fitting):
                    fit = self._fits(at, units)
                    self._put(at, "units" if fit else "none", fit == 2)
            elif sum(self.numbers[at].value for at in indexes) == units:
                for at in indexes:
                    self._put(at, "units")

    def _claims(self) -> None:
        if not self._labels["claim"]:
            return
        missing: dict[str, int] = {}
        received: dict[str, int] = {}
        for label in self._labels["claim"]:
            missing.update(label.numbers["-"])
            received.update(label.numbers["~"])
        aside = self._at(("none",))
        for product, indexes in self._by_product(self._at(("claim",))):
            lacks, came = missing.get(product), received.get(product)
            mine = [at for at in indexes if not self._is_reference(at, (lacks, came))]
            if lacks is not None:
                beside = [at for at in aside if (good := self.numbers[at].product) and good.id == product]
                self._claim(mine, beside, lacks)
            elif came is not None:
                fitting = self._put_fitting(mine, came, "received")
                for at in set(mine) - set(fitting):
                    self._put(at, "ordered" if self.numbers[at].value > came else "none")
            elif missing or received:
                for at in mine:
                    shared = self._shared(at) and any(self._fits(at, units) for units in missing.values())
                    if shared or not self._is_repeated(at, mine):
                        self._put(at, "missing" if shared else "none")
        for at in aside:
            if at not in self.roles:
                self._put(at, "none")

    def _is_repeated(self, at: int, indexes: Collection[int]) -> bool:
        """Whether another count of the clause is equal, as where all ordered goods came."""
        own = self.numbers[at]
        beside = [self.numbers[other] for other in indexes if other != at and self.numbers[other].row == own.row]
        return any(other.value == own.value for other in beside)

    def _is_reference(self, at: int, counts: Collection[int | None]) -> bool:
        """Whether a bare number is that of an order or a quote; it is then put down as no count."""
        number = self.numbers[at]
        is_reference = number.mark.plain and number.mark.value in self._references and number.value not in counts
        if is_reference:
            self._put(at, "none")
        return is_reference

    def _claim(self, mine: Sequence[int], aside: Sequence[int], lacks: int) -> None:
        """Give roles to the counts of a product of which `lacks` units are missing."""
        value = {at: self.numbers[at].value for at in (*mine, *aside)}
        if paired := self._paired(mine, lacks):
            for at in mine:
                same = next((role for other, role in paired.items() if value[at] == value[other]), None)
                self._put(at, same or ("missing" if self._fits(at, lacks) == 1 else "none"))
            return
        plainly = [at for at in mine if self._fits(at, lacks) == 1]
        likely = plainly or [at for at in mine if not self._came(at)]
        done = set(self._put_fitting(likely, lacks, "missing"))
        for pool in (mine,) if done else (mine, (*mine, *aside)):
            free = [at for at in pool if at not in done]
            pairs = [
                (boxed, whole, part)
                for boxed in (False, True)
                for whole in free
                for part in free
                if whole != part and value[whole] - self._units(part, boxed=boxed) == lacks
            ]
            if not pairs:
                continue
            boxed, whole, part = pairs[0]
            came = self._units(part, boxed=boxed)
            for at in {*mine, whole, part} - done:
                if value[at] == value[whole]:
                    self._put(at, "ordered")
                else:
                    self._put(at, "received" if self._units(at, boxed=boxed) == came else "none", boxed)
            return
        left = [at for at in mine if at not in done]
        sums = sum(value[at] for at in left) == lacks
        for at in left if done or sums else ():
            self._put(at, "missing" if sums else "ordered" if value[at] > lacks else "none")

    def _paired(self, mine: Sequence[int], lacks: int) -> dict[int, Role]:
        """The roles of two counts of a clause where one is of the ordered and the other of the received units."""
        for whole, part in permutations(mine, 2):
            ordered, came = self.numbers[whole], self.numbers[part]
            if ordered.row == came.row and ordered.value - came.value == lacks and lacks not in (0, came.value):
                return {whole: "ordered", part: "received"}
        return {}

    def _units(self, at: int, *, boxed: bool) -> int:
        """The units of a count, where a bare one may be of cases."""
        number = self.numbers[at]
        bare = number.product is not None and number.mark.plain and not number.mark.case
        return number.mark.value * number.product.case_units if boxed and bare and number.product else number.value

    def _came(self, at: int) -> bool:
        """Whether words beside a count say that so many came: "two cases were ordered, one came"."""
        number = self.numbers[at]
        marks = self.rows[number.row].marks
        after = [mark.text for mark in marks[number.at + 1 : number.at + 5]]
        before = [mark.text for mark in marks[max(0, number.at - 3) : number.at]]
        came = not _NEVER.isdisjoint(after[:2])
        return not came and not (_CAME.isdisjoint(after) and _GOT.isdisjoint(before))

    def _changes(self) -> None:
        labels = self._labels["change"]
        index = {id(number): at for at, number in enumerate(self.numbers)}
        groups = by_reference(self.rows, self.numbers, "change") if labels else []
        if len(labels) > 1 and len(groups) > 1:
            for label in labels:
                for mark, numbers in groups:
                    if mark is not None and mark.value in _numbers_of(label):
                        self._change(label.numbers["="], [index[id(number)] for number in numbers])
        elif len(labels) == 1:
            self._change(labels[0].numbers["="], [index[id(number)] for _, numbers in groups for number in numbers])

    def _change(self, changed: Mapping[str, int], indexes: Sequence[int]) -> None:
        if not changed:
            return
        for at in indexes:
            if self.numbers[at].mark.kind == "name" and (product := self.numbers[at].product):
                self._put(at, "removed" if changed.get(product.id) == 0 else "none")
        for product, counts in self._by_product([at for at in indexes if self.numbers[at].mark.kind == "count"]):
            units = changed.get(product)
            mine = [at for at in counts if not self._is_reference(at, (units,))]
            if units:
                self._changed(mine, units)
                continue
            for at in mine:
                shared = self._shared(at) and any(self._fits(at, total) for total in changed.values())
                nothing: Role = "new" if shared else "none"
                self._put(at, nothing if units is None else "former" if self.numbers[at].value else "new")

    def _changed(self, mine: Sequence[int], units: int) -> None:
        """Give roles to the counts of a product that is changed to so many units."""
        value = {at: self.numbers[at].value for at in mine}
        fitting = self._put_fitting(mine, units, "new")
        left = [at for at in mine if at not in fitting]
        pairs = [
            (first, second)
            for first in left
            for second in left
            if first < second and value[first] + value[second] == units
        ]
        for first, second in pairs[:1]:
            large, small = (first, second) if value[first] >= value[second] else (second, first)
            self._put(large, "former")
            self._put(small, "more")
            left = [at for at in left if at not in (first, second)]
        for at in left if fitting else ():
            self._put(at, "former")
        if not fitting and not pairs:
            for whole, part in (
                (first, second) for first in left for second in left if value[first] - value[second] == units
            ):
                self._put(whole, "former")
                self._put(part, "fewer")
                break

    def _bargains(self) -> None:
        labels = self._labels["negotiate"]
        if not labels:
            return
        offers = {product: cents for label in labels for product, cents in label.numbers["@"].items()}
        rivals = {label.rival for label in labels if label.rival is not None}
        off = {label.off * 10 for label in labels if label.off is not None}
        named = False
        for at in self._at(("negotiate",), ("money", "count")):
            number = self.numbers[at]
            cents = number.mark.value if number.mark.kind == "count" else number.value
            if number.mark.kind == "count" and not number.mark.plain:
                self._put(at, "none")
                continue
            own = offers.get(number.product.id) if number.product else None
            if cents in rivals and cents not in offers.values():
                self._put(at, "rival")
                named = True
            elif cents == own or (cents in offers.values() and (own is None or number.mark.kind == "count")):
                self._put(at, "offer")
            elif cents not in offers.values() and (offers or (number.product and (rivals or off))):
                self._put(at, "none")
        for at in self._at(("negotiate",), ("percent",)):
            if off or offers:
                self._put(at, "off" if self.numbers[at].mark.value in off else "none")
        for at in self._at(("none", "complain"), ("money",)):
            self._put(at, "rival" if self.numbers[at].value in rivals and not named else "none")

    def _orders_and_quotes(self) -> None:
        every = [label for labels in self._labels.values() for label in labels]
        for at, number in enumerate(self.numbers):
            kind, mark = self.rows[number.row].kind, number.mark
            labels = every if kind == "none" else self._labels[kind]
            orders = {number for label in labels for number in label.orders}
            quotes = {number for label in labels for number in label.quotes}
            bare = mark.kind == "count" and mark.plain and not mark.worded and self.roles.get(at, 0) == 0
            if not (orders or quotes) or not (bare or mark.kind in ("order", "quote")):
                continue
            if kind == "none" and mark.kind == "count" and mark.value <= (96 if number.named else 12):
                continue  # it may count something
            if (mark.value in orders) != (mark.value in quotes):
                self._put(at, "order" if mark.value in orders else "quote")
            elif mark.value in orders and mark.kind in ("order", "quote"):
                self._put(at, "order" if mark.kind == "order" else "quote")
            elif kind != "none" and (mark.kind != "count" or kind in ("cancel", "confirm", "ask_order", "complain")):
                self._put(at, "none")


def _numbers_of(label: Label) -> set[int]:
    return label.orders | label.quotes
