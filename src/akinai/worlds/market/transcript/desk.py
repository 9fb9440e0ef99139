"""The forms of a person in a market: whom to write to, what to search for, and proposals to pay."""

from akinai.core.money import format_cents
from akinai.core.presentation.desk import Choice, Desk, Draft, FormGroup, Pick
from akinai.worlds.market.model.state import Member, Offer, State
from akinai.worlds.market.model.units import total_cents
from akinai.worlds.market.transcript.entries import named

GROUPS = (
    FormGroup("Market", ("register", "search", "fetch_messages", "send_message", "wait")),
    FormGroup("Go", ("leave",)),
)
LABELS = {
    "register": "Enter the market", "fetch_messages": "Read messages", "send_message": "Write", "wait": "Wait",
    "search": "Search", "leave": "Leave for good",
}  # fmt: skip
PATIENCE_S = 60


def desk_of(state: State, actor: str) -> Desk:
    """The desk of a participant; proposals that it has read can be paid."""
    member = state.members.get(actor)
    if member is None:
        return Desk(GROUPS, labels=LABELS)
    return Desk(
        GROUPS, "" if member.registered else "register", LABELS, (_partners(state, actor),), {}, _drafts(state, member)
    )


def _partners(state: State, actor: str) -> Pick:
    """The agents that wrote to the actor, as recipients."""
    senders = dict.fromkeys(mail.sender for mail in state.box(actor).by_position.values())
    choices = [Choice((id,), named(state, id)) for id in sorted(senders)]
    return Pick(("to_agent_id",), "To", tuple(choices), free=True)


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
