"""The lessons of a market for its businesses, from its ledger alone: what to propose, when, at what price, in which
words.

Pure. A seller's profit follows from its own floor, which only the fold knows.
"""

from collections.abc import Iterator, Mapping, Sequence

from akinai.core.lessons import Lesson
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.outcome import MarketOutcome, ValuedDeal
from akinai.worlds.market.analysis.welfare import sales
from akinai.worlds.market.lessons.buying.advice import Deals
from akinai.worlds.market.lessons.selling.advice import (
    Paid,
    PartsAdvice,
    SpeedAdvice,
    StockAdvice,
    UndercutAdvice,
    WordingAdvice,
)
from akinai.worlds.market.model.state import State

SHOWN = 3
"""Entries of each kind that a lesson names as evidence."""
SECTION, PRICES, MISTAKES = "serving_customers", "bargaining", "mistakes_to_avoid"


def selling_lessons(steps: Steps[State]) -> list[Lesson]:
    """The lessons of a market at its end; one without observations is left out."""
    market = steps.derive(MarketOutcome.of)
    profits = {
        sale.offer.index: sale.profit_cents for sale in sales(market.state, (deal.offer for deal in market.deals))
    }
    return [
        *_parts(market, profits),
        *_speed(market),
        *_wording(market),
        *_undercutting(market, profits),
        *_stock(market, profits),
    ]


Profits = Mapping[int, int | None]
"""The seller's profit from each proposal if it is paid, by its index; None where the seller's cost is not known."""


def _parts(market: MarketOutcome, profits: Profits) -> Iterator[Lesson]:
    """Payments for a part and for the whole, by customers whom somebody offered the whole."""
    served = {customer for customer, deals in market.deals_by_customer.items() if any(deal.complete for deal in deals)}
    costed = [deal for deal in market.paid if deal.offer.customer in served and profits[deal.offer.index] is not None]
    part, whole = ([deal for deal in costed if deal.complete is kind] for kind in (False, True))
    if part or whole:
        both = (Deals.of(profits[deal.offer.index] or 0 for deal in deals) for deals in (part, whole))
        evidence = [deal.offer.paid for deal in (*part[:SHOWN], *whole[:1])]
        yield Lesson.of(SECTION, "parts", PartsAdvice(*both), evidence, "part", "whole order", "every item")


def _speed(market: MarketOutcome) -> Iterator[Lesson]:
    """First proposals and later ones, of customers who got several."""
    several = [deals for deals in market.deals_by_customer.values() if len(deals) > 1]
    if several:
        first, later = [deals[0] for deals in several], [deal for deals in several for deal in deals[1:]]
        advice = SpeedAdvice(_paid(first), _paid(later))
        evidence = [deal.offer.index for deal in first[:SHOWN]]
        yield Lesson.of(SECTION, "speed", advice, evidence, "answer", "first", "order of answers")


def _wording(market: MarketOutcome) -> Iterator[Lesson]:
    fitting = [deal for deal in market.deals if deal.fits]
    named = [deal for deal in fitting if deal.offer.proposal.special_instructions]
    silent = [deal for deal in fitting if not deal.offer.proposal.special_instructions]
    if named and silent:
        evidence = [deal.offer.index for deal in named[:SHOWN]]
        advice = WordingAdvice(_paid(named), _paid(silent))
        yield Lesson.of(SECTION, "wording", advice, evidence, "words", "amenities", "special_instructions")


def _undercutting(market: MarketOutcome, profits: Profits) -> Iterator[Lesson]:
    """The payments of customers with a choice; a lower price's gain for sellers that lost, its cost for the others."""
    cheapest, chances = list[ValuedDeal](), list[float]()
    lost, won = list[tuple[ValuedDeal, int]](), list[tuple[ValuedDeal, int]]()
    for deals in market.deals_by_customer.values():
        fitting = [deal for deal in deals if deal.fits and profits[deal.offer.index] is not None]
        paid = next((deal for deal in fitting if deal.offer.paid), None)
        if paid is None or len(fitting) < 2:
            continue
        least = min(deal.cents for deal in fitting)
        chances.append(sum(deal.cents == least for deal in fitting) / len(fitting))
        if paid.cents == least:
            cheapest.append(paid)
        else:
            won.append((paid, paid.cents - least + 1))
        for deal in fitting:
            spare = paid.cents - 1 - deal.cents + (profits[deal.offer.index] or 0)
            lost += [(deal, spare)] if deal.cents > paid.cents and spare >= 0 else []
    if chances:
        spared, forgone = (Deals.of(cents for _, cents in pairs) for pairs in (lost, won))
        counts = len(chances), len(cheapest), sum(chances)
        advice = UndercutAdvice(*counts, spared.count, spared.cents, forgone.count, forgone.cents)
        evidence = [deal.offer.index for deal, _ in (lost or won)[:SHOWN]] + [deal.offer.paid for deal in cheapest[:1]]
        yield Lesson.of(PRICES, "undercutting", advice, evidence, "price", "competitor", "cheapest", "discount")


def _stock(market: MarketOutcome, profits: Profits) -> Iterator[Lesson]:
    """Requests for items that the menu lacks, and the businesses that got the order."""
    whole = {deal.offer.customer: deal for deal in market.paid if deal.complete}
    lacking = [pair for pair in market.requests if not market.has_items(*pair)]
    gone = [pair for pair in lacking if pair[0] in whole and whole[pair[0]].offer.business != pair[1]]
    if market.requests:
        taken = Deals.of(profits[whole[customer].offer.index] or 0 for customer, _ in gone)
        advice = StockAdvice(len(market.requests), len(market.requests) - len(lacking), taken.count, taken.cents)
        evidence = [market.requests[pair].seq for pair in (gone or lacking or [*market.requests])[:SHOWN]]
        yield Lesson.of(MISTAKES, "stock", advice, evidence, "menu", "missing item", "stock")


def _paid(deals: Sequence[ValuedDeal]) -> Paid:
    return Paid(len(deals), sum(bool(deal.offer.paid) for deal in deals))
