"""Where customers dealt badly, as the ledger shows it: what they paid for, and what they left lying. Pure."""

from collections.abc import Iterator, Sequence

from akinai.core.findings import Finding, Severity
from akinai.core.money import format_cents
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.outcome import Deal, MarketOutcome
from akinai.worlds.market.analysis.welfare import amenities, needed
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import State


def find_bad_deals(steps: Steps[State]) -> Sequence[Finding]:
    """The findings of a market at its end, in the order of its ledger.

    `missing_amenity` and `missing_item`: paid for what is worth nothing. `too_dear`: paid more than having all is
    worth. `cheaper_offer`: a cheaper proposal that fits had come by then. `left_open`: left without buying, though one
    that fits and is worth it had come. A proposal that had expired by then counts as none.
    """
    market = steps.derive(MarketOutcome.of)
    found = [*_payments(market), *_leavings(market)]
    return sorted(found, key=lambda match: match.entries[-1])


def _payments(market: MarketOutcome) -> Iterator[Finding]:
    for deal in market.paid:
        offer, price = deal.offer, format_cents(deal.cents)
        if not deal.complete:
            missing = ", ".join(sorted(market.missing(offer)))
            yield _of(market, "missing_item", deal, "serious", f"{price} pays for all", f"it lacks {missing}")
        elif not deal.suits:
            members = market.state.members
            lacks = ", ".join(sorted(needed(members[offer.customer]) - amenities(members[offer.business])))
            assumed = f"{market.spoken(offer.business)} suits"
            yield _of(market, "missing_amenity", deal, "serious", assumed, f"it has no {lacks}")
        elif deal.left_cents < 0:
            worth = format_cents(2 * deal.willing_cents)
            yield _of(market, "too_dear", deal, "serious", f"it is worth {price}", f"having all is worth {worth}")
        else:
            at = market.at[offer.paid]
            best = min(_open(market, offer.customer, offer.paid, at), key=lambda deal: deal.cents, default=deal)
            if best.cents < deal.cents:
                offered = f"{market.spoken(best.offer.business)} had proposed the same for {format_cents(best.cents)}"
                yield _of(market, "cheaper_offer", deal, "minor", f"{price} is a good price", offered, best)


def _leavings(market: MarketOutcome) -> Iterator[Finding]:
    """Customers who left without having paid."""
    bought = {deal.offer.customer for deal in market.paid}
    for entry in market.entries:
        if entry.name != a.Leave.__name__ or not entry.outcome.ok or entry.actor in bought:
            continue
        worth_it = [deal for deal in _open(market, entry.actor, entry.seq, entry.at) if deal.left_cents > 0]
        if worth_it:
            best = max(worth_it, key=lambda deal: deal.left_cents)
            offered = f"{market.spoken(best.offer.business)} offered all for {format_cents(best.cents)}"
            yield Finding(
                "left_open",
                entry.actor,
                (best.offer.index, entry.seq),
                "serious",
                "nothing here is worth it",
                f"{offered}, which would have left {format_cents(best.left_cents)}",
                entry.at,
            )


def _open(market: MarketOutcome, customer: str, before: int, at: int) -> list[Deal]:
    """The proposals that fit and could be paid at an entry."""
    return [
        deal
        for deal in market.got.get(customer, ())
        if deal.fits and deal.offer.index < before and (deal.offer.expires is None or deal.offer.expires >= at)
    ]


def _of(
    market: MarketOutcome, type: str, deal: Deal, severity: Severity, assumed: str, true: str, other: Deal | None = None
) -> Finding:
    """One about a payment; its evidence are the proposal, the better one, and the payment."""
    offer = deal.offer
    entries = sorted({offer.index, *((other.offer.index,) if other else ())})
    return Finding(type, offer.customer, (*entries, offer.paid), severity, assumed, true, market.at[offer.paid])
