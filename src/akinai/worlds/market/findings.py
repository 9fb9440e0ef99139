"""Where customers dealt badly, as the ledger shows it: what they paid for, and what they left lying. Pure."""

from collections.abc import Iterator, Sequence

from akinai.core.findings import Finding, Severity
from akinai.core.ledger import Ledger
from akinai.core.money import format_cents
from akinai.worlds.market import actions as a
from akinai.worlds.market.bazaar import Bazaar, Deal
from akinai.worlds.market.best_possible import amenities, needed
from akinai.worlds.market.state import State


def findings_of(state: State, ledger: Ledger) -> Sequence[Finding]:
    """The findings of a market at its end, in the order of its ledger.

    `missing_amenity` and `missing_item`: paid for what is worth nothing. `too_dear`: paid more than having all is
    worth. `cheaper_offer`: a cheaper proposal that fits had come by then. `left_open`: left without buying, though one
    that fits and is worth it had come. A proposal that had expired by then counts as none.
    """
    bazaar = Bazaar(state, ledger.entries)
    found = [*_payments(bazaar), *_leavings(bazaar)]
    return sorted(found, key=lambda one: one.entries[-1])


def _payments(bazaar: Bazaar) -> Iterator[Finding]:
    for deal in bazaar.paid:
        offer, price = deal.offer, format_cents(deal.cents)
        if not deal.complete:
            missing = ", ".join(sorted(bazaar.missing(offer)))
            yield _of(bazaar, "missing_item", deal, "serious", f"{price} pays for all", f"it lacks {missing}")
        elif not deal.suits:
            members = bazaar.state.members
            lacks = ", ".join(sorted(needed(members[offer.customer]) - amenities(members[offer.business])))
            yield _of(bazaar, "missing_amenity", deal, "serious", f"{offer.business} suits", f"it has no {lacks}")
        elif deal.left_cents < 0:
            worth = format_cents(2 * deal.willing_cents)
            yield _of(bazaar, "too_dear", deal, "serious", f"it is worth {price}", f"having all is worth {worth}")
        else:
            at = bazaar.at[offer.paid]
            best = min(_open(bazaar, offer.customer, offer.paid, at), key=lambda one: one.cents, default=deal)
            if best.cents < deal.cents:
                told = f"{best.offer.business} had proposed the same for {format_cents(best.cents)}"
                yield _of(bazaar, "cheaper_offer", deal, "minor", f"{price} is a good price", told, best)


def _leavings(bazaar: Bazaar) -> Iterator[Finding]:
    """Customers who left without having paid."""
    bought = {deal.offer.customer for deal in bazaar.paid}
    for entry in bazaar.entries:
        if entry.name != a.Leave.__name__ or not entry.outcome.ok or entry.actor in bought:
            continue
        worth_it = [one for one in _open(bazaar, entry.actor, entry.seq, entry.at) if one.left_cents > 0]
        if worth_it:
            best = max(worth_it, key=lambda one: one.left_cents)
            told = f"{best.offer.business} offered all for {format_cents(best.cents)}"
            yield Finding(
                "left_open",
                entry.actor,
                (best.offer.index, entry.seq),
                "serious",
                "nothing here is worth it",
                f"{told}, which would have left {format_cents(best.left_cents)}",
                entry.at,
            )


def _open(bazaar: Bazaar, customer: str, before: int, at: int) -> list[Deal]:
    """The proposals that fit and could be paid at an entry."""
    return [
        one
        for one in bazaar.got.get(customer, ())
        if one.fits and one.offer.index < before and (one.offer.expires is None or one.offer.expires >= at)
    ]


def _of(
    bazaar: Bazaar, type: str, deal: Deal, severity: Severity, assumed: str, true: str, other: Deal | None = None
) -> Finding:
    """One about a payment; its evidence are the proposal, the better one, and the payment."""
    offer = deal.offer
    entries = sorted({offer.index, *((other.offer.index,) if other else ())})
    return Finding(type, offer.customer, (*entries, offer.paid), severity, assumed, true, bazaar.at[offer.paid])
