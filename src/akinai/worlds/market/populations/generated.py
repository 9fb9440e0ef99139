"""Populations of any size made by labelled chance, with the structure of the public ones.

Each customer wants one to three items and one or two amenities. The businesses are made for the customers in turn; all
that are made for one have its items, the first two in three have its amenities too, and nobody else has all it wants.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd, prod

from akinai.core.chance import Chance
from akinai.worlds.market.model.setup import Business, Customer, Made, Population
from akinai.worlds.market.populations.words import TONGUES, WORDS, Tongue, Words

PER_CUSTOMER = 3
"""Businesses that are made for each customer unless their number is given."""
CUSTOMERS = 2
STYLES = 8
"""Customers and businesses are of one of so many tastes; those of one share a pool of items."""
POOL = 40
"""Items of a taste that several may want and many sell."""
MENU = (11, 18)
"""Items of a business, at least and at most."""
DEAREST = 180
"""The most that a business asks for an item, percent of its rate; below 200, so that every full match is worth it."""


@lru_cache(maxsize=4)  # a run begins its world several times: to play, to score, to check
def generate(chance: Chance, customers: int, businesses: int, made: Made | None = None) -> Population:
    """A population of so many; `made` says what it sells, in which language, and whether a customer's offers differ.

    A larger one holds the smaller one's customers: what is drawn for one depends on its number alone, up to 9,999.
    """
    made = made or Made()
    goods = _Goods(WORDS[made.kind, made.language], TONGUES[made.language], chance("goods"))
    width = max(4, len(str(max(customers, businesses))))
    buyers = [_customer(chance("customer", n), n, goods, width) for n in range(1, customers + 1)]
    sellers: list[Business] = []
    for n in range(1, businesses + 1):
        place, turn = divmod(n - 1, customers) if customers else (n, 0)
        drawn = chance("twins", turn) if made.identical else chance("business", n)
        suits = made.identical or _suits(chance("suits", turn), place, _made_for(turn, customers, businesses))
        buyer = buyers[turn] if customers else None
        sellers.append(_business(drawn, f"business_{n:0{width}}", goods, buyer, suits=suits))
    return Population(businesses=tuple(sellers), customers=tuple(buyers))


def suitable(count: int) -> int:
    """How many of the businesses made for a customer have its amenities too: two in three, and one at least."""
    return max(1, 2 * count // 3)


def _made_for(turn: int, customers: int, businesses: int) -> int:
    """How many businesses are made for the customer of a place in the round."""
    return (businesses - turn - 1) // customers + 1 if customers else businesses


def _suits(chance: Chance, place: int, count: int) -> bool:
    """Whether one of a customer's businesses is of those that have its amenities: which they are is drawn."""
    mine = chance(place).h
    return sum(chance(other).h < mine for other in range(count)) < suitable(count)


@dataclass(frozen=True)
class _Goods:
    """The items of one market. Their order is drawn; every second one is wanted by one customer and no other."""

    words: Words
    tongue: Tongue
    chance: Chance

    @cached_property
    def _order(self) -> tuple[int, int, int]:
        """How many names there are, and a step and a start that lead through all of them."""
        count = prod(len(part) for part in self.words.parts)
        step = self.chance("step").between(count // 3, 2 * count // 3)
        while gcd(step, count) > 1:
            step += 1
        return count, step, self.chance("start").below(count)

    def item(self, place: int) -> str:
        """The item at a place of the drawn order; after all words were used, another edition of it."""
        count, step, start = self._order
        edition, code = place // count, (start + place % count * step) % count
        chosen: list[str] = []
        for part in self.words.parts:
            code, index = divmod(code, len(part))
            chosen.append(part[index])
        name = self.words.item.format(*chosen)
        return self.tongue.edition.format(name, edition + 1) if edition else name

    def own(self, customer: int) -> str:
        """What one customer wants and nobody else."""
        return self.item(2 * customer)

    @cached_property
    def pools(self) -> Sequence[Sequence[str]]:
        """What those of each style have in common."""
        return [[self.item(2 * (style + STYLES * i) + 1) for i in range(POOL)] for style in range(STYLES)]

    @cached_property
    def _rates(self) -> dict[str, int]:
        return {}

    def rate_cents(self, item: str) -> int:
        """What an item costs on the average, and what a customer is willing to pay for it."""
        if item not in self._rates:
            low, high, step = self.words.rates
            self._rates[item] = self.chance("rate", item).between(low // step, high // step) * step - 1
        return self._rates[item]

    def style(self, customer: str) -> int:
        """The taste of a customer, and of the businesses that are made for it."""
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
    wanted = list(buyer.menu_features) if buyer else []
    style = goods.style(buyer.id) if buyer else chance("style").below(STYLES)
    pool = [item for item in goods.pools[style] if item not in wanted]
    menu = [*_sample(chance("menu"), pool, chance("size").between(*MENU) - len(wanted)), *wanted]
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
    """Around the rate, as heaps of dice are: the middle half is within a sixth of it."""
    percent = 2 * 100 - DEAREST + sum(chance(i).below(41) for i in range(4))
    return max(1, (rate_cents * percent + 50) // 100)


def _amenities(chance: Chance, words: Words, needs: Sequence[str], *, suits: bool) -> Mapping[str, bool]:
    """One in three that nobody asked for is there; of those asked for all, or one is missing at least."""
    has = {amenity: chance("has", amenity).below(3) == 0 for amenity in words.amenities}
    has |= dict.fromkeys(needs, True)
    if needs and not suits:
        has[_pick(chance("missing"), needs)] = False
    return has


def _pick(chance: Chance, things: Sequence[str]) -> str:
    return things[chance.below(len(things))]


def _sample(chance: Chance, things: Sequence[str], count: int) -> list[str]:
    """So many different ones, in an order of their own."""
    return sorted(things, key=lambda thing: chance(thing).h)[:count]
