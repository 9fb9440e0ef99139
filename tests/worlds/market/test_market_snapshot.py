"""A market's state as lines: what is read from them is the state, and the game goes on from it in the same way."""

from collections.abc import Iterable

import pytest
from trading import Desk, business, customer, offer

import akinai
from akinai.core.ledger import Entry, Genesis
from akinai.core.worlds import expect_outcome, read_turn, step
from akinai.worlds.market import Market, State
from akinai.worlds.market.model.actions import FetchMessages, Leave, Register, Text, Wait
from akinai.worlds.market.snapshot import read_state, state_lines


def again(genesis: Genesis, state: State) -> State:
    opening = Market().begin(genesis)
    lines = [*state_lines(state, opening)]
    assert not any("\n" in line for line in lines)
    return read_state(Market().begin(genesis), lines)


def goes_through_lines(genesis: Genesis, entries: Iterable[Entry], every: int = 1) -> None:
    """Fold a record, in which the state is written and read again after every few entries."""
    world = Market()
    state = world.begin(genesis)
    for entry in entries:
        folded, outcome = step(world, state, read_turn(world, entry))
        expect_outcome(entry, outcome)
        state = folded if entry.seq % every else again(genesis, folded)
        assert state == folded
        assert world.actors(state) == world.actors(folded)
        assert world.view(state, entry.actor) == world.view(folded, entry.actor)


@pytest.mark.parametrize("settings", [{}, {"gates.sealed_bids": True, "gates.quote_window_s": 60}])
def test_a_played_market_is_read_as_it_was_written(settings: dict[str, object]) -> None:
    """In virtual time, with a schedule, sealed bids and everybody who leaves."""
    (run,) = akinai.run("market", agent="careful", settings={"customers": 3, "businesses": 4, **settings})
    goes_through_lines(run.ledger.genesis, run.ledger.entries, 7)


def test_an_open_market_is_read_as_it_was_written() -> None:
    """Strangers, profiles that change or lose what is secret, menus in their order, keys, payments, waits, long numbers."""
    desk = Desk([business(), business("oven")], [customer(), customer("bob")], open=True)
    strange = {
        "id": "zoë",
        "metadata": {"type": "business"},
        "n": 10**30,
        "business": {"menu_features": {"Z": 1, "A": 2.5}},
    }
    assert desk.act("zoë", Register(profile=strange)).ok
    public = {**desk.state.members["oven"].profile}
    assert desk.act("oven", Register(profile=public)).ok
    assert desk.state.members["oven"].data != Market().begin(desk.genesis).members["oven"].data
    assert desk.act("grill", Register(profile={"id": "grill", "metadata": {"type": "customer"}, "customer": {}})).ok
    assert desk.act("grill", Register(profile={"id": "grill", "metadata": {"type": "business"}, "business": {}})).ok
    assert [listing.id for listing in desk.state.catalogue.listings] == ["oven", "zoë", "grill"]
    for seller in ("zoë", "oven"):
        assert desk.propose(seller, "ann", offer("same id")).ok
    assert desk.pay("ann", "oven", "same id", key="k").ok
    assert desk.send("bob", "oven", Text(content="a line\nand another\u2028 \r end"), key="k").ok
    assert desk.act("oven", FetchMessages()).ok
    assert desk.act("bob", Wait(seconds=2.5)).ok
    assert desk.act("bob", Leave()).ok
    goes_through_lines(desk.genesis, desk.entries)
    lines = state_lines(desk.state, Market().begin(desk.genesis))
    back = read_state(Market().begin(desk.genesis), lines)
    assert list(back.members["zoë"].profile["business"]["menu_features"]) == ["Z", "A"]
    assert back.makers["same id"] == "zoë"
    assert desk.pay("ann", "oven", "same id", key="k").ok, "a repeated key is answered as it was"
    turn = read_turn(Market(), desk.entries[-1])
    assert step(Market(), back, turn)[1] == desk.entries[-1].outcome
