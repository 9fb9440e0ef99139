"""What the numbers of a letter come to where their roles are known."""

from dataclasses import replace

import pytest
from letters_for_tests import SETUP

from akinai.worlds.vending.letters.amounts import by_reference, shortage
from akinai.worlds.vending.letters.bargains import bargain
from akinai.worlds.vending.letters.meaning.numbers import MOST_NUMBERS, ROLES, Number, Row, find_numbers
from akinai.worlds.vending.letters.meaning.roles import can_be, with_roles
from akinai.worlds.vending.letters.scan import scan
from akinai.worlds.vending.letters.text import prepare
from together import together

NAMES = SETUP.catalog.good_names


def rows_of(*lines: str) -> list[Row]:
    """A subject without words, and lines of "kind| text"."""
    parts = [line.partition("| ") for line in lines]
    return [
        Row((), "none", subject=True),
        *(Row(scan(prepare(text, NAMES), NAMES), kind, text.startswith("- ")) for kind, _, text in parts),
    ]


def judged(rows: list[Row], roles: str) -> list[Number]:
    """The numbers of rows, without names, with these roles in their order; "missing*" counts cases."""
    names = iter(roles.split())
    numbers = find_numbers(rows)
    return [
        replace(number, role=role.rstrip("*"), boxed=role.endswith("*"))
        for number, role in zip(numbers, names, strict=True)
    ]


@together(
    ("lines", "roles", "missing", "received"),
    [
        (["claim| 4 cola are missing"], "missing", {"cola": 4}, {}),
        (["claim| ordered 24 cola, 20 came"], "ordered received", {"cola": 4}, {"cola": 20}),
        (["none| 24 cola were ordered.", "claim| 20 came."], "ordered received", {"cola": 4}, {"cola": 20}),
        (["claim| 20 cola came"], "received", {}, {"cola": 20}),
        (["claim| 24 cola that we paid for"], "ordered", {"cola": 24}, {}),
        (["claim| 2 torn and 3 wet popcorn", "claim| 5 popcorn"], "missing missing missing", {"popcorn": 5}, {}),
        (["claim| 2 cola", "claim| 4 gum", "claim| credit the 6 pieces"], "missing missing missing",
         {"cola": 2, "chewing_gum": 4}, {}),
        (["claim| 6 each of gum and candy"], "missing", {"candy": 6, "chewing_gum": 6}, {}),
        (["claim| 6 cola burst. Water and gum are fine.", "claim| Please credit the 6."], "missing missing", {"cola": 6}, {}),
        (["claim| - cola | 48 | 40", "claim| - gum | 24 | 20", "claim| We lack 12."],
         "ordered received ordered received missing", {"cola": 8, "chewing_gum": 4}, {"cola": 40, "chewing_gum": 20}),
        (["claim| - cola | 48 | 40", "claim| - gum | 24 | 24"], "ordered received ordered received", {"cola": 8}, {"cola": 40}),
        (["order| 24 cola"], "missing", {}, {}),
    ],
)  # fmt: skip
def test_a_shortage_is_worked_out(lines: list[str], roles: str, missing: object, received: object) -> None:
    """What was ordered less what came is missing; what only came is received; totals over goods count no goods."""
    rows = rows_of(*lines)
    lack = shortage(rows, judged(rows, roles))
    assert (dict(lack.missing), dict(lack.received)) == (missing, received)


def test_claims_go_by_the_order_named_before_them() -> None:
    """Each order of a letter has its own numbers, also where a heading names it."""
    rows = rows_of("none| Order 40:", "claim| 7 water", "none| Order 41:", "claim| 4 cola", "claim| 2 chips")
    groups = by_reference(rows, judged(rows, "order missing order missing missing"), "claim")
    assert [(mark and mark.value, [number.value for number in numbers]) for mark, numbers in groups] == [
        (40, [7]),
        (41, [4, 2]),
    ]


def test_a_bargain_keeps_the_last_offer_of_each_product() -> None:
    """Offers count in clauses that bargain alone, rivals' prices anywhere."""
    rows = rows_of(
        "negotiate| cola at $0.50, no, $0.52, they ask $0.55", "none| I offer $0.40 for gum", "negotiate| 5% off"
    )
    prices = bargain(rows, judged(rows, "offer offer rival offer off"))
    assert (prices.offers, prices.rivals, prices.off_permille) == ({"cola": 52}, {"cola": 55}, 50)


@pytest.mark.parametrize(
    ("line", "roles", "offers", "rivals"),
    [
        ("cola for $12.00 the case", "offer*", {"cola": 50}, {}),
        ("80 cents each for chips and popcorn", "offer", {"chips": 80, "popcorn": 80}, {}),
        ("80 cents for chips and 85 for popcorn", "offer offer", {"chips": 80, "popcorn": 85}, {}),
        ("Could you match their price of 80 cents for chips?", "offer", {}, {"chips": 80}),
        ("I won't ask you to match them: 80 cents for chips.", "offer", {"chips": 80}, {}),
    ],
)
def test_a_price_is_of_a_unit_of_its_goods(line: str, roles: str, offers: object, rivals: object) -> None:
    """The price of a case is divided, goods listed together share a price, and one to be matched is a rival's."""
    rows = rows_of(f"negotiate| {line}")
    prices = bargain(rows, judged(rows, roles))
    assert (prices.offers, prices.rivals) == (offers, rivals)


@pytest.mark.parametrize(
    "line",
    [
        "Cola at $12.00 the case", "Cola at $12 a case", "Cola at $12.00 / case of 24", "Cola at $12.00 per case",
        "コーラを1ケース12ドルでお願いします",
    ],
)  # fmt: skip
def test_a_price_of_a_case_is_known(line: str) -> None:
    """By the word after it, in Japanese before it; its value is that of a unit."""
    number = next(number for number in find_numbers(rows_of(f"negotiate| {line}")) if number.mark.kind == "money")
    assert (number.boxed, number.value) == (True, 50)


def test_a_number_has_a_role_that_its_clause_and_mark_can_have() -> None:
    """Money is no count of units, a discount no price, a quote no order, and nothing is missing in an order."""
    rows = rows_of("order| 48 water at $0.50, 5% off, quote 12, order 13")
    possible = [
        {role for role, can in zip(ROLES, can_be("order", number.mark), strict=True) if can}
        for number in find_numbers(rows)
    ]
    assert possible == [{"none", "units", "order", "quote"}, {"none"}, {"none"}, {"none", "quote"}, {"none", "order"}]


def test_the_numbers_of_a_letter_are_judged_up_to_a_limit() -> None:
    """A letter of numbers alone is read in a moment."""
    rows = rows_of("order| " + "24 water " * 5000)
    assert len(with_roles(rows)) == MOST_NUMBERS
    assert with_roles(rows_of("none| Hello")) == []


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("Make it a hundred and forty-four.", "Make it 144."),
        ("one hundred twenty colas", "120 colas"),
        ("with two dollars sixty you have us", "with $2.60 you have us"),
        ("a couple of iced teas were dented", "2 iced teas were dented"),
        ("a couple of questions on cola", "a couple of questions on cola"),
    ],
)
def test_numbers_in_words_are_read_whole(words: str, read: str) -> None:
    """No part of a number is taken for all of it."""
    assert prepare(words, SETUP.catalog.good_names) == read
