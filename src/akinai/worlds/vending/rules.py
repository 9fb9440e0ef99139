"""What each verb does, as pure functions (state, action) -> (state, outcome). Time is the caller's business."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending import actions as a
from akinai.worlds.vending import mail, suppliers, web
from akinai.worlds.vending.days import without
from akinai.worlds.vending.setup import Product
from akinai.worlds.vending.state import Lot, Restocked, Slot, State, clock, merged

Result = tuple[State, Outcome]


def read_email(state: State, action: a.ReadEmail) -> Result:
    """Read new letters, oldest first, or the latest of a folder."""
    return mail.read_mail(state, only_unread=action.only_unread, folder=action.folder)


def send_email(state: State, action: a.SendEmail) -> Result:
    """Send a letter; whether anybody lives at the address shows the next morning.

    Refused as `no_address` when `to` holds no address, or several.
    """
    to = action.to.strip().lower()
    if to.startswith("<") or to.endswith(">"):
        to = to.rpartition("<")[2].strip("<> ")
    if to.count("@") != 1 or any(mark in to for mark in " ,;\t\n") or to.startswith("@") or to.endswith("@"):
        return state, Outcome.refused(
            "no_address", f"{action.to!r:.120} is not one e-mail address like name@example.com"
        )
    return mail.send(state, to, action.subject, action.body), Outcome(f"Sent to {to}.", data={"to": to})


def search_web(state: State, action: a.SearchWeb) -> Result:
    """Search the canned pages; suppliers whose address is shown become known."""
    pages = web.pages_for(state.setup, action.query)
    shown = {id for page in pages for id in page.suppliers}
    found = [one.id for one in state.setup.catalog.suppliers if one.id in shown]
    return _knowing(state, found), web.told(action.query, pages)


def place_order(state: State, action: a.PlaceOrder) -> Result:
    """Order at the price a letter would pay, charged at once.

    Refused as `unknown_supplier`, `unknown_product`, `not_sold` (not by this supplier), `below_minimum`, `no_cash`.
    """
    catalog = state.setup.catalog
    supplier = catalog.supplier_by_id.get(action.supplier_id.strip().lower())
    if supplier is None:
        known = ", ".join(state.known_suppliers) or "none yet: search the web"
        text = f"no supplier {action.supplier_id!r:.60}; the ones you know: {known}"
        return state, Outcome.refused("unknown_supplier", text)
    wanted: dict[str, int] = {}
    for name, units in action.items.items():
        product = catalog.find(name)
        if product is None:
            return state, _unknown_product(state, name)
        if product.id not in supplier.products:
            text = f"{supplier.name} does not sell {product.name}; it sells {', '.join(supplier.products)}"
            return state, Outcome.refused("not_sold", text)
        wanted[product.id] = wanted.get(product.id, 0) + units
    lines = suppliers.quote_lines(catalog, supplier, wanted)
    total = suppliers.total_cents(lines)
    if total < supplier.minimum_cents:
        text = (
            f"{supplier.name} takes orders from {format_cents(supplier.minimum_cents)}; this is {format_cents(total)}"
        )
        return state, Outcome.refused("below_minimum", text)
    if total > state.cash_cents:
        text = f"this costs {format_cents(total)} and your cash is {format_cents(state.cash_cents)}"
        return state, Outcome.refused("no_cash", text, {"total_cents": total, "cash_cents": state.cash_cents})
    state, order = mail.place(_knowing(state, [supplier.id]), supplier, lines, state.day)
    text = (
        f"Order {order.number} placed with {supplier.name}: {format_cents(total)} charged, cash left "
        f"{format_cents(state.cash_cents)}. Delivery promised for {clock(state.setup, order.promised)}."
    )
    return state, Outcome(text, data={"order": order.number, "total_cents": total})


def check_deliveries(state: State) -> Result:
    """Tell what is on its way and what lies in storage."""
    names = state.setup.catalog.by_id
    lines: list[str] = []
    data: list[Json] = []
    for order in mail.by_expectation(state.orders):
        goods = ", ".join(f"{line.units} {names[line.product].name}" for line in order.lines)
        promised = clock(state.setup, order.expected)
        late = " (delayed)" if order.announced else ""
        lines.append(f"- Order {order.number} from {order.supplier}: {goods}; promised for {promised}{late}")
        units: dict[str, Json] = {line.product: line.units for line in order.lines}
        data.append({"order": order.number, "supplier": order.supplier, "units": units, "promised": promised})
    way = "On their way:\n" + "\n".join(lines) if lines else "Nothing is on its way."
    storage, stored = list_storage(state)[1], _units(state.storage)
    return state, Outcome(f"{way}\n{storage.text}", data={"on_their_way": data, "storage": stored})


def list_storage(state: State) -> Result:
    """Tell the goods in storage, lot by lot."""
    names = state.setup.catalog.by_id
    lines = [
        f"- {names[product].name} ({product}): {sum(lot.units for lot in lots)} units"
        f" ({', '.join(_lot_text(state, lot) for lot in lots)})"
        for product, lots in sorted(state.storage.items())
    ]
    text = "Storage:\n" + "\n".join(lines) if lines else "Storage is empty."
    return state, Outcome(text, data={"storage": _units(state.storage)})


def restock_slot(state: State, action: a.RestockSlot) -> Result:
    """Move delivered units into slots, all or nothing.

    Refused as `no_slot`, `unknown_product`, `wrong_size` when the slot is for the other size, `slot_taken` by another
    product's units, `full` above the slot's capacity, `not_there_yet` when the goods are on their way, `no_stock`.
    """
    after, told = state, list[str]()
    for fill in action.slots:
        result = _restocked(after, fill)
        if isinstance(result, Outcome):
            return state, result
        after = result
        name = after.setup.catalog.find(fill.product_id)
        told.append(f"{fill.quantity} {name.name if name else ''} into row {fill.row}, column {fill.column}")
    unpriced = sorted({slot.product for slot in after.slots if slot and slot.lots and slot.product not in after.prices})
    hint = f" No price is set yet for {', '.join(unpriced)}: without one it does not sell." if unpriced else ""
    return after, Outcome(f"Put {'; '.join(told)}.{hint}", data={"unpriced": unpriced})


def _restocked(state: State, fill: a.RestockSlot.Fill) -> State | Outcome:
    product = state.setup.catalog.find(fill.product_id)
    if product is None:
        return _unknown_product(state, fill.product_id)
    place = _place(state, fill.row, fill.column)
    if isinstance(place, Outcome):
        return place
    size = "small" if place < state.setup.small_slots else "large"
    if product.size != size:
        text = f"{product.name} is {product.size}, and row {fill.row} is for {size} items ({_rows_text(state)})"
        return Outcome.refused("wrong_size", text)
    slot = state.slots[place] or Slot(product.id, ())
    if slot.product != product.id and slot.lots:
        text = f"row {fill.row}, column {fill.column} holds {slot.units} {slot.product}; clear it first"
        return Outcome.refused("slot_taken", text)
    there = slot.units if slot.product == product.id else 0
    capacity = state.setup.small_capacity if size == "small" else state.setup.large_capacity
    if there + fill.quantity > capacity:
        text = f"the slot takes {capacity} units and holds {there}: {capacity - there} more fit, not {fill.quantity}"
        return Outcome.refused("full", text, {"room": capacity - there})
    stored = state.storage.get(product.id, ())
    if (units := sum(lot.units for lot in stored)) < fill.quantity:
        return _not_enough(state, product, units, fill.quantity)
    rest, _ = without(stored, fill.quantity)
    moved = _difference(stored, rest)
    lots = merged((*(slot.lots if slot.product == product.id else ()), *moved))
    return replace(
        state,
        slots=_with(state.slots, place, Slot(product.id, lots)),
        storage=_stored(state.storage, product.id, rest),
        restocked=(*state.restocked, Restocked(product.id, state.minute_of_day, fill.quantity)),
    )


def _not_enough(state: State, product: Product, units: int, wanted: int) -> Outcome:
    coming = [order for order in state.orders if any(line.product == product.id for line in order.lines)]
    coming = mail.by_expectation(coming)
    text = f"storage holds {units} {product.name}, not {wanted}"
    if not coming:
        return Outcome.refused("no_stock", text, {"units": units})
    when = clock(state.setup, coming[0].expected)
    return Outcome.refused("not_there_yet", f"{text}; more is on its way, promised for {when}", {"units": units})


def set_price(state: State, action: a.SetPrice) -> Result:
    """Set the price of the products in slots, all or nothing; a product has one price in all its slots.

    Refused as `no_slot`, `empty_slot` when no product was ever put there, `two_prices` for one product at once.
    """
    prices, told = dict[str, int](), list[str]()
    for tag in action.prices:
        place = _place(state, tag.row, tag.column)
        if isinstance(place, Outcome):
            return state, place
        slot = state.slots[place]
        if slot is None:
            text = f"row {tag.row}, column {tag.column} holds no product to price; restock it first"
            return state, Outcome.refused("empty_slot", text)
        if prices.setdefault(slot.product, tag.price_cents) != tag.price_cents:
            text = f"{slot.product} stands in several slots and has one price, not two"
            return state, Outcome.refused("two_prices", text)
        told.append(f"{state.setup.catalog.by_id[slot.product].name} {format_cents(tag.price_cents)}")
    return replace(state, prices={**state.prices, **prices}), Outcome(
        f"Priced: {', '.join(dict.fromkeys(told))}.", data=prices
    )


def collect_cash(state: State) -> Result:
    """Take the money out of the machine."""
    taken, cash = state.machine_cents, state.cash_cents + state.machine_cents
    text = f"Collected {format_cents(taken)} from the machine; your cash is {format_cents(cash)}."
    data: dict[str, Json] = {"collected_cents": taken, "cash_cents": cash}
    return replace(state, cash_cents=cash, machine_cents=0), Outcome(text, data=data)


def clear_slot(state: State, action: a.ClearSlot) -> Result:
    """Put a slot's units back into storage and free it for another product. Refused as `no_slot`, `empty_slot`."""
    place = _place(state, action.row, action.column)
    if isinstance(place, Outcome):
        return state, place
    slot = state.slots[place]
    if slot is None:
        return state, Outcome.refused("empty_slot", f"row {action.row}, column {action.column} is already empty")
    stored = merged((*state.storage.get(slot.product, ()), *slot.lots))
    state = replace(
        state,
        slots=_with(state.slots, place, None),
        storage=_stored(state.storage, slot.product, stored),
        restocked=_taken_back(state.restocked, slot.product, slot.units),
    )
    name = state.setup.catalog.by_id[slot.product].name
    return state, Outcome(f"Took {slot.units} {name} out of row {action.row}, column {action.column} into storage.")


def get_machine_inventory(state: State) -> Result:
    """Tell every slot: product, units, price, room."""
    lines: list[str] = []
    data: list[Json] = []
    for place, slot in enumerate(state.slots):
        row, column = divmod(place, state.setup.columns)
        size = "small" if place < state.setup.small_slots else "large"
        capacity = state.setup.small_capacity if size == "small" else state.setup.large_capacity
        where = f"- row {row}, column {column} ({size}, takes {capacity})"
        if slot is None:
            lines.append(f"{where}: empty")
            data.append({"row": row, "column": column, "size": size, "product": None, "units": 0})
            continue
        price = state.prices.get(slot.product)
        name = state.setup.catalog.by_id[slot.product].name
        price_text = "no price set" if price is None else f"price {format_cents(price)}"
        lines.append(f"{where}: {name} ({slot.product}), {slot.units} units, {price_text}")
        told: dict[str, Json] = {"row": row, "column": column, "size": size, "product": slot.product}
        data.append(told | {"units": slot.units, "price_cents": price})
    return state, Outcome("Machine:\n" + "\n".join(lines), data={"slots": data})


def get_money_balance(state: State) -> Result:
    """Tell cash and the money in the machine."""
    cash, machine = state.cash_cents, state.machine_cents
    text = f"Cash: {format_cents(cash)}. In the machine, not collected: {format_cents(machine)}."
    return state, Outcome(text, data={"cash_cents": cash, "machine_cents": machine})


def view_business_state(state: State) -> Result:
    """Tell money, machine, storage and deliveries together."""
    parts = [get_money_balance(state)[1], get_machine_inventory(state)[1], check_deliveries(state)[1]]
    data: dict[str, Json] = {}
    for part in parts:
        data |= part.data if isinstance(part.data, dict) else {}
    unread = len(state.mail.unread)
    text = "\n".join([*(part.text for part in parts), f"Unread letters: {unread}."])
    return state, Outcome(text, data=data | {"unread": unread})


def view_suppliers(state: State) -> Result:
    """Tell the suppliers that the owner found or wrote to."""
    known = [state.setup.catalog.supplier_by_id[one] for one in state.known_suppliers]
    lines = [f"- {one.name} ({one.id}), {one.address}: {one.about}" for one in known]
    text = "Suppliers you know:\n" + "\n".join(lines) if lines else "You know no supplier yet; search the web."
    return state, Outcome(text, data={"suppliers": [one.id for one in known]})


def _difference(lots: tuple[Lot, ...], rest: tuple[Lot, ...]) -> tuple[Lot, ...]:
    """The lots that were taken when `rest` is left of `lots`."""
    taken = lots[: len(lots) - len(rest)]
    if rest and rest[0].units < (split := lots[len(lots) - len(rest)]).units:
        return (*taken, Lot(split.units - rest[0].units, split.cost_cents, split.last_day))
    return taken


def _taken_back(restocked: tuple[Restocked, ...], product: str, units: int) -> tuple[Restocked, ...]:
    """Today's restocks of a product without `units` of it, the latest first: they meet no demand any more."""
    kept: list[Restocked] = []
    for one in reversed(restocked):
        back = min(units, one.units) if one.product == product else 0
        units -= back
        if one.units > back:
            kept.append(replace(one, units=one.units - back))
    return tuple(reversed(kept))


def _with(slots: tuple[Slot | None, ...], place: int, slot: Slot | None) -> tuple[Slot | None, ...]:
    return (*slots[:place], slot, *slots[place + 1 :])


def _stored(
    storage: Mapping[str, tuple[Lot, ...]], product: str, lots: tuple[Lot, ...]
) -> Mapping[str, tuple[Lot, ...]]:
    kept = {name: others for name, others in storage.items() if name != product}
    return kept | {product: lots} if lots else kept


def _place(state: State, row: int, column: int) -> int | Outcome:
    """The index of a slot, or the refusal `no_slot`."""
    setup = state.setup
    if row < setup.small_rows + setup.large_rows and column < setup.columns:
        return row * setup.columns + column
    text = f"there is no row {row}, column {column}: {_rows_text(state)}, columns 0-{setup.columns - 1}"
    return Outcome.refused("no_slot", text)


def _rows_text(state: State) -> str:
    small, large = state.setup.small_rows, state.setup.large_rows
    return f"rows 0-{small - 1} take small items, rows {small}-{small + large - 1} large ones"


def _unknown_product(state: State, name: str) -> Outcome:
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), state.setup.catalog.by_id, n=1)
    offer = f"did you mean {close[0]!r}?" if close else f"there is {', '.join(state.setup.catalog.by_id)}"
    return Outcome.refused("unknown_product", f"no product {name!r:.80} in the catalog; {offer}")


def _knowing(state: State, found: Sequence[str]) -> State:
    new = [one for one in found if one not in state.known_suppliers]
    return replace(state, known_suppliers=(*state.known_suppliers, *new)) if new else state


def _units(storage: Mapping[str, tuple[Lot, ...]]) -> dict[str, Json]:
    return {product: sum(lot.units for lot in lots) for product, lots in sorted(storage.items())}


def _lot_text(state: State, lot: Lot) -> str:
    last = clock(state.setup, (lot.last_day - 1) * 1440).rpartition(",")[0]
    return f"{lot.units} at {format_cents(lot.cost_cents)}, sell by {last}"
