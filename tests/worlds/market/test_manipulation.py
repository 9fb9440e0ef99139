"""What sellers may put into their descriptions, and that players who read offers alone do not mind it."""

from typing import Any, get_args

import pytest

import akinai
from akinai.core.chance import Chance
from akinai.core.errors import UsageError
from akinai.runtime.config.settings import prepare
from akinai.worlds.market import Market
from akinai.worlds.market.model.setup import Appeal, Manipulation, Setup
from akinai.worlds.market.populations.generated import generate
from akinai.worlds.market.populations.manipulation import TEXTS, manipulated, manipulator_ids
from together import together

KINDS = [kind for kind in get_args(Appeal) if kind != "none"]
PEOPLE = generate(Chance.of(1), 4, 12)


@together("language", ["en", "ja"])
@together("kind", KINDS)
def test_one_seller_says_it_and_nothing_else_changes(kind: Appeal, language: Any) -> None:
    """The text stands behind one description, with the seller's own name or id; all else is the control."""
    result = manipulated(PEOPLE, Manipulation(kind=kind), language)
    seller, control = result.businesses[0], PEOPLE.businesses[0]
    assert seller.description.startswith(control.description)
    added = seller.description.removeprefix(control.description)
    assert seller.name in added or seller.id in added
    assert "{" not in added
    assert seller.model_copy(update={"description": control.description}) == control
    assert (result.businesses[1:], result.customers) == (PEOPLE.businesses[1:], PEOPLE.customers)


def test_who_uses_it() -> None:
    """One in the market, one in each customer's choice, or all."""
    ids = [business.id for business in PEOPLE.businesses]
    assert manipulator_ids(PEOPLE, Manipulation(kind="authority")) == {ids[0]}
    assert manipulator_ids(PEOPLE, Manipulation(kind="authority", sellers="one_each")) == set(ids[:4])
    assert manipulator_ids(PEOPLE, Manipulation(kind="authority", sellers="all")) == set(ids)
    assert manipulated(PEOPLE, Manipulation(), "en") is PEOPLE


def test_each_language_has_every_text() -> None:
    """No kind is missing in a language, and no two say the same."""
    for texts in TEXTS.values():
        assert sorted(texts) == sorted(KINDS)
        assert len(set(texts.values())) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_is_found_in_the_market(kind: Appeal) -> None:
    """It is in what a search tells of the seller, so models read it, and the run plays to its end."""
    (run,) = akinai.run("market", settings={"customers": 1, "manipulation": kind})
    state = Market().begin(run.ledger.genesis)
    added = TEXTS["en"][kind].partition("{")[0]
    assert added in state.members["business_0001"].profile["business"]["description"]
    assert run.header.error is None


@pytest.mark.parametrize("sellers", ["one_each", *(pytest.param(s, marks=pytest.mark.slow) for s in ("one", "all"))])
@pytest.mark.parametrize("kind", KINDS)
def test_careful_customers_do_not_mind(kind: Appeal, sellers: str) -> None:
    """Who weighs offers alone pays whom it paid before, whatever sellers say of themselves."""
    settings: dict[str, Any] = {"customers": 3, "population": {"identical": True}}
    control, result = (
        akinai.run("market", settings={**settings, "manipulation": {"kind": item, "sellers": sellers}})[0]
        for item in ("none", kind)
    )
    assert payments(result) == payments(control) != set()


def payments(run: akinai.Run) -> set[tuple[str, str]]:
    paid: set[tuple[str, str]] = set()
    for entry in run.ledger.entries:
        message: Any = entry.parameters.get("message", {})
        if entry.name == "SendMessage" and message["type"] == "payment" and entry.outcome.ok:
            paid.add((entry.actor, str(entry.parameters["to_agent_id"])))
    return paid


def test_a_bare_name_is_its_kind() -> None:
    """`--set manipulation=authority` says all; a word that is none is told."""
    setup: Any = prepare(Market(), settings=["manipulation=authority"]).setup
    assert setup["manipulation"] == {"kind": "authority", "sellers": "one", "language": None}
    with pytest.raises(UsageError, match="authority"):
        prepare(Market(), settings=["manipulation=authorithy"])


def test_a_setup_holds_treatments_only_where_they_were_set() -> None:
    """Markets without treatments have the genesis that they had before there were any."""
    treatments = {"population", "search", "gates", "manipulation"}
    assert not treatments & Setup().model_dump().keys()
    setup = Setup.model_validate({"search": {"limit": 0}}).model_dump(mode="json")
    assert treatments & setup.keys() == {"search"}
    assert Setup.model_validate(setup).model_dump(mode="json") == setup
