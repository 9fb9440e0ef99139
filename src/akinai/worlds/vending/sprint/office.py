"""The owner's Mondays: standing instructions, orders for a day of the week, letters, notes, the form of a week."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from akinai.core.actions import Action
from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Product
from akinai.worlds.vending.model.state import CarryOut, Result, State, Week
from akinai.worlds.vending.rules import customers, mail, orders
from akinai.worlds.vending.rules.books import site_at, site_name
from akinai.worlds.vending.rules.days import leaving_outcome
from akinai.worlds.vending.rules.orders import unknown_product
from akinai.worlds.vending.rules.sites import layout_of
from akinai.worlds.vending.sprint import verbs as weekly
from akinai.worlds.vending.sprint.employee import run_week, week_of
from akinai.worlds.vending.sprint.records import WEEKDAYS, DatedOrder, DatedPrice, Plan
from akinai.worlds.vending.sprint.report import report

AMPLE_CENTS = 10**12
LINE_CHARS = 160


def begin(state: State) -> State:
    """The business on its first Monday: the contract is in its first report."""
    state = state.moved(week=Week(cash_cents=state.cash_cents))
    letters = list(state.mail.unread)
    box, _ = mail.open_unread(state.mail)
    return with_report(state.moved(mail=box, week=week_of(state).moved(letters=tuple(letters))))


def with_report(state: State) -> State:
    """The business with the report of its last week."""
    state, news = customers.read_news(state)
    text, data = report(state, news)
    closed = state.left_after is not None
    return state.moved(week=week_of(state).moved(report=text, data=data, closed=closed), notices=())


def close_week(state: State) -> Result:
    """Let the employee work until the next Monday; the outcome is the week's report.

    Among several owners the week begins once all have closed theirs and the overseer has read all letters, and each
    reads its report when it acts again.
    """
    if state.other_businesses or state.outgoing:
        state = state.moved(week=week_of(state).moved(closed=True))
        return begin_week(state), Outcome("The week is closed.", data={"closed": True})
    state = with_report(run_week(state))
    week = week_of(state)
    return state, Outcome(week.report, data=week.data)


def begin_week(state: State) -> State:
    """The owners on the next Monday, if all who go on have closed their week and no letter waits for the overseer.

    Where none of them has an owner any more the weeks go by to the end.
    """
    front, going = state.owner, _weeks(state)
    while going and not state.outgoing and all(week.closed for week in going.values()):
        state = run_week(state)
        for owner in going:
            state = with_report(state.turned_to(owner))
        going = _weeks(state)
    return state.turned_to(front)


def _weeks(state: State) -> Mapping[str, Week]:
    """The weeks of the businesses that go on, by owner."""
    return {owner: own.week for owner, own in state.businesses.items() if own.week and not own.ending}


def leave(state: State) -> Result:
    """Leave the business of an owner whose player cannot go on to its employee; the others need not wait for it.

    He works by the plan up to the horizon, as for an owner who only closes its weeks. Without a horizon the business is
    closed.
    """
    outcome, ending = leaving_outcome(state), None if state.setup.last_day else "left"
    state = state.moved(left_after=state.closed_days, ending=ending, week=week_of(state).moved(closed=True))
    return begin_week(state), outcome


def late_report(state: State, outcome: Outcome) -> Outcome:
    """The outcome of a week that an owner closed, with its report once the week is over."""
    data, week = outcome.fields, state.week
    if "closed" not in data or week is None or week.closed:
        return outcome
    refused = {"refused": data["refused"]} if "refused" in data else {}
    lines = outcome.text.splitlines()[:-1]
    return Outcome("\n".join([*lines, week.report]), data={**week.data, **refused})


# Orders


def place_order(state: State, action: a.PlaceOrder) -> Result:
    """Order now, or on a later day of this week; then supplier, goods and minimum are checked now, and money that day.

    Refused as `orders.place_order` refuses.
    """
    day = state.day + WEEKDAYS.index(action.day or "Mon")
    if day == state.day:
        return orders.place_order(state, action)
    _, outcome = orders.place_order(state.moved(cash_cents=AMPLE_CENTS), action)
    if not outcome.ok:
        return state, outcome
    catalog, week, number = state.setup.catalog, week_of(state), state.order_count + 1
    items = {product.id: units for name, units in action.items.items() if (product := catalog.find(name))}
    supplier = catalog.find_supplier(action.supplier_id)
    assert supplier is not None  # it was accepted
    dated = DatedOrder(number, day, supplier.id, items)
    state = state.moved(order_count=number, week=week.moved(orders=(*week.orders, dated)))
    text = f"Order {number} will be placed on {action.day}, if your account covers it then."
    return state, Outcome(text, data={"order": number, "day": day})


# The plan


def set_plan(state: State, action: weekly.SetPlan) -> Result:
    """Change the plan, all or nothing. Refused as `no_site`, `unknown_product`, `too_many` for the slots of a size."""
    week, echo, layouts = week_of(state), list[str](), dict[int, tuple[str, ...]]()
    for site in action.sites:
        if isinstance(refusal := site_at(state, site.site), Outcome):
            return state, refusal
        layout = layout_of(state, site.products, f"site {site.site}: ")
        if isinstance(layout, Outcome):
            return state, layout
        layouts[site.site] = tuple(product.id for product in layout)
        echo.append(_site_echo(state, site.site, layout))
    priced: list[tuple[int, str, int]] = []
    for price in action.prices:
        product = state.setup.catalog.find(price.product)
        if product is None:
            return state, unknown_product(state, price.product)
        priced.append((state.day + WEEKDAYS.index(price.from_day), product.id, price.price_cents))
    plan = Plan(
        {**week.plan.sites, **layouts},
        week.plan.visit if action.visit is None else frozenset(action.visit),
        week.plan.fetches if action.depot is None else action.depot == "fetch",
    )
    today = {id: cents for day, id, cents in priced if day == state.day}
    later = tuple(DatedPrice(*price) for price in priced if price[0] > state.day)
    kept = tuple(old for old in week.prices if (old.day, old.product) not in {(new.day, new.product) for new in later})
    state = state.moved(week=week.moved(plan=plan, prices=(*kept, *later)), prices={**state.prices, **today})
    echo += _plan_echo(state, action, priced)
    return state, Outcome("\n".join(echo), data={"sites": {str(n): [*ids] for n, ids in plan.sites.items()}})


def _site_echo(state: State, number: int, layout: list[Product]) -> str:
    goods = ", ".join(f"{id}{f' x{n}' if n > 1 else ''}" for id, n in Counter(p.id for p in layout).items())
    left = [
        f"{most - count} {size}"
        for size, most in state.setup.slots_by_size.items()
        if (count := sum(product.size == size for product in layout)) < most
    ]
    slots = f" Slots left over: {', '.join(left)}." if left else ""
    return f"Site {number}, {site_name(state, state.sites[number - 1].place_index)}: {goods or 'nothing'}.{slots}"


def _plan_echo(state: State, action: weekly.SetPlan, priced: list[tuple[int, str, int]]) -> list[str]:
    week, lines = week_of(state), list[str]()
    if priced:
        tags = [
            f"{id} {format_cents(cents)}{f' from {WEEKDAYS[day - state.day]}' if day > state.day else ''}"
            for day, id, cents in priced
        ]
        lines.append(f"Prices: {', '.join(tags)}.")
    have = {*state.prices, *(price.product for price in week.prices)}
    bare = sorted({id for ids in week.plan.sites.values() for id in ids} - have)
    if bare:
        lines.append(f"Without a price, and so not sold: {', '.join(bare)}.")
    if action.visit is not None:
        lines.append(f"Visits: {', '.join(day for day in WEEKDAYS if day in week.plan.visit) or 'none'}.")
    if action.depot is not None:
        lines.append(f"Depot: {action.depot}.")
    return lines or ["The plan stays as it was."]


def take_pitch(state: State, action: a.TakePitch) -> Result:
    """Take another site; the outcome says which may follow, for no other tool does. Refused as the street refuses."""
    state, outcome = customers.take_pitch(state, action)
    return state, replace(outcome, text=f"{outcome.text}\n{customers.pitch_text(state)}") if outcome.ok else outcome


# Customers, letters, notes


def answer_customers(state: State, action: weekly.AnswerCustomers) -> Result:
    """Answer complaints one by one. Refused as the first of them where none can be answered as asked."""
    lines, done, paid, first = list[str](), 0, 0, None
    for answer, numbers in (("pay", action.pay), ("refuse", action.refuse), ("promise", action.promise)):
        for number in numbers:
            request = a.AnswerCustomer.model_validate({"complaint": number, "answer": answer})
            state, outcome = customers.answer_customer(state, request)
            if outcome.ok:
                done += 1
                paid += outcome.fields.get("paid_cents", 0)
            else:
                first = first or outcome
            lines.append(f"{number}: {outcome.text}")
    if not done:
        text = "\n".join(lines) or "name the complaints to pay, to refuse or to promise money for"
        return state, Outcome.refused((first.code if first else "") or "no_complaint", text)
    return state, Outcome("\n".join(lines), data={"paid_cents": paid})


def read_letter(state: State, action: weekly.ReadLetter) -> Result:
    """Show a letter of this week's report, or of an earlier one. Refused as `no_letter`."""
    letters = state.mail.inbox[: state.mail.opened]
    for letter in letters:
        if letter.number == action.number:
            text = f"From: {letter.sender}\nSubject: {letter.subject}\n\n{letter.body}"
            return state, Outcome(text, data={"subject": letter.subject, "body": letter.body})
    last = f"the last that came is {letters[-1].number}" if letters else "none has come yet"
    return state, Outcome.refused("no_letter", f"there is no letter {action.number}; {last}")


def write_notes(state: State, action: weekly.WriteNotes) -> Result:
    """Replace the page of notes."""
    text = action.text.strip()
    return state.moved(notes=replace(state.notes, notepad=text)), Outcome(f"Noted: {len(text)} characters.")


def forecast(state: State, action: weekly.Forecast) -> Result:
    """Take note of a forecast; the last of a Monday counts. Refused as `out_of_order` where its bounds are."""
    for bounds in (action.next_week, action.year_end):
        if not bounds.low_cents <= bounds.middle_cents <= bounds.high_cents:
            return state, Outcome.refused("out_of_order", "low is at most middle, and middle at most high")
    return state, Outcome("Noted.")


# The form of a whole week


def decide_week(state: State, action: weekly.Week, carry_out: CarryOut) -> Result:
    """Carry out a form in its order, and end the week. What is refused is told in a line each, before the report."""
    lines: list[str] = []
    for label, request in requests_of(action):
        state, outcome = carry_out(state, request)
        if not outcome.ok:
            lines.append(f"Refused, {label}: {outcome.text.splitlines()[0]}"[:LINE_CHARS])
    state, outcome = close_week(state)
    return state, Outcome("\n".join([*lines, outcome.text]), data={**outcome.fields, "refused": lines})


def requests_of(action: weekly.Week) -> Iterator[tuple[str, Action]]:
    """The parts of a form as actions, each with its place in words."""
    parts: list[tuple[str, str, Mapping[str, Any]]] = [
        *(("orders", "place_order", row) for row in action.orders),
        *(("prices", "set_plan", {"prices": [row]}) for row in action.prices),
        *(("sites", "set_plan", {"sites": [row]}) for row in action.sites),
        *(("offers", "make_offer", row) for row in action.offers),
        *(("claims", "claim", row) for row in action.claims),
        *_answers(action.answers),
        *(("payments", "pay", row) for row in action.payments),
    ]
    counts = Counter[str]()
    for label, name, parameters in parts:
        counts[label] += 1
        yield f"{label} {counts[label]}", a.VERBS.parse(name, parameters, "")
    if action.notes is not None:
        yield "notes", a.VERBS.parse("write_notes", {"text": action.notes}, "")


def _answers(answers: Mapping[str, Json]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Each complaint by itself, so that a number that is none does not stop the others."""
    for answer, numbers in answers.items():
        for number in numbers if isinstance(numbers, list | tuple) else [numbers]:
            yield "answers", "answer_customers", {answer: [number]}
