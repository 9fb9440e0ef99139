"""Deals as their two sides see them: proposals with their status, a customer's payments, a business's confirmed orders.

The stores and lists have the names of the marketplace document. They are views of the record: the market keeps none.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from akinai.core.findings import Deal, DealStep
from akinai.core.money import format_cents
from akinai.core.scores import WORDS, Table
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.trades import Messages, Moment, Pair, Status, Trade, between, trades
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import Mail, State
from akinai.worlds.market.model.units import iso, total_cents
from akinai.worlds.market.rules.mail import describe_items, describe_message


@dataclass(frozen=True, slots=True)
class StoredProposal:
    """A proposal as one side sees it."""

    proposal: a.OrderProposal
    business_id: str
    customer_id: str
    created_at: int
    """When the business sent it or the customer read it, microseconds since the epoch."""
    status: Status


@dataclass(frozen=True, slots=True)
class Transaction:
    """A payment that a customer made."""

    proposal_id: str
    business_id: str
    amount_cents: int
    timestamp: int
    """Microseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class ConfirmedOrder:
    """A payment that a business has read."""

    proposal_id: str
    customer_id: str
    amount_cents: int
    items: Sequence[a.Item]


@dataclass(frozen=True, slots=True)
class CustomerDeals:
    """The deals of a customer."""

    proposal_storage: Mapping[str, StoredProposal]
    """The proposals that it has read or paid, by id."""
    completed_transactions: Mapping[str, int]
    """The ids of the proposals that it paid, in that order, with the times in microseconds since the epoch."""
    transaction_history: Sequence[Transaction]


@dataclass(frozen=True, slots=True)
class BusinessDeals:
    """The deals of a business."""

    proposal_storage: Mapping[str, StoredProposal]
    """The proposals that it made, by id."""
    confirmed_orders: Sequence[ConfirmedOrder]
    """In the order in which it read the payments."""


def customer_deals(steps: Steps[State], customer: str) -> CustomerDeals:
    """A customer's deals at the end of a record; empty for an id that is no customer's."""
    own = [trade for trade in steps.derive(trades) if trade.offer.customer == customer]
    paid = _paid_trades(own)
    return CustomerDeals(
        {trade.id: _stored(trade, seen, trade.customer_status) for trade in own if (seen := trade.read or trade.paid)},
        {trade.id: payment.at for trade, payment in paid},
        [
            Transaction(trade.id, trade.offer.business, total_cents(trade.offer.proposal), payment.at)
            for trade, payment in paid
        ],
    )


def business_deals(steps: Steps[State], business: str) -> BusinessDeals:
    """A business's deals at the end of a record; empty for an id that is no business's."""
    own = [trade for trade in steps.derive(trades) if trade.offer.business == business]
    stored = {trade.id: _stored(trade, trade.proposed, trade.business_status) for trade in own}
    offers = [(trade.id, trade.offer) for trade in _confirmed_trades(own)]
    orders = [
        ConfirmedOrder(id, offer.customer, total_cents(offer.proposal), offer.proposal.items) for id, offer in offers
    ]
    return BusinessDeals(stored, orders)


def _paid_trades(all_trades: Sequence[Trade]) -> list[tuple[Trade, Moment]]:
    """Paid trades with their payments, in the order of payment."""
    return sorted(
        ((trade, trade.paid) for trade in all_trades if trade.paid is not None), key=lambda pair: pair[1].entry
    )


def _confirmed_trades(all_trades: Sequence[Trade]) -> list[Trade]:
    """Trades whose payment the business has read, in the order of reading, then of payment."""
    read = [trade for trade in all_trades if trade.payment_read]
    return sorted(read, key=lambda trade: (trade.payment_read.entry if trade.payment_read else 0, trade.offer.paid))


def _stored(trade: Trade, seen: Moment, status: Status) -> StoredProposal:
    offer = trade.offer
    return StoredProposal(offer.proposal, offer.business, offer.customer, seen.at, status)


STORED = {
    "proposal": WORDS,
    "business": WORDS,
    "customer": WORDS,
    "total": "cents",
    "customer_status": WORDS,
    "business_status": WORDS,
    "items": WORDS,
    "sent_at": WORDS,
    "read_at": WORDS,
}
COMPLETED = {"proposal": WORDS, "customer": WORDS, "completed_at": WORDS}
HISTORY = {"proposal": WORDS, "customer": WORDS, "business": WORDS, "amount": "cents", "timestamp": WORDS}
CONFIRMED = {"proposal": WORDS, "business": WORDS, "customer": WORDS, "amount": "cents", "items": WORDS}


def deal_tables(steps: Steps[State]) -> Sequence[Table]:
    """The deals of all customers and businesses as tables; times are ISO 8601."""
    all_trades = steps.derive(trades)
    paid = _paid_trades(all_trades)
    stored = [_stored_row(trade) for trade in all_trades]
    completed = [[trade.id, trade.offer.customer, iso(payment.at)] for trade, payment in paid]
    history = [_history_row(trade, payment) for trade, payment in paid]
    confirmed = [_confirmed_row(trade) for trade in _confirmed_trades(all_trades)]
    return [
        Table("proposal_storage", STORED, stored, about="deal"),
        Table("completed_transactions", COMPLETED, completed, about="deal"),
        Table("transaction_history", HISTORY, history, about="deal"),
        Table("confirmed_orders", CONFIRMED, confirmed, about="deal"),
    ]


def _stored_row(trade: Trade) -> list[str | int | None]:
    offer = trade.offer
    read_at = iso(trade.read.at) if trade.read else None
    statuses = [trade.customer_status, trade.business_status]
    total, items = total_cents(offer.proposal), describe_items(offer.proposal)
    return [trade.id, offer.business, offer.customer, total, *statuses, items, iso(trade.proposed.at), read_at]


def _history_row(trade: Trade, payment: Moment) -> list[str | int]:
    offer = trade.offer
    return [trade.id, offer.customer, offer.business, total_cents(offer.proposal), iso(payment.at)]


def _confirmed_row(trade: Trade) -> list[str | int]:
    offer = trade.offer
    items = describe_items(offer.proposal)
    return [trade.id, offer.business, offer.customer, total_cents(offer.proposal), items]


def deals(steps: Steps[State]) -> Sequence[Deal]:
    """Every proposal with the entries that belong to it, from the first message of its two sides to the confirmation.

    Where the two dealt with each other before, its entries begin after that purchase.
    """
    all_trades, messages = steps.derive(trades), steps.derive(Messages.of)
    purchase_ends: dict[Pair, list[int]] = {}
    for trade in all_trades:
        if trade.paid:
            end = trade.confirmation.index if trade.confirmation else trade.paid.entry
            insort(purchase_ends.setdefault((trade.offer.customer, trade.offer.business), []), end)
    deal_list: list[Deal] = []
    for trade in all_trades:
        ends = purchase_ends.get((trade.offer.customer, trade.offer.business), [])
        earlier = bisect_left(ends, trade.offer.index)
        deal_list.append(_deal(trade, messages, ends[earlier - 1] if earlier else 0, steps.final))
    return deal_list


def _deal(trade: Trade, messages: Messages, start: int, state: State) -> Deal:
    offer = trade.offer
    members = state.members
    return Deal(
        trade.id,
        offer.business,
        offer.customer,
        total_cents(offer.proposal),
        {"customer": trade.customer_status, "business": trade.business_status},
        tuple(sorted(_steps(trade, messages, start), key=lambda step: step.entry)),
        {id: name for id in (offer.customer, offer.business) if (name := members[id].name) and name != id},
    )


def _steps(trade: Trade, messages: Messages, start: int) -> list[DealStep]:
    """The entries of a deal, in no order."""
    offer, confirmation = trade.offer, trade.confirmation
    end = confirmation.index if confirmation else trade.paid.entry if trade.paid else offer.index
    pair = (offer.customer, offer.business)
    customer_texts, business_texts = (messages.texts.get(way, ()) for way in (pair, (offer.business, offer.customer)))
    texts = [*between(customer_texts, start, end), *between(business_texts, start, end)]
    first = min([offer.index, *(text.index for text in texts)])
    deal_steps = [step for step in messages.searches.get(pair, ()) if start < step.entry < first][-1:]
    deal_steps += [_mail_step(text, "message") for text in texts]
    deal_steps.append(_step(trade.proposed, "proposal", offer.business, describe_message(offer.proposal)))
    for business in (offer.business, ""):
        deal_steps += messages.refused.get((business, offer.proposal.id), ())
    if trade.read:
        deal_steps.append(_step(trade.read, "proposal read", offer.customer, "the customer reads the proposal"))
    if trade.paid:
        deal_steps.append(
            _step(trade.paid, "payment", offer.customer, f"pays {format_cents(total_cents(offer.proposal))}")
        )
    if trade.payment_read:
        deal_steps.append(_step(trade.payment_read, "payment read", offer.business, "the business reads the payment"))
    if confirmation:
        deal_steps.append(_mail_step(confirmation, "confirmation"))
        if confirmed := messages.reads.get(confirmation.index):
            deal_steps.append(
                _step(confirmed, "confirmation read", offer.customer, "the customer reads the confirmation")
            )
    return deal_steps


def _step(moment: Moment, stage: str, actor: str, text: str) -> DealStep:
    return DealStep(*moment, stage, actor, text)


def _mail_step(sent: Mail, stage: str) -> DealStep:
    return DealStep(sent.index, sent.at, stage, sent.sender, describe_message(sent.message))
