"""Trade at several sites: blocks of customers through the day, and the end of a day with all that falls due."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from akinai.core.canonical import Json
from akinai.core.chance import Chance, absorb
from akinai.core.money import format_cents
from akinai.worlds.vending.model.crowds import block_demand, crowd_of
from akinai.worlds.vending.model.economy import Crowd
from akinai.worlds.vending.model.state import (
    DAY_MINUTES,
    NO_TALLY,
    Book,
    Ending,
    Lot,
    Site,
    Slot,
    State,
    Tally,
    lot_of,
    remove_units,
    slot_of,
)
from akinai.worlds.vending.model.terms import Block
from akinai.worlds.vending.model.town import Town
from akinai.worlds.vending.rules.books import book, post, rent_cents, site_name, street_of
from akinai.worlds.vending.rules.customers import close_promises, complain, contract_text, opened
from akinai.worlds.vending.rules.deliveries import close_deliveries, salvage_cents

MILLION = 1_000_000


def begin(state: State) -> State:
    """The first site, and the contract in the mailbox."""
    state = opened(state, 0)
    return post(state, "landlord@street.com", "Your contract", f"Welcome. {contract_text(state, 1)}")


def book_blocks(state: State) -> State:
    """Book the block of customers that comes at this minute, if there is one."""
    for number, block in enumerate(street_of(state).counter.blocks):
        if block.hour * 60 == state.minute_of_day:
            return _book_block(state, number, block)
    return state


def next_block_minute(state: State) -> int | None:
    """The minute at which the next customers of today come; None when there are no more."""
    passed, start = state.minute_of_day, state.minute - state.minute_of_day
    for block in street_of(state).counter.blocks:
        if block.hour * 60 > passed:
            return start + block.hour * 60
    return None


def _book_block(state: State, number: int, block: Block) -> State:
    """Book a block of customers at every site that is open; the complaints of those who bought come last."""
    economy, town, count = state.economy, state.economy.town, state.setup.slots
    if town is None:
        return state
    crowd = crowd_of(economy, town, street_of(state), state.day)
    slots, sites, tally = list(state.slots), list(state.sites), state.tally
    by_place, wanted, income, card = dict(tally.sold), dict(tally.wanted), tally.income_cents, tally.card_cents
    units_sold, buyers = state.units_sold, list[tuple[int, Chance, dict[str, int], int]]()
    complaints, permille = absorb(crowd.complaints.h, number), street_of(state).customers.complaints_permille
    for index, site in enumerate(sites):
        if site.sealed or site.lost:
            continue
        own = slots[index * count : (index + 1) * count]
        sale = _sell(state, site, own, crowd, town, number, block)
        if sale is None:
            continue
        sites[index] = sale.site
        income, card = income + sale.income_cents, card + sale.card_cents
        for id, units in sale.wanted.items():
            wanted[id] = wanted.get(id, 0) + units
        if sale.sold:
            for id, units in sale.sold.items():
                key = (site.place, id)
                by_place[key] = by_place.get(key, 0) + units
            slots[index * count : (index + 1) * count] = _after_sales(own, sale.sold)
            units = sum(sale.sold.values())
            units_sold += units
            chance = Chance(absorb(complaints, site.place))
            if letters := (units * permille + chance.below(1000)) // 1000:
                buyers.append((site.place, chance, sale.sold, letters))
    state = state.moved(
        sites=tuple(sites),
        machine_cents=sum([site.box_cents for site in sites]),
        slots=tuple(slots),
        tally=Tally(by_place, wanted, income, card),
        units_sold=units_sold,
    )
    for place, chance, sold, letters in buyers:
        state = _complaints(state, chance, place, sold, letters)
    return state


class _Sale(NamedTuple):
    """The sales of a block at a site."""

    site: Site
    sold: dict[str, int]
    wanted: dict[str, int]
    income_cents: int
    card_cents: int


def _sell(
    state: State, site: Site, slots: Sequence[Slot | None], crowd: Crowd, town: Town, number: int, block: Block
) -> _Sale | None:
    """What a block's customers buy at a site, what they pay, and what they remember; None without any slot in use."""
    street, prices = street_of(state), state.prices
    stock: dict[str, int] = {}
    for slot in slots:
        if slot is not None:
            product, lots = slot
            units = stock.get(product, 0)
            for there, _, _ in lots:
                units += there
            stock[product] = units
    if not stock:
        return None
    full = site.box_cents >= street.counter.box_cents
    kept = street.counter.full_box_permille if full else 1000
    factor = site.goodwill * block.share_permille * kept // MILLION
    wants, lost, wanted_q20 = block_demand(state.economy, town, crowd, number, site.place, factor, stock, prices)
    sold: dict[str, int] = {}
    income = 0
    for id, units in wants.items():
        if units:
            there = stock[id]
            if units > there:
                lost += (units - there) << 20
                units = there
            sold[id] = units
            income += units * prices[id]
    goodwill = _remembered(state, site.goodwill, lost, wanted_q20, block, stock)
    cash = 0 if full else income - income * street.counter.card_permille // 1000
    if goodwill != site.goodwill or cash:
        site = site._replace(goodwill=goodwill, box_cents=site.box_cents + cash)
    return _Sale(site, sold, wants, income, income - cash)


def _remembered(state: State, goodwill: int, lost: int, wanted: int, block: Block, stock: Mapping[str, int]) -> int:
    """Goodwill after a block: people remember a machine that could not serve them."""
    terms = street_of(state).customers
    if not any(stock.values()):
        lost = wanted = 1
    if wanted <= 0:
        return goodwill
    unserved = min(lost * 1000 // wanted, 1000) - terms.forgiven_permille
    if unserved <= 0:
        return goodwill
    return max(terms.least_ppm, goodwill - terms.unserved_ppm * block.share_permille * unserved // MILLION)


def _after_sales(slots: Sequence[Slot | None], sold: Mapping[str, int]) -> list[Slot | None]:
    left, kept = dict(sold), list(slots)
    for place, slot in enumerate(slots):
        if slot is None:
            continue
        product, lots = slot
        if product not in left or not lots:
            continue
        take = left[product]
        there, cost_cents, last_day = lots[0]
        if take < there:  # mostly, for which the general way is too slow
            kept[place] = slot_of((product, (lot_of((there - take, cost_cents, last_day)), *lots[1:])))
            del left[product]
        else:
            lots, taken = remove_units(lots, take)
            kept[place] = slot_of((product, lots))
            left[product] = take - taken
    return kept


def _complaints(state: State, chance: Chance, place: int, sold: Mapping[str, int], letters: int) -> State:
    names = sorted(sold)
    for letter in range(letters):
        product = names[chance("product", letter).below(len(names))]
        state = complain(state, place, product, state.prices[product], chance("customer", letter))
    return state


def close_day(state: State, midnight: int) -> State:
    """Close a day: spoil goods, take storage rent and the fee, seal machines, test for the end."""
    setup, street, day, tally = state.setup, street_of(state), midnight // DAY_MINUTES, state.tally
    slots, storage, spoiled, spoiled_cents = _unspoiled(state, day)
    state = state.moved(slots=slots, storage=storage)
    state = _sites_closed(state, day)
    stored = sum([lot.units for lots in storage.values() for lot in lots])
    state = book(state, "storage", -min(max(state.cash_cents, 0), stored * street.storage.night_cents))
    state = book(state, "cards", tally.card_cents)
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
    elif setup.days and closed >= setup.days:
        ending = "horizon"
    sold: dict[str, int] = {}
    for (_, id), units in tally.sold.items():
        sold[id] = sold.get(id, 0) + units
    weather, fee = state.economy.today(day).weather, setup.fee_cents if met else 0
    closed_book = Book(
        day, weather, sold, tally.wanted, state.prices, tally.income_cents, spoiled, spoiled_cents, fee, met,
        _sold_out(slots, state.prices), tally.sold,
    )  # fmt: skip
    return state.moved(
        minute=midnight, closed_days=closed, missed=missed, tally=NO_TALLY, book=closed_book, ending=ending
    )


def _unspoiled(
    state: State, day: int
) -> tuple[tuple[Slot | None, ...], Mapping[str, tuple[Lot, ...]], dict[str, int], int]:
    """Slots and storage without the lots that spoiled on that day, units by product that did, and their cost."""
    spoiled: dict[str, int] = {}
    cents = 0

    def fresh(product: str, lots: tuple[Lot, ...]) -> tuple[Lot, ...]:
        nonlocal cents
        if not lots or lots[0].last_day > day:
            return lots
        for lot in lots:
            if lot.last_day <= day:
                spoiled[product] = spoiled.get(product, 0) + lot.units
                cents += lot.units * lot.cost_cents
        return tuple([lot for lot in lots if lot.last_day > day])

    slots = tuple(
        [
            slot if slot is None or not slot.lots or slot.lots[0].last_day > day
            else Slot(slot.product, fresh(slot.product, slot.lots))
            for slot in state.slots
        ]
    )  # fmt: skip
    storage = {id: left for id, lots in state.storage.items() if (left := fresh(id, lots))}
    return slots, storage, spoiled, cents


def _sites_closed(state: State, day: int) -> State:
    """The end of a day at each site: goodwill comes back, seals come off, unpaid machines are sealed or lost."""
    street, sites, slots = street_of(state), list[Site](), state.slots
    for index, site in enumerate(state.sites):
        goodwill = site.goodwill + (MILLION - site.goodwill) * street.customers.back_permille // 1000
        if goodwill != site.goodwill:
            site = site._replace(goodwill=goodwill)
        if site.opens_day and site.opens_day <= day + 1:
            site = site._replace(sealed=False, opens_day=0)
        late = day - site.due_day
        if late >= 1 and not site.lost:
            site = site._replace(sealed=True)
        if late >= street.rent.lost_days and not site.lost:
            site = site._replace(lost=True, box_cents=0)
            count = state.setup.slots
            slots = (*slots[: index * count], *(None,) * count, *slots[(index + 1) * count :])
        sites.append(site)
    return state.moved(sites=tuple(sites), slots=slots, machine_cents=sum([site.box_cents for site in sites]))


def _sold_out(slots: tuple[Slot | None, ...], prices: Mapping[str, int]) -> tuple[str, ...]:
    bare = {slot.product for slot in slots if slot is not None and not slot.lots and slot.product in prices}
    return tuple(sorted(bare))


def debts_cents(state: State) -> int:
    """What would be owed at the end: fees that were not paid, and rents overdue, with what lateness adds."""
    if not state.sites:
        return state.owed_cents
    day = state.closed_days
    rents = 0
    for site in state.sites:
        if site.lost or day > site.due_day:
            rent = rent_cents(state, site.place)
            rents += rent + rent * street_of(state).rent.late_permille // 1000
    return state.owed_cents + rents


def bank_balance_cents(state: State) -> int:
    """The bank account if the business ended now: with the jobber's price for goods, less debts, never below 0."""
    if not state.sites:
        return state.cash_cents
    return max(0, state.cash_cents + salvage_cents(state) - debts_cents(state))


def sales_lines(state: State) -> tuple[list[str], dict[str, Json]]:
    """Yesterday's sales by site, as lines and data of the morning notice."""
    sold = state.book.sold_at if state.book else None
    names, lines, data = state.setup.catalog.by_id, list[str](), dict[str, Json]()
    by_place: dict[int, dict[str, int]] = {}
    for (place, id), count in (sold or {}).items():
        by_place.setdefault(place, {})[id] = count
    for index, site in enumerate(state.sites):
        units = by_place.get(site.place, {})
        goods = ", ".join(f"{n} {names[id].name}" for id, n in units.items())
        seal = " (sealed)" if site.sealed else ""
        lines.append(f"Sold yesterday, {site_name(state, site.place)}{seal}: {goods or 'nothing'}.")
        data[str(index + 1)] = {**units}
    lines.append(f"Bank balance: {format_cents(state.cash_cents)}.")
    return lines, {"sold_at": data, "cash_cents": state.cash_cents}
