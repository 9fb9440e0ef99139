"""The reader of letters: text in, intents out. Deterministic, without side effects, in time linear in the length."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

from akinai.worlds.vending.letters.amounts import (
    Shortage,
    added_units,
    by_reference,
    changed_units,
    shortage,
    with_references,
)
from akinai.worlds.vending.letters.asked import items_asked, unknown_goods
from akinai.worlds.vending.letters.bargains import bargain
from akinai.worlds.vending.letters.corrections import corrected
from akinai.worlds.vending.letters.forms import listed, may_order
from akinai.worlds.vending.letters.goods import read_items
from akinai.worlds.vending.letters.intents import Intent, Items, Topic, Unclear
from akinai.worlds.vending.letters.letter import NOTHING, Letter, Statement
from akinai.worlds.vending.letters.meaning.kinds import kinds_of
from akinai.worlds.vending.letters.meaning.numbers import Number, Row
from akinai.worlds.vending.letters.meaning.roles import with_roles
from akinai.worlds.vending.letters.meaning.unknown import can_name
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import Mark, named_in, scan, text_of
from akinai.worlds.vending.letters.text import clauses, marked, prepare, split_subject

_ASTRAY = re.compile(
    r"\s*(?:\{\s*\"action\"\s*:\s*\"(?-i:[A-Z_]+)\"|(?:internal )?(?:memo|note to self|to-?do(?: list)?|"
    r"(?:daily|weekly|status) (?:report|summary|log)|#* ?day [0-9]{1,4} (?:summary|report|log))\b)",
    re.IGNORECASE,
)
"""An action or a note that went out as a letter by mistake."""


def read_letter(text: str, names: Sequence[GoodName], subject: str = "") -> tuple[Intent, ...]:
    """The intents of a letter, in the order order, confirm, change, cancel, claim, negotiate, ask, complain, thank.

    A first line "Subject: ..." is the subject where none is given. An `order` is a sentence that orders now and without
    condition; what only names goods is an `ask` for a quote or `other`. A letter has at least one intent; an `other`
    holds the goods that it names with quantities. Orders and quotes are known by number only, as the letter has them.
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
    letter = _letter(text, names, prepare(subject, names))
    intents = [intent for read in _READERS for intent in read(letter)]
    if not ordering:
        intents = [Intent("ask", intent.items, "quote") if intent.kind == "order" else intent for intent in intents]
    if intents:
        return tuple(intents)
    goods = letter.items(NOTHING, any_mood=False)
    return (Intent("other", goods, orders=letter.orders(NOTHING), quotes=letter.quotes(NOTHING)),)


def forget() -> None:
    """Empty the cache of letters."""
    _read.cache_clear()


def _letter(text: str, names: tuple[GoodName, ...], subject: str) -> Letter:
    written = list(clauses(prepare(text, names), names))
    subject_kind, kinds = kinds_of(marked(subject, names), written)
    rows = [Row(scan(subject, names), subject_kind, subject=True)]
    rows += [
        Row(scan(clause.text, names), kind, clause.listed, clause.asks)
        for clause, kind in zip(written, kinds, strict=True)
    ]
    numbers = with_roles(rows)
    rows = with_references(rows, numbers)
    statements = [Statement(clause, row.kind, row.marks) for clause, row in zip(written, rows[1:], strict=True)]
    return Letter(names, subject, rows, numbers, statements)


def _order(letter: Letter) -> list[Intent]:
    if not letter.has("order") or _sends_again(letter):
        return []
    items = corrected(_goods(letter, "order"), letter.rows, letter.numbers)
    changes = _own_changes(letter)
    if changes:
        units = {id: count for id, count in {**items.units, **changes}.items() if count}
        items = replace(
            items, units=units, unclear=tuple(goods for goods in items.unclear if goods.product not in units)
        )
    return [Intent("order", items, quotes=letter.quotes("order"))] if letter.statements or items.has_quantities else []


_ORDERING = re.compile(r"\b(?:orders?|buy|purchase|additional(?:ly)?|extra|another|separate|new)\b|注文|発注|追加|別途")
"""Words that buy goods, where a claim only has them sent again."""
_PAYING_BACK = re.compile(r"\b(?:credit|refund|reimburse|deduct|money)|返金|返品|控除|差し引")
"""Words with which a claim asks for money."""


def _sends_again(letter: Letter) -> bool:
    """Whether a letter that claims goods, and not their money, orders just what did not come: "38 of 48 tea are here.
    Send 10 more." """
    orders = letter.of("order")
    if len(orders) != 1 or not letter.has("claim") or _ORDERING.search(orders[0].clause.low):
        return False
    if any(_PAYING_BACK.search(statement.clause.low) for statement in letter.statements):
        return False
    ordered = items_asked(letter.rows, letter.numbers, "order").units
    claimed: dict[str, list[int]] = {}
    for number in letter.numbers:
        if letter.rows[number.row].kind == "claim" and number.mark.kind == "count" and number.product is not None:
            claimed.setdefault(number.product.id, []).append(number.value)
    return bool(ordered) and all(
        units in [whole - part for whole, part in combinations(sorted(claimed.get(id, ()), reverse=True), 2)]
        for id, units in ordered.items()
    )


def _own_changes(letter: Letter) -> dict[str, int]:
    """The units of the letter's own order that later clauses change: "on second thought, 72 water"."""
    orders, changes = (
        [at for at, row in enumerate(letter.rows) if row.kind == kind and not row.subject]
        for kind in ("order", "change")
    )
    if not orders or not changes or changes[0] < orders[0] or letter.orders("change") or letter.quotes("change"):
        return {}
    changed = changed_units(letter.rows, letter.numbers)
    return changed if changed.keys() & _goods(letter, "order").units.keys() else {}


def _goods(letter: Letter, kind: str) -> Items:
    """The goods that clauses of a kind ask for, or announce in a list below; else those of the subject."""
    items, read = items_asked(letter.rows, letter.numbers, kind), letter.items(kind)
    if items.units or items.unclear:
        alone = [text_of(row.marks) for row in letter.rows if not named_in(row.marks)]
        written = [name for name in read.unknown if name < "\u3000" or any(name in text for text in alone)]
        names = [*(name for name in written if can_name(name.split())), *unknown_goods(letter.rows, kind)]
        unknown = tuple(dict.fromkeys(names))
        if unknown:  # counts of goods that nobody sells are of no others
            sizes = {name.id: name.case_units for name in letter.names}
            sure = {id: read.units[id] for id in items.units if id in read.units}
            sure = {id: units for id, units in sure.items() if units * sizes[id] != items.units[id]}
            items = replace(items, units={**items.units, **sure})
        unclear = {
            goods.product: goods for goods in (*read.unclear, *items.unclear) if goods.product not in items.units
        }
        unclear = {id: goods for id, goods in unclear.items() if re.search("[1-9?]", goods.quantity)}
        # Half an order would be worse than a question, and `read` knows more ways to write a list.
        beside = {id: units for id, units in read.units.items() if id in items.bare and id not in unclear}
        bare = tuple(id for id in items.bare if id not in beside)
        return Items({**items.units, **beside}, bare, tuple(unclear.values()), unknown)
    if not read.has_quantities:
        read = read_items(letter.names, "\n".join(statement.line for statement in letter.listed_after(kind)))
    return read if read.has_quantities or kind != "order" else read_items(letter.names, letter.subject)


_LIMITS = re.compile(r"\b(?:but|only|except|without|minus|instead)\b|だけ|のみ")
"""Words that limit a confirmation to a part of its quote, so that it does not confirm the quote."""


def _confirm(letter: Letter) -> list[Intent]:
    if not letter.has("confirm"):
        return []
    sentences = {statement.clause.sentence for statement in letter.of("confirm")}
    limits = [
        statement.line
        for statement in letter.statements
        if statement.clause.sentence in sentences and _LIMITS.search(statement.clause.low)
    ]
    items = read_items(letter.names, "\n".join(limits)) if limits else letter.items("confirm")
    if limits and not items.has_quantities:  # "go ahead with Q-3, but not the cola"
        items = replace(items, unclear=tuple(Unclear(id, "?") for id in items.bare))
    return [Intent("confirm", items, quotes=letter.quotes("confirm"))]


def _change(letter: Letter) -> list[Intent]:
    if not letter.has("change") or _own_changes(letter):
        return []
    groups = by_reference(letter.rows, letter.numbers, "change")
    changes = [(mark, *_changed(letter, numbers)) for mark, numbers in groups]
    changes = [(mark, units, more) for mark, units, more in changes if units or more]
    if len(changes) > 1:
        return [
            Intent(
                "change", Items(units), orders=_number_of(mark, "order"), quotes=_number_of(mark, "quote"), more=more
            )
            for mark, units, more in changes
        ]
    units, more = _changed(letter, letter.numbers)
    return [Intent("change", Items(units), orders=letter.orders("change"), quotes=letter.quotes("change"), more=more)]


def _changed(letter: Letter, numbers: Sequence[Number]) -> tuple[dict[str, int], dict[str, int]]:
    """The units that goods are changed to, and the units that are added or taken off."""
    units, more = changed_units(letter.rows, numbers), added_units(letter.rows, numbers)
    return {id: count for id, count in units.items() if more.get(id, 0) >= 0}, more


def _number_of(mark: Mark | None, kind: str) -> tuple[int, ...]:
    """The number of an order or a quote, if a mark is one."""
    return (mark.value,) if mark is not None and mark.kind == kind else ()


def _takes_back_own(letter: Letter) -> bool:
    """Whether a letter cancels only goods of the order that it places itself: "forget the gum"."""
    kinds = [row.kind for row in letter.rows]
    cancels = [named_in(row.marks) for row in letter.rows if row.kind == "cancel"]
    if "order" not in kinds or not all(cancels) or kinds.index("cancel") < kinds.index("order"):
        return False
    ordered = _goods(letter, "order")
    gone = ordered.units.keys() - corrected(ordered, letter.rows, letter.numbers).units.keys()
    named = letter.names_own("order", "cancel") or letter.names_own("quote", "cancel")
    return not named and all(good.id in gone for goods in cancels for good in goods)


_LONGEST = 400
"""Characters of a clause that are searched for goods taken out of an order."""
_PART = re.compile(
    r"\b(?:cancel|withdraw|scrap) "
    r"(?:(?:just|only|all|the|my|our|of|those|any|cases?|units?|bottles?|cans?|bags?|[0-9]+) )*§(?! order)"
    r".* (?:on|in|from|of) (?:order|#|no)"
    r"|注 ?文[0-9]+ ?番?(?:の|から|について).*§.*(?:キャンセル|取り消)"
)
"""A clause that takes goods out of an order."""


def _taken_out(letter: Letter) -> list[Intent]:
    """The change of an order where only some goods are cancelled: "please cancel the cola on order 31"."""
    cancels, orders = letter.of("cancel"), letter.orders("cancel")
    parts = [at for at, row in enumerate(letter.rows[1:], 1) if row.kind == "cancel" and named_in(row.marks)]
    if (
        len(orders) != 1
        or len(parts) != len(cancels)
        or not any(_PART.search(statement.clause.low[:_LONGEST]) for statement in cancels)
    ):
        return []
    gone: dict[str, list[int]] = {good.id: [] for at in parts for good in named_in(letter.rows[at].marks)}
    for number in letter.numbers:
        if number.row in parts and number.mark.kind == "count" and number.product is not None:
            gone[number.product.id].append(number.value)
    if any(len(counts) > 2 for counts in gone.values()):
        return []
    units = {id: max(counts) - min(counts) if len(counts) > 1 else 0 for id, counts in gone.items() if len(counts) != 1}
    more = {id: -counts[0] for id, counts in gone.items() if len(counts) == 1}
    return [Intent("change", Items(units), orders=orders, more=more)]


def _cancel(letter: Letter) -> list[Intent]:
    if not letter.has("cancel") or _takes_back_own(letter):
        return []
    if part := _taken_out(letter):
        return part
    quotes = letter.quotes("cancel") if letter.names_own("quote", "cancel") else ()
    orders = letter.orders("cancel") if not quotes or letter.names_own("order", "cancel") else ()
    if not orders and not quotes:
        quotes = letter.quotes("cancel")
    return [Intent("cancel", letter.items("cancel"), orders=orders, quotes=quotes)]


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
            "negotiate", letter.items("negotiate"), quotes=letter.quotes("negotiate"), offers=prices.offers,
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
