"""The employee: runs the days of a week by the owner's plan. Signs, counts, fills, brings cash, fetches; no more."""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import DAY_MINUTES, OPENING, Business, Letter, Slot, State, Week, weekday_of
from akinai.worlds.vending.rules import days, deliveries, mail, orders, sites
from akinai.worlds.vending.rules.stock import units_in
from akinai.worlds.vending.sprint.records import Counted

CASH_CENTS = 3_000
"""The cash in a box above which it is brought along."""
LAST_TRIP = 21 * 60
LAST_ROUND = 20 * 60
"""The minutes of the day after which no trip, and no second round, is begun."""
SOON_MINUTES = 2 * 60
"""No trip and no errand takes longer."""


def week_of(state: State) -> Week:
    """The week of a business of weekly decisions. TypeError in any other."""
    if state.week is None:
        raise TypeError("this business has no weeks")
    return state.week


class Busy(NamedTuple):
    """What an employee does next takes him until a minute."""

    state: State
    until: int
    away: bool = False


Work = Generator[Busy, State, State]
"""An employee at work: he is sent the state of the minute until which he was busy, with his owner's business in front,
and returns the last one."""


def run_week(state: State) -> State:
    """Let the employees work for seven days, or to the end of each business. The reports are not yet made.

    Of several each has his own days on the same street: who is free first goes on.
    """
    front, at_work = state.owner, dict[str, Work]()
    going = [owner for owner, own in state.businesses.items() if not own.ending]
    left = list(going)
    while left:
        businesses: Mapping[str, Business] = state.businesses
        owner = min(left, key=lambda name: 0 if businesses[name].ending else businesses[name].busy_until)
        state = state.turned_to(owner)
        try:
            busy = at_work[owner].send(state) if owner in at_work else next(at_work.setdefault(owner, _work(state)))
        except StopIteration as over:
            state = over.value
            left.remove(owner)
        else:
            state = days.pass_time(busy.state, busy.until, away=busy.away).state
    for owner in going:
        state = _open_letters(state.turned_to(owner))
    return state.turned_to(front)


def _work(state: State) -> Work:
    week = week_of(state)
    week = week.moved(cash_cents=state.cash_cents, books=(), sold_out=(), counted=(), not_placed=(), letters=())
    state = state.moved(week=week)
    for _ in range(7):
        state = yield from _run_day(state)
        if state.ending:
            break
    return state


def _run_day(state: State) -> Work:
    """A day: what waits for it, the depot, a round of the machines, the deliveries, another round, the night."""
    state = yield from _fetch(_carry_out_dated(state))
    visits = weekday_of(state) in week_of(state).plan.visit
    if visits:
        state = yield from _round(state)
    state = yield from _sign(state, DAY_MINUTES)
    if visits and state.minute_of_day < LAST_ROUND:
        state = yield from _round(state)
    state = yield Busy(state, state.minute - state.minute_of_day + DAY_MINUTES + OPENING, away=True)
    week = week_of(state)
    books = (*week.books, state.book) if state.book else week.books
    return state.moved(week=week.moved(books=books, sold_out=(*week.sold_out, _sold_out(state))))


def _sold_out(state: State) -> dict[int, tuple[str, ...]]:
    units = {number: units_in(state.slots_of(number - 1)) for number in range(1, len(state.sites) + 1)}
    bare = {number: [id for id, n in held.items() if not n and id in state.prices] for number, held in units.items()}
    return {number: tuple(sorted(ids)) for number, ids in bare.items() if ids}


# What waits for its day


def _carry_out_dated(state: State) -> State:
    """Set the prices and place the orders of today."""
    week, day = week_of(state), state.day
    if not week.orders and not week.prices:
        return state
    prices = {price.product: price.cents for price in week.prices if price.day == day}
    due = [order for order in week.orders if order.day == day]
    week = week.moved(
        orders=tuple(order for order in week.orders if order.day > day),
        prices=tuple(price for price in week.prices if price.day > day),
    )
    state = state.moved(week=week, prices={**state.prices, **prices})
    for order in due:
        count = state.order_count
        action = a.PlaceOrder(supplier_id=order.supplier, items=dict(order.items))
        placed, outcome = orders.place_order(state.moved(order_count=order.number - 1), action)
        state = placed.moved(order_count=count)
        if not outcome.ok:
            text = f"order {order.number} of {weekday_of(state)}, {order.supplier}: {outcome.text}"
            week = week_of(state)
            state = state.moved(week=week.moved(not_placed=(*week.not_placed, text)))
    return state


# Deliveries


def _fetch(state: State) -> Work:
    """Fetch what waits at the depot, as far as the account covers the fee."""
    if not week_of(state).plan.fetches:
        return state
    for parcel in [parcel for parcel in state.parcels if parcel.at_depot]:
        state = yield from _sign(state, SOON_MINUTES)
        fetched, outcome = deliveries.fetch_depot(state, a.FetchDepot(order=parcel.order.number))
        if outcome.ok:
            minutes = state.setup.minutes_by_name.get("fetch", 0)
            state = yield Busy(fetched, state.minute + minutes, away=True)
            state = yield from _count(state)
    return state


def _sign(state: State, ahead: int) -> Work:
    """Wait at the storage for what is announced for the next minutes of today, and count what comes; also for another
    owner who fetches goods that it bought."""
    midnight = state.minute - state.minute_of_day + DAY_MINUTES
    while True:
        last = min(state.minute + ahead, midnight - 1)
        sold = [bargain.due for bargain in state.bargains if bargain.accepted and bargain.seller == state.owner]
        hours = [hour for hour in (*(order.expected for order in state.orders), *sold) if state.minute < hour <= last]
        if not hours:
            return state
        state = yield Busy(state, min(hours))
        state = yield from _count(state)


def _count(state: State) -> Work:
    """Count the boxes that were signed for."""
    for parcel in state.parcels:
        if not parcel.at_depot and not parcel.counted:
            order, week = parcel.order, week_of(state)
            state, _ = deliveries.count_delivery(state, a.CountDelivery(order=order.number))
            missing, extra = deliveries.missing_units(order), deliveries.extra_units(order)
            counted = Counted(state.day, order.number, order.supplier, missing, extra)
            state = state.moved(week=week.moved(counted=(*week.counted, counted)))
            state = yield Busy(state, state.minute + state.setup.minutes_by_name.get("count", 0))
    return state


# Machines


def _round(state: State) -> Work:
    """Go to each machine where something is to be done, another first each day."""
    count = len(state.sites)
    last = bool(state.setup.days) and state.day >= state.setup.last_day
    for step in range(count):
        number = (state.day + step) % count + 1
        state = yield from _sign(state, SOON_MINUTES)
        site = state.sites[number - 1]
        if site.lost or state.minute_of_day > LAST_TRIP:
            continue
        layout = _next_layout(state, number)
        collect = site.box_cents > (0 if last else CASH_CENTS)
        if layout is None and not collect and not _can_fill(state, number):
            continue
        visit = a.VisitSite(site=number, products=layout, collect=collect)
        after, outcome = sites.visit_site(state, visit)
        minutes = sites.visit_minutes(state, visit, outcome)
        state = yield Busy(after, state.minute + minutes, away=True)
    return state


def _can_fill(state: State, number: int) -> bool:
    return any(
        slot is not None and slot.product in state.storage and slot.units < state.setup.capacity_at(index)
        for index, slot in enumerate(state.slots_of(number - 1))
    )


def _next_layout(state: State, number: int) -> tuple[str, ...] | None:
    """What a machine is to hold from now on: of the plan what is there, in place of what the plan does not name.

    None where nothing changes.
    """
    planned = week_of(state).plan.sites.get(number)
    if planned is None:
        return None
    slots, small, layout, changes = state.slots_of(number - 1), state.setup.small_slots, list[str](), False
    by_id = state.setup.catalog.by_id
    for part, size in ((slots[:small], "small"), (slots[small:], "large")):
        held = [slot for slot in part if slot is not None]
        names, free = [slot.product for slot in held], len(part) - len(held)
        plan = Counter(id for id in planned if by_id[id].size == size)
        surplus = [slot for id, extra in (Counter(names) - plan).items() for slot in _emptiest(held, id, extra)]
        surplus.sort(key=lambda slot: slot.units)
        for id in (plan - Counter(names)).elements():
            if id not in state.storage:
                continue
            if free:
                free -= 1
            elif surplus:
                names.remove(surplus.pop(0).product)
            else:
                continue
            names.append(id)
            changes = True
        layout += names
    return tuple(layout) if changes else None


def _emptiest(held: Sequence[Slot], id: str, count: int) -> Sequence[Slot]:
    return sorted([slot for slot in held if slot.product == id], key=lambda slot: slot.units)[:count]


# Letters


def _open_letters(state: State) -> State:
    """Open the week's letters; those that only concern the employee are not kept."""
    letters = list[Letter]()
    while state.mail.unread_count:
        box, opened = mail.open_unread(state.mail)
        state = state.moved(mail=box)
        letters += [letter for letter in opened if not letter.subject.endswith((" was signed for", " is moved"))]
    week = week_of(state)
    return state.moved(week=week.moved(letters=(*week.letters, *letters)))


def cash_text(cents: int) -> str:
    """A change of money with its sign."""
    return f"{'-' if cents < 0 else '+'}{format_cents(abs(cents))}"
