"""The letters that suppliers write. Rule-based players parse them, so the lines with figures keep their form."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from akinai.core.money import format_cents
from akinai.worlds.vending.letters.intents import Intent, Items
from akinai.worlds.vending.letters.names import MOST_UNITS
from akinai.worlds.vending.model.setup import Catalog, Setup, Supplier, percent
from akinai.worlds.vending.model.state import Line, Order, Quote, clock, date_text
from akinai.worlds.vending.rules.books import letter_text
from akinai.worlds.vending.rules.orders import total_cents, unit_cents

SUBJECT_LIMIT = 500
UNTIL_IT_LEAVES = (
    "An order can be changed or cancelled by letter, with its number, until it leaves us on the evening before its "
    "delivery."
)
LEAVES_AT_ONCE = "Orders are paid in advance and leave on the same day: they cannot be changed or cancelled."
NOT_CLEAR = (
    "Your letter can be read in more than one way, so nothing was ordered or charged. A letter that only orders is "
    "placed at once; this is how we understand yours:"
)
NOTHING_READ = "We found no product with a quantity in your letter, so nothing was ordered or charged."
NOT_CONFIRMED = "Nothing was charged: we take up a quote where a letter says so with its number, and says nothing else."
NOT_CHANGED = (
    "Nothing was changed or cancelled: we do so where a letter names one order by its number, and says nothing else."
)


_NOT_TO_BE_HAD = {
    "credit": r"\b(on credit|credit (?:line|terms)|pay (?:you )?(?:later|after|in \d+)|net \d+|invoice us|instal?ments?"
    r")|後払い|掛け売り|分割払い",
    "later or other delivery days": r"\b(deliver\w*|ship\w*|bring)\b.{0,50}\b(later|postpone\w*|another (?:day|time|"
    r"hour)|instead)|\b(postpone|reschedule|move|delay)\b.{0,30}\bdeliver|配達.{0,12}(?:延期|変更|遅らせ|ずら)",
    "returns": r"\b((?<!in )return|send back|take back)\b.{0,40}\b(goods|unsold|units|stock|order|them|it)\b|返品",
    "standing orders": r"\b(standing order|subscription|every (?:week|month|(?:mon|tues|wednes|thurs|fri)day)|"
    r"(?:weekly|monthly) (?:order|deliver\w*))|定期",
    "prices for promised volumes": r"\b(volume|commit to|promise (?:you )?\d+|guarantee .{0,20}(?:units|orders)|"
    r"exclusive)|大口|まとめて買う約束",
}
"""Wishes that no supplier grants, by their name."""
_WISHES = {name: re.compile(pattern, re.I | re.S) for name, pattern in _NOT_TO_BE_HAD.items()}


def not_to_be_had(text: str, intents: Sequence[Intent]) -> str:
    """The answer to a letter that orders nothing and wants what suppliers do not grant; empty for any other."""
    business = any(i.kind in ("order", "confirm") or i.items.units or i.offers or i.orders or i.quotes for i in intents)
    wishes = [name for name, pattern in _WISHES.items() if pattern.search(text)]
    if not wishes or business:
        return ""
    return (
        f"We are sorry: we give no {' and no '.join(wishes)}. What is possible: orders that are paid in advance, "
        "offers for our prices, and claims of what you counted as missing."
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """A letter before it is sent."""

    subject: str
    body: str


def reply(supplier: Supplier, subject: str, *paragraphs: str) -> Draft:
    """An answer to a letter with that subject; equal paragraphs stand once."""
    answer = subject if subject.lower().startswith("re:") else f"Re: {subject or 'your letter'}"
    return Draft(answer[:SUBJECT_LIMIT], letter_text(supplier, *dict.fromkeys(paragraphs)))


def price_list(setup: Setup, supplier: Supplier) -> str:
    """Every product with its price."""
    products = [setup.catalog.by_id[id] for id in supplier.products]
    lines = [
        f"- {product.name} ({product.id}): {format_cents(unit_cents(supplier, product))} a unit, "
        f"case of {product.case_units}"
        for product in products
    ]
    return _block("Thank you for your letter. Our price list:", lines)


def quote(setup: Setup, offer: Quote) -> str:
    """A quote, with the words that order it."""
    goods = _goods(setup, f"Quote Q-{offer.number}, good through {date_text(setup, offer.last_day)}:", offer.lines)
    return f"{goods}\nTo order it, answer: CONFIRM Q-{offer.number}"


def prices_only(setup: Setup, supplier: Supplier, lines: Sequence[Line]) -> tuple[str, ...]:
    """Prices for quantities without a quote, and whether they are below the minimum order; nothing for no lines."""
    if not lines:
        return ()
    too_small = total_cents(lines) < supplier.minimum_cents
    prices = _goods(setup, "Our prices for these quantities:", lines)
    return (prices, below_minimum(supplier, lines)) if too_small else (prices,)


def placed(setup: Setup, order: Order) -> str:
    """An order was placed and charged."""
    goods = _goods(setup, f"Order {order.number} is placed.", order.lines, "Total charged")
    return f"{goods}\nDelivery: {clock(setup, order.promised)}"


def changed(setup: Setup, order: Order, more_cents: int) -> str:
    """An order was changed; `more_cents` was charged, or given back where it is negative."""
    money = f"{format_cents(abs(more_cents))} {'given back' if more_cents < 0 else 'charged'}"
    goods = _goods(setup, f"Order {order.number} is changed, {money}. It now holds:", order.lines)
    return f"{goods}\nDelivery: {clock(setup, order.expected)}"


def not_placed(reasons: Sequence[str]) -> str:
    """No order was placed, for these reasons."""
    return _block("We have not placed an order, and nothing was charged:", [f"- {reason}" for reason in reasons])


def on_their_way(setup: Setup, orders: Sequence[Order]) -> str:
    """The orders that are on their way."""
    lines = [
        f"- Order {order.number}: {list_goods(setup.catalog, order.lines)}; delivery {clock(setup, order.expected)}"
        for order in orders
    ]
    return _block("Your orders with us that are on their way:", lines) if lines else "No order of yours is on its way."


def undelivered(sent: str, to: str, subject: str) -> Draft:
    """A letter could not be delivered. The notice does not tell which addresses exist."""
    body = f"Your letter of {sent} could not be delivered: nobody receives mail at {to}"
    return Draft(f"Undelivered: {subject}"[:SUBJECT_LIMIT], body)


def terms(supplier: Supplier) -> str:
    """The terms of trade that a customer must know."""
    bulk = [
        f"- Bulk discount: {percent(tier.off_permille)} off all units from {tier.units} units in one order"
        for tier in supplier.bulk
    ]
    return _block(
        "Terms:",
        (
            f"- Delivery: {days(supplier.lead_days)} after the day of your letter, at {supplier.hour:02d}:00",
            f"- Minimum order: {format_cents(supplier.minimum_cents)}",
            *([f"- Freight: {format_cents(supplier.freight_cents)} an order"] if supplier.freight_cents else ()),
            *(bulk or ("- Bulk discount: none",)),
            "- To order, write each product with its quantity, the delivery address and the account to charge",
        ),
    )


def item_remarks(catalog: Catalog, supplier: Supplier, items: Items) -> list[str]:
    """Remarks on the items of a letter that the supplier cannot send."""
    texts: list[str] = []
    missing = [catalog.by_id[id].name for id in items.units if id not in supplier.products]
    if missing or items.unknown:
        carried = ", ".join(name_and_id(catalog, id) for id in supplier.products)
        texts.append(f"We do not carry {', '.join([*missing, *items.unknown])}. We carry: {carried}.")
    texts += [
        f"We cannot take this quantity of {catalog.by_id[item.product].name}: {item.quantity}. "
        f"Please write whole units or cases, at most {MOST_UNITS:,} units."
        for item in items.unclear
    ]
    if bare := [catalog.by_id[id].name for id in items.bare if id in supplier.products]:
        texts.append(f"You name {', '.join(bare)} without a quantity.")
    return texts


def below_minimum(supplier: Supplier, lines: Iterable[Line]) -> str:
    """The sentence that says why an order or a quote is too small."""
    total, minimum = format_cents(total_cents(lines)), format_cents(supplier.minimum_cents)
    return f"The total of {total} is below our minimum order of {minimum}."


def list_goods(catalog: Catalog, lines: Iterable[Line]) -> str:
    """The goods of an order within a sentence."""
    return ", ".join(f"{line.units} x {name_and_id(catalog, line.product)}" for line in lines)


def name_and_id(catalog: Catalog, product: str) -> str:
    """A product's name and id: "Potato Chips (chips)"."""
    return f"{catalog.by_id[product].name} ({product})"


def days(count: int) -> str:
    """A number of days in words: "1 day", "3 days"."""
    return "1 day" if count == 1 else f"{count} days"


def _goods(setup: Setup, head: str, lines: Sequence[Line], total: str = "Total") -> str:
    rows = [
        f"- {line.units} x {name_and_id(setup.catalog, line.product)} at {format_cents(line.cost_cents)}"
        f" = {format_cents(line.units * line.cost_cents)}"
        for line in lines
    ]
    return _block(head, [*rows, f"{total}: {format_cents(total_cents(lines))}"])


def _block(head: str, lines: Iterable[str]) -> str:
    return "\n".join((head, *lines))
