"""The gates of a market: rules that a proposal or a payment has to pass where the setup has them.

Each is a pure function of the state and the turn that returns a refusal or None. The facts about a customer's bids that
they need are in the state.
"""

from collections.abc import Sequence

from immutables import Map

from akinai.core.ledger import SECOND_US, Outcome, Turn
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.setup import Gates
from akinai.worlds.market.model.state import Bids, Mail, State
from akinai.worlds.market.model.units import TOLERANCE, dollars, items_total, prices, total_is_off

NOT_YET, NOT_POSTED, SEALED = "not_yet", "not_posted", "sealed"
"""Codes: pay later; not the menu's prices; against the rules of sealed bids. The reason stands in the data."""
CLOSED = a.Text(content="A sealed bid, opened when the bidding closes.")
"""The message that is shown in place of a sealed bid."""


def refuse_proposal(state: State, turn: Turn, customer: str, proposal: a.OrderProposal) -> Outcome | None:
    """Refused as `not_posted` (`item`, `price`, `total`) or `sealed` (`second_bid`, `window_over`)."""
    gates = state.setup.gates
    if gates.posted_prices and (refused := _not_posted(state, turn.actor, proposal)):
        return refused
    bids = state.bids.get(customer)
    if not gates.sealed_bids or bids is None:
        return None
    if turn.actor in bids.businesses:
        text = "Bids are sealed: you made yours to this customer, and it is final"
        return Outcome.refused(SEALED, text, {"reason": "second_bid"})
    if turn.at >= bids.since + gates.quote_window_s * SECOND_US:
        return Outcome.refused(SEALED, "Bids are sealed: the bidding is over", {"reason": "window_over"})
    return None


def refuse_payment(state: State, turn: Turn) -> Outcome | None:
    """Refused as `not_yet` (`too_few_proposals`; `window_open`, with the seconds left)."""
    gates, bids = state.setup.gates, state.bids.get(turn.actor)
    if bids is None:
        return None
    have = len(bids.businesses)
    if have < gates.proposals:
        text = f"Payment opens with proposals of {gates.proposals} businesses; you have {have}"
        return Outcome.refused(NOT_YET, text, {"reason": "too_few_proposals", "missing": gates.proposals - have})
    if left := _left_s(gates, bids, turn.at):
        text = f"Payment opens {gates.quote_window_s} s after your first proposal; {left} s are left"
        return Outcome.refused(NOT_YET, text, {"reason": "window_open", "seconds": left})
    return None


def seconds_sealed(state: State, customer: str, at: int) -> int:
    """Seconds until the bids that a customer got are opened; 0 when they are, or were never sealed."""
    gates, bids = state.setup.gates, state.bids.get(customer)
    return 0 if bids is None or not gates.sealed_bids else _left_s(gates, bids, at)


def _left_s(gates: Gates, bids: Bids, at: int) -> int:
    """Whole seconds until the quote window closes, rounded up; 0 from then on."""
    return max(0, gates.quote_window_s - (at - bids.since) // SECOND_US)


def conceal_sealed(state: State, at: int, mails: Sequence[Mail]) -> Sequence[Mail]:
    """Mails of one box as their reader sees them at a time: a sealed bid shows its sender and its arrival only."""
    if not mails or not seconds_sealed(state, mails[0].to, at):
        return mails
    return [
        Mail.of(it.index, it.at, it.sender, it.to, CLOSED) if isinstance(it.message, a.OrderProposal) else it
        for it in mails
    ]


def record_bid(state: State, turn: Turn, customer: str) -> State:
    """Record the first proposal of a business to a customer, and the time of the customer's first."""
    bids = state.bids.get(customer) or Bids(turn.at, Map())
    if turn.actor in bids.businesses:
        return state
    bids = Bids(bids.since, bids.businesses.set(turn.actor, turn.seq))
    return state.moved(bids=state.bids.set(customer, bids))


def _not_posted(state: State, business: str, proposal: a.OrderProposal) -> Outcome | None:
    menu = prices(state.members[business].data)
    for item in proposal.items:
        posted = menu.get(item.item_name)
        if posted is None:
            text = f"Prices are posted: {item.item_name!r:.100} is not on your menu"
            return Outcome.refused(NOT_POSTED, text, {"reason": "item"})
        if abs(posted - dollars(item.unit_price)) >= TOLERANCE:
            text = f"Prices are posted: {item.item_name!r:.100} is {posted} on your menu, not {item.unit_price}"
            return Outcome.refused(NOT_POSTED, text, {"reason": "price"})
    if total_is_off(proposal):
        text = f"Prices are posted: the total is {items_total(proposal)}, not {proposal.total_price}"
        return Outcome.refused(NOT_POSTED, text, {"reason": "total"})
    return None


def describe_gates(gates: Gates) -> Sequence[str]:
    """The gates in sentences, as everybody reads them; empty where there are none."""
    rules: list[str] = []
    if gates.proposals > 1:
        rules.append(f"A customer can pay only when it has proposals of {gates.proposals} businesses.")
    if gates.quote_window_s:
        rules.append(f"A customer can pay only {gates.quote_window_s} seconds after its first proposal.")
    if gates.posted_prices:
        rules.append("Prices are posted: proposals hold items of the menu at the menu's prices, and their sum.")
    if gates.sealed_bids:
        rules.append(
            "Bids are sealed: one final proposal of each business to a customer, before the customer can pay. Until "
            "then a fetch tells that it came; fetched again, it is read."
        )
    return rules
