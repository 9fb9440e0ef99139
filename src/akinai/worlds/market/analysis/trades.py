"""Trades: every proposal of a market with the entries in which it was read, paid and confirmed, from the record."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from akinai.core.findings import DealStep
from akinai.core.steps import Step, Steps
from akinai.worlds.market.analysis.actions import MarketRecord
from akinai.worlds.market.analysis.scores import proposals
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import Mail, Offer, State
from akinai.worlds.market.rules import mail

Status = Literal["unread", "pending", "accepted", "expired"]
"""The status of a proposal for one side. A customer accepts it by paying, a business by reading the payment; it is
unread until the customer reads it, and expired if it can no longer be paid at the end of the record."""
Pair = tuple[str, str]
"""Customer and business."""


class Moment(NamedTuple):
    """An entry and its time."""

    entry: int
    at: int
    """Microseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Trade:
    """A proposal and its later stages; a stage is None where the record does not show it."""

    id: str
    """The proposal's id; with its business, as "business/id", where several businesses used it."""
    offer: Offer
    proposed: Moment
    read: Moment | None
    """The first fetch that showed it to its customer."""
    paid: Moment | None
    payment_read: Moment | None
    """The business's first fetch of the payment."""
    confirmation: Mail | None
    """The business's first text to the customer after `payment_read` that names the proposal; otherwise its first that
    names no proposal, if it came before the business's next proposal to this customer."""
    expired: bool

    @property
    def customer_status(self) -> Status:
        if self.paid:
            return "accepted"
        return "expired" if self.expired else "pending" if self.read else "unread"

    @property
    def business_status(self) -> Status:
        return "accepted" if self.payment_read else "expired" if self.expired else "pending"


@dataclass(slots=True)
class Messages:
    """Messages sent and read in a record, gathered in one pass. No step is held."""

    reads: dict[int, Moment] = field(default_factory=dict[int, Moment])
    """By the index of a message, the first fetch that showed it as it was sent."""
    texts: dict[Pair, list[Mail]] = field(default_factory=dict[Pair, list[Mail]])
    """Texts between two agents, by sender and recipient, in the order of arrival."""
    refused: dict[Pair, list[DealStep]] = field(default_factory=dict[Pair, list[DealStep]])
    """Refused payments, by the business, "" where it never used the id, and the proposal id that they name."""
    searches: dict[Pair, list[DealStep]] = field(default_factory=dict[Pair, list[DealStep]])
    """Searches that showed a business, by customer and business."""

    @staticmethod
    def of(steps: Steps[State]) -> "Messages":
        messages = Messages()
        for step in steps:
            messages._add(step)
        return messages

    def _add(self, step: Step[State]) -> None:
        actor, outcome = step.turn.actor, step.outcome
        moment = Moment(step.entry.seq, step.entry.at)
        match step.turn.action:
            case a.FetchMessages() as action if step.outcome.ok:
                fetched = mail.selected(step.after, step.turn, action)
                for received in fetched.mails if fetched else ():
                    if not mail.is_sealed(received):
                        self.reads.setdefault(received.index, moment)
            case a.SendMessage(message=a.Payment() as payment, to_agent_id=to) if not outcome.ok:
                id = payment.proposal_message_id
                refused = DealStep(*moment, "payment refused", actor, outcome.text, outcome.code)
                self.refused.setdefault((to if (to, id) in step.after.offers else "", id), []).append(refused)
            case a.SendMessage(message=a.Text(), to_agent_id=to) if step.outcome.ok:
                # The answer to a repeated idempotency key holds the index of the first message.
                if outcome.fields.get("index") == step.entry.seq:
                    self.texts.setdefault((actor, to), []).append(step.after.box(to, actor)[-1])
            case a.Search() as search if outcome.ok:
                searched = DealStep(*moment, "search", actor, f"searches for {search.query!r}")
                for business in outcome.fields.get("businesses", ()):
                    self.searches.setdefault((actor, str(business)), []).append(searched)
            case _:
                pass


def trades(steps: Steps[State]) -> Sequence[Trade]:
    """All delivered proposals with their stages, in the order of delivery."""
    messages, record = steps.derive(Messages.of), steps.derive(MarketRecord.of)
    end, shared = record.state, shared_ids(record.state)
    by_pair: dict[Pair, list[Offer]] = {}
    for offer in proposals(end):
        by_pair.setdefault((offer.customer, offer.business), []).append(offer)
    unordered: list[Trade] = []
    for (customer, business), offers in by_pair.items():
        confirmations = Confirmations.of(offers, messages.texts.get((business, customer), ()))
        following = [offer.index for offer in offers[1:]]
        for offer, next_index in zip(offers, [*following, None], strict=True):
            payment_read = messages.reads.get(offer.paid) if offer.paid else None
            unordered.append(
                Trade(
                    deal_id(offer.business, offer.proposal.id, shared),
                    offer,
                    Moment(offer.index, end.proposed_at(offer)),
                    messages.reads.get(offer.index),
                    Moment(offer.paid, end.paid_at(offer)) if offer.paid else None,
                    payment_read,
                    confirmations.find(offer, payment_read.entry, next_index) if payment_read else None,
                    not offer.paid and offer.expires is not None and offer.expires < record.ended,
                )
            )
    return sorted(unordered, key=lambda trade: trade.offer.index)


def shared_ids(state: State) -> frozenset[str]:
    """Proposal ids that several businesses used."""
    counts = Counter(id for _, id in state.offers)
    return frozenset(id for id, count in counts.items() if count > 1)


def deal_id(business: str, id: str, shared: frozenset[str]) -> str:
    """The id of a proposal in a whole market: where several businesses used it, "business/id"."""
    return f"{business}/{id}" if id in shared else id


@dataclass(frozen=True, slots=True)
class Confirmations:
    """The texts of a business to a customer, by the proposals that they name."""

    naming: Mapping[str, Sequence[Mail]]
    """By proposal id."""
    plain: Sequence[Mail]
    """Texts that name no proposal."""

    @staticmethod
    def of(offers: Sequence[Offer], texts: Sequence[Mail]) -> "Confirmations":
        ids = "|".join(re.escape(offer.proposal.id) for offer in offers)
        pattern = re.compile(rf"(?<![\w-])(?:{ids})(?![\w-])")
        naming, plain = dict[str, list[Mail]](), list[Mail]()
        for text in texts:
            assert isinstance(text.message, a.Text)
            named = set(pattern.findall(text.message.content))
            for id in named:
                naming.setdefault(id, []).append(text)
            if not named:
                plain.append(text)
        return Confirmations(naming, plain)

    def find(self, offer: Offer, after: int, next_proposal: int | None) -> Mail | None:
        """The confirmation of a proposal whose payment was read in the entry `after`."""
        if named := first_after(self.naming.get(offer.proposal.id, ()), after):
            return named
        unnamed = first_after(self.plain, after)
        return None if unnamed and next_proposal is not None and unnamed.index > next_proposal else unnamed


def first_after(mails: Sequence[Mail], index: int) -> Mail | None:
    """The first mail that came after an index."""
    position = bisect_right(mails, index, key=lambda mail: mail.index)
    return mails[position] if position < len(mails) else None


def between(mails: Sequence[Mail], after: int, before: int) -> Sequence[Mail]:
    """Mails whose index lies between two, both excluded."""
    start = bisect_right(mails, after, key=lambda mail: mail.index)
    return mails[start : bisect_left(mails, before, key=lambda mail: mail.index)]
