"""Deliveries: put into storage, or signed for there or at the depot, counted, claimed; storage with limits."""

from collections.abc import Mapping
from dataclasses import replace

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Supplier
from akinai.worlds.vending.model.state import DAY_MINUTES, Lot, Order, Parcel, Result, State, clock
from akinai.worlds.vending.rules.books import book, day_text, post_from
from akinai.worlds.vending.rules.shocks import shortened
from akinai.worlds.vending.rules.stock import merge_lots, remove_units, with_lots

PARCEL_DAYS = 12
"""Days for which a parcel that was taken in can still be asked about."""


def dispatch(state: State, supplier: Supplier, order: Order) -> Order:
    """An order as it will come: late, short, with a box too many or not at all, by chance of supplier and day;
    splitting draws nothing new."""
    day, terms = order.placed_day, state.economy.town.traders[supplier.id].terms
    chance = state.economy.noise(day, "dispatch", supplier.id, day)
    late = chance("days").between(*terms.late_days) if chance("late").below(1000) < terms.late_permille else 0
    lost = chance("lost").below(1000) < terms.lost_permille
    missing: tuple[int, ...] = ()
    if chance("short").below(1000) < terms.short_permille:
        missing = tuple(
            [line.units * chance("part", line.product).between(*terms.short_part) // 1000 for line in order.lines]
        )
    elif chance("over").below(1000) < state.setup.street.deliveries.over_permille:
        twice = chance("twice").below(len(order.lines))
        missing = tuple(-line.units if at == twice else 0 for at, line in enumerate(order.lines))
    due = order.due + (0 if lost else late) * DAY_MINUTES
    moved = state.setup.street.deliveries.moved_permille
    if moved and not lost and not late and chance("moved").below(1000) < moved:
        due += (chance("hour").between(9, 18) - supplier.hour) * 60
    return replace(order, due=due, missing=missing, lost=lost)


def free_units(state: State) -> int:
    """The number of units that storage still has room for."""
    terms = state.setup.street.storage
    return terms.units + terms.units_a_site * (len(state.sites) - 1) - sum(state.stored.values())


def announce_delays(state: State) -> State:
    """Post the letters of a morning about orders that were promised for that day and come later."""
    for order in state.orders:
        if not order.announced and not order.lost and order.promised != order.due:
            if order.promised // DAY_MINUTES + 1 != state.day:
                continue
            supplier = state.setup.catalog.supplier_by_id[order.supplier]
            when = f"{day_text(state, order.due // DAY_MINUTES + 1)}, {order.due % DAY_MINUTES // 60:02d}:00"
            text = f"Order {order.number} does not come today. We are sorry.\nNew delivery: {when}"
            subject = f"Order {order.number} is delayed"
            if order.due // DAY_MINUTES == order.promised // DAY_MINUTES:
                text = f"Order {order.number} comes at another hour today.\nNew delivery: {when}"
                subject = f"Order {order.number} is moved"
            state = post_from(state, supplier, subject, text)
            announced = replace(order, announced=True)
            state = state.moved(orders=tuple(announced if other is order else other for other in state.orders))
    return state


def next_arrival(state: State) -> int | None:
    """The next minute after now for which goods are announced to any owner; None when nothing is on its way."""
    orders = state.orders
    for business in state.other_businesses.values():
        if business.ending is None:
            orders += business.orders
    return min([order.expected for order in orders if order.expected > state.minute], default=None) if orders else None


def arrive(state: State, *, away: bool) -> State:
    """Deliver what is due: to the owner if it is at the storage or need not sign, otherwise to the depot."""
    signed = state.setup.street.deliveries.signed
    for order in [order for order in state.orders if order.due <= state.minute]:
        state = state.moved(orders=tuple(other for other in state.orders if other is not order))
        if order.lost:
            continue
        order = shortened(state, order)
        supplier = state.setup.catalog.supplier_by_id[order.supplier]
        if away and signed:
            terms = state.setup.street.deliveries
            state = state.moved(parcels=(*state.parcels, Parcel(order, state.day, at_depot=True)))
            text = (
                f"We rang at {order.due % DAY_MINUTES // 60:02d}:00 with order {order.number} and nobody was there. "
                f"It waits at the depot until {day_text(state, state.day + terms.depot_days)}: fetching it costs "
                f"{format_cents(_depot_fee(state, order))}."
            )
            state = post_from(state, supplier, f"Order {order.number} is at the depot", text)
        else:
            state = _take_in(state, order)
    return state


def _depot_fee(state: State, order: Order) -> int:
    terms = state.setup.street.deliveries
    return terms.depot_cents + order.total_cents * terms.depot_permille // 1000


def _take_in(state: State, order: Order) -> State:
    """Put an uncounted delivery into storage; goods that find no room go back at a loss."""
    space, storage, back = max(free_units(state), 0), dict(state.storage), 0
    for at, line in enumerate(order.lines):
        came = line.units - (order.missing[at] if order.missing else 0)
        put = min(came, space)
        space -= put
        if put:
            last = state.day + state.setup.catalog.by_id[line.product].shelf_days
            lot = Lot(put, line.cost_cents, last)
            storage[line.product] = merge_lots((*storage.get(line.product, ()), lot))
        back += max(min(came, line.units) - put, 0) * line.cost_cents
    parcel = Parcel(order, state.day, at_depot=False)
    state = book(state.moved(storage=storage, parcels=(*state.parcels, parcel)), "returns", _overflow(state, back))
    supplier = state.setup.catalog.supplier_by_id[order.supplier]
    if not state.setup.street.deliveries.signed:
        return post_from(state, supplier, f"Order {order.number} delivered", _contents_text(state, order))
    boxes = _boxes(order)
    text = f"Signed for: order {order.number}, {boxes} box{'es' if boxes > 1 else ''}."
    if back:
        text += f" Not all of it found room in your storage: {format_cents(_overflow(state, back))} for what went back."
    return post_from(state, supplier, f"Order {order.number} was signed for", text)


def _contents_text(state: State, order: Order) -> str:
    names = state.setup.catalog.by_id
    extra = extra_units(order)
    lines = [
        f"- {line.units + extra.get(line.product, 0)} x {names[line.product].name} ({line.product})"
        for line in order.lines
    ]
    head = f"Order {order.number} was delivered on {clock(state.setup, state.minute)} and lies in your storage:"
    return "\n".join((head, *lines))


def _overflow(state: State, cents: int) -> int:
    return cents * state.setup.street.storage.overflow_permille // 1000


def close_deliveries(state: State, day: int) -> State:
    """At the end of a day, send goods left at the depot back and drop orders from suppliers out of business."""
    town, terms = state.economy.town, state.setup.street.deliveries
    parcels: list[Parcel] = []
    for parcel in state.parcels:
        if parcel.at_depot and day - parcel.day >= terms.depot_days:
            state = book(state, "returns", parcel.order.total_cents * terms.back_permille // 1000)
        elif parcel.at_depot or day - parcel.day < PARCEL_DAYS:
            parcels.append(parcel)
    if len(parcels) < len(state.parcels):
        state = state.moved(parcels=tuple(parcels))
    if any(town.traders[order.supplier].closes <= day + 1 for order in state.orders):
        left = tuple(order for order in state.orders if town.traders[order.supplier].closes > day + 1)
        state = state.moved(orders=left)
    return state


def signed_text(before: State, after: State) -> str:
    """The orders signed for between two states, a line each; empty for none."""
    if after.parcels is before.parcels or not after.setup.street.deliveries.signed:
        return ""
    signed_before = {parcel.order.number for parcel in before.parcels if not parcel.at_depot}
    new = [parcel.order for parcel in after.parcels if not parcel.at_depot and parcel.order.number not in signed_before]
    return "\n".join(f"Signed for: order {order.number}, {_boxes(order)} boxes." for order in new)


def _boxes(order: Order) -> int:
    return max(1, len(order.lines) + len(extra_units(order)))


def _find_parcel(state: State, number: int) -> Parcel | Outcome:
    match = next((parcel for parcel in state.parcels if parcel.order.number == number), None)
    if match is None:
        return Outcome.refused("not_here", f"order {number} has not come, or it came too long ago")
    return match


def _with_parcel(state: State, old: Parcel, new: Parcel) -> State:
    return state.moved(parcels=tuple(new if parcel is old else parcel for parcel in state.parcels))


def count_delivery(state: State, action: a.CountDelivery) -> Result:
    """Count the boxes of an order that was signed for. Refused as `not_here`, `at_depot`."""
    parcel = _find_parcel(state, action.order)
    if isinstance(parcel, Outcome):
        return state, parcel
    if parcel.at_depot:
        return state, Outcome.refused(
            "at_depot", f"order {action.order} is at the depot" + state.setup.hint("; fetch it first")
        )
    names, missing = state.setup.catalog.by_id, missing_units(parcel.order)
    state = _with_parcel(state, parcel, parcel._replace(counted=True))
    data: dict[str, Json] = {"order": action.order, "missing": missing}
    if extra := extra_units(parcel.order):
        data["extra"] = {**extra}
        lines = ", ".join(f"{n} {names[id].name} ({id})" for id, n in extra.items())
        return state, Outcome(f"Order {action.order}: everything is there, and {lines} too many.", data=data)
    if not missing:
        return state, Outcome(f"Order {action.order}: everything is there.", data=data)
    ordered = {line.product: line.units for line in parcel.order.lines}
    lines = ", ".join(f"{n} of {ordered[id]} {names[id].name} ({id})" for id, n in missing.items())
    return state, Outcome(f"Order {action.order} is short: {lines} are missing.", data=data)


def missing_units(order: Order) -> dict[str, int]:
    """Units that an order's boxes lack, by product."""
    return {line.product: n for line, n in zip(order.lines, order.missing, strict=False) if n > 0}


def missing_cents(order: Order) -> int:
    """The price of the units that an order's boxes lack."""
    return sum(max(n, 0) * line.cost_cents for line, n in zip(order.lines, order.missing, strict=False))


def extra_units(order: Order) -> dict[str, int]:
    """Units that an order's boxes hold beyond what was ordered, by product."""
    return {line.product: -n for line, n in zip(order.lines, order.missing, strict=False) if n < 0}


def claim(state: State, action: a.Claim) -> Result:
    """Claim the money of missing units. The supplier pays at once or never.

    Refused as `not_here`, `not_counted`, `too_late`, `claimed` before, `above_count`, `unknown_product`.
    """
    parcel = _find_parcel(state, action.order)
    if isinstance(parcel, Outcome):
        return state, parcel
    order, terms = parcel.order, state.setup.street.deliveries
    if not parcel.counted:
        return state, Outcome.refused(
            "not_counted", f"order {action.order} has not been counted" + state.setup.hint("; count it first")
        )
    if parcel.claimed:
        return state, Outcome.refused("claimed", f"order {action.order} was claimed before")
    if state.day - parcel.day > terms.claim_days:
        why = state.setup.hint(f": claims are taken for {terms.claim_days} days after goods came")
        return state, Outcome.refused("too_late", f"order {action.order} came too long ago to be claimed{why}")
    missing, owed = missing_units(order), 0
    costs = {line.product: line.cost_cents for line in order.lines}
    for name, units in action.missing.items():
        product = state.setup.catalog.find(name)
        if product is None or units > missing.get(product.id, 0):
            counted = missing.get(product.id, 0) if product else 0
            text = f"you counted {counted} {product.name if product else name!r:.80} missing, not {units}"
            return state, Outcome.refused("above_count" if product else "unknown_product", text)
        owed += units * costs[product.id]
    state = _with_parcel(state, parcel, parcel._replace(claimed=True))
    chance = state.economy.noise(order.placed_day, "claim", order.supplier, order.placed_day)
    if chance.below(1000) >= state.economy.town.traders[order.supplier].terms.pays_claims_permille:
        return state, Outcome("Our scales say otherwise: nothing is paid.", data={"paid_cents": 0})
    text = f"You are right: {format_cents(owed)} is on its way to your account."
    return book(state, "claims", owed), Outcome(text, data={"paid_cents": owed})


def claimable(state: State, supplier: Supplier) -> int | None:
    """The number of the last order of a supplier that can be claimed on; None when there is none."""
    numbers = [
        parcel.order.number
        for parcel in state.parcels
        if parcel.order.supplier == supplier.id and not parcel.at_depot and not parcel.claimed
    ]
    return max(numbers, default=None)


def missing_by_receipt(state: State, number: int, received: Mapping[str, int]) -> dict[str, int]:
    """The units that an order lacks if what the owner says came is all that came."""
    parcel = _find_parcel(state, number)
    if isinstance(parcel, Outcome):
        return {}
    ordered = {line.product: line.units for line in parcel.order.lines}
    return {id: ordered[id] - came for id, came in received.items() if ordered.get(id, 0) > came}


def missing_by_count(state: State, number: int) -> dict[str, int]:
    """The units that an order lacks by the owner's count; empty before it is counted."""
    parcel = _find_parcel(state, number)
    return missing_units(parcel.order) if isinstance(parcel, Parcel) and parcel.counted else {}


def fetch_depot(state: State, action: a.FetchDepot) -> Result:
    """Fetch an order from the depot for its fee. Refused as `not_here`, `not_at_depot`, `no_cash`."""
    parcel = _find_parcel(state, action.order)
    if isinstance(parcel, Outcome):
        return state, parcel
    if not parcel.at_depot:
        return state, Outcome.refused("not_at_depot", f"order {action.order} is in your storage")
    fee = _depot_fee(state, parcel.order)
    if fee > state.cash_cents:
        why = "your bank balance does not cover the depot's fee" + state.setup.hint(f" of {format_cents(fee)}")
        return state, Outcome.refused("no_cash", why)
    state = state.moved(parcels=tuple(other for other in state.parcels if other is not parcel))
    state = _take_in(book(state, "depot", -fee), parcel.order)
    return state, Outcome(f"Fetched order {action.order} for {format_cents(fee)}.", data={"fee_cents": fee})


def sell_to_jobber(state: State, action: a.SellToJobber) -> Result:
    """Sell stored goods at the jobber's part of the trade price, the oldest first. Refused as `unknown_product`,
    `no_stock`."""
    storage, paid = state.storage, 0
    for name, units in action.items.items():
        product = state.setup.catalog.find(name)
        if product is None:
            return state, Outcome.refused("unknown_product", f"no product {name!r:.80} in the catalog")
        left, taken = remove_units(storage.get(product.id, ()), units)
        if taken < units:
            return state, Outcome.refused("no_stock", f"storage holds {taken} {product.name}, not {units}")
        storage = with_lots(storage, product.id, left)
        paid += units * jobber_cents(state, product.id)
    text = f"The jobber took it for {format_cents(paid)}."
    return book(state.moved(storage=storage), "jobber", paid), Outcome(text, data={"paid_cents": paid})


def jobber_cents(state: State, product: str) -> int:
    """The cents that a jobber pays for a unit."""
    return state.setup.catalog.by_id[product].wholesale_cents * state.setup.street.storage.jobber_permille // 1000


def salvage_cents(state: State) -> int:
    """The cents that the goods in storage and machines would bring at once; spoiled ones bring nothing."""
    held: dict[str, int] = {}
    slots = [(slot.product, slot.lots) for slot in state.slots if slot]
    for product, lots in (*slots, *state.storage.items()):
        held[product] = held.get(product, 0) + sum([lot.units for lot in lots if lot.last_day > state.closed_days])
    return sum(units * jobber_cents(state, product) for product, units in held.items())


def order_text(state: State, order: Order, total_cents: int) -> str:
    """The confirmation of an order: the goods, the price taken, and when somebody must sign."""
    names = state.setup.catalog.by_id
    supplier = state.setup.catalog.supplier_by_id[order.supplier]
    goods = ", ".join(
        f"{line.units} {names[line.product].name} at {format_cents(line.cost_cents)}" for line in order.lines
    )
    freight = f", freight {format_cents(supplier.freight_cents)}" if supplier.freight_cents else ""
    who = "your employee signs" if state.setup.weekly else "somebody must sign"
    sign = f", {who}" if state.setup.street.deliveries.signed else ""
    text = f"Order {order.number}: {goods}{freight}; {format_cents(total_cents)} taken. "
    return f"{text}{clock(state.setup, order.promised)}{sign}."
