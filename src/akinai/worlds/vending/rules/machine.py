"""The machine: stocking and clearing slots, prices, the money in it, and its display."""

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Product
from akinai.worlds.vending.model.state import Result, Slot, State, clock
from akinai.worlds.vending.rules.books import book, with_site
from akinai.worlds.vending.rules.orders import by_expectation, check_deliveries, unknown_product
from akinai.worlds.vending.rules.stock import merge_lots, remove_units, taken_lots, with_lots


def restock_slot(state: State, action: a.RestockSlot) -> Result:
    """Move delivered units into slots, all or nothing.

    Refused as `no_slot`, `unknown_product`, `wrong_size` when the slot is for the other size, `slot_taken` by another
    product's units, `full` above the slot's capacity, `not_there_yet` when the goods are on their way, `no_stock`.
    """
    after, moves = state, list[str]()
    for fill in action.slots:
        result = _fill_slot(after, fill)
        if isinstance(result, Outcome):
            return state, result
        after = result
        product = after.setup.catalog.find(fill.product_id)
        moves.append(f"{fill.quantity} {product.name if product else ''} into row {fill.row}, column {fill.column}")
    unpriced = sorted({slot.product for slot in after.slots if slot and slot.lots and slot.product not in after.prices})
    hint = f" No price is set yet for {', '.join(unpriced)}: without one it does not sell." if unpriced else ""
    return after, Outcome(f"Put {'; '.join(moves)}.{hint}", data={"unpriced": unpriced})


def _fill_slot(state: State, fill: a.RestockSlot.Fill) -> State | Outcome:
    """The state after one slot was filled, or the refusal."""
    product = state.setup.catalog.find(fill.product_id)
    if product is None:
        return unknown_product(state, fill.product_id)
    index = _slot_index(state, fill.row, fill.column)
    if isinstance(index, Outcome):
        return index
    size, capacity = state.setup.size_at(index), state.setup.capacity_at(index)
    if product.size != size:
        text = f"{product.name} is {product.size}, and row {fill.row} is for {size} items ({_rows_text(state)})"
        return Outcome.refused("wrong_size", text)
    slot = state.slots[index] or Slot(product.id, ())
    if slot.product != product.id and slot.lots:
        text = f"row {fill.row}, column {fill.column} holds {slot.units} {slot.product}; clear it first"
        return Outcome.refused("slot_taken", text)
    there = slot.units if slot.product == product.id else 0
    if there + fill.quantity > capacity:
        text = f"the slot takes {capacity} units and holds {there}: {capacity - there} more fit, not {fill.quantity}"
        return Outcome.refused("full", text, {"room": capacity - there})
    stored = state.storage.get(product.id, ())
    if (units := sum(lot.units for lot in stored)) < fill.quantity:
        return _not_enough(state, product, units, fill.quantity)
    remaining, _ = remove_units(stored, fill.quantity)
    moved = taken_lots(stored, remaining)
    lots = merge_lots((*(slot.lots if slot.product == product.id else ()), *moved))
    return state.moved(
        slots=_with_slot(state.slots, index, Slot(product.id, lots)),
        storage=with_lots(state.storage, product.id, remaining),
    )


def _not_enough(state: State, product: Product, units: int, quantity: int) -> Outcome:
    coming = by_expectation(order for order in state.orders if any(line.product == product.id for line in order.lines))
    text = f"storage holds {units} {product.name}, not {quantity}"
    if not coming:
        return Outcome.refused("no_stock", text, {"units": units})
    when = clock(state.setup, coming[0].expected)
    return Outcome.refused("not_there_yet", f"{text}; more is on its way, promised for {when}", {"units": units})


def set_price(state: State, action: a.SetPrice) -> Result:
    """Set the price of the products in slots, all or nothing; a product has one price in all its slots.

    Refused as `no_slot`, `empty_slot` when no product was ever put there, `two_prices` for one product at once.
    """
    prices, priced = dict[str, int](), list[str]()
    for tag in action.prices:
        index = _slot_index(state, tag.row, tag.column)
        if isinstance(index, Outcome):
            return state, index
        slot = state.slots[index]
        if slot is None:
            text = f"row {tag.row}, column {tag.column} holds no product to price; restock it first"
            return state, Outcome.refused("empty_slot", text)
        if prices.setdefault(slot.product, tag.price_cents) != tag.price_cents:
            text = f"{slot.product} stands in several slots and has one price, not two"
            return state, Outcome.refused("two_prices", text)
        priced.append(f"{state.setup.catalog.by_id[slot.product].name} {format_cents(tag.price_cents)}")
    text = f"Priced: {', '.join(dict.fromkeys(priced))}."
    return state.moved(prices={**state.prices, **prices}), Outcome(text, data=prices)


def collect_cash(state: State) -> Result:
    """Move the money in the machine to the owner's cash."""
    collected, cash = state.machine_cents, state.cash_cents + state.machine_cents
    text = f"Collected {format_cents(collected)} from the machine; your cash is {format_cents(cash)}."
    data: dict[str, Json] = {"collected_cents": collected, "cash_cents": cash}
    state = book(with_site(state, 0, state.sites[0]._replace(box_cents=0)), "collected", collected)
    return state, Outcome(text, data=data)


def clear_slot(state: State, action: a.ClearSlot) -> Result:
    """Put a slot's units back into storage and free it for another product. Refused as `no_slot`, `empty_slot`."""
    index = _slot_index(state, action.row, action.column)
    if isinstance(index, Outcome):
        return state, index
    slot = state.slots[index]
    if slot is None:
        return state, Outcome.refused("empty_slot", f"row {action.row}, column {action.column} is already empty")
    stored = merge_lots((*state.storage.get(slot.product, ()), *slot.lots))
    state = state.moved(
        slots=_with_slot(state.slots, index, None),
        storage=with_lots(state.storage, slot.product, stored),
    )
    name = state.setup.catalog.by_id[slot.product].name
    return state, Outcome(f"Took {slot.units} {name} out of row {action.row}, column {action.column} into storage.")


def get_machine_inventory(state: State) -> Result:
    """List every slot: its product, units, price and room."""
    lines: list[str] = []
    data: list[Json] = []
    for index, slot in enumerate(state.slots):
        row, column = divmod(index, state.setup.columns)
        size, capacity = state.setup.size_at(index), state.setup.capacity_at(index)
        where = f"- row {row}, column {column} ({size}, takes {capacity})"
        slot_data: dict[str, Json] = {"row": row, "column": column, "size": size}
        if slot is None:
            lines.append(f"{where}: empty")
            data.append(slot_data | {"product": None, "units": 0})
            continue
        price = state.prices.get(slot.product)
        name = state.setup.catalog.by_id[slot.product].name
        price_text = "no price set" if price is None else f"price {format_cents(price)}"
        lines.append(f"{where}: {name} ({slot.product}), {slot.units} units, {price_text}")
        data.append(slot_data | {"product": slot.product, "units": slot.units, "price_cents": price})
    return state, Outcome("Machine:\n" + "\n".join(lines), data={"slots": data})


def get_money_balance(state: State) -> Result:
    """State the cash and the money in the machine."""
    cash, machine = state.cash_cents, state.machine_cents
    text = f"Cash: {format_cents(cash)}. In the machine, not collected: {format_cents(machine)}."
    return state, Outcome(text, data={"cash_cents": cash, "machine_cents": machine})


def view_business_state(state: State) -> Result:
    """State money, machine, storage and deliveries together."""
    parts = [get_money_balance(state)[1], get_machine_inventory(state)[1], check_deliveries(state)[1]]
    data: dict[str, Json] = {}
    for part in parts:
        data |= part.fields
    unread = state.mail.unread_count
    text = "\n".join([*(part.text for part in parts), f"Unread letters: {unread}."])
    return state, Outcome(text, data=data | {"unread": unread})


def _with_slot(slots: tuple[Slot | None, ...], index: int, slot: Slot | None) -> tuple[Slot | None, ...]:
    return (*slots[:index], slot, *slots[index + 1 :])


def _slot_index(state: State, row: int, column: int) -> int | Outcome:
    """The index of a slot, or the refusal `no_slot`."""
    setup = state.setup
    if row < setup.small_rows + setup.large_rows and column < setup.columns:
        return row * setup.columns + column
    text = f"there is no row {row}, column {column}: {_rows_text(state)}, columns 0-{setup.columns - 1}"
    return Outcome.refused("no_slot", text)


def _rows_text(state: State) -> str:
    small, large = state.setup.small_rows, state.setup.large_rows
    return f"rows 0-{small - 1} take small items, rows {small}-{small + large - 1} large ones"
