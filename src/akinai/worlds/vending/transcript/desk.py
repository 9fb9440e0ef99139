"""The forms with which a person runs a vending business, and the choices that the owner knows of."""

from collections.abc import Iterator, Mapping

from akinai.core.canonical import Json
from akinai.core.money import format_cents
from akinai.core.presentation.desk import Choice, Desk, Draft, FilledRow, FormGroup, Pick
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.rules.books import site_name
from akinai.worlds.vending.sprint.verbs import Week
from akinai.worlds.vending.transcript.place import slot_key

GROUPS = (
    FormGroup(
        "Mail",
        ("read_email", "send_email", "answer_customer", "answer_customers", "read_letter", "send_letter", "read_news"),
    ),
    FormGroup(
        "Buy",
        ("search_web", "view_suppliers", "get_price_lists", "make_offer", "place_order", "check_deliveries",
         "count_delivery", "claim", "fetch_depot", "pay", "take_pitch", "sell_to_jobber"),
    ),
    FormGroup("Rivals", ("look_at_rivals", "send_money", "offer_goods", "accept_goods")),
    FormGroup(
        "Machine",
        ("restock_slot", "set_price", "collect_cash", "clear_slot", "visit_site", "change_prices",
         "list_storage", "get_machine_inventory", "get_money_balance", "view_business_state"),
    ),
    FormGroup("Plan", ("set_plan", "write_notes", "forecast")),
    FormGroup("Time", ("wait_until", "week")),
)  # fmt: skip
LABELS = {
    "read_email": "Read mail", "send_email": "Write a letter", "search_web": "Search the web",
    "view_suppliers": "Suppliers", "place_order": "Order", "check_deliveries": "Deliveries",
    "restock_slot": "Fill slots", "set_price": "Set prices", "collect_cash": "Collect cash",
    "clear_slot": "Clear a slot", "list_storage": "Storage", "get_machine_inventory": "Look at the machine",
    "get_money_balance": "Money", "view_business_state": "Overview", "wait_until": "Wait", "advance_day": "End the day",
    "set_plan": "The plan", "write_notes": "Notes", "read_letter": "Read a letter", "send_letter": "Write a letter",
    "look_at_rivals": "Look at rivals", "send_money": "Pay an owner", "offer_goods": "Offer goods",
    "accept_goods": "Accept goods",
    "answer_customers": "Answer customers", "close_week": "End the week", "week": "A whole week in one form",
}  # fmt: skip


def desk_of(state: State) -> Desk:
    """The desk of the owner; a machine at hand is filled slot by slot."""
    single = not state.setup.street.errands
    return Desk(
        GROUPS,
        "close_week" if state.week else "advance_day",
        LABELS,
        {"week": str(Week.tool()["description"]).replace("in one object", "in one form")},
        picks=(*_goods(state), *((_slots(state),) if single else (_sites(state), *_open_matters(state)))),
        rows={"set_price": _prices(state), "restock_slot": _refills(state)}
        if single
        else {"change_prices": _tags(state)},
        drafts=_letters(state),
        without=frozenset() if state.week else frozenset({"day"}),
    )


def _sites(state: State) -> Pick:
    """The sites by their names."""
    names = state.setup.catalog.by_id
    plans: Mapping[int, tuple[str, ...]] = state.week.plan.sites if state.week else {}
    choices = [
        Choice((number,), site_name(state, site.place_index), ", ".join(names[id].name for id in plans.get(number, ())))
        for number, site in enumerate(state.sites, 1)
    ]
    return Pick(("site",), "Site", tuple(choices))


def _open_matters(state: State) -> tuple[Pick, ...]:
    """Orders that came, the latest first, and complaints once all mail is read."""
    suppliers = state.setup.catalog.supplier_by_id
    orders = [
        Choice(
            (parcel.order.number,),
            f"{parcel.order.number}, {suppliers[parcel.order.supplier].name}",
            "at the depot" if parcel.at_depot else "counted" if parcel.counted else "signed for",
        )
        for parcel in reversed(state.parcels)
    ]
    complaints = [
        Choice((complaint.number,), f"{complaint.number}, {format_cents(complaint.cents)}",
               "money promised" if complaint.promised else "")
        for complaint in (() if state.mail.unread_count else state.complaints)
    ]  # fmt: skip
    return (
        Pick(("order",), "Order", tuple(orders)),
        Pick(("complaint",), "Complaint", tuple(complaints)),
        *(Pick((name,), name.capitalize(), tuple(complaints), free=True) for name in ("pay", "refuse", "promise")),
    )


def _tags(state: State) -> tuple[FilledRow, ...]:
    """A row for each product that has a price, or is there to be sold."""
    names, coming = state.setup.catalog.by_id, (*state.orders, *(parcel.order for parcel in state.parcels))
    held = {slot.product for slot in state.slots if slot} | {line.product for order in coming for line in order.lines}
    goods = sorted({*held, *state.storage, *state.prices}, key=lambda id: names[id].name)
    return tuple(_price_row(state, id, {}, id) for id in goods)


def _price_row(state: State, id: str, fixed: Mapping[str, Json], field: str) -> FilledRow:
    """A row for the price of a product."""
    name, cents = state.setup.catalog.by_id[id].name, state.prices.get(id)
    if cents is None:
        return FilledRow(name, fixed, field, None, note="no price")
    return FilledRow(name, fixed, field, cents / 100, note=format_cents(cents))


def _slots(state: State) -> Pick:
    choices = [
        Choice(divmod(index, state.setup.columns), slot_key(state.setup.columns, index), _content(state, index))
        for index in range(len(state.slots))
    ]
    return Pick(("row", "column"), "Slot", tuple(choices))


def _content(state: State, index: int) -> str:
    slot = state.slots[index]
    if slot is None:
        return f"empty, {state.setup.size_at(index)}"
    return f"{state.setup.catalog.by_id[slot.product].name}, {slot.units} of {state.setup.capacity_at(index)}"


def _goods(state: State) -> tuple[Pick, ...]:
    names = state.setup.catalog.by_id
    suppliers = [state.setup.catalog.supplier_by_id[id] for id in state.known_suppliers]
    in_storage = tuple(Choice((id,), names[id].name, f"{units} in storage") for id, units in state.stored.items())
    met = _products_met(state)
    products = tuple(
        Choice((id,), product.name, format_cents(state.prices[id]) if id in state.prices else "")
        for id, product in names.items()
        if id in met
    )
    ids = tuple(Choice((supplier.id,), supplier.name) for supplier in suppliers)
    addresses = tuple(Choice((supplier.address,), supplier.address, supplier.name) for supplier in suppliers)
    return (
        Pick(("product_id",), "Product", in_storage, free=True),
        *(Pick((name,), "Supplier", ids, free=True) for name in ("supplier_id", "supplier", "suppliers")),
        Pick(("to",), "To", (*_rivals(state), *addresses), free=True),
        *(
            Pick((name,), "Product", products, free=True)
            for name in ("items", "prices", "missing", "rival_product", "product", "products")
        ),
    )


def _rivals(state: State) -> Iterator[Choice]:
    """The other owners, by name for money and goods and by address for letters."""
    for rival in state.rivals:
        email = state.setup.contact(rival).email
        yield from (Choice((rival,), rival), Choice((email,), email, rival))


def _products_met(state: State) -> set[str]:
    """The products that the owner holds, held or ordered, and those of suppliers that it knows."""
    held = {slot.product for slot in state.slots if slot}
    ordered = {line.product for order in state.orders for line in order.lines}
    sold = {id for name in state.known_suppliers for id in state.setup.catalog.supplier_by_id[name].products}
    return {*held, *state.storage, *state.prices, *ordered, *sold}


def _prices(state: State) -> tuple[FilledRow, ...]:
    """A row for each product in the machine, under its first slot."""
    rows: dict[str, FilledRow] = {}
    for index, slot in enumerate(state.slots):
        if slot and slot.product not in rows:
            row, column = divmod(index, state.setup.columns)
            rows[slot.product] = _price_row(state, slot.product, {"row": row, "column": column}, "price")
    return tuple(rows.values())


def _refills(state: State) -> tuple[FilledRow, ...]:
    """A row for each slot that is not full and whose goods are in storage."""
    rows: list[FilledRow] = []
    for index, slot in enumerate(state.slots):
        stored = state.units_in_storage(slot.product) if slot else 0
        room = state.setup.capacity_at(index) - slot.units if slot else 0
        if slot and stored and room:
            row, column = divmod(index, state.setup.columns)
            label = f"{slot_key(state.setup.columns, index)} {state.setup.catalog.by_id[slot.product].name}"
            fixed = {"row": row, "column": column, "product_id": slot.product}
            note = f"room for {room}, {stored} in storage"
            rows.append(FilledRow(label, fixed, "quantity", most=min(room, stored), note=note))
    return tuple(rows)


def _letters(state: State) -> tuple[Draft, ...]:
    contact = state.contact
    order = (
        "I would like to order:\n24 units of \n\n"
        f"Delivery address: {contact.delivery_address}\nAccount: {contact.account}"
    )
    verb = "send_letter" if state.setup.weekly else "send_email"
    return (
        Draft(verb, "Ask for a price list", {"subject": "Price list", "body": "Please send me your price list."}),
        Draft(verb, "Write an order", {"subject": "Order", "body": order}),
    )
