"""The naive player with a playbook: it does what the sentences tell, and where they are silent what it always did."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from akinai.core.actions import Action
from akinai.core.agents import Plan, Routine
from akinai.core.chance import Chance
from akinai.core.ledger import Outcome
from akinai.worlds.vending import actions as a
from akinai.worlds.vending import hearing
from akinai.worlds.vending.advice import (
    Advice,
    CashAdvice,
    Experiment,
    HourAdvice,
    LastOrderAdvice,
    MarkupAdvice,
    PriceAdvice,
    SpoilAdvice,
    StockAdvice,
    SupplierAdvice,
    VarietyAdvice,
    VisitAdvice,
    of_kind,
    read_advice,
)
from akinai.worlds.vending.hearing import Research
from akinai.worlds.vending.shop import Shop, order_letter

SAME_MARKET = 0.02
"""How far a list price may be from that of a sentence which speaks of the same market."""
USUAL_UNITS = 12
USUAL_COST = 0.5
"""Of the list price, where no cost is known."""
ORDER_SHARE = 0.25
"""A letter is worth writing when this much of what should be there is missing."""
ASKED = (
    "wholesale supplier for vending machines",
    "cold drinks wholesale supplier",
    "snack supplier cheap bulk",
    "fresh sandwiches supplier",
)


@dataclass(frozen=True)
class Guide:
    """The advice that one player goes by."""

    advice: tuple[Advice, ...]

    @staticmethod
    def of(bullets: Iterable[str]) -> "Guide":
        """What can be read of some bullets."""
        return Guide(tuple(found for text in bullets if (found := read_advice(text)) is not None))

    @property
    def experiment(self) -> Chance | None:
        """What an experiment is drawn from; None where it is none."""
        found = of_kind(self.advice, Experiment)
        return Chance.of(found[0].number)("experiment") if found else None

    @property
    def prices(self) -> Sequence[PriceAdvice]:
        """Products by what they should earn, the best first, without those that spoil."""
        spoil = {one.product for one in of_kind(self.advice, SpoilAdvice) if one.wasteful}
        kept = [one for one in of_kind(self.advice, PriceAdvice) if one.product not in spoil]
        return sorted(kept, key=lambda one: (-one.earns_cents, one.product))

    @property
    def costs(self) -> Mapping[str, tuple[int, str]]:
        """The lowest cost known of each product, and whose it is."""
        found: dict[str, tuple[int, str]] = {}
        for one in of_kind(self.advice, SupplierAdvice):
            for product, cents in one.cost_cents:
                found[product] = min(found.get(product, (cents, one.address)), (cents, one.address))
        return found

    def assortment(self, usual: Sequence[str]) -> list[str]:
        """What to keep: the products that should earn most, as many small ones as large ones; else the usual."""
        variety, prices = of_kind(self.advice, VarietyAdvice), self.prices
        if not prices:
            return list(usual)
        most = variety[0].best if variety else len(usual)
        small = [one for one in prices if one.size == "small"][: (most + 1) // 2]
        large = [one for one in prices if one.size == "large"][: most // 2]
        best = [one.product for one in prices if one in small or one in large]
        known = {one.product for one in of_kind(self.advice, PriceAdvice)}
        return (best + [product for product in usual if product not in known])[: max(most, len(best))]

    def price_cents(self, research: Research) -> int:
        """What to ask for a product: by its own sentence where that speaks of this market, else by the general one."""
        for one in of_kind(self.advice, PriceAdvice):
            if one.product == research.product:
                if abs(one.list_cents - research.reference_cents) <= SAME_MARKET * one.list_cents:
                    return one.best_cents
                break
        markup = of_kind(self.advice, MarkupAdvice)
        return 5 * round((markup[0].best if markup else 1.0) * research.reference_cents / 5)

    def units(self, product: str) -> int | None:
        """How many to have in all; None where nothing is said."""
        return next((one.units for one in of_kind(self.advice, StockAdvice) if one.product == product), None)

    @property
    def visit_days(self) -> int | None:
        found = of_kind(self.advice, VisitAdvice)
        return found[0].every_days if found else None

    @property
    def keep_cents(self) -> int:
        found = of_kind(self.advice, CashAdvice)
        return found[0].keep_cents if found else 0

    @property
    def waits(self) -> bool:
        """Whether to be at the machine when goods have come."""
        return bool(of_kind(self.advice, HourAdvice))

    @property
    def last_days(self) -> int:
        """Days before the end in which nothing is ordered."""
        found = of_kind(self.advice, LastOrderAdvice)
        return found[0].days if found else 0


@dataclass(frozen=True, slots=True)
class Stock:
    """What the player deals in, from whom."""

    research: Mapping[str, Research]
    suppliers: Mapping[str, str]
    """Addresses by product."""


Choosing = Generator[Action, Outcome, Stock]
"""A part of a plan that ends with what to deal in."""


def advised(me: Routine, guide: Guide, usual: Sequence[str], usual_visit: int) -> Plan:
    """Naive, as far as nothing is said; what the guide says, it does."""
    draw = guide.experiment
    stock = (yield from trying(draw)) if draw else (yield from following(guide, usual))
    products = list(stock.research)
    names = {product: one.name for product, one in stock.research.items()}
    sizes = [(product, stock.research[product].size) for product in products]
    visit_days = 2 + draw("visits").below(4) if draw else guide.visit_days
    shop = Shop(me, names, sizes, twice=bool(guide.visit_days or draw))
    yield from order(me, shop, guide, stock)
    while True:
        morning = yield a.AdvanceDay()
        today, day = hearing.clock_in(morning.text), hearing.day_in(morning.text) or 0
        shop.days_left = hearing.days_left_in(morning.text)
        arrival = shop.arrival_on(today) if guide.waits or draw else None
        visit = day % visit_days == 0 if visit_days else day % 7 == usual_visit
        if arrival is None and not visit:
            continue
        if arrival is not None and guide.waits and any(verb is a.WaitUntil for verb in me.view.verbs):
            yield a.WaitUntil(hour=arrival.hour)
        yield from shop.look()
        yield from shop.restock()
        yield from shop.price({p: _price(guide, one, draw, day) for p, one in stock.research.items()})
        yield from shop.collect()
        yield from order(me, shop, guide, stock)


def _price(guide: Guide, research: Research, draw: Chance | None, day: int) -> int:
    """The advised price; in an experiment one of nine from 0.8 to 1.6 times the list price."""
    if draw is None:
        return guide.price_cents(research)
    tenths = 8 + draw("price", research.product, day).below(9)
    return 5 * round(tenths * research.reference_cents / 50)


def following(guide: Guide, usual: Sequence[str]) -> Choosing:
    """Look up what the guide says to keep, and a supplier where it names none."""
    page = yield a.SearchWeb(query="wholesale supplier for vending machines, everything a machine can hold")
    address = hearing.addresses_in(page.text)[0]
    found: dict[str, Research] = {}
    keeps = guide.assortment(usual)
    for product in keeps:
        page = yield a.SearchWeb(query=f"{product.replace('_', ' ')} retail price")
        found |= {id: one for id, one in hearing.research_in(page.text).items() if id in keeps}
    costs = guide.costs
    return Stock(found, {product: costs[product][1] if product in costs else address for product in found})


def trying(draw: Chance) -> Choosing:
    """Ask every supplier for its list, and take products and suppliers by chance."""
    addresses = dict[str, None]()
    for query in ASKED:
        page = yield a.SearchWeb(query=query)
        addresses |= dict.fromkeys(hearing.addresses_in(page.text))
    for address in addresses:
        yield a.SendEmail(to=address, subject="Price list", body="Hello, please send us your price list and terms.")
    yield a.AdvanceDay()
    mail = yield a.ReadEmail()
    offers = hearing.offers_in(mail.text)
    sold = {product: name for offer in offers for product, name in offer.names.items()}
    order = sorted(sold, key=lambda product: draw("product", product).h)
    most = 5 + draw("variety").below(6)
    room = {"small": (most + 1) // 2, "large": most // 2}
    found: dict[str, Research] = {}
    for product in order:
        if len(found) == most:
            break
        page = yield a.SearchWeb(query=f"{sold[product]} retail price")
        one = hearing.research_in(page.text).get(product)
        if one is not None and room[one.size]:
            room[one.size] -= 1
            found[product] = one
    suppliers = {
        product: min(
            (offer.address for offer in offers if product in offer.names),
            key=lambda address: draw("supplier", address).h,
        )
        for product in found
    }
    return Stock(found, suppliers)


def order(me: Routine, shop: Shop, guide: Guide, stock: Stock) -> Plan:
    """A letter to each supplier of whose goods enough is missing, as far as the cash goes."""
    if shop.days_left is not None and shop.days_left < guide.last_days:
        return
    cash = shop.cash_cents - guide.keep_cents
    for address in dict.fromkeys(stock.suppliers.values()):
        wanted: dict[str, int] = {}
        full = 0
        for product in (product for product, whose in stock.suppliers.items() if whose == address):
            units = guide.units(product) or USUAL_UNITS * (2 if guide.experiment else 1)
            full += units
            wanted[product] = max(0, units - shop.position(product))
        if sum(wanted.values()) < ORDER_SHARE * full:
            continue
        price = {product: _cost(guide, stock.research[product]) for product in wanted}
        share = min(1.0, cash / max(sum(units * price[product] for product, units in wanted.items()), 1))
        wanted = {product: fit for product, units in wanted.items() if (fit := int(units * share)) > 0}
        if wanted:
            cash -= sum(round(units * price[product]) for product, units in wanted.items())
            yield order_letter(me, address, shop.names, wanted)
            shop.expect(wanted)


def _cost(guide: Guide, research: Research) -> float:
    """Cents for a unit, as far as one knows, and a little more: an order beyond the cash is refused whole."""
    known = guide.costs.get(research.product)
    return 1.05 * known[0] if known else USUAL_COST * research.reference_cents
