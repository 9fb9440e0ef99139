"""Orders: what suppliers charge, when they deliver, orders by form, and what is on its way and in storage."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents, half_up
from akinai.worlds.vending.model.actions import PlaceOrder
from akinai.worlds.vending.model.setup import Catalog, Product, Supplier
from akinai.worlds.vending.model.state import DAY_MINUTES, Line, Order, Result, State, clock, date_text, weekday_of
from akinai.worlds.vending.rules.books import book, in_business, supplier_today
from akinai.worlds.vending.rules.deliveries import dispatch, order_text


def quote_lines(catalog: Catalog, supplier: Supplier, quantities: Mapping[str, int]) -> tuple[Line, ...]:
    """The lines of a quote for units by product id, in the catalogue's order.

    The units of all products together decide the discount, which applies to every unit. A unit's price is rounded half
    up to a whole cent, and the total is the sum of units x unit price. KeyError for a product that is not in the
    catalogue.
    """
    off = discount_permille(supplier, sum(quantities.values()))
    positions = {product.id: position for position, product in enumerate(catalog.products)}
    return tuple(
        Line(id, quantities[id], unit_cents(supplier, catalog.by_id[id], off))
        for id in sorted(quantities, key=positions.__getitem__)
    )


def unit_cents(supplier: Supplier, product: Product, off_permille: int = 0) -> int:
    """The price of a unit in whole cents; without a discount, the list price."""
    own = supplier.own_by_product.get(product.id) if supplier.own_permille else None
    if own is not None:
        return max(1, half_up(product.wholesale_cents * supplier.price_permille * own, 1_000_000))
    return half_up(product.wholesale_cents * supplier.price_permille * (1000 - off_permille), 1_000_000)


def discount_permille(supplier: Supplier, units: int) -> int:
    """The discount on an order of so many units: that of the highest tier it reaches."""
    return max((tier.off_permille for tier in supplier.bulk if units >= tier.units), default=0)


def total_cents(lines: Iterable[Line]) -> int:
    """The total price of the lines of an order or a quote."""
    return sum(line.units * line.cost_cents for line in lines)


def charge_cents(supplier: Supplier, lines: Iterable[Line]) -> int:
    """The full cost of an order in cents: its goods and the freight."""
    return total_cents(lines) + supplier.freight_cents


def promised_minute(supplier: Supplier, day: int) -> int:
    """The minute, since the start, for which a supplier promises an order of that day."""
    return (day - 1 + supplier.lead_days) * DAY_MINUTES + supplier.hour * 60


def add_order(
    state: State, supplier: Supplier, lines: tuple[Line, ...], day: int, letter: int = 0
) -> tuple[State, Order]:
    """Charge for the goods and send them on their way; `day` is that of the letter or of the order form.

    `letter` is the number of the letter that ordered them.

    ValueError when cash does not cover them: the caller must refuse such an order.
    """
    if (total := charge_cents(supplier, lines)) > state.cash_cents:
        raise ValueError(f"an order of {total} cents was to be charged to {state.cash_cents}; refuse it instead")
    promised = promised_minute(supplier, day)
    order = Order(state.order_count + 1, supplier.id, lines, day, promised, promised, letter=letter)
    order = dispatch(state, supplier, order)
    state = book(book(state, "orders", -total_cents(lines)), "freight", -supplier.freight_cents)
    bought = {**state.bought, supplier.id: state.bought.get(supplier.id, 0) + total_cents(lines)}
    orders = tuple(sorted((*state.orders, order), key=lambda order: (order.due, order.number)))
    return state.moved(orders=orders, order_count=order.number, bought=bought), order


def can_change(order: Order, day: int) -> bool:
    """Whether an order can be changed on the morning of that day: it leaves on the evening before its delivery."""
    return day < order.expected // DAY_MINUTES + 1


def cancel_order(state: State, order: Order) -> State:
    """Cancel an order and pay its price back."""
    orders = tuple(other for other in state.orders if other is not order)
    return book(state.moved(orders=orders), "orders", order.total_cents)


def change_order(state: State, order: Order, lines: tuple[Line, ...]) -> tuple[State, Order]:
    """Put other lines into an order; charge the difference or pay it back. ValueError: cash does not cover it."""
    changed = replace(order, lines=lines)
    if (more := changed.total_cents - order.total_cents) > state.cash_cents:
        raise ValueError(f"a change of {more} cents was to be charged to {state.cash_cents}; refuse it instead")
    orders = tuple(changed if other is order else other for other in state.orders)
    return book(state.moved(orders=orders), "orders", -more), changed


def by_expectation(orders: Iterable[Order]) -> list[Order]:
    """Orders in the order the owner may see: sorted by their true time, a delay would show before its letter."""
    return sorted(orders, key=lambda order: (order.expected, order.number))


def place_order(state: State, action: PlaceOrder) -> Result:
    """Order at the price that an order by letter would pay, charged at once.

    Refused as `no_employee` for another day, `unknown_supplier`, `unknown_product`, `not_sold` (not by this supplier),
    `below_minimum`, `no_cash`.
    """
    catalog = state.setup.catalog
    if action.day not in (None, weekday_of(state)) and not state.setup.weekly:
        return state, Outcome.refused("no_employee", "nobody orders for you on another day; order on that day")
    supplier = catalog.find_supplier(action.supplier_id)
    if supplier is None or not in_business(state, supplier):
        known = ", ".join(state.known_suppliers) or "none yet: search the web"
        text = f"no supplier {action.supplier_id!r:.60}" + state.setup.hint(f"; the ones you know: {known}")
        return state, Outcome.refused("unknown_supplier", text)
    supplier = supplier_today(state, supplier)
    quantities: dict[str, int] = {}
    for name, units in action.items.items():
        product = catalog.find(name)
        if product is None:
            return state, unknown_product(state, name)
        if product.id not in supplier.products:
            text = f"{supplier.name} does not sell {product.name}"
            text += state.setup.hint(f"; it sells {', '.join(supplier.products)}")
            return state, Outcome.refused("not_sold", text)
        quantities[product.id] = quantities.get(product.id, 0) + units
    lines = quote_lines(catalog, supplier, quantities)
    total = total_cents(lines)
    if total < supplier.minimum_cents:
        text = f"this is below the minimum order of {supplier.name}" + state.setup.hint(
            f": it takes orders from {format_cents(supplier.minimum_cents)}; this is {format_cents(total)}"
        )
        return state, Outcome.refused("below_minimum", text)
    total = charge_cents(supplier, lines)
    if total > state.cash_cents:
        if not state.setup.advice:
            return state, Outcome.refused("no_cash", "you cannot pay for this order")
        text = f"this costs {format_cents(total)} and your cash is {format_cents(state.cash_cents)}"
        return state, Outcome.refused("no_cash", text, {"total_cents": total, "cash_cents": state.cash_cents})
    state, order = add_order(know_suppliers(state, [supplier.id]), supplier, lines, state.day)
    data: dict[str, Json] = {"order": order.number, "total_cents": total, "cash_cents": state.cash_cents}
    return state, Outcome(order_text(state, order, total), data=data)


def check_deliveries(state: State) -> Result:
    """List the orders on their way, and the goods in storage."""
    names = state.setup.catalog.by_id
    lines: list[str] = []
    data: list[Json] = []
    for order in by_expectation(state.orders):
        goods = ", ".join(f"{line.units} {names[line.product].name}" for line in order.lines)
        promised = clock(state.setup, order.expected)
        late = " (delayed)" if order.announced else ""
        lines.append(f"- Order {order.number} from {order.supplier}: {goods}; promised for {promised}{late}")
        units: dict[str, Json] = {line.product: line.units for line in order.lines}
        data.append({"order": order.number, "supplier": order.supplier, "units": units, "promised": promised})
    way = "On their way:\n" + "\n".join(lines) if lines else "Nothing is on its way."
    storage = list_storage(state)[1]
    return state, Outcome(f"{way}\n{storage.text}", data={"on_their_way": data, "storage": {**state.stored}})


def list_storage(state: State) -> Result:
    """List the goods in storage, lot by lot."""
    names, stored = state.setup.catalog.by_id, state.stored
    lots = {
        product: [f"{n} at {format_cents(cost)}, sell by {date_text(state.setup, last)}" for n, cost, last in own]
        for product, own in state.storage.items()
    }
    lines = [f"- {names[id].name} ({id}): {units} units ({', '.join(lots[id])})" for id, units in stored.items()]
    text = "Storage:\n" + "\n".join(lines) if lines else "Storage is empty."
    return state, Outcome(text, data={"storage": {**stored}})


def view_suppliers(state: State) -> Result:
    """List the suppliers that the owner found or wrote to."""
    suppliers = [state.setup.catalog.supplier_by_id[id] for id in state.known_suppliers]
    lines = [f"- {supplier.name} ({supplier.id}), {supplier.address}: {supplier.about}" for supplier in suppliers]
    text = "Suppliers you know:\n" + "\n".join(lines) if lines else "You know no supplier yet; search the web."
    return state, Outcome(text, data={"suppliers": [supplier.id for supplier in suppliers]})


def know_suppliers(state: State, ids: Sequence[str]) -> State:
    """The state after the owner learned of these suppliers."""
    new = [id for id in ids if id not in state.known_suppliers]
    return state.moved(known_suppliers=(*state.known_suppliers, *new)) if new else state


def unknown_product(state: State, name: str) -> Outcome:
    """The refusal of a product that is not in the catalogue, with the closest name."""
    close = get_close_matches(name.lower(), state.setup.catalog.by_id, n=1)
    offer = f"did you mean {close[0]!r}?" if close else f"there is {', '.join(state.setup.catalog.by_id)}"
    return Outcome.refused("unknown_product", f"no product {name!r:.80} in the catalog{state.setup.hint(f'; {offer}')}")
