"""Bad deals of customers, as the ledger shows them: payments for too little, and good offers not taken. Pure."""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from akinai.core.findings import Finding, Severity
from akinai.core.money import format_cents
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.outcome import MarketOutcome, ValuedDeal
from akinai.worlds.market.analysis.welfare import amenities, needed_amenities
from akinai.worlds.market.model.state import State


def find_bad_deals(steps: Steps[State]) -> Sequence[Finding]:
    """The findings of a market at its end, in the order of its ledger.

    `missing_amenity` and `missing_item`: the customer paid for something without value to it. `too_dear`: it paid more
    than all items are worth to it. `cheaper_offer`: it had a cheaper proposal that fits. `left_open`: it left without
    buying, though it had a proposal that fits and is worth its price. Expired proposals do not count.
    """
    market = MarketOutcome.of(steps)  # not derived: in a long market it takes as much memory as the account
    findings = [*_payments(market), *_leavings(market)]
    return sorted(findings, key=lambda finding: finding.entries[-1])


def _payments(market: MarketOutcome) -> Iterator[Finding]:
    open_by_customer: dict[str, _OpenDeals] = {}
    for deal in market.paid:
        offer, price = deal.offer, format_cents(deal.cents)
        if not deal.complete:
            missing = ", ".join(sorted(market.missing(offer)))
            yield _finding(market, "missing_item", deal, "serious", f"{price} pays for all", f"it lacks {missing}")
        elif not deal.suits:
            members = market.state.members
            lacks = ", ".join(sorted(needed_amenities(members[offer.customer]) - amenities(members[offer.business])))
            assumed = f"{market.label(offer.business)} suits"
            yield _finding(market, "missing_amenity", deal, "serious", assumed, f"it has no {lacks}")
        elif deal.utility_cents < 0:
            worth = format_cents(2 * deal.willing_cents)
            yield _finding(market, "too_dear", deal, "serious", f"it is worth {price}", f"having all is worth {worth}")
        else:
            at = market.state.paid_at(offer)
            if (open_deals := open_by_customer.get(offer.customer)) is None:
                deals = market.deals_by_customer[offer.customer]
                open_deals = open_by_customer[offer.customer] = _OpenDeals([deal for deal in deals if deal.fits])
            best = open_deals.cheapest(offer.paid, at)
            if best is not None and best.cents < deal.cents:
                offered = f"{market.label(best.offer.business)} had proposed the same for {format_cents(best.cents)}"
                yield _finding(market, "cheaper_offer", deal, "minor", f"{price} is a good price", offered, best)


class _OpenDeals:
    """The proposals that fit one customer, the cheapest first."""

    def __init__(self, deals: Sequence[ValuedDeal]) -> None:
        """`deals` are in the order of arrival."""
        self._deals, self._count = deals, 0
        self._heap: list[tuple[int, int]] = []

    def cheapest(self, before: int, at: int) -> ValuedDeal | None:
        """The cheapest that could be paid at an entry, of equals the first; entries may not fall from call to call."""
        while self._count < len(self._deals) and (deal := self._deals[self._count]).offer.index < before:
            heappush(self._heap, (deal.cents, self._count))
            self._count += 1
        while self._heap:
            deal = self._deals[self._heap[0][1]]
            if deal.offer.expires is None or deal.offer.expires >= at:
                return deal
            heappop(self._heap)
        return None


def _leavings(market: MarketOutcome) -> Iterator[Finding]:
    """Customers who left without having paid."""
    bought = {deal.offer.customer for deal in market.paid}
    for leaving in market.record.leavings:
        if leaving.customer in bought:
            continue
        open_deals = _open(market, leaving.customer, leaving.entry, leaving.at)
        worth_it = [deal for deal in open_deals if deal.utility_cents > 0]
        if worth_it:
            best = max(worth_it, key=lambda deal: deal.utility_cents)
            offered = f"{market.label(best.offer.business)} offered all for {format_cents(best.cents)}"
            yield Finding(
                "left_open",
                leaving.customer,
                (best.offer.index, leaving.entry),
                "serious",
                "nothing here is worth it",
                f"{offered}, which would have left {format_cents(best.utility_cents)}",
                leaving.at,
            )


def _open(market: MarketOutcome, customer: str, before: int, at: int) -> list[ValuedDeal]:
    """The proposals that fit and could be paid at an entry."""
    return [
        deal
        for deal in market.deals_by_customer.get(customer, ())
        if deal.fits and deal.offer.index < before and (deal.offer.expires is None or deal.offer.expires >= at)
    ]


def _finding(
    market: MarketOutcome,
    type: str,
    deal: ValuedDeal,
    severity: Severity,
    assumed: str,
    true: str,
    other: ValuedDeal | None = None,
) -> Finding:
    """A finding about a payment; its entries are the proposal, the better one, and the payment."""
    offer = deal.offer
    entries = sorted({offer.index, *((other.offer.index,) if other else ())})
    return Finding(type, offer.customer, (*entries, offer.paid), severity, assumed, true, market.state.paid_at(offer))
