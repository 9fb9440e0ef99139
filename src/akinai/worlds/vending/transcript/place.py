"""The place of a vending business at a moment, and how a person names what is in it: slots as on the machine."""

import re
from collections.abc import Iterator, Mapping

from akinai.core.canonical import Json
from akinai.core.presentation.transcript import Figure, Item, Listing, Place, Shelf, SlotView
from akinai.core.presentation.voice import Voice
from akinai.worlds.vending.model.state import DAY_MINUTES, Order, Slot, State, clock
from akinai.worlds.vending.rules.books import site_name
from akinai.worlds.vending.rules.orders import by_expectation
from akinai.worlds.vending.rules.trade import bank_balance_cents

ROWS = "ABCDEFGHIJKLMNOPQRST"


def slot_key(columns: int, index: int, shelf: int = 0) -> str:
    """The key of a slot: "B2" is row 1, column 1; with several machines the machine's number stands before."""
    row, column = divmod(index, columns)
    key = f"{ROWS[row % len(ROWS)]}{column + 1}"
    return f"{shelf}:{key}" if shelf else key


def items_of(state: State) -> tuple[Item, ...]:
    """The products of the catalogue."""
    return tuple(
        Item(product.id, product.name, product.category, product.size) for product in state.setup.catalog.products
    )


def place_of(state: State, before: State | None, earlier: Place | None) -> Place:
    """The place of a state; shelves and listings of `earlier` are reused where nothing changed since `before`."""
    if before is None or earlier is None:
        return Place(_figures(state), _shelves(state), (_storage(state), _coming(state)))
    storage, coming = earlier.listings
    shelves, sites = earlier.shelves, state.sites
    if state.slots is not before.slots or state.prices is not before.prices or sites is not before.sites:
        shelves = _shelves(state)
    if state.storage is not before.storage:
        storage = _storage(state)
    if state.orders is not before.orders or state.parcels is not before.parcels:
        coming = _coming(state)
    return Place(_figures(state), shelves, (storage, coming))


def _figures(state: State) -> tuple[Figure, ...]:
    street = state.setup.street
    fixed = (
        Figure("cash_cents", "cash", state.cash_cents, "cents"),
        Figure("machine_cents", "in the machine" if street.alone else "in the machines", state.machine_cents, "cents"),
        Figure("unread", "unread letters", state.mail.unread_count, "letters"),
        Figure("minute", "time of day", state.minute_of_day, "minutes"),
    )
    if street.goal == "net_worth":
        return fixed
    return (*fixed, Figure("bank_cents", "bank balance", bank_balance_cents(state), "cents"))


def _shelves(state: State) -> tuple[Shelf, ...]:
    setup = state.setup
    capacities = tuple(map(setup.capacity_at, range(setup.slots)))
    if setup.street.alone:
        return (Shelf("", setup.columns, capacities, _slots(state, 0, shelf=0)),)
    return tuple(
        Shelf(
            site_name(state, site.place_index),
            setup.columns,
            capacities,
            _slots(state, index, shelf=index + 1),
            "lost" if site.lost else "sealed" if site.sealed else "",
        )
        for index, site in enumerate(state.sites)
    )


def _slots(state: State, machine: int, shelf: int) -> Mapping[str, SlotView | None]:
    return {
        slot_key(state.setup.columns, index, shelf): _slot(state, slot)
        for index, slot in enumerate(state.slots_of(machine))
    }


def _slot(state: State, slot: Slot | None) -> SlotView | None:
    return None if slot is None else SlotView(slot.product, slot.units, state.prices.get(slot.product))


def _storage(state: State) -> Listing:
    names = state.setup.catalog.by_id
    rows: dict[str, tuple[Json, ...]] = {}
    for product, lots in sorted(state.storage.items()):
        units = sum(lot.units for lot in lots)
        cost = sum(lot.units * lot.cost_cents for lot in lots)
        rows[product] = (names[product].name, units, cost, lots[0].last_day)
    heads = {"product": "", "units": "units", "cost": "cents", "sell by day": "day"}
    return Listing("storage", "In storage", heads, rows)


def _coming(state: State) -> Listing:
    rows = {str(order.number): _order_row(state, order, "on its way") for order in by_expectation(state.orders)}
    errands = state.setup.street.errands
    for parcel in state.parcels if errands else ():  # elsewhere what came is in storage, and nobody counts it
        if parcel.at_depot or not parcel.counted:
            where = "at the depot" if parcel.at_depot else "signed for"
            rows[str(parcel.order.number)] = _order_row(state, parcel.order, where)
    heads = {"supplier": "", "goods": "", "total": "cents", "expected": "", "state": "", "expected day": "day"}
    return Listing("coming", "On the way, and not yet counted" if errands else "On the way", heads, rows)


def _order_row(state: State, order: Order, where: str) -> tuple[Json, ...]:
    names, supplier = state.setup.catalog.by_id, state.setup.catalog.supplier_by_id.get(order.supplier)
    goods = ", ".join(f"{line.units} {names[line.product].name}" for line in order.lines)
    late = "delayed" if order.announced and where == "on its way" else where
    expected = clock(state.setup, order.expected)
    day = order.expected // DAY_MINUTES + 1
    return (supplier.name if supplier else order.supplier, goods, order.total_cents, expected, late, day)


SLOT = re.compile(r"\brow (\d+), column (\d+)")
LINES = re.compile(r"\b([Rr]ows?) (\d+)(?:-(\d+))?")
COLUMNS = re.compile(r"\bcolumns (\d+)-(\d+)")
WORDS = {
    "Every tool takes time and says what it does": "Every action takes time and says what it does",
    "your tools take no time": "your actions take no time",
    "week carries out all your decisions in one object,": "\u201cweek\u201d carries out all your decisions,",
}
SOLD_AT_ONE = re.compile(r"(Weather: .*\n)Sold yesterday, [^:(\n]*: .*\n(?=Bank balance: .*\nSold yesterday: )")
"""The sales of the only site, which the next line but one says again, with prices; not where it is sealed."""


def voice_of(state: State) -> Voice:
    """The voice of a business; its machines' slots have one name each where there is a single machine."""
    setup = state.setup
    names = {product.id: product.name for product in setup.catalog.products}
    names |= {supplier.id: supplier.name for supplier in setup.catalog.suppliers}
    slots = range(0 if setup.street.errands else len(state.slots))
    spots: dict[str, Mapping[str, Json]] = {
        slot_key(setup.columns, at): {"row": at // setup.columns, "column": at % setup.columns} for at in slots
    }
    return Voice(names, spots, rewrite=lambda text: _rewrite(text, setup.columns))


def _rewrite(text: str, columns: int) -> str:
    for words, others in WORDS.items():
        text = text.replace(words, others)
    text = SOLD_AT_ONE.sub(r"\1", text)
    text = SLOT.sub(lambda match: f"slot {_key(int(match[1]), int(match[2]), columns)}", text)
    text = LINES.sub(lambda match: " ".join([match[1], "-".join(_letters(match))]), text)
    return COLUMNS.sub(lambda match: f"columns {int(match[1]) + 1}-{int(match[2]) + 1}", text)


def _key(row: int, column: int, columns: int) -> str:
    return slot_key(columns, row * columns + column) if column < columns else f"{ROWS[row % len(ROWS)]}{column + 1}"


def _letters(match: re.Match[str]) -> Iterator[str]:
    return (ROWS[int(number) % len(ROWS)] for number in match.groups()[1:] if number)
