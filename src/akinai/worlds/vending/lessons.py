"""What a run teaches, from its ledger alone: demand by price, stock, suppliers, variety, visits, cash. Pure.

A run is full of one place's luck; `merged` adds the lessons of many runs up, each weighing as much as it has seen.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from akinai.core.lessons import Lesson
from akinai.worlds.vending.advice import (
    Advice,
    CashAdvice,
    HourAdvice,
    LastOrderAdvice,
    MarkupAdvice,
    PriceAdvice,
    SpoilAdvice,
    StockAdvice,
    SupplierAdvice,
    VarietyAdvice,
    VisitAdvice,
    added,
)
from akinai.worlds.vending.seen import COUNTS, FACTORS, PRICES, Seen, together
from akinai.worlds.vending.setup import Product
from akinai.worlds.vending.state import DAY_MINUTES, Order
from akinai.worlds.vending.story import Close, Story

LEAST_DAYS = 3
"""Days on sale from which on a product's demand is told."""


def merged(content: str, lesson: Lesson) -> str:
    """What a bullet says after a later lesson about the same thing."""
    return added(content, lesson.content)


def lessons_of(story: Story) -> list[Lesson]:
    """The lessons of a run; none where nothing was sold."""
    return [*_products(story), *_spoiled(story), *_suppliers(story), *_shelves(story), *_routine(story)]


@dataclass(frozen=True, slots=True)
class _Trade:
    """One product on one closed day on which it was on sale."""

    close: Close
    product: Product
    price_cents: int
    wanted: int
    cost_cents: int

    @property
    def worth_cents(self) -> int:
        """What the day's demand was worth above its cost."""
        return self.wanted * (self.price_cents - self.cost_cents)


def _trades(story: Story) -> list[_Trade]:
    """Every day's trade in products whose cost is on record."""
    costs, products = _costs(purchase.order for purchase in story.purchases), story.setup.catalog.by_id
    return [
        _Trade(close, products[product], close.book.prices[product], wanted, costs[product])
        for close in story.closes
        for product, wanted in close.book.wanted.items()
        if product in costs
    ]


def _costs(orders: Iterable[Order]) -> dict[str, int]:
    """Paid for a unit on average, by product, in whole cents."""
    paid: dict[str, tuple[int, int]] = {}
    for line in (line for order in orders for line in order.lines):
        units, cents = paid.get(line.product, (0, 0))
        paid[line.product] = units + line.units, cents + line.units * line.cost_cents
    return {product: round(cents / units) for product, (units, cents) in sorted(paid.items()) if units}


def _by_product(trades: Iterable[_Trade]) -> Mapping[str, list[_Trade]]:
    found: dict[str, list[_Trade]] = {}
    for one in trades:
        found.setdefault(one.product.id, []).append(one)
    return {product: some for product, some in found.items() if len(some) >= LEAST_DAYS}


def _products(story: Story) -> Iterator[Lesson]:
    """Each product's price and stock."""
    leads, evenings = _leads(story), _evenings(story)
    lead = sum(leads) / len(leads) if leads else 0.0
    for trades in _by_product(_trades(story)).values():
        product, entries = trades[0].product, _ends(one.close for one in trades)
        by_price = together((Seen(one.price_cents, one.wanted, 1) for one in trades), digits=PRICES)
        price = PriceAdvice(
            product.id, product.name, product.size, product.reference_cents, trades[0].cost_cents, by_price
        )
        yield _lesson("pricing", f"price of {product.id}", price, entries, product.name)
        units = sum(one.wanted for one in trades) / len(trades)
        stock = StockAdvice(product.id, product.name, units, len(trades), lead, evenings.get(product.id, 0))
        yield _lesson("stock_and_orders", f"stock of {product.id}", stock, entries, product.name)


def _spoiled(story: Story) -> Iterator[Lesson]:
    """Products of which units spoiled."""
    spoiled: dict[str, int] = {}
    entries: dict[str, list[int]] = {}
    for close in story.closes:
        for product, units in close.book.spoiled.items():
            spoiled[product] = spoiled.get(product, 0) + units
            entries.setdefault(product, []).append(close.scene.entry.seq)
    bought: dict[str, int] = {}
    for line in (line for delivery in story.deliveries for line in delivery.order.lines):
        bought[line.product] = bought.get(line.product, 0) + line.units
    for id, units in sorted(spoiled.items()):
        product = story.setup.catalog.by_id[id]
        told = SpoilAdvice(id, product.name, bought[id], units, product.shelf_days)
        yield _lesson("mistakes_to_avoid", f"spoiled {id}", told, _first(entries[id]), product.name)


def _evenings(story: Story) -> Mapping[str, int]:
    """On how many evenings each product stood sold out."""
    found: dict[str, int] = {}
    for product in (product for close in story.closes for product in close.book.empty):
        found[product] = found.get(product, 0) + 1
    return found


def _leads(story: Story) -> list[int]:
    """Whole days from letter to goods, order by order."""
    return [_lead(delivery.order) for delivery in story.deliveries]


def _lead(order: Order) -> int:
    return order.due // DAY_MINUTES + 1 - order.placed_day


def _suppliers(story: Story) -> Iterator[Lesson]:
    """Each supplier that delivered: what it charged and how soon it came."""
    by_supplier: dict[str, list[Order]] = {}
    for delivery in story.deliveries:
        by_supplier.setdefault(delivery.order.supplier, []).append(delivery.order)
    for id, orders in sorted(by_supplier.items()):
        lead = sum(map(_lead, orders)) / len(orders)
        hour = max(order.due % DAY_MINUTES // 60 for order in orders)
        late = sum(order.due > order.promised for order in orders)
        address = story.setup.catalog.supplier_by_id[id].address
        told = SupplierAdvice(address, tuple(_costs(orders).items()), len(orders), lead, hour, late)
        numbers = {order.number for order in orders}
        entries = [one.placed.entry.seq for one in story.purchases if one.order.number in numbers]
        yield _lesson("stock_and_orders", f"supplier {id}", told, tuple(sorted(set(entries)))[:3], id)


def _shelves(story: Story) -> Iterator[Lesson]:
    """What holds over all products: how far above the list price, and how many of them."""
    trades = _trades(story)
    if not trades:
        return
    entries = _ends(one.close for one in trades)
    factors = (Seen(_tenth(one), one.worth_cents, 1) for one in trades)
    yield _lesson(
        "pricing", "price of others", MarkupAdvice(together(factors, 10, digits=FACTORS)), entries, "list price"
    )
    days: dict[int, list[_Trade]] = {}
    for one in trades:
        days.setdefault(one.close.book.day, []).append(one)
    by_count = (Seen(len(some), sum(one.worth_cents for one in some), 1) for some in days.values())
    yield _lesson("routine", "variety", VarietyAdvice(together(by_count, 12, digits=COUNTS)), entries, "products")


def _tenth(one: _Trade) -> float:
    """The price as a multiple of the list price, in steps of 0.15."""
    return round(round(one.price_cents / one.product.reference_cents / 0.15) * 0.15, 2)


def _routine(story: Story) -> Iterator[Lesson]:
    """Visits, the hour of deliveries, cash, and the last orders."""
    closes, setup = story.closes, story.setup
    by_product = _by_product(_trades(story))
    if not closes or not by_product:
        return
    entries = _ends(closes)
    small = [some for some in by_product.values() if some[0].product.size == "small"] or list(by_product.values())
    best = max(sum(one.wanted for one in some) / len(some) for some in small)
    room = setup.small_capacity
    visit = VisitAdvice(best, room, len(closes), sum(len(close.book.empty) for close in closes))
    yield _lesson("routine", "visits", visit, entries, "restock")
    lying = sum(close.scene.after.machine_cents for close in closes) / len(closes)
    missed = sum(not close.book.fee_met for close in closes)
    cash = CashAdvice(setup.fee_cents, len(closes), missed, lying)
    yield _lesson("cash_and_fees", "cash", cash, entries, "fee")
    if not story.deliveries:
        return
    hours = [delivery.order.due % DAY_MINUTES // 60 for delivery in story.deliveries]
    early = [scene.entry.seq for scene in story.scenes if scene.outcome.code == "not_there_yet"]
    hour = HourAdvice(max(hours), len(hours), len(early))
    seen = tuple(early[:3]) or _first(delivery.scene.entry.seq for delivery in story.deliveries)
    yield _lesson("mistakes_to_avoid", "too early", hour, seen, "delivery")
    lost = sum(order.total_cents for order in story.scenes[-1].after.orders)
    last = LastOrderAdvice(max(_leads(story)), int(lost > 0), lost)
    yield _lesson("mistakes_to_avoid", "last orders", last, (story.scenes[-1].entry.seq,), "end")


def _ends(closes: Iterable[Close]) -> tuple[int, ...]:
    """The first and the last entry that show a stretch of days."""
    seqs = [close.scene.entry.seq for close in closes]
    return tuple(sorted({min(seqs), max(seqs)}))


def _first(entries: Iterable[int], most: int = 3) -> tuple[int, ...]:
    return tuple(sorted(set(entries)))[:most]


def _lesson(section: str, about: str, advice: Advice, entries: Sequence[int], *keywords: str) -> Lesson:
    return Lesson(section, advice.said(), keywords, about, tuple(entries))
