"""The passing of time: deliveries at their hour, midnight with its accounts, the morning with its mail and notice."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model.actions import WaitUntil
from akinai.worlds.vending.model.state import DAY_MINUTES, OPENING, Book, State, clock
from akinai.worlds.vending.rules import customers, deliveries, mail, trade

Result = tuple[State, Outcome]


class Passage(NamedTuple):
    """The result of passing time: the state after it, and the notice of a morning that came."""

    state: State
    notice: str = ""
    data: Mapping[str, Json] | None = None
    """The notice as data, for programs."""


def pass_time(state: State, until: int, *, away: bool = False) -> Passage:
    """Let time pass up to the minute `until`, at most one midnight later, or to the end of the owner's business.

    Time is the street's: what is due meanwhile is due for every owner whose business goes on. While the owner is
    `away`, out or asleep, nobody signs for its goods; the other owners are at their storage.
    """
    notice, data, advance = "", None, _advance_all if state.other_businesses else _advance_owner
    while state.minute < until and state.ending is None:
        midnight = (state.minute // DAY_MINUTES + 1) * DAY_MINUTES
        morning = midnight - DAY_MINUTES + OPENING
        moments = (trade.next_block_minute(state), deliveries.next_arrival(state))
        stop = min(until, midnight, *(minute for minute in moments if minute is not None))
        stop = min(stop, morning) if state.minute < morning else stop
        state = advance(state, stop, midnight, away)
        if stop == morning:
            notice, data = morning_notice(state)
    return Passage(state, notice, data)


def _advance_all(state: State, stop: int, midnight: int, away: bool) -> State:
    """Let every owner in business reach a minute. Owners who did not act keep the notice of a morning for later."""
    acting = state.owner
    for owner in state.owners:
        state = state.turned_to(owner)
        if state.ending is None:
            state = _advance_owner(state, stop, midnight, away and owner == acting)
            if stop % DAY_MINUTES == OPENING and owner != acting:
                state = state.moved(notices=(*state.notices, morning_notice(state)[0]))
    return state.turned_to(acting)


def _advance_owner(state: State, stop: int, midnight: int, away: bool) -> State:
    """Let the owner in front reach a minute at which something is due, or the midnight that closes the day."""
    if stop == midnight:
        return trade.close_day(state, stop)
    state, morning = state.moved(minute=stop), stop % DAY_MINUTES == OPENING
    if morning:
        state = customers.morning_letters(deliveries.announce_delays(state))
    state = trade.book_blocks(deliveries.arrive(state, away=away))
    return deliveries.arrive(mail.morning_post(state), away=away) if morning else state


def spend(state: State, outcome: Outcome, minutes: int, *, away: bool = False) -> Result:
    """Let a tool's minutes pass after its effect. The outcome includes the notice of a morning that comes meanwhile."""
    if not minutes:
        return state, outcome
    until = state.minute + minutes
    if state.setup.closing_hour < 24:
        until = min(until, state.minute - state.minute_of_day + state.setup.closing_hour * 60)
    passage = pass_time(state, until, away=away)
    after = passage.state
    signed = deliveries.signed_text(state, after)
    parts = [outcome.text, signed, f"[{clock(state.setup, after.minute)}]", passage.notice, _end_text(after)]
    return after, Outcome("\n".join(filter(None, parts)), data=outcome.data)


def with_notices(state: State, outcome: Outcome) -> Result:
    """Begin an owner's outcome with the notices of the mornings that came while other owners acted."""
    return state.moved(notices=()), replace(outcome, text="\n\n".join((*state.notices, outcome.text)))


def advance_day(state: State) -> Result:
    """Let time pass until the next 08:00. Between midnight and 08:00 that closes no day."""
    passed = state.minute % DAY_MINUTES
    until = state.minute - passed + (OPENING if passed < OPENING else DAY_MINUTES + OPENING)
    passage = pass_time(state, until, away=True)
    text = passage.notice or _end_text(passage.state)
    return passage.state, Outcome(text, data=passage.data)


def wait_until(state: State, action: WaitUntil) -> Result:
    """Let time pass until an hour of today.

    Refused as `too_late` when it is that hour or later, `no_hours` in a run whose clock only knows mornings.
    """
    if not state.setup.tool_time:
        return state, Outcome.refused(
            "no_hours", "this clock knows only mornings" + state.setup.hint("; advance the day instead")
        )
    until = state.minute - state.minute_of_day + min(action.hour, state.setup.closing_hour) * 60
    if until <= state.minute:
        text = f"it is {clock(state.setup, state.minute)} already"
        text += state.setup.hint("; wait for a later hour or advance the day")
        return state, Outcome.refused("too_late", text)
    passage = pass_time(state, until)
    parts = [f"[{clock(state.setup, until)}]", deliveries.signed_text(state, passage.state), passage.notice]
    return passage.state, Outcome("\n".join(part for part in parts if part))


def _end_text(state: State) -> str:
    match state.ending:
        case "bankrupt":
            return f"The fee was not paid on {state.missed} days in a row: the business is closed."
        case "horizon":
            return f"Day {state.closed_days} is over, and with it the {state.setup.days} days of this business."
        case None:
            return ""


def morning_notice(state: State) -> tuple[str, Mapping[str, Json]]:
    """The owner's morning notice, as text and data: yesterday's sales and money, the fee, new mail, the weather."""
    setup, book, names = state.setup, state.book, state.setup.catalog.by_id
    weather, unread = state.economy.today(state.day).weather, len(state.mail.unread) + len(state.unwritten)
    of = f" of {setup.days}" if setup.days else ""
    lines = [f"Good morning. It is {clock(setup, state.minute)}, day {state.day}{of}. Weather: {weather}."]
    data: dict[str, Json] = {"day": state.day, "weather": weather, "unread": unread}
    if book is not None:
        sold = [f"{n} {names[p].name} at {format_cents(book.prices[p])}" for p, n in book.sold.items() if n]
        where, more = ([], {}) if setup.street.alone else trade.sales_lines(state)
        lines += where
        lines.append(f"Sold yesterday: {', '.join(sold) or 'nothing'}. Income: {format_cents(book.income_cents)}.")
        if book.empty:
            lines.append(f"Sold out: {', '.join(names[product].name for product in book.empty)}.")
        if book.spoiled:
            lost = ", ".join(f"{units} {names[product].name}" for product, units in book.spoiled.items())
            lines.append(f"Spoiled and thrown away: {lost} (they had cost {format_cents(book.spoiled_cents)}).")
        lines.append(_fee_line(state, book))
        data |= {
            "sold": {product: units for product, units in book.sold.items() if units},
            "income_cents": book.income_cents,
            "spoiled": book.spoiled,
            "fee_cents": book.fee_cents,
            "fee_missed": not book.fee_met,
            **more,
        }
    lines.append(f"New mail: {unread} letter{'' if unread == 1 else 's'}.")
    return "\n".join(lines), data


def _fee_line(state: State, book: Book) -> str:
    fee, limit = format_cents(state.setup.fee_cents), state.setup.missed_fees
    if book.fee_met:
        return f"Daily fee: {fee} paid."
    return f"Daily fee: {fee} could not be paid, {state.missed} in a row; at {limit} the business is closed."
