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

from akinai.core.chance import Chance, absorb, word
from akinai.core.ledger import Genesis
from akinai.worlds.vending.setup import WEATHERS, Season, Setup, Weather

ONE = 1 << 20
"""1 in Q20 fixed point."""


class Shelf(NamedTuple):
    """A product on sale when a day is closed."""

    product: str
    price_cents: int
    share_permille: int
    """The part of the day's trade that is left after its first units stood in the machine; 1000 from the start."""


@dataclass(frozen=True, slots=True)
class Appeal:
    """One product as this place sees it; taste is hidden from agents."""

    base: int
    """Units a day at the reference price in Q20, place and taste included."""
    word: int
    """The product's part of a chance label."""
    reference_cents: int
    elasticity_permille: int
    seasons: Mapping[Weather, tuple[int, ...]]
    """`base` times what the twelve months do under each weather, per million."""
    effects: dict[int, int]
    """The price effect by price in cents, of prices that were asked for: they seldom change."""

    def effect(self, price_cents: int) -> int:
        """The price effect in Q20."""
        known = self.effects.get(price_cents)
        if known is None:
            known = price_effect(self.reference_cents, self.elasticity_permille, price_cents)
            self.effects[price_cents] = known
        return known


@dataclass(frozen=True)
class Economy:
    """The demand of one run: a function of setup and seed, made once and shared by every state."""

    setup: Setup
    root: Chance
    appeals: Mapping[str, Appeal]
    _demand: int
    _crowd: Chance
    _sky: Chance
    _skies: dict[int, Weather] = field(default_factory=dict[int, Weather], compare=False, repr=False)
    """The weather of days that were asked for: a day asks three times."""

    @staticmethod
    def of(setup: Setup, seed: int) -> "Economy":
        """The economy that a genesis decides."""
        root, widths = Chance.of(seed), setup.demand
        place = _around(root("place"), widths.place_permille)
        appeals: dict[str, Appeal] = {}
        for product in setup.catalog.products:
            taste = _around(root("taste", product.id), widths.taste_permille)
            base = product.daily_milliunits * place * taste * ONE // 1_000_000_000
            season = widths.seasons.get(product.category, Season())
            seasons: dict[Weather, tuple[int, ...]] = {
                sky: tuple(base * m * season.weather.get(sky, 1000) for m in season.months) for sky in WEATHERS
            }
            reference, elasticity = product.reference_cents, product.elasticity_permille
            appeals[product.id] = Appeal(base, word(product.id), reference, elasticity, seasons, {})
        return Economy(setup, root, appeals, root("demand").h, root("crowd"), root("sky"))

    def weather(self, day: int) -> Weather:
        """The sky of a day, by how often each weather comes in that month."""
        if day not in self._skies:
            self._skies[day] = self._drawn_weather(day)
        return self._skies[day]

    def _drawn_weather(self, day: int) -> Weather:
        draw, skies = self._sky(day).below(1000), self.setup.demand.skies
        month = self.month(day)
        for weather in WEATHERS:
            draw -= skies[weather][month] if weather in skies else 0
            if draw < 0:
                return weather
        return WEATHERS[-1]

    def month(self, day: int) -> int:
        """0 for January."""
        return (self.setup.start_date + timedelta(days=day - 1)).month - 1

    def weekday(self, day: int) -> int:
        """0 for Monday."""
        return (self.setup.start_date.weekday() + day - 1) % 7

    def crowd(self, day: int) -> int:
        """How busy the day is, per mille of an average one."""
        return _around(self._crowd(day), self.setup.demand.crowd_permille)

    def means(self, day: int, shelves: Sequence[Shelf], crowd: int | None = None) -> list[int]:
        """The expected units of the day by shelf, in Q20, before the footfall's cap."""
        demand, weather, month = self.setup.demand, self.weather(day), self.month(day)
        appeals = [self.appeals[shelf.product] for shelf in shelves]
        effects = [appeal.effect(shelf.price_cents) for appeal, shelf in zip(appeals, shelves, strict=True)]
        shares = sum([shelf.share_permille for shelf in shelves])
        if min(effects, default=ONE) < ONE // 2:  # seldom
            drawn = [shelf.share_permille * drawing(effect) for shelf, effect in zip(shelves, effects, strict=True)]
            shares = sum(drawn) >> 20
        variety = variety_permille(demand.variety, shares)
        today = demand.weekdays[self.weekday(day)] * (self.crowd(day) if crowd is None else crowd) * variety
        means: list[int] = []
        for appeal, effect in zip(appeals, effects, strict=True):
            means.append((today * appeal.seasons[weather][month] // 10**15) * effect >> 20)
        return means

    def wanted(self, day: int, shelves: Sequence[Shelf]) -> list[int]:
        """Whole units that customers want of each shelf's product on that day, at most the day's footfall together."""
        label, crowd, appeals = absorb(self._demand, day), self.crowd(day), self.appeals
        means = self.means(day, shelves, crowd)
        units = [_noisy(means[i], absorb(label, appeals[shelf.product].word)) for i, shelf in enumerate(shelves)]
        total, most = sum(units), self.setup.demand.footfall * crowd // 1000
        return units if total <= most else _apportioned(units, total, most)


@lru_cache(maxsize=64)
def _economy(genesis_text: str) -> Economy:
    told = json.loads(genesis_text)
    return Economy.of(Setup.model_validate(told["setup"]), told["seed"])


def economy_of(genesis: Genesis) -> Economy:
    """The economy of a genesis; the last few are kept, so beginning a run again costs little."""
    return _economy(genesis.text)


def price_effect(reference_cents: int, elasticity_permille: int, price_cents: int) -> int:
    """clamp(1 + elasticity x (reference - price) / reference, 0, 2) in Q20: zero from some price on, never above 2."""
    slope = (elasticity_permille * (reference_cents - price_cents) << 20) // (1000 * reference_cents)
    return min(max(ONE + slope, 0), 2 * ONE)


def drawing(effect: int) -> int:
    """How far a product adds to the variety, in Q20: in full from half of its usual demand on, nothing at none.

    Else a can for $1,000 that nobody buys would sell the others. Trade at a profit is not touched: at the price that
    earns most, (r (1 + 1/e) + c) / 2, the effect is (1 + e (1 - c/r)) / 2, which is above a half wherever c < r.
    """
    return min(2 * effect, ONE)


def variety_permille(table: Sequence[int], shares: int) -> int:
    """The variety factor for a sum of shares (1000 = one product all day); straight lines between whole products."""
    n, rest = divmod(shares, 1000)
    low = table[min(max(n, 1), len(table)) - 1]
    if not rest or n < 1:
        return low
    return low + (table[min(n + 1, len(table)) - 1] - low) * rest // 1000


def _around(chance: Chance, width_permille: int) -> int:
    """A factor per mille, even over 1000 - width to 1000 + width."""
    return chance.between(1000 - width_permille, 1000 + width_permille)


def _noisy(mean: int, h: int) -> int:
    """A whole number of units whose average over `h` is mean / 2^20 exactly: triangular noise and unbiased rounding."""
    return (mean * ((h & 8191) + ((h >> 13) & 8191) + 1) + (h >> 31)) >> 33


def _apportioned(units: Sequence[int], total: int, most: int) -> list[int]:
    """`most` units shared out in proportion, by differences of the rounded running sum: the parts add up exactly."""
    shared: list[int] = []
    running = given = 0
    for one in units:
        running += one
        upto = running * most // total
        shared.append(upto - given)
        given = upto
    return shared
