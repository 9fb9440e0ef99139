"""How much a trader orders: what runs out first, then the rest, as far as money and room go."""

from typing import NamedTuple

from akinai.worlds.vending.players.memory import Offer
from akinai.worlds.vending.players.trader import Trader


class Want(NamedTuple):
    """A product that could be ordered."""

    short: bool
    product: str
    units: int
    days: float
    """For how long what is there lasts."""
    rate: float


def root(x: float) -> float:
    """The square root, by Newton's method: equal on every machine."""
    guess = max(x, 1e-9)
    for _ in range(30):
        guess = (guess + x / guess) / 2
    return guess


def divided(offer: Offer, wants: list[Want], money: float, room: float) -> dict[str, int]:
    """Units by product: first for the days of delivery, what runs out first, then the rest in proportion."""
    units: dict[str, int] = {}
    for days in (offer.lead_days + 2, 99):
        asked: list[tuple[str, int]] = []
        for want in wants:
            if days == 99:
                count = want.units - units.get(want.product, 0)
            else:
                count = min(want.units, max(0, int(want.rate * (days - want.days) + 0.9)))
            if count > 0:
                asked.append((want.product, count))
        total = sum([count for _, count in asked])
        cost = sum([count * offer.prices[id] for id, count in asked])
        part = min(1.0, room / total if total else 1.0, money / cost if cost else 1.0)
        for id, count in asked:
            count = int(count * part) if days == 99 else min(count, int(count * part + 0.5))
            if count:
                units[id] = units.get(id, 0) + count
                room -= count
                money -= count * offer.prices[id]
        room, money = max(room, 0.0), max(money, 0.0)
    return units


def pad(trader: Trader, offer: Offer, units: dict[str, int], wants: list[Want]) -> None:
    """Bring an order up to the minimum, with what keeps."""
    products = trader.memory.products
    more = [id for id in units if products[id].shelf_days > 20]
    if not more:
        assigned = trader.memory.assigned
        more = [id for id in trader.layout if assigned.get(id) == offer.supplier and products[id].shelf_days > 20]
    if not more and any(want.short and want.days < 1.5 for want in wants):
        more = list(units)
    cost = sum(count * offer.prices[id] for id, count in units.items())
    if not more or trader.days - trader.day <= 10 or trader.room() < 100:
        return
    at = 0
    while cost < offer.minimum_cents:
        id = more[at % len(more)]
        units[id] = units.get(id, 0) + 1
        cost += offer.prices[id]
        at += 1
