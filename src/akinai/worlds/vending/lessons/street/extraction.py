"""Lessons of a run with several sites, drawn from its ledger alone; none names goods or suppliers."""

from collections.abc import Iterator, Sequence

from akinai.core.lessons import Lesson
from akinai.worlds.vending.detectors.history import Close, History
from akinai.worlds.vending.detectors.lapses import missed_date, missed_delivery, neglected_customer
from akinai.worlds.vending.lessons.data_points import COUNTS, DataPoint, merge_points
from akinai.worlds.vending.lessons.street.advice import (
    BargainAdvice,
    ClaimAdvice,
    CustomerAdvice,
    NewsAdvice,
    ShelfAdvice,
    SignAdvice,
    SiteAdvice,
    TasteAdvice,
    TrustAdvice,
)
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import Order
from akinai.worlds.vending.rules.books import rent_cents
from akinai.worlds.vending.rules.deliveries import missing_units

CHEAP = 0.92
"""Suppliers below this part of the trade price are called cheap."""


def street_lessons(history: History) -> list[Lesson]:
    """The lessons of a run; none where nothing was ordered."""
    return [*_deliveries(history), *_town(history), *_shelves(history)] if history.purchases else []


def _deliveries(history: History) -> Iterator[Lesson]:
    evidence = _order_entries(history)
    orders, came = len(history.purchases), {delivery.order.number for delivery in history.deliveries}
    missed = missed_delivery(history)
    entries = tuple(sorted({entry for finding in missed for entry in finding.entries}))[:3]
    yield Lesson.of("stock_and_orders", "being there", SignAdvice(len(missed), orders), entries or evidence)
    missing = {d.order.number: _missing_cents(d.order) for d in history.deliveries}
    short = [cents for cents in missing.values() if cents]
    if missing:
        advice = ClaimAdvice(len(short), len(missing), sum(short))
        yield Lesson.of("mistakes_to_avoid", "claims", advice, evidence)
    cheap: list[float] = []
    ordinary: list[float] = []
    for purchase in history.purchases:
        order = purchase.order
        if order.promised > history.steps[len(history.steps) - 1].after.minute:
            continue
        share = 1 - _missing_cents(order) / max(1, order.total_cents) if order.number in came else 0.0
        (cheap if _price_level(history, order) < CHEAP else ordinary).append(share)
    if cheap or ordinary:
        advice = TrustAdvice(len(cheap), _mean(cheap), len(ordinary), _mean(ordinary))
        yield Lesson.of("stock_and_orders", "trust", advice, evidence)
    if steps := list(_concessions(history)):
        advice = BargainAdvice(len(steps), sum(steps) / len(steps))
        yield Lesson.of("stock_and_orders", "bargaining", advice, evidence)


def _concessions(history: History) -> Iterator[float]:
    """The share by which each offer lowered a supplier's prices."""
    for step in history.steps:
        action = step.turn.action
        if not isinstance(action, a.MakeOffer) or not step.outcome.ok:
            continue
        before, after = (state.talks.get(action.supplier_id) for state in (step.before, step.after))
        quoted = step.before.quoted.get(action.supplier_id)
        ask_permille = before.ask_permille if before else quoted[1] if quoted else 0
        if after is not None and ask_permille:
            yield 1 - after.ask_permille / ask_permille


def _order_entries(history: History) -> tuple[int, ...]:
    """The entries that placed the first and the last order."""
    seqs = [purchase.request.entry.seq for purchase in history.purchases]
    return tuple(sorted({min(seqs), max(seqs)}))


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares) if shares else 0.0


def _missing_cents(order: Order) -> int:
    costs = {line.product: line.cost_cents for line in order.lines}
    return sum(units * costs[product] for product, units in missing_units(order).items())


def _price_level(history: History, order: Order) -> float:
    """The total of an order as a multiple of its goods' trade prices."""
    trade = sum(line.units * history.setup.catalog.by_id[line.product].wholesale_cents for line in order.lines)
    return order.total_cents / max(1, trade)


def _town(history: History) -> Iterator[Lesson]:
    final = history.steps[len(history.steps) - 1].after
    neglected = len(neglected_customer(history))
    if final.complaint_count:
        advice = CustomerAdvice(final.complaint_count, neglected)
        yield Lesson.of("routine", "customers", advice, _order_entries(history))
    town, days = history.economy.town, len(history.closes)
    events = [event for event in town.events if event.first <= days]
    if events:
        unread = sum(finding.severity == "minor" for finding in missed_date(history))
        yield Lesson.of("routine", "news", NewsAdvice(len(events), days, unread), _order_entries(history))


def _shelves(history: History) -> Iterator[Lesson]:
    trading = [close for close in history.closes if close.book.income_cents]
    if not trading:
        return
    points = [DataPoint(len(close.book.demand), close.book.income_cents / _sites(close), 1) for close in trading]
    shelf = ShelfAdvice(merge_points(points, 12, digits=COUNTS))
    yield Lesson.of("stock_and_orders", "products", shelf, _order_entries(history))
    names = history.setup.catalog.by_id
    cost = sum(units * names[id].wholesale_cents for close in trading for id, units in close.book.sold.items())
    sites = sum(map(_sites, trading))
    earned = (sum(close.book.income_cents for close in trading) - cost) / sites
    final = history.steps[len(history.steps) - 1].after
    site = SiteAdvice(len(trading), earned, rent_cents(final, final.sites[0].place_index))
    if site.pays:
        yield Lesson.of("routine", "sites", site, _order_entries(history))
    demands: dict[str, list[float]] = {}
    for close in trading:
        for id, units in close.book.demand.items():
            demands.setdefault(id, []).append(units / _sites(close))
    promised = {id: names[id].daily_milliunits / 1000 for id in demands}
    off = [abs(sum(days) / len(days) / promised[id] - 1) for id, days in demands.items() if len(days) > 6]
    if off:
        yield Lesson.of("pricing", "tastes", TasteAdvice(len(off), sum(off) / len(off)), _order_entries(history))


def _sites(close: Close) -> int:
    return max(1, sum(not site.lost for site in close.step.after.sites))
