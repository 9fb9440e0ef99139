"""Shocks: misfortunes that a setup plants on a day. Until that day nothing is different."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from akinai.worlds.vending.model.economy import Shelf
from akinai.worlds.vending.model.state import Order, State
from akinai.worlds.vending.model.terms import ShockKind
from akinai.worlds.vending.rules.books import day_text, post, site_name

SHORT_DAYS, COMPLAINT_DAYS, WAR_DAYS = 7, 3, 14
COMPLAINTS_PERMILLE = 400
"""Letters for each thousand units sold while complaints come in a burst."""
WAR_PERMILLE = 600
"""The prices of a price war, of what people find right."""


def strike(state: State) -> State:
    """Let what is planted for this morning begin, before the letters of the morning."""
    for shock in state.setup.shocks.values():
        if shock.day == state.owner_day:
            if shock.kind == "supplier_fails":
                state = _close_supplier(state)
            elif shock.kind == "price_war":
                state = state.for_each_business(_announce_war)
    return state


def lasts(state: State, kind: ShockKind, days: int) -> bool:
    """Whether a shock of a kind began today or on one of the days before, `days` in all."""
    return any(shock.kind == kind and 0 <= state.owner_day - shock.day < days for shock in state.setup.shocks.values())


def _close_supplier(state: State) -> State:
    """The street without the supplier from whom its owners bought for most money; without an order, the first one."""
    bought = Counter[str]()
    for own in state.businesses.values():
        bought.update(own.bought)
    town = state.economy.town
    id = max(town.open_suppliers(state.day), key=lambda id: bought[id])
    closed = town.traders[id]._replace(closes=state.day, news_day=state.day)
    economy = replace(state.economy, town=replace(town, traders={**town.traders, id: closed}))

    def without_orders(own: State) -> State:
        return own.moved(orders=tuple(order for order in own.orders if order.supplier != id))

    return state.moved(economy=economy).for_each_business(without_orders)


def _announce_war(state: State) -> State:
    names = ", ".join(site_name(state, site.place_index) for site in state.sites if not site.lost)
    last = day_text(state, state.day + WAR_DAYS - 1)
    text = (
        f"A kiosk beside the machine at {names} sells what you sell, far below what people usually pay, until {last}."
    )
    return post(state, "news@street.com", "A kiosk with low prices", text)


def shortened(state: State, order: Order) -> Order:
    """An order that comes now: in a week of bad deliveries two thirds of every line are missing."""
    if not lasts(state, "bad_delivery", SHORT_DAYS):
        return order
    missing = order.missing or (0,) * len(order.lines)
    worse = [max(lost, line.units * 2 // 3) for line, lost in zip(order.lines, missing, strict=True)]
    return replace(order, missing=tuple(worse))


def complaints_permille(state: State) -> int:
    """Letters of customers for each thousand units sold today."""
    burst = lasts(state, "complaints", COMPLAINT_DAYS)
    return COMPLAINTS_PERMILLE if burst else state.setup.street.customers.complaints_permille


def with_kiosk(state: State, shelves: Sequence[Shelf]) -> Sequence[Shelf]:
    """The machines of a place; in a price war a kiosk comes last, which has all that they have."""
    if not lasts(state, "price_war", WAR_DAYS):
        return shelves
    tastes, goods = state.economy.town.tastes, {id: 1 for shelf in shelves for id in shelf.stock}
    prices = {id: max(1, tastes[id].worth_cents * WAR_PERMILLE // 1000) for id in goods}
    return (*shelves, Shelf(1_000_000, goods, prices))
