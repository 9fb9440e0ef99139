"""Customers of a business of several sites: how many come in a block of the day, product by product. Integers alone.

mean = base x taste x place x goodwill x weekday x season x weather x event x crowd x share x variety x price effect.
"""

from collections.abc import Mapping
from typing import NamedTuple

from akinai.core.chance import absorb
from akinai.worlds.vending.model.economy import (
    Crowd,
    Economy,
    StreetOffering,
    drawing,
    fan_of,
    noisy_units,
    price_effect,
    variety_permille,
)
from akinai.worlds.vending.model.setup import Season
from akinai.worlds.vending.model.terms import Street
from akinai.worlds.vending.model.town import Town

_ANY_SEASON = Season()


class BlockDemand(NamedTuple):
    """What the customers of a block want at a site."""

    units: dict[str, int]
    """By product with units and a price; whole units."""
    lost_q20: int
    """Expected units that nobody could serve, of products without units."""
    wanted_q20: int
    """Expected units of all products that have a slot."""


def crowd_of(economy: Economy, town: Town, street: Street, day: int) -> Crowd:
    """The customers of a day; cached with the economy."""
    known = economy.crowds.get(day)
    if known is None:
        known = economy.crowds[day] = _crowd_of(economy, town, street, day)
    return known


def _crowd_of(economy: Economy, town: Town, street: Street, day: int) -> Crowd:
    event = town.event_on(day)
    width = street.drawn.crowd_permille
    crowd = economy.noise(day, "crowd", day).between(1000 - width, 1000 + width)
    effect = street.events.kinds[event.kind] if event else None
    factors: dict[str, int] = {}
    for category in {taste.category for taste in town.tastes.values()}:
        demand = effect.permille_of(category) if effect else 1000
        factors[category] = calendar_permille(economy, day, category) * demand * crowd // 1000
    period = street.drawn.taste_days
    means = {
        id: taste.base * taste.by_period[(day + taste.phase) // period] // 1000 * factors[taste.category] // 1_000_000
        for id, taste in town.tastes.items()
    }
    worth = effect.worth_permille if effect else 1000
    return Crowd(means, worth, economy.today(day).label, economy.noise(day, "complaint", day), {})


def calendar_permille(economy: Economy, day: int, category: str) -> int:
    """The public factors of weekday, month and weather."""
    today, demand = economy.today(day), economy.setup.demand
    start = economy.setup.start_date.weekday()
    season = demand.seasons.get(category, _ANY_SEASON)
    factor = demand.weekdays[(start + day - 1) % 7] * season.months[today.month]
    return factor * season.weather.get(today.weather, 1000) // 1_000_000


def block_demand(
    economy: Economy,
    town: Town,
    crowd: Crowd,
    label: int,
    place: int,
    factor: int,
    stock: Mapping[str, int],
    prices: Mapping[str, int],
) -> BlockDemand:
    """What a block's customers want at a site.

    `label` is the block's part of the chance label of demand, `stock` has units by product with a slot; `factor` is
    goodwill in millionths x share of the block x what a full box leaves, per million.
    """
    scale, lost = factor * town.footfall[place], 0
    on_sale, cents = list[str](), list[int]()
    for id, units in stock.items():
        if units and id in prices:
            on_sale.append(id)
            cents.append(prices[id])
        else:
            lost += crowd.means[id] * scale // 10**9
    if not on_sale:
        return BlockDemand({}, lost, lost)
    goods = tuple(on_sale), tuple(cents)
    offering = crowd.offerings.get(goods)
    if offering is None:
        offering = crowd.offerings[goods] = _offering(economy, town, crowd, *goods)
    means, effects, fan, variety = offering
    asked = [
        (mean * scale // 10**9 * variety // 1000) * effect >> 20 for mean, effect in zip(means, effects, strict=True)
    ]
    units = noisy_units(asked, fan.absorb(absorb(label, place)))
    return BlockDemand(dict(zip(on_sale, units, strict=True)), lost, lost + sum(asked))


def _offering(
    economy: Economy, town: Town, crowd: Crowd, ids: tuple[str, ...], cents: tuple[int, ...]
) -> StreetOffering:
    effects = [
        price_effect(taste.worth_cents * crowd.worth_permille // 1000, taste.elasticity_permille, price)
        for taste, price in zip([town.tastes[id] for id in ids], cents, strict=True)
    ]
    shares = sum([drawing(effect) for effect in effects])
    variety = variety_permille(economy.setup.demand.variety, shares * 1000 >> 20)
    return StreetOffering([crowd.means[id] for id in ids], effects, fan_of(ids), variety)
