"""Parse products and quantities from free text, in time linear in its length; nothing here raises."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from akinai.worlds.vending.letters.intents import Items, Unclear
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.tokens import MOST_UNITS, Amount, Element, Named, Segment, no_goods, segments

_LINES_APART = 3
"""The most segments between a product and its "Quantity: 50" on a later line."""
_PHRASE_LIMIT = 60


@dataclass(slots=True)
class _Reading:
    """A segment whose names and amounts are being paired."""

    segment: Segment
    pairs: list[tuple[GoodName, list[Amount]]] = field(default_factory=list[tuple[GoodName, list[Amount]]])
    left: list[GoodName | Amount] = field(default_factory=list[GoodName | Amount])
    """Names without a partner in their own run, in order, and the amounts of runs without names and other words."""
    unknown: list[str] = field(default_factory=list[str])

    @property
    def names(self) -> list[GoodName]:
        return [item for item in self.left if isinstance(item, GoodName)]

    @property
    def amounts(self) -> list[Amount]:
        return [item for item in self.left if isinstance(item, Amount)]


def read_items(names: Sequence[GoodName], text: str, any_mood: bool = False) -> Items:
    """Parse "50 units of water", "water x50", "water: 50", "24 cases of cola", tables, lists, sentences, JSON.

    A product that is named twice with the same quantity counts once, since a summary often follows a list; different
    quantities are added, and a total is only checked against its parts. Sentences about the past ("we sold 30 water
    last week") ask for nothing. A number that is not certainly a quantity is
    ignored. With `any_mood`, sentences about the past count too.
    """
    readings = [_paired(segment) for segment in segments(names, text) if any_mood or not segment.reports]
    _join_lines(readings)
    return _counted(readings)


def _paired(segment: Segment) -> _Reading:
    reading = _Reading(segment)
    shared: Amount | None = None
    for run in segment.runs:
        elements = list(_without_unknown(_merged(run), reading))
        named = [element.product for element in elements if isinstance(element, Named)]
        if shared and named and not any(isinstance(element, Amount) for element in elements):
            reading.pairs += [(product, [shared]) for product in named]  # "24 each of water and cola"
            continue
        _pair_run(reading, elements)
        shared = next(
            (element for element in elements if isinstance(element, Amount) and element.apiece and element.of), None
        )
    _share_each(reading)
    _pair_across(reading)
    return reading


def _merged(run: Sequence[Element]) -> list[Element]:
    """The run with a repeated name ("Water (water)") as a single name, and two names side by side as another word."""
    merged: list[Element] = []
    for element in run:
        last = merged[-1] if merged else None
        if not isinstance(element, Named) or not isinstance(last, Named):
            merged.append(element)
        elif last.product is not element.product:
            merged[-1] = f"{last.text} {element.text}"  # "chocolate cookies"
    return merged


def _without_unknown(run: Sequence[Element], reading: _Reading) -> Iterator[Element]:
    """The run without things that have a quantity but are no product; these are noted as unknown."""
    at = 0
    while at < len(run):
        element, end = run[at], at + 1
        while end < len(run) and end - at <= 4 and not isinstance(run[end], Amount):
            end += 1
        if isinstance(element, Amount) and _asks_for_unknown(element, run[at + 1 : end], reading.segment):
            reading.unknown.append(_phrase(run[at + 1 : end]))
            at = end
        elif at == 0 and end < len(run) and _numbers_unknown(run[:end], run[end], reading.segment, end + 1 == len(run)):
            reading.unknown.append(_phrase(run[:end]))
            at = end + 1
        else:
            yield element
            at += 1


def _asks_for_unknown(amount: Amount, after: Sequence[Element], segment: Segment) -> bool:
    """Whether "50 units of", "50 x" or, in a list or a request, a bare "50" precedes a word that is no product."""
    if not after or not isinstance(after[0], str) or no_goods(after[0]):
        return False
    if amount.of or amount.times:
        return True
    few = len(after) <= 2 and not any(isinstance(word, str) and no_goods(word) for word in after)
    return few and (segment.listed or segment.asks)


def _numbers_unknown(before: Sequence[Element], amount: Element, segment: Segment, last: bool) -> bool:
    """Whether up to three unknown words precede an amount: "watermelon x50", "- Coconut water: 12"."""
    if not isinstance(amount, Amount) or amount.loose or len(before) > 3 or not isinstance(before[0], str):
        return False
    if any(isinstance(element, Amount) or (isinstance(element, str) and no_goods(element)) for element in before):
        return False
    return amount.times or (segment.listed and last and len(segment.runs) <= 2)


def _phrase(words: Sequence[Element]) -> str:
    return " ".join(words if isinstance(words, str) else words.text for words in words)[:_PHRASE_LIMIT]


def _pair_run(reading: _Reading, run: Sequence[Element]) -> None:
    """Pair neighbours; if there are none, a name with a marked amount after it ("Water for May: 50")."""
    alone: list[GoodName | Amount] = []
    before = len(reading.pairs)
    for chain in _chains(run):
        _pair_chain(reading, chain, alone)
    if len(reading.pairs) == before:
        match alone:
            case [GoodName() as product, Amount(marked=True) as amount]:
                reading.pairs.append((product, [amount]))
                return
            case _:
                pass
    pure = all(isinstance(element, Amount) and not element.loose for element in run)
    reading.left += [element for element in alone if pure or isinstance(element, GoodName) or element.apiece]


def _chains(run: Sequence[Element]) -> Iterator[list[GoodName | list[Amount]]]:
    """Chains of neighbouring names and groups of amounts, without other words and their numbers."""
    chain: list[GoodName | list[Amount]] = []
    for element in run:
        if isinstance(element, Named):
            if chain and not isinstance(chain[-1], list):  # something unknown stood between the two names
                yield chain
                chain = []
            chain.append(element.product)
        elif isinstance(element, str) or element.loose:
            yield chain
            chain = []
        elif chain and isinstance(chain[-1], list):
            chain[-1].append(element)
        else:
            chain.append([element])
    yield chain


def _pair_chain(reading: _Reading, chain: Sequence[GoodName | list[Amount]], alone: list[GoodName | Amount]) -> None:
    """Pair a chain from its left end, "50 water 24 cola" or "water 50 cola 24"; a remainder goes to `alone`."""
    for first, second in zip(chain[::2], chain[1::2], strict=False):
        if isinstance(first, GoodName) and isinstance(second, list):
            reading.pairs.append((first, second))
        elif isinstance(first, list) and isinstance(second, GoodName):
            reading.pairs.append((second, first))
    if len(chain) % 2 == 0:
        return
    last = chain[-1]
    if isinstance(last, GoodName):
        alone.append(last)
    elif len(chain) > 1:
        reading.pairs[-1][1].extend(last)  # "2 cases of cola (48 units)" says it twice; "1 water 50" is unclear
    else:
        alone.extend(last)


def _share_each(reading: _Reading) -> None:
    """Give "24 each" to every name of the segment that has no amount of its own."""
    apiece = [amount for _, amounts in reading.pairs for amount in amounts if amount.apiece]
    apiece += [amount for amount in reading.amounts if amount.apiece]
    if apiece and reading.names:
        reading.pairs += [(name, [apiece[0]]) for name in reading.names]
        reading.left = [amount for amount in reading.amounts if not amount.apiece]


def _pair_across(reading: _Reading) -> None:
    """Pair names with amounts in the next field of a table, a list or an object: "| Water | 50 |"."""
    pairs, reading.left = _in_turn(reading.left)
    reading.pairs += [(product, [amount]) for product, amount in pairs]


def _in_turn(left: Sequence[GoodName | Amount]) -> tuple[list[tuple[GoodName, Amount]], list[GoodName | Amount]]:
    """Pairs of a name and the amount after it, or before it where an amount comes first, and the elements left over."""
    names = sum(isinstance(item, GoodName) for item in left)
    amount_first = bool(left) and isinstance(left[0], Amount) and 2 * names == len(left)
    pairs, unpaired = list[tuple[GoodName, Amount]](), list[GoodName | Amount]()
    at = 0
    while at < len(left):
        match left[at : at + 2]:
            case [GoodName() as product, Amount() as amount] if not amount_first:
                pairs.append((product, amount))
                at += 2
            case [Amount() as amount, GoodName() as product] if amount_first:
                pairs.append((product, amount))
                at += 2
            case _:
                unpaired.append(left[at])
                at += 1
    return pairs, unpaired


def _join_lines(readings: Sequence[_Reading]) -> None:
    """Pair names and marked amounts on lines of their own: "Product: Water", then "Quantity: 50"."""
    block: list[_Reading] = []
    since = 0
    for reading in readings:
        alone = not reading.pairs and len(reading.left) == 1
        if alone and since < _LINES_APART:
            block.append(reading)
        elif alone or reading.left or reading.pairs:
            _join(block)
            block = [reading] if alone else []
        since = 0 if alone else since + 1
    _join(block)
    _share_with_list(readings)


def _join(block: Sequence[_Reading]) -> None:
    left = [
        item
        for reading in block
        for item in reading.left
        if isinstance(item, GoodName) or (item.marked and not item.apiece)
    ]
    pairs, unpaired = _in_turn(left)
    if pairs:
        block[0].pairs += [(product, [amount]) for product, amount in pairs]
        for reading in block:
            reading.left = [item for item in reading.left if item in unpaired]


def _share_with_list(readings: Sequence[_Reading]) -> None:
    """Give the amount of "24 units each of the following:" to the names of the list below it."""
    shared: Amount | None = None
    for reading in readings:
        if not reading.names and not reading.pairs:
            shared = next((amount for amount in reading.amounts if amount.apiece), shared)
        elif shared and reading.segment.listed and not reading.pairs and not reading.amounts:
            reading.pairs += [(name, [shared]) for name in reading.names]
            reading.left = []
        else:
            shared = None


def _agreed(product: GoodName, amounts: Sequence[Amount]) -> int | None:
    """The units on which all amounts of a name agree ("2 cases (24 units each)"); None when they contradict."""
    if any(amount.case for amount in amounts):
        amounts = [
            amount for amount in amounts if amount.case or not (amount.apiece and amount.count == product.case_units)
        ]
    counts = {amount.units_of(product) for amount in amounts}
    return counts.pop() if len(counts) == 1 else None


def _counted(readings: Sequence[_Reading]) -> Items:
    """Add up the pairs of all segments."""
    parts: dict[str, list[int]] = {}
    totals: dict[str, int] = {}
    unclear: dict[str, Unclear] = {}
    for reading in readings:
        for product, amounts in reading.pairs:
            count = _agreed(product, amounts)
            parts.setdefault(product.id, [])
            if count is None:
                unclear.setdefault(product.id, Unclear(product.id, " / ".join(amount.text for amount in amounts)))
            elif reading.segment.totals:
                totals[product.id] = count
            else:
                parts[product.id].append(count)
    units: dict[str, int] = {}
    for id, counts in parts.items():
        count = sum(set(counts)) if counts else totals.get(id, 0)
        total = totals.get(id, count)
        if id not in unclear and ((counts and total not in (count, sum(counts))) or total > MOST_UNITS):
            unclear[id] = Unclear(id, " / ".join(f"{count} units" for count in (*counts, total)))
        elif id not in unclear:
            units[id] = total
    named = dict.fromkeys(name.id for reading in readings for name in reading.names)
    bare = tuple(id for id in named if id not in parts)
    unknown = tuple(dict.fromkeys(phrase for reading in readings for phrase in reading.unknown))
    return Items(units, bare, tuple(unclear.values()), unknown)
