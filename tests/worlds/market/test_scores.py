"""What a market came to, on ledgers made by hand: the worked numbers, and what is wrong with a proposal."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trading import Desk, business, customer, offer

from akinai.core.worlds import replay
from akinai.worlds.market.analysis.proposal_errors import (
    InvalidBusiness,
    InvalidCustomer,
    InvalidMenuItem,
    InvalidMenuItemPrice,
    InvalidTotalPrice,
    ProposalError,
    distance,
    errors,
    menu_items,
)
from akinai.worlds.market.analysis.scores import buyers, proposals, score, scores_of
from akinai.worlds.market.model.actions import Item, OrderProposal


def errors_of(desk: Desk) -> list[ProposalError]:
    return [member for proposed in proposals(desk.state) for member in errors(proposed, desk.state.members)]


def utility(desk: Desk, fuzzy: int = 0) -> int | float:
    return next(item.value for item in scores_of(desk.state, fuzzy) if item.name == "customer_utility")


def test_a_good_deal() -> None:
    """A and B for 12.00 leave the customer 18.00 and the business 12.00; every figure names its entries."""
    desk = Desk()
    desk.sell(offer())
    result = {item.name: (item.value, item.because) for item in score(replay(desk.world, desk.ledger))}
    assert result == {
        "welfare": (1800, (4,)),
        "customer_utility": (1800, (4,)),
        "business_revenue": (1200, (4,)),
        "purchases": (1, (4,)),
        "proposals": (1, (3,)),
        "invalid_proposals": (0, ()),
    }


def test_a_business_earns_what_it_was_paid() -> None:
    """Payments of 12, 15 and 8 are 35.00."""
    desk = Desk(customers=[customer("ann"), customer("bob"), customer("eve")])
    for buyer, total in (("ann", 12), ("bob", 15), ("eve", 8)):
        desk.sell(offer(buyer, total), buyer=buyer)
    assert desk.scores["business_revenue"] == 3500


def test_who_pays_twice_pays_once() -> None:
    """A second payment is refused and counts nowhere."""
    desk = Desk()
    desk.sell(offer())
    assert not desk.pay("ann", "grill", "p").ok
    assert (desk.scores["welfare"], desk.scores["business_revenue"], desk.scores["purchases"]) == (1800, 1200, 1)


def test_who_buys_at_two_places_has_it_once() -> None:
    """Two businesses, 12 and 13: what one wanted counts once, what one paid twice."""
    desk = Desk([business(), business("diner")])
    desk.sell(offer())
    desk.sell(offer(total=13), "diner")
    assert desk.scores["welfare"] == 500


@pytest.mark.parametrize(
    ("seller", "proposal", "cents"),
    [
        (business(), offer(total=8, A=8.0), -800),
        (business(amenity_features={"Outdoor Seating": False}), offer(), -1200),
        (business(amenity_features={}), offer(), -1200),
        (business(menu={"A": 8.0, "B": 4.0, "C": 3.0}), offer(total=15, A=8.0, B=4.0, C=3.0), 1500),
        (business(menu={"A": 8.0}), offer(), -1200),
    ],
    ids=["item missing", "amenity missing", "amenity unknown", "one item more", "not on the menu"],
)
def test_needs_are_met_by_all_items_of_the_menu_and_all_amenities(seller: Any, proposal: Any, cents: int) -> None:
    """Without an item or an amenity the payment is lost; more than one asked for does no harm."""
    desk = Desk([seller])
    desk.sell(proposal)
    assert desk.scores["welfare"] == cents


def test_nobody_buys() -> None:
    """A market without deals is worth nothing, and a customer who bought nothing is in the mean."""
    assert set(Desk().scores.values()) == {0}
    desk = Desk(customers=[customer(), customer("bob")])
    desk.sell(offer())
    assert (desk.scores["welfare"], desk.scores["customer_utility"]) == (1800, 900)
    assert [(buyer.id, buyer.needs_met, buyer.utility_cents) for buyer in buyers(desk.state)] == [
        ("ann", True, 1800),
        ("bob", False, 0),
    ]


def test_a_misspelt_item_counts_within_its_distance() -> None:
    """ "Item  A" is one edit from the menu: at distance 0 it is not there, at 1 it is, and it is an error both times."""
    desk = Desk()
    desk.sell(offer(**{"Item  A": 8.0, "Item B": 4.0}))
    assert (utility(desk), utility(desk, 1)) == (-1200, 1800)
    assert errors_of(desk) == [InvalidMenuItem("Item  A", "Item A", 1)]
    assert desk.scores["invalid_proposals"] == 1


@pytest.mark.parametrize(("price", "wrong"), [(8.009, False), (8.01, True), (7.99, True), (7.991, False)])
def test_prices_differ_from_a_cent_on(price: float, wrong: bool) -> None:
    """8.009 for 8.00 is no error, 8.01 is, compared as decimals."""
    desk = Desk()
    desk.propose("grill", "ann", offer(total=price + 4, A=price, B=4.0))
    expected = [InvalidMenuItemPrice("Item A", Decimal(str(price)), Decimal("8.0"))] if wrong else []
    assert errors_of(desk) == expected


def test_every_error_is_found_once() -> None:
    """A wrong total, a sender that is no business, a recipient that is no customer."""
    desk = Desk([business(), business("diner")], open=True)
    desk.propose("grill", "ann", offer(total=11))
    desk.propose("grill", "diner", offer("q"))
    assert errors_of(desk) == [InvalidTotalPrice(Decimal(11), Decimal("12.0")), InvalidCustomer("diner")]
    from akinai.worlds.market.model.actions import Register

    desk = Desk(open=True)
    desk.act("x", Register(profile={"id": "x"}))
    desk.propose("x", "ann", offer())
    assert errors_of(desk) == [InvalidBusiness("x")]


def test_an_item_stands_for_one_of_the_menu() -> None:
    """Two misspelt items cannot both be the same one of the menu; the nearest pair goes first."""
    items = [Item(item_name=name, quantity=1, unit_price=1) for name in ("Teaa", "Teab")]
    proposal = OrderProposal(id="p", items=items, total_price=2)
    assert menu_items(proposal, {"Tea"}, 1) == {"Tea"}
    assert menu_items(proposal, {"tea", "TeaB"}, 1) == {"tea", "TeaB"}
    assert menu_items(proposal, {"Tea"}) == set()


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_distance_is_a_distance(a: str, b: str, c: str) -> None:
    """Zero for equals alone, the same both ways, and no way around is shorter."""
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, b) == distance(b, a) <= max(len(a), len(b))
    assert distance(a, c) <= distance(a, b) + distance(b, c)


def edits(a: str, b: str) -> int:
    """The distance by the table of which every cell counts the edits between two beginnings."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != other))
    return row[-1]


@given(st.text("abc", max_size=80), st.text("abc", max_size=80))
def test_distance_is_that_of_the_table(a: str, b: str) -> None:
    """However long the texts are: no bit is lost beyond a machine's word."""
    assert distance(a, b) == edits(a, b)


def test_distance_counts_edits() -> None:
    """The textbook's example."""
    assert distance("kitten", "sitting") == 3
