"""The owner of a single machine, which it fills slot by slot; it orders by letter, of suppliers that it finds."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from akinai.core.actions import Action
from akinai.core.agents import Plan, Routine
from akinai.core.chance import Chance
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.players import observations as read
from akinai.worlds.vending.players.beliefs import Product, public_belief, units_a_day, unrounded_price
from akinai.worlds.vending.players.following import Guide
from akinai.worlds.vending.players.observations import ComingOrder, InventorySlot, Offer

WHOLESALER_QUERY = "wholesale supplier for vending machines, everything a machine can hold"
SUPPLIER_QUERIES = (
    "wholesale supplier for vending machines",
    "cold drinks wholesale supplier",
    "snack supplier cheap bulk",
    "fresh sandwiches supplier",
)
USUAL_PRODUCTS = ("water", "cola", "chocolate_bar", "chips", "cookies")
USUAL_VISIT = 5
"""The day of the week of a weekly visit; the first order has come by then."""
USUAL_UNITS = 12
USUAL_COST = 0.5
"""The assumed cost as a share of the list price, where no cost is known."""
ORDER_SHARE = 0.25
"""The share of the planned stock that must be missing before an order is worth a letter, where no sales are known."""
VARIETY = 8
"""Products that a planner keeps: the number that the public advice calls best."""
FRESH_DAYS = 30
"""Days of shelf life below which goods are not worth the trips."""
SAFETY_DAYS, COVER_DAYS = 3.0, 12.0
KEEP_CENTS = 3_000
"""Cash in cents that is kept for the fee."""


@dataclass(frozen=True, slots=True)
class Good:
    """A product that the owner keeps, and how it is bought."""

    product: Product
    supplier: str
    """The supplier's address."""
    cost_cents: float
    units: int
    """Units to have, with those on their way."""
    low: float | None = None
    """It runs low below so many units; None where nothing is known of its sales."""
    minimum_cents: int = 0
    last_days: int = 0
    """Nothing is ordered when fewer days are left."""
    fills_up: bool = False
    """Where nothing is known of its sales: what its slots hold is ordered at each visit, less what is in storage."""


@dataclass(frozen=True, slots=True)
class Business:
    """How an owner does business with one machine."""

    goods: Sequence[Good]
    """The most important first."""
    prices: Callable[[int], Mapping[str, int]]
    """In cents by product, on a day."""
    every: int = 0
    """Visits on every n-th day; 0 for once a week."""
    minds_arrivals: bool = True
    """Visits also when goods come."""
    waits: bool = True
    """Waits for the hour at which they come."""
    twice: bool = True
    """Gives products a second slot while slots are left."""
    keep_cents: int = 0
    counts_coming: bool = True
    """What is on its way counts where slots are filled up, which matters to whoever comes often or waits long."""


Planning = Generator[Action, Outcome, Business]
"""A part of a plan that decides how to do business."""


def run_machine(me: Routine, guide: Guide | None) -> Plan:
    """Plan the business, by public demand or by a guide, then run it day by day.

    Whoever plans in a shop that another player ran until now first reads its mail, machine, storage and cash.
    """
    takes_over = guide is None and (read.read_day(me.view.text) or 1) > 1
    if takes_over:
        mail = yield a.ReadEmail()
        while "more are unread" in mail.text:  # a mailbox shows twenty letters at a time
            mail = yield a.ReadEmail()
    if guide is None:
        planning = planned_business()
    elif guide.experiment:
        planning = tried_business(guide, guide.experiment)
    else:
        planning = guided_business(guide)
    business, days_left = yield from _with_days_left(planning, read.read_days_left(me.view.text))
    shop = Shop(me, business, days_left)
    if takes_over:
        yield from shop.visit(business.prices(0))
    yield from shop.order()
    while True:
        morning = yield a.AdvanceDay()
        day, shop.days_left = read.read_day(morning.text) or 0, read.read_days_left(morning.text)
        arrival = shop.arrival_on(read.read_time(morning.text)) if business.minds_arrivals else None
        if arrival is None and (day % business.every if business.every else day % 7 != USUAL_VISIT):
            continue
        if arrival is not None and business.waits and any(verb is a.WaitUntil for verb in me.view.verbs):
            yield a.WaitUntil(hour=arrival.hour)
        yield from shop.visit(business.prices(day))
        yield from shop.order()


def _with_days_left(
    planning: Planning, days_left: int | None
) -> Generator[Action, Outcome, tuple[Business, int | None]]:
    """The planned business, and the days that its mornings leave: an owner over a wire sees its first view alone."""
    try:
        action = next(planning)
        while True:
            outcome = yield action
            if isinstance(action, a.AdvanceDay):
                days_left = read.read_days_left(outcome.text)
            action = planning.send(outcome)
    except StopIteration as end:
        return end.value, days_left


# Planning


def ask_for_offers() -> Generator[Action, Outcome, list[Offer]]:
    """Ask every supplier that a search names for its price list; they answer the next morning."""
    addresses = dict[str, None]()
    for query in SUPPLIER_QUERIES:
        results = yield a.SearchWeb(query=query)
        addresses |= dict.fromkeys(read.find_addresses(results.text))
    for address in addresses:
        yield a.SendEmail(to=address, subject="Price list", body="Hello, please send us your price list and terms.")
    yield a.AdvanceDay()
    mail = yield a.ReadEmail()
    return read.read_offer_letters(mail.text)


def planned_business() -> Planning:
    """The best products at the best prices of the public demand curves, from the cheapest suppliers.

    There is a price for everything that can be bought: what another player left in the machine sells down.
    """
    offers = yield from ask_for_offers()
    products: dict[str, Product] = {}
    for id, name in {id: name for offer in offers for id, name in offer.names.items()}.items():
        if id not in products:
            results = yield a.SearchWeb(query=f"{name} retail price and demand")
            products |= read.read_products(results.text)
    choices = [choice for product in products.values() if (choice := _choice(product, offers))]
    choices.sort(key=lambda choice: (-choice.profit_a_day, choice.good.product.id))
    prices = {choice.good.product.id: choice.price_cents for choice in choices}
    lasting = [choice.good for choice in choices if choice.good.product.shelf_days >= FRESH_DAYS]
    small, large = ([good for good in lasting if good.product.small == size][: VARIETY // 2] for size in (True, False))
    kept = [good for good in lasting if good in small or good in large]
    return Business(kept, lambda _: prices, every=2, keep_cents=KEEP_CENTS)


@dataclass(frozen=True, slots=True)
class _Choice:
    """A product that may be kept, with its price and its expected profit in cents a day."""

    good: Good
    price_cents: int
    profit_a_day: float


def _choice(product: Product, offers: Sequence[Offer]) -> _Choice | None:
    """The cheapest offer, and the price of greatest profit on the public demand curve; None when nobody sells it."""
    sellers = [offer for offer in offers if product.id in offer.prices]
    if not sellers:
        return None
    offer = min(sellers, key=lambda seller: (seller.prices[product.id], seller.lead_days))
    cost, belief = offer.prices[product.id], public_belief(product)
    price = max(5 * round(unrounded_price(product, belief, cost) / 5), cost + 5)
    rate = units_a_day(product, belief, price)
    low = max(rate, 0.1) * (offer.lead_days + SAFETY_DAYS)
    units = round(rate * (offer.lead_days + SAFETY_DAYS + COVER_DAYS))
    good = Good(product, offer.supplier, cost, units, low, offer.minimum_cents, offer.lead_days + 2)
    return _Choice(good, price, rate * (price - cost))


def guided_business(guide: Guide) -> Planning:
    """The products that the guide says to keep, each from the supplier it names or from the first one found."""
    results = yield a.SearchWeb(query=WHOLESALER_QUERY)
    address = read.find_addresses(results.text)[0]
    products: dict[str, Product] = {}
    kept, costs = guide.assortment(USUAL_PRODUCTS), guide.costs
    for id in kept:
        results = yield a.SearchWeb(query=f"{id.replace('_', ' ')} retail price")
        products |= {id: product for id, product in read.read_products(results.text).items() if id in kept}
    suppliers = {id: costs[id][1] if id in costs else address for id in products}
    prices = {id: guide.price_cents(product) for id, product in products.items()}
    return replace(
        _advised_business(guide, products, suppliers, prices, USUAL_UNITS),
        every=guide.visit_days or 0,
        minds_arrivals=guide.waits,
        twice=bool(guide.visit_days),
        counts_coming=bool(guide.visit_days or costs),
    )


def tried_business(guide: Guide, draw: Chance) -> Planning:
    """Products, suppliers, visits and prices by chance, from what every supplier offers."""
    offers = yield from ask_for_offers()
    sold = {product: name for offer in offers for product, name in offer.names.items()}
    ranked = sorted(sold, key=lambda product: draw("product", product).h)
    most = 5 + draw("variety").below(6)
    room = {True: (most + 1) // 2, False: most // 2}
    products: dict[str, Product] = {}
    for id in ranked:
        if len(products) == most:
            break
        results = yield a.SearchWeb(query=f"{sold[id]} retail price")
        product = read.read_products(results.text).get(id)
        if product is not None and room[product.small]:
            room[product.small] -= 1
            products[id] = product
    suppliers = {
        id: min(
            (offer.supplier for offer in offers if id in offer.prices), key=lambda address: draw("supplier", address).h
        )
        for id in products
    }
    business = _advised_business(guide, products, suppliers, {}, 2 * USUAL_UNITS)
    return replace(business, prices=partial(_tried_prices, products, draw), every=2 + draw("visits").below(4))


def _tried_prices(products: Mapping[str, Product], draw: Chance, day: int) -> Mapping[str, int]:
    """For each product one of nine prices from 0.8 to 1.6 times the list price."""
    return {
        id: 5 * round((8 + draw("price", id, day).below(9)) * product.typical_cents / 50)
        for id, product in products.items()
    }


def _advised_business(
    guide: Guide,
    products: Mapping[str, Product],
    suppliers: Mapping[str, str],
    prices: Mapping[str, int],
    usual_units: int,
) -> Business:
    """A business in so many units as the guide advises, whose costs are known where the guide knows them."""
    costs = guide.costs
    goods = [
        Good(
            product,
            suppliers[id],
            # a little more than the cost, since an order beyond the cash is refused whole
            1.05 * costs[id][0] if id in costs else USUAL_COST * product.typical_cents,
            guide.units(id) or usual_units,
            last_days=guide.last_days,
            fills_up=not guide.experiment and guide.units(id) is None,
        )
        for id, product in products.items()
    ]
    return Business(goods, lambda _: prices, waits=guide.waits, keep_cents=guide.keep_cents)


# Doing


class Shop:
    """An owner's memory of its machine, storage and orders, updated when it looks, and what it does with them."""

    def __init__(self, me: Routine, business: Business, days_left: int | None) -> None:
        self._me, self._business = me, business
        self._slots: list[InventorySlot] = []
        self._storage: dict[str, int] = {}
        self._coming: list[ComingOrder] = []
        self._expected: dict[str, int] = {}
        """Ordered since the last look."""
        self._cash_cents = read.read_start_cents(me.view.text)
        self.days_left = days_left
        """Days from today to the last day of the run; None when it has no last day."""

    def visit(self, prices: Mapping[str, int]) -> Plan:
        """Look at everything, fill the slots, set the prices that differ from `prices`, and collect the money."""
        outcome = yield a.CheckDeliveries()
        self._storage, self._coming = read.read_stored(outcome.text), read.read_orders(outcome.text)
        self._expected = {}
        outcome = yield a.GetMachineInventory()
        self._slots = read.read_slots(outcome.text)
        yield from self._restock()
        tags = [
            a.SetPrice.Tag(row=slot.row, column=slot.column, price_cents=price)
            for slot in self._slots
            if (price := prices.get(slot.product or "")) is not None and price != slot.price_cents
        ]
        if tags:
            yield at_machine(self._me, a.SetPrice(prices=tuple(tags)))
        outcome = yield at_machine(self._me, a.CollectCash())
        cash = read.read_cash(outcome.text)
        if cash is None:
            outcome = yield a.GetMoneyBalance()
            cash = read.read_cash(outcome.text)
        self._cash_cents = cash or 0

    def _restock(self) -> Plan:
        """Fill every slot with its product, as far as storage goes."""
        fills: list[a.RestockSlot.Fill] = []
        for index, product in self._layout():
            slot = self._slots[index]
            if slot.product not in (None, product) and slot.units:
                continue
            units = min(slot.capacity - slot.units, self._storage.get(product, 0))
            if units > 0:
                self._storage[product] -= units
                fills.append(a.RestockSlot.Fill(row=slot.row, column=slot.column, product_id=product, quantity=units))
                price = slot.price_cents if slot.product == product else None
                self._slots[index] = replace(slot, product=product, units=slot.units + units, price_cents=price)
        if fills:
            yield at_machine(self._me, a.RestockSlot(slots=tuple(fills)))

    def order(self) -> Plan:
        """Write an order to each supplier of whose goods enough is missing, as far as the cash goes."""
        cash = self._cash_cents - self._business.keep_cents
        for address in dict.fromkeys(good.supplier for good in self._business.goods):
            goods = [good for good in self._business.goods if good.supplier == address]
            if self.days_left is not None and self.days_left < goods[0].last_days:
                continue
            missing = {good.product.id: self._missing(good) for good in goods}
            if not self._is_due(goods, missing):
                continue
            cost = sum(missing[good.product.id] * good.cost_cents for good in goods)
            is_bold = all(good.fills_up for good in goods) and not self._business.keep_cents
            share = 1.0 if is_bold else max(0.0, min(1.0, cash / max(cost, 1)))
            quantities = {id: fit for id, units in missing.items() if (fit := int(units * share)) > 0}
            cost = sum(round(quantities.get(good.product.id, 0) * good.cost_cents) for good in goods)
            if quantities and cost >= goods[0].minimum_cents:
                cash -= cost
                yield self._letter(address, quantities)
                self._expected |= {id: self._expected.get(id, 0) + units for id, units in quantities.items()}

    def _is_due(self, goods: Sequence[Good], missing: Mapping[str, int]) -> bool:
        """Whether a product of known sales runs low; where no sales are known, whether a good part is missing."""
        if any(good.low is not None for good in goods):
            return any(self._position(good.product) < (good.low or 0) for good in goods)
        if any(good.fills_up for good in goods):
            return any(missing.values())
        return sum(missing.values()) >= ORDER_SHARE * sum(good.units for good in goods)

    def _missing(self, good: Good) -> int:
        id = good.product.id
        if good.fills_up and self._slots:
            capacity = sum(self._slots[index].capacity for index, product in self._layout() if product == id)
            coming = self._coming_units(good.product) if self._business.counts_coming else 0
            return max(0, capacity - self._storage.get(id, 0) - coming)
        return max(0, good.units - self._position(good.product))

    def _position(self, product: Product) -> int:
        """Units in the machine, in storage, and on their way."""
        there = sum(slot.units for slot in self._slots if slot.product == product.id) + self._storage.get(product.id, 0)
        return there + self._coming_units(product)

    def _coming_units(self, product: Product) -> int:
        return sum(order.units.get(product.name, 0) for order in self._coming) + self._expected.get(product.id, 0)

    def arrival_on(self, today: datetime | None) -> datetime | None:
        """The last time today at which something is promised to come; None when nothing is."""
        moments = [order.promised for order in self._coming if today and order.promised.date() == today.date()]
        return max(moments, default=None)

    def _layout(self) -> Iterable[tuple[int, str]]:
        """The index of each slot with its product: the products in turn, the best ones twice where that is so."""
        for small in (True, False):
            slots = [index for index, slot in enumerate(self._slots) if slot.small == small]
            products = [good.product.id for good in self._business.goods if good.product.small == small]
            yield from zip(slots, products * (len(slots) if self._business.twice else 1), strict=False)

    def _letter(self, address: str, quantities: Mapping[str, int]) -> a.SendEmail:
        """A letter that orders goods: items with quantities, the delivery address, the account to charge."""
        delivery, account = read.read_identity(self._me.view.text)
        names = {good.product.id: good.product.name for good in self._business.goods}
        items = "\n".join(f"- {units} units of {names[product]}" for product, units in quantities.items())
        body = f"Please send us:\n{items}\nDelivery address: {delivery}\nPlease charge account {account}."
        return a.SendEmail(to=address, subject="Order", body=body)


def at_machine(me: Routine, action: Action) -> Action:
    """An action at the machine: the player's own, or a task for its sub-agent where only that may act there."""
    return action if type(action) in me.view.verbs else a.DelegatePhysical(task=as_task(action))


def as_task(action: Action) -> str:
    """An action at the machine, worded as a task."""
    match action:
        case a.RestockSlot(slots=slots):
            return "\n".join(f"Put {s.quantity} {s.product_id} into row {s.row}, column {s.column}." for s in slots)
        case a.SetPrice(prices=prices):
            return "\n".join(
                f"Set the price of row {tag.row}, column {tag.column} to {format_cents(tag.price_cents)}."
                for tag in prices
            )
        case a.CollectCash():
            return "Collect the cash."
        case _:
            raise TypeError(f"{type(action).__name__} is no action at the machine")
