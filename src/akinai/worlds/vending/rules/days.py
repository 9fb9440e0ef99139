"""The passing of time: deliveries at their hour, midnight with its accounts, the morning with its mail and notice."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model.actions import WaitUntil
from akinai.worlds.vending.model.state import DAY_MINUTES, OPENING, Book, Result, State, clock
from akinai.worlds.vending.rules import customers, deliveries, mail, rivals, shocks, trade


class Passage(NamedTuple):
    """The result of passing time: the state after it, and the notice of a morning that came."""

    state: State
    notice: str = ""
    data: Mapping[str, Json] | None = None
    """The notice as data, for programs."""


def pass_time(state: State, until: int, *, away: bool = False) -> Passage:
    """Keep the owner busy up to the minute `until`, at most one midnight later, or to the end of its business.

    Time is the street's: it passes up to the minute at which the first owner is free again, and what is due meanwhile
    is due for every owner whose business goes on. While an owner is `away`, out or asleep, nobody signs for its goods.
    """
    notice, data, several = "", None, bool(state.other_businesses)
    if several:
        state = state.moved(busy_until=until, away=away)
    while state.minute < (until := first_free(state) if several else until) and (several or state.ending is None):
        midnight = (state.minute // DAY_MINUTES + 1) * DAY_MINUTES
        morning = midnight - DAY_MINUTES + OPENING
        stop, handover = min(until, midnight), rivals.next_handover(state) if several else None
        for minute in (morning, trade.next_block_minute(state), deliveries.next_arrival(state), handover):
            if minute is not None and state.minute < minute < stop:
                stop = minute
        before, state = state, _advance(state, stop, midnight, away)
        if stop == morning and state.ending is None:
            notice, data = morning_notice(state)
        if several:
            state = _with_news_of_others(before, state, morning=stop == morning)
    return Passage(state, notice, data)


def first_free(state: State) -> int:
    """The minute at which the first of several owners may act; that of the street when every business has ended."""
    return min([own.busy_until for own in state.businesses.values() if not own.ending], default=state.minute)


def _with_news_of_others(before: State, state: State, *, morning: bool) -> State:
    """Keep for the owners who did not act what they will be told with their next outcome."""
    acting = state.owner

    def told(own: State) -> State:
        if own.owner == acting or not own.has_owner:
            return own
        signed = deliveries.signed_text(before.turned_to(own.owner), own)
        news = [text for text in (signed, morning_notice(own)[0] if morning else "") if text]
        return own.moved(notices=(*own.notices, *news)) if news else own

    return state.for_each_business(told)


def _advance(state: State, stop: int, midnight: int, away: bool) -> State:
    """Let the street reach a minute at which something is due, or the midnight that closes the day."""
    if stop == midnight:
        evening = state.minute
        return state.for_each_business(
            lambda own: trade.close_day(own if own.minute == evening else own.moved(minute=evening), stop)
        )
    several, morning = bool(state.other_businesses), stop % DAY_MINUTES == OPENING

    def is_away(own: State) -> bool:
        return own.away and stop <= own.busy_until if several else away

    def receive(own: State) -> State:
        if morning:
            own = customers.morning_letters(deliveries.announce_delays(own))
        return deliveries.arrive(own, away=is_away(own))

    state = state.moved(minute=stop)
    if morning and state.setup.shocks:
        state = shocks.strike(state)
    state = trade.book_blocks(rivals.hand_over(state.for_each_business(receive)))
    if not morning:
        return state
    return state.for_each_business(lambda own: deliveries.arrive(mail.morning_post(own), away=is_away(own)))


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
    parts = [outcome.text, signed, f"[{clock(state.setup, _own_minute(after))}]", passage.notice, _end_text(after)]
    return after, Outcome("\n".join(filter(None, parts)), data=outcome.data)


def _own_minute(state: State) -> int:
    """The minute that the owner's business has reached: among several, that from which it may act again."""
    return state.busy_until if state.other_businesses and not state.ending else state.minute


def with_notices(state: State, outcome: Outcome) -> Result:
    """Begin an owner's outcome with the notices of the mornings that came while other owners acted."""
    return state.moved(notices=()), replace(outcome, text="\n\n".join((*state.notices, outcome.text)))


def advance_day(state: State) -> Result:
    """Let time pass until the next 08:00. Between midnight and 08:00 that closes no day."""
    passed = state.minute % DAY_MINUTES
    until = state.minute - passed + (OPENING if passed < OPENING else DAY_MINUTES + OPENING)
    passage = pass_time(state, until, away=True)
    text = passage.notice or _end_text(passage.state) or f"You sleep until {clock(state.setup, until)}."
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


def leave(state: State) -> Result:
    """Leave the business of an owner whose player cannot go on to itself; the others go on without it.

    Up to the horizon it is like that of an owner who sleeps through every day, so to leave saves no fee and no rent.
    Without a horizon it is closed.
    """
    outcome, state = leaving_outcome(state), state.moved(left_after=state.closed_days)
    if not state.setup.last_day:
        return pass_time(state.moved(ending="left"), state.minute).state, outcome
    return pass_time(state, state.setup.last_day * DAY_MINUTES, away=True).state, outcome


def leaving_outcome(state: State) -> Outcome:
    """What an owner's leaving brings, in words and as data."""
    days = state.setup.days
    if not days:
        return Outcome("The business is closed.")
    text = f"Nobody runs the business from now on. Up to the end of day {days} its fees and rents go on falling due."
    return Outcome(text, data={"unattended_until_day": days})


def _end_text(state: State) -> str:
    match state.ending:
        case "bankrupt":
            return f"The fee was not paid on {state.missed} days in a row: the business is closed."
        case "left":
            return "The business is closed."
        case "horizon":
            return f"Day {state.closed_days} is over, and with it the {state.setup.days} days of this business."
        case None:
            return ""


def morning_notice(state: State) -> tuple[str, Mapping[str, Json]]:
    """The owner's morning notice, as text and data: yesterday's sales and money, the fee, new mail, the weather."""
    setup, book, names = state.setup, state.book, state.setup.catalog.by_id
    weather, unread = state.economy.today(state.day).weather, state.mail.unread_count + len(state.unwritten)
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
