"""The worked numbers of the market's analysis, from the command line, on ledgers made by hand and kept in a store."""

from typing import Any

import pytest
from keeping import Shell, keep
from trading import POPULATIONS, Desk, business, customer, needs_populations, offer

MISSPELT = {"Item  A": 8.0, "Item B": 4.0}


def sold(*deals: Any, sellers: Any = None) -> Desk:
    """A market in which ann paid proposals: a proposal, or a seller's name and one."""
    desk = Desk(sellers)
    for deal in deals:
        seller, proposal = deal if isinstance(deal, tuple) else ("grill", deal)
        desk.sell(proposal, seller)
    return desk


def worked(shell: Shell, desk: Desk, *words: str) -> tuple[float, float, float]:
    """Utility, what businesses received, and welfare, in cents."""
    keep("hand", desk)
    figures = shell.figures("hand", *words)
    return figures["customer_utility"], figures["business_revenue"], figures["welfare"]


NO_SEATS = business(amenity_features={"Outdoor Seating": False})
MORE = business(menu={"A": 8.0, "B": 4.0, "C": 3.0})


@pytest.mark.parametrize(
    ("desk", "cents"),
    [
        (lambda: sold(offer()), (1800, 1200, 1800)),
        (lambda: sold(offer(), ("diner", offer(total=13)), sellers=[business(), business("diner")]), (500, 2500, 500)),
        (lambda: sold(offer(total=8, A=8.0)), (-800, 800, -800)),
        (lambda: sold(offer(), sellers=[NO_SEATS]), (-1200, 1200, -1200)),
        (lambda: sold(offer(total=15, A=8.0, B=4.0, C=3.0), sellers=[MORE]), (1500, 1500, 1500)),
        (sold, (0, 0, 0)),
    ],
    ids=["all met", "two businesses", "item missing", "amenity missing", "one item more", "nobody buys"],
)
def test_utility_and_welfare(shell: Shell, desk: Any, cents: tuple[int, int, int]) -> None:
    """Twice the willingness to pay where the needs are met, once, less all that was paid; nobody buys is 0."""
    assert worked(shell, desk()) == cents


def test_a_business_has_what_it_was_paid(shell: Shell) -> None:
    """Payments of 12, 15 and 8 are 35.00, in the scores and in the business's own row."""
    desk = Desk(customers=[customer("ann"), customer("bob"), customer("eve")])
    for buyer, total in (("ann", 12), ("bob", 15), ("eve", 8)):
        desk.sell(offer(buyer, total), buyer=buyer)
    keep("hand", desk)
    analysis = shell.analyzed("hand")["runs"][0]
    assert analysis["scores"]["business_revenue"]["value"] == 3500
    assert analysis["tables"]["payments_by_business"] == [{"business": "grill", "payments": 3, "revenue": 3500}]


def test_a_second_payment_is_refused_and_counts_nowhere(shell: Shell) -> None:
    """Who pays a proposal twice has paid once: 18.00 and 12.00."""
    desk = sold(offer())
    assert not desk.pay("ann", "grill", "p").ok
    assert worked(shell, desk) == (1800, 1200, 1800)
    assert shell.figures("hand")["refused"] == 1


def test_a_misspelt_item(shell: Shell) -> None:
    """ "Item  A" is worth nothing at distance 0 and all at 1, in every score alike, and is listed as an error both times."""
    keep("hand", sold(offer(**MISSPELT)))
    for words, cents, counted in (((), -1200, None), (("--fuzzy-match-distance", "1"), 1800, "Item A")):
        analysis = shell.analyzed("hand", *words)
        assert analysis["runs"][0]["scores"]["welfare"]["value"] == cents
        assert analysis["summary"]["welfare"]["mean"] == cents
        assert analysis["groups"]["by hand"]["scores"]["customer_utility"]["mean"] == cents
        assert analysis["runs"][0]["figures"]["invalid_menu_item"] == {
            "value": 1,
            "unit": "errors",
            "better": "lower",
            "because": [3],
        }
        assert analysis["runs"][0]["tables"]["proposal_errors"] == [
            {
                "error": "InvalidMenuItem",
                "entry": 3,
                "business": "grill",
                "customer": "ann",
                "proposal": "p",
                "said": "Item  A",
                "right": "Item A",
                "distance": 1,
                "counted_as": counted,
                "paid_in": 4,
            }
        ]


@pytest.mark.parametrize(("price", "errors"), [(8.009, 0), (8.01, 1)])
def test_prices_are_wrong_from_a_cent_on(shell: Shell, price: float, errors: int) -> None:
    """8.009 for 8.00 is no error, 8.01 is one."""
    keep("hand", sold(offer(total=price + 4, A=price, B=4.0)))
    figures = shell.figures("hand")
    assert (figures["invalid_menu_item_price"], figures["invalid_total_price"]) == (errors, 0)


@needs_populations
@pytest.mark.parametrize(("folder", "cents"), [("3x9", 6378), ("10x30", 18561)])
def test_the_best_possible_of_the_public_populations(shell: Shell, folder: str, cents: int) -> None:
    """The published optimum is the figure of the population, and `careful` reaches it: 100 % of the best possible."""
    shell("run", "market", "--set", f"data={POPULATIONS / folder}", "--name", "real")
    figures = shell.figures("real")
    assert (figures["best_possible"], figures["welfare"], figures["of_best"]) == (cents, cents, 1)
