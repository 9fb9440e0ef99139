"""Demand: bounded, unbiased, moved by price, calendar and variety, and the same whatever was done before."""

from dataclasses import replace
from functools import cache
from statistics import correlation, mean

import pytest
from business import FOREVER, business, do, done, on_sale, sold
from hypothesis import given, settings
from hypothesis import strategies as st

from akinai.core.chance import Chance, absorb
from akinai.worlds.vending.model.actions import AdvanceDay
from akinai.worlds.vending.model.economy import (
    ONE,
    Economy,
    NoiseFan,
    _apportion,
    noisy,
    price_effect,
    variety_permille,
)
from akinai.worlds.vending.model.state import Lot, Slot
from together import together

ALL = ("water", "cola", "energy_drink", "iced_tea", "chocolate_bar", "chewing_gum", "chips", "popcorn")


def wanted(economy: Economy, day: int, *products: str) -> list[int]:
    """The units that a day's customers want of products that are always there, at their reference prices."""
    catalog, demand = economy.setup.catalog.by_id, dict[str, int]()
    prices = {product: catalog[product].reference_cents for product in products}
    for number in range(3):
        crowd = economy.crowd(day)
        block, stock = economy.block(crowd, number), dict.fromkeys(products, FOREVER)
        economy.block_sales(crowd, block, 0, 1000 * block.share_permille, stock, prices, demand)
    return [demand[product] for product in products]


@together(
    ("price", "effect"),
    [(150, ONE), (165, ONE * 87 // 100), (135, ONE * 113 // 100), (266, 0), (1500, 0), (100_000, 0), (1, 2 * ONE)],
)
def test_price_effect_is_the_clamped_line(price: int, effect: int) -> None:
    """Water, $1.50, elasticity 1.3: 10 % more loses 13 %, 77 % more loses all, and no price more than doubles it."""
    assert abs(price_effect(150, 1300, price) - effect) <= ONE // 200 + (300_000 if price == 1 else 0)


@given(st.integers(1, 10**6))
def test_price_effect_stays_between_nothing_and_double(price: int) -> None:
    """No price however silly gives more than twice the demand, and far above the reference it is exactly nothing."""
    effect = price_effect(150, 1300, price)
    assert 0 <= effect <= 2 * ONE
    assert effect == 0 if price >= 300 else effect > 0 or price > 150


@pytest.mark.parametrize("price", [1, 150, 265, 1_500, 100_000])
def test_income_of_a_day_is_bounded_at_every_price(price: int) -> None:
    """A day's income is at most the footfall at the price where demand still exists; at ten times it is nothing."""
    state = done(on_sale(business(), {"water": price}), AdvanceDay())
    most = state.setup.demand.footfall * 1300 // 1000 * 265
    assert 0 <= state.machine_cents <= most
    if price >= 1_500:
        assert sold(state) == {}


@pytest.mark.slow
@given(st.integers(0, 40 * ONE))
@settings(max_examples=20)
def test_noise_keeps_the_mean(units: int) -> None:
    """The average of many draws is the mean: neither noise nor rounding pulls it."""
    draws = [noisy(units, Chance.of(7)("draw", i).h) for i in range(20_000)]
    spread = (units / ONE) * 0.41 + 0.5  # triangular noise has a standard deviation of 1/sqrt(6)
    assert abs(mean(draws) - units / ONE) < 5 * spread / 20_000**0.5


WORD = st.integers(0, 2**64 - 1)


@given(WORD, st.lists(WORD, max_size=20), st.integers(0, 40 * ONE))
def test_noise_of_several_products_is_that_of_each(h: int, words: list[int], units: int) -> None:
    """Products that are drawn together are wanted as often as each would be alone, to the unit."""
    joint = [(units * spread + rest) >> 33 for spread, rest in zip(*NoiseFan(words).noise(h), strict=True)]
    assert joint == [noisy(units, absorb(h, word)) for word in words]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12), st.integers(0, 100))
def test_footfall_is_shared_out_exactly(units: list[int], most: int) -> None:
    """The parts add up to the footfall, and no product gets more than was asked of it."""
    total = sum(units)
    if total <= most:
        return
    shared = _apportion(units, most)
    assert sum(shared) == most
    assert all(part <= asked for part, asked in zip(shared, units, strict=True))


def test_footfall_caps_the_day() -> None:
    """However much would be wanted, all products together sell at most the footfall of that day's crowd."""
    state = on_sale(business(3, "demand.footfall=10"), dict.fromkeys(ALL))
    state = done(state, AdvanceDay())
    for _ in range(30):
        state = done(state, AdvanceDay())
        most = state.economy.crowd(state.closed_days).footfall // 1000
        assert 5 <= most <= 13
        assert sum(sold(state).values()) <= most
        assert state.book is not None
        assert most - 3 <= sum(state.book.demand.values()) <= most


def test_two_slots_sell_what_one_sells() -> None:
    """With full shelves a product in two slots meets the same demand as in one."""
    single = on_sale(business(5), {"cola": None})
    cola = single.slots[0]
    double = replace(single, slots=(cola, cola, *single.slots[2:]))
    for _ in range(20):
        single, double = done(single, AdvanceDay()), done(double, AdvanceDay())
        assert sold(single) == sold(double)


def test_moderate_variety_beats_one_product_and_far_too_many() -> None:
    """Sales of one product are best amid seven others, and with twelve in all worse than alone with six."""
    economy = business().economy
    table = economy.setup.demand.variety
    factors = [variety_permille(table, 1000 * n) for n in range(1, 17)]
    assert factors[7] == max(factors) == 1000
    assert factors[0] < factors[4] < factors[7] > factors[9] > factors[11]
    assert min(factors) >= 500
    assert variety_permille(table, 1500) == 725


def test_saturdays_outsell_mondays_over_fifty_weeks() -> None:
    """The week shows in the averages."""
    state = on_sale(business(11, "fee_cents=0"), {"water": None, "cola": None, "chips": None}, units=100_000)
    by_weekday: dict[int, list[int]] = {}
    for _ in range(350):
        state = done(state, AdvanceDay())
        weekday = (state.setup.start_date.weekday() + state.closed_days - 1) % 7
        by_weekday.setdefault(weekday, []).append(sum(sold(state).values()))
    assert mean(by_weekday[5]) > 1.1 * mean(by_weekday[0])


def test_weather_and_month_show_in_the_averages() -> None:
    """Cold drinks sell more in heat than in cold and more in July than in December; chocolate the other way."""
    economy = business().economy
    by_sky: dict[str, list[int]] = {}
    by_month: dict[int, list[int]] = {}
    chocolate: dict[int, list[int]] = {}
    for day in range(1, 3 * 365):
        cola, bar = wanted(economy, day, "cola", "chocolate_bar")
        by_sky.setdefault(economy.today(day).weather, []).append(cola)
        by_month.setdefault(economy.today(day).month, []).append(cola)
        chocolate.setdefault(economy.today(day).month, []).append(bar)
    assert mean(by_sky["hot"]) > 1.3 * mean(by_sky["cold"])
    assert mean(by_month[6]) > 1.3 * mean(by_month[11])
    assert mean(chocolate[11]) > 1.1 * mean(chocolate[6])


def test_each_month_has_its_own_skies() -> None:
    """Heat comes in summer alone and cold in winter alone, and every weather comes."""
    economy = business().economy
    skies = {month: set[str]() for month in range(12)}
    for day in range(1, 10 * 365):
        skies[economy.today(day).month].add(economy.today(day).weather)
    assert "hot" in skies[6]
    assert "cold" not in skies[6]
    assert "cold" in skies[0]
    assert "hot" not in skies[0]


DRAWN_DAYS = range(1, 401)


@cache
def drawn_of_seeds() -> tuple[list[list[int]], list[list[int]]]:
    """The units of cola that are wanted, and the skies, on the days of 24 seeds."""
    economies = [business(seed).economy for seed in range(1, 25)]
    units = [[wanted(economy, day, "cola")[0] for day in DRAWN_DAYS] for economy in economies]
    order = ("hot", "sunny", "cloudy", "rain", "cold")
    return units, [[order.index(economy.today(day).weather) for day in DRAWN_DAYS] for economy in economies]


@pytest.mark.parametrize("shift", [0, 1])
def test_two_seeds_share_nothing_but_the_calendar(shift: int) -> None:
    """Demand less its mean over seeds, and the weather, are uncorrelated between neighbouring seeds, shifted or not."""
    days, (units, skies) = DRAWN_DAYS, drawn_of_seeds()
    for series, bound in ((units, 0.2), (skies, 0.2)):
        centre = [mean(day) for day in zip(*series, strict=True)]
        rest = [[value - c for value, c in zip(sery, centre, strict=True)] for sery in series]
        n = len(days) - shift
        pairs = [correlation(rest[i][:n], rest[i + 1][shift:]) for i in range(0, 22, 2)]
        assert abs(mean(pairs) + (1 / 23 if shift == 0 else 0)) < bound / 2
        assert max(map(abs, pairs)) < bound


def test_the_same_day_draws_the_same_whatever_was_done_before() -> None:
    """A product's draw and the sky of day 12 are the same for every history; only means move with what is on sale."""
    busy = on_sale(business(4), dict.fromkeys(ALL))
    quiet = business(4)
    for _ in range(11):
        busy, quiet = done(busy, AdvanceDay()), done(quiet, AdvanceDay())
    quiet = on_sale(quiet, dict.fromkeys(ALL))
    assert busy.day == quiet.day == 12
    assert busy.economy.today(12).weather == quiet.economy.today(12).weather
    busy, quiet = (done(state, AdvanceDay(), AdvanceDay()) for state in (busy, quiet))
    assert sold(busy) == sold(quiet)


def test_only_what_has_a_price_and_units_is_on_sale() -> None:
    """A product without a price sells nothing and does not count into variety; so does an empty slot."""
    priced = on_sale(business(2), {"water": None, "cola": None})
    without = replace(priced, prices={"water": 150})
    after, _ = do(without, AdvanceDay())
    assert set(sold(after)) == {"water"}
    empty = replace(priced, slots=(Slot("water", (Lot(500, 60, FOREVER),)), Slot("cola", ()), *priced.slots[2:]))
    after, _ = do(empty, AdvanceDay())
    assert set(sold(after)) == {"water"}
    assert after.book is not None
    assert after.book.empty == ("cola",)
