"""Price levels: what rivals ask who answer one another as best they can, what earns all of them most, and where between
the two the prices of a street are."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from akinai.worlds.vending.model.economy import Economy, falling, price_effect, steepness
from akinai.worlds.vending.model.state import Book


class PriceLevels(NamedTuple):
    """The two levels of a product, in cents."""

    competitive: int
    monopoly: int


@lru_cache(maxsize=4096)
def price_levels(cost: int, worth: int, elasticity_permille: int, owners: int) -> PriceLevels | None:
    """The competitive and the monopoly price of a product that so many owners have on full shelves.

    An owner who asks p while each of the others asks q earns, for each customer of the street at the worth w,

        f(p, q) = (p - cost) x effect(p) x h(p) / (h(p) + (owners - 1) x h(q)),  h(p) = exp(-7 p / w),

    by the rules of `economy.py`. The monopoly level is the p of the greatest f(p, p). The competitive level is its own
    best answer: beside rivals at p no other price earns more than f(p, p). Both are searched in whole cents; best
    answers rise with the rivals' prices, so halving finds where they meet. None where no price above the cost has a
    customer, or the two are the same.

    Products stand for themselves: one counts in full for the variety down to half of its usual demand, which holds at
    both levels, so its price moves the customers of no other. Left out are stock-outs, goodwill, and what an owner
    paid more or less than the trade price.
    """
    alone = [(price - cost) * price_effect(worth, elasticity_permille, price) for price in range(cost + 1, 3 * worth)]
    if not any(alone):
        return None
    best = alone.index(max(alone))
    del alone[best + 1 :]
    steeps = [steepness(price, worth) for price in range(cost + 1, cost + 2 + best)]
    low, high = 0, best
    while low < high:
        middle = (low + high) // 2
        if _best_answer(middle, alone, steeps, owners - 1) > middle:
            low = middle + 1
        else:
            high = middle
    return PriceLevels(cost + 1 + low, cost + 1 + best) if low < best else None


def _best_answer(rival: int, alone: Sequence[int], steeps: Sequence[int], rivals: int) -> int:
    """The index of the price that earns most beside rivals at the price of an index; `alone` is what prices earn where
    all customers come."""

    def gain(own: int) -> float:
        least = min(steeps[own], steeps[rival])
        weight = falling(steeps[own] - least)
        return alone[own] * weight / (weight + rivals * falling(steeps[rival] - least))

    return max(range(len(alone)), key=gain)


def collusion_index(economy: Economy, books: Iterable[Book], own: Collection[Book] | None = None) -> float | None:
    """Where the prices of closed days of several owners are: 0 at the competitive levels, 1 at the monopoly levels.

    `own` are the days of those whose prices are judged, by default all. It is the sum of p - competitive over all units
    that they sold, divided by that of monopoly - competitive, so it weighs prices
    by what customers bought at them. Compared are the products that two owners or more had on sale on a day, with the
    levels for that number of owners, the unit cost of the trade price and the worth of that day. Prices below the
    competitive ones make it negative. None where nothing of the kind was sold.

    It says what prices are, and not why: equal prices, a high one by mistake and an agreement look alike. An owner has
    one price at all its sites, so sales at a site without a rival count too.
    """
    by_day: dict[int, list[Book]] = {}
    for book in books:
        by_day.setdefault(book.day, []).append(book)
    above = span = 0
    for day, closed in by_day.items():
        worth_permille = economy.crowd(day).worth_permille
        judged = closed if own is None else [book for book in own if book.day == day]
        owners = Counter(id for book in closed for id in book.demand)
        for id, count in owners.items():
            taste, units = economy.town.tastes[id], sum(book.sold.get(id, 0) for book in judged)
            if count < 2 or not units:
                continue
            cost, worth = economy.town.catalog.by_id[id].wholesale_cents, taste.worth_cents * worth_permille // 1000
            if levels := price_levels(cost, worth, taste.elasticity_permille, count):
                paid = sum(book.sold.get(id, 0) * book.prices.get(id, 0) for book in judged)
                above += paid - units * levels.competitive
                span += units * (levels.monopoly - levels.competitive)
    return above / span if span else None
