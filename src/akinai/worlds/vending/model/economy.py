"""Demand: how many units customers want in a block of the day. Fixed-point integers throughout, equal on every machine.

mean = base x taste x place x goodwill x weekday x season x weather x event x crowd x share x variety x price effect,
then noise, then a whole number, then at most the footfall (Vending-Bench, arXiv 2502.15840, section 2.2; bounds and
coefficients ours).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from akinai.core.chance import Chance, Fan, absorb, word
from akinai.core.ledger import Genesis
from akinai.worlds.vending.model.setup import WEATHERS, Season, Setup, Weather
from akinai.worlds.vending.model.town import ONE, Town, draw_town

_ANY_SEASON = Season()


class Today(NamedTuple):
    """A day's conditions, whatever is on sale."""

    weather: Weather
    month: int
    """0 for January."""


class NoiseFan(Fan):
    """The draws of `noisy` for several products at once."""

    __slots__ = ("_low",)

    def __init__(self, words: Sequence[int]) -> None:
        super().__init__(words)
        self._low = self._packed([8191] * len(words))

    def noise(self, h: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Two numbers s and r of each word x, with which `noisy(mean, absorb(h, x))` is (mean * s + r) >> 33."""
        z, low = self._absorbed(h), self._low
        return self._unpacked((z & low) + (z >> 13 & low) + self._ones), self._unpacked(z >> 31)


class Offering(NamedTuple):
    """The part of demand that products on sale, their prices and what people find right decide."""

    effects: Sequence[int]
    """The effects of the prices, by product."""
    steepness: Mapping[str, int]
    fan: NoiseFan
    """The products as parts of chance labels."""
    variety_permille: int


class Crowd(NamedTuple):
    """A day's customers, whatever is on sale."""

    means: Mapping[str, int]
    """Units of each product in Q20 for the whole day at an average place, price and variety aside."""
    worth_permille: int
    """The price that people find right today, per mille of the usual one."""
    footfall: int
    """The most units that a machine can sell in the whole day, all products together, in thousandths."""
    label: int
    """The day's part of the chance label of demand."""
    complaints: int
    """The day's part of the chance label of complaints."""


class BlockTerms(NamedTuple):
    """A block of a day's customers."""

    label: int
    """Its part of the chance label of demand."""
    most: int
    """The most units that it buys from a machine, all products together."""
    share_permille: int
    complaints: int
    """Its part of the chance label of complaints."""


class Shelf(NamedTuple):
    """A machine as the customers of its place see it beside others."""

    goodwill: int
    """In millionths."""
    stock: Mapping[str, int]
    """Units by product with a slot."""
    prices: Mapping[str, int]


class BlockSales(NamedTuple):
    """The demand and the sales of a block of customers at a site."""

    sold: dict[str, int]
    """Units by product; products that sold nothing are left out."""
    income_cents: int
    lost_q20: int
    """Units that nobody could serve, in Q20: expected ones of products without units, and those that ran short."""
    demand_q20: int
    """Expected units of all products that have a slot."""


@dataclass(frozen=True)
class Economy:
    """The demand of a run: a function of setup and seed, made once and shared by every state."""

    setup: Setup
    root: Chance
    town: Town
    _days: dict[int, Today] = field(default_factory=dict[int, Today], compare=False, repr=False)
    """The conditions of days, cached."""
    _crowds: dict[int, Crowd] = field(default_factory=dict[int, Crowd], compare=False, repr=False)
    """The customers of days, cached."""
    _offerings: dict[tuple[int, tuple[str, ...], tuple[int, ...]], Offering] = field(
        default_factory=dict[tuple[int, tuple[str, ...], tuple[int, ...]], Offering], compare=False, repr=False
    )
    """By the worth that people find right, products on sale and their prices, cached."""
    webs: dict[tuple[str, ...], object] = field(
        default_factory=dict[tuple[str, ...], object], compare=False, repr=False
    )
    """The web by suppliers in business, as `rules/web.py` caches it."""

    @staticmethod
    def of(setup: Setup, seed: int) -> "Economy":
        """The economy that a genesis decides."""
        root = Chance.of(seed)
        town = draw_town(setup, root)
        return Economy(setup.model_copy(update={"catalog": town.catalog}), root, town)

    def noise(self, day: int, *label: object) -> Chance:
        """The chance of a day's noise. A counterfactual redraws it, and nothing else, after its day."""
        counterfactual = self.setup.counterfactual
        if counterfactual is not None and day > counterfactual.after:
            return self.root("counterfactual", counterfactual.salt, *label)
        return self.root(*label)

    def redrawn(self, setup: Setup) -> "Economy":
        """The same town with the noise of a setup that differs in its counterfactual alone."""
        return Economy(setup, self.root, self.town, webs=self.webs)

    def today(self, day: int) -> Today:
        """The conditions of a day, counted from 1."""
        today = self._days.get(day)
        if today is None:
            month = (self.setup.start_date + timedelta(days=day - 1)).month - 1
            today = self._days[day] = Today(self._weather(day, month), month)
        return today

    def _weather(self, day: int, month: int) -> Weather:
        """The weather of a day, drawn by the frequencies of that month."""
        draw, skies = self.noise(day, "sky", day).below(1000), self.setup.demand.skies
        for weather in WEATHERS:
            draw -= skies[weather][month] if weather in skies else 0
            if draw < 0:
                return weather
        return WEATHERS[-1]

    def crowd(self, day: int) -> Crowd:
        """The customers of a day, counted from 1."""
        crowd = self._crowds.get(day)
        if crowd is None:
            crowd = self._crowds[day] = self._crowd(day)
        return crowd

    def block(self, crowd: Crowd, number: int) -> BlockTerms:
        """A block of a day's customers, by its number."""
        share = self.setup.street.counter.blocks[number].share_permille
        most, complaints = crowd.footfall * share // 1_000_000, absorb(crowd.complaints, number)
        return BlockTerms(absorb(crowd.label, number), most, share, complaints)

    def _crowd(self, day: int) -> Crowd:
        town, width = self.town, self.town.crowd_permille
        event = town.event_on(day)
        effect = self.setup.street.events.kinds[event.kind] if event else None
        busy = self.noise(day, "crowd", day).between(1000 - width, 1000 + width)
        factors: dict[str, int] = {}
        means: dict[str, int] = {}
        for id, (base, _, _, by_period, phase, category) in town.tastes.items():
            if (factor := factors.get(category)) is None:
                demand = effect.permille_of(category) if effect else 1000
                factor = factors[category] = self.calendar_permille(day, category) * demand * busy // 1000
            means[id] = base * by_period[(day + phase) // town.taste_days] // 1000 * factor // 10**6
        worth = effect.worth_permille if effect else 1000
        label, complaints = self.noise(day, "demand", day).h, self.noise(day, "complaint", day).h
        return Crowd(means, worth, self.setup.demand.footfall * busy, label, complaints)

    def worth_of(self, day: int) -> int:
        """What the customers of a day would bring over the trade price at the prices that they find right."""
        crowd, products = self.crowd(day), self.town.catalog.by_id
        worths = {id: taste.worth_cents * crowd.worth_permille // 1000 for id, taste in self.town.tastes.items()}
        return sum(crowd.means[id] * max(worth - products[id].wholesale_cents, 0) for id, worth in worths.items())

    def calendar_permille(self, day: int, category: str) -> int:
        """The product of the public factors of weekday, month and weather, per mille."""
        today, demand = self.today(day), self.setup.demand
        start = self.setup.start_date.weekday()
        season = demand.seasons.get(category, _ANY_SEASON)
        factor = demand.weekdays[(start + day - 1) % 7] * season.months[today.month]
        return factor * season.weather.get(today.weather, 1000) // 1_000_000

    def block_sales(
        self,
        crowd: Crowd,
        block: BlockTerms,
        place_index: int,
        factor: int,
        stock: Mapping[str, int],
        prices: Mapping[str, int],
        demand: dict[str, int],
        parts: Mapping[str, int] | None = None,
    ) -> BlockSales:
        """Draw what the customers of a block want at a place, and sell it as far as stock goes.

        `stock` has units by product with a slot; `factor` is goodwill in millionths x share of the block x what a full
        box leaves, per million. The units wanted are added to `demand`, by product with units and a price. `parts` is
        the part of a product's customers who come to this machine, in Q20, where others stand beside it.
        """
        scale = factor * self.town.footfall[place_index]
        means = crowd.means if parts is None else {id: crowd.means[id] * parts[id] >> 20 for id in stock}
        ids, lost = tuple([id for id, units in stock.items() if units and id in prices]), 0
        if len(ids) < len(stock):
            lost = sum([means[id] * scale // 10**9 for id in stock if id not in ids])
        effects, _, fan, variety = self._offering(crowd, ids, prices)
        spreads, rests = fan.noise(absorb(block.label, place_index))
        expected, income = lost, 0
        wants: list[int] = []
        sold: dict[str, int] = {}
        for id, effect, spread, rest in zip(ids, effects, spreads, rests, strict=True):
            mean = (means[id] * scale // 10**9 * variety // 1000) * effect >> 20
            expected += mean
            wants.append((mean * spread + rest) >> 33)  # `noisy`
        if sum(wants) > block.most:
            wants = _apportion(wants, block.most)
        for id, units in zip(ids, wants, strict=True):
            if units:
                demand[id] = demand.get(id, 0) + units
                if units > (there := stock[id]):
                    lost += (units - there) << 20
                    units = there
                sold[id] = units
                income += units * prices[id]
            elif id not in demand:
                demand[id] = 0
        return BlockSales(sold, income, lost, expected)

    def parts(self, crowd: Crowd, shelves: Sequence[Shelf]) -> list[dict[str, int]]:
        """How the customers of a place divide among its machines: each machine's part by product, in Q20.

        Those who want a product pick among the machines that have it by goodwill x variety x exp(-7 x price / worth).
        Of a product that a machine is out of, it loses as many as if all who have a slot for it were alike.
        """
        parts: list[dict[str, int]] = [{} for _ in shelves]
        holders: dict[str, list[int]] = {}
        for index, shelf in enumerate(shelves):
            for id in shelf.stock:
                holders.setdefault(id, []).append(index)
        on_sale = [tuple(id for id, units in shelf.stock.items() if units and id in shelf.prices) for shelf in shelves]
        offerings = [self._offering(crowd, ids, shelf.prices) for shelf, ids in zip(shelves, on_sale, strict=True)]
        for id, indices in holders.items():
            if len(indices) == 1:
                parts[indices[0]][id] = ONE
                continue
            steep = {index: dear for index in indices if (dear := offerings[index].steepness.get(id)) is not None}
            least = min(steep.values(), default=0)
            weights = {
                index: shelves[index].goodwill * offerings[index].variety_permille * falling(dear - least)
                for index, dear in steep.items()
            }
            whole = sum(weights.values())
            for index in indices:
                parts[index][id] = weights[index] * ONE // whole if index in weights else ONE // len(indices)
        return parts

    def _offering(self, crowd: Crowd, ids: tuple[str, ...], prices: Mapping[str, int]) -> Offering:
        key = (crowd.worth_permille, ids, tuple([prices[id] for id in ids]))
        offering = self._offerings.get(key)
        if offering is None:
            tastes = [self.town.tastes[id] for id in ids]
            worths = [taste.worth_cents * crowd.worth_permille // 1000 for taste in tastes]
            effects = [
                price_effect(worth, taste.elasticity_permille, prices[id])
                for id, worth, taste in zip(ids, worths, tastes, strict=True)
            ]
            steep = {id: steepness(prices[id], worth) for id, worth in zip(ids, worths, strict=True)}
            shares = sum([variety_weight(effect) for effect in effects])
            variety = variety_permille(self.setup.demand.variety, shares * 1000 >> 20)
            offering = self._offerings[key] = Offering(effects, steep, fan_of(ids), variety)
        return offering


@lru_cache(maxsize=64)
def _economy(genesis_text: str) -> Economy:
    genesis = json.loads(genesis_text)
    return Economy.of(Setup.model_validate(genesis["setup"]), genesis["seed"])


def economy_of(genesis: Genesis) -> Economy:
    """The economy of a genesis. The last 64 are cached, so beginning a run again costs little."""
    return _economy(genesis.text)


@lru_cache(maxsize=4096)
def price_effect(reference_cents: int, elasticity_permille: int, price_cents: int) -> int:
    """clamp(1 + elasticity x (reference - price) / reference, 0, 2) in Q20: 0 at a high price, never above 2."""
    slope = (elasticity_permille * (reference_cents - price_cents) << 20) // (1000 * reference_cents)
    return min(max(ONE + slope, 0), 2 * ONE)


# exp(-x) in Q20 for x from 0 to 8 in eighths.
_FALLING = (
    1048576, 925365, 816632, 720675, 635993, 561262, 495312, 437112, 385750, 340423, 300422, 265122, 233969, 206477,
    182215, 160804, 141909, 125235, 110519, 97533, 86072, 75959, 67033, 59157, 52206, 46071, 40658, 35880, 31664, 27944,
    24660, 21763, 19205, 16949, 14957, 13200, 11649, 10280, 9072, 8006, 7065, 6235, 5502, 4856, 4285, 3782, 3337, 2945,
    2599, 2294, 2024, 1786, 1576, 1391, 1228, 1083, 956, 844, 745, 657, 580, 512, 452, 399, 352,
)  # fmt: skip


def steepness(price_cents: int, worth_cents: int) -> int:
    """7 x price / worth in thousandths: what of `falling` a machine's price leaves of its customers beside rivals."""
    return 7000 * price_cents // worth_cents


def falling(x: int) -> int:
    """exp(-x) in Q20 for x thousandths, 0 or more, by table; above 8 it stays as it is there."""
    step, offset = divmod(min(x, 7999), 125)
    return _FALLING[step] - (_FALLING[step] - _FALLING[step + 1]) * offset // 125


def variety_weight(effect: int) -> int:
    """The weight of a product in the variety, in Q20: full from half of its usual demand on, 0 without demand.

    Otherwise a can for $1,000 that nobody buys would raise the sales of the others. Trade at a profit is unaffected: at
    the price that earns most, (r (1 + 1/e) + c) / 2, the effect is (1 + e (1 - c/r)) / 2, above a half wherever c < r.
    """
    return min(2 * effect, ONE)


def variety_permille(table: Sequence[int], shares: int) -> int:
    """The variety factor for a sum of shares (1000 is a product), interpolated between whole products."""
    n, fraction = divmod(shares, 1000)
    low = table[min(max(n, 1), len(table)) - 1]
    if not fraction or n < 1:
        return low
    return low + (table[min(n + 1, len(table)) - 1] - low) * fraction // 1000


def noisy(mean: int, h: int) -> int:
    """Whole units, by triangular noise and unbiased rounding: their average over `h` is mean / 2^20 exactly."""
    return (mean * ((h & 8191) + ((h >> 13) & 8191) + 1) + (h >> 31)) >> 33


@lru_cache(maxsize=4096)
def fan_of(products: tuple[str, ...]) -> NoiseFan:
    """Products as parts of chance labels."""
    return NoiseFan([word(product) for product in products])


def _apportion(units: Sequence[int], most: int) -> list[int]:
    """Divide `most` units in proportion, by differences of the rounded running sum: the parts add up exactly."""
    parts: list[int] = []
    total, running, assigned = sum(units), 0, 0
    for count in units:
        running += count
        upto = running * most // total
        parts.append(upto - assigned)
        assigned = upto
    return parts
