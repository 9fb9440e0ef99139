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
from akinai.worlds.vending.letters.letter import NOTHING, Letter, Said
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
    """The same; the last letters are cached, since people order in the words they ordered in before."""
    if not subject:
        subject, text = split_subject(text)
    ordering = may_order(text)
    text = listed(text)
    if _ASTRAY.match(text) or _ASTRAY.match(subject):
        return (Intent("other"),)
    letter = _letter(text, names, prepare(subject, names))
    found = [intent for read in _READERS for intent in read(letter)]
    if not ordering:
        found = [Intent("ask", each.items, "quote") if each.kind == "order" else each for each in found]
    if found:
        return tuple(found)
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
    said = [Said(clause, row.kind, row.marks) for clause, row in zip(written, rows[1:], strict=True)]
    return Letter(names, subject, rows, numbers, said)


def _order(letter: Letter) -> list[Intent]:
    if not letter.has("order") or _sends_again(letter):
        return []
    items = corrected(_goods(letter, "order"), letter.rows, letter.numbers)
    changes = _own_changes(letter)
    if changes:
        units = {id: count for id, count in {**items.units, **changes}.items() if count}
        items = replace(items, units=units, unclear=tuple(each for each in items.unclear if each.product not in units))
    return [Intent("order", items, quotes=letter.quotes("order"))] if letter.said or items.found else []


_ORDERING = re.compile(r"\b(?:orders?|buy|purchase|additional(?:ly)?|extra|another|separate|new)\b|注文|発注|追加|別途")
"""Words with which goods are bought and not sent again."""
_PAYING_BACK = re.compile(r"\b(?:credit|refund|reimburse|deduct|money)|返金|返品|控除|差し引")
"""Words with which a claim asks for money."""


def _sends_again(letter: Letter) -> bool:
    """Whether a letter that claims goods, and not their money, orders just what did not come: "38 of 48 tea are here.
    Send 10 more." """
    orders = letter.of("order")
    if len(orders) != 1 or not letter.has("claim") or _ORDERING.search(orders[0].clause.low):
        return False
    if any(_PAYING_BACK.search(said.clause.low) for said in letter.said):
        return False
    asked = items_asked(letter.rows, letter.numbers, "order").units
    claimed: dict[str, list[int]] = {}
    for number in letter.numbers:
        if letter.rows[number.row].kind == "claim" and number.mark.kind == "count" and number.product is not None:
            claimed.setdefault(number.product.id, []).append(number.value)
    return bool(asked) and all(
        units in [whole - part for whole, part in combinations(sorted(claimed.get(id, ()), reverse=True), 2)]
        for id, units in asked.items()
    )


def _own_changes(letter: Letter) -> dict[str, int]:
    """The units that later clauses change of the order that the same letter places: "on second thought, 72 water"."""
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
    asked, read = items_asked(letter.rows, letter.numbers, kind), letter.items(kind)
    if asked.units or asked.unclear:
        alone = [text_of(row.marks) for row in letter.rows if not named_in(row.marks)]
        written = [name for name in read.unknown if name < "\u3000" or any(name in said for said in alone)]
        names = [*(name for name in written if can_name(name.split())), *unknown_goods(letter.rows, kind)]
        unknown = tuple(dict.fromkeys(names))
        if unknown:  # counts of goods that nobody sells are of no others
            sizes = {name.id: name.case_units for name in letter.names}
            sure = {id: read.units[id] for id in asked.units if id in read.units}
            sure = {id: units for id, units in sure.items() if units * sizes[id] != asked.units[id]}
            asked = replace(asked, units={**asked.units, **sure})
        unclear = {each.product: each for each in (*read.unclear, *asked.unclear) if each.product not in asked.units}
        unclear = {id: each for id, each in unclear.items() if re.search("[1-9?]", each.quantity)}
        # Half an order would be worse than a question, and `read` knows more ways to write a list.
        beside = {id: units for id, units in read.units.items() if id in asked.bare and id not in unclear}
        bare = tuple(id for id in asked.bare if id not in beside)
        return Items({**asked.units, **beside}, bare, tuple(unclear.values()), unknown)
    if not read.found:
        read = read_items(letter.names, "\n".join(said.line for said in letter.rows_after(kind)))
    return read if read.found or kind != "order" else read_items(letter.names, letter.subject)


_LIMITS = re.compile(r"\b(?:but|only|except|without|minus|instead)\b|だけ|のみ")
"""Words by which a confirmation is of less than its quote: it is then no confirmation of it."""


def _confirm(letter: Letter) -> list[Intent]:
    if not letter.has("confirm"):
        return []
    places = {said.clause.place for said in letter.of("confirm")}
    limits = [said.line for said in letter.said if said.clause.place in places and _LIMITS.search(said.clause.low)]
    items = read_items(letter.names, "\n".join(limits)) if limits else letter.items("confirm")
    if limits and not items.found:  # "go ahead with Q-3, but not the cola"
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
    """The units that goods are changed to, and those that come or go."""
    units, more = changed_units(letter.rows, numbers), added_units(letter.rows, numbers)
    return {id: count for id, count in units.items() if more.get(id, 0) >= 0}, more


def _number_of(mark: Mark | None, kind: str) -> tuple[int, ...]:
    """The number of an order or a quote, if a mark is one."""
    return (mark.value,) if mark is not None and mark.kind == kind else ()


def _takes_back_own(letter: Letter) -> bool:
    """Whether all that a letter cancels are goods of the order that it places itself: "forget the gum"."""
    kinds = [row.kind for row in letter.rows]
    cancels = [named_in(row.marks) for row in letter.rows if row.kind == "cancel"]
    if "order" not in kinds or not all(cancels) or kinds.index("cancel") < kinds.index("order"):
        return False
    ordered = _goods(letter, "order")
    gone = ordered.units.keys() - corrected(ordered, letter.rows, letter.numbers).units.keys()
    named = letter.names_own("order", "cancel") or letter.names_own("quote", "cancel")
    return not named and all(good.id in gone for goods in cancels for good in goods)


_LONGEST = 400
"""Characters of a clause in which goods taken out are looked for."""
_PART = re.compile(
    r"\b(?:cancel|withdraw|scrap) "
    r"(?:(?:just|only|all|the|my|our|of|those|any|cases?|units?|bottles?|cans?|bags?|[0-9]+) )*§(?! order)"
    r".* (?:on|in|from|of) (?:order|#|no)"
    r"|注 ?文[0-9]+ ?番?(?:の|から|について).*§.*(?:キャンセル|取り消)"
)
"""A clause that takes goods out of an order."""


def _taken_out(letter: Letter) -> list[Intent]:
    """The change of an order of which only goods are cancelled: "please cancel the cola on order 31"."""
    cancels, orders = letter.of("cancel"), letter.orders("cancel")
    parts = [at for at, row in enumerate(letter.rows[1:], 1) if row.kind == "cancel" and named_in(row.marks)]
    if (
        len(orders) != 1
        or len(parts) != len(cancels)
        or not any(_PART.search(said.clause.low[:_LONGEST]) for said in cancels)
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
    found = shortage(letter.rows, letter.numbers)
    return [Intent("claim", Items(found.missing), orders=letter.orders("claim"), received=found.received)]


def _without_repeats(claims: Sequence[tuple[Mark, Shortage]]) -> list[tuple[Mark, Shortage]]:
    """The claims, none of which counts again what of an order before it did not come: "send the four with the next"."""
    found: list[tuple[Mark, Shortage]] = []
    for mark, lack in claims:
        before = [(id, units) for _, each in found for id, units in each.missing.items() if id in each.received]
        missing = {id: units for id, units in lack.missing.items() if (id, units) not in before or id in lack.received}
        if missing or lack.received:
            found.append((mark, replace(lack, missing=missing)))
    return found


def _negotiate(letter: Letter) -> list[Intent]:
    if not letter.has("negotiate"):
        return []
    found = bargain(letter.rows, letter.numbers)
    return [
        Intent(
            "negotiate", letter.items("negotiate"), quotes=letter.quotes("negotiate"), offers=found.offers,
            rivals=found.rivals, off_permille=found.off_permille,
        )
    ]  # fmt: skip


_TOPICS: Sequence[tuple[Topic, str]] = (
    ("prices", "ask_price"), ("terms", "ask_terms"), ("order", "ask_order"), ("other", "ask_other"),
)  # fmt: skip
"""In the order in which suppliers answer."""
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
    """Whether goods are counted only to say of how many the price is asked: "What does a case of cola cost?"."""
    sizes = {name.id: name.case_units for name in letter.names}
    single = bool(items.units) and all(sizes[id] == units for id, units in items.units.items())
    return single and not items.unclear and any(map(_BY_CASE.search, asking))


def _asks_of_others(letter: Letter, items: Items) -> bool:
    """Whether a question without counts is of other goods than those counted: "Do you stock popcorn? And a quote for 72
    cola, please."."""
    counted = {*items.units, *(each.product for each in items.unclear)}
    return any(
        said.clause.asks and not any(mark.kind == "count" for mark in said.marks) and goods and not goods & counted
        for said in letter.of("ask_price")
        for goods in [{good.id for good in named_in(said.marks)}]
    )


def _ask(letter: Letter) -> list[Intent]:
    found: dict[Topic, Intent] = {}
    for topic, kind in _TOPICS:
        if not letter.has(kind):
            continue
        asking = [said.clause.low for said in letter.of(kind)]
        items = _goods(letter, kind) if topic == "prices" else Items()
        if _asks_of_a_case(letter, items, asking):
            found["prices"] = Intent("ask", Items(bare=(*items.bare, *items.units)), "prices")
        elif items.units or items.unclear:
            if any(map(_LISTS.search, asking)) or _asks_of_others(letter, items):
                found["prices"] = Intent("ask", topic="prices")
            found["quote"] = Intent("ask", items, "quote")
        else:
            orders = letter.orders(kind) if topic == "order" else ()
            found[topic] = Intent("ask", items, topic, orders=orders)
        if topic == "prices" and any(map(_TERMS.search, asking)):
            found["terms"] = Intent("ask", topic="terms")
    return list(found.values())


def _complain(letter: Letter) -> list[Intent]:
    return [Intent("complain", orders=letter.orders("complain"))] if letter.has("complain") else []


def _thank(letter: Letter) -> list[Intent]:
    return [Intent("thank")] if letter.has("thank") else []


_READERS: Sequence[Callable[[Letter], list[Intent]]] = (
    _order, _confirm, _change, _cancel, _claim, _negotiate, _ask, _complain, _thank,
)  # fmt: skip
