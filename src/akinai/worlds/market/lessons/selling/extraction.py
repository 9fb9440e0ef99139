"""What a market teaches its businesses, from its ledger alone: what to propose, when, at what price, in which words.

Pure. What a payment left its seller with is reckoned by the seller's own floor, which only the fold knows.
"""

from collections.abc import Iterator, Mapping, Sequence

from akinai.core.lessons import Lesson
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.outcome import Deal, MarketOutcome
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
"""Entries that are named as evidence."""
SECTION, PRICES, MISTAKES = "serving_customers", "bargaining", "mistakes_to_avoid"


def selling_lessons(steps: Steps[State]) -> list[Lesson]:
    """The lessons of a market at its end; each stands where there is something to tell."""
    market = steps.derive(MarketOutcome.of)
    left = {sale.offer.index: sale.profit_cents for sale in sales(market.state, (deal.offer for deal in market.deals))}
    return [
        *_parts(market, left),
        *_speed(market),
        *_wording(market),
        *_undercutting(market, left),
        *_stock(market, left),
    ]


Left = Mapping[int, int | None]
"""What each proposal leaves its seller with if it is paid, by its index; None where the seller's cost is not known."""


def _parts(market: MarketOutcome, left: Left) -> Iterator[Lesson]:
    """Payments for a part and for the whole, by customers whom somebody offered the whole."""
    served = {customer for customer, deals in market.got.items() if any(deal.complete for deal in deals)}
    known = [deal for deal in market.paid if deal.offer.customer in served and left[deal.offer.index] is not None]
    part, whole = ([deal for deal in known if deal.complete is kind] for kind in (False, True))
    if part or whole:
        both = (Deals.of(left[deal.offer.index] or 0 for deal in deals) for deals in (part, whole))
        shown = [deal.offer.paid for deal in (*part[:SHOWN], *whole[:1])]
        yield Lesson.of(SECTION, "parts", PartsAdvice(*both), shown, "part", "whole order", "every item")


def _speed(market: MarketOutcome) -> Iterator[Lesson]:
    """First proposals and later ones, of customers who got several."""
    several = [deals for deals in market.got.values() if len(deals) > 1]
    if several:
        first, later = [deals[0] for deals in several], [deal for deals in several for deal in deals[1:]]
        advice = SpeedAdvice(_paid(first), _paid(later))
        shown = [deal.offer.index for deal in first[:SHOWN]]
        yield Lesson.of(SECTION, "speed", advice, shown, "answer", "first", "order of answers")


def _wording(market: MarketOutcome) -> Iterator[Lesson]:
    fitting = [deal for deal in market.deals if deal.fits]
    named = [deal for deal in fitting if deal.offer.proposal.special_instructions]
    silent = [deal for deal in fitting if not deal.offer.proposal.special_instructions]
    if named and silent:
        shown = [deal.offer.index for deal in named[:SHOWN]]
        advice = WordingAdvice(_paid(named), _paid(silent))
        yield Lesson.of(SECTION, "wording", advice, shown, "words", "amenities", "special_instructions")


def _undercutting(market: MarketOutcome, left: Left) -> Iterator[Lesson]:
    """What customers with a choice paid for; what a lower price would have won those who lost, and cost who won."""
    cheapest, chances = list[Deal](), list[float]()
    lost, won = list[tuple[Deal, int]](), list[tuple[Deal, int]]()
    for deals in market.got.values():
        fitting = [deal for deal in deals if deal.fits and left[deal.offer.index] is not None]
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
            spare = paid.cents - 1 - deal.cents + (left[deal.offer.index] or 0)
            lost += [(deal, spare)] if deal.cents > paid.cents and spare >= 0 else []
    if chances:
        spared, given = (Deals.of(cents for _, cents in pairs) for pairs in (lost, won))
        counts = len(chances), len(cheapest), sum(chances)
        advice = UndercutAdvice(*counts, spared.count, spared.cents, given.count, given.cents)
        shown = [deal.offer.index for deal, _ in (lost or won)[:SHOWN]] + [deal.offer.paid for deal in cheapest[:1]]
        yield Lesson.of(PRICES, "undercutting", advice, shown, "price", "competitor", "cheapest", "discount")


def _stock(market: MarketOutcome, left: Left) -> Iterator[Lesson]:
    """Requests that named what the menu lacks, and who got the order."""
    whole = {deal.offer.customer: deal for deal in market.paid if deal.complete}
    lacking = [pair for pair in market.asked if not market.has_items(*pair)]
    gone = [pair for pair in lacking if pair[0] in whole and whole[pair[0]].offer.business != pair[1]]
    if market.asked:
        taken = Deals.of(left[whole[customer].offer.index] or 0 for customer, _ in gone)
        advice = StockAdvice(len(market.asked), len(market.asked) - len(lacking), taken.count, taken.cents)
        shown = [market.asked[pair].seq for pair in (gone or lacking or [*market.asked])[:SHOWN]]
        yield Lesson.of(MISTAKES, "stock", advice, shown, "menu", "missing item", "stock")


def _paid(deals: Sequence[Deal]) -> Paid:
    return Paid(len(deals), sum(bool(deal.offer.paid) for deal in deals))
