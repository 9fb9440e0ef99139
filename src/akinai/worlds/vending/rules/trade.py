"""Trade: blocks of customers through the day, and the end of a day with all that falls due."""

from collections.abc import Mapping

from akinai.core.canonical import Json
from akinai.core.chance import Chance, absorb
from akinai.core.money import format_cents
from akinai.worlds.vending.model.economy import BlockTerms, Crowd, Shelf
from akinai.worlds.vending.model.setup import percent
from akinai.worlds.vending.model.state import (
    DAY_MINUTES,
    NO_SALES,
    Book,
    Ending,
    Site,
    State,
    TodaySales,
)
from akinai.worlds.vending.model.terms import Street
from akinai.worlds.vending.rules.books import LANDLORD, book, post, rent_cents, site_name
from akinai.worlds.vending.rules.customers import close_promises, complain, contract_text, open_site
from akinai.worlds.vending.rules.deliveries import close_deliveries, salvage_cents
from akinai.worlds.vending.rules.shocks import complaints_permille, with_kiosk
from akinai.worlds.vending.rules.stock import Slots, remove_spoiled, take_out, units_in

MILLION = 1_000_000


def begin(state: State) -> State:
    """Open the first site; where there are errands, post its contract and the terms of machine, storage, deliveries."""
    state = open_site(state, 0)
    if state.setup.street.errands is None:
        return state
    state = post(state, LANDLORD, "Your contract", f"Welcome. {contract_text(state, 1)}")
    return post(state, "service@street.com", "Your machine and storage", _terms_text(state))


def _terms_text(state: State) -> str:
    """The terms that an owner has to know, apart from the rent; no advice."""
    setup, street = state.setup, state.setup.street
    counter, storage, deliveries = street.counter, street.storage, street.deliveries
    small, large = setup.slots_by_size.values()
    who = "your employee waits there" if setup.weekly else "you are there unless you travel or sleep"
    return (
        f"A machine has {small} slots for small items, {setup.small_capacity} in each, and {large} for large items, "
        f"{setup.large_capacity} in each. Customers come at {counter.hours} and see the stock and the prices of that "
        f"moment. They pay {percent(counter.card_permille)} by card, which reaches your account the next morning, and "
        "the rest in cash, which stays in the machine until you bring it; at "
        f"{format_cents(counter.box_cents)} in its box a machine takes cards only.\n"
        f"Your storage holds {storage.units} units, {storage.units_a_site} more with each further site, at "
        f"{format_cents(storage.night_cents)} a unit and night; for goods that find no room "
        f"{percent(storage.overflow_permille)} of their price is paid back.\n"
        "Orders are paid in advance. Goods come on the promised day at the promised hour, and somebody signs for them "
        f"at the storage: {who}. Where nobody signs they wait at the depot for "
        f"{deliveries.depot_days} days, for {format_cents(deliveries.depot_cents)} and "
        f"{percent(deliveries.depot_permille)} of their price. Who signs counts boxes, not units; claims of what is "
        f"missing are taken for {deliveries.claim_days} days."
    )


def book_blocks(state: State) -> State:
    """Book the block of customers that comes at this minute, if there is one: once, for all machines of the street."""
    counter, minute = state.setup.street.counter, state.minute % DAY_MINUTES
    if minute not in counter.minutes:
        return state
    crowd = state.economy.crowd(state.day)
    block = state.economy.block(crowd, counter.minutes.index(minute))
    parts: Parts = _parts(state, crowd) if state.other_businesses or state.setup.shocks else {}
    letters = complaints_permille(state)
    return state.for_each_business(lambda own: _book_block(own, crowd, block, letters, parts))


Parts = Mapping[tuple[str, int], Mapping[str, int]]
"""By owner and number of its site from 0, the part of the customers of each product who come to that machine."""


def _parts(state: State, crowd: Crowd) -> Parts:
    """How the customers of each place divide among the machines of several owners, and a kiosk."""
    count, at_place = state.setup.slots, dict[int, dict[tuple[str, int], Shelf]]()
    for owner, own in state.businesses.items():
        for index, site in enumerate(() if own.ending else own.sites):
            stock = units_in(own.slots[index * count : (index + 1) * count])
            if stock and not (site.sealed or site.lost):
                at_place.setdefault(site.place_index, {})[owner, index] = Shelf(site.goodwill, stock, own.prices)
    return {
        key: part
        for shelves in at_place.values()
        for key, part in zip(shelves, state.economy.parts(crowd, with_kiosk(state, [*shelves.values()])), strict=False)
    }


def next_block_minute(state: State) -> int | None:
    """The minute at which the next customers of today come; None when there are no more."""
    passed = state.minute % DAY_MINUTES
    for minute in state.setup.street.counter.minutes:
        if minute > passed:
            return state.minute - passed + minute
    return None


def _book_block(state: State, crowd: Crowd, block: BlockTerms, letters_permille: int, parts: Parts) -> State:
    """Book a block of customers at every site that is open; the complaints of those who bought come last."""
    street, prices, count, today = state.setup.street, state.prices, state.setup.slots, state.today_sales
    slots, sites, sales, demand = [*state.slots], [*state.sites], [*today.sales], {**today.demand}
    income, card, units_sold = today.income_cents, today.card_cents, state.units_sold
    complaints: list[tuple[int, Chance, Mapping[str, int], int]] = []
    for index, site in enumerate(sites):
        first = index * count
        if site.sealed or site.lost or not (stock := units_in(slots[first : first + count])):
            continue
        full = site.box_cents >= street.counter.box_cents
        buying_permille = street.counter.full_box_permille if full else 1000
        factor = site.goodwill * block.share_permille * buying_permille // MILLION
        part = parts.get((state.owner, index)) if parts else None
        sold, paid, lost, expected = state.economy.block_sales(
            crowd, block, site.place_index, factor, stock, prices, demand, part
        )
        cash = 0 if full else paid - paid * street.counter.card_permille // 1000
        income += paid
        card += paid - cash
        goodwill = _goodwill_after(street, site.goodwill, lost, expected, block.share_permille, stock)
        if cash or goodwill != site.goodwill:
            sites[index] = Site(site.place_index, site.box_cents + cash, goodwill, *site[3:])
        if sold:
            take_out(slots, range(first, first + count), sold)
            sales.append((site.place_index, sold))
            units = sum(sold.values())
            units_sold += units
            if letters_permille:
                chance = Chance(absorb(block.complaints, site.place_index))
                if letters := (units * letters_permille + chance.below(1000)) // 1000:
                    complaints.append((site.place_index, chance, sold, letters))
    state = state.moved(
        sites=tuple(sites),
        slots=tuple(slots),
        today_sales=TodaySales(tuple(sales), demand, income, card),
        units_sold=units_sold,
    )
    for place_index, chance, sold, letters in complaints:
        state = _post_complaints(state, chance, place_index, sold, letters)
    return state


def _goodwill_after(
    street: Street, goodwill: int, lost: int, expected: int, share_permille: int, stock: Mapping[str, int]
) -> int:
    """The goodwill after a block: people remember a machine that could not serve them."""
    terms = street.customers
    if not any(stock.values()):
        lost = expected = 1
    if expected <= 0:
        return goodwill
    unserved = min(lost * 1000 // expected, 1000) - terms.forgiven_permille
    if unserved <= 0:
        return goodwill
    return max(terms.least_ppm, goodwill - terms.unserved_ppm * share_permille * unserved // MILLION)


def _post_complaints(state: State, chance: Chance, place_index: int, sold: Mapping[str, int], letters: int) -> State:
    names = sorted(sold)
    for letter in range(letters):
        product = names[chance("product", letter).below(len(names))]
        state = complain(state, place_index, product, state.prices[product], chance("customer", letter))
    return state


def close_day(state: State, midnight: int) -> State:
    """Close a day: spoil goods, take storage rent and the fee, seal machines, test for the end."""
    setup, street, day, today_sales = state.setup, state.setup.street, midnight // DAY_MINUTES, state.today_sales
    goods = remove_spoiled(state.slots, state.storage, day)
    if goods.spoiled:
        state = state.moved(slots=goods.slots, storage=goods.storage)
    state = _close_sites(state, day)
    stored = sum([lot.units for lots in goods.storage.values() for lot in lots])
    state = book(state, "storage", -min(max(state.cash_cents, 0), stored * street.storage.night_cents))
    state = book(state, "cards", today_sales.card_cents)
    met = state.cash_cents >= setup.fee_cents
    if met:
        state = book(state, "fees", -setup.fee_cents)
    elif setup.owed_fees:
        state = state.moved(owed_cents=state.owed_cents + setup.fee_cents)
    missed = 0 if met else state.missed + 1
    state = close_deliveries(close_promises(state, day), day)
    closed = state.closed_days + 1
    ending: Ending | None = None
    if missed >= setup.missed_fees:
        ending = "bankrupt"
    elif setup.days and closed >= setup.last_day:
        ending = "horizon"
    sold, sold_at = _sum_sales(today_sales)
    weather, fee = state.economy.today(day).weather, setup.fee_cents if met else 0
    closed_book = Book(
        day, weather, sold, today_sales.demand, state.prices, today_sales.income_cents, goods.spoiled,
        goods.spoiled_cents, fee, met, _sold_out(goods.slots, setup.slots, state.prices), sold_at,
    )  # fmt: skip
    return state.moved(
        minute=midnight, closed_days=closed, missed=missed, today_sales=NO_SALES, book=closed_book, ending=ending
    )


def _sum_sales(today_sales: TodaySales) -> tuple[dict[str, int], dict[int, dict[str, int]]]:
    """The units sold in a day by product, and by place index and product."""
    sold: dict[str, int] = {}
    sold_at: dict[int, dict[str, int]] = {}
    for place_index, units_of in today_sales.sales:
        here = sold_at.setdefault(place_index, {})
        for id, units in units_of.items():
            sold[id] = sold.get(id, 0) + units
            here[id] = here.get(id, 0) + units
    return sold, sold_at


def _close_sites(state: State, day: int) -> State:
    """Close the day at each site: goodwill recovers, seals come off, unpaid machines are sealed or lost."""
    street, sites, slots = state.setup.street, [*state.sites], state.slots
    for index, site in enumerate(sites):
        goodwill = site.goodwill + (MILLION - site.goodwill) * street.customers.back_permille // 1000
        if goodwill != site.goodwill:
            site = site._replace(goodwill=goodwill)
        if site.opens_day and site.opens_day <= day + 1:
            site = site._replace(sealed=False, opens_day=0)
        late = day - site.due_day
        if late >= street.rent.sealed_days and not site.lost:
            site = site._replace(sealed=True)
        if late >= street.rent.lost_days and not site.lost:
            site = site._replace(lost=True, box_cents=0)
            count = state.setup.slots
            slots = (*slots[: index * count], *(None,) * count, *slots[(index + 1) * count :])
        sites[index] = site
    return state if tuple(sites) == state.sites else state.moved(sites=tuple(sites), slots=slots)


def _sold_out(slots: Slots, count: int, prices: Mapping[str, int]) -> tuple[str, ...]:
    """The products with a price that have a slot at a site and no units there."""
    bare = set[str]()
    for first in range(0, len(slots), count):
        machine = slots[first : first + count]
        if any(slot is not None and not slot.lots for slot in machine):
            bare |= {id for id, units in units_in(machine).items() if not units and id in prices}
    return tuple(sorted(bare))


def debts_cents(state: State) -> int:
    """The cents owed if the run ended now: unpaid fees and overdue rents with their surcharge."""
    day = state.closed_days
    rents = 0
    for site in state.sites:
        if site.lost or day > site.due_day:
            rent = rent_cents(state, site.place_index)
            rents += rent + rent * state.setup.street.rent.late_permille // 1000
    return state.owed_cents + rents


def bank_balance_cents(state: State) -> int:
    """The bank account if the business ended now: with the jobber's price for goods, less debts, never below 0."""
    return max(0, state.cash_cents + salvage_cents(state) - debts_cents(state))


def sales_lines(state: State) -> tuple[list[str], dict[str, Json]]:
    """Yesterday's sales by site, as lines and data of the morning notice."""
    sold: Mapping[int, Mapping[str, int]] = state.book.sold_at if state.book else {}
    names, lines, data = state.setup.catalog.by_id, list[str](), dict[str, Json]()
    for index, site in enumerate(state.sites):
        units = sold.get(site.place_index, {})
        goods = ", ".join(f"{n} {names[id].name}" for id, n in units.items())
        seal = " (sealed)" if site.sealed else ""
        lines.append(f"Sold yesterday, {site_name(state, site.place_index)}{seal}: {goods or 'nothing'}.")
        data[str(index + 1)] = {**units}
    lines.append(f"Bank balance: {format_cents(state.cash_cents)}.")
    return lines, {"sold_at": data, "cash_cents": state.cash_cents}
