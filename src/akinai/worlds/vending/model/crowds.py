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
    fan_of,
    price_effect,
    variety_permille,
    variety_weight,
)
from akinai.worlds.vending.model.setup import Season
from akinai.worlds.vending.model.terms import Street
from akinai.worlds.vending.model.town import Town

_ANY_SEASON = Season()


class BlockSales(NamedTuple):
    """The demand and the sales of a block of customers at a site."""

    sold: dict[str, int]
    """Units by product; products that sold nothing are left out."""
    income_cents: int
    lost_q20: int
    """Units that nobody could serve, in Q20: expected ones of products without units, and those that ran short."""
    demand_q20: int
    """Expected units of all products that have a slot."""


def crowd_of(economy: Economy, town: Town, street: Street, day: int) -> Crowd:
    """Return the customers of a day, cached with the economy."""
    crowd = economy.crowds.get(day)
    if crowd is None:
        crowd = economy.crowds[day] = _crowd_of(economy, town, street, day)
    return crowd


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
    """The product of the public factors of weekday, month and weather, per mille."""
    today, demand = economy.today(day), economy.setup.demand
    start = economy.setup.start_date.weekday()
    season = demand.seasons.get(category, _ANY_SEASON)
    factor = demand.weekdays[(start + day - 1) % 7] * season.months[today.month]
    return factor * season.weather.get(today.weather, 1000) // 1_000_000


def block_sales(
    economy: Economy,
    town: Town,
    crowd: Crowd,
    label: int,
    place_index: int,
    factor: int,
    stock: Mapping[str, int],
    prices: Mapping[str, int],
    demand: dict[str, int],
) -> BlockSales:
    """Draw what a block's customers want at a site, and sell it as far as stock goes.

    `label` is the block's part of the chance label of demand, `stock` has units by product with a slot; `factor` is
    goodwill in millionths x share of the block x what a full box leaves, per million. The units wanted are added to
    `demand`, by product with units and a price.
    """
    scale, lost = factor * town.footfall[place_index], 0
    if missed := [id for id, units in stock.items() if not units or id not in prices]:
        lost = sum([crowd.means[id] * scale // 10**9 for id in missed])
        stock = {id: units for id, units in stock.items() if id not in missed}
    ids = tuple(stock)
    offering = crowd.offerings.get(ids)
    if offering is None or offering.prices is not prices:
        offering = crowd.offerings[ids] = _offering(economy, town, crowd, ids, prices)
    _, cents, means, effects, fan, variety = offering
    draws = fan.absorb(absorb(label, place_index))
    sold, income, expected = dict[str, int](), 0, lost
    for (id, there), price, mean, effect, h in zip(stock.items(), cents, means, effects, draws, strict=True):
        mean = (mean * scale // 10**9 * variety // 1000) * effect >> 20
        expected += mean
        units = (mean * ((h & 8191) + ((h >> 13) & 8191) + 1) + (h >> 31)) >> 33  # `noisy`, without a call
        if units:
            demand[id] = demand.get(id, 0) + units
            if units > there:
                lost += (units - there) << 20
                units = there
            sold[id] = units
            income += units * price
        elif id not in demand:
            demand[id] = 0
    return BlockSales(sold, income, lost, expected)


def _offering(
    economy: Economy, town: Town, crowd: Crowd, ids: tuple[str, ...], prices: Mapping[str, int]
) -> StreetOffering:
    cents = [prices[id] for id in ids]
    effects = [
        price_effect(taste.worth_cents * crowd.worth_permille // 1000, taste.elasticity_permille, price)
        for taste, price in zip([town.tastes[id] for id in ids], cents, strict=True)
    ]
    shares = sum([variety_weight(effect) for effect in effects])
    variety = variety_permille(economy.setup.demand.variety, shares * 1000 >> 20)
    return StreetOffering(prices, cents, [crowd.means[id] for id in ids], effects, fan_of(ids), variety)
