"""Lessons of a run, drawn from its ledger alone: demand by price, stock, suppliers, variety, visits, cash, deliveries,
claims, customers, sites. Where a seed draws its own goods and suppliers they name none.

A single run depends on luck; `merge_advice` merges the lessons of many runs, weighted by their days.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from akinai.core.lessons import Lesson
from akinai.worlds.vending.detectors.history import Close, History, Step
from akinai.worlds.vending.detectors.lapses import missed_date, missed_delivery, neglected_customer
from akinai.worlds.vending.lessons import advice as kinds
from akinai.worlds.vending.lessons.advice import COUNTS, FACTORS, PRICES, DataPoint, merge_points
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Product
from akinai.worlds.vending.model.state import DAY_MINUTES, Order
from akinai.worlds.vending.rules.books import rent_cents
from akinai.worlds.vending.rules.deliveries import missing_cents

LEAST_DAYS = 3
"""The fewest days on sale for which a product's demand is estimated."""
CHEAP = 0.92
"""Suppliers below this part of the trade price are called cheap."""


def extract_lessons(history: History) -> list[Lesson]:
    """The lessons of a run; none where nothing was bought or sold."""
    if history.setup.street.drawn is None:
        return [*_products(history), *_spoiled(history), *_suppliers(history), *_shelves(history), *_routine(history)]
    return [*_deliveries(history), *_town(history), *_sites(history)] if history.purchases else []


@dataclass(frozen=True, slots=True)
class _Trade:
    """A product on a closed day on which it was on sale."""

    close: Close
    product: Product
    price_cents: int
    demand: int
    cost_cents: int

    @property
    def worth_cents(self) -> int:
        """Cents that the day's demand was worth above its cost."""
        return self.demand * (self.price_cents - self.cost_cents)


def _trades(history: History) -> list[_Trade]:
    """Every day's trade in products whose cost is known from orders."""
    costs, products = _costs(purchase.order for purchase in history.purchases), history.setup.catalog.by_id
    return [
        _Trade(close, products[product], close.book.prices[product], demand, costs[product])
        for close in history.closes
        for product, demand in close.book.demand.items()
        if product in costs
    ]


def _costs(orders: Iterable[Order]) -> dict[str, int]:
    """The average cost of a unit in whole cents, by product."""
    paid: dict[str, tuple[int, int]] = {}
    for line in (line for order in orders for line in order.lines):
        units, cents = paid.get(line.product, (0, 0))
        paid[line.product] = units + line.units, cents + line.units * line.cost_cents
    return {product: round(cents / units) for product, (units, cents) in sorted(paid.items()) if units}


def _by_product(trades: Iterable[_Trade]) -> Mapping[str, list[_Trade]]:
    by_product: dict[str, list[_Trade]] = {}
    for trade in trades:
        by_product.setdefault(trade.product.id, []).append(trade)
    return {product: days for product, days in by_product.items() if len(days) >= LEAST_DAYS}


def _products(history: History) -> Iterator[Lesson]:
    """Lessons on each product's price and stock."""
    leads, evenings = _leads(history), Counter(product for close in history.closes for product in close.book.empty)
    lead = sum(leads) / len(leads) if leads else 0.0
    for trades in _by_product(_trades(history)).values():
        product, entries = trades[0].product, _ends(trade.close.step for trade in trades)
        by_price = merge_points((DataPoint(trade.price_cents, trade.demand, 1) for trade in trades), PRICES)
        price = kinds.PriceAdvice(
            product.id, product.name, product.size, product.reference_cents, trades[0].cost_cents, by_price
        )
        yield Lesson.of("pricing", f"price of {product.id}", price, entries, product.name)
        units = sum(trade.demand for trade in trades) / len(trades)
        stock = kinds.StockAdvice(product.id, product.name, units, len(trades), lead, evenings[product.id])
        yield Lesson.of("stock_and_orders", f"stock of {product.id}", stock, entries, product.name)


def _spoiled(history: History) -> Iterator[Lesson]:
    """Lessons on products of which units spoiled."""
    spoiled, bought, entries = Counter[str](), Counter[str](), dict[str, list[int]]()
    for close in history.closes:
        spoiled.update(close.book.spoiled)
        for product in close.book.spoiled:
            entries.setdefault(product, []).append(close.step.entry.seq)
    for line in (line for delivery in history.deliveries for line in delivery.order.lines):
        bought[line.product] += line.units
    for id, units in sorted(spoiled.items()):
        product = history.setup.catalog.by_id[id]
        advice = kinds.SpoilAdvice(id, product.name, bought[id], units, product.shelf_days)
        yield Lesson.of("mistakes_to_avoid", f"spoiled {id}", advice, _first(entries[id]), product.name)


def _leads(history: History) -> list[int]:
    """The lead time of each order that came, in whole days from letter to goods."""
    return [_lead(delivery.order) for delivery in history.deliveries]


def _lead(order: Order) -> int:
    return order.due // DAY_MINUTES + 1 - order.placed_day


def _suppliers(history: History) -> Iterator[Lesson]:
    """Lessons on each supplier that delivered: its prices and lead time."""
    by_supplier: dict[str, list[Order]] = {}
    for delivery in history.deliveries:
        by_supplier.setdefault(delivery.order.supplier, []).append(delivery.order)
    for id, orders in sorted(by_supplier.items()):
        lead = sum(map(_lead, orders)) / len(orders)
        hour = max(order.due % DAY_MINUTES // 60 for order in orders)
        late = sum(order.due > order.promised for order in orders)
        address = history.setup.catalog.supplier_by_id[id].address
        advice = kinds.SupplierAdvice(address, tuple(_costs(orders).items()), len(orders), lead, hour, late)
        numbers = {order.number for order in orders}
        entries = [purchase.charged.entry.seq for purchase in history.purchases if purchase.order.number in numbers]
        yield Lesson.of("stock_and_orders", f"supplier {id}", advice, _first(entries), id)


def _shelves(history: History) -> Iterator[Lesson]:
    """Lessons on all products: the price as a multiple of the list price, and how many products to sell."""
    trades = _trades(history)
    if not trades:
        return
    entries = _ends(trade.close.step for trade in trades)
    factors = (DataPoint(_markup(trade), trade.worth_cents, 1) for trade in trades)
    markup = kinds.MarkupAdvice(merge_points(factors, FACTORS))
    yield Lesson.of("pricing", "price of others", markup, entries, "list price")
    days: dict[int, list[_Trade]] = {}
    for trade in trades:
        days.setdefault(trade.close.book.day, []).append(trade)
    by_count = (DataPoint(len(day), sum(trade.worth_cents for trade in day), 1) for day in days.values())
    variety = kinds.VarietyAdvice(merge_points(by_count, COUNTS))
    yield Lesson.of("routine", "variety", variety, entries, "products")


def _markup(trade: _Trade) -> float:
    """The price as a multiple of the list price, in steps of 0.15."""
    return round(round(trade.price_cents / trade.product.reference_cents / 0.15) * 0.15, 2)


def _routine(history: History) -> Iterator[Lesson]:
    """Lessons on visits, the hour of deliveries, cash, and the last orders."""
    closes, setup = history.closes, history.setup
    by_product = _by_product(_trades(history))
    if not closes or not by_product:
        return
    entries = _ends(close.step for close in closes)
    small = [rows for rows in by_product.values() if rows[0].product.size == "small"] or list(by_product.values())
    best = max(sum(trade.demand for trade in rows) / len(rows) for rows in small)
    room = setup.small_capacity
    visit = kinds.VisitAdvice(best, room, len(closes), sum(len(close.book.empty) for close in closes))
    yield Lesson.of("routine", "visits", visit, entries, "restock")
    in_machine = sum(close.step.after.machine_cents for close in closes) / len(closes)
    missed = sum(not close.book.fee_met for close in closes)
    cash = kinds.CashAdvice(setup.fee_cents, len(closes), missed, in_machine)
    yield Lesson.of("cash_and_fees", "cash", cash, entries, "fee")
    if not history.deliveries:
        return
    hours = [delivery.order.due % DAY_MINUTES // 60 for delivery in history.deliveries]
    early = [step.entry.seq for step in history.steps if step.outcome.code == "not_there_yet"]
    hour = kinds.HourAdvice(max(hours), len(hours), len(early))
    evidence = tuple(early[:3]) or _first(delivery.step.entry.seq for delivery in history.deliveries)
    yield Lesson.of("mistakes_to_avoid", "too early", hour, evidence, "delivery")
    lost = sum(order.total_cents for order in history.steps[-1].after.orders)
    last = kinds.LastOrderAdvice(max(_leads(history)), int(lost > 0), lost)
    yield Lesson.of("mistakes_to_avoid", "last orders", last, (history.steps[-1].entry.seq,), "end")


def _ends(steps: Iterable[Step]) -> tuple[int, ...]:
    """The first and the last of some entries."""
    seqs = [step.entry.seq for step in steps]
    return tuple(sorted({min(seqs), max(seqs)}))


def _first(entries: Iterable[int]) -> tuple[int, ...]:
    """The first three of some entries."""
    return tuple(sorted(set(entries)))[:3]


def _deliveries(history: History) -> Iterator[Lesson]:
    evidence = _order_entries(history)
    orders, came = len(history.purchases), {delivery.order.number for delivery in history.deliveries}
    missed = missed_delivery(history)
    entries = _first(entry for finding in missed for entry in finding.entries)
    yield Lesson.of("stock_and_orders", "being there", kinds.SignAdvice(len(missed), orders), entries or evidence)
    missing = {d.order.number: missing_cents(d.order) for d in history.deliveries}
    short = [cents for cents in missing.values() if cents]
    if missing:
        advice = kinds.ClaimAdvice(len(short), len(missing), sum(short))
        yield Lesson.of("mistakes_to_avoid", "claims", advice, evidence)
    cheap: list[float] = []
    ordinary: list[float] = []
    for purchase in history.purchases:
        order = purchase.order
        if order.promised > history.steps[-1].after.minute:
            continue
        share = 1 - missing_cents(order) / max(1, order.total_cents) if order.number in came else 0.0
        (cheap if _price_level(history, order) < CHEAP else ordinary).append(share)
    if cheap or ordinary:
        advice = kinds.TrustAdvice(len(cheap), _mean(cheap), len(ordinary), _mean(ordinary))
        yield Lesson.of("stock_and_orders", "trust", advice, evidence)
    if steps := list(_concessions(history)):
        advice = kinds.BargainAdvice(len(steps), sum(steps) / len(steps))
        yield Lesson.of("stock_and_orders", "bargaining", advice, evidence)


def _concessions(history: History) -> Iterator[float]:
    """The share by which each offer lowered a supplier's prices."""
    for step in history.steps:
        action = step.turn.action
        if not isinstance(action, a.MakeOffer) or not step.outcome.ok:
            continue
        supplier = history.setup.catalog.find_supplier(action.supplier_id)
        id = supplier.id if supplier else ""
        before, after = (state.talks.get(id) for state in (step.before, step.after))
        quoted = step.before.quoted.get(id)
        ask_permille = before.ask_permille if before else quoted[1] if quoted else 0
        if after is not None and ask_permille:
            yield 1 - after.ask_permille / ask_permille


def _order_entries(history: History) -> tuple[int, ...]:
    """The entries that placed the first and the last order."""
    return _ends(purchase.request for purchase in history.purchases)


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares) if shares else 0.0


def _price_level(history: History, order: Order) -> float:
    """The total of an order as a multiple of its goods' trade prices."""
    trade = sum(line.units * history.setup.catalog.by_id[line.product].wholesale_cents for line in order.lines)
    return order.total_cents / max(1, trade)


def _town(history: History) -> Iterator[Lesson]:
    final = history.steps[-1].after
    neglected = len(neglected_customer(history))
    if final.complaint_count:
        advice = kinds.CustomerAdvice(final.complaint_count, neglected)
        yield Lesson.of("routine", "customers", advice, _order_entries(history))
    town, days = history.economy.town, len(history.closes)
    events = [event for event in town.events if event.first <= days]
    if events:
        unread = sum(finding.severity == "minor" for finding in missed_date(history))
        yield Lesson.of("routine", "news", kinds.NewsAdvice(len(events), days, unread), _order_entries(history))


def _sites(history: History) -> Iterator[Lesson]:
    trading = [close for close in history.closes if close.book.income_cents]
    if not trading:
        return
    points = [DataPoint(len(close.book.demand), close.book.income_cents / _open_sites(close), 1) for close in trading]
    shelf = kinds.ShelfAdvice(merge_points(points, COUNTS))
    yield Lesson.of("stock_and_orders", "products", shelf, _order_entries(history))
    names = history.setup.catalog.by_id
    cost = sum(units * names[id].wholesale_cents for close in trading for id, units in close.book.sold.items())
    sites = sum(map(_open_sites, trading))
    earned = (sum(close.book.income_cents for close in trading) - cost) / sites
    final = history.steps[-1].after
    site = kinds.SiteAdvice(len(trading), earned, rent_cents(final, final.sites[0].place_index))
    if site.pays:
        yield Lesson.of("routine", "sites", site, _order_entries(history))
    demands: dict[str, list[float]] = {}
    for close in trading:
        for id, units in close.book.demand.items():
            demands.setdefault(id, []).append(units / _open_sites(close))
    promised = {id: names[id].daily_milliunits / 1000 for id in demands}
    off = [abs(sum(days) / len(days) / promised[id] - 1) for id, days in demands.items() if len(days) > 6]
    if off:
        yield Lesson.of("pricing", "tastes", kinds.TasteAdvice(len(off), sum(off) / len(off)), _order_entries(history))


def _open_sites(close: Close) -> int:
    return max(1, sum(not site.lost for site in close.step.after.sites))
