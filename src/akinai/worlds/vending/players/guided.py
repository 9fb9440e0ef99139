"""The naive player with a playbook: it follows its sentences, and plays as naive where they say nothing."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from akinai.core.actions import Action
from akinai.core.agents import Plan, Routine
from akinai.core.chance import Chance
from akinai.core.ledger import Outcome
from akinai.core.lessons import Advice, of_kind
from akinai.worlds.vending.lessons.advice import (
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
    read_advice,
)
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.players.observations import (
    ProductPage,
    find_addresses,
    parse_day,
    parse_days_left,
    parse_offers,
    parse_product_pages,
    parse_time,
)
from akinai.worlds.vending.players.shop import Shop, order_letter

SAME_MARKET = 0.02
"""The share by which a list price may differ from that in a sentence about the same market."""
USUAL_UNITS = 12
USUAL_COST = 0.5
"""The assumed cost as a share of the list price, where no cost is known."""
ORDER_SHARE = 0.25
"""The share of the wanted stock that must be missing before an order is worth a letter."""
SUPPLIER_QUERIES = (
    "wholesale supplier for vending machines",
    "cold drinks wholesale supplier",
    "snack supplier cheap bulk",
    "fresh sandwiches supplier",
)


@dataclass(frozen=True)
class Guide:
    """The advice that a player follows."""

    advice: tuple[Advice, ...]

    @staticmethod
    def of(bullets: Iterable[str]) -> "Guide":
        """The advice that can be parsed from bullets."""
        return Guide(tuple(advice for text in bullets if (advice := read_advice(text)) is not None))

    @property
    def experiment(self) -> Chance | None:
        """The chance that an experiment draws from; None where there is no experiment."""
        experiments = of_kind(self.advice, Experiment)
        return Chance.of(experiments[0].number)("experiment") if experiments else None

    @property
    def prices(self) -> Sequence[PriceAdvice]:
        """The advice on prices, by expected earnings, the best first, without products that spoil."""
        spoil = {advice.product for advice in of_kind(self.advice, SpoilAdvice) if advice.wasteful}
        lasting = [advice for advice in of_kind(self.advice, PriceAdvice) if advice.product not in spoil]
        return sorted(lasting, key=lambda advice: (-advice.earns_cents, advice.product))

    @property
    def costs(self) -> Mapping[str, tuple[int, str]]:
        """The lowest known cost in cents of each product, and the address of its supplier."""
        costs: dict[str, tuple[int, str]] = {}
        for advice in of_kind(self.advice, SupplierAdvice):
            for product, cents in advice.cost_cents:
                costs[product] = min(costs.get(product, (cents, advice.address)), (cents, advice.address))
        return costs

    def assortment(self, usual: Sequence[str]) -> list[str]:
        """The products to keep: those that should earn most, half of them small; without advice, the usual ones."""
        variety, prices = of_kind(self.advice, VarietyAdvice), self.prices
        if not prices:
            return list(usual)
        most = variety[0].best if variety else len(usual)
        small = [advice for advice in prices if advice.size == "small"][: (most + 1) // 2]
        large = [advice for advice in prices if advice.size == "large"][: most // 2]
        best = [advice.product for advice in prices if advice in small or advice in large]
        advised = {advice.product for advice in of_kind(self.advice, PriceAdvice)}
        return (best + [product for product in usual if product not in advised])[: max(most, len(best))]

    def price_cents(self, page: ProductPage) -> int:
        """The price in cents: by the product's own advice where it is about this market, else by the general advice."""
        for advice in of_kind(self.advice, PriceAdvice):
            if advice.product == page.product:
                if abs(advice.list_cents - page.reference_cents) <= SAME_MARKET * advice.list_cents:
                    return advice.best_cents
                break
        markup = of_kind(self.advice, MarkupAdvice)
        return 5 * round((markup[0].best if markup else 1.0) * page.reference_cents / 5)

    def units(self, product: str) -> int | None:
        """How many units to have in all; None without advice."""
        return next((advice.units for advice in of_kind(self.advice, StockAdvice) if advice.product == product), None)

    @property
    def visit_days(self) -> int | None:
        visits = of_kind(self.advice, VisitAdvice)
        return visits[0].every_days if visits else None

    @property
    def keep_cents(self) -> int:
        cash = of_kind(self.advice, CashAdvice)
        return cash[0].keep_cents if cash else 0

    @property
    def waits(self) -> bool:
        """Whether to be at the machine when goods come."""
        return bool(of_kind(self.advice, HourAdvice))

    @property
    def last_days(self) -> int:
        """Days before the end in which nothing is ordered."""
        last_orders = of_kind(self.advice, LastOrderAdvice)
        return last_orders[0].days if last_orders else 0


@dataclass(frozen=True, slots=True)
class Stock:
    """The products that the player sells, and their suppliers."""

    pages: Mapping[str, ProductPage]
    suppliers: Mapping[str, str]
    """Addresses by product."""


Choosing = Generator[Action, Outcome, Stock]
"""A part of a plan that returns the products to sell."""


def guided(me: Routine, guide: Guide, usual: Sequence[str], usual_visit: int) -> Plan:
    """Follows the guide, and plays as naive where the guide says nothing."""
    draw = guide.experiment
    stock = (yield from experiment_stock(draw)) if draw else (yield from guided_stock(guide, usual))
    products = list(stock.pages)
    names = {product: page.name for product, page in stock.pages.items()}
    sizes = [(product, stock.pages[product].size) for product in products]
    visit_days = 2 + draw("visits").below(4) if draw else guide.visit_days
    shop = Shop(me, names, sizes, twice=bool(guide.visit_days or draw))
    yield from order(me, shop, guide, stock)
    while True:
        morning = yield a.AdvanceDay()
        today, day = parse_time(morning.text), parse_day(morning.text) or 0
        shop.days_left = parse_days_left(morning.text)
        arrival = shop.arrival_on(today) if guide.waits or draw else None
        visit = day % visit_days == 0 if visit_days else day % 7 == usual_visit
        if arrival is None and not visit:
            continue
        if arrival is not None and guide.waits and any(verb is a.WaitUntil for verb in me.view.verbs):
            yield a.WaitUntil(hour=arrival.hour)
        yield from shop.look()
        yield from shop.restock()
        yield from shop.price({p: _price(guide, page, draw, day) for p, page in stock.pages.items()})
        yield from shop.collect()
        yield from order(me, shop, guide, stock)


def _price(guide: Guide, page: ProductPage, draw: Chance | None, day: int) -> int:
    """The advised price; in an experiment one of nine from 0.8 to 1.6 times the list price."""
    if draw is None:
        return guide.price_cents(page)
    tenths = 8 + draw("price", page.product, day).below(9)
    return 5 * round(tenths * page.reference_cents / 50)


def guided_stock(guide: Guide, usual: Sequence[str]) -> Choosing:
    """Look up the products that the guide says to keep, and a supplier for those where it names none."""
    results = yield a.SearchWeb(query="wholesale supplier for vending machines, everything a machine can hold")
    address = find_addresses(results.text)[0]
    pages: dict[str, ProductPage] = {}
    keeps = guide.assortment(usual)
    for product in keeps:
        results = yield a.SearchWeb(query=f"{product.replace('_', ' ')} retail price")
        pages |= {id: page for id, page in parse_product_pages(results.text).items() if id in keeps}
    costs = guide.costs
    return Stock(pages, {product: costs[product][1] if product in costs else address for product in pages})


def experiment_stock(draw: Chance) -> Choosing:
    """Ask every supplier for its price list, and choose products and suppliers by chance."""
    addresses = dict[str, None]()
    for query in SUPPLIER_QUERIES:
        results = yield a.SearchWeb(query=query)
        addresses |= dict.fromkeys(find_addresses(results.text))
    for address in addresses:
        yield a.SendEmail(to=address, subject="Price list", body="Hello, please send us your price list and terms.")
    yield a.AdvanceDay()
    mail = yield a.ReadEmail()
    offers = parse_offers(mail.text)
    sold = {product: name for offer in offers for product, name in offer.names.items()}
    ranked = sorted(sold, key=lambda product: draw("product", product).h)
    most = 5 + draw("variety").below(6)
    room = {"small": (most + 1) // 2, "large": most // 2}
    pages: dict[str, ProductPage] = {}
    for product in ranked:
        if len(pages) == most:
            break
        results = yield a.SearchWeb(query=f"{sold[product]} retail price")
        page = parse_product_pages(results.text).get(product)
        if page is not None and room[page.size]:
            room[page.size] -= 1
            pages[product] = page
    suppliers = {
        product: min(
            (offer.address for offer in offers if product in offer.names),
            key=lambda address: draw("supplier", address).h,
        )
        for product in pages
    }
    return Stock(pages, suppliers)


def order(me: Routine, shop: Shop, guide: Guide, stock: Stock) -> Plan:
    """Write an order to each supplier of whose goods enough is missing, as far as the cash goes."""
    if shop.days_left is not None and shop.days_left < guide.last_days:
        return
    cash = shop.cash_cents - guide.keep_cents
    for address in dict.fromkeys(stock.suppliers.values()):
        quantities: dict[str, int] = {}
        full = 0
        for product in (product for product, whose in stock.suppliers.items() if whose == address):
            units = guide.units(product) or USUAL_UNITS * (2 if guide.experiment else 1)
            full += units
            quantities[product] = max(0, units - shop.position(product))
        if sum(quantities.values()) < ORDER_SHARE * full:
            continue
        price = {product: _cost(guide, stock.pages[product]) for product in quantities}
        share = min(1.0, cash / max(sum(units * price[product] for product, units in quantities.items()), 1))
        quantities = {product: fit for product, units in quantities.items() if (fit := int(units * share)) > 0}
        if quantities:
            cash -= sum(round(units * price[product]) for product, units in quantities.items())
            yield order_letter(me, address, shop.names, quantities)
            shop.expect(quantities)


def _cost(guide: Guide, page: ProductPage) -> float:
    """The expected unit cost in cents and a little more, since an order beyond the cash is refused whole."""
    cheapest = guide.costs.get(page.product)
    return 1.05 * cheapest[0] if cheapest else USUAL_COST * page.reference_cents
