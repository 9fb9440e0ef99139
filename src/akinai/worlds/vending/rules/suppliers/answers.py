"""Act on a customer's letter and answer it. Money moves on an order or a confirmation alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from akinai.core.money import format_cents
from akinai.worlds.vending.letters.delivery import Delivery, find_delivery
from akinai.worlds.vending.letters.intents import Intent, Items, Kind, Topic
from akinai.worlds.vending.letters.reader import read_letter
from akinai.worlds.vending.letters.text import unquoted
from akinai.worlds.vending.model.actions import Claim
from akinai.worlds.vending.model.setup import Contact, Setup, Supplier
from akinai.worlds.vending.model.state import DAY_MINUTES, OWNER, Letter, Order, State
from akinai.worlds.vending.rules.books import supplier_today
from akinai.worlds.vending.rules.deliveries import claim, claimable, missing_by_count, missing_by_receipt
from akinai.worlds.vending.rules.orders import by_expectation, can_change, cancel_order, change_order, total_cents
from akinai.worlds.vending.rules.suppliers import letters, quotes
from akinai.worlds.vending.rules.suppliers.bargaining import bargain_by_letter
from akinai.worlds.vending.rules.suppliers.letters import Draft
from akinai.worlds.vending.rules.suppliers.quotes import Answer, Request


def understand(
    setup: Setup, subject: str, body: str, contact: Contact | None = None
) -> tuple[tuple[Intent, ...], Delivery]:
    """The intents of a letter, and whether it names the delivery address and the account to charge."""
    contact = contact or setup.contact(OWNER)
    delivery = find_delivery(f"{subject}\n{unquoted(body)}", contact.delivery_address, contact.account)
    whole = find_delivery(f"{subject}\n{body}", contact.delivery_address, contact.account)
    subject, _, text = whole.text.partition("\n")
    return read_letter(text, setup.catalog.good_names, subject or " "), delivery


def answer_letter(state: State, supplier: Supplier, letter: Letter) -> tuple[State, Draft]:
    """Act on every intent of a letter, cancellations first, and answer all of them in one letter."""
    intents, delivery = understand(state.setup, letter.subject, letter.body, state.contact)
    supplier = supplier_today(state, supplier)
    state = state.moved(quoted={**state.quoted, supplier.id: (state.day, supplier.price_permille)})
    wishes = letters.not_to_be_had(f"{letter.subject}\n{letter.body}", intents)
    if wishes and state.setup.street.deliveries.signed:
        return state, letters.reply(supplier, letter.subject, wishes)
    day = letter.at // DAY_MINUTES + 1
    paragraphs: list[str] = []
    terms = False
    for kind, act in _ACTS.items():
        for intent in intents:
            if intent.kind == kind and not (kind in ("thank", "other") and paragraphs):
                answer = act(state, Request(supplier, intent, day, delivery, letter.number))
                state, terms = answer.state, terms or answer.terms
                paragraphs += answer.paragraphs
    if terms:
        paragraphs.append(letters.terms(supplier))
    return state, letters.reply(supplier, letter.subject, *paragraphs)


def _order(state: State, request: Request) -> Answer:
    """Place the order of a letter, all of it or nothing; quote one that is not clear, or names lower prices."""
    supplier, items, prices = request.supplier, request.intent.items, request.intent.offers
    lines = quotes.lines_of(state, supplier, items)
    if not request.intent.clear or any(line.cost_cents > prices.get(line.product, line.cost_cents) for line in lines):
        answer = quotes.quote(state, request)
        return answer.below(letters.NOT_CLEAR if answer.paragraphs else letters.NOTHING_READ)
    reasons: list[str] = []
    if len(lines) < len(items.units) or items.unclear or items.unknown:
        reasons += letters.item_remarks(state.setup.catalog, supplier, items)
    reasons += _missing_details(request.delivery)
    if not reasons and total_cents(lines) < supplier.minimum_cents:
        reasons.append(letters.below_minimum(supplier, lines))
    return quotes.charge(state, request, lines, reasons)


def _missing_details(delivery: Delivery) -> list[str]:
    addressed = [] if delivery.addressed else ["The delivery address is missing."]
    account = "The account to charge is missing, or it is not your account."
    return addressed if delivery.account_named else [*addressed, account]


def _ask(state: State, request: Request) -> Answer:
    intent = request.intent
    topic: Topic = intent.topic or "other"
    if topic == "quote" or (topic == "other" and quotes.lines_of(state, request.supplier, intent.items)):
        return quotes.quote(state, request)
    if topic == "order":
        orders = _open_orders(state, request.supplier)
        named = [order for order in orders if order.number in intent.orders] or orders
        return Answer(state, (letters.on_their_way(state.setup, named), _until_it_leaves(state)))
    if topic == "terms":
        return Answer(state, (_until_it_leaves(state),))
    return Answer(state, (letters.price_list(state.setup, request.supplier),))


def _open_orders(state: State, supplier: Supplier) -> list[Order]:
    return by_expectation([order for order in state.orders if order.supplier == supplier.id])


def _way_text(state: State, request: Request) -> str:
    """The orders of a supplier that are on their way."""
    return letters.on_their_way(state.setup, _open_orders(state, request.supplier))


def _meant_orders(state: State, request: Request) -> list[Order]:
    """The orders on their way that a letter names."""
    return [order for order in _open_orders(state, request.supplier) if order.number in request.intent.orders]


def _leave(state: State, request: Request) -> Answer:
    """The answer to a change or a cancellation that is not clear: what it is of, and a quote of the goods it names."""
    told = letters.NOT_CHANGED, _way_text(state, request), _until_it_leaves(state)
    return replace(quotes.quote(state, request), terms=False).below(*told)


def _refuse_change(state: State, request: Request, orders: Sequence[Order]) -> Answer:
    """The answer when no order can be cancelled or changed."""
    if orders:
        gone = ", ".join(str(order.number) for order in orders)
        head = f"Order {gone} has left our warehouse; it can no longer be changed or cancelled."
    else:
        head = f"Order {', '.join(map(str, request.intent.orders))} is not on its way from us: nothing was changed."
    return Answer(state, (head, _way_text(state, request), _until_it_leaves(state)), terms=False)


def _can_still_change(state: State, order: Order) -> bool:
    """Whether an order can still be changed; where goods are signed for they leave on the same day."""
    return not state.setup.street.deliveries.signed and can_change(order, state.day)


def _until_it_leaves(state: State) -> str:
    return letters.LEAVES_AT_ONCE if state.setup.street.deliveries.signed else letters.UNTIL_IT_LEAVES


def _cancel(state: State, request: Request) -> Answer:
    """Cancel orders that have not left, and withdraw quotes."""
    if not request.intent.clear:
        return _leave(state, request)
    withdrawn = [number for number in request.intent.quotes if number in quotes.valid_quotes(state, request)]
    if withdrawn and not request.intent.orders:
        for number in withdrawn:
            state = quotes.drop_quote(state, number)
        return Answer(state, (f"Quote {', '.join(f'Q-{number}' for number in withdrawn)} is withdrawn.",), terms=False)
    meant = _meant_orders(state, request)
    cancelled = [order for order in meant if _can_still_change(state, order)]
    if not cancelled:
        return _refuse_change(state, request, meant)
    for order in cancelled:
        state = cancel_order(state, order)
    texts = [
        f"Order {order.number} is cancelled; {format_cents(order.total_cents)} is back on your account."
        for order in cancelled
    ]
    remaining = [order for order in meant if order not in cancelled]
    gone = _refuse_change(state, request, remaining).paragraphs if remaining else ()
    return Answer(state, (*texts, *gone), terms=False)


def _change(state: State, request: Request) -> Answer:
    """Change the units of an order that has not left, at the prices of today's list; or quote a changed quote anew."""
    intent, supplier = request.intent, request.supplier
    if not intent.clear:
        return _leave(state, request)
    if intent.quotes:
        former = [offer for number, offer in quotes.valid_quotes(state, request).items() if number in intent.quotes]
        items = replace(intent.items, units=quotes.changed_units(quotes.units_of(*former), intent))
        return quotes.quote(state, replace(request, intent=replace(intent, items=items)))
    meant = _meant_orders(state, request)
    open_orders = [order for order in meant if _can_still_change(state, order)]
    if len(open_orders) != 1:
        return _refuse_change(state, request, meant)
    order = open_orders[0]
    units = {line.product: line.units for line in order.lines}
    changed_items = Items(
        quotes.changed_units(units, intent), unclear=intent.items.unclear, unknown=intent.items.unknown
    )
    if not changed_items.has_quantities:
        return _cancel(state, replace(request, intent=Intent("cancel", orders=(order.number,))))
    lines = quotes.lines_of(state, supplier, changed_items)
    reasons: list[str] = []
    if len(lines) < len(changed_items.units) or changed_items.unclear or changed_items.unknown:
        reasons += letters.item_remarks(state.setup.catalog, supplier, changed_items)
    elif total_cents(lines) < supplier.minimum_cents:
        reasons.append(letters.below_minimum(supplier, lines))
    elif (more := total_cents(lines) - order.total_cents) > state.cash_cents:
        reasons.append(f"Your account does not cover the additional {format_cents(more)}.")
    if reasons:
        return Answer(state, (f"Order {order.number} stays as it was:", *reasons))
    state, changed = change_order(state, order, lines)
    more = changed.total_cents - order.total_cents
    return Answer(state, (letters.changed(state.setup, changed, more),), terms=False)


def _claim(state: State, request: Request) -> Answer:
    if state.setup.street.deliveries.signed:
        return _claim_of_parcel(state, request)
    records = "We have checked our records: whatever you paid for was delivered in full, or is on its way."
    return Answer(state, (records, _way_text(state, request)), terms=False)


def _claim_of_parcel(state: State, request: Request) -> Answer:
    """Claim what was counted as missing, as the tool does; nothing is paid for anything else in the letter.

    A letter that counts all that came, "candy: 24 of 24", is easily taken to claim what is not missing.
    """
    intent = request.intent
    number = intent.orders[0] if intent.orders else claimable(state, request.supplier)
    if number is None:
        return Answer(state, ("Please write the number of the order, and the units that are missing.",), terms=False)
    missing = {**missing_by_receipt(state, number, intent.received), **intent.items.units}
    if not missing:
        return Answer(state, (f"Please write the units that order {number} lacks.",), terms=False)
    counted = missing_by_count(state, number)
    paid = {id: min(units, counted[id]) for id, units in missing.items() if id in counted}
    state, outcome = claim(state, Claim(order=number, missing=paid or missing))
    sentence = outcome.text.removeprefix(f"order {number} ")
    paragraphs = [f"Order {number}{'' if sentence != outcome.text else ':'} {sentence}"]
    if outcome.ok and paid != missing:
        beyond = [state.setup.catalog.by_id[id].name for id, units in missing.items() if units > paid.get(id, 0)]
        paragraphs.append(f"No more is claimed than you counted as missing; you name more of {', '.join(beyond)}.")
    return Answer(state, tuple(paragraphs), terms=False)


def _negotiate(state: State, request: Request) -> Answer:
    if state.setup.street.drawn:
        return _bargain(state, request)
    fixed = "Our prices are the same for everybody, and the only discounts are those of our terms."
    return quotes.quote(state, request).below(fixed) if request.intent.items.units else Answer(state, (fixed,))


def _bargain(state: State, request: Request) -> Answer:
    """Bargain as the tool does; goods with quantities also get a quote at the new prices."""
    state, text = bargain_by_letter(state, request.supplier, request.intent)
    if not request.intent.items.units:
        return Answer(state, (text,))
    supplier = supplier_today(state, state.setup.catalog.supplier_by_id[request.supplier.id])
    return quotes.quote(state, replace(request, supplier=supplier)).below(text)


def _complain(state: State, request: Request) -> Answer:
    sorry = "We are sorry that you are not satisfied, and thank you for telling us."
    return Answer(state, (sorry, _way_text(state, request)), terms=False)


def _thank(state: State, _: Request) -> Answer:
    return Answer(state, ("Thank you for your kind words. We are glad to be of service.",), terms=False)


def _other(state: State, request: Request) -> Answer:
    """Goods with quantities get a quote, an order on its way is told of; anything else gets the price list."""
    if named := [order for order in _open_orders(state, request.supplier) if order.number in request.intent.orders]:
        return Answer(state, (letters.on_their_way(state.setup, named),), terms=False)
    if quotes.lines_of(state, request.supplier, request.intent.items):
        return quotes.quote(state, request)
    return Answer(state, (letters.price_list(state.setup, request.supplier),))


_ACTS: Mapping[Kind, Callable[[State, Request], Answer]] = {
    "cancel": _cancel,
    "change": _change,
    "confirm": quotes.confirm,
    "order": _order,
    "negotiate": _negotiate,
    "claim": _claim,
    "ask": _ask,
    "complain": _complain,
    "thank": _thank,
    "other": _other,
}
