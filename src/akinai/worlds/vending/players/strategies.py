"""Players without a model. They use the tools that every agent has and know only what they read."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from akinai.core.actions import Action
from akinai.core.agents import Agent, AgentFactory, Plan, Role, Routine, is_sub_agent
from akinai.core.money import read_dollars
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.parameters import MAX_PRICE_CENTS
from akinai.worlds.vending.model.state import OWNER
from akinai.worlds.vending.players.days import ByBusiness, trading_agent
from akinai.worlds.vending.players.following import follow
from akinai.worlds.vending.players.guided import SUPPLIER_QUERIES, Guide, guided
from akinai.worlds.vending.players.habits import LADDER, RUNGS
from akinai.worlds.vending.players.observations import (
    Offer,
    ProductPage,
    find_addresses,
    parse_day,
    parse_days_left,
    parse_offers,
    parse_product_pages,
    parse_time,
)
from akinai.worlds.vending.players.shop import Shop, order_letter
from akinai.worlds.vending.sprint.players import weekly_agent
from akinai.worlds.vending.sprint.verbs import CloseWeek


def idle(me: Routine) -> Plan:
    """Only lets the days pass: the bottom of every scale."""
    while True:
        yield CloseWeek() if CloseWeek in me.view.verbs else a.AdvanceDay()


NAIVE_PRODUCTS = ("water", "cola", "chocolate_bar", "chips", "cookies")
NAIVE_VISIT = 5
"""The day of the week on which the naive player visits; the first order has come by then."""


def naive(me: Routine) -> Plan:
    """Five products at list prices, one order and one visit a week."""
    results = yield a.SearchWeb(query="wholesale supplier for vending machines, everything a machine can hold")
    address = find_addresses(results.text)[0]
    pages: dict[str, ProductPage] = {}
    for product in NAIVE_PRODUCTS:
        results = yield a.SearchWeb(query=f"{product.replace('_', ' ')} retail price")
        pages |= parse_product_pages(results.text)
    names = {product: pages[product].name for product in NAIVE_PRODUCTS}
    sizes = {product: pages[product].size for product in NAIVE_PRODUCTS}
    shop = Shop(me, names, [(product, sizes[product]) for product in NAIVE_PRODUCTS], twice=False)
    yield order_letter(me, address, names, dict.fromkeys(NAIVE_PRODUCTS, 12))
    while True:
        morning = yield a.AdvanceDay()
        if (parse_day(morning.text) or 0) % 7 != NAIVE_VISIT:
            continue
        yield from shop.look()
        yield from shop.restock()
        yield from shop.price({product: pages[product].reference_cents for product in NAIVE_PRODUCTS})
        yield from shop.collect()
        missing = {product: shop.capacity(product) - shop.stored(product) for product in NAIVE_PRODUCTS}
        if quantities := {product: units for product, units in missing.items() if units > 0}:
            yield order_letter(me, address, names, quantities)


VARIETY = 8
"""Products that the reference player keeps: the number that the public advice calls best."""
FRESH_DAYS = 30
"""Days of shelf life below which goods are not worth the trips."""
VISIT_EVERY = 2
SAFETY_DAYS = 3.0
COVER_DAYS = 12.0
KEEP_CENTS = 3_000
"""Cash in cents that is kept for the fee."""


@dataclass(frozen=True, slots=True)
class ProductChoice:
    """A product that the reference player keeps, with its offer, its price and its expected sales."""

    page: ProductPage
    offer: Offer
    price_cents: int
    units_a_day: float

    @property
    def profit_a_day(self) -> float:
        """Expected cents a day."""
        return self.units_a_day * (self.price_cents - self.offer.cost_cents[self.page.product])


def choose_offer(page: ProductPage, offers: Sequence[Offer]) -> ProductChoice | None:
    """The cheapest offer, and the price of greatest profit on the public demand curve; None when nobody sells it.

    Profit (p - c) (1 - e (p - r) / r) is greatest at p = (r (1 + 1/e) + c) / 2.
    """
    sellers = [offer for offer in offers if page.product in offer.cost_cents]
    if not sellers:
        return None
    offer = min(sellers, key=lambda seller: (seller.cost_cents[page.product], seller.lead_days))
    reference, elasticity = page.reference_cents, page.elasticity
    best = (reference * (1 + 1 / elasticity) + offer.cost_cents[page.product]) / 2
    price = max(5 * round(best / 5), offer.cost_cents[page.product] + 5)
    units = page.units_a_day * max(0.0, 1 - elasticity * (price - reference) / reference)
    return ProductChoice(page, offer, price, units)


def assortment(pages: Mapping[str, ProductPage], offers: Sequence[Offer]) -> list[ProductChoice]:
    """The products worth keeping, the best first, half of them of each size."""
    keeping = [page for page in pages.values() if page.shelf_days >= FRESH_DAYS]
    choices = [option for page in keeping if (option := choose_offer(page, offers)) is not None]
    choices.sort(key=lambda choice: (-choice.profit_a_day, choice.page.product))
    best: list[ProductChoice] = []
    for size in ("small", "large"):
        best += [choice for choice in choices if choice.page.size == size][: VARIETY // 2]
    return sorted(best, key=lambda choice: (-choice.profit_a_day, choice.page.product))


def reference(me: Routine) -> Plan:
    """Finds suppliers by search and mail, prices by the public demand curves, restocks after deliveries.

    In a shop that another player ran until now, it first reads mail, machine, storage and cash.
    """
    takes_over = (parse_day(me.view.text) or 1) > 1
    if takes_over:
        yield from read_all_mail()
    addresses = dict[str, None]()
    for query in SUPPLIER_QUERIES:
        results = yield a.SearchWeb(query=query)
        addresses |= dict.fromkeys(find_addresses(results.text))
    for address in addresses:
        yield a.SendEmail(to=address, subject="Price list", body="Hello, please send us your price list and terms.")
    morning = yield a.AdvanceDay()
    mail = yield a.ReadEmail()
    offers = parse_offers(mail.text)
    pages: dict[str, ProductPage] = {}
    for product, name in {product: name for offer in offers for product, name in offer.names.items()}.items():
        if product not in pages:
            results = yield a.SearchWeb(query=f"{name} retail price and demand")
            pages |= parse_product_pages(results.text)
    choices = assortment(pages, offers)
    names = {choice.page.product: choice.page.name for choice in choices}
    shop = Shop(me, names, [(choice.page.product, choice.page.size) for choice in choices])
    shop.days_left = parse_days_left(morning.text)
    prices = {choice.page.product: choice.price_cents for choice in choices}
    if takes_over:
        # What another player left in the machine sells down at a price, and makes room.
        left = {page.product: choose_offer(page, offers) for page in pages.values()}
        prices |= {product: choice.price_cents for product, choice in left.items() if choice}
        yield from shop.take_over(prices)
    yield from buy(me, shop, choices)
    while True:
        morning = yield a.AdvanceDay()
        today, day = parse_time(morning.text), parse_day(morning.text) or 0
        arrival, shop.days_left = shop.arrival_on(today), parse_days_left(morning.text)
        if arrival is None and day % VISIT_EVERY:
            continue
        if arrival is not None and any(verb is a.WaitUntil for verb in me.view.verbs):
            yield a.WaitUntil(hour=arrival.hour)
        yield from shop.look()
        yield from shop.restock()
        yield from shop.price(prices)
        yield from shop.collect()
        yield from buy(me, shop, choices)


def read_all_mail() -> Plan:
    """Read whatever is unread, which a mailbox shows twenty letters at a time."""
    mail = yield a.ReadEmail()
    while "more are unread" in mail.text:
        mail = yield a.ReadEmail()


def buy(me: Routine, shop: Shop, choices: Sequence[ProductChoice]) -> Plan:
    """Order from each supplier whose goods run low, and top up its other goods in the same letter."""
    left = shop.days_left
    cash = shop.cash_cents - KEEP_CENTS
    for address in dict.fromkeys(choice.offer.address for choice in choices):
        mine = [choice for choice in choices if choice.offer.address == address]
        offer = mine[0].offer
        if left is not None and left <= offer.lead_days + 1:
            continue
        if not any(_days_of(shop, choice) < offer.lead_days + SAFETY_DAYS for choice in mine):
            continue
        quantities = _affordable(mine, {choice.page.product: _missing(shop, choice) for choice in mine}, cash)
        cost = sum(units * offer.cost_cents[product] for product, units in quantities.items())
        if quantities and cost >= offer.minimum_cents:
            cash -= cost
            yield order_letter(me, address, shop.names, quantities)
            shop.expect(quantities)


def _days_of(shop: Shop, choice: ProductChoice) -> float:
    return shop.position(choice.page.product) / max(choice.units_a_day, 0.1)


def _missing(shop: Shop, choice: ProductChoice) -> int:
    """Units missing up to the level that covers the lead time and some days more."""
    days = choice.offer.lead_days + SAFETY_DAYS + COVER_DAYS
    return max(0, round(choice.units_a_day * days) - shop.position(choice.page.product))


def _affordable(mine: Sequence[ProductChoice], quantities: Mapping[str, int], cash: int) -> dict[str, int]:
    """The quantities that the cash pays for, reduced in proportion."""
    cost = sum(quantities[choice.page.product] * choice.offer.cost_cents[choice.page.product] for choice in mine)
    if cost <= 0 or cash <= 0:
        return {}
    share = min(1.0, cash / cost)
    return {product: units for product, all_units in quantities.items() if (units := int(all_units * share)) > 0}


def _is_owner(actor: str) -> bool:
    """Whether an actor owns a business, alone or beside others; sub-agents and suppliers' writers do not."""
    return actor == OWNER or (actor.startswith(f"{OWNER}_") and not is_sub_agent(actor))


def _player(plan: Callable[[Routine], Plan]) -> AgentFactory:
    """The factory of a player: the owner follows the plan, sub-agents are assistants."""

    def factory(role: Role) -> Agent:
        return Routine(plan if _is_owner(role.actor) else assistant)

    factory.__doc__ = plan.__doc__
    return factory


def naive_player(role: Role) -> Agent:
    """Five products at list prices, one order and one visit a week; with a playbook, it follows its sentences."""
    guide = Guide.of(role.bullets)
    if not _is_owner(role.actor):
        return Routine(assistant)
    if not guide.advice:
        return Routine(naive)
    return Routine(lambda me: guided(me, guide, NAIVE_PRODUCTS, NAIVE_VISIT))


def _by_business(single: AgentFactory, rung: str) -> AgentFactory:
    """A player that does business with a single machine, or as a rung of the ladder at several sites."""
    habits = LADDER[rung]

    def factory(role: Role) -> Agent:
        if not _is_owner(role.actor):
            return Routine(assistant)
        advised = follow(habits, role.bullets) if rung == "naive" else habits
        return ByBusiness(single(role), trading_agent(advised, role.genesis), weekly_agent(advised, role.genesis))

    alone = (single.__doc__ or "").partition("\n\n")[0]
    factory.__doc__ = f"{alone} At several sites: {RUNGS[rung]}"
    factory.__dict__["yardstick"] = habits.informed
    return factory


PLAYERS: Mapping[str, AgentFactory] = {
    "reference": _by_business(_player(reference), "reference"),
    "naive": _by_business(naive_player, "naive"),
    "idle": _player(idle),
    "listed": _by_business(naive_player, "listed"),
    "careful": _by_business(_player(reference), "careful"),
    "bargainer": _by_business(_player(reference), "bargainer"),
    "stocker": _by_business(_player(reference), "stocker"),
    "informed": _by_business(_player(reference), "informed"),
}
"""The first is the world's default."""


_TASK = re.compile(r"^Task \d+:\n", re.M)
_WHERE = r"row (\d+),? (?:and )?col(?:umn)? (\d+)"
_PUT = re.compile(
    rf"(?:put|restock|stock|move|load)\D*?(\d+) (?:units? of )?([\w -]+?) (?:in|into|to|at|in slot) {_WHERE}", re.I
)
_PRICE = re.compile(rf"price\D*?{_WHERE}\D*?(?:to|at|=|:)?\s*(\$?\d+(?:\.\d+)?)(?!\d)", re.I)
_CLEAR = re.compile(rf"(?:clear|empty)\D*?{_WHERE}", re.I)
_COLLECT = re.compile(r"\bcollect\b", re.I)
_LOOK = re.compile(r"\b(?:inventory|look|check|report what is in)\b", re.I)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def assistant(me: Routine) -> Plan:
    """A sub-agent: does what each task says in plain words, then reports the outcomes."""
    while True:
        task = _TASK.split(me.view.text)[-1]
        texts: list[str] = []
        for action in tuple(_requested_actions(me, task)):
            outcome = yield action
            texts.append(outcome.text)
        yield a.Report(text="\n".join(texts) or "I found nothing in the task that I can do with my tools.")


def _requested_actions(me: Routine, task: str) -> Iterator[Action]:
    """The actions that a task asks for, among the available tools."""
    tools = set(me.view.verbs)
    if a.RestockSlot in tools:
        yield from _machine_actions(task)
    elif a.SendEmail in tools:
        yield from _mail_actions(task)
    elif a.SearchWeb in tools:
        yield a.SearchWeb(query=task[:500])


def _machine_actions(task: str) -> Iterator[Action]:
    for row, column in _CLEAR.findall(task):
        yield a.ClearSlot(row=int(row), column=int(column))
    fills = [
        a.RestockSlot.Fill(row=int(row), column=int(column), product_id=product.strip(), quantity=int(units))
        for units, product, row, column in _PUT.findall(task)
        if 0 < int(units) <= 100_000 and int(row) <= 100 and int(column) <= 100
    ]
    if fills:
        yield a.RestockSlot(slots=tuple(fills[:50]))
    tags = [
        a.SetPrice.Tag(row=int(row), column=int(column), price_cents=cents)
        for row, column, price in _PRICE.findall(task)
        if int(row) <= 100 and int(column) <= 100 and 0 < (cents := _cents(price)) <= MAX_PRICE_CENTS
    ]
    if tags:
        yield a.SetPrice(prices=tuple(tags[:50]))
    if _COLLECT.search(task):
        yield a.CollectCash()
    if _LOOK.search(task):
        yield a.GetMachineInventory()


def _mail_actions(task: str) -> Iterator[Action]:
    """Send the task's text to every address in it; without one, read the mail and look at the deliveries."""
    addresses = dict.fromkeys(_ADDRESS.findall(task))
    for address in addresses:
        yield a.SendEmail(to=address, subject="", body=task)
    if not addresses:
        yield a.ReadEmail()
        yield a.CheckDeliveries()


def _cents(text: str) -> int:
    try:
        return read_dollars(text)
    except ValueError:
        return 0
