"""The reader of letters: text in, intents out. Deterministic, without side effects, in time linear in the length."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Literal

from akinai.worlds.vending.letters.amounts import Shortage, by_reference, shortage, with_references
from akinai.worlds.vending.letters.bargains import bargain
from akinai.worlds.vending.letters.doubt import Doubt, doubts
from akinai.worlds.vending.letters.forms import listed, may_order
from akinai.worlds.vending.letters.intents import Intent, Items, Kind, Topic
from akinai.worlds.vending.letters.meaning.kinds import CHARGING, NOTHING, is_command, kinds_of
from akinai.worlds.vending.letters.meaning.numbers import Number, Row
from akinai.worlds.vending.letters.meaning.roles import with_roles
from akinai.worlds.vending.letters.names import GoodName, mark_names, plain
from akinai.worlds.vending.letters.orders import counts_nothing, read_change, read_order, understand_goods
from akinai.worlds.vending.letters.scan import Mark, named_in, scan
from akinai.worlds.vending.letters.text import Clause, clauses, marked, prepare, split_subject
from akinai.worlds.vending.letters.words import NAME


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause with its kind and its marks."""

    clause: Clause
    kind: str
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter's statements, with the numbers in them."""

    names: tuple[GoodName, ...]
    text: str
    """The subject and the letter, in lower case, with a section sign for the name of each product."""
    rows: Sequence[Row]
    """The subject, then the clauses; numbers refer to them by index."""
    numbers: Sequence[Number]
    """The numbers with their roles."""
    statements: Sequence[Statement]
    references: int
    """How many orders and quotes the letter names."""

    @property
    def subject_kind(self) -> str:
        """The kind of the subject."""
        return self.rows[0].kind

    def of(self, kind: str) -> list[Statement]:
        """The clauses of a kind."""
        return [statement for statement in self.statements if statement.kind == kind]

    def has(self, kind: str) -> bool:
        """Whether a clause is of this kind, or the subject where no clause has any. A subject alone charges only if the
        letter is empty."""
        if any(statement.kind == kind for statement in self.statements):
            return True
        silent = all(statement.kind == NOTHING for statement in self.statements)
        return silent and kind == self.subject_kind and not (self.statements and kind in CHARGING)

    def holds_only(self, *kinds: str) -> bool:
        """Whether every clause is of one of these kinds, thanks, or says nothing of the matter."""
        return all(statement.kind in (*kinds, NOTHING, "thank") for statement in self.statements)

    def named(self, which: Literal["order", "quote"]) -> tuple[int, ...]:
        """The numbers of all orders or quotes in the letter."""
        return tuple(_values(which, [row.marks for row in self.rows]))

    def orders(self, kind: str) -> tuple[int, ...]:
        """The numbers of the orders that clauses of a kind are about."""
        return self._numbers("order", kind)

    def quotes(self, kind: str) -> tuple[int, ...]:
        """The numbers of the quotes that clauses of a kind are about."""
        return self._numbers("quote", kind)

    def _numbers(self, which: Literal["order", "quote"], kind: str) -> tuple[int, ...]:
        """The numbers in clauses of a kind; else in the clause nearest before them, the subject, or any other."""
        if own := _values(which, [statement.marks for statement in self.of(kind)]):
            return tuple(own)
        start = next((at for at, statement in enumerate(self.statements) if statement.kind == kind), 0)
        before, after = self.statements[:start], self.statements[start:]
        rows = (*(line.marks for line in reversed(before)), self.rows[0].marks, *(line.marks for line in after))
        return next((tuple(numbers) for marks in rows if (numbers := _values(which, [marks]))), ())


def _values(which: str, rows: Iterable[Sequence[Mark]]) -> list[int]:
    """The numbers of orders or quotes in rows; bare ones ("today is 43") only where none has the word beside it."""
    numbers = [mark for marks in rows for mark in marks if mark.kind == which]
    called = [mark for mark in numbers if not mark.text.replace(",", "").isdecimal()]
    return list(dict.fromkeys(mark.value for mark in called or numbers))


_ASTRAY = re.compile(
    r"\s*(?:\{\s*\"action\"\s*:\s*\"(?-i:[A-Z_]+)\"|(?:internal )?(?:memo|note to self|to-?do(?: list)?|"
    r"(?:daily|weekly|status) (?:report|summary|log)|#* ?day [0-9]{1,4} (?:summary|report|log))\b)",
    re.IGNORECASE,
)
"""An action or a note that went out as a letter by mistake."""


def read_letter(text: str, names: Sequence[GoodName], subject: str = "") -> tuple[Intent, ...]:
    """The intents of a letter, in the order order, confirm, change, cancel, claim, negotiate, ask, complain, thank.

    A first line "Subject: ..." is the subject where none is given. An `order` is a sentence that orders now; it is
    `clear` where the letter can be read in exactly one way. What only names goods is an `ask` for a quote or `other`. A
    letter has at least one intent; an `other` holds the goods that it names with quantities. Orders and quotes are
    known by number only, as the letter has them.
    """
    return _read(text, tuple(names), subject)


@lru_cache(maxsize=512)
def _read(text: str, names: tuple[GoodName, ...], subject: str) -> tuple[Intent, ...]:
    """Read a letter; the last 512 are cached, since people order in the words they ordered in before."""
    if not subject:
        subject, text = split_subject(text)
    ordering = may_order(text)
    text = listed(text)
    if _ASTRAY.match(text) or _ASTRAY.match(subject):
        return (Intent("other"),)
    letter = _letter(text, names, subject)
    intents = [intent for read in _READERS for intent in read(letter)]
    if any(intent.kind == "confirm" and intent.clear for intent in intents):
        intents = [intent for intent in intents if intent.kind != "order"]  # "please ship as confirmed"
    if not ordering:
        intents = [Intent("ask", intent.items, "quote") if intent.kind == "order" else intent for intent in intents]
    if intents:
        return tuple(intents)
    goods = understand_goods(letter.rows[1:], (NOTHING,))
    return (Intent("other", goods, orders=letter.orders(NOTHING), quotes=letter.quotes(NOTHING)),)


def forget() -> None:
    """Empty the cache of letters."""
    _read.cache_clear()


def _letter(text: str, names: tuple[GoodName, ...], subject: str) -> Letter:
    whole = mark_names(names, plain(f"{subject}\n{text}"))[0].lower().replace(NAME, "§")
    subject = prepare(subject, names)
    written = list(clauses(prepare(text, names), names))
    subject_kind, kinds = kinds_of(marked(subject, names), written)
    rows = [Row(scan(subject, names), subject_kind, subject=True)]
    rows += [
        Row(scan(clause.text, names), kind, clause.listed, clause.asks)
        for clause, kind in zip(written, kinds, strict=True)
    ]
    numbers = with_roles(rows)
    references = {(mark.kind, mark.value) for row in rows for mark in row.marks if mark.kind in ("order", "quote")}
    rows = with_references(rows, numbers)
    statements = [Statement(clause, row.kind, row.marks) for clause, row in zip(written, rows[1:], strict=True)]
    return Letter(names, whole, rows, numbers, statements, len(references))


def _order(letter: Letter) -> list[Intent]:
    """The order of a letter; it is clear where nothing else is said, and every count is of the goods beside it."""
    if not letter.has("order"):
        return []
    order = read_order(letter.rows) if letter.holds_only("order") else None
    if order is not None and not doubts(letter.text):
        return [Intent("order", Items(order.units), offers=order.prices)]
    return [Intent("order", _goods(letter, "order"), quotes=letter.named("quote"), clear=False)]


def _goods(letter: Letter, kind: str) -> Items:
    """The goods that clauses of a kind name; else those of lists that say nothing more, and of the subject."""
    items = understand_goods(letter.rows[1:], (kind,))
    if not items.has_quantities:
        listed = [row for row in letter.rows if row.listed or row.subject]
        below = understand_goods(listed, (kind, NOTHING))
        items = below if below.has_quantities else items
    return items


_OF_QUOTES: frozenset[Doubt] = frozenset({"quoted"})
"""Doubts that do not stand against a confirmation."""
_OF_CHANGES: frozenset[Doubt] = frozenset({"taken back", "corrected", "quoted", "reported", "divided"})
"""Doubts that do not stand against a change or a cancellation."""
_REPLACED = re.compile(r"\bnot [0-9]+\b|\b(?:no longer|don't|do not) (?:need|want|require)\b")
"""Negations with which people change and cancel."""


def _confirm(letter: Letter) -> list[Intent]:
    """The confirmation of a quote, which is clear where it has its number, or is a line of the supplier's own words."""
    if not letter.has("confirm"):
        return []
    quotes = letter.named("quote")
    goods = _goods(letter, "confirm")
    commands = all(is_command(line.clause, alone=False) for line in letter.of("confirm"))
    sure = (
        len(quotes) == letter.references == 1
        or (commands and bool(quotes) and letter.of("confirm") != [])
        or _is_command_alone(letter)
    )
    stray = any(counts_nothing(row) for row in letter.rows)
    ordering = understand_goods(letter.rows, ("order",)).has_quantities
    alone = letter.holds_only("confirm", "order") and not ordering
    clear = sure and alone and not stray and not doubts(letter.text, _OF_QUOTES)
    return [Intent("confirm", goods, quotes=quotes, clear=clear)]


def _is_command_alone(letter: Letter) -> bool:
    """Whether a letter is the word "confirm", and its number, if it has one, stands in the subject."""
    return len(letter.statements) == 1 and is_command(letter.statements[0].clause, alone=True)


def _change(letter: Letter) -> list[Intent]:
    """The change of an order or a quote, which is clear where the letter names one, and does nothing else."""
    if not letter.has("change"):
        return []
    return [_change_of(letter, "change")]


def _change_of(letter: Letter, kind: Kind) -> Intent:
    """The change that clauses of a kind make; where it is not clear, with the goods that they name."""
    orders, quotes, clear = letter.orders(kind), letter.quotes(kind), _is_of_one(letter, kind)
    change = read_change(letter.rows) if clear else None
    if change is None:
        return Intent("change", _goods(letter, kind), orders=orders, quotes=quotes, clear=False)
    units, more = change
    return Intent("change", Items(units), orders=orders, quotes=quotes, more=more)


def _is_of_one(letter: Letter, kind: Kind) -> bool:
    """Whether a letter only changes or cancels, without a doubt, one order or quote that it names by its number."""
    text = _REPLACED.sub(" ", letter.text)
    return letter.references == 1 and letter.holds_only(kind) and not doubts(text, _OF_CHANGES)


def _cancel(letter: Letter) -> list[Intent]:
    """The cancellation of an order or a quote; one that names goods takes these out of the order."""
    if not letter.has("cancel"):
        return []
    if any(named_in(statement.marks) for statement in letter.of("cancel")):
        return [_change_of(letter, "cancel")]
    orders, quotes = letter.orders("cancel"), letter.quotes("cancel")
    return [Intent("cancel", orders=orders, quotes=quotes, clear=_is_of_one(letter, "cancel"))]


def _number_of(mark: Mark | None, kind: str) -> tuple[int, ...]:
    """The number of an order or a quote, if a mark is one."""
    return (mark.value,) if mark is not None and mark.kind == kind else ()


def _claim(letter: Letter) -> list[Intent]:
    if not letter.has("claim"):
        return []
    groups = by_reference(letter.rows, letter.numbers, "claim")
    claims = [(mark, shortage(letter.rows, numbers)) for mark, numbers in groups if mark and mark.kind == "order"]
    claims = _without_repeats([(mark, lack) for mark, lack in claims if lack.missing or lack.received])
    if len(claims) > 1 and all(first[1] != second[1] for first, second in combinations(claims, 2)):
        return [
            Intent("claim", Items(lack.missing), orders=_number_of(mark, "order"), received=lack.received)
            for mark, lack in claims
        ]
    lack = shortage(letter.rows, letter.numbers)
    return [Intent("claim", Items(lack.missing), orders=letter.orders("claim"), received=lack.received)]


def _without_repeats(claims: Sequence[tuple[Mark, Shortage]]) -> list[tuple[Mark, Shortage]]:
    """Claims without the shortages that an earlier one counts already: "send the four with the next"."""
    distinct: list[tuple[Mark, Shortage]] = []
    for mark, lack in claims:
        before = [
            (id, units) for _, earlier in distinct for id, units in earlier.missing.items() if id in earlier.received
        ]
        missing = {id: units for id, units in lack.missing.items() if (id, units) not in before or id in lack.received}
        if missing or lack.received:
            distinct.append((mark, replace(lack, missing=missing)))
    return distinct


def _negotiate(letter: Letter) -> list[Intent]:
    if not letter.has("negotiate"):
        return []
    prices = bargain(letter.rows, letter.numbers)
    return [
        Intent(
            "negotiate", _goods(letter, "negotiate"), quotes=letter.quotes("negotiate"), offers=prices.offers,
            rivals=prices.rivals, off_permille=prices.off_permille,
        )
    ]  # fmt: skip


_TOPICS: Sequence[tuple[Topic, str]] = (
    ("prices", "ask_price"), ("terms", "ask_terms"), ("order", "ask_order"), ("other", "ask_other"),
)  # fmt: skip
"""The topics of questions, in the order in which suppliers answer, with their kinds."""
_LISTS = re.compile(
    r"\b(?:price ?lists?|catalog(?:ue)?s?|(?:full|whole|general|complete) (?:\w+ )?list|range|assortment)\b"
    r"|価格表|カタログ"
)


_TERMS = re.compile(r"\band (?:your |the )?(?:\w+ )?terms\b|取引条件")
"""Terms that a sentence asks for beside prices."""


_BY_CASE = re.compile(
    r"\b(?:how much|costs?|charge)\b[^.?!]*\ba (?:case|box|carton|tray)\b"
    r"|\ba (?:case|box|carton|tray)\b[^.?!]*\bcosts?\b"
)


def _asks_of_a_case(letter: Letter, items: Items, asking: Sequence[str]) -> bool:
    """Whether a letter counts goods only to ask for the price of so many: "What does a case of cola cost?"."""
    sizes = {name.id: name.case_units for name in letter.names}
    single = bool(items.units) and all(sizes[id] == units for id, units in items.units.items())
    return single and not items.unclear and any(map(_BY_CASE.search, asking))


def _asks_of_others(letter: Letter, items: Items) -> bool:
    """Whether a question without counts is of other goods than those counted: "Do you stock popcorn? And a quote for 72
    cola, please."."""
    counted = {*items.units, *(goods.product for goods in items.unclear)}
    return any(
        statement.clause.asks
        and not any(mark.kind == "count" for mark in statement.marks)
        and goods
        and not goods & counted
        for statement in letter.of("ask_price")
        for goods in [{good.id for good in named_in(statement.marks)}]
    )


def _ask(letter: Letter) -> list[Intent]:
    intents: dict[Topic, Intent] = {}
    for topic, kind in _TOPICS:
        if not letter.has(kind):
            continue
        asking = [statement.clause.low for statement in letter.of(kind)]
        items = _goods(letter, kind) if topic == "prices" else Items()
        if _asks_of_a_case(letter, items, asking):
            intents["prices"] = Intent("ask", Items(bare=(*items.bare, *items.units)), "prices")
        elif items.units or items.unclear:
            if any(map(_LISTS.search, asking)) or _asks_of_others(letter, items):
                intents["prices"] = Intent("ask", topic="prices")
            intents["quote"] = Intent("ask", items, "quote")
        else:
            orders = letter.orders(kind) if topic == "order" else ()
            intents[topic] = Intent("ask", items, topic, orders=orders)
        if topic == "prices" and any(map(_TERMS.search, asking)):
            intents["terms"] = Intent("ask", topic="terms")
    return list(intents.values())


def _complain(letter: Letter) -> list[Intent]:
    return [Intent("complain", orders=letter.orders("complain"))] if letter.has("complain") else []


def _thank(letter: Letter) -> list[Intent]:
    return [Intent("thank")] if letter.has("thank") else []


_READERS: Sequence[Callable[[Letter], list[Intent]]] = (
    _order, _confirm, _change, _cancel, _claim, _negotiate, _ask, _complain, _thank,
)  # fmt: skip
