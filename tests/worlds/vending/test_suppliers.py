"""Suppliers: what they read in a letter, what they charge for it, and how late they are."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from business import business
from hypothesis import example, given
from hypothesis import strategies as st

import akinai.worlds.vending as vending
from akinai.worlds.vending.letters.intents import Intent
from akinai.worlds.vending.letters.meaning.numbers import Row
from akinai.worlds.vending.letters.names import plain_name
from akinai.worlds.vending.letters.orders import read_order
from akinai.worlds.vending.letters.scan import scan
from akinai.worlds.vending.letters.text import clauses, prepare
from akinai.worlds.vending.model.setup import Catalog, Setup, Supplier
from akinai.worlds.vending.model.state import DAY_MINUTES, Line, Order
from akinai.worlds.vending.rules.deliveries import dispatch
from akinai.worlds.vending.rules.orders import discount_permille, promised_minute, quote_lines, total_cents
from akinai.worlds.vending.rules.suppliers.answers import understand
from together import together

CATALOG = Catalog.model_validate(tomllib.loads(Path(vending.__file__).with_name("catalog.toml").read_text()))
SETUP = Setup(catalog=CATALOG)
NORTHBAY, GGBEV, FRESHCART, VALUEBULK = CATALOG.suppliers
WHERE = "\nDelivery address: Akinai Vending, 88 Harbor Street, Alameda\nAccount: AV-20418\n"
ELEVENTH = business(11)
WATER, BOTH = {"water": 50}, {"water": 50, "cola": 24}


def read(text: str) -> dict[str, int]:
    """What clauses that order name, where it can be read in exactly one way; else nothing."""
    names = CATALOG.good_names
    written = clauses(prepare(text, names), names)
    rows = [Row(scan(clause.text, names), "order", clause.listed) for clause in written]
    order = read_order([Row(scan("Order", names), "order", subject=True), *rows])
    return dict(order.units) if order else {}


def plural(name: str) -> str:
    return name if name.endswith("s") else f"{name}s"


def request(subject: str, body: str) -> Intent:
    """The first intent of a letter."""
    return understand(SETUP, subject, body)[0][0]


@together(
    ("text", "units"),
    [
        ("50 units of water", WATER),
        ("50 water", WATER),
        ("50 waters", WATER),
        ("50 bottles of water", WATER),
        ("50 cold bottles of water", WATER),
        ("50 bottled waters", WATER),
        ("50 x water", WATER),
        ("50x water", WATER),
        ("50 × water", WATER),
        ("water x50", WATER),
        ("water x 50", WATER),
        ("Water×50", WATER),
        ("Water   x   50", WATER),
        ("water: 50", WATER),
        ("WATER = 50", WATER),
        ("water (50)", WATER),
        ("water [50]", WATER),
        ("- Water — 50 units", WATER),
        ("water - 50", WATER),
        ("50 - Water", WATER),
        ("Water ........ 50", WATER),
        ("Qty 50 Water", WATER),
        ("Water qty. 50", WATER),
        ("Water - Quantity: 50 units - Unit price: $0.60", WATER),
        ("50pcs water", WATER),
        ("**Water**: `50` units", WATER),
        ("５０　ｕｎｉｔｓ　ｏｆ　ｗａｔｅｒ", WATER),
        ("1,000 units of water", {"water": 1000}),
        ("water: 1,000", {"water": 1000}),
        ("24 cases of cola", {"cola": 576}),
        ("sandwich: 2 cases", {"sandwich": 12}),
        ("two cases of cola and a case of water", {"cola": 48, "water": 24}),
        ("2 cases of 24 cola", {"cola": 48}),
        ("Water (24 per case): 2 cases", {"water": 48}),
        ("2 cases (48 units) of water", {"water": 48}),
        ("2 cases of cola (48 units), 1 case of water (24 units)", {"cola": 48, "water": 24}),
        ("fifty units of water", WATER),
        ("fifty (50) units of water", WATER),
        ("twenty-four units of water", {"water": 24}),
        ("thirty five cases of water", {"water": 840}),
        ("2 cases of water (24 units each)", {"water": 48}),
    ],
)
def test_one_product_is_read_in_every_form(text: str, units: Mapping[str, int]) -> None:
    """A quantity is read in every form in which people write one beside a name."""
    assert read(text) == units


@together(
    "text",
    [
        "50 units of water and 24 cola",
        "Could I get 50 of water and 24 of cola please?",
        "We need 50 units of water, and also 24 units of cola, at your best price.",
        "water 50, cola 24",
        "water 50 cola 24",
        "50 water 24 cola",
        "50 water; 24 cola",
        "50 water + 24 cola",
        "water (50 units), cola (24 units)",
        "items: water=50; cola=24",
        "Water\t50\nCola\t24",
        "Water      50\nCola       24",
        "1. Water x 50\n2. Cola x 24",
        "1) 50 units of water\n2) 24 units of cola",
        "* 50 units - Water\n* 24 units - Cola",
        "Product: Water\nQuantity: 50 units\n\nProduct: Cola\nQuantity: 24",
        "Quantity: 50\nProduct: Water\nQuantity: 24\nProduct: Cola",
        "| Product | Quantity |\n|---|---|\n| Water | 50 |\n| Cola | 24 |",
        "| # | Product | Units | Each |\n|-|-|-|-|\n| 1 | Water | 50 | $0.60 |\n| 2 | Cola | 24 | 0.85 |",
        '{"water": 50, "cola": 24}',
        '{"items": {"water": 50, "cola": 24}}',
    ],
)
def test_several_products_are_read_from_lists_tables_and_sentences(text: str) -> None:
    """Each product gets its own number."""
    assert read(text) == BOTH


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("24 units each of water and cola", {"water": 24, "cola": 24}),
        ("water, cola and chips, 24 each", {"water": 24, "cola": 24, "chips": 24}),
        ("24 units of each: water, cola", {"water": 24, "cola": 24}),
        ("50 units of water at $1.50 each and cola", {}),
    ],
)
def test_each_goes_to_every_product_of_the_sentence(text: str, units: Mapping[str, int]) -> None:
    """ "24 each" counts for all names of its sentence that have no number of their own; a price each for none."""
    assert read(text) == units


@together(
    "text",
    [
        "",
        "water",
        "Do you have water?",
        "order #42",
        "Re: order #42, water",
        "water, telephone 510-555-0199",
        "water, (510) 555-0199",
        "account 20418",
        "AV-20418 water",
        "Q-12 water",
        "quote no. 12, water",
        "88 Harbor Street",
        "50 Water Street",
        "deliver to 50 Water Street",
        "water on 3 April 2026",
        "water by 2026-04-03, 14:00 or 2pm",
        "$1.50 water",
        "water at 1.50",
        "water $0.60 a unit, case of 24",
        "5% off water",
        "50 percent of your water",
        "We have 12 slots for water and 3 days left.",
        "water: 3 days",
        "water 24 per case",
        "e 50",
        ": 50",
        "'' 50",
        "50 water-coolers",
        "50 www.water.com",
        "50 non-water",
    ],
)
def test_what_is_no_quantity_orders_nothing(text: str) -> None:
    """Numbers that are names, dates, prices, streets or shares, and names inside other words, ask for nothing."""
    assert read(text) == {}


@together(
    "text",
    [
        "0 water",
        "-5 units of water",
        "water: -5",
        "2.5 units of water",
        "1.000 units of water",
        "100,001 water",
        "99999999999999999999 water",
        "5,000 cases of water",
        "50 to 60 water",
        "50 water, 24",
        "2 pallets of water",
        "1 case of 12 water",
        "2 cases of water (50 units)",
        "24 water\n36 water",
        "50 units of water\n\nSummary:\n- Water: 50",
        "24 water and cola",
        "water, 50 cola, 24",
        "2 water and 1 cola, all in cases",
        "50 units of watermelon and 24 cola",
        "50 units of coconut water",
        "12 chocolate cookies",
        "Order 42: 50 units of water",
        "50 water, 10% off",
        "50 water\nOur budget: $40",
        "50 water, 12 Oak Street",
    ],
)
def test_what_can_be_read_in_two_ways_orders_nothing(text: str) -> None:
    """A number without its goods, goods without their number, either twice, and quantities that nobody can send."""
    assert read(text) == {}


@together(
    "product",
    [
        name
        for product in CATALOG.products
        for name in (product.id, product.name, *product.other_names)
        if name.isascii()
    ],
)
def test_a_product_answers_to_all_its_names(product: str) -> None:
    """Id, name and other names, in capitals, plural and with other spaces, are the same product."""
    wanted = CATALOG.find(product)
    assert wanted is not None
    for name in (product, product.upper(), plural(product), product.replace("_", " "), product.replace(" ", "-")):
        assert read(f"12 units of {name}") == {wanted.id: 12}, name


NAMES = [
    name
    for product in CATALOG.products
    for name in (product.id, product.name, product.name.lower(), plural(product.name), *product.other_names)
    if name.isascii()
]
FORMS = (
    "{n} units of {p}",
    "{n} {p}",
    "{n} x {p}",
    "{p} x{n}",
    "{p}: {n}",
    "{p} ({n})",
    "{p} - {n} units",
    "{p} — {n}",
    "{n:,} units of {p}",
    '"{p}": {n}',
)
JOINTS = ("\n- ", ", ", "; ", " and ", "\n", "\n* ")


@given(
    wanted=st.dictionaries(st.sampled_from(NAMES), st.integers(1, 100_000), min_size=1, max_size=8),
    form=st.sampled_from(FORMS),
    joint=st.sampled_from(JOINTS),
    before=st.sampled_from(("Please send us:\n- ", "Hello, I would like ", "Order:\n")),
    after=st.sampled_from(("", "\nThank you", ".", f"\n{WHERE}", " by 3 May. Call 510-555-0199.")),
)
@example({"water": 1, "cola": 1}, "{p} x{n}", "\n- ", "Order:\n", " by 3 May. Call 510-555-0199.")
@example({"water": 1, "cola": 1}, '"{p}": {n}', "\n- ", "Hello, I would like ", "\nThank you")
@example(
    {"water": 1, "cola": 1, "energy_drink": 1, "iced_tea": 1},
    "{p} x{n}",
    "; ",
    "Hello, I would like ",
    " by 3 May. Call 510-555-0199.",
)
def test_a_written_order_reads_back(wanted: dict[str, int], form: str, joint: str, before: str, after: str) -> None:
    """Items written in any form, joined in any way, inside any letter, are the items that are read."""
    by_product = {plain_name(name): (name, units) for name, units in wanted.items()}
    chosen: dict[str, tuple[str, int]] = {}
    for name, units in by_product.values():
        product = CATALOG.find(name)
        assert product is not None
        chosen.setdefault(product.id, (name, units))
    text = before + joint.join(form.format(p=name, n=units) for name, units in chosen.values()) + after
    found = {id: units for intent in understand(SETUP, "", text)[0] for id, units in intent.items.units.items()}
    assert found == {product: units for product, (_, units) in chosen.items()}, text


SOUP_WORDS = (
    "50 24 1,000 2.5 -3 0 x × of units cases each and , . : ; ( ) [ ] { } | - — # $ % @ / = + ? ! water cola iced tea "
    "energy_drink Street order quote confirm Q-12 please AV-20418 total CA 94501 a two 3rd 2pm 10:30 case \" '"
)
SOUP = st.lists(st.sampled_from([*SOUP_WORDS.split(" "), "\n", "\t"]), max_size=60).map(" ".join)
LONG = (
    *("1,", "1-", "9", "a@", "50 ", "1,000", ".", "\n", "A ", "$", "1 A A A ", "1.1", "trail ", "(510) 555", "x5", " "),
    *("please ", "confirm the ", "q-1 ", "what is ", "88 Harbor ", "re: ", "50 units of water ", "send a ", "ﷺ", "|"),
    *(
        "if it ",
        "do not cancel ",
        "we will order next ",
        "キャンセル",
        "cancel water on ",
        "add 24 ",
        "water 24, sprite ",
    ),
    *('"a ', "1-", "24本〜", "increase by ", "ご連絡ください1 ", "「水", "please let me know if ", "a not ", "9 to "),
    *("- 24 sprite\n", "Product: sprite\nQuantity: 24\n", "Water | 24 | ", "quote 12 or ", "we don't need "),
)


@given(st.one_of(st.text(max_size=300), SOUP), st.one_of(st.text(max_size=80), SOUP))
def test_no_letter_breaks_its_reader(body: str, subject: str) -> None:
    """Any text is read; what is found are products of the catalogue in whole numbers up to 100,000."""
    intents, _ = understand(SETUP, subject, body)
    assert intents
    for found in (intent.items for intent in intents):
        assert set(found.units) <= set(CATALOG.by_id)
        assert all(0 <= units <= 100_000 for units in found.units.values())
        assert not set(found.units) & {item.product for item in found.unclear}


@given(st.text(st.characters(exclude_categories=["N", "Cs"]), max_size=400))
def test_a_text_without_numbers_asks_for_nothing(text: str) -> None:
    """Without a digit or a counted case there is no quantity, whatever else there is."""
    assert read(text.replace("x", "")) == {}


@pytest.mark.parametrize("piece", LONG)
def test_a_long_letter_is_read(piece: str) -> None:
    """A thousand characters of any one kind are read; a search that backtracks would not come back.

    That the time grows as the text does is measured by `bench/long_texts.py`.
    """
    assert request(piece, piece * (1_000 // len(piece))).items.unclear is not None


@together(
    ("subject", "body", "kind"),
    [
        ("Order", "50 units of water" + WHERE, "order"),
        ("Hello", "50 units of water" + WHERE, "ask quote"),
        ("Order", "I would like to order 50 units of water", "order"),
        ("Restock", "Please send us 50 units of water." + WHERE, "order"),
        ("Order", "I'd like to place an order: 50 water. Please confirm the total price." + WHERE, "order"),
        ("Order", "At your quoted prices, please ship 50 units of water." + WHERE, "order"),
        ("Order", "As in your quote Q-3, I'd like to order 50 units of water." + WHERE, "order"),
        ("Order", "I'd like to order from your price list: 50 units of water." + WHERE, "order"),
        ("Order 50 water", "Please send these goods." + WHERE, "order"),
        ("Order", "Please send me the usual.", "other"),
        ("Inquiry", "50 units of water", "ask quote"),
        ("Hello", "I'm interested in 50 units of water." + WHERE, "ask quote"),
        ("Quote request", "50 units of water" + WHERE, "ask quote"),
        ("Order", "Could you quote 50 units of water?" + WHERE, "ask quote"),
        ("Order", "I'd like to order soon. How much would 50 units of water be?" + WHERE, "ask quote"),
        ("Order", "Please do not send 50 units of water." + WHERE, "other"),
        ("", "", "other"),
        ("Hello", "Who are you?", "ask other"),
        ("Price list", "Please send me your price list." + WHERE, "ask prices"),
        ("Order", "> 50 units of water" + WHERE.replace("\n", "\n> "), "other"),
        ("Where is it?", "Where is my order of 50 units of water?" + WHERE, "ask order"),
        ("Status", "Please send me a status update on my order of 50 water." + WHERE, "ask order"),
        ("Thanks", "Thank you for the delivery of 50 units of water. All is well." + WHERE, "thank"),
        ("Cancel", "Please cancel my order of 50 water." + WHERE, "change"),
        ("Late", "My order of 50 water has not arrived." + WHERE, "ask order"),
        ("Order", "Where is my order of 50 units of water?" + WHERE, "ask order"),
        ("Order 42", "I ordered 50 units of water, and they have not arrived yet." + WHERE, "ask order"),
    ],
)
def test_a_letter_is_taken_for_what_it_is(subject: str, body: str, kind: str) -> None:
    """Only what orders is an order: a quote, a price list, a question and a refusal charge nothing."""
    intent = request(subject, body)
    assert f"{intent.kind} {intent.topic or ''}".strip() == kind


@together(
    ("subject", "body", "quote"),
    [
        ("CONFIRM Q-12", "", (12,)),
        ("", "confirm quote 12", (12,)),
        ("Re: Quote Q-12", "CONFIRM", (12,)),
        ("Re: Quote", "I confirm quote #12. Please ship to" + WHERE, (12,)),
        ("Re: Quote Q-12", "Please proceed with quote Q-12.", (12,)),
        ("Order", "Please process my order per quote Q-12." + WHERE, (12,)),
        ("Order", "CONFIRM Q-12: 50 units of water", (12,)),
        ("Re: your letter", "Confirm.", ()),
    ],
)
def test_a_quote_is_confirmed_by_its_number(subject: str, body: str, quote: tuple[int, ...]) -> None:
    """CONFIRM and a number, in subject or body, orders by that quote; a bare CONFIRM leaves the number open."""
    meaning = request(subject, body)
    assert (meaning.kind, meaning.quotes) == ("confirm", quote)


@together(
    "body",
    [
        "Please confirm receipt.",
        "Please confirm.",
        "Can you confirm Q-12?",
        "Please confirm quote Q-12 is still valid.",
        "I do not confirm Q-12.",
        "I cannot accept Q-12.",
        "Please confirm my order of 50 units of water." + WHERE,
    ],
)
def test_asking_for_a_confirmation_confirms_nothing(body: str) -> None:
    """Who asks a supplier to confirm, or declines, has confirmed no quote."""
    assert all(intent.kind != "confirm" for intent in understand(SETUP, "", body)[0])


@together(
    ("text", "addressed", "named"),
    [
        (WHERE, True, True),
        ("88 harbor st., Alameda, CA 94501, account av 20418", True, True),
        ("Akinai Vending\n88 Harbor Street\nAlameda\nAV20418", True, True),
        ("88 Harbor Street, Oakland. AV-20419", False, False),
        ("188 Harbor Street, Alameda. AV-204180", False, False),
        ("Harbor Street, Alameda. AV-20418-2", False, False),
        ("Akinai Vending. XAV-20418", False, False),
    ],
)
def test_a_wrong_account_is_not_the_account(text: str, addressed: bool, named: bool) -> None:
    """Address and account count in any spelling, and only when they are the customer's own."""
    intents, delivery = understand(SETUP, "Order", f"50 units of water. {text}")
    assert (delivery.addressed, delivery.account_named) == (addressed, named)
    assert intents[0].items.units == WATER


def test_the_subject_counts_when_the_body_asks_for_nothing() -> None:
    """Items are taken from the body, so that a subject that repeats them does not double them."""
    assert request("Order: 50 water", "50 units of water").items.units == WATER
    assert request("Order: 50 water", "24 units of cola").items.units == {"cola": 24}
    assert request("Order: 50 water", "Please send them.").items.units == WATER


def test_a_quoted_letter_is_not_read_again() -> None:
    """Lines that quote an earlier letter order nothing."""
    body = "Any news?\n\nOn Wed 1 Apr 2026 the owner wrote:\n50 units of water"
    assert not request("Re: hello", body).items.has_quantities
    assert not request("Re: hello", "> 50 units of water\nAny news?").items.has_quantities


@together(
    ("supplier", "wanted", "lines"),
    [
        (NORTHBAY, {"water": 47}, [("water", 47, 60)]),
        (NORTHBAY, {"water": 48}, [("water", 48, 57)]),  # 60 less 5 %
        (NORTHBAY, {"cola": 24, "water": 24}, [("water", 24, 57), ("cola", 24, 81)]),  # 80.75 rounds up
        (NORTHBAY, {"water": 90, "sandwich": 6}, [("water", 90, 54), ("sandwich", 6, 248)]),  # 247.5 rounds up
        (GGBEV, {"cola": 10}, [("cola", 10, 79)]),  # 85 x 0.93 = 79.05
        (GGBEV, {"cola": 48}, [("cola", 48, 77)]),  # 79.05 less 3 % = 76.68
        (GGBEV, {"water": 120}, [("water", 120, 51)]),  # 55.8 less 8 % = 51.336
        (VALUEBULK, {"beef_jerky": 120}, [("beef_jerky", 120, 190)]),  # 202.4 less 6 % = 190.256
    ],
)
def test_the_discount_goes_by_all_units_of_a_letter(
    supplier: Supplier, wanted: dict[str, int], lines: list[tuple[str, int, int]]
) -> None:
    """The highest tier that all units together reach applies to all of them; a unit's price rounds half up."""
    assert [(line.product, line.units, line.cost_cents) for line in quote_lines(CATALOG, supplier, wanted)] == lines


def test_a_total_is_units_times_unit_price() -> None:
    """48 water and 48 cola at 10 % off come to 48 x $0.54 + 48 x $0.77 = $62.88."""
    lines = quote_lines(CATALOG, NORTHBAY, {"water": 48, "cola": 48})
    assert lines == (Line("water", 48, 54), Line("cola", 48, 77))
    assert total_cents(lines) == 6288


@given(st.sampled_from(CATALOG.suppliers), st.integers(1, 500), st.integers(1, 500))
def test_more_units_never_cost_more_each(supplier: Supplier, few: int, more: int) -> None:
    """A larger letter has at least the discount of a smaller one."""
    few, more = sorted((few, more))
    product = supplier.products[0]
    assert discount_permille(supplier, few) <= discount_permille(supplier, more)
    dear, cheap = (quote_lines(CATALOG, supplier, {product: units})[0] for units in (few, more))
    assert dear.cost_cents >= cheap.cost_cents


def test_goods_are_promised_for_the_suppliers_hour() -> None:
    """A letter of day 1 to a supplier of three days and 14:00 promises day 4, 14:00."""
    assert promised_minute(NORTHBAY, 1) == 3 * 1440 + 14 * 60
    assert promised_minute(FRESHCART, 10) == 10 * 1440 + 15 * 60


@pytest.mark.parametrize(
    "supplier", [*CATALOG.suppliers[:2], *(pytest.param(s, marks=pytest.mark.slow) for s in CATALOG.suppliers[2:])]
)
def test_orders_are_late_as_often_as_the_catalogue_says(supplier: Supplier) -> None:
    """Over 10,000 days the share on time is the supplier's within 1.5 %; the others are one, two or three days late."""
    late = [days_late(supplier, day) for day in range(10_000)]
    assert set(late) == {0, 1, 2, 3}
    assert abs(late.count(0) / 10_000 - supplier.on_time_permille / 1000) < 0.015
    assert all(abs(late.count(days) * 3 / (10_000 - late.count(0)) - 1) < 0.2 for days in (1, 2, 3))


def test_lateness_depends_on_supplier_and_day_alone() -> None:
    """The same letter day is equally late again; other suppliers and days are drawn apart."""
    week = [days_late(VALUEBULK, day) for day in range(200)]
    assert week == [days_late(VALUEBULK, day) for day in range(200)]
    assert week != [days_late(NORTHBAY, day) for day in range(200)]


def days_late(supplier: Supplier, day: int) -> int:
    """The days by which an order of a day comes late; nothing else of it goes wrong."""
    state = ELEVENTH
    order = Order(1, supplier.id, quote_lines(state.setup.catalog, supplier, {supplier.products[0]: 9}), day, 0, 0)
    sent = dispatch(state, supplier, order)
    assert (sent.lost, sent.missing, sent.due % DAY_MINUTES) == (False, (), 0)
    return sent.due // DAY_MINUTES
