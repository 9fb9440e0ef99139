"""Sites: visits that fill a machine and bring its cash back, prices at all sites, and what the machines show."""

from collections.abc import Mapping, Sequence

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Product
from akinai.worlds.vending.model.state import Lot, Result, Slot, State
from akinai.worlds.vending.model.terms import Errands
from akinai.worlds.vending.rules.books import book, site_at, site_name, with_site
from akinai.worlds.vending.rules.orders import unknown_product
from akinai.worlds.vending.rules.stock import merge_lots, remove_units, slot_of, taken_lots, units_in


def visit_site(state: State, action: a.VisitSite) -> Result:
    """Fill a site's machine from storage, with another choice of products where given, and bring its cash back.

    Refused as `no_site`, `sealed` when a choice is given for a sealed machine, `unknown_product`, `too_many` for the
    slots of a size.
    """
    site, index, count = site_at(state, action.site), action.site - 1, state.setup.slots
    if isinstance(site, Outcome):
        return state, site
    slots = list(state.slots_of(index))
    storage, moved = dict(state.storage), set[str]()
    if action.products is not None:
        layout = layout_of(state, action.products)
        if isinstance(layout, Outcome):
            return state, layout
        _rearrange(slots, state.setup.small_slots, layout, storage, moved)
    filled = _fill(state, slots, storage, moved)
    text = f"{site_name(state, site.place_index)}: " + (", ".join(filled) or "nothing was put in")
    collected = site.box_cents if action.collect else 0
    state = state.moved(
        slots=(*state.slots[: index * count], *slots, *state.slots[(index + 1) * count :]),
        storage={id: lots for id, lots in storage.items() if lots},
    )
    if collected:
        state = book(with_site(state, index, site._replace(box_cents=0)), "collected", collected)
        text += f". Collected {format_cents(collected)}; bank balance {format_cents(state.cash_cents)}"
    unpriced = sorted({slot.product for slot in slots if slot and slot.lots and slot.product not in state.prices})
    hint = f" No price is set yet for {', '.join(unpriced)}: without one it does not sell." if unpriced else ""
    units = units_in(slots)
    data: dict[str, Json] = {
        "site": action.site,
        "units": units,
        "collected_cents": collected,
        "cash_cents": state.cash_cents,
        "moved": len(moved),
    }
    return state, Outcome(f"{text}.{hint}", data=data)


def visit_minutes(state: State, action: a.VisitSite, outcome: Outcome) -> int:
    """The minutes of a visit: the way, each product that was moved, and the cash."""
    errands = state.setup.street.errands or Errands()
    minutes = errands.travel + errands.slot * outcome.fields.get("moved", 0)
    return minutes + (errands.collect if outcome.fields.get("collected_cents") else 0)


def layout_of(state: State, names: Sequence[str], where: str = "") -> list[Product] | Outcome:
    """The products that a machine is to hold; or the refusal `unknown_product`, or `too_many` for the slots of a size.

    `where` is put before the latter.
    """
    products: list[Product] = []
    for name in names:
        product = state.setup.catalog.find(name)
        if product is None:
            return unknown_product(state, name)
        products.append(product)
    for size, most in state.setup.slots_by_size.items():
        if (count := sum(product.size == size for product in products)) > most:
            return Outcome.refused("too_many", f"{where}there are {most} slots for {size} items, not {count}")
    return products


def _rearrange(
    slots: list[Slot | None],
    small: int,
    layout: Sequence[Product],
    storage: dict[str, tuple[Lot, ...]],
    moved: set[str],
) -> None:
    """Give each product of the layout a slot; goods without a slot go back to storage."""
    unplaced = [product.id for product in layout]
    for index, slot in enumerate(slots):
        if slot is not None and slot.product in unplaced:
            unplaced.remove(slot.product)
        elif slot is not None:
            if slot.lots:
                storage[slot.product] = merge_lots((*storage.get(slot.product, ()), *slot.lots))
                moved.add(slot.product)
            slots[index] = None
    sizes = {product.id: product.size for product in layout}
    for id in unplaced:
        span = range(small) if sizes[id] == "small" else range(small, len(slots))
        free = next(index for index in span if slots[index] is None)
        slots[free] = Slot(id, ())


def _fill(state: State, slots: list[Slot | None], storage: dict[str, tuple[Lot, ...]], moved: set[str]) -> list[str]:
    """Fill every slot up from storage, the oldest units first. Returns what was put in, as words."""
    setup, filled = state.setup, list[str]()
    for index, slot in enumerate(slots):
        if slot is None or not (stored := storage.get(slot.product)):
            continue
        gap = setup.capacity_at(index) - slot.units
        if gap <= 0:
            continue
        remaining, put = remove_units(stored, gap)
        taken = taken_lots(stored, remaining)
        in_order = not slot.lots or slot.lots[-1].last_day < taken[0].last_day
        slots[index] = slot_of((slot.product, slot.lots + taken if in_order else merge_lots((*slot.lots, *taken))))
        storage[slot.product] = remaining
        moved.add(slot.product)
        filled.append(f"{put} {setup.catalog.by_id[slot.product].name}")
    return filled


def change_prices(state: State, action: a.ChangePrices) -> Result:
    """Set prices by product, all or nothing. Refused as `unknown_product`."""
    prices: dict[str, int] = {}
    for name, cents in action.prices_cents.items():
        product = state.setup.catalog.find(name)
        if product is None:
            return state, unknown_product(state, name)
        prices[product.id] = cents
    names = state.setup.catalog.by_id
    text = ", ".join(f"{names[id].name} {format_cents(cents)}" for id, cents in prices.items())
    return state.moved(prices={**state.prices, **prices}), Outcome(f"Priced at all sites: {text}.", data=prices)


def get_machine_inventory(state: State) -> Result:
    """List what each machine holds, site by site."""
    lines: list[str] = []
    sites: list[Json] = []
    names = state.setup.catalog.by_id
    for index, site in enumerate(state.sites):
        units = units_in(state.slots_of(index))
        seal = " (lost)" if site.lost else " (sealed)" if site.sealed else ""
        goods = ", ".join(f"{n} {names[id].name} ({id}){_price(state.prices, id)}" for id, n in units.items())
        lines.append(f"Site {index + 1}, {site_name(state, site.place_index)}{seal}: {goods or 'empty'}")
        lines.append(f"  cash in its box: {format_cents(site.box_cents)}")
        site_data: dict[str, Json] = {"site": index + 1, "place": site_name(state, site.place_index), "units": units}
        sites.append(site_data | {"box_cents": site.box_cents, "sealed": site.sealed, "lost": site.lost})
    setup = state.setup
    small, large = setup.slots_by_size.values()
    head = (
        f"Each machine has {small} slots for small items, {setup.small_capacity} in each, and {large} for large items, "
        f"{setup.large_capacity} in each."
    )
    data: dict[str, Json] = {"sites": sites, "prices_cents": dict(state.prices)}
    return state, Outcome("\n".join((head, *lines)), data=data)


def _price(prices: Mapping[str, int], product: str) -> str:
    return f" at {format_cents(prices[product])}" if product in prices else " without a price"
