"""The post: letters out and in, orders and deliveries, and what a look at the mail shows."""

import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from business import WORLD
from hypothesis import given
from hypothesis import strategies as st

import akinai.worlds.vending as vending
from akinai.core.ledger import Genesis
from akinai.worlds.vending.letters.names import LINE_ENDS
from akinai.worlds.vending.model.actions import ReadEmail
from akinai.worlds.vending.model.setup import Catalog, Setup
from akinai.worlds.vending.model.state import DAY_MINUTES, OPENING, Letter, Lot, Order, State
from akinai.worlds.vending.rules.deliveries import announce_delays, arrive, next_arrival
from akinai.worlds.vending.rules.mail import (
    morning_post,
    parse_letters,
    read_email,
    send,
)
from akinai.worlds.vending.rules.orders import add_order, quote_lines, total_cents
from together import together

CATALOG = Catalog.model_validate(tomllib.loads(Path(vending.__file__).with_name("catalog.toml").read_text()))
NORTHBAY, GGBEV, FRESHCART, VALUEBULK = CATALOG.suppliers
WHERE = "\nDelivery address: Akinai Vending, 88 Harbor Street, Alameda\nAccount: AV-20418"


def business(seed: int = 1, cash: int = 50_000, catalog: Catalog = CATALOG) -> State:
    """A business on its first morning."""
    setup = Setup(catalog=catalog, start_date=date(2026, 4, 1)).model_dump(mode="json")
    return replace(WORLD.begin(Genesis(WORLD.name, seed, setup)), cash_cents=cash)


def at(state: State, day: int, minute: int = OPENING) -> State:
    """The same business on another day, nothing having happened meanwhile."""
    return replace(state, minute=(day - 1) * DAY_MINUTES + minute)


def next_morning(state: State) -> State:
    return arrive(morning_post(at(state, state.day + 1)), away=False)


def answered(state: State, to: str, subject: str, body: str) -> tuple[State, Letter]:
    """The business after a letter and its answer, and that answer."""
    state = next_morning(send(state, to, subject, body))
    letters = list(state.mail.unread)
    return state, letters[-1]


def ordered(state: State, body: str, subject: str = "Order") -> tuple[State, Letter]:
    return answered(state, NORTHBAY.address, subject, body + WHERE)


def late_day(wanted: bool) -> int:
    """A day on which a letter to ValueBulk comes late, or not."""
    lines = quote_lines(CATALOG, VALUEBULK, {"candy": 100})
    for day in range(1, 500):
        order = add_order(business(), VALUEBULK, lines, day)[1]
        if (order.due > order.promised) is wanted:
            return day
    raise AssertionError("no such day")


def test_an_order_letter_is_charged_once_and_placed_once() -> None:
    """50 water and 24 cola from Northbay: 5 % off 74 units, 50 x $0.57 + 24 x $0.81 = $47.94, due on day 4, 14:00."""
    state, letter = ordered(business(), "Please send 50 units of water and 24 cola.")
    assert state.cash_cents == 50_000 - 4794
    assert [(order.number, order.total_cents, order.promised) for order in state.orders] == [(1, 4794, 3 * 1440 + 840)]
    assert state.mail.waiting == ()
    assert letter.body == (
        "Dear customer,\n\n"
        "Order 1 is placed.\n"
        "- 50 x Water (water) at $0.57 = $28.50\n"
        "- 24 x Cola (cola) at $0.81 = $19.44\n"
        "Total charged: $47.94\n"
        "Delivery: Sat 4 Apr 2026, 14:00\n\n"
        "Best regards,\nNorthbay Wholesale"
    )
    again = next_morning(state)
    assert (again.cash_cents, again.orders, again.order_count) == (state.cash_cents, state.orders, 1)


def test_a_price_list_tells_all_that_a_customer_needs() -> None:
    """Prices, cases and terms, a line each, in the form that players read."""
    _, letter = answered(business(), "SALES@ggbev.com", "Hello", "What are your prices?")
    assert (letter.sender, letter.subject) == ("sales@ggbev.com", "Re: Hello")
    assert letter.body == (
        "Dear customer,\n\n"
        "Thank you for your letter. Our price list:\n"
        "- Water (water): $0.56 a unit, case of 24\n"
        "- Cola (cola): $0.79 a unit, case of 24\n"
        "- Energy Drink (energy_drink): $1.53 a unit, case of 24\n"
        "- Iced Tea (iced_tea): $0.93 a unit, case of 24\n\n"
        "Terms:\n"
        "- Delivery: 2 days after the day of your letter, at 11:00\n"
        "- Minimum order: $30.00\n"
        "- Bulk discount: 3% off all units from 48 units in one order\n"
        "- Bulk discount: 8% off all units from 120 units in one order\n"
        "- To order, write each product with its quantity, the delivery address and the account to charge\n\n"
        "Best regards,\nGolden Gate Beverages"
    )


def test_answers_come_the_next_morning_and_not_before() -> None:
    """A letter of 08:00 is not answered by the post of 08:00; the next day's post answers all of a day, in order."""
    state = send(business(), NORTHBAY.address, "one", "prices?")
    state = send(at(state, 1, 1439), GGBEV.address, "two", "prices?")
    assert len(morning_post(at(state, 1)).mail.unread) == 0
    state = next_morning(state)
    assert [letter.subject for letter in state.mail.unread] == ["Re: one", "Re: two"]
    assert [letter.at for letter in state.mail.unread] == [DAY_MINUTES + OPENING] * 2


def test_a_letter_after_midnight_is_of_its_own_day() -> None:
    """What is sent at 00:30 waits until the next morning but one."""
    state = send(at(business(), 2, 30), NORTHBAY.address, "late", "prices?")
    assert len(morning_post(at(state, 2)).mail.unread) == 0
    assert len(morning_post(at(state, 3)).mail.unread) == 1


@pytest.mark.parametrize("to", ["nobody@nowhere.com", "order@northbay-wholesale.com", "northbay", ""])
def test_an_unknown_address_bounces_without_a_hint(to: str) -> None:
    """The mailer-daemon returns the letter and names no address but the one it was sent to."""
    state, letter = answered(business(), to, "Hi", "50 units of water" + WHERE)
    assert letter.sender == "mailer-daemon@akinai-vending.com"
    assert letter.subject == "Undelivered: Hi"
    assert not any(supplier.address in letter.body for supplier in CATALOG.suppliers)
    assert (state.cash_cents, state.orders, state.known_suppliers) == (50_000, (), ())


def test_a_supplier_written_to_is_known_once() -> None:
    """Writing to an address of a supplier makes it known, in the order of writing."""
    state = business()
    for address in (GGBEV.address, NORTHBAY.address.upper(), GGBEV.address):
        state = send(state, address, "", "prices?")
    assert state.known_suppliers == ("ggbev", "northbay")


def test_the_owner_can_write_to_itself() -> None:
    """A letter to the own address comes back as it was, the next morning."""
    state = business()
    _, letter = answered(state, state.setup.email, "Note", "50 units of water" + WHERE)
    assert (letter.sender, letter.subject) == (state.setup.email, "Note")
    assert letter.body == "50 units of water" + WHERE


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("Please send 50 units of water.\nAccount: AV-20418", "The delivery address is missing."),
        (
            "Please send 50 units of water to Akinai Vending, 88 Harbor Street, Alameda. Account: AV-20419",
            "The account to charge is missing, or it is not your account.",
        ),
        ("Please send 10 units of water." + WHERE, "The total of $6.00 is below our minimum order of $20.00."),
        ("Please send 1000 units of water." + WHERE, "Your account does not cover the total of $540.00."),
    ],
)
def test_an_order_that_lacks_something_charges_nothing(body: str, reason: str) -> None:
    """The supplier says what is missing, and neither cash nor orders change."""
    state, letter = answered(business(), NORTHBAY.address, "Order", body)
    assert f"We have not placed an order, and nothing was charged:\n- {reason}" in letter.body
    assert (state.cash_cents, state.orders, state.order_count) == (50_000, (), 0)


def test_a_supplier_sends_all_of_a_letter_or_nothing() -> None:
    """Goods of the catalogue that this supplier does not carry stop the whole order, and it tells what it carries."""
    state, letter = answered(business(), GGBEV.address, "Order", "Please send 50 water, 12 chips, 6 salads." + WHERE)
    sentence = "We do not carry Potato Chips, Salad. We carry: Water (water), Cola (cola), "
    assert sentence in letter.body
    assert state.orders == ()


def test_cash_pays_letters_in_their_order() -> None:
    """What the first letter spent the second cannot: it is refused, and cash never falls below zero."""
    state = business(cash=5_000)
    for subject in ("first", "second"):
        state = send(state, NORTHBAY.address, subject, "Please send 50 units of water, 12 cola" + WHERE)
    state = next_morning(state)
    assert state.cash_cents == 5_000 - 50 * 57 - 12 * 81
    assert [order.number for order in state.orders] == [1]
    assert "does not cover" in list(state.mail.unread)[1].body


def test_a_quote_stands_and_is_charged_as_quoted() -> None:
    """The total of a quote is what its confirmation charges, and it can be ordered once."""
    state, letter = answered(business(), NORTHBAY.address, "Quote", "Please quote 50 units of water and 24 cola")
    assert (
        "Quote Q-2, good through Thu 16 Apr 2026:\n"
        "- 50 x Water (water) at $0.57 = $28.50\n"
        "- 24 x Cola (cola) at $0.81 = $19.44\n"
        "Total: $47.94\n"
        "To order it, answer: CONFIRM Q-2\n"
    ) in letter.body
    assert state.cash_cents == 50_000
    state, letter = answered(state, NORTHBAY.address, "", "CONFIRM Q-2")
    assert "Total charged: $47.94" in letter.body
    assert (state.cash_cents, len(state.orders), len(state.mail.quotes)) == (50_000 - 4794, 1, 0)
    state, letter = answered(state, NORTHBAY.address, "", "CONFIRM Q-2")
    assert "No quote Q-2 of ours stands for you" in letter.body
    assert (state.cash_cents, len(state.orders)) == (50_000 - 4794, 1)


@pytest.mark.parametrize(("day", "stands"), [(16, True), (17, False)])
def test_a_quote_expires_after_its_last_day(day: int, stands: bool) -> None:
    """A quote of day 2 is good through day 16: a confirmation sent on that day counts, one sent the day after not."""
    state, _ = answered(business(), NORTHBAY.address, "", "Please quote 50 units of water")
    state, letter = answered(at(state, day), NORTHBAY.address, "", "confirm quote 2")
    assert (len(state.orders) == 1) is stands
    assert ("is placed" in letter.body) is stands
    assert len(state.mail.quotes) == 0


def test_expired_quotes_are_forgotten() -> None:
    """The post of the last day keeps a quote, that of the day after drops it."""
    state, _ = answered(business(), NORTHBAY.address, "", "Please quote 50 units of water")
    assert [len(morning_post(at(state, day)).mail.quotes) for day in (16, 17)] == [1, 0]


def test_a_quote_belongs_to_its_supplier() -> None:
    """The number of another supplier's quote orders nothing."""
    state, _ = answered(business(), NORTHBAY.address, "", "Please quote 50 units of water")
    state, letter = answered(state, GGBEV.address, "", "CONFIRM Q-2")
    assert "No quote Q-2 of ours stands" in letter.body
    assert state.orders == ()


def test_an_unpaid_confirmation_leaves_the_quote() -> None:
    """Cash that does not cover a quote charges nothing, and the quote can be confirmed later."""
    state, _ = answered(business(cash=2_000), NORTHBAY.address, "", "Please quote 50 units of water")
    state, letter = answered(state, NORTHBAY.address, "", "CONFIRM Q-2")
    assert "Your account does not cover the total of $28.50." in letter.body
    assert (state.cash_cents, state.orders, len(state.mail.quotes)) == (2_000, (), 1)


def quoted(*bodies: str) -> State:
    """The business after quotes for these letters, Q-2, Q-4 and so on."""
    state = business()
    for body in bodies:
        state, _ = answered(state, NORTHBAY.address, "", body)
    return state


def units_ordered(state: State) -> list[dict[str, int]]:
    return [{line.product: line.units for line in order.lines} for order in state.orders]


def test_a_bare_confirm_takes_the_only_quote() -> None:
    """Of two quotes the bare CONFIRM orders neither; both are quoted again with the words that order them."""
    state, _ = answered(business(), GGBEV.address, "", "Please quote 70 units of water")
    state = next_morning(send(state, NORTHBAY.address, "", "Please quote 50 units of water"))
    one, _ = answered(state, NORTHBAY.address, "", "CONFIRM")
    assert [(order.supplier, order.lines[0].units) for order in one.orders] == [("northbay", 50)]
    state, _ = answered(state, NORTHBAY.address, "", "Please quote 60 units of water")
    two, letter = answered(state, NORTHBAY.address, "", "CONFIRM")
    assert two.orders == ()
    assert [letter.body.count(f"CONFIRM Q-{quote}") for quote in sorted(two.mail.quotes)] == [0, 1, 1]


def test_a_confirmation_of_other_quantities_is_quoted_anew() -> None:
    """A CONFIRM that names other items than the quote charges nothing, and the quote stands beside the new one."""
    state, _ = answered(business(), NORTHBAY.address, "", "Please quote 50 units of water")
    state, letter = answered(state, NORTHBAY.address, "", "CONFIRM Q-2: 60 units of water")
    assert "Quote Q-2 is for 50 x Water (water), and your letter names other quantities; nothing" in letter.body
    assert "- 60 x Water (water)" in letter.body
    assert (state.orders, len(state.mail.quotes)) == ((), 2)
    state, _ = answered(state, NORTHBAY.address, "", "CONFIRM Q-2: 50 units of water")
    assert len(state.orders) == 1


def test_two_quotes_are_confirmed_by_a_line_each() -> None:
    """Each is placed as quoted; one that does not stand is named, and the other placed all the same."""
    state = quoted("Please quote 50 units of water", "Please quote 24 cola and 24 candy")
    both, letter = answered(state, NORTHBAY.address, "", "CONFIRM Q-2\nCONFIRM Q-4")
    assert units_ordered(both) == [{"water": 50}, {"cola": 24, "candy": 24}]
    assert letter.body.count("is placed") == 2
    assert len(both.mail.quotes) == 0
    first, letter = answered(state, NORTHBAY.address, "", "CONFIRM Q-2\nCONFIRM Q-9")
    assert units_ordered(first) == [{"water": 50}]
    assert "No quote Q-9 of ours stands for you" in letter.body


@together(
    "body",
    [
        "We accept quote 2, but 48 cola instead of 24.",
        "We accept quote 2. Please change the cola in quote 2 from 24 to 48.",
        "Of the quotes Q-2 and Q-4 we take Q-2.",
        "Let's go ahead with Q-2, but not the cola.",
        "If you can deliver by Friday, we accept quote 2.",
        "We accept quote 2 once my partner has signed it.",
        "We accept quote 2. Please also send 72 candy.",
        "Shall we accept quote 2?",
    ],
)
def test_a_confirmation_that_says_more_is_quoted(body: str) -> None:
    """Nothing is charged, the quote stands, and the answer has words that order one."""
    state, letter = answered(quoted("Please quote 50 units of water and 24 cola"), NORTHBAY.address, "", body + WHERE)
    assert (state.cash_cents, state.orders) == (50_000, ())
    assert 2 in state.mail.quotes
    assert "To order it, answer: CONFIRM Q-" in letter.body or body.startswith(("Shall", "If"))


def test_a_changed_quote_keeps_its_other_goods() -> None:
    """A quote that is changed and not taken up is quoted whole again."""
    state = quoted("Please quote 50 units of water and 24 cola")
    body = "Please change quote 2: cola 48 instead of 24."
    state, letter = answered(state, NORTHBAY.address, "", body)
    assert "- 50 x Water (water)" in letter.body
    assert "- 48 x Cola (cola)" in letter.body
    assert state.orders == ()


@together(
    ("body", "goods"),
    [
        ("Please send 24 cola. Actually, make it 48.", "- 24 x Cola (cola)"),
        ("Please send 48 water only if it can be here by Friday.", "- 48 x Water (water)"),
        ("We need 96 water in total: 48 today and 48 on Thursday.", "x Water (water)"),
        ("Please cancel order 7 and send 48 water.", "- 48 x Water (water)"),
        ("Please send 48 water and 24 papaya.", "We do not carry papaya."),
        ("Please send 48 water at $0.50 each.", "- 48 x Water (water) at $0.57"),
        ("Please send water.", "You name Water without a quantity."),
    ],
)
def test_an_order_that_is_not_clear_gets_a_quote(body: str, goods: str) -> None:
    """It is charged nothing; the answer states the goods as they were understood, and the words that order them."""
    state, letter = ordered(business(), body)
    assert (state.cash_cents, state.orders) == (50_000, ())
    assert "can be read in more than one way, so nothing was ordered or charged" in letter.body
    assert goods in letter.body
    if len(state.mail.quotes):
        (number,) = state.mail.quotes
        assert f"To order it, answer: CONFIRM Q-{number}" in letter.body
        placed, _ = answered(state, NORTHBAY.address, "", f"CONFIRM Q-{number}")
        assert len(placed.orders) == 1


@together(
    "body",
    [
        "Could you please make the cola 48 rather than 24?",
        "Please cancel our last order.",
        "Please cancel order 1 and send 48 candy.",
        "If order 1 is late, cancel it.",
        "Please don't add 24 cola to order 1.",
        "Please cancel order 1. When does order 2 come?",
        "Please change order 1: 24 cola, or 48.",
    ],
)
def test_a_change_that_is_not_clear_changes_nothing(body: str) -> None:
    """Without a number, beside other matters, under a condition or denied it leaves orders and money alone."""
    state, _ = ordered(business(), "Please send 24 cola and 24 candy.")
    after, letter = answered(state, NORTHBAY.address, "", body)
    assert (after.orders, after.cash_cents) == (state.orders, state.cash_cents)
    assert "24 x Cola (cola)" in letter.body


def test_a_quote_below_the_minimum_cannot_be_confirmed() -> None:
    """Prices are told, with the minimum, and no number to confirm."""
    state, letter = answered(business(), GGBEV.address, "", "Please quote 10 water and 5 chips")
    assert "Our prices for these quantities:\n- 10 x Water (water) at $0.56 = $5.60\nTotal: $5.60" in letter.body
    assert "The total of $5.60 is below our minimum order of $30.00." in letter.body
    assert "We do not carry Potato Chips." in letter.body
    assert "CONFIRM" not in letter.body
    assert len(state.mail.quotes) == 0


def test_a_question_about_an_order_orders_nothing() -> None:
    """Asked where an order is, the supplier tells what is on its way, and charges nothing more."""
    state, _ = ordered(business(), "Please send 50 units of water.")
    cash = state.cash_cents
    state, letter = ordered(state, "Where is my order of 50 units of water?")
    assert "- Order 1: 50 x Water (water); delivery Sat 4 Apr 2026, 14:00" in letter.body
    assert (state.cash_cents, len(state.orders)) == (cash, 1)


@given(
    st.sampled_from(CATALOG.suppliers),
    st.dictionaries(st.integers(0, 15), st.integers(1, 400), min_size=1, max_size=6),
    st.integers(0, 300_000),
)
def test_a_letter_costs_what_its_quote_said(supplier: object, chosen: dict[int, int], cash: int) -> None:
    """Quote, order letter and order form charge the same cents for the same goods, or all of them nothing."""
    assert isinstance(supplier, type(NORTHBAY))
    wanted = {supplier.products[n % len(supplier.products)]: units for n, units in chosen.items()}
    lines = quote_lines(CATALOG, supplier, wanted)
    body = "\n".join(f"- {units} units of {product}" for product, units in wanted.items())
    payable = supplier.minimum_cents <= total_cents(lines) <= cash
    by_letter, _ = answered(business(cash=cash), supplier.address, "Order", f"{body}{WHERE}")
    assert by_letter.cash_cents == cash - total_cents(lines) * payable
    assert [order.lines for order in by_letter.orders] == [lines] * payable
    quoted, _ = answered(business(cash=cash), supplier.address, "", f"Please quote\n{body}")
    by_quote, _ = answered(quoted, supplier.address, "", "CONFIRM")
    assert by_quote.cash_cents == by_letter.cash_cents
    if payable:
        assert add_order(business(cash=cash), supplier, lines, 1)[0].cash_cents == by_letter.cash_cents


def test_more_than_the_cash_is_never_charged() -> None:
    """Placing an order beyond the cash is a mistake of the program, not a debt."""
    with pytest.raises(ValueError, match="540"):
        add_order(business(cash=539), NORTHBAY, quote_lines(CATALOG, NORTHBAY, {"water": 9}), 1)


def test_letter_and_form_are_late_together() -> None:
    """Lateness goes by supplier and day of the letter, whichever way the order took."""
    day = late_day(True)
    form, by_form = add_order(at(business(), day), VALUEBULK, quote_lines(CATALOG, VALUEBULK, {"candy": 100}), day)
    by_letter, _ = answered(at(business(), day), VALUEBULK.address, "", "Please send 100 candy" + WHERE)
    assert (by_form.promised, by_form.due) == (by_letter.orders[0].promised, by_letter.orders[0].due)
    assert by_form.due > by_form.promised == (day + 5) * DAY_MINUTES + 16 * 60
    assert (by_form.due - by_form.promised) % DAY_MINUTES == 0
    assert form.orders == (by_form,)


def passing(state: State, until: int) -> State:
    """Let the post come until a minute, as the world's clock does."""
    while True:
        morning = state.minute - state.minute_of_day + OPENING
        morning += DAY_MINUTES if morning <= state.minute else 0
        minute = min(morning, next_arrival(state) or morning)
        if minute > until:
            return replace(state, minute=until)
        state = replace(state, minute=minute)
        state = arrive(announce_delays(state) if minute == morning else state, away=False)


def test_goods_come_at_their_hour_into_storage() -> None:
    """A minute before the promised hour storage is empty; at the hour the goods lie there, and a letter says so."""
    state, order = add_order(business(), NORTHBAY, quote_lines(CATALOG, NORTHBAY, {"water": 50, "salad": 6}), 1)
    assert next_arrival(state) == order.promised == 3 * DAY_MINUTES + 840
    before = passing(state, order.promised - 1)
    assert (before.storage, before.orders) == ({}, (order,))
    after = passing(before, order.promised)
    assert after.storage == {"water": (Lot(50, 57, 4 + 365),), "salad": (Lot(6, 295, 4 + 3),)}
    assert (after.orders, next_arrival(after)) == ((), None)
    (letter,) = after.mail.unread
    assert (letter.sender, letter.at, letter.subject) == (NORTHBAY.address, order.promised, "Order 1 delivered")
    assert (
        "Order 1 was delivered on Sat 4 Apr 2026, 14:00 and lies in your storage:\n"
        "- 50 x Water (water)\n- 6 x Salad (salad)"
    ) in letter.body


def test_a_late_order_is_announced_and_arrives() -> None:
    """On the morning of the promised day a letter tells the new day; on that day the goods come, once."""
    day = late_day(True)
    state, order = add_order(at(business(), day), VALUEBULK, quote_lines(CATALOG, VALUEBULK, {"candy": 100}), day)
    waiting = passing(state, order.promised)
    (letter,) = waiting.mail.unread
    assert letter.subject == "Order 1 is delayed"
    assert "New delivery: " in letter.body
    assert (waiting.storage, waiting.orders[0].expected) == ({}, order.due)
    done = passing(waiting, order.due)
    assert sum(lot.units for lot in done.storage["candy"]) == 100
    assert [letter.subject for letter in done.mail.unread] == ["Order 1 is delayed", "Order 1 delivered"]
    assert passing(done, order.due + 10 * DAY_MINUTES).storage == done.storage


def test_orders_come_in_the_order_of_their_hours() -> None:
    """Whatever was ordered first, the next minute of the post is the earliest one."""
    state, slow = add_order(business(), VALUEBULK, quote_lines(CATALOG, VALUEBULK, {"candy": 100}), 1)
    state, quick = add_order(state, FRESHCART, quote_lines(CATALOG, FRESHCART, {"sandwich": 12}), 1)
    assert state.orders == (quick, slow)
    assert next_arrival(state) == quick.promised
    assert passing(state, quick.due).orders == (slow,)


def test_equal_lots_become_one() -> None:
    """Units of one cost and one last day lie together, others beside them, the oldest last day first."""
    state = business(cash=1_000_000)
    for wanted in ({"water": 50}, {"water": 60}, {"water": 100}):
        state, _ = add_order(state, NORTHBAY, quote_lines(CATALOG, NORTHBAY, wanted), 1)
    state, _ = add_order(at(state, 2), NORTHBAY, quote_lines(CATALOG, NORTHBAY, {"water": 20}), 2)
    done = passing(state, 20 * DAY_MINUTES)
    days = {order.due // DAY_MINUTES + 1 for order in state.orders}
    assert [lot.units for lot in done.storage["water"]] == [100, 110, 20]
    assert [lot.last_day - 365 for lot in done.storage["water"]][::2] == sorted(days)


@given(
    st.lists(
        st.tuples(st.sampled_from(CATALOG.suppliers), st.integers(1, 9), st.integers(1, 90)), min_size=1, max_size=8
    ),
    st.integers(0, 20),
)
def test_what_was_paid_for_arrives_once(orders: list[tuple[object, int, int]], seed: int) -> None:
    """Units ordered are units on their way and in storage, at every minute, whatever comes late."""
    state, paid = business(seed, cash=10**9), 0
    for supplier, day, units in sorted(orders, key=lambda order: order[1]):
        assert isinstance(supplier, type(NORTHBAY))
        state = passing(state, max(state.minute, (day - 1) * DAY_MINUTES + OPENING))
        state, _ = add_order(state, supplier, quote_lines(CATALOG, supplier, {supplier.products[-1]: units}), day)
        paid += units
    while True:
        stored = sum(lot.units for lots in state.storage.values() for lot in lots)
        assert stored + sum(line.units for order in state.orders for line in order.lines) == paid
        minute = next_arrival(state)
        if minute is None:
            break
        state = passing(state, minute)
    assert stored == paid


@pytest.mark.parametrize("hour", [0, 6, 8, 23])
def test_a_delivery_hour_before_the_post_loses_nothing(hour: int) -> None:
    """Where the promised hour has passed when the order is read, the goods come with the answer."""
    early = FRESHCART.model_copy(update={"hour": hour, "on_time_permille": 1000})
    catalog = Catalog(products=CATALOG.products, suppliers=(NORTHBAY, GGBEV, early, VALUEBULK))
    state, _ = answered(business(catalog=catalog), early.address, "", "Please send 12 sandwiches" + WHERE)
    assert bool(state.storage) is (hour <= 8)
    state = passing(state, 10 * DAY_MINUTES)
    assert sum(lot.units for lot in state.storage["sandwich"]) == 12
    assert state.orders == ()


def with_letters(count: int) -> State:
    """A business with that many unread letters, numbered 2, 4, ... by their sending."""
    state = business()
    for n in range(count):
        state = send(state, state.setup.email, f"letter {n}", f"body {n}")
    return next_morning(state)


def test_unread_letters_are_shown_once_oldest_first() -> None:
    """A look at 45 new letters shows 20, 20 and 5, and then none; each look says how many are left."""
    state = with_letters(45)
    seen: list[str] = []
    for shown, left in ((20, 25), (20, 5), (5, 0)):
        state, outcome = read_email(state, ReadEmail())
        subjects = [letter.subject for letter in parse_letters(outcome.text)]
        assert len(subjects) == shown
        assert outcome.text.startswith(f"{shown} new letters; {left} more are unread." if left else "5 new letters.\n")
        seen += subjects
    assert seen == [f"letter {n}" for n in range(45)]
    again, outcome = read_email(state, ReadEmail())
    assert (again, outcome.text, outcome.data) == (state, "No new letters.", {"letters": []})


def test_the_latest_letters_of_a_folder_are_shown_newest_first() -> None:
    """The inbox shows the latest 20, read or not, and marks them read; the outbox shows what was sent."""
    state, _ = read_email(with_letters(18), ReadEmail())
    state = next_morning(send(state, state.setup.email, "the last", ""))
    state, outcome = read_email(state, ReadEmail(only_unread=False))
    assert [letter.subject for letter in parse_letters(outcome.text)][:2] == ["the last", "letter 17"]
    assert outcome.text.startswith("The latest 19 of 19 letters.\n")
    assert len(state.mail.unread) == 0
    same, outcome = read_email(state, ReadEmail(folder="sent"))
    assert same is state
    assert [letter.subject for letter in parse_letters(outcome.text)][:2] == ["the last", "letter 17"]
    assert parse_letters(read_email(business(), ReadEmail(only_unread=False))[1].text) == ()


def test_a_full_inbox_hides_no_unread_letter() -> None:
    """While more than 20 letters are unread, the inbox shows the oldest of them first."""
    state, outcome = read_email(with_letters(25), ReadEmail(only_unread=False))
    assert parse_letters(outcome.text)[0].subject == "letter 0"
    assert len(state.mail.unread) == 5


def test_a_look_at_the_mail_reads_like_this() -> None:
    """The delimiter, four headers, an empty line, the body, and a last line."""
    state = send(business(), "someone@example.com", "Hello", "First line\nSecond line")
    _, outcome = read_email(state, ReadEmail(folder="sent"))
    assert outcome.text == (
        "The latest 1 of 1 letters you sent.\n\n"
        "--- letter 1 ---\n"
        "Date: Wed 1 Apr 2026, 08:00\n"
        "From: owner@akinai-vending.com\n"
        "To: someone@example.com\n"
        "Subject: Hello\n\n"
        "First line\nSecond line\n"
        "--- end of mail ---"
    )
    assert outcome.data == {
        "letters": [
            {
                "number": 1,
                "date": "Wed 1 Apr 2026, 08:00",
                "from": "owner@akinai-vending.com",
                "to": "someone@example.com",
                "subject": "Hello",
                "body": "First line\nSecond line",
            }
        ]
    }


PIECES = st.lists(
    st.one_of(
        st.sampled_from(["--- letter 9 ---", " --- letter 9 ---", "--- end of mail ---", "Subject: x", "", " ", "---"]),
        st.sampled_from(["Date: Wed 1 Apr 2026, 08:00", "From: orders@northbay-wholesale.com", "\r", "\x85", "\u2028"]),
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30),
    ),
    max_size=12,
).map("\n".join)


@given(st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=4))
def test_letters_are_read_back_whatever_they_hold(letters: list[tuple[str, str]]) -> None:
    """A text of letters gives back exactly these letters: no body and no subject can forge another one."""
    state = business()
    for subject, body in letters:
        state = send(state, state.setup.email, subject, body)
    _, outcome = read_email(next_morning(state), ReadEmail())
    shown = parse_letters(outcome.text)
    assert len(shown) == len(letters)
    assert outcome.data == {
        "letters": [
            {"number": letter.number, "date": letter.date, "from": letter.sender, "to": letter.to}
            | {"subject": letter.subject, "body": letter.body}
            for letter in shown
        ]
    }
    for letter, (subject, body) in zip(shown, letters, strict=True):
        assert letter.subject == " ".join(subject.split())
        assert letter.body == LINE_ENDS.sub("\n", body)
        assert letter.sender == state.setup.email


def test_a_full_box_costs_no_more() -> None:
    """Old letters are shared, not copied: a further letter leaves the very same ones behind it."""
    state, _ = read_email(with_letters(20), ReadEmail())
    after = next_morning(send(state, state.setup.email, "", ""))
    for now, before in ((after.mail.sent, state.mail.sent), (after.mail.inbox, state.mail.inbox)):
        assert all(mine is earlier for mine, earlier in zip(now[: len(before)], before, strict=True))
    assert after.mail.opened == state.mail.opened


def test_orders_know_what_their_owner_was_told() -> None:
    """Before the delay is announced an order is expected as promised, afterwards on its new day."""
    order = Order(1, "northbay", (), 1, 100, 1540)
    assert (order.expected, replace(order, announced=True).expected) == (100, 1540)


@pytest.mark.parametrize(("day", "cancelled"), [(2, True), (3, False)])
def test_an_order_can_be_cancelled_until_it_leaves(day: int, cancelled: bool) -> None:
    """Goods promised for day 4 leave on the evening of day 3: a letter that is read by then gets the money back."""
    state, _ = ordered(business(), "Please send 50 units of water.")
    state, letter = answered(at(state, day), NORTHBAY.address, "", "Please cancel order 1.")
    assert (state.orders == (), state.cash_cents == 50_000) == (cancelled, cancelled)
    assert ("is back on your account" in letter.body) is cancelled


def test_an_order_that_is_not_to_be_cancelled_stays() -> None:
    """The answer tells of that order, and not of prices."""
    state, _ = ordered(business(), "Please send 50 units of water.")
    after, letter = answered(state, NORTHBAY.address, "", "Please do not cancel order 1!")
    assert after.orders == state.orders
    assert "50 x Water (water)" in letter.body
    assert "price list" not in letter.body


def test_a_change_charges_the_difference() -> None:
    """The order holds the new units at the list's prices, under its number; less money back, or more charged."""
    state, _ = ordered(business(), "Please send 50 units of water.")
    assert state.cash_cents == 50_000 - 50 * 57
    state, letter = answered(state, NORTHBAY.address, "Order 1", "Instead of 50 water, please make it 100.")
    assert "Order 1 is changed, $25.50 charged. It now holds:\n- 100 x Water (water) at $0.54 = $54.00" in letter.body
    assert (state.cash_cents, [order.number for order in state.orders]) == (50_000 - 100 * 54, [1])


@pytest.mark.parametrize(
    ("body", "units"),
    [
        ("Please increase the water on order 1 by 24.", [{"water": 74, "cola": 24}]),
        ("Please add 24 candy to order 1.", [{"water": 50, "cola": 24, "candy": 24}]),
        ("Please reduce the water on order 1 by 10.", [{"water": 40, "cola": 24}]),
        ("Please cancel the cola on order 1.", [{"water": 50}]),
        ("Please take the water and the cola off order 1.", []),
    ],
)
def test_a_change_can_say_how_many_come_or_go(body: str, units: list[dict[str, int]]) -> None:
    """Units are added to those of the order, or taken from them; an order of which nothing is left is cancelled."""
    state, _ = ordered(business(), "Please send 50 units of water and 24 cola.")
    state, _ = answered(state, NORTHBAY.address, "", body)
    assert units_ordered(state) == units
    assert units or state.cash_cents == 50_000


@pytest.mark.parametrize(
    "body",
    [
        "Thank you for delivering 50 water.",
        "We are planning to order 50 water next month.",
        "Last week we bought 50 water from a competitor.",
        "If sales stay strong, we will order 50 water.",
    ],
)
def test_what_only_names_goods_costs_nothing(body: str) -> None:
    """Goods, quantities, address and account are no order; plans and reports get a quote that can be confirmed."""
    state, letter = ordered(business(), body, subject="Hello")
    assert (state.cash_cents, state.orders) == (50_000, ())
    assert ("CONFIRM Q-" in letter.body) is not body.startswith("Thank")
