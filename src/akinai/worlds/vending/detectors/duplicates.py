"""Orders of goods already on their way: needless by the known demand, or repeated to the unit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from akinai.worlds.vending.detectors.history import History, Mistake, Purchase, Step, detector, merges
from akinai.worlds.vending.model.setup import Product
from akinai.worlds.vending.model.state import State

NEED_DAYS = 21
"""Days of demand that stock and orders together may cover; more is beyond plausible need."""
CALM_DAYS = 7
"""An order is needless when the goods at hand and on their way last for these days after the supplier's lead time."""
REPEATED_CALM_DAYS = 2
"""The days for an order that repeats the last one to the unit."""
UNKNOWN_DEMAND = 1.5
"""The factor by which demand may exceed the known demand, where tastes are hidden and further sites open."""
OBSERVED_DAYS = 7


@detector
@merges
def duplicate_order(history: History) -> Iterator[tuple[int, Mistake]]:
    """An order of goods that are on their way already, last for long enough, and come to more than any need.

    At least half of the order, by its cost, has to be needless.
    """
    number, before, steps = 0, frozenset[str](), list[Step]()
    for purchase in history.purchases:
        coming = list(history.on_its_way(purchase.request))
        doubled = list(_doubled(history, purchase, coming))
        if not doubled or sum(item.needless_cents for item in doubled) * 2 < purchase.order.total_cents:
            continue
        products = frozenset(duplicate.product for duplicate in doubled)
        first = [purchase for purchase in coming if products & {line.product for line in purchase.order.lines}]
        if not (products & before and any(earlier.request in steps for earlier in first)):
            number, steps = number + 1, [earlier.request for earlier in first]
        before, steps = products, [*steps, purchase.request]
        assumed = f"order {purchase.order.number} was needed: {', '.join(item.ordered for item in doubled)}"
        true = "; ".join(item.truth for item in doubled)
        yield number, Mistake(steps, "serious", assumed, true, purchase.request.entry.actor)


@dataclass(frozen=True, slots=True)
class _Doubled:
    product: str
    ordered: str
    truth: str
    needless_cents: int
    """The cost of the units that nobody needs."""


def _doubled(history: History, purchase: Purchase, coming: Sequence[Purchase]) -> Iterator[_Doubled]:
    """The goods of an order that were on their way already and are not needed twice."""
    catalog, state = history.setup.catalog, purchase.request.before
    lead = catalog.supplier_by_id[purchase.order.supplier].lead_days
    again = _is_repeated(purchase, coming)
    for line in purchase.order.lines:
        way = sum(
            earlier_line.units
            for earlier in coming
            for earlier_line in earlier.order.lines
            if earlier_line.product == line.product
        )
        if not way:
            continue
        product = catalog.by_id[line.product]
        there = state.units_in_machine(product.id) + state.units_in_storage(product.id)
        rate = _units_a_day(history, purchase.request, product)
        crowd = _crowd_days(history, state.day, product)
        calm = rate * (lead + (REPEATED_CALM_DAYS if again else CALM_DAYS) + crowd)
        excess = line.units if again else there + way + line.units - _need(history, state, product, rate, crowd)
        if excess > 0 and there + way >= calm:
            truth = f"{way} {product.name} on their way and {there} at hand, {rate:.1f} wanted a day"
            needless = int(min(excess, line.units) * line.cost_cents)
            yield _Doubled(product.id, f"{line.units} {product.name}", truth, needless)


def _is_repeated(purchase: Purchase, coming: Sequence[Purchase]) -> bool:
    """Whether an order of several products is an order of the day or of the day before once more."""
    units = {line.product: line.units for line in purchase.order.lines}
    return len(units) > 1 and any(
        units == {line.product: line.units for line in earlier.order.lines}
        and purchase.request.before.day - earlier.request.before.day <= 1
        for earlier in coming
    )


def _need(history: History, state: State, product: Product, rate: float, crowd: float) -> float:
    """Units that can be sold before they spoil, at least a full slot at each site."""
    slot = history.setup.small_capacity if product.size == "small" else history.setup.large_capacity
    unknown = UNKNOWN_DEMAND if history.setup.street.drawn else 1
    days = min(NEED_DAYS, product.shelf_days + 1) + crowd
    return max(rate * days * unknown, slot * max(1, len(state.sites)))


def _crowd_days(history: History, day: int, product: Product) -> float:
    """Further days' worth of demand by the events that are in the news and not over, before the product spoils."""
    town, street = history.economy.town, history.setup.street
    until, days = day + min(NEED_DAYS, product.shelf_days + 1), 0.0
    for event in town.events:
        more = street.events.kinds[event.kind].permille_of(product.category) / 1000 - 1
        if event.news_day <= day and more > 0:
            days += more * max(0, min(event.last, until) - max(event.first, day) + 1)
    return days


def _units_a_day(history: History, step: Step, product: Product) -> float:
    """Units wanted a day by the public figures, or by the demand of the last days where that is more."""
    demand = [
        close.book.demand[product.id]
        for close in history.closes[: step.before.closed_days][-OBSERVED_DAYS:]
        if product.id in close.book.demand
    ]
    public = product.daily_milliunits / 1000 * max(1, len(step.before.sites))
    return max(public, sum(demand) / len(demand) if demand else 0.0)
