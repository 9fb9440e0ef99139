"""Bad deals of customers, as the ledger shows them: payments for too little, and good offers not taken. Pure."""

from collections.abc import Iterator, Sequence

from akinai.core.findings import Finding, Severity
from akinai.core.money import format_cents
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.outcome import MarketOutcome, ValuedDeal
from akinai.worlds.market.analysis.welfare import amenities, needed_amenities
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import State


def find_bad_deals(steps: Steps[State]) -> Sequence[Finding]:
    """The findings of a market at its end, in the order of its ledger.

    `missing_amenity` and `missing_item`: the customer paid for something without value to it. `too_dear`: it paid more
    than all items are worth to it. `cheaper_offer`: it had a cheaper proposal that fits. `left_open`: it left without
    buying, though it had a proposal that fits and is worth its price. Expired proposals do not count.
    """
    market = steps.derive(MarketOutcome.of)
    findings = [*_payments(market), *_leavings(market)]
    return sorted(findings, key=lambda finding: finding.entries[-1])


def _payments(market: MarketOutcome) -> Iterator[Finding]:
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
            at = market.at[offer.paid]
            best = min(_open(market, offer.customer, offer.paid, at), key=lambda deal: deal.cents, default=deal)
            if best.cents < deal.cents:
                offered = f"{market.label(best.offer.business)} had proposed the same for {format_cents(best.cents)}"
                yield _finding(market, "cheaper_offer", deal, "minor", f"{price} is a good price", offered, best)


def _leavings(market: MarketOutcome) -> Iterator[Finding]:
    """Customers who left without having paid."""
    bought = {deal.offer.customer for deal in market.paid}
    for entry in market.entries:
        if entry.name != a.Leave.__name__ or not entry.outcome.ok or entry.actor in bought:
            continue
        worth_it = [deal for deal in _open(market, entry.actor, entry.seq, entry.at) if deal.utility_cents > 0]
        if worth_it:
            best = max(worth_it, key=lambda deal: deal.utility_cents)
            offered = f"{market.label(best.offer.business)} offered all for {format_cents(best.cents)}"
            yield Finding(
                "left_open",
                entry.actor,
                (best.offer.index, entry.seq),
                "serious",
                "nothing here is worth it",
                f"{offered}, which would have left {format_cents(best.utility_cents)}",
                entry.at,
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
    return Finding(type, offer.customer, (*entries, offer.paid), severity, assumed, true, market.at[offer.paid])
