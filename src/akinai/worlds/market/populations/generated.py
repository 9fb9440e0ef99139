"""Populations of any size made by labelled chance, with the structure of the public ones.

Each customer wants one to three items and one or two amenities. The businesses are made for the customers in turn; all
that are made for one have its items, the first two in three have its amenities too, and nobody else has all it wants.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd, prod

from akinai.core.chance import Chance
from akinai.worlds.market.model.setup import Business, Customer, Population, PopulationSettings
from akinai.worlds.market.populations.words import TONGUES, WORDS, Tongue, Words

PER_CUSTOMER = 3
"""Businesses that are made for each customer unless their number is given."""
CUSTOMERS = 2
STYLES = 8
"""Number of styles of customers and businesses; those of one style share a pool of items."""
POOL = 40
"""Items of a style that several may want and many sell."""
MENU = (11, 18)
"""Minimum and maximum items of a business."""
DEAREST = 180
"""Maximum price of an item in percent of its rate; below 200, so that every full match is worth it."""


@lru_cache(maxsize=4)  # a run begins its world several times: to play, to score, to check
def generate(chance: Chance, customers: int, businesses: int, settings: PopulationSettings | None = None) -> Population:
    """Generate a population of this size; `settings` say what it sells, in which language, and whether a customer's
    offers differ.

    A larger population contains the customers of a smaller one: the draws for each depend on its number alone, up to
    9,999.
    """
    settings = settings or PopulationSettings()
    goods = _Goods(WORDS[settings.kind, settings.language], TONGUES[settings.language], chance("goods"))
    width = max(4, len(str(max(customers, businesses))))
    buyers = [_customer(chance("customer", n), n, goods, width) for n in range(1, customers + 1)]
    sellers: list[Business] = []
    for n in range(1, businesses + 1):
        rank, turn = divmod(n - 1, customers) if customers else (n, 0)
        drawn = chance("twins", turn) if settings.identical else chance("business", n)
        suits = settings.identical or _suits(chance("suits", turn), rank, _made_for(turn, customers, businesses))
        buyer = buyers[turn] if customers else None
        sellers.append(_business(drawn, f"business_{n:0{width}}", goods, buyer, suits=suits))
    return Population(businesses=tuple(sellers), customers=tuple(buyers))


def suitable(count: int) -> int:
    """The number of businesses with all amenities among those made for a customer: two in three, at least one."""
    return max(1, 2 * count // 3)


def _made_for(turn: int, customers: int, businesses: int) -> int:
    """The number of businesses that are made for the customer with this turn."""
    return (businesses - turn - 1) // customers + 1 if customers else businesses


def _suits(chance: Chance, rank: int, count: int) -> bool:
    """Whether one of a customer's businesses is among those with its amenities, which are drawn."""
    own_draw = chance(rank).h
    return sum(chance(other).h < own_draw for other in range(count)) < suitable(count)


@dataclass(frozen=True)
class _Goods:
    """The items of one market in a drawn order, of which every second one is wanted by a single customer."""

    words: Words
    tongue: Tongue
    chance: Chance

    @cached_property
    def _order(self) -> tuple[int, int, int]:
        """The number of names, and a step and a start that lead through all of them."""
        count = prod(len(part) for part in self.words.parts)
        step = self.chance("step").between(count // 3, 2 * count // 3)
        while gcd(step, count) > 1:
            step += 1
        return count, step, self.chance("start").below(count)

    def item(self, position: int) -> str:
        """The item at a position of the drawn order; once all names are used, further editions of them."""
        count, step, start = self._order
        edition, code = position // count, (start + position % count * step) % count
        words: list[str] = []
        for part in self.words.parts:
            code, index = divmod(code, len(part))
            words.append(part[index])
        name = self.words.item.format(*words)
        return self.tongue.edition.format(name, edition + 1) if edition else name

    def own(self, customer: int) -> str:
        """The item that only this customer wants."""
        return self.item(2 * customer)

    @cached_property
    def pools(self) -> Sequence[Sequence[str]]:
        """The shared items of each style."""
        return [[self.item(2 * (style + STYLES * i) + 1) for i in range(POOL)] for style in range(STYLES)]

    @cached_property
    def _rates(self) -> dict[str, int]:
        return {}

    def rate_cents(self, item: str) -> int:
        """The average price of an item, which is also a customer's willingness to pay for it."""
        if item not in self._rates:
            low, high, step = self.words.rates
            self._rates[item] = self.chance("rate", item).between(low // step, high // step) * step - 1
        return self._rates[item]

    def style(self, customer: str) -> int:
        """The style of a customer, and of the businesses that are made for it."""
        return self.chance("style", int(customer.rpartition("_")[2])).below(STYLES)


def _customer(chance: Chance, number: int, goods: _Goods, width: int) -> Customer:
    words, tongue, id = goods.words, goods.tongue, f"customer_{number:0{width}}"
    more = _sample(chance("items"), goods.pools[goods.style(id)], chance("how_many").below(3))
    items = [goods.own(number), *more]
    needs = _sample(chance("needs"), words.amenities, chance("how_needy").between(1, 2))
    request = _pick(chance("request"), words.requests).format(
        items=tongue.between.join(tongue.single.format(item) for item in items), needs=tongue.also.join(needs)
    )
    return Customer(
        id=id,
        name=tongue.people.format(_pick(chance("first"), tongue.first), _pick(chance("last"), tongue.last)),
        request=request,
        menu_features={item: goods.rate_cents(item) / 100 for item in items},
        amenity_features=tuple(needs),
    )


def _business(chance: Chance, id: str, goods: _Goods, buyer: Customer | None, *, suits: bool) -> Business:
    words = goods.words
    house = words.house.format(*(_pick(chance("house", i), part) for i, part in enumerate(words.houses)))
    buyer_items = list(buyer.menu_features) if buyer else []
    style = goods.style(buyer.id) if buyer else chance("style").below(STYLES)
    pool = [item for item in goods.pools[style] if item not in buyer_items]
    menu = [*_sample(chance("menu"), pool, chance("size").between(*MENU) - len(buyer_items)), *buyer_items]
    menu.sort(key=lambda item: chance("place", item).h)
    first, second = menu[:2]
    return Business(
        id=id,
        name=house,
        description=_pick(chance("description"), words.descriptions).format(name=house, first=first, second=second),
        rating=chance("rating").between(10, 50) / 10,
        menu_features={item: _price_cents(chance("price", item), goods.rate_cents(item)) / 100 for item in menu},
        amenity_features=_amenities(chance, words, buyer.amenity_features if buyer else (), suits=suits),
        min_price_factor=chance("floor").between(60, 95) / 100,
        progenitor_customer=buyer.id if buyer else "",
    )


def _price_cents(chance: Chance, rate_cents: int) -> int:
    """A price around the rate, by a sum of draws: the middle half is within a sixth of it."""
    percent = 2 * 100 - DEAREST + sum(chance(i).below(41) for i in range(4))
    return max(1, (rate_cents * percent + 50) // 100)


def _amenities(chance: Chance, words: Words, needs: Sequence[str], *, suits: bool) -> Mapping[str, bool]:
    """One in three of the other amenities, and all needed ones, except one where the business does not suit."""
    has = {amenity: chance("has", amenity).below(3) == 0 for amenity in words.amenities}
    has |= dict.fromkeys(needs, True)
    if needs and not suits:
        has[_pick(chance("missing"), needs)] = False
    return has


def _pick(chance: Chance, options: Sequence[str]) -> str:
    return options[chance.below(len(options))]


def _sample(chance: Chance, options: Sequence[str], count: int) -> list[str]:
    """`count` different options in a drawn order."""
    return sorted(options, key=lambda option: chance(option).h)[:count]
