"""The rules of messages, proposals and payments. A refused message is never delivered, and the state is as it was."""

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome, Turn
from akinai.core.money import format_cents
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import KeyedMessage, Offer, State
from akinai.worlds.market.model.units import prices, read_time, total_cents, total_is_off
from akinai.worlds.market.rules import gates, mail, members, views
from akinai.worlds.market.search import Listing, Page, find

MESSAGE_BYTES = 65_536
KEY = "idempotency_key"

Result = tuple[State, Outcome]

_MISMATCH = Outcome.refused(
    "idempotency_mismatch",
    "The idempotency_key was used for another message, which was sent; give this message a key of its own",
)


def apply(state: State, turn: Turn) -> Result:
    """Apply the rule of the action's verb."""
    # fmt: off
    match turn.action:
        case a.Register() as action: return members.register(state, turn.actor, action)
        case a.SendMessage() as action: return send_message(state, turn, action)
        case a.FetchMessages() as action: return mail.fetch(state, turn, action)
        case a.Search() as action: return search(state, turn.actor, action)
        case a.Wait(): return state, views.begin_wait(state, turn.actor)
        case a.Leave(): return state, Outcome("You left the market.")
        case _: raise TypeError(f"{type(turn.action).__name__} is no verb of the market")
    # fmt: on


def invalid(reason: str, text: str) -> Outcome:
    """A refusal about a proposal: one code for all on the wire, with the reason as data."""
    return Outcome.refused("invalid_proposal", text, {"reason": reason})


def send_message(state: State, turn: Turn, action: a.SendMessage) -> Result:
    """Deliver a message if all rules of its kind hold.

    Refused as `wrong_sender` under another's name, `bad_key` for a key that is no text, `unknown_recipient`,
    `too_large` above 64 KiB, `wrong_role` for a customer's proposal or a business's payment, and `invalid_proposal`
    by the rules of proposals and payments. A repeated key is answered as it was the first time, and nothing is done;
    with another recipient or message it is refused as `idempotency_mismatch`.
    """
    key, sender, to = action.metadata.get(KEY), turn.actor, action.to_agent_id
    if action.from_agent_id not in (None, sender):
        return state, Outcome.refused("wrong_sender", f"You are {sender!r:.100}; a message cannot be from another")
    if key is not None and (not isinstance(key, str) or len(key) > 500):
        return state, Outcome.refused("bad_key", "The idempotency_key must be text of at most 500 characters")
    if key is not None and (earlier := state.answers.get((sender, key))):
        return state, earlier.outcome if earlier.is_for(action) else _MISMATCH
    if not ((recipient := state.members.get(to)) and recipient.registered):
        return state, Outcome.refused("unknown_recipient", f"to_agent_id {to:.500} not found")
    if _is_too_large(action.message):
        return state, Outcome.refused("too_large", f"The message is above {MESSAGE_BYTES:,} bytes; shorten it")
    after, outcome = _by_kind(state, turn, to, action.message)
    if not outcome.ok:
        return state, outcome
    if key is not None:
        after = after.moved(answers=after.answers.set((sender, key), KeyedMessage(to, action.message, outcome)))
    return mail.deliver(after, turn, to, action.message), outcome


def _is_too_large(message: a.Message) -> bool:
    # A character is at most six bytes of JSON: of the many short texts none has to be encoded.
    if isinstance(message, a.Text) and len(message.content) * 6 < MESSAGE_BYTES - 100:
        return False
    return len(message.model_dump_json().encode()) > MESSAGE_BYTES


def _by_kind(state: State, turn: Turn, to: str, message: a.Message) -> Result:
    match message:
        case a.Text():
            return state, Outcome("Sent.", data={"index": turn.seq})
        case a.OrderProposal():
            return propose(state, turn, to, message)
        case a.Payment():
            return pay(state, turn, to, message)


def propose(state: State, turn: Turn, customer: str, proposal: a.OrderProposal) -> Result:
    """Make a proposal, which the customer may pay. Oddities that the market allows are in the outcome as flags.

    Refused as `wrong_role` or `invalid_proposal`: the id is used; in a strict market, a total that is not the sum of
    its items or an expiry time that is no time. By the gates as `not_posted` or `sealed`.
    """
    business = turn.actor
    if state.members[business].role == "customer":
        return state, Outcome.refused("wrong_role", "Only a business may make a proposal")
    if (business, proposal.id) in state.offers:
        return state, invalid("duplicate", "Proposal id is already used")
    expires = read_time(proposal.expiry_time) if proposal.expiry_time is not None else None
    flags: dict[str, str] = {}
    if total_is_off(proposal):
        flags["wrong_total"] = "Total price is not the sum of the items"
    if proposal.expiry_time is not None and expires is None:
        flags["no_time"] = "Expiry time is not a time"
    if flags and state.setup.policy == "strict":
        return state, invalid(*next(iter(flags.items())))
    if refused := gates.refuse_proposal(state, turn, customer, proposal):
        return state, refused
    offer = Offer(turn.seq, business, customer, proposal, expires)
    makers = state.makers if proposal.id in state.makers else state.makers.set(proposal.id, business)
    state = state.moved(offers=state.offers.set((business, proposal.id), offer), makers=makers)
    data: dict[str, Json] = {"index": turn.seq, **({"flags": list(flags)} if flags else {})}
    return gates.record_bid(state, turn, customer), Outcome(f"Sent: proposal {proposal.id:.500}.", data=data)


def pay(state: State, turn: Turn, business: str, payment: a.Payment) -> Result:
    """Pay a proposal. It is checked and booked at one instant, so that only one of several payments succeeds.

    Refused as `wrong_role` or `invalid_proposal`, with the reason; by the gates as `not_yet`.
    """
    customer = turn.actor
    if state.members[customer].role == "business":
        return state, Outcome.refused("wrong_role", "Only a customer may pay")
    offer = state.offers.get((business, payment.proposal_message_id))
    if offer is None:
        if payment.proposal_message_id in state.makers:
            return state, invalid("other_business", "Proposal is not from this business")
        return state, invalid("unknown", "No valid proposal found with this ID")
    if offer.customer != customer:
        return state, invalid("other_customer", "Proposal was made to another customer")
    if offer.paid:
        return state, invalid("paid", "Proposal is already paid")
    if offer.expires is not None and turn.at > offer.expires:
        return state, invalid("expired", "Proposal has expired")
    if refused := gates.refuse_payment(state, turn):
        return state, refused
    cents = total_cents(offer.proposal)
    return _book(state, turn, offer, cents), Outcome(
        f"Paid {format_cents(cents)} to {business}.", data={"index": turn.seq}
    )


def _book(state: State, turn: Turn, offer: Offer, cents: int) -> State:
    paid = Offer(offer.index, offer.business, offer.customer, offer.proposal, offer.expires, turn.seq)
    members = state.members
    payer = members[offer.customer]
    payer = payer.moved(purchases=payer.purchases + 1, paid_cents=payer.paid_cents + cents)
    members = members.set(payer.id, payer)
    payee = members[offer.business]
    members = members.set(payee.id, payee.moved(received_cents=payee.received_cents + cents))
    return state.moved(
        members=members,
        offers=state.offers.set((offer.business, offer.proposal.id), paid),
        payments=state.payments + 1,
        booked_cents=state.booked_cents + cents,
    )


def search(state: State, actor: str, action: a.Search) -> Result:
    """Find businesses. The entry keeps their ids; their profiles are in the state.

    Refused as `wrong_role` when an agent that is no customer asks for the algorithm `optimal`.
    """
    if action.search_algorithm == "optimal" and state.members[actor].role != "customer":
        return state, Outcome.refused("wrong_role", "The algorithm 'optimal' is for customers; choose another")
    page = results_page(state, actor, action)
    data: dict[str, Json] = {"businesses": list(page.ids), **counts(action, page)}
    pages = f", page {action.page} of {page.pages}" if page.pages > 1 else ""
    return state, Outcome(f"{page.results} businesses{pages}: {', '.join(page.ids) or 'none here'}.", data=data)


def results_page(state: State, actor: str, action: a.Search) -> Page:
    """The page of results of an actor's search."""
    items = prices(state.members[actor].data) if action.search_algorithm == "optimal" else {}
    return find(state.catalogue, action, frozenset(items), state.setup.search.limit)


def render_search(state: State, actor: str, action: a.Search, recorded: Outcome) -> Outcome:
    """The outcome as the searching agent sees it: the profiles themselves."""
    page = results_page(state, actor, action)
    more = f"; page {action.page} of {page.pages}" if page.pages > 1 else ""
    lines = [f"{page.results} found{more}.", *(state.catalogue.line(id, _words) for id in page.ids)]
    return Outcome("\n".join(lines), data=page_json(state, action, page))


def page_json(state: State, action: a.Search, page: Page) -> dict[str, Json]:
    """A page of results as the wire gives it."""
    return {"businesses": [state.catalogue.by_id[id].public for id in page.ids], **counts(action, page)}


def counts(action: a.Search, page: Page) -> dict[str, Json]:
    return {
        "search_algorithm": action.search_algorithm,
        "total_possible_results": page.results,
        "total_pages": page.pages,
    }


def _words(listing: Listing) -> str:
    menu = "; ".join(f"{item} {mail.price(price)}" for item, price in listing.menu.items())
    has = "; ".join(sorted(listing.amenities))
    header = f"- {listing.id}: {listing.name}, rating {listing.rating}. {listing.description}"
    return f"{mail.indent(header)}\n  Menu: {mail.indent(menu) or 'nothing'}\n  Amenities: {mail.indent(has) or 'none'}"
