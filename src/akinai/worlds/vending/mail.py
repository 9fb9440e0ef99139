"""The post: letters out, answers the next morning, orders and their deliveries. All of it moves a state to a state."""

from __future__ import annotations  # rpds classes take no parameters at run time

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, cast

from rpds import Queue

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending import letters
from akinai.worlds.vending.letters import Draft
from akinai.worlds.vending.reading import Request, read_request
from akinai.worlds.vending.setup import Supplier
from akinai.worlds.vending.state import DAY_MINUTES, Letter, Line, Lot, Mail, Order, Quote, State, clock, merged
from akinai.worlds.vending.suppliers import days_late, promised_minute, quote_lines, total_cents
from akinai.worlds.vending.words import LINE_ENDS

__all__ = [
    "ShownLetter",
    "by_expectation",
    "letters_in",
    "morning_post",
    "next_post_minute",
    "place",
    "post_due",
    "read_mail",
    "send",
]

QUOTE_DAYS = 14
"""Days after its own on which a quote can still be confirmed."""
PAGE = 20
"""Letters that one look at the mail shows."""

Folder = Literal["inbox", "sent"]


def send(state: State, to: str, subject: str, body: str) -> State:
    """Post a letter, to be answered the next morning. A supplier written to is known from then on."""
    mail = state.mail
    letter = Letter(mail.letters + 1, state.minute, state.setup.email, _flat(to), _flat(subject), _even(body))
    mail = replace(mail, letters=letter.number, sent=mail.sent.push_front(letter), waiting=(*mail.waiting, letter))
    supplier = state.setup.catalog.supplier_by_address.get(letter.to.lower())
    if supplier is None or supplier.id in state.known_suppliers:
        return replace(state, mail=mail)
    return replace(state, mail=mail, known_suppliers=(*state.known_suppliers, supplier.id))


def morning_post(state: State) -> State:
    """Answer every letter of an earlier day, in the order of sending; then drop the quotes that expired.

    A supplier reads its letter and answers, charging cash and making an order where one is asked for and can be
    paid; the owner's own letters arrive as they are; all others come back from the mailer-daemon.
    """
    if not state.mail.waiting and not len(state.mail.quotes):
        return state
    today = (state.day - 1) * DAY_MINUTES
    due = [letter for letter in state.mail.waiting if letter.at < today]
    state = replace(state, mail=replace(state.mail, waiting=state.mail.waiting[len(due) :]))
    for letter in due:
        state = _answered(state, letter)
    quotes = state.mail.quotes
    for number in [offer.number for offer in quotes.values() if offer.last_day < state.day]:
        quotes = quotes.remove(number)
    state = replace(state, mail=replace(state.mail, quotes=quotes))
    return post_due(state, state.minute)  # a delivery before 08:00 may be due by now


def place(state: State, supplier: Supplier, lines: tuple[Line, ...], day: int) -> tuple[State, Order]:
    """Charge for the goods and send them on their way; `day` is that of the letter or of the order form.

    ValueError when cash does not cover them: whoever calls has refused that before.
    """
    if (total := total_cents(lines)) > state.cash_cents:
        raise ValueError(f"an order of {total} cents was to be charged to {state.cash_cents}; refuse it instead")
    promised = promised_minute(supplier, day)
    due = promised + DAY_MINUTES * days_late(state.economy.root, supplier, day)
    order = Order(state.order_count + 1, supplier.id, lines, day, promised, due)
    orders = tuple(sorted((*state.orders, order), key=lambda one: (one.due, one.number)))
    return replace(state, cash_cents=state.cash_cents - total, orders=orders, order_count=order.number), order


def next_post_minute(state: State) -> int | None:
    """The next minute, now or later, at which a delay is announced or goods come; None when nothing is on its way.

    Mornings are not told: the post of 08:00 comes every day.
    """
    if not state.orders:
        return None
    return max(state.minute, min(order.expected for order in state.orders))


def by_expectation(orders: Iterable[Order]) -> list[Order]:
    """Orders as the owner may see them: sorted by when they really come, a delay would show before its letter."""
    return sorted(orders, key=lambda one: (one.expected, one.number))


def post_due(state: State, minute: int) -> State:
    """Announce the delays and deliver the goods that are due by a minute; the clock is the caller's to move."""
    for order in [order for order in state.orders if order.expected <= minute]:
        state = _delivered(state, order, minute) if order.due <= minute else _announced(state, order, minute)
    return state


def _announced(state: State, order: Order, minute: int) -> State:
    supplier = state.setup.catalog.supplier_by_id[order.supplier]
    told = replace(order, announced=True)
    state = replace(state, orders=tuple(told if one is order else one for one in state.orders))
    return _received(state, supplier.address, letters.late(state.setup, supplier, order), minute)


def _delivered(state: State, order: Order, minute: int) -> State:
    """The goods into storage; their life begins on the day they come."""
    setup, day = state.setup, minute // DAY_MINUTES + 1
    storage = dict(state.storage)
    for line in order.lines:
        lot = Lot(line.units, line.cost_cents, day + setup.catalog.by_id[line.product].shelf_days)
        storage[line.product] = merged((*storage.get(line.product, ()), lot))
    state = replace(state, storage=storage, orders=tuple(one for one in state.orders if one is not order))
    supplier = setup.catalog.supplier_by_id[order.supplier]
    return _received(state, supplier.address, letters.delivered(setup, supplier, order, minute), minute)


def _received(state: State, sender: str, draft: Draft, minute: int) -> State:
    mail = state.mail
    letter = Letter(mail.letters + 1, minute, sender, state.setup.email, draft.subject, draft.body)
    return replace(state, mail=replace(mail, letters=letter.number, unread=mail.unread.enqueue(letter)))


def _answered(state: State, letter: Letter) -> State:
    setup, to = state.setup, letter.to.lower()
    if to == setup.email.lower():
        return _received(state, letter.sender, Draft(letter.subject, letter.body), state.minute)
    supplier = setup.catalog.supplier_by_address.get(to)
    if supplier is None:
        daemon = f"mailer-daemon@{setup.email.rpartition('@')[2]}"
        draft = letters.undelivered(clock(setup, letter.at), letter.to, letter.subject)
        return _received(state, daemon, draft, state.minute)
    request = read_request(setup, letter.subject, letter.body)
    state, draft = _reply(state, supplier, letter, request)
    return _received(state, supplier.address, draft, state.minute)


def _reply(state: State, supplier: Supplier, letter: Letter, request: Request) -> tuple[State, Draft]:
    match request.intent:
        case "order":
            return _ordered(state, supplier, letter, request)
        case "confirm":
            return _confirmed(state, supplier, letter, request)
        case "quote":
            return _quoted(state, supplier, letter, request)
        case "price_list":
            return state, letters.price_list(state.setup, supplier, letter.subject)
        case "question":
            mine = by_expectation([order for order in state.orders if order.supplier == supplier.id])
            return state, letters.on_their_way(state.setup, supplier, mine, letter.subject)


def _ordered(state: State, supplier: Supplier, letter: Letter, request: Request) -> tuple[State, Draft]:
    """Place what a letter orders, all of it or nothing."""
    catalog, items = state.setup.catalog, request.items
    wanted = {id: units for id, units in items.units.items() if id in supplier.products}
    lines = quote_lines(catalog, supplier, wanted)
    reasons: list[str] = []
    if len(wanted) < len(items.units) or items.unclear or items.unknown:
        reasons += letters.remarks(catalog, supplier, items)
    elif not lines:
        reasons.append("We found no product with a quantity in your letter.")
    if not request.addressed:
        reasons.append("The delivery address is missing.")
    if not request.account_named:
        reasons.append("The account to charge is missing, or it is not your account.")
    if not reasons and total_cents(lines) < supplier.minimum_cents:
        reasons.append(letters.below_minimum(supplier, lines))
    return _charged(state, supplier, letter, request, lines, reasons)


def _confirmed(state: State, supplier: Supplier, letter: Letter, request: Request) -> tuple[State, Draft]:
    """Place what was quoted, at the price that was quoted; the quote is used up."""
    day = letter.at // DAY_MINUTES + 1
    mine = [one for one in state.mail.quotes.values() if one.supplier == supplier.id and one.last_day >= day]
    numbers = [one.number for one in mine] if request.quote is None else [request.quote]
    offer = next((one for one in mine if numbers and one.number == max(numbers)), None)
    if offer is None:
        which = "" if request.quote is None else f" Q-{request.quote}"
        reason = f"No quote{which} of ours stands for you: it was ordered, has expired, or was never made."
        return state, letters.not_placed(supplier, [reason], letter.subject)
    reasons: list[str] = []
    units = {line.product: line.units for line in offer.lines}
    if request.items.found and request.items.units != units:
        goods = letters.goods_in_a_row(state.setup.catalog, offer.lines)
        reasons.append(f"Quote Q-{offer.number} is for {goods}, and your letter names other quantities.")
    after, draft = _charged(state, supplier, letter, request, offer.lines, reasons)
    if after is state:
        return state, draft
    return replace(after, mail=replace(after.mail, quotes=after.mail.quotes.remove(offer.number))), draft


def _charged(
    state: State, supplier: Supplier, letter: Letter, request: Request, lines: tuple[Line, ...], reasons: Sequence[str]
) -> tuple[State, Draft]:
    """The order, unless there are reasons against it or the cash does not cover it; then the very same state."""
    if not reasons and (total := total_cents(lines)) > state.cash_cents:
        reasons = [f"Your account does not cover the total of {format_cents(total)}."]
    if reasons:
        return state, letters.not_placed(supplier, reasons, letter.subject)
    state, order = place(state, supplier, lines, letter.at // DAY_MINUTES + 1)
    return state, letters.placed(state.setup, supplier, order, request.items, letter.subject)


def _quoted(state: State, supplier: Supplier, letter: Letter, request: Request) -> tuple[State, Draft]:
    items = request.items
    wanted = {id: units for id, units in items.units.items() if id in supplier.products}
    lines = quote_lines(state.setup.catalog, supplier, wanted)
    if not lines or total_cents(lines) < supplier.minimum_cents:
        return state, letters.prices_only(state.setup, supplier, lines, items, letter.subject)
    # a quote bears the number of the letter that brings it
    offer = Quote(state.mail.letters + 1, supplier.id, lines, state.day + QUOTE_DAYS)
    state = replace(state, mail=replace(state.mail, quotes=state.mail.quotes.insert(offer.number, offer)))
    return state, letters.quote(state.setup, supplier, offer, items, letter.subject)


def read_mail(state: State, *, only_unread: bool = True, folder: Folder = "inbox") -> tuple[State, Outcome]:
    """Show up to 20 letters: the oldest unread ones, or the latest of a folder, newest first.

    Unread letters that are shown are read from then on. While more than 20 are unread these come first, also when the
    whole inbox is asked for.
    """
    mail = state.mail
    if folder == "sent":
        shown = list(islice(mail.sent, PAGE))
        return state, _shown(state, shown, f"The latest {len(shown)} of {len(mail.sent)} letters you sent.")
    unread = len(mail.unread)
    mail, opened = _opened(mail)
    state = replace(state, mail=mail)
    if only_unread or unread > PAGE:
        left = f"; {len(mail.unread)} more are unread" if len(mail.unread) else ""
        return state, _shown(state, opened, f"{_count(len(opened), 'new letter')}{left}.")
    shown = list(islice(mail.read, PAGE))
    return state, _shown(state, shown, f"The latest {len(shown)} of {_count(len(mail.read), 'letter')}.")


def _opened(mail: Mail) -> tuple[Mail, list[Letter]]:
    """The box with its oldest unread letters read, and these."""
    unread, read, opened = mail.unread, mail.read, list[Letter]()
    while len(opened) < PAGE and len(unread):
        letter, unread = _first(unread), _without_first(unread)
        read = read.push_front(letter)
        opened.append(letter)
    return (replace(mail, unread=unread, read=read) if opened else mail), opened


def _first(letters: Queue[Letter]) -> Letter:
    first: Any = cast("Any", letters).peek  # a property in some releases of rpds, a method in others
    return cast("Letter", first() if callable(first) else first)


def _without_first(letters: Queue[Letter]) -> Queue[Letter]:
    return cast("Any", letters).dequeue()  # the stub of rpds asks for an argument that does not exist


def _count(number: int, noun: str) -> str:
    return f"{number or 'No'} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class ShownLetter:
    """A letter as READ_EMAIL tells it."""

    number: int
    date: str
    sender: str
    to: str
    subject: str
    body: str


def letters_in(text: str) -> tuple[ShownLetter, ...]:
    """The letters in a text of READ_EMAIL, exactly as they were, whatever their bodies hold."""
    found: list[ShownLetter] = []
    for match in _SHOWN.finditer(text):
        body = _SET_OFF.sub(r"\1", match["body"][:-1])
        found.append(
            ShownLetter(int(match["number"]), match["date"], match["sender"], match["to"], match["subject"], body)
        )
    return tuple(found)


_SHOWN = re.compile(
    r"^--- letter (?P<number>[0-9]+) ---\nDate: (?P<date>.*)\nFrom: (?P<sender>.*)\nTo: (?P<to>.*)\n"
    r"Subject: (?P<subject>.*)\n\n(?P<body>(?:.*\n)*?)(?=--- )",
    re.MULTILINE,
)
_DASHES = re.compile(r"^( *--- )", re.MULTILINE)
_SET_OFF = re.compile(r"^ ( *--- )", re.MULTILINE)
_LAST_LINE = "--- end of mail ---"


def _shown(state: State, shown: Sequence[Letter], head: str) -> Outcome:
    """Letters as text and as data. A line of a body that could pass for a delimiter is set off by one more space."""
    told: list[str] = []
    data: list[Json] = []
    for one in shown:
        date = clock(state.setup, one.at)
        told.append(
            f"--- letter {one.number} ---\nDate: {date}\nFrom: {one.sender}\nTo: {one.to}\nSubject: {one.subject}\n\n"
            + _DASHES.sub(r" \1", one.body)
        )
        known: dict[str, Json] = {"number": one.number, "date": date, "from": one.sender, "to": one.to}
        data.append(known | {"subject": one.subject, "body": one.body})
    text = "\n".join((head, "", *told, _LAST_LINE)) if told else head
    return Outcome(text, data={"letters": data})


def _flat(text: str) -> str:
    """A header's text in one line."""
    return " ".join(text.split())


def _even(text: str) -> str:
    """A body's text with one kind of line end."""
    return LINE_ENDS.sub("\n", text)
