"""Quotes for quantities, and what happens when a letter accepts one, whole or changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from akinai.core.money import format_cents
from akinai.worlds.vending.letters.delivery import Delivery
from akinai.worlds.vending.letters.intents import Intent, Items
from akinai.worlds.vending.model.setup import Supplier
from akinai.worlds.vending.model.state import Line, Quote, State
from akinai.worlds.vending.rules.orders import add_order, charge_cents, quote_lines, total_cents
from akinai.worlds.vending.rules.suppliers import letters

QUOTE_DAYS = 14
"""Days for which a quote can still be confirmed, after the day it was made."""


@dataclass(frozen=True, slots=True)
class Request:
    """An intent of a letter, with what its answer depends on."""

    supplier: Supplier
    intent: Intent
    day: int
    """The day on which the letter was written."""
    delivery: Delivery
    letter: int
    """The number of the letter."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The state after a supplier acted on a request, and the paragraphs that it writes about it."""

    state: State
    paragraphs: tuple[str, ...]
    terms: bool = True
    """Whether the terms of trade belong at the end of the letter."""

    def below(self, *head: str) -> "Answer":
        """The same answer below further paragraphs."""
        return replace(self, paragraphs=(*head, *self.paragraphs))


def confirm(state: State, request: Request) -> Answer:
    """Place the orders of quotes, each by itself, at the quoted prices; a quote can be ordered once."""
    intent, offers = request.intent, valid_quotes(state, request)
    numbers = intent.quotes or tuple(sorted(offers))
    meant = [offers[number] for number in numbers if number in offers]
    if not meant:
        return Answer(state, (letters.not_placed([_no_quote(numbers)]),))
    if not intent.clear or (len(meant) > 1 and not intent.quotes):
        return Answer(state, (letters.NOT_CONFIRMED, *(letters.quote(state.setup, offer) for offer in meant)))
    if intent.items.has_quantities and intent.items.units != units_of(*meant):
        goods = letters.list_goods(state.setup.catalog, [line for offer in meant for line in offer.lines])
        quotes = ", ".join(f"Q-{offer.number}" for offer in meant)
        head = f"Quote {quotes} is for {goods}, and your letter names other quantities; nothing was charged."
        return quote(state, request).below(head)
    paragraphs: list[str] = []
    for offer in meant:
        answer = charge(state, request, offer.lines, ())
        placed = answer.state.order_count > state.order_count
        state = drop_quote(answer.state, offer.number) if placed else answer.state
        paragraphs += answer.paragraphs
    if unknown := [number for number in numbers if number not in offers]:
        paragraphs.append(_no_quote(unknown))
    return Answer(state, tuple(paragraphs))


def _no_quote(numbers: Sequence[int]) -> str:
    which = "".join(f" Q-{number}" for number in numbers)
    return f"No quote{which} of ours stands for you: it was ordered, has expired, or was never made."


def changed_units(former: Mapping[str, int], change: Intent) -> dict[str, int]:
    """The units after a change, which names new totals or differences; goods without units are left out."""
    units = {**former, **change.items.units}
    units |= {id: max(0, former.get(id, 0) + count) for id, count in change.more.items()}
    return {id: count for id, count in units.items() if count}


def units_of(*offers: Quote) -> dict[str, int]:
    """The units of quotes together, by product id."""
    units: dict[str, int] = {}
    for line in (line for offer in offers for line in offer.lines):
        units[line.product] = units.get(line.product, 0) + line.units
    return units


def charge(state: State, request: Request, lines: tuple[Line, ...], reasons: Sequence[str]) -> Answer:
    """Place an order. With reasons against it, or without the cash for it, the state stays the same."""
    if not reasons and (total := charge_cents(request.supplier, lines)) > state.cash_cents:
        reasons = [f"Your account does not cover the total of {format_cents(total)}."]
    if reasons:
        return Answer(state, (letters.not_placed(reasons),))
    state, order = add_order(state, request.supplier, lines, request.day, request.letter)
    remarks = letters.item_remarks(state.setup.catalog, request.supplier, request.intent.items)
    return Answer(state, (letters.placed(state.setup, order), *remarks), terms=False)


def valid_quotes(state: State, request: Request) -> Mapping[int, Quote]:
    """The supplier's quotes that were valid on the day of the letter."""
    return {
        quote.number: quote
        for quote in state.mail.quotes.values()
        if quote.supplier == request.supplier.id and quote.last_day >= request.day
    }


def drop_quote(state: State, number: int) -> State:
    """The state without a quote, which was ordered or withdrawn."""
    return state.moved(mail=replace(state.mail, quotes=state.mail.quotes.delete(number)))


def lines_of(state: State, supplier: Supplier, items: Items) -> tuple[Line, ...]:
    """The lines of the items that a supplier carries."""
    quantities = {id: units for id, units in items.units.items() if id in supplier.products}
    return quote_lines(state.setup.catalog, supplier, quantities)


def quote(state: State, request: Request) -> Answer:
    """Quote the goods that a letter names, with a number to confirm; below the minimum order, only their prices.

    A quote at agreed prices ends with the agreement.
    """
    supplier, items, setup = request.supplier, request.intent.items, state.setup
    lines = lines_of(state, supplier, items)
    remarks = letters.item_remarks(setup.catalog, supplier, items)
    if not lines or total_cents(lines) < supplier.minimum_cents:
        return Answer(state, (*letters.prices_only(setup, supplier, lines), *remarks))
    # A quote has the number of the letter that brings it; a letter brings one quote.
    number = state.mail.letters + 1
    if number in state.mail.quotes:
        return Answer(state, (*letters.prices_only(setup, supplier, lines), *remarks))
    talk, last_day = state.talks.get(supplier.id), state.day + QUOTE_DAYS
    if talk is not None and talk.last_day >= state.day:
        last_day = min(last_day, talk.last_day)
    offer = Quote(number, supplier.id, lines, last_day)
    state = state.moved(mail=replace(state.mail, quotes=state.mail.quotes.set(offer.number, offer)))
    return Answer(state, (letters.quote(setup, offer), *remarks))
