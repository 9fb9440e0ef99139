"""Products and how many of each, read from free text. Linear in the length of the text, and it never raises."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from akinai.worlds.vending.setup import Catalog, Product
from akinai.worlds.vending.words import MOST_UNITS, Amount, Element, Named, Segment, no_goods, segments


@dataclass(frozen=True, slots=True)
class Unclear:
    """A product whose quantity cannot be taken: zero, negative, a fraction, beyond all measure, or contradictory."""

    product: str
    said: str
    """The quantity as the letter has it."""


@dataclass(frozen=True, slots=True)
class Items:
    """What a text asks for."""

    units: Mapping[str, int] = field(default_factory=dict[str, int])
    """By product id, in the order in which they are first named."""
    bare: tuple[str, ...] = ()
    """Ids of products that are named without a quantity."""
    unclear: tuple[Unclear, ...] = ()
    unknown: tuple[str, ...] = ()
    """Things asked for by number that are no product of the catalogue, as they were written."""

    @property
    def found(self) -> bool:
        """Whether anything was asked for by number."""
        return bool(self.units or self.unclear or self.unknown)


@dataclass(slots=True)
class _Reading:
    """A segment as it is being paired up."""

    segment: Segment
    pairs: list[tuple[Product, list[Amount]]] = field(default_factory=list[tuple[Product, list[Amount]]])
    left: list[Product | Amount] = field(default_factory=list[Product | Amount])
    """What found no partner within its own run, in order; of amounts, those that stand alone between separators."""
    unknown: list[str] = field(default_factory=list[str])

    def names(self) -> list[Product]:
        return [one for one in self.left if isinstance(one, Product)]

    def amounts(self) -> list[Amount]:
        return [one for one in self.left if isinstance(one, Amount)]


def read_items(catalog: Catalog, text: str) -> Items:
    """Read "50 units of water", "water x50", "water: 50", "24 cases of cola", tables, lists, sentences, JSON.

    A product that is named twice with the same quantity is counted once (a list is often followed by its summary),
    with different quantities they are added up, and a total is only checked against its parts. Sentences that tell
    of the past ("we sold 30 water last week") ask for nothing. A number that is not certainly a quantity is none.
    """
    readings = [_paired(segment) for segment in segments(catalog, text)]
    _join_lines(readings)
    return _counted([one for one in readings if not one.segment.tells])


def _paired(segment: Segment) -> _Reading:
    reading = _Reading(segment)
    for run in segment.runs:
        _pair_run(reading, list(_without_unknown(run, reading)))
    _share_each(reading)
    _pair_across(reading)
    return reading


def _without_unknown(run: Sequence[Element], reading: _Reading) -> Iterator[Element]:
    """The run less the things that are asked for by number and are no product; these go into `reading.unknown`."""
    at = 0
    while at < len(run):
        one, end = run[at], at + 1
        while end < len(run) and end - at <= 5 and not isinstance(run[end], Amount):
            end += 1
        if isinstance(one, Amount) and _asks_for_unknown(one, run[at + 1 : end], reading.segment):
            reading.unknown.append(_phrase(run[at + 1 : end]))
            at = end
        elif not isinstance(one, Amount) and end < len(run) and _numbers_unknown(run, at, end, reading.segment):
            reading.unknown.append(_phrase(run[at:end]))
            at = end + 1
        else:
            yield one
            at += 1


def _asks_for_unknown(amount: Amount, after: Sequence[Element], segment: Segment) -> bool:
    """Whether "50 units of", "50 x" or, in a list or a request, a bare "50" is followed by a thing we do not know."""
    if not after or not isinstance(after[0], str):
        return False
    if amount.of or amount.times:
        return not no_goods(after[0])
    words = [one for one in after if isinstance(one, str)]
    known_as_goods = not any(no_goods(word) for word in words)
    return known_as_goods and len(after) <= 2 and (segment.listed or segment.asks)


def _numbers_unknown(run: Sequence[Element], at: int, end: int, segment: Segment) -> bool:
    """Whether a run begins with one to three unknown words and then a number: "watermelon x50", "- Coconut water: 12"."""
    amount, words = run[end], run[at:end]
    if at or not isinstance(amount, Amount) or amount.loose or len(words) > 3 or not isinstance(words[0], str):
        return False
    if any(isinstance(word, str) and no_goods(word) for word in words):
        return False
    return amount.times or (segment.listed and len(segment.runs) <= 2 and len(run) == end + 1)


def _phrase(words: Sequence[Element]) -> str:
    return " ".join(one if isinstance(one, str) else one.said for one in words)[:60]


def _pair_run(reading: _Reading, run: Sequence[Element]) -> None:
    """Pair what stands side by side; then a name and a marked amount with other words between them."""
    alone: list[Product | Amount] = []
    before = len(reading.pairs)
    for chain in _chains(run):
        _pair_chain(reading, chain, alone)
    names = [one for one in alone if isinstance(one, Product)]
    amounts = [one for one in alone if isinstance(one, Amount)]
    words = any(isinstance(one, str) for one in run)
    if len(names) == len(amounts) == 1 and len(reading.pairs) == before and amounts[0].marked and alone[0] is names[0]:
        reading.pairs.append((names[0], amounts))
        return
    reading.left += [one for one in alone if isinstance(one, Product) or (not words and not names)]


def _chains(run: Sequence[Element]) -> Iterator[list[Product | list[Amount]]]:
    """Names and groups of amounts that stand side by side.

    A name said twice ("Water (water)") is one; two names side by side ("chocolate cookies") are some third thing.
    """
    chain: list[Product | list[Amount]] = []
    for at, one in enumerate(run):
        last = chain[-1] if chain else None
        if isinstance(one, str) or (isinstance(one, Amount) and one.loose):
            yield chain
            chain = []
        elif isinstance(one, Amount):
            if isinstance(last, list):
                last.append(one)
            else:
                chain.append([one])
        elif isinstance(last, Product):
            if last is not one.product:
                yield chain[:-1]
                chain = []
        elif not (at and isinstance(before := run[at - 1], Named) and before.product is not one.product):
            chain.append(one.product)
    yield chain


def _pair_chain(reading: _Reading, chain: list[Product | list[Amount]], alone: list[Product | Amount]) -> None:
    """Pair a chain from its left end: "50 water 24 cola" or "water 50 cola 24"; what is over stays alone."""
    for first, second in zip(chain[::2], chain[1::2], strict=False):
        if isinstance(first, Product) and isinstance(second, list):
            reading.pairs.append((first, second))
        elif isinstance(first, list) and isinstance(second, Product):
            reading.pairs.append((second, first))
    if len(chain) % 2:
        last = chain[-1]
        if isinstance(last, Product):
            alone.append(last)
        elif len(chain) > 1:
            reading.pairs[-1][1].extend(last)  # "2 cases of cola (48 units)" says it twice; "1 water 50" is unclear
        else:
            alone.extend(last)


def _share_each(reading: _Reading) -> None:
    """Give "24 each" to every name of the segment that has no amount of its own."""
    each = [one for _, amounts in reading.pairs for one in amounts if one.each]
    each += [one for one in reading.amounts() if one.each]
    if each and (names := reading.names()):
        reading.pairs += [(name, [each[0]]) for name in names]
        reading.left = [one for one in reading.amounts() if not one.each]


def _pair_across(reading: _Reading) -> None:
    """Pair names with amounts in the next field of a table, a list or an object: "| Water | 50 |"."""
    left = reading.left
    names, amounts = len(reading.names()), len(reading.amounts())
    if not names or not amounts:
        return
    amount_first = isinstance(left[0], Amount) and amounts == names
    kept: list[Product | Amount] = []
    at = 0
    while at < len(left):
        one, other = left[at], left[at + 1] if at + 1 < len(left) else None
        if isinstance(one, Product) and isinstance(other, Amount) and not amount_first:
            reading.pairs.append((one, [other]))
            at += 2
        elif amount_first and isinstance(one, Amount) and isinstance(other, Product):
            reading.pairs.append((other, [one]))
            at += 2
        else:
            kept.append(one)
            at += 1
    if names == 1 and len(kept) == amounts and amounts == 1:  # "| 50 | Water |" was caught above; "50, ..., water" is not
        kept = [one for one in kept if isinstance(one, Product)]
    reading.left = kept


def _join_lines(readings: Sequence[_Reading]) -> None:
    """Pair a name that has a line to itself with the labelled amount within the next lines: "Quantity: 50 units"."""
    waiting: tuple[int, _Reading] | None = None
    for at, reading in enumerate(readings):
        names, amounts = reading.names(), reading.amounts()
        if len(names) == 1 and not reading.pairs and not amounts:
            waiting = (at, reading)
        elif names or reading.pairs:
            waiting = None
        elif waiting and len(amounts) == 1 and amounts[0].marked and at - waiting[0] <= 4:
            waiting[1].pairs.append((waiting[1].names()[0], amounts))
            waiting[1].left.clear()
            waiting = None


def _counted(readings: Sequence[_Reading]) -> Items:
    said: dict[str, list[int]] = {}
    totals: dict[str, int] = {}
    unclear: dict[str, Unclear] = {}
    for reading in readings:
        for product, amounts in reading.pairs:
            counts = {amount.units_of(product) for amount in amounts}
            count = counts.pop() if len(counts) == 1 else None
            if count is None:
                unclear.setdefault(product.id, Unclear(product.id, " / ".join(amount.said for amount in amounts)))
            elif reading.segment.totals:
                totals[product.id] = count
            else:
                said.setdefault(product.id, []).append(count)
    units: dict[str, int] = {}
    for product, count in {**{id: sum(set(counts)) for id, counts in said.items()}, **totals}.items():
        parts = said.get(product, [count])
        whole = sum(set(parts)) if len(set(parts)) > 1 or product not in totals else count
        if count not in (whole, sum(parts)) or not 0 < count <= MOST_UNITS:
            unclear.setdefault(product, Unclear(product, f"{count} units"))
        else:
            units[product] = count
    for product in unclear:
        units.pop(product, None)
    named = [name.id for reading in readings for name in reading.names()]
    bare = tuple(id for id in dict.fromkeys(named) if id not in units and id not in unclear)
    unknown = tuple(dict.fromkeys(phrase for reading in readings for phrase in reading.unknown))
    return Items(units, bare, tuple(unclear.values()), unknown)

