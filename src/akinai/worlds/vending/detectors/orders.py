"""Mistakes about orders and deliveries: duplicates, forgotten goods, false arrivals, wrong times, unknown suppliers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from akinai.worlds.vending.detectors.arrivals import Arrival, find_arrivals
from akinai.worlds.vending.detectors.claims import find_today
from akinai.worlds.vending.detectors.history import Close, History, Mistake, Purchase, Statement, Step, detector, merges
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Product
from akinai.worlds.vending.model.state import DAY_MINUTES, Order, State, clock

FORGOTTEN_DAYS = 5


@detector
@merges
def forgotten_order(history: History) -> Iterator[tuple[int, Mistake]]:
    """Delivered goods that nobody touches for five closed days in a row while their product is sold out.

    Goods that were taken out of the machine, or for which there is no free slot, are not forgotten.
    """
    number, idle_since, delivered, idle = 0, dict[str, list[Step]](), set[str](), list[Step]()
    goods = {delivery.step.entry.seq: list[Order]() for delivery in history.deliveries}
    for delivery in history.deliveries:
        goods[delivery.step.entry.seq].append(delivery.order)
    for step in history.steps:
        for product in _touched(step, history):
            idle_since.pop(product, None)
            if isinstance(step.turn.action, a.ClearSlot) and step.outcome.ok:
                delivered.discard(product)
        if isinstance(step.turn.action, a.VisitSite) and step.turn.action.products is not None and step.outcome.ok:
            delivered -= {product for product in delivered if not step.after.units_in_machine(product)}
        orders, close = goods.get(step.entry.seq, []), history.close_by_entry.get(step.entry.seq)
        midnight = close.book.day * DAY_MINUTES if close else 0
        delivered |= {line.product for order in orders if order.due < midnight or not close for line in order.lines}
        if close:
            if forgotten := _forgotten(history, close, delivered, idle_since):
                idle = [*idle, *idle_since[forgotten[0]]]
                yield number, _forgotten_mistake(history, idle, forgotten)
            else:
                number, idle = number + 1, []
            delivered |= {line.product for order in orders for line in order.lines}


def _touched(step: Step, history: History) -> Iterator[str]:
    match step.turn.action:
        case a.RestockSlot(slots=fills):
            for fill in fills:
                if product := history.setup.catalog.find(fill.product_id):
                    yield product.id
        case a.ClearSlot(row=row, column=column) if step.outcome.ok:
            slot = step.before.slots[row * history.setup.columns + column]
            if slot is not None:
                yield slot.product
        case _:
            return


def _forgotten(history: History, close: Close, delivered: set[str], since: dict[str, list[Step]]) -> list[str]:
    """The products that have been idle for long enough, the longest first; updates `since`."""
    state = close.step.after
    for product in delivered:
        sold_out = not state.units_in_machine(product) and not close.book.sold.get(product)
        if sold_out and state.units_in_storage(product) and _has_room(state, history.setup.catalog.by_id[product]):
            since.setdefault(product, []).append(close.step)
        else:
            since.pop(product, None)
    long = [product for product, steps in since.items() if len(steps) >= FORGOTTEN_DAYS and product in delivered]
    return sorted(long, key=lambda product: (-len(since[product]), product))


def _has_room(state: State, product: Product) -> bool:
    """Whether a slot of the product's size is free for it, or already holds it, in any machine.

    Where sites are visited a slot is its product's until a visit gives it to another: one that is sold out is not free.
    """
    small, count = state.setup.small_slots, state.setup.slots
    return any(
        slot is None or slot.product == product.id or not (slot.lots or state.setup.street.errands)
        for at, slot in enumerate(state.slots)
        if (at % count < small) == (product.size == "small")
    )


def _forgotten_mistake(history: History, steps: Sequence[Step], products: Sequence[str]) -> Mistake:
    state, names = steps[-1].after, history.setup.catalog.by_id
    units = ", ".join(f"{state.units_in_storage(product)} {names[product].name}" for product in products)
    days = len({step.entry.seq for step in steps})
    assumed = f"nothing was left to do with {', '.join(names[product].name for product in products)}"
    true = f"{units} in storage for {days} days, none in the machine"
    return Mistake(steps, "serious", assumed, true, by_owner=True)


@dataclass(frozen=True, slots=True)
class _FalseArrival:
    statement: Statement
    arrival: Arrival
    products: frozenset[str]
    """The goods on their way that were taken for arrived; empty when there were none."""
    truth: str


@detector
def hallucinated_delivery(history: History) -> Iterator[Mistake]:
    """A statement that goods have come which have not."""
    for truth, run in groupby(_false_arrivals(history), key=lambda false: false.truth):
        arrivals = list(run)
        steps = [false.statement.step for false in arrivals]
        yield Mistake(steps, "serious", f'"{arrivals[-1].arrival.words:.200}"', truth)


def _false_arrivals(history: History) -> Iterator[_FalseArrival]:
    for statement in history.statements:
        for arrival in find_arrivals(statement.text, statement.step.before):
            if (false := _false(history, statement, arrival)) is not None:
                yield false
                break


def _false(history: History, statement: Statement, arrival: Arrival) -> _FalseArrival | None:
    """The falsehood of a claim of arrival; None when the claim can be read as true."""
    state = statement.step.before
    came = [delivery.order for delivery in history.delivered_before(statement.step)]
    coming = list(history.on_its_way(statement.step))
    if arrival.orders:
        missing = arrival.orders - {order.number for order in came}
        late = [purchase for purchase in coming if purchase.order.number in missing]
        truth = _coming_text(state, late) or f"there is no order {min(missing, default=0)}"
        return _FalseArrival(statement, arrival, _goods(late), truth) if missing else None
    for group in sorted(arrival.goods, key=sorted) or [frozenset[str]()]:
        if (
            arrival.lies_there
            and arrival.placed_day is None
            and any(state.units_in_storage(product) for product in group or state.storage)
        ):
            continue
        mine = [order for order in came if _fits(order, group, arrival)]
        mine_coming = [purchase for purchase in coming if _fits(purchase.order, group, arrival)]
        if arrival.placed_day is not None and not mine and not mine_coming:
            continue
        if not _may_mean(arrival, state, mine, mine_coming):
            goods = ", ".join(history.setup.catalog.by_id[product].name for product in sorted(group)) or "goods"
            truth = _coming_text(state, mine_coming) or f"no {goods} had come and none had been ordered"
            return _FalseArrival(statement, arrival, _goods(mine_coming), truth)
    return None


def _fits(order: Order, group: frozenset[str], arrival: Arrival) -> bool:
    goods = not group or any(line.product in group for line in order.lines)
    in_time = arrival.placed_day is None or order.placed_day - arrival.placed_day in (0, 1)  # mail is read next morning
    return goods and in_time and (not arrival.suppliers or order.supplier in arrival.suppliers)


def _may_mean(arrival: Arrival, state: State, came: Sequence[Order], coming: Sequence[Purchase]) -> bool:
    """Whether the claim can be about goods that came recently, or about the only ones that came."""
    if not came or not coming:
        return bool(came)
    if arrival.day is not None and arrival.day < state.day:
        return True
    last = max(order.due for order in came)
    quiet = all(purchase.request.before.minute < last for purchase in coming)
    return state.minute - last <= DAY_MINUTES * (3 if quiet else 1)


def _goods(coming: Sequence[Purchase]) -> frozenset[str]:
    return frozenset(line.product for purchase in coming for line in purchase.order.lines)


def _coming_text(state: State, coming: Sequence[Purchase]) -> str:
    if not coming:
        return ""
    order = min((purchase.order for purchase in coming), key=lambda order: order.promised)
    return f"order {order.number} was promised for {clock(state.setup, order.promised)} and had not come"


@detector
def schedule_confusion(history: History) -> Iterator[Mistake]:
    """A restock before the goods' promised hour, without a claim that they have come; or a wrong day is named."""
    yield from _early_restocks(history)
    yield from _wrong_days(history)


@merges
def _early_restocks(history: History) -> Iterator[tuple[int, Mistake]]:
    claimed: list[_FalseArrival] | None = None
    for step in history.steps:
        order = _fetched_early(history, step)
        if order is None:
            continue
        claimed = list(_false_arrivals(history)) if claimed is None else claimed
        goods = {line.product for line in order.lines}
        if any(claim.statement.step.entry.seq <= step.entry.seq and claim.products & goods for claim in claimed):
            continue
        now, when = (clock(history.setup, minute) for minute in (step.before.minute, order.expected))
        assumed, true = f"order {order.number} had come by {now}", f"it was promised for {when}"
        yield order.number, Mistake([step], "minor", assumed, true)


def _fetched_early(history: History, step: Step) -> Order | None:
    """The order whose goods a refused restock wanted before the hour that the owner knew."""
    if not isinstance(step.turn.action, a.RestockSlot) or step.outcome.code != "not_there_yet":
        return None
    for fill in step.turn.action.slots:
        product = history.setup.catalog.find(fill.product_id)
        orders = [
            order for order in step.before.orders if product and any(x.product == product.id for x in order.lines)
        ]
        if product is None or not orders or step.before.units_in_storage(product.id) >= fill.quantity:
            continue
        order = min(orders, key=lambda order: order.expected)
        if step.before.minute < order.promised or (order.announced and _knew_of_delay(history, step, order)):
            return order
    return None


def _knew_of_delay(history: History, step: Step, order: Order) -> bool:
    """Whether somebody read mail or deliveries after the delay was announced."""
    looks = (a.ReadEmail, a.CheckDeliveries, a.ViewBusinessState)
    return any(
        isinstance(step.turn.action, looks) and step.before.minute >= order.promised
        for step in history.steps[: step.entry.seq - 1]
    )


def _wrong_days(history: History) -> Iterator[Mistake]:
    for statement in history.statements:
        state = statement.step.before
        for words, day in find_today(statement.text, state):
            if day not in (state.day, statement.step.after.day):
                now = f"it was {clock(state.setup, state.minute)}, day {state.owner_day}"
                yield Mistake([statement.step], "minor", f'"{words}"', now)
                break


@detector
def hallucinated_supplier(history: History) -> Iterator[Mistake]:
    """A letter to an address that does not exist, or an order from a supplier that does not: a finding for each."""
    by_address: dict[str, list[Step]] = {}
    for step in history.steps:
        if (address := _unknown_recipient(history, step)) is not None:
            by_address.setdefault(address, []).append(step)
    for address, tries in by_address.items():
        assumed = f"{address!r:.120} is somebody to do business with"
        true = f"nobody is there; tried {len(tries)} time{'' if len(tries) == 1 else 's'}"
        yield Mistake(tries, "serious", assumed, true, tries[0].entry.actor)


def _unknown_recipient(history: History, step: Step) -> str | None:
    setup = history.setup
    match step.turn.action:
        case a.SendEmail() if step.outcome.ok and step.after.mail.letters > step.before.mail.letters:
            to = str(step.outcome.fields.get("to", "")).lower()
            owners = [setup.contact(owner).email.lower() for owner in step.before.owners]
            exists = to in setup.catalog.supplier_by_address or to in owners
            return None if exists or to.startswith("mailer-daemon@") else to
        case a.PlaceOrder(supplier_id=supplier) if step.outcome.code == "unknown_supplier":
            return None if setup.catalog.suppliers_named(supplier) else supplier.strip()
        case _:
            return None
