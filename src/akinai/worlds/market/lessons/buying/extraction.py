"""What a market teaches its customers, from its ledger alone: whom to ask, what to pay, how long to wait. Pure.

What a payment was worth, and what would have come of another choice, is the truth that the fold knows; a customer sees
proposals and profiles only. `merge_advice` adds the lessons of many markets up, each weighing as much as it has seen.
"""

from collections.abc import Iterator, Mapping, Sequence

from akinai.core.ledger import SECOND_US, Entry
from akinai.core.lessons import Lesson
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.outcome import Deal, MarketOutcome
from akinai.worlds.market.lessons.buying.advice import (
    AmenityAdvice,
    Deals,
    ItemsAdvice,
    MenuAdvice,
    PriceAdvice,
    PricePoint,
    Ranked,
    SearchAdvice,
    WaitAdvice,
    merge_points,
)
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import State

MOST_WAITED = 8
"""Proposals beyond which the curve of waiting is not told."""
SHOWN = 3
"""Entries that are named as evidence."""


def buying_lessons(steps: Steps[State]) -> list[Lesson]:
    """The lessons of a market at its end; each stands where there is something to tell."""
    market = steps.derive(MarketOutcome.of)
    return [
        *_amenities(market),
        *_items(market),
        *_menus(market),
        *_waiting(market),
        *_price(market),
        *_searches(market),
    ]


def _amenities(market: MarketOutcome) -> Iterator[Lesson]:
    """Payments for all items, at places with and without the amenities."""
    lacking = [deal for deal in market.paid if deal.complete and not deal.suits]
    having = [deal for deal in market.paid if deal.fits]
    if lacking or having:
        advice = AmenityAdvice(_deals(lacking), _deals(having))
        yield Lesson.of("checking_an_offer", "amenities", advice, _payments(lacking, having), "amenity", "lacks")


def _items(market: MarketOutcome) -> Iterator[Lesson]:
    """Payments for a part of the items, and for all."""
    part = [deal for deal in market.paid if not deal.complete]
    whole = [deal for deal in market.paid if deal.complete]
    if part or whole:
        advice = ItemsAdvice(_deals(part), _deals(whole))
        yield Lesson.of("checking_an_offer", "items", advice, _payments(part, whole), "complete", "missing item")


def _deals(deals: Sequence[Deal]) -> Deals:
    return Deals.of(deal.left_cents for deal in deals)


def _payments(bad: Sequence[Deal], good: Sequence[Deal]) -> Sequence[int]:
    return [deal.offer.paid for deal in (*bad[:SHOWN], *good[:1])]


def _menus(market: MarketOutcome) -> Iterator[Lesson]:
    """Who was asked, and whether all came of it."""
    whole = {(deal.offer.customer, deal.offer.business) for deal in market.deals if deal.complete}
    lacking = [pair for pair in market.asked if not market.has_items(*pair)]
    having = [pair for pair in market.asked if market.has_items(*pair)]
    if lacking or having:
        counts = len(lacking), len(whole & {*lacking}), len(having), len(whole & {*having})
        shown = [market.asked[pair].seq for pair in (*lacking[:SHOWN], *having[:1])]
        yield Lesson.of("searching", "menus", MenuAdvice(*counts), shown, "menu", "whom to ask")


def _waiting(market: MarketOutcome) -> Iterator[Lesson]:
    """What the first so many proposals that fit would have come to, and how long they took."""
    got = {
        customer: fitting
        for customer, deals in market.got.items()
        if (fitting := [deal for deal in deals if deal.fits])
    }
    answers = {
        (deal.offer.customer, deal.offer.business): deal
        for deal in reversed(market.deals)
        if _pair(deal) in market.asked
    }
    if not got or not answers:
        return
    most = min(max(map(len, got.values())), MOST_WAITED)
    left = [round(sum(_best_of(value[:count]) for value in got.values()) / len(got)) for count in range(1, most + 1)]
    first_best = [deals for deals in got.values() if deals[0].cents <= min(deal.cents for deal in deals)]
    late = [value for value in got.values() if value not in first_best]
    seconds = [(deal.at - market.asked[pair].at) / SECOND_US for pair, deal in answers.items()]
    advice = WaitAdvice(
        len(got),
        len(first_best),
        tuple(left),
        len(seconds),
        sum(seconds) / len(seconds),
        round(max(seconds)),
    )
    shown = [index for deals in (late or first_best)[:SHOWN] for index in _first_and_cheapest(deals)]
    yield Lesson.of("bargaining", "waiting", advice, shown, "wait", "first proposal", "cheapest")


def _pair(deal: Deal) -> tuple[str, str]:
    return deal.offer.customer, deal.offer.business


def _best_of(deals: Sequence[Deal]) -> int:
    """What the cheapest leaves of those that have not expired when the last of them comes; else nothing."""
    now = deals[-1].at
    return max(
        (deal.left_cents for deal in deals if deal.offer.expires is None or deal.offer.expires >= now), default=0
    )


def _first_and_cheapest(deals: Sequence[Deal]) -> Sequence[int]:
    return deals[0].offer.index, min(deals, key=lambda deal: deal.cents).offer.index


def _price(market: MarketOutcome) -> Iterator[Lesson]:
    """What was left at which price, both as shares of what the customer would have paid."""
    fitting = [deal for deal in market.paid if deal.fits and deal.willing_cents]
    if fitting:
        rows = (
            PricePoint(round(deal.cents / deal.willing_cents, 2), deal.left_cents / deal.willing_cents, 1)
            for deal in fitting
        )
        dearest = sorted(fitting, key=lambda deal: -deal.cents / deal.willing_cents)[:SHOWN]
        shown = [deal.offer.paid for deal in dearest]
        yield Lesson.of("bargaining", "price", PriceAdvice(merge_points(rows)), shown, "price", "too dear", "walk away")


def _searches(market: MarketOutcome) -> Iterator[Lesson]:
    """Where searches for all items had the business that fits and is cheapest, by customer and algorithm."""
    places: dict[tuple[str, str], tuple[int, int]] = {}
    for entry in market.entries:
        if entry.name != "Search" or not entry.outcome.ok or entry.actor not in market.wants:
            continue
        search = a.Search.model_validate(entry.parameters)
        key, before = (search.search_algorithm, entry.actor), (entry.seq, 0)
        best = market.cheapest(entry.actor)
        if best is None or not all(item.lower() in search.query.lower() for item in market.wants[entry.actor]):
            continue
        seq, place = places.get(key, before)
        shown = _shown(entry)
        if not place and best in shown:
            place = (search.page - 1) * search.limit + shown.index(best) + 1
        places[key] = seq, place
    if places:
        advice = SearchAdvice(tuple(_ranked(name, places) for name in sorted({name for name, _ in places})))
        seqs = [seq for (name, _), (seq, place) in places.items() if name == advice.best.algorithm and place]
        yield Lesson.of("searching", "searches", advice, seqs[:SHOWN], "search_algorithm", "results", "page")


def _shown(entry: Entry) -> Sequence[str]:
    data = entry.outcome.data
    ids = data.get("businesses") if isinstance(data, Mapping) else None
    return [str(id) for id in ids] if isinstance(ids, list) else []


def _ranked(name: str, places: Mapping[tuple[str, str], tuple[int, int]]) -> Ranked:
    mine = [place for (algorithm, _), (_, place) in places.items() if algorithm == name]
    found = [place for place in mine if place]
    return Ranked(
        name, len(mine), sum(place <= 3 for place in found), sum(place <= 10 for place in found), max([0, *found])
    )
