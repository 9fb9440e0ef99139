"""Profiles: a menu keeps its order through every store, and what is published has every field of the public models."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from trading import Desk

import akinai
from akinai.core.canonical import canonical
from akinai.core.ledger import Genesis
from akinai.core.worlds import replay
from akinai.worlds.market import Market
from akinai.worlds.market.model.actions import Register
from akinai.worlds.market.model.profiles import menu_of, pairs_of, public_profile, with_menus, with_pairs
from akinai.worlds.market.populations.files import read_population
from together import together

BUSINESS = """
id: b
name: B
description: ""
rating: 1
menu_features: {Zest: 1, Apple: 2, Mint: 3.5}
amenity_features: {}
"""
CUSTOMER = "{id: c, name: C, request: '', menu_features: {Zest: 1, Apple: 2}, amenity_features: []}"


@given(st.dictionaries(st.text(), st.integers() | st.floats(allow_nan=False) | st.text()))
def test_pairs_bring_a_menu_back_in_its_order(menu: dict[str, Any]) -> None:
    """Also an empty menu, and one whose prices are not numbers."""
    back = menu_of(pairs_of(menu))
    assert list(back.items()) == list(menu.items())


@together("value", [None, 3, "text", [1], [["a"]], [["a", 1], ["a", 2]], [[1, 2]], ["ab"]])
def test_what_is_no_list_of_pairs_is_left_alone(value: Any) -> None:
    """A stranger's profile may hold any JSON where a menu belongs."""
    assert menu_of(value) == value
    assert with_menus({"business": {"menu_features": value}}) == {"business": {"menu_features": value}}


def test_a_registered_menu_keeps_its_order_in_the_ledger() -> None:
    """The action that a ledger gives back has the menu in the order in which it was sent."""
    sent = {"id": "b", "business": {"menu_features": {"Zest": 1, "Apple": 2}}}
    action = Register(profile=sent)
    assert Register.model_validate_json(canonical(action.model_dump(mode="json"))) == action
    desk = Desk(open=True)
    assert desk.act("b", Register(profile=sent)).ok
    profile = desk.state.members["b"].profile
    assert list(profile["business"]["menu_features"]) == ["Zest", "Apple"]
    assert '{"Zest":1,"Apple":2}' in desk.world.view(desk.state, "b").text


def test_a_population_keeps_the_order_of_its_files() -> None:
    """Through the setup of a genesis, whose text has sorted keys, into the profiles and the views."""
    data = read_population({"businesses/b.yaml": BUSINESS, "customers/c.yaml": CUSTOMER})
    (run,) = akinai.run("market", settings={"data": data})
    world, genesis = Market(), run.ledger.genesis
    for setup in (genesis.setup, json.loads(genesis.text)["setup"]):
        state = world.begin(Genesis(world.name, 1, setup))
        assert list(state.members["b"].profile["business"]["menu_features"]) == ["Zest", "Apple", "Mint"]
        assert list(state.members["c"].data["menu_features"]) == ["Zest", "Apple"]
        assert '"menu_features":{"Zest":1,"Apple":2,"Mint":3.5}' in world.view(state, "b").text


@together("data", [None, 3, [], {}, {"rating": "high", "menu_features": [1]}, {"rating": True}])
@together("role", ["business", "customer"])
def test_a_published_profile_is_complete(role: str, data: Any) -> None:
    """Whatever was registered, every field of the public model is there with its type; the rest is kept."""
    profile = public_profile("x", {"id": "x", "metadata": {"type": role}, role: data, "extra": 1})
    fields = profile[role]
    assert (profile["id"], profile["metadata"], profile["extra"]) == ("x", {"type": role}, 1)
    assert (fields["type"], fields["id"], fields["name"], fields["menu_features"]) == (role, "x", "", {})
    if role == "business":
        neutral = (
            fields["rating"],
            fields["progenitor_customer"],
            fields["min_price_factor"],
            fields["amenity_features"],
        )
        assert neutral == (0, "", 1.0, {})
    else:
        assert (fields["request"], fields["amenity_features"]) == ("", [])


def test_pairs_are_made_once() -> None:
    """A profile that has pairs already stays as it is: reading a ledger changes nothing."""
    profile = {"business": {"menu_features": {"b": 1, "a": 2}}, "customer": 3}
    once = with_pairs(profile)
    assert once == with_pairs(once) == {"business": {"menu_features": [["b", 1], ["a", 2]]}, "customer": 3}


def test_names_stand_in_the_order_of_ids() -> None:
    """The state keeps its members in a map without an order; documents of one run are equal, byte for byte."""
    ledger = akinai.run("market", agent="first")[0].ledger
    market = Market()
    names = market.facets.presentation.names(replay(market, ledger).final)
    assert len(names) > 3
    assert [*names] == sorted(names)
