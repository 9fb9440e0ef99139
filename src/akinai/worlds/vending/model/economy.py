"""Demand: how many units customers want on a day. Fixed-point integers throughout, equal on every machine.

mean = base x place x taste x weekday x crowd x month x weather x variety x price effect, then noise, then a whole
number, then at most the day's footfall (Vending-Bench, arXiv 2502.15840, section 2.2; bounds and coefficients ours).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from akinai.core.chance import Chance, Fan, word
from akinai.core.ledger import Genesis
from akinai.worlds.vending.model.setup import WEATHERS, Season, Setup, Weather
from akinai.worlds.vending.model.town import Town, draw_town

ONE = 1 << 20
"""1 in Q20 fixed point."""


class Shelves(NamedTuple):
    """The products that are on sale when a day closes."""

    products: tuple[str, ...]
    prices_cents: tuple[int, ...]
    shares_permille: tuple[int, ...]
    """The part of the day's customers who come after its first units were in the machine; 1000: all of them."""


@dataclass(frozen=True, slots=True)
class Appeal:
    """The appeal of a product at this place; the taste in it is hidden from agents."""

    base: int
    """Units a day at the reference price in Q20, place and taste included."""
    reference_cents: int
    elasticity_permille: int
    seasons: Mapping[Weather, tuple[int, ...]]
    """`base` times the factors of the twelve months, under each weather, per million."""


class Offering(NamedTuple):
    """The part of the demand for some shelves that is the same on every day."""

    appeals: tuple[Appeal, ...]
    effects: tuple[int, ...]
    """The price effects in Q20."""
    fan: Fan
    """The products as parts of chance labels."""
    variety_permille: int
    bases: dict[tuple[Weather, int], list[int]]
    """By weather and month: the `seasons` of the appeals, cached."""


MOST_OFFERINGS = 64
"""The most offerings that are cached; shelves seldom change from day to day."""


class Today(NamedTuple):
    """A day's conditions, whatever is on sale."""

    weather: Weather
    month: int
    """0 for January."""
    crowd: int
    """How busy it is, per mille of an average day."""
    busy: int
    """The crowd times the factor of the weekday, per million."""
    label: int
    """The day's part of the chance label of demand."""


class StreetOffering(NamedTuple):
    """The part of a day's demand that holds while products and prices stay the same; sequences are by product."""

    prices: Mapping[str, int]
    """The prices for which it holds, in cents by product."""
    cents: Sequence[int]
    means: Sequence[int]
    effects: Sequence[int]
    fan: Fan
    """The products as parts of chance labels."""
    variety_permille: int


class Crowd(NamedTuple):
    """A day's customers of a business of several sites, whatever is on sale."""

    means: Mapping[str, int]
    """Units of each product in Q20 for the whole day at an average place, price and variety aside."""
    worth_permille: int
    """The price that people find right today, per mille of the usual one."""
    label: int
    """The day's part of the chance label of demand."""
    complaints: Chance
    """The day's chance of complaints."""
    offerings: dict[tuple[str, ...], StreetOffering]
    """By products on sale, cached while prices stay as they are."""


@dataclass(frozen=True)
class Economy:
    """The demand of a run: a function of setup and seed, made once and shared by every state."""

    setup: Setup
    root: Chance
    appeals: Mapping[str, Appeal]
    town: Town | None = None
    """The town of a business of several sites; None with a single machine."""
    _days: dict[int, Today] = field(default_factory=dict[int, Today], compare=False, repr=False)
    """The conditions of days, cached: each day asks four times."""
    _offerings: dict[Shelves, Offering] = field(default_factory=dict[Shelves, Offering], compare=False, repr=False)
    """The offerings of shelves, cached."""
    crowds: dict[int, Crowd] = field(default_factory=dict[int, Crowd], compare=False, repr=False)
    """The customers of days, cached."""
    webs: dict[tuple[str, ...], tuple[Setup, tuple[tuple[str, str], ...]]] = field(
        default_factory=dict[tuple[str, ...], tuple[Setup, tuple[tuple[str, str], ...]]], compare=False, repr=False
    )
    """The web by suppliers in business, cached."""

    @staticmethod
    def of(setup: Setup, seed: int) -> "Economy":
        """The economy that a genesis decides."""
        root, widths = Chance.of(seed), setup.demand
        if setup.street:
            town = draw_town(setup, setup.street, root)
            return Economy(setup.model_copy(update={"catalog": town.catalog}), root, {}, town)
        place_factor = _around(root("place"), widths.place_permille)
        appeals: dict[str, Appeal] = {}
        for product in setup.catalog.products:
            taste = _around(root("taste", product.id), widths.taste_permille)
            base = product.daily_milliunits * place_factor * taste * ONE // 1_000_000_000
            season = widths.seasons.get(product.category, Season())
            seasons: dict[Weather, tuple[int, ...]] = {
                sky: tuple(base * m * season.weather.get(sky, 1000) for m in season.months) for sky in WEATHERS
            }
            reference, elasticity = product.reference_cents, product.elasticity_permille
            appeals[product.id] = Appeal(base, reference, elasticity, seasons)
        return Economy(setup, root, appeals)

    def noise(self, day: int, *label: object) -> Chance:
        """The chance of a day's noise. A counterfactual redraws it, and nothing else, after its day."""
        counterfactual = self.setup.counterfactual
        if counterfactual is not None and day > counterfactual.after:
            return self.root("counterfactual", counterfactual.salt, *label)
        return self.root(*label)

    def today(self, day: int) -> Today:
        """The conditions of a day, counted from 1."""
        today = self._days.get(day)
        if today is None:
            today = self._days[day] = self._draw_today(day)
        return today

    def _draw_today(self, day: int) -> Today:
        demand, start = self.setup.demand, self.setup.start_date
        month = (start + timedelta(days=day - 1)).month - 1
        crowd = _around(self.noise(day, "crowd", day), demand.crowd_permille)
        busy = crowd * demand.weekdays[(start.weekday() + day - 1) % 7]
        return Today(self._weather(day, month), month, crowd, busy, self.noise(day, "demand", day).h)

    def _weather(self, day: int, month: int) -> Weather:
        """The weather of a day, drawn by the frequencies of that month."""
        draw, skies = self.noise(day, "sky", day).below(1000), self.setup.demand.skies
        for weather in WEATHERS:
            draw -= skies[weather][month] if weather in skies else 0
            if draw < 0:
                return weather
        return WEATHERS[-1]

    def means(self, day: int, shelves: Shelves) -> list[int]:
        """The expected units of the day by product, in Q20, before the footfall's cap."""
        return _means(self.today(day), self.offering(shelves))

    def draw_demand(self, day: int, shelves: Shelves) -> list[int]:
        """Whole units that customers want of each product on that day; all together are at most the day's footfall."""
        today, offering = self.today(day), self.offering(shelves)
        units = noisy_units(_means(today, offering), offering.fan.absorb(today.label))
        total, most = sum(units), self.setup.demand.footfall * today.crowd // 1000
        return units if total <= most else _apportion(units, total, most)

    def offering(self, shelves: Shelves) -> Offering:
        """The offering of some shelves."""
        offering = self._offerings.get(shelves)
        if offering is None:
            if len(self._offerings) == MOST_OFFERINGS:
                self._offerings.clear()
            offering = self._offerings[shelves] = self._offering(shelves)
        return offering

    def _offering(self, shelves: Shelves) -> Offering:
        appeals = tuple([self.appeals[product] for product in shelves.products])
        effects = tuple(
            price_effect(appeal.reference_cents, appeal.elasticity_permille, cents)
            for appeal, cents in zip(appeals, shelves.prices_cents, strict=True)
        )
        drawn = [share * variety_weight(effect) for share, effect in zip(shelves.shares_permille, effects, strict=True)]
        variety = variety_permille(self.setup.demand.variety, sum(drawn) >> 20)
        return Offering(appeals, effects, fan_of(shelves.products), variety, {})


@lru_cache(maxsize=64)
def _economy(genesis_text: str) -> Economy:
    genesis = json.loads(genesis_text)
    return Economy.of(Setup.model_validate(genesis["setup"]), genesis["seed"])


def economy_of(genesis: Genesis) -> Economy:
    """The economy of a genesis. The last 64 are cached, so beginning a run again costs little."""
    return _economy(genesis.text)


def _means(today: Today, offering: Offering) -> list[int]:
    weather, month, factor = today.weather, today.month, today.busy * offering.variety_permille
    bases = offering.bases.get((weather, month))
    if bases is None:
        bases = offering.bases[weather, month] = [appeal.seasons[weather][month] for appeal in offering.appeals]
    return [(factor * base // 10**15) * effect >> 20 for base, effect in zip(bases, offering.effects, strict=True)]


@lru_cache(maxsize=4096)
def price_effect(reference_cents: int, elasticity_permille: int, price_cents: int) -> int:
    """clamp(1 + elasticity x (reference - price) / reference, 0, 2) in Q20: 0 at a high price, never above 2."""
    slope = (elasticity_permille * (reference_cents - price_cents) << 20) // (1000 * reference_cents)
    return min(max(ONE + slope, 0), 2 * ONE)


def variety_weight(effect: int) -> int:
    """The weight of a product in the variety, in Q20: full from half of its usual demand on, 0 without demand.

    Otherwise a can for $1,000 that nobody buys would raise the sales of the others. Trade at a profit is unaffected: at
    the price that earns most, (r (1 + 1/e) + c) / 2, the effect is (1 + e (1 - c/r)) / 2, above a half wherever c < r.
    """
    return min(2 * effect, ONE)


def variety_permille(table: Sequence[int], shares: int) -> int:
    """The variety factor for a sum of shares (1000 is a product all day), interpolated between whole products."""
    n, fraction = divmod(shares, 1000)
    low = table[min(max(n, 1), len(table)) - 1]
    if not fraction or n < 1:
        return low
    return low + (table[min(n + 1, len(table)) - 1] - low) * fraction // 1000


def _around(chance: Chance, width_permille: int) -> int:
    """A factor per mille, uniform from 1000 - width to 1000 + width."""
    return chance.between(1000 - width_permille, 1000 + width_permille)


def noisy(mean: int, h: int) -> int:
    """Whole units, by triangular noise and unbiased rounding: their average over `h` is mean / 2^20 exactly."""
    return (mean * ((h & 8191) + ((h >> 13) & 8191) + 1) + (h >> 31)) >> 33


def noisy_units(means: Sequence[int], hs: Sequence[int]) -> list[int]:
    """`noisy` for many means, without a call for each."""
    return [(mean * ((h & 8191) + ((h >> 13) & 8191) + 1) + (h >> 31)) >> 33 for mean, h in zip(means, hs, strict=True)]


@lru_cache(maxsize=4096)
def fan_of(products: tuple[str, ...]) -> Fan:
    """Products as parts of chance labels."""
    return Fan([word(product) for product in products])


def _apportion(units: Sequence[int], total: int, most: int) -> list[int]:
    """Divide `most` units in proportion, by differences of the rounded running sum: the parts add up exactly."""
    parts: list[int] = []
    running = assigned = 0
    for count in units:
        running += count
        upto = running * most // total
        parts.append(upto - assigned)
        assigned = upto
    return parts
