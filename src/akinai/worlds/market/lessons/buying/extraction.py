"""The lessons of a market for its customers, from its ledger alone: whom to ask, what to pay, how long to wait. Pure.

The fold knows the worth of a payment and the result of another choice; a customer sees proposals and profiles only.
`merge_advice` adds up the lessons of many markets, each weighted by its observations.
"""

from collections.abc import Iterator, Mapping, Sequence

from akinai.core.ledger import SECOND_US, Entry
from akinai.core.lessons import Lesson
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.outcome import MarketOutcome, ValuedDeal
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
"""Maximum number of proposals on the curve of waiting."""
SHOWN = 3
"""Entries of each kind that a lesson names as evidence."""


def buying_lessons(steps: Steps[State]) -> list[Lesson]:
    """The lessons of a market at its end; one without observations is left out."""
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


def _deals(deals: Sequence[ValuedDeal]) -> Deals:
    return Deals.of(deal.utility_cents for deal in deals)


def _payments(bad: Sequence[ValuedDeal], good: Sequence[ValuedDeal]) -> Sequence[int]:
    return [deal.offer.paid for deal in (*bad[:SHOWN], *good[:1])]


def _menus(market: MarketOutcome) -> Iterator[Lesson]:
    """Requests to businesses with and without all items, and whether a complete proposal followed."""
    whole = {(deal.offer.customer, deal.offer.business) for deal in market.deals if deal.complete}
    lacking = [pair for pair in market.requests if not market.has_items(*pair)]
    having = [pair for pair in market.requests if market.has_items(*pair)]
    if lacking or having:
        counts = len(lacking), len(whole & {*lacking}), len(having), len(whole & {*having})
        evidence = [market.requests[pair].seq for pair in (*lacking[:SHOWN], *having[:1])]
        yield Lesson.of("searching", "menus", MenuAdvice(*counts), evidence, "menu", "whom to ask")


def _waiting(market: MarketOutcome) -> Iterator[Lesson]:
    """The gain by waiting for the first n proposals that fit, and the time that they took."""
    fitting_offers = {
        customer: fitting
        for customer, deals in market.deals_by_customer.items()
        if (fitting := [deal for deal in deals if deal.fits])
    }
    answers = {
        (deal.offer.customer, deal.offer.business): deal
        for deal in reversed(market.deals)
        if (deal.offer.customer, deal.offer.business) in market.requests
    }
    if not fitting_offers or not answers:
        return
    most = min(max(map(len, fitting_offers.values())), MOST_WAITED)
    left = [
        round(sum(_best_of(offers[:count]) for offers in fitting_offers.values()) / len(fitting_offers))
        for count in range(1, most + 1)
    ]
    first_best = [deals for deals in fitting_offers.values() if deals[0].cents <= min(deal.cents for deal in deals)]
    late = [offers for offers in fitting_offers.values() if offers not in first_best]
    seconds = [(deal.at - market.requests[pair].at) / SECOND_US for pair, deal in answers.items()]
    advice = WaitAdvice(
        len(fitting_offers),
        len(first_best),
        tuple(left),
        len(seconds),
        sum(seconds) / len(seconds),
        round(max(seconds)),
    )
    evidence = [index for deals in (late or first_best)[:SHOWN] for index in _first_and_cheapest(deals)]
    yield Lesson.of("bargaining", "waiting", advice, evidence, "wait", "first proposal", "cheapest")


def _best_of(deals: Sequence[ValuedDeal]) -> int:
    """The utility of the cheapest of the proposals that have not expired when the last of them comes; 0 without any."""
    now = deals[-1].at
    return max(
        (deal.utility_cents for deal in deals if deal.offer.expires is None or deal.offer.expires >= now), default=0
    )


def _first_and_cheapest(deals: Sequence[ValuedDeal]) -> Sequence[int]:
    return deals[0].offer.index, min(deals, key=lambda deal: deal.cents).offer.index


def _price(market: MarketOutcome) -> Iterator[Lesson]:
    """The utility left by price, both as shares of the customer's willingness to pay."""
    fitting = [deal for deal in market.paid if deal.fits and deal.willing_cents]
    if fitting:
        rows = (
            PricePoint(round(deal.cents / deal.willing_cents, 2), deal.utility_cents / deal.willing_cents, 1)
            for deal in fitting
        )
        dearest = sorted(fitting, key=lambda deal: -deal.cents / deal.willing_cents)[:SHOWN]
        evidence = [deal.offer.paid for deal in dearest]
        advice = PriceAdvice(merge_points(rows))
        yield Lesson.of("bargaining", "price", advice, evidence, "price", "too dear", "walk away")


def _searches(market: MarketOutcome) -> Iterator[Lesson]:
    """The rank of the cheapest business that fits in searches for all items, by customer and algorithm."""
    ranks: dict[tuple[str, str], tuple[int, int]] = {}
    for entry in (step.entry for step in market.steps):
        if entry.name != "Search" or not entry.outcome.ok or entry.actor not in market.wants:
            continue
        search = a.Search.model_validate(entry.parameters)
        key, before = (search.search_algorithm, entry.actor), (entry.seq, 0)
        best = market.cheapest(entry.actor)
        if best is None or not all(item.lower() in search.query.lower() for item in market.wants[entry.actor]):
            continue
        seq, rank = ranks.get(key, before)
        ids = _result_ids(entry)
        if not rank and best in ids:
            rank = (search.page - 1) * search.limit + ids.index(best) + 1
        ranks[key] = seq, rank
    if ranks:
        advice = SearchAdvice(tuple(_ranked(name, ranks) for name in sorted({name for name, _ in ranks})))
        seqs = [seq for (name, _), (seq, rank) in ranks.items() if name == advice.best.algorithm and rank]
        yield Lesson.of("searching", "searches", advice, seqs[:SHOWN], "search_algorithm", "results", "page")


def _result_ids(entry: Entry) -> Sequence[str]:
    return [str(id) for id in entry.outcome.fields.get("businesses", ())]


def _ranked(name: str, ranks: Mapping[tuple[str, str], tuple[int, int]]) -> Ranked:
    own_ranks = [rank for (algorithm, _), (_, rank) in ranks.items() if algorithm == name]
    top3, top10 = (sum(0 < rank <= most for rank in own_ranks) for most in (3, 10))
    return Ranked(name, len(own_ranks), top3, top10, max(own_ranks))
