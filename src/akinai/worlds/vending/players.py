"""Players without a model. They use the tools that every agent has and know what they read, nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from akinai.core.agents import Agent, AgentFactory, Plan, Role, Routine
from akinai.worlds.vending import actions as a
from akinai.worlds.vending import hearing
from akinai.worlds.vending.advised import Guide, advised
from akinai.worlds.vending.assistants import assistant
from akinai.worlds.vending.delegation import OWNER
from akinai.worlds.vending.hearing import Offer, Research
from akinai.worlds.vending.shop import Shop, order_letter


def idle(me: Routine) -> Plan:
    """Does nothing but let the days pass: the bottom of every scale."""
    while True:
        yield a.AdvanceDay()


NAIVE_PRODUCTS = ("water", "cola", "chocolate_bar", "chips", "cookies")
NAIVE_VISIT = 5
"""Day of its week on which the naive player visits: the first order has come by then."""


def naive(me: Routine) -> Plan:
    """Five products at list prices, one order and one visit a week."""
    page = yield a.SearchWeb(query="wholesale supplier for vending machines, everything a machine can hold")
    address = hearing.addresses_in(page.text)[0]
    known: dict[str, Research] = {}
    for product in NAIVE_PRODUCTS:
        page = yield a.SearchWeb(query=f"{product.replace('_', ' ')} retail price")
        known |= hearing.research_in(page.text)
    names = {product: known[product].name for product in NAIVE_PRODUCTS}
    sizes = {product: known[product].size for product in NAIVE_PRODUCTS}
    shop = Shop(me, names, [(product, sizes[product]) for product in NAIVE_PRODUCTS], twice=False)
    yield order_letter(me, address, names, dict.fromkeys(NAIVE_PRODUCTS, 12))
    while True:
        morning = yield a.AdvanceDay()
        if (hearing.day_in(morning.text) or 0) % 7 != NAIVE_VISIT:
            continue
        yield from shop.look()
        yield from shop.restock()
        yield from shop.price({product: known[product].reference_cents for product in NAIVE_PRODUCTS})
        yield from shop.collect()
        missing = {product: shop.capacity(product) - shop.stored(product) for product in NAIVE_PRODUCTS}
        if wanted := {product: units for product, units in missing.items() if units > 0}:
            yield order_letter(me, address, names, wanted)


SUPPLIERS = (
    "wholesale supplier for vending machines",
    "cold drinks wholesale supplier",
    "snack supplier cheap bulk",
    "fresh sandwiches supplier",
)
VARIETY = 8
"""Distinct products that the reference player keeps: the public advice on how many sell best."""
FRESH_DAYS = 30
"""Goods that spoil sooner are not worth the trips."""
VISIT_EVERY = 2
SAFETY_DAYS = 3.0
COVER_DAYS = 12.0
KEEP_CENTS = 3_000
"""Cash that stays for the fee."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A product that the reference player keeps: from whom, at what price, and what it expects of it."""

    research: Research
    offer: Offer
    price_cents: int
    units_a_day: float

    @property
    def profit_a_day(self) -> float:
        """Expected cents a day."""
        return self.units_a_day * (self.price_cents - self.offer.cost_cents[self.research.product])


def choice(research: Research, offers: Sequence[Offer]) -> Choice | None:
    """The cheapest offer and the price of the greatest profit on the public demand curve; None when nobody sells it.

    Profit (p - c) (1 - e (p - r) / r) is greatest at p = (r (1 + 1/e) + c) / 2.
    """
    sellers = [offer for offer in offers if research.product in offer.cost_cents]
    if not sellers:
        return None
    offer = min(sellers, key=lambda one: (one.cost_cents[research.product], one.lead_days))
    reference, elasticity = research.reference_cents, research.elasticity
    best = (reference * (1 + 1 / elasticity) + offer.cost_cents[research.product]) / 2
    price = max(5 * round(best / 5), offer.cost_cents[research.product] + 5)
    units = research.units_a_day * max(0.0, 1 - elasticity * (price - reference) / reference)
    return Choice(research, offer, price, units)


def assortment(research: Mapping[str, Research], offers: Sequence[Offer]) -> list[Choice]:
    """The products worth keeping, best first, as many of each size as there are kinds of rows to fill."""
    keeping = [one for one in research.values() if one.shelf_days >= FRESH_DAYS]
    choices = [found for one in keeping if (found := choice(one, offers)) is not None]
    choices.sort(key=lambda one: (-one.profit_a_day, one.research.product))
    kept: list[Choice] = []
    for size in ("small", "large"):
        kept += [one for one in choices if one.research.size == size][: VARIETY // 2]
    return sorted(kept, key=lambda one: (-one.profit_a_day, one.research.product))


def reference(me: Routine) -> Plan:
    """Learns suppliers by search and mail, prices near the best of the public curves, restocks after deliveries."""
    addresses = dict[str, None]()
    for query in SUPPLIERS:
        page = yield a.SearchWeb(query=query)
        addresses |= dict.fromkeys(hearing.addresses_in(page.text))
    for address in addresses:
        yield a.SendEmail(to=address, subject="Price list", body="Hello, please send us your price list and terms.")
    morning = yield a.AdvanceDay()
    mail = yield a.ReadEmail()
    offers = hearing.offers_in(mail.text)
    research: dict[str, Research] = {}
    for product, name in {product: name for offer in offers for product, name in offer.names.items()}.items():
        if product not in research:
            page = yield a.SearchWeb(query=f"{name} retail price and demand")
            research |= hearing.research_in(page.text)
    choices = assortment(research, offers)
    names = {one.research.product: one.research.name for one in choices}
    shop = Shop(me, names, [(one.research.product, one.research.size) for one in choices])
    shop.days_left = hearing.days_left_in(morning.text)
    yield from buy(me, shop, choices)
    while True:
        morning = yield a.AdvanceDay()
        today, day = hearing.clock_in(morning.text), hearing.day_in(morning.text) or 0
        arrival, shop.days_left = shop.arrival_on(today), hearing.days_left_in(morning.text)
        if arrival is None and day % VISIT_EVERY:
            continue
        if arrival is not None and any(verb is a.WaitUntil for verb in me.view.verbs):
            yield a.WaitUntil(hour=arrival.hour)
        yield from shop.look()
        yield from shop.restock()
        yield from shop.price({one.research.product: one.price_cents for one in choices})
        yield from shop.collect()
        yield from buy(me, shop, choices)


def buy(me: Routine, shop: Shop, choices: Sequence[Choice]) -> Plan:
    """Order from each supplier what runs low, and what else of its goods is worth a place in the same letter."""
    left = shop.days_left
    cash = shop.cash_cents - KEEP_CENTS
    for address in dict.fromkeys(one.offer.address for one in choices):
        mine = [one for one in choices if one.offer.address == address]
        offer = mine[0].offer
        if left is not None and left <= offer.lead_days + 1:
            continue
        if not any(_days_of(shop, one) < offer.lead_days + SAFETY_DAYS for one in mine):
            continue
        wanted = _affordable(mine, {one.research.product: _missing(shop, one) for one in mine}, cash)
        cost = sum(units * offer.cost_cents[product] for product, units in wanted.items())
        if wanted and cost >= offer.minimum_cents:
            cash -= cost
            yield order_letter(me, address, shop.names, wanted)
            shop.expect(wanted)


def _days_of(shop: Shop, one: Choice) -> float:
    return shop.position(one.research.product) / max(one.units_a_day, 0.1)


def _missing(shop: Shop, one: Choice) -> int:
    """Units up to the level that covers the lead time and some days more."""
    days = one.offer.lead_days + SAFETY_DAYS + COVER_DAYS
    return max(0, round(one.units_a_day * days) - shop.position(one.research.product))


def _affordable(mine: Sequence[Choice], wanted: Mapping[str, int], cash: int) -> dict[str, int]:
    """What the cash pays for, shortened in proportion."""
    cost = sum(wanted[one.research.product] * one.offer.cost_cents[one.research.product] for one in mine)
    if cost <= 0 or cash <= 0:
        return {}
    share = min(1.0, cash / cost)
    return {product: units for product, all_units in wanted.items() if (units := int(all_units * share)) > 0}


def _player(plan: Callable[[Routine], Plan]) -> AgentFactory:
    """The factory of a player: the owner by its plan, sub-agents by the assistant's."""

    def factory(role: Role) -> Agent:
        return Routine(plan if role.actor == OWNER else assistant)

    factory.__doc__ = plan.__doc__
    return factory


def naive_player(role: Role) -> Agent:
    """Five products at list prices, one order and one visit a week; with a playbook, what its sentences tell."""
    guide = Guide.of(role.bullets)
    if role.actor != OWNER or not guide.advice:
        return Routine(naive if role.actor == OWNER else assistant)
    return Routine(lambda me: advised(me, guide, NAIVE_PRODUCTS, NAIVE_VISIT))


PLAYERS: Mapping[str, AgentFactory] = {
    "reference": _player(reference),
    "naive": naive_player,
    "idle": _player(idle),
}
"""The first is the world's default."""
