"""Lapses in a business of several sites: deliveries, claims, customers, dates, suppliers and goods left to themselves.

None of these occurs in a business of one machine, whose setup has no such terms.
"""

import re
from collections.abc import Iterator

from akinai.core.money import format_cents, read_dollars
from akinai.worlds.vending.detectors.history import History, Mistake, Step, detector
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import DAY_MINUTES, Order, clock, date_text
from akinai.worlds.vending.rules.deliveries import missing_cents, missing_units
from akinai.worlds.vending.sprint.verbs import AnswerCustomers, Week

WORTH_CLAIMING_CENTS = 100
"""The least value of missing units that needs a claim."""
SERIOUS_CENTS = 500
"""The value from which a shortage is serious."""
FAILURES = 2
"""Failures that show that a supplier cannot be trusted."""
OVERDUE_DAYS = 2
"""Days after the promised one from which an order that was never announced as late has failed."""
WASTED_CENTS = 2500
"""Goods of at least this cost that spoil in storage in one night are wasted; twice as much is serious."""
OVERFLOW_CENTS = 500
"""The refund for goods that found no room from which on they are wasted; twice as much is serious."""


@detector
def missed_delivery(history: History) -> Iterator[Mistake]:
    """Goods that came at their promised hour while nobody was at the storage; serious when they then went back."""
    requests = {purchase.order.number: purchase.request for purchase in history.purchases}
    missed: dict[int, tuple[Order, Step]] = {}
    gone: dict[int, Step] = {}
    for step in history.steps:
        if step.after.parcels is step.before.parcels:
            continue
        waiting = {parcel.order.number for parcel in step.before.parcels if parcel.at_depot}
        now = {parcel.order.number for parcel in step.after.parcels}
        missed |= {
            parcel.order.number: (parcel.order, step)
            for parcel in step.after.parcels
            if parcel.at_depot and parcel.order.number not in waiting
        }
        gone |= dict.fromkeys(waiting - now, step)
    for number, (order, step) in missed.items():
        went_back = gone.get(number)
        yield Mistake(
            [entry for entry in (requests.get(number), step, went_back) if entry],
            "serious" if went_back else "minor",
            assumed=f"nobody had to be at the storage on {clock(history.setup, order.due)}",
            true=f"order {number} came and went to the depot" + (", and then back" if went_back else ""),
            by_owner=True,
        )


@detector
def unclaimed_shortage(history: History) -> Iterator[Mistake]:
    """A delivery with units missing that were not claimed in time. A supplier that refused a claim needs no other."""
    claim_days = history.setup.street.deliveries.claim_days
    claimed = {
        parcel.order.number: step
        for step in history.steps
        if step.after.parcels is not step.before.parcels
        for parcel in step.after.parcels
        if parcel.claimed
    }
    refusals = [(step.entry.seq, supplier) for step, supplier in _refused_claims(history)]
    for delivery in history.deliveries:
        order, end = delivery.order, history.close_by_day.get(delivery.step.after.day + claim_days)
        missing, cents = missing_units(order), missing_cents(order)
        if end is None or cents < WORTH_CLAIMING_CENTS or order.number in claimed:
            continue
        if any(supplier == order.supplier and seq <= end.step.entry.seq for seq, supplier in refusals):
            continue
        names = history.setup.catalog.by_id
        units = ", ".join(f"{n} {names[product].name}" for product, n in missing.items())
        yield Mistake(
            [delivery.step, end.step],
            "serious" if cents >= SERIOUS_CENTS else "minor",
            assumed=f"order {order.number} was complete",
            true=f"{units} were missing, {format_cents(cents)} that nobody claimed",
            by_owner=True,
        )


def _refused_claims(history: History) -> Iterator[tuple[Step, str]]:
    """Claims that were made and not paid, with their suppliers."""
    for step in history.steps:
        action = step.turn.action
        if isinstance(action, a.Claim) and step.outcome.ok and not step.outcome.fields.get("paid_cents"):
            yield from ((step, own.order.supplier) for own in step.before.parcels if own.order.number == action.order)


@detector
def neglected_customer(history: History) -> Iterator[Mistake]:
    """A complaint that waited in vain for an answer, or a refund that was promised and not paid in time."""
    arrived: dict[int, Step] = {}
    for step in history.steps:
        before, after = step.before, step.after
        if after.complaints is before.complaints:
            continue
        left = {complaint.number for complaint in after.complaints}
        for complaint in before.complaints:
            if complaint.number not in left and not _answers(step, complaint.number):
                money, first = format_cents(complaint.cents), arrived.get(complaint.number, step)
                vain = f"{money} was promised and never paid"
                true = vain if complaint.promised else f"the customer asked for {money} in vain"
                yield Mistake([first, step], "minor", f"complaint {complaint.number} could wait", true, by_owner=True)
        for complaint in after.complaints:
            if complaint not in before.complaints:
                arrived[complaint.number] = step


def _answers(step: Step, number: int) -> bool:
    match step.turn.action:
        case a.AnswerCustomer(complaint=answered):
            return answered == number and step.outcome.ok
        case AnswerCustomers(pay=paid, refuse=refused):
            return number in (*paid, *refused) and step.outcome.ok
        case Week(answers=answers):
            return any(number in numbers for numbers in answers.values() if isinstance(numbers, list | tuple))
        case a.Pay(bill="refund", number=paid):
            return paid == number and step.outcome.ok
        case _:
            return False


@detector
def missed_date(history: History) -> Iterator[Mistake]:
    """A rent that was not paid when it was due and the money was there, or an announced event that nobody read of."""
    yield from _overdue_rents(history)
    yield from _unread_events(history)


def _overdue_rents(history: History) -> Iterator[Mistake]:
    for close in history.close_by_entry.values():
        before, after = close.step.before, close.step.after
        for index, site in enumerate(after.sites):
            site_before = before.sites[index] if index < len(before.sites) else site
            lost = site.lost and not site_before.lost
            if lost or (site.sealed and not site_before.sealed and after.cash_cents > 0):
                assumed = f"the rent of site {index + 1} was paid or not yet due"
                due, state = date_text(history.setup, site.due_day), "lost" if site.lost else "sealed"
                true = f"it was due on {due}; the site is {state}"
                yield Mistake([close.step], "grave" if lost else "serious", assumed, true, by_owner=True)


def _unread_events(history: History) -> Iterator[Mistake]:
    town = history.economy.town
    if history.setup.weekly:  # the news stands in every report
        return
    read = [step.before.day for step in history.steps if isinstance(step.turn.action, a.ReadNews) and step.outcome.ok]
    for event in town.events:
        close = history.close_by_day.get(event.first)
        if close is None or any(event.news_day <= day <= event.first for day in read):
            continue
        if not close.book.demand:  # nothing was on sale
            continue
        true = f"a {event.kind} began that had been in the news since day {event.news_day}"
        yield Mistake([close.step], "minor", f"day {event.first} was a day like others", true, by_owner=True)


@detector
def misplaced_trust(history: History) -> Iterator[Mistake]:
    """An order from a supplier after two orders that never came, or claims that it refused, as the owner knew."""
    refused = [(step.entry.seq, supplier, step) for step, supplier in _refused_claims(history)]
    failures = sorted([*refused, *_lost_orders(history)], key=lambda failure: failure[0])
    for purchase in history.purchases:
        request, supplier = purchase.request, purchase.order.supplier
        earlier = [step for seq, by, step in failures if by == supplier and seq < request.entry.seq]
        if len(earlier) >= FAILURES:
            assumed = f"{supplier} would deliver order {purchase.order.number}"
            true = f"it had failed {len(earlier)} times before, by orders that never came or claims that it refused"
            yield Mistake([*earlier, request], "serious", assumed, true)


def _lost_orders(history: History) -> Iterator[tuple[int, str, Step]]:
    """The suppliers of orders that never came, from the close of the day on which that must have been clear."""
    for purchase in history.purchases:
        order = purchase.order
        day = order.promised // DAY_MINUTES + 1 + OVERDUE_DAYS
        if order.lost and (close := history.close_by_day.get(day)):
            step = close.step
            yield step.entry.seq, order.supplier, step


@detector
def wasted_goods(history: History) -> Iterator[Mistake]:
    """Goods that found no room in storage and went back at a loss, or that spoiled there in quantity."""
    if history.setup.street.errands:
        yield from _overflows(history)
        yield from _spoiled(history)


_OVERFLOW = re.compile(r"(?<=: )\$[\d,.]+\d(?= for what went back)")


def _overflows(history: History) -> Iterator[Mistake]:
    for delivery in history.deliveries:
        subject = f"Order {delivery.order.number} was signed for"
        for letter in delivery.step.after.mail.unread:
            if letter.subject != subject or not (back := _OVERFLOW.search(letter.body)):
                continue
            if (cents := read_dollars(back[0])) >= OVERFLOW_CENTS:
                yield Mistake(
                    [delivery.step],
                    "serious" if cents >= 2 * OVERFLOW_CENTS else "minor",
                    assumed=f"storage had room for order {delivery.order.number}",
                    true=f"a part of it went back for {back[0]}, a little more than half of its price",
                    by_owner=True,
                )


def _spoiled(history: History) -> Iterator[Mistake]:
    for close in history.closes:
        spoiled, cents = close.book.spoiled, close.book.spoiled_cents
        if not history.setup.weekly:
            old = {
                id: [lot for lot in lots if lot.last_day <= close.book.day]
                for id, lots in close.step.before.storage.items()
            }
            spoiled = {id: sum(lot.units for lot in lots) for id, lots in old.items() if lots}
            cents = sum(units * old[id][0].cost_cents for id, units in spoiled.items())
        if cents >= WASTED_CENTS:
            names = history.setup.catalog.by_id
            units = ", ".join(f"{n} {names[product].name}" for product, n in spoiled.items())
            yield Mistake(
                [close.step],
                "serious" if cents >= 2 * WASTED_CENTS else "minor",
                assumed="what was in storage would be sold in time",
                true=f"{units} spoiled there in one night, {format_cents(cents)} at cost",
                by_owner=True,
            )
