"""Selling by a playbook: sentences on selling are read back, merged and followed, each by its own numbers."""

from dataclasses import replace
from decimal import Decimal

import pytest

import akinai
from akinai.core.agents import Role
from akinai.core.errors import UsageError
from akinai.core.worlds import replay
from akinai.runtime.play.agent_spec import AgentSpec
from akinai.worlds.market.facets import FACETS
from akinai.worlds.market.lessons.buying.advice import Deals
from akinai.worlds.market.lessons.selling.advice import (
    Paid,
    PartsAdvice,
    SpeedAdvice,
    StockAdvice,
    UndercutAdvice,
    WordingAdvice,
    read_selling_advice,
)
from akinai.worlds.market.model.units import dollars, total_cents
from akinai.worlds.market.players.observations import FoundBusiness, OwnProfile, lacks_items
from akinai.worlds.market.players.sellers import Manner, Seller, guided_manner
from akinai.worlds.market.world import Market
from together import together

UNDERCUT = UndercutAdvice(40, 40, 20.0, 25, 424, 0, 0)
SENTENCES = (
    PartsAdvice(Deals(3, 150), Deals(40, 900)),
    SpeedAdvice(Paid(50, 40), Paid(90, 8)),
    WordingAdvice(Paid(200, 120), Paid(200, 60)),
    UNDERCUT,
    StockAdvice(120, 30, 12, 431),
)
SELLING = FACETS.teaching.of_role("business")
SMALL = {**SELLING.settings, "customers.count": 4, "customers.agent": "careful", "agent_share": 0.5}


@pytest.mark.parametrize("advice", SENTENCES)
def test_a_sentence_on_selling_is_read_as_it_was_written(advice: SpeedAdvice) -> None:
    """Its numbers come back, and twice the record says the same."""
    assert read_selling_advice(advice.sentence()) == advice
    assert advice.merge(advice).checks is advice.checks is True


def test_each_sentence_moves_one_thing_and_says_it_by_its_numbers() -> None:
    """A manner follows the sentences; with the records turned round nothing moves."""
    bullets = tuple(advice.sentence() for advice in SENTENCES)
    assert guided_manner(Role("b", (), bullets=bullets)) == Manner(True, True, True, True)
    turned = (
        PartsAdvice(Deals(3, 900), Deals(40, 150)),
        SpeedAdvice(Paid(90, 8), Paid(50, 40)),
        WordingAdvice(Paid(200, 61), Paid(200, 60)),
        UndercutAdvice(40, 20, 20.0, 25, 424, 0, 0),
        UndercutAdvice(40, 30, 20.0, 5, 100, 20, 300),
    )
    assert guided_manner(Role("b", (), bullets=tuple(item.sentence() for item in turned))) == Manner()


def test_requests_that_name_more_than_the_menu_are_seen() -> None:
    """Counts before names tell what was asked for; a text without them counts as whole."""
    menu = {"Red Soup": Decimal(3), "Soup": Decimal(2)}
    assert lacks_items("I would like to order 1 x Red Soup, 1 x Blue Soup-Bowl.", menu)
    assert not lacks_items("I would like to order 1 x Red Soup, 2 x soup. I also need: Wifi.", menu)


def test_a_seller_that_undercuts_stays_above_its_floor_and_is_cheaper_than_who_has_the_order() -> None:
    """No proposal is below the floor or above the menu, some are below the menu, and the rest of the market plays on."""
    spec = AgentSpec("first", bullets=(UNDERCUT.sentence(),))
    (run,) = akinai.run("market", agent=spec, seeds=3, settings=SMALL)
    state = replay(Market(), run.ledger).final
    cheaper = 0
    for offer in state.offers.values():
        seller = state.members[offer.business].data
        menu, price = seller["menu_features"], total_cents(offer.proposal)
        listed = sum(round(100 * menu[item.item_name]) * item.quantity for item in offer.proposal.items)
        assert dollars(seller["min_price_factor"]) * listed <= price <= listed
        cheaper += price < listed
    assert cheaper
    (plain,) = akinai.run("market", agent="first", seeds=3, settings=SMALL)
    assert plain.header.genesis == run.header.genesis


@together(
    ("rival", "has", "expected"),
    [("9.50", {"Wifi"}, "9.49"), ("10.00", {"Wifi"}, "9.99"), ("9.01", {"Wifi"}, "9.00"), ("9.00", {"Wifi"}, "10.00"),
     ("10.01", {"Wifi"}, "10.00"), ("9.50", set[str](), "10.00")],
)  # fmt: skip
def test_a_price_is_a_cent_below_the_cheapest_that_suits_and_never_below_the_floor(
    rival: str, has: set[str], expected: str
) -> None:
    """A dearer rival, one without the amenities, or one at the floor leaves the menu's price as it is."""
    menu = {"Soup": Decimal("10.00")}
    own = OwnProfile("b", True, menu, frozenset(), {"Wifi"}, Decimal("0.9"))
    cheapest = FoundBusiness("c", {"Soup"}, has, {"menu_features": {"Soup": float(rival)}})
    seller = Seller(own, Manner(undercuts=True), rivals=(cheapest, replace(cheapest, id="b")))
    assert seller.prices({"Soup": 1}, {"Wifi"}) == {"Soup": Decimal(expected)}


def test_a_share_of_the_businesses_is_the_agents_and_the_figures_divide_the_profit() -> None:
    """What the agent's businesses earned and what the others did add up to the profit of all."""
    (run,) = akinai.run("market", agent="first", seeds=3, settings=SMALL)
    figures = {score.name: score.value for score in FACETS.judging.account(replay(Market(), run.ledger)).figures}
    assert figures["agent_profit"] + figures["rival_profit"] == figures["business_profit"]
    assert figures["agent_profit"]
    assert figures["rival_profit"]


def test_lessons_on_selling_come_from_entries_of_the_ledger() -> None:
    """Each lesson names entries that are messages, and can be read back."""
    (run,) = akinai.run("market", agent=AgentSpec("first", bullets=(SELLING.experiment(5),)), seeds=3, settings=SMALL)
    lessons = SELLING.lessons(replay(Market(), run.ledger))
    assert {lesson.about for lesson in lessons} >= {"speed", "undercutting", "stock"}
    for lesson in lessons:
        assert read_selling_advice(lesson.content) is not None
        assert {run.ledger.entries[seq - 1].name for seq in lesson.entries} <= {"SendMessage"}


def test_a_playbook_of_the_house_is_read_and_refused_like_other_files(tmp_path: object) -> None:
    """Customers that the run's agent does not play follow the setting's sentences; what is no playbook is refused."""
    with pytest.raises(UsageError, match="no JSON here"):
        akinai.run("market", settings={"playbook": __file__})
