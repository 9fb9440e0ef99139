"""The forms of a person in a market: whom to write to, what to search for, and proposals to pay."""

from collections import Counter
from collections.abc import Collection

from akinai.core.money import format_cents
from akinai.core.presentation.desk import Choice, Desk, Draft, FormGroup, Pick
from akinai.worlds.market.model.state import Member, Offer, State
from akinai.worlds.market.model.units import total_cents
from akinai.worlds.market.transcript.entries import named

GROUPS = (
    FormGroup("Market", ("register", "search", "fetch_messages", "send_message", "wait")),
    FormGroup("Go", ("leave",)),
)
ABOUTS = {
    "send_message": "Write to somebody, or pay a proposal. A payment pays the whole proposal, and is final.",
    "search": "Search for businesses by words, such as the names of items.",
    "fetch_messages": "Read your messages, oldest first.",
    "wait": "Do nothing until new mail comes, or until the given seconds have passed.",
}
TECHNICAL = frozenset(
    {"after_index", "limit", "page", "search_algorithm", "constraints", "payment_method", "delivery_address", "profile",
     "special_instructions", "estimated_delivery", "expiry_time"}
)  # fmt: skip
LABELS = {
    "register": "Enter the market", "fetch_messages": "Read messages", "send_message": "Write", "wait": "Wait",
    "search": "Search", "leave": "Leave for good",
}  # fmt: skip
PATIENCE_S = 60


def desk_of(state: State, actor: str, met: Collection[str]) -> Desk:
    """The desk of a participant; proposals that it has read can be paid."""
    member = state.members.get(actor)
    if member is None:
        return Desk(GROUPS, labels=LABELS, abouts=ABOUTS, without=TECHNICAL)
    others = {"customer": "order_proposal", "business": "payment"}.get(member.role, "")
    picks = (*_partners(state, actor, met), _proposals(state, member), Pick(("content",), "Text", (), free=True))
    return Desk(
        GROUPS, "" if member.registered else "register", LABELS, ABOUTS, TECHNICAL | {others}, picks,
        drafts=_drafts(state, member),
    )  # fmt: skip


def _partners(state: State, actor: str, met: Collection[str]) -> tuple[Pick, ...]:
    """The agents that the actor met, by name: those that wrote to it, and those that a search gave."""
    senders = {mail.sender for mail in state.box(actor)}
    ids = sorted(senders | {id for id in met if id in state.members and id != actor})
    names = Counter(named(state, id) for id in ids)
    people = tuple(Choice((id,), name if names[name := named(state, id)] == 1 else f"{name} ({id})") for id in ids)
    return (Pick(("to_agent_id",), "To", people, free=True), Pick(("from_agent_id",), "From", people, free=True))


def _proposals(state: State, member: Member) -> Pick:
    """The proposals that a customer can pay."""
    offers = [] if member.role != "customer" else _open_offers(state, member)
    choices = [
        Choice((offer.proposal.id,), f"{format_cents(total_cents(offer.proposal))}, {named(state, offer.business)}")
        for offer in offers
    ]
    return Pick(("proposal_message_id",), "Proposal", tuple(choices))


def _drafts(state: State, member: Member) -> tuple[Draft, ...]:
    wait = Draft("wait", "Wait a minute", {"seconds": PATIENCE_S})
    if member.role != "customer":
        return (wait,)
    items = ", ".join(map(str, member.data.get("menu_features") or ()))
    request = str(member.data.get("request") or "")
    return (
        Draft("search", "Search for what you want", {"query": items}),
        Draft("send_message", "Ask for an offer", {"message": {"type": "text", "content": request}}),
        wait,
        *(_payment(state, offer) for offer in _open_offers(state, member)),
    )


def _open_offers(state: State, member: Member) -> list[Offer]:
    """Proposals to a customer that it has read, not paid and not expired, the cheapest first."""
    offers = [
        offer
        for offer in state.offers.values()
        if offer.customer == member.id and not offer.paid and offer.index <= member.seen
        and (offer.expires is None or state.at <= offer.expires)
    ]  # fmt: skip
    return sorted(offers, key=lambda offer: (total_cents(offer.proposal), offer.index))


def _payment(state: State, offer: Offer) -> Draft:
    price = format_cents(total_cents(offer.proposal))
    message = {"type": "payment", "proposal_message_id": offer.proposal.id}
    label = f"Pay {price} to {named(state, offer.business)}"
    return Draft("send_message", label, {"to_agent_id": offer.business, "message": message}, final=True)
