"""Mailboxes: delivery, and fetches that read nothing but the mail that they ask for."""

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from operator import attrgetter

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome, Turn
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import EMPTY_BOX, Fetched, Mail, State
from akinai.worlds.market.model.units import read_time
from akinai.worlds.market.rules.gates import CLOSED, conceal_sealed, seconds_sealed

CENT = Decimal("0.01")


def deliver(state: State, turn: Turn, to: str, message: a.Message) -> State:
    """Put a message into a mailbox."""
    mail = Mail.of(turn.seq, turn.at, turn.actor, to, message)
    boxes = state.boxes
    for key in ((to, ""), (to, turn.actor)):
        boxes = boxes.set(key, boxes.get(key, EMPTY_BOX).put(mail))
    member = state.members[to].moved(last_mail=turn.seq)
    return state.moved(boxes=boxes, members=state.members.set(to, member), delivered=state.delivered + 1)


def select(state: State, turn: Turn, action: a.FetchMessages) -> Fetched | None:
    """The mail that a fetch asks for as it is shown at its time, oldest first; None when `after` is no time.

    Its ends are found by bisection, so other mail costs nothing, however much there is.
    """
    owner = turn.actor
    box = state.box(owner, action.from_agent_id or "")
    start = 0
    if action.after_index is not None:
        start = box.first_above(action.after_index, attrgetter("index"))
    if action.after is not None:
        after = read_time(action.after)
        if after is None:
            return None
        start = max(start, box.first_above(after, attrgetter("at")))
    start += action.offset or 0
    end = len(box) if action.limit is None else min(start + action.limit, len(box))
    mails = conceal_sealed(state, turn.at, box[start:end])
    more = end < len(box) and start < len(box)
    return Fetched(turn, mails, more, f"[{','.join([mail.text for mail in mails])}]")


def selected(state: State, turn: Turn, action: a.FetchMessages) -> Fetched | None:
    """The mail that a fetch selected, from the state after it, which has it ready if that turn was the last fetch."""
    return state.fetched if state.fetched and state.fetched.turn is turn else select(state, turn, action)


def fetch(state: State, turn: Turn, action: a.FetchMessages) -> tuple[State, Outcome]:
    """Read mail. The entry keeps the count, the first and the last index and a digest; the texts are in the state.

    Refused as `bad_time` when `after` is no time.
    """
    actor = turn.actor
    selection = select(state, turn, action)
    if selection is None:
        return state, Outcome.refused("bad_time", f"after must be a time in ISO 8601, not {action.after!r:.100}")
    data: dict[str, Json] = {"count": len(selection.mails), "has_more": selection.has_more}
    if not selection.mails:
        return state, Outcome("No messages.", data=data)
    first, last = selection.mails[0].index, selection.mails[-1].index
    digest = hashlib.sha256(selection.text.encode()).hexdigest()
    data |= {"first": first, "last": last, "digest": digest}
    member = state.members[actor]
    members = state.members.set(actor, member.moved(seen=last)) if last > member.seen else state.members
    state = state.moved(members=members, fetched=selection)
    more = ", and there are more" if selection.has_more else ""
    count = (
        f"1 message, index {first}" if first == last else f"{len(selection.mails)} messages, index {first} to {last}"
    )
    return state, Outcome(f"{count}{more}.", data=data)


def render_fetch(state: State, turn: Turn, action: a.FetchMessages, recorded: Outcome) -> Outcome:
    """The outcome as the fetching agent sees it: the messages themselves."""
    selection = selected(state, turn, action)
    if selection is None or not selection.mails:
        return Outcome(recorded.text, data={"messages": [], "has_more": False})
    lines = [indent(f"[{mail.index}] from {mail.sender}: {describe_message(mail.message)}") for mail in selection.mails]
    metadata = fetch_metadata(state, turn, selection)
    if sealed := metadata.get("sealed_s"):
        lines.append(f"(Sealed bids are opened in {sealed} s; fetch them again then.)")
    more = ["(There are more.)"] if selection.has_more else []
    return Outcome("\n".join([*lines, *more]), data={"messages": [mail.json for mail in selection.mails], **metadata})


def fetch_metadata(state: State, turn: Turn, selection: Fetched) -> dict[str, Json]:
    """The data beside the messages: whether there are more, and the seconds until sealed bids among them open."""
    metadata: dict[str, Json] = {"has_more": selection.has_more}
    if any(is_sealed(mail) for mail in selection.mails):
        metadata["sealed_s"] = seconds_sealed(state, turn.actor, turn.at)
    return metadata


def price(amount: object) -> str:
    """Dollars of the wire for a reader: with cents, and with more decimals only where more were sent. A value that is
    no number is written as it is."""
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        return str(amount)
    exact = Decimal(repr(amount))
    return f"${exact:.2f}" if exact == exact.quantize(CENT) else f"${exact:f}"


def indent(text: str) -> str:
    """Text of somebody else, its lines indented so that none of them passes for one of the market's own."""
    return "\n    ".join(text.splitlines())


def is_sealed(mail: Mail) -> bool:
    """Whether a mail of a fetch stands for a sealed bid."""
    return mail.message is CLOSED


def describe_items(proposal: a.OrderProposal) -> str:
    """The lines of a proposal for a reader: "1 x Tea at $3.00; 2 x Cake at $4.00"."""
    return "; ".join(f"{item.quantity} x {item.item_name} at {price(item.unit_price)}" for item in proposal.items)


def describe_message(message: a.Message) -> str:
    """A message for a reader."""
    match message:
        case a.Text():
            return message.content
        case a.Payment():
            note = f" ({message.payment_message})" if message.payment_message else ""
            return f"payment of proposal {message.proposal_message_id}{note}"
        case a.OrderProposal():
            extras: Mapping[str, str | None] = {
                "expires": message.expiry_time,
                "delivery": message.estimated_delivery,
                "note": message.special_instructions,
            }
            notes = "".join(f"; {name} {value}" for name, value in extras.items() if value)
            return f"order proposal {message.id}: {describe_items(message)}. Total {price(message.total_price)}{notes}"
