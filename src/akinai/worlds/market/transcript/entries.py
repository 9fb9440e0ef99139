"""The entries of a market in words, and its participants and proposals after an entry."""

from akinai.core.actions import Unreadable
from akinai.core.canonical import Json
from akinai.core.money import format_cents
from akinai.core.presentation.transcript import Block, EntryView, Figure, Letter, Listing, Passage, Place, Sheet
from akinai.core.steps import Step, Steps
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import Offer, State
from akinai.worlds.market.model.units import dollars, iso, total_cents
from akinai.worlds.market.rules import mail


def named(state: State, id: str) -> str:
    """A participant's name, or its id without one."""
    member = state.members.get(id)
    return member.name or id if member else id


def show(steps: Steps[State], index: int) -> EntryView:
    """An entry: a message, proposal, payment, fetch or search."""
    step = steps[index]
    # fmt: off
    match step.turn.action:
        case a.SendMessage() as action: return _sent(step, action)
        case a.FetchMessages() as action: return _read(step, action)
        case a.Search() as action: return _searched(step, action)
        case a.Register(): return EntryView("enter", "Entered the market", outcome=False)
        case a.Wait() as action: return EntryView("wait", f"Waited for mail{_seconds(action.seconds)}", outcome=False)
        case a.Leave() as action: return EntryView("leave", f"Left: {action.reason}" if action.reason else "Left")
        case Unreadable(text=text):
            return EntryView("unreadable", "Wrote what holds no action", (Passage("reply", text),))
        case action: return EntryView("other", action.tool_name().replace("_", " "))
    # fmt: on


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f", at most {seconds:g} s"


def _sent(step: Step[State], action: a.SendMessage) -> EntryView:
    to, message = named(step.before, action.to_agent_id), action.message
    failed = not step.outcome.ok
    match message:
        case a.Text():
            letter = Letter(named(step.before, step.turn.actor), to, "", message.content)
            return EntryView("message", f"Wrote to {to}", (letter,), outcome=failed)
        case a.OrderProposal():
            total = format_cents(total_cents(message))
            return EntryView("proposal", f"Proposed to {to}: {total}", (proposal_sheet(message),), outcome=failed)
        case a.Payment():
            offer = step.before.offers.get((action.to_agent_id, message.proposal_message_id))
            amount = format_cents(total_cents(offer.proposal)) if offer else message.proposal_message_id
            note = (Passage("note", message.payment_message),) if message.payment_message else ()
            verb = "Tried to pay" if failed else "Paid"
            return EntryView("payment", f"{verb} {to}: {amount}", note, outcome=failed)


def proposal_sheet(proposal: a.OrderProposal) -> Sheet:
    """A proposal as a sheet."""
    rows = tuple((item.item_name, item.quantity, _cents(item.unit_price)) for item in proposal.items)
    notes = (proposal.special_instructions, proposal.estimated_delivery, proposal.expiry_time)
    heads = {"item": "", "units": "units", "unit price": "cents"}
    note = "; ".join(filter(None, notes))
    return Sheet("proposal", heads, rows, f"Proposal {proposal.id}", total_cents(proposal), note=note)


def _cents(price: float) -> float:
    return float(dollars(price) * 100)


def _read(step: Step[State], action: a.FetchMessages) -> EntryView:
    selection = mail.selected(step.after, step.turn, action) if step.outcome.ok else None
    letters: list[Block] = []
    for received in selection.mails if selection else ():
        sender, to = named(step.after, received.sender), named(step.after, received.to)
        text = mail.describe_message(received.message)
        letters.append(Letter(sender, to, "", text, received.index, iso(received.at), received.index))
    count = f"{len(letters) or 'no'} message{'' if len(letters) == 1 else 's'}"
    return EntryView("inbox", f"Read {count}", tuple(letters), outcome=not step.outcome.ok)


def _searched(step: Step[State], action: a.Search) -> EntryView:
    ids = [str(id) for id in step.entry.outcome.fields.get("businesses", ())]
    rows = tuple((rank, named(step.after, id), id) for rank, id in enumerate(ids, 1))
    sheet = (Sheet("results", {"place": "count", "business": "", "id": ""}, rows),) if rows else ()
    summary = f'Searched for "{action.query}"' if action.query.strip() else "Looked at all businesses"
    return EntryView("search", f"{summary}: {len(ids)} found", sheet, outcome=not step.outcome.ok)


def place_of(state: State, before: State | None, previous: Place | None) -> Place:
    """Participants and proposals after an entry."""
    figures = (
        Figure("messages", "messages", state.delivered, "messages"),
        Figure("proposals", "proposals", len(state.offers), "proposals"),
        Figure("payments", "paid", state.payments, "payments"),
        Figure("paid_cents", "money paid", state.booked_cents, "cents"),
        Figure("customers_left", "customers still there", state.customers_left, "customers"),
    )
    if before is None or previous is None:
        return Place(figures, (), (_members(state), _offers(state)))
    members, offers = previous.listings
    if state.members is not before.members:
        members = _members(state)
    if state.offers is not before.offers:
        offers = _offers(state)
    return Place(figures, (), (members, offers))


def _members(state: State) -> Listing:
    rows: dict[str, tuple[Json, ...]] = {}
    for id, member in sorted(state.members.items()):
        where = member.done or ("asleep" if member.asleep else "in the market" if member.registered else "not yet here")
        cents = member.received_cents if member.role == "business" else member.paid_cents
        rows[id] = (member.name or id, member.role, where, cents, member.purchases)
    heads = {"name": "", "side": "", "state": "", "money": "cents", "purchases": "count"}
    return Listing("participants", "Participants", heads, rows)


def _offers(state: State) -> Listing:
    offers = sorted(state.offers.values(), key=lambda offer: offer.index)
    rows: dict[str, tuple[Json, ...]] = {str(offer.index): _offer_row(state, offer) for offer in offers}
    heads = {"seller": "", "buyer": "", "total": "cents", "state": ""}
    return Listing("proposals", "Proposals", heads, rows)


def _offer_row(state: State, offer: Offer) -> tuple[Json, ...]:
    paid = "paid" if offer.paid else "open"
    return (named(state, offer.business), named(state, offer.customer), total_cents(offer.proposal), paid)
